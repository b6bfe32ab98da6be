import assert from "node:assert/strict";
import { test } from "node:test";
import { renderMarkdown } from "./markdown.ts";

const render = (text: string): string =>
  renderMarkdown(`# Title\n\n${text}`)
    .sections.map(({ content }) => content)
    .join("");

test("HTML in the text is escaped, in blocks, lines, tables and code", () => {
  const hostile = "<img src=x onerror=alert(1)>";
  for (const text of [
    hostile,
    `a ${hostile} b`,
    `| a |\n|---|\n| ${hostile} |`,
    `\`${hostile}\``,
    `\`\`\`sh\n${hostile}\n\`\`\``,
    `## ${hostile}`,
    `- ${hostile}`,
  ])
    assert.doesNotMatch(render(text), /<img/, text);
});

test("links lead to this site or to an https address", () => {
  assert.match(
    render("[a](/docs) [b](https://example.org) [c](#d)"),
    /href="\/docs".*href="https:\/\/example.org".*href="#d"/s,
  );
  for (const target of ["javascript:alert(1)", "data:text/html,x", "http://example.org", "ftp://example.org"])
    assert.doesNotMatch(render(`[a](${target})`), /<a/, target);
});

test("code blocks in several languages that follow each other are tabs, and the first is selected", () => {
  const text = render("```sh\none\n```\n\n```ts\ntwo\n```\n\ntext\n\n```sh\nthree\n```");
  assert.equal(text.match(/<fieldset class="tabs">/g)?.length, 1);
  assert.deepEqual(
    [...text.matchAll(/value="(\w+)"( checked)?/g)].map(([, lang, checked]) => [lang, checked !== undefined]),
    [
      ["sh", true],
      ["ts", false],
    ],
  );
  assert.equal(new Set([...text.matchAll(/ id="([^"]+)"/g)].map((match) => match[1])).size, 5);
});

test("blocks below the first line of a list item are collapsed", () => {
  assert.match(
    render("- `a` text\n\n  - `b` text\n"),
    /<li><p><code>a<\/code> text<\/p><details><summary>Fields<\/summary>/,
  );
  assert.doesNotMatch(render("- `a` text\n- `b` text"), /<details>/);
});

test("headings and leading codes of table rows are targets of links", () => {
  const { headings } = renderMarkdown(
    "# Title\n\n## When to retry\n\n| Code | Meaning |\n|---|---|\n| `rate_limited` | text |",
  );
  assert.deepEqual(
    headings.map(({ id }) => id),
    ["when-to-retry", "rate_limited"],
  );
});

test("a document without a title is rejected", () => {
  assert.throws(() => renderMarkdown("text"), /starts with a heading/);
});
