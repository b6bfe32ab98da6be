import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { htmlToText } from "./html-text.ts";

for (const [html, text] of [
  ["plain text", "plain text"],
  ["<p>one</p><p>two</p>", "one\n\ntwo"],
  ["one<br/>two<BR>three", "one\ntwo\nthree"],
  ["<ul><li>a</li><li>b</li></ul>", "a\n\nb"],
  ["5 < 6 and 7 > 3", "5 < 6 and 7 > 3"],
  ["a<b>bold</b>c", "aboldc"],
  ["<script>steal()</SCRIPT >after", "after"],
  ["before<script>never closed", "before"],
  ["before<!-- <p>never closed", "before"],
  ["&lt;script&gt;", "<script>"],
  ["&amp;lt;", "&lt;"],
  ["&#8220;q&#x201D; &copy; &nope; &", "“q” © &nope; &"],
  ["&#xD800;&#1114112;&#0;x", "x"],
  ["&constructor;&__proto__;", "&constructor;&__proto__;"],
  ["a\u0000b\u0007c\td", "a b c d"],
] as const) {
  test(`converts ${JSON.stringify(html)} to ${JSON.stringify(text)}`, () => {
    assert.equal(htmlToText(html), text);
  });
}

test("returns null for a document with only tags and spaces", () => {
  assert.equal(htmlToText(" <p> &nbsp;</p> <br>"), null);
});

test("hostile HTML is processed in bounded time and size", () => {
  const startedAt = performance.now();
  for (const part of ["<", "<a", "<script", "<!--", "&", "&#", "</", "<p>", "<script></a>", "&amp;"]) {
    const text = htmlToText(part.repeat(500_000 / part.length)) ?? "";
    assert.ok(text.length <= 20_000);
  }
  assert.ok(performance.now() - startedAt < 5_000, `${performance.now() - startedAt} ms`);
});

test("removes every tag from arbitrary combinations of HTML fragments", () => {
  const fragment = fc.constantFrom(
    "<",
    ">",
    "script",
    "/",
    "!--",
    "--",
    "&lt;",
    "&",
    ";",
    "p",
    " ",
    "x",
    '"',
    "\u0000",
  );
  fc.assert(
    fc.property(fc.array(fragment, { maxLength: 60 }), (fragments) => {
      const html = fragments.join("").replaceAll("&lt;", "");
      const text = htmlToText(html) ?? "";
      assert.ok(!/<(script|p)>/.test(text), JSON.stringify([html, text]));
      assert.ok(!text.includes("\u0000") && text.isWellFormed());
    }),
  );
});
