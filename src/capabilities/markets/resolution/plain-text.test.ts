import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { hostileTexts } from "../../../../test/support/hostile-texts.ts";
import { SUMMARY_LENGTH_MAX, splitSentences, summariseRules, TEXT_LENGTH_MAX, toPlainText } from "./plain-text.ts";

const sentencesOf = (text: string) => splitSentences(text).map(({ start, end }) => text.slice(start, end).trim());

test("removes tags, link targets, invisible characters and repeated spaces", () => {
  const text =
    '<p>Resolves  to <b>Yes</b> if\u202e <a href="https://example.com">it</a> rains.</p><p><br></p><p>See [the site](https://example.com).</p>';
  assert.equal(toPlainText(text), "Resolves to Yes if it rains.\nSee the site.");
  assert.equal(toPlainText("a < b and c > d"), "a < b and c > d");
});

test("splits sentences at stops before a capital letter and at line breaks, but not after abbreviations or in numbers", () => {
  assert.deepEqual(
    sentencesOf(
      'Resolves to "Yes." Otherwise "No." The U.S. Senate vs. St. Louis on Jan. 5 at 3.5 p.m. ET counts!\nEnd',
    ),
    ['Resolves to "Yes."', 'Otherwise "No."', "The U.S. Senate vs. St. Louis on Jan. 5 at 3.5 p.m. ET counts!", "End"],
  );
});

test("the summary has as many whole sentences of the text as fit", () => {
  const sentence = `${"word ".repeat(39)}end.`;
  assert.equal(
    summariseRules(`${sentence} ${sentence} ${sentence} ${sentence}`.replaceAll("end. word", "end. Word")),
    [sentence, sentence, sentence].join(" ").replaceAll("end. word", "end. Word"),
  );
  assert.equal(summariseRules("One. Two."), "One. Two.");
  assert.equal(summariseRules(""), null);
});

test("a first sentence that is too long is cut between words and ends with an ellipsis", () => {
  const summary = summariseRules("word ".repeat(400)) ?? "";
  assert.ok(summary.length <= SUMMARY_LENGTH_MAX && summary.endsWith("word…"));
  const emoji = summariseRules("😀".repeat(1_000)) ?? "";
  assert.ok(emoji.length <= SUMMARY_LENGTH_MAX && !/[\ud800-\udbff]…$/.test(emoji));
});

test("reads at most 12,000 characters and 200 sentences", () => {
  assert.equal(toPlainText("a".repeat(50_000)).length, TEXT_LENGTH_MAX);
  assert.equal(splitSentences("A! ".repeat(1_000)).length, 200);
});

test("the plain text and the summary of any text have bounded length; only an empty plain text has no summary", () => {
  const texts = fc.oneof(fc.string({ unit: "binary", maxLength: 2_000 }), fc.constantFrom(...hostileTexts));
  fc.assert(
    fc.property(texts, (text) => {
      const plain = toPlainText(text);
      const summary = summariseRules(plain);
      if (plain.length > TEXT_LENGTH_MAX || (summary?.length ?? 0) > SUMMARY_LENGTH_MAX) return false;
      return (summary === null) === (plain === "") && splitSentences(plain).length <= 200;
    }),
  );
});

test("no complete script, img, iframe or svg tag of a hostile text remains in its plain text", () => {
  for (const text of hostileTexts) assert.doesNotMatch(toPlainText(text), /<(?:script|img|iframe|svg)\b[^<>]*>/i, text);
});
