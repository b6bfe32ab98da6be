import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { htmlToText } from "./html-text.ts";

for (const [html, text] of [
  ["plain words", "plain words"],
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
  test(`${JSON.stringify(html)} reads ${JSON.stringify(text)}`, () => {
    assert.equal(htmlToText(html), text);
  });
}

test("nothing but tags and spaces is null", () => {
  assert.equal(htmlToText(" <p> &nbsp;</p> <br>"), null);
});

test("no text, however hostile, takes long or grows beyond its bound", () => {
  const startedAt = performance.now();
  for (const part of ["<", "<a", "<script", "<!--", "&", "&#", "</", "<p>", "<script></a>", "&amp;"]) {
    const text = htmlToText(part.repeat(500_000 / part.length)) ?? "";
    assert.ok(text.length <= 20_000);
  }
  assert.ok(performance.now() - startedAt < 5_000, `${performance.now() - startedAt} ms`);
});

test("no tag survives, whatever is put together from its pieces", () => {
  const piece = fc.constantFrom("<", ">", "script", "/", "!--", "--", "&lt;", "&", ";", "p", " ", "x", '"', "\u0000");
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 60 }), (pieces) => {
      const html = pieces.join("").replaceAll("&lt;", "");
      const text = htmlToText(html) ?? "";
      assert.ok(!/<(script|p)>/.test(text), JSON.stringify([html, text]));
      assert.ok(!text.includes("\u0000") && text.isWellFormed());
    }),
  );
});
