import assert from "node:assert/strict";
import { after, test } from "node:test";
import { FakeClock } from "../../../test/support/fake-clock.ts";
import { respond, startLocalServer } from "../../../test/support/research/local-server.ts";
import { openWorkerPool } from "../system/worker-pool.ts";
import { type ExtractedPage, type ExtractTask, extractPage } from "./extract-page.ts";
import { reduceHtml } from "./reduce-html.ts";
import { createWebPages, EXTRACT_MODULE } from "./web-pages.ts";

const PARAGRAPH = "The chamber passed the harbour bill, after a long debate, on Tuesday evening. ".repeat(4);
const page = (body: string, head = ""): string =>
  `<html><head><title>Harbour bill</title>${head}</head><body><nav>Menu</nav><article>${body}</article></body></html>`;

test("extracts title, date and the visible text, one line per block", () => {
  const date = '<meta property="article:published_time" content="2026-11-20T08:00:00Z">';
  const { title, text, publishedAt } = extractPage(
    page(
      `<h2>Vote</h2><p>${PARAGRAPH}</p><p>${PARAGRAPH}<!-- comment --></p><p style="display:none">hidden ${PARAGRAPH}</p><script>script()</script>`,
      date,
    ),
  );
  assert.deepEqual([title, publishedAt], ["Harbour bill", Date.UTC(2026, 10, 20, 8)]);
  assert.deepEqual(text.split("\n"), ["Vote", PARAGRAPH.trim(), PARAGRAPH.trim()]);
  const json = `<script type="application/ld+json">{"datePublished":"2026-11-19T00:00:00Z"}</script>`;
  assert.equal(extractPage(page(`<p>${PARAGRAPH}</p>`, json)).publishedAt, Date.UTC(2026, 10, 19));
  assert.equal(extractPage(page(`<p>${PARAGRAPH}</p>`)).publishedAt, null);
});

test("hostile HTML is reduced to a bounded depth and number of tags before it is parsed", () => {
  const hostile = [
    "<div>",
    "<b>",
    "<table><tr><td>",
    "<",
    "<!--",
    "&amp;",
    "<p a='",
    "<p>x",
    "</div>",
    "<svg>",
    "<br>",
    "<p x=1 ".padEnd(3_000, "y"),
  ];
  for (const unit of hostile) {
    const reduced = reduceHtml(unit.repeat(Math.ceil(1_500_000 / unit.length)));
    let depth = 0;
    let deepest = 0;
    for (const [tag] of reduced.matchAll(/<\/?[a-z]+/g)) {
      depth += tag.startsWith("</") ? -1 : tag === "<br" ? 0 : 1;
      deepest = Math.max(deepest, depth);
    }
    assert.ok(deepest <= 120, unit);
    assert.ok((reduced.match(/<[a-z]/g)?.length ?? 0) <= 20_000, unit);
    extractPage(reduced);
  }
  assert.equal(reduceHtml("a<!-- x -->b<script>c</script>d<p>e<p>f</b>g"), "abd<p>e</p><p>fg</p>");
});

test("reads a page over HTTP, with its text extracted on a worker thread", async () => {
  const server = await startLocalServer(({ url }, response) =>
    url === "/text"
      ? respond(response, "First line\nSecond line", "text/plain")
      : respond(response, page(`<p>${PARAGRAPH}</p>`), "text/html"),
  );
  const pool = openWorkerPool<ExtractTask, ExtractedPage | null>(EXTRACT_MODULE, new FakeClock());
  after(() => Promise.all([pool.close(), server.close()]));
  const local = { allowsLoopback: true, ports: [new URL(server.origin).port] };
  const pages = createWebPages((task) => pool.run(task, []), local);
  const { signal } = new AbortController();
  assert.deepEqual(await pages.read(`${server.origin}/page`, signal), {
    url: `${server.origin}/page`,
    title: "Harbour bill",
    text: PARAGRAPH.trim(),
    publishedAt: null,
  });
  // More pages than can wait in the pool.
  const many = await Promise.all(Array.from({ length: 15 }, () => pages.read(`${server.origin}/page`, signal)));
  assert.ok(many.every(({ text }) => text === PARAGRAPH.trim()));
  assert.equal((await pages.read(`${server.origin}/text`, signal)).title, "First line");
  await assert.rejects(createWebPages((task) => pool.run(task, [])).read(server.origin, signal), /port is not allowed/);
});
