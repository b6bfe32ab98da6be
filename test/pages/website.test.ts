import assert from "node:assert/strict";
import { before, test } from "node:test";
import type { Browser, BrowserContextOptions } from "playwright-core";
import { listLayoutDefects, openBrowserPage, browserSkipReason as skip } from "../support/pages/browser.ts";
import { openPagesService } from "../support/pages/pages-service.ts";
import type { ServiceProcess } from "../support/service-process.ts";

let service: ServiceProcess;
let browser: Browser;
/** Path of the page of one market. */
let marketPath: string;
before(async () => {
  if (skip !== false) return;
  ({ service, browser } = await openPagesService());
  const { text } = await service.get("/markets", { accept: "text/html" });
  marketPath = /href="(\/markets\/[^"?]+)"/.exec(text)?.[1] ?? "";
});

const openPage = (options: BrowserContextOptions) => openBrowserPage(browser, service.url, options);

const listPages = () => [
  "/",
  "/markets",
  "/markets?q=zzz",
  marketPath,
  `${marketPath}?period=30d`,
  "/track-record",
  "/pricing",
];

test("at 320, 390 and 1280 px, no public page overflows, wraps code or an id, or reports an error", {
  skip,
}, async () => {
  const { page, problems, close } = await openPage({});
  for (const path of listPages()) {
    await page.goto(service.url + path);
    for (const width of [320, 390, 1280]) {
      await page.setViewportSize({ width, height: 844 });
      assert.deepEqual(await listLayoutDefects(page), [], `${path} at ${width} px`);
    }
  }
  assert.deepEqual(problems, []);
  await close();
});

test("every link of the public pages leads to an existing page", { skip }, async () => {
  const paths = new Set<string>();
  for (const path of listPages()) {
    const { text } = await service.get(path, { accept: "text/html" });
    for (const [, href = ""] of text.matchAll(/ href="(\/[^"]*)"/g)) paths.add(href.replaceAll("&amp;", "&"));
  }
  // Pages of markets are limited per minute, and one market is as good as another.
  const checkedPaths = [...paths].filter((path) => !path.startsWith("/markets/") || path.startsWith(marketPath));
  assert.ok(checkedPaths.length > 10);
  for (const path of checkedPaths) assert.equal((await service.get(path, { accept: "text/html" })).status, 200, path);
});

test("the request on the start page and on a market's page works as pasted, and its button copies it", {
  skip,
}, async () => {
  const { page, problems, close } = await openPage({ permissions: ["clipboard-read", "clipboard-write"] });
  const requests = [
    ["/", "example-request"],
    [marketPath, "market-request"],
  ] as const;
  for (const [path, id] of requests) {
    await page.goto(service.url + path);
    await page.click(`button[data-copy='${id}']`);
    await page.waitForSelector(`button[data-copy='${id}']:has-text('Copied')`);
    const command = await page.evaluate<string>("navigator.clipboard.readText()");
    const [, url = "", authorization = ""] = /^curl "([^"]+)" \\\n {2}-H "Authorization: ([^"]+)"$/.exec(command) ?? [];
    const response = await fetch(url, { headers: { authorization } });
    assert.equal(response.status, 200, command);
    await response.body?.cancel();
  }
  assert.deepEqual(problems, []);
  await close();
});

test("without JavaScript, a visitor searches markets and opens one with its chart", { skip }, async () => {
  const { page, problems, close } = await openPage({ javaScriptEnabled: false });
  await page.goto(service.url);
  await page.click("nav >> text=Markets");
  const title = (await page.textContent(".markets .title a")) ?? "";
  await page.fill("#q", title);
  await page.click("button:has-text('Show')");
  await page.click(`.markets .title a >> text="${title}"`);
  assert.equal(await page.textContent("h1"), title);
  // On a slow machine, the first page is sent before the history has been read.
  while ((await page.$("figure.chart svg[aria-label]")) === null) await page.reload();
  assert.deepEqual(problems, []);
  await close();
});
