import assert from "node:assert/strict";
import { test } from "node:test";
import { html } from "./html.ts";

test("interpolated text is escaped once, and nested `html` templates are inserted unchanged", () => {
  const text = `<script>"&'</script>`;
  assert.equal(
    String(html`<p title="${text}">${text}${html`<b>${1}</b>`}${null}</p>`),
    '<p title="&lt;script&gt;&quot;&amp;&#39;&lt;/script&gt;">&lt;script&gt;&quot;&amp;&#39;&lt;/script&gt;<b>1</b></p>',
  );
});

test("list items are rendered on consecutive lines", () => {
  assert.equal(
    String(html`<ul>${["a", "<"].map((item) => html`<li>${item}</li>`)}</ul>`),
    "<ul><li>a</li>\n<li>&lt;</li></ul>",
  );
});
