import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { after, before, test } from "node:test";
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import { type ServiceProcess, startServiceProcess, temporaryFolder } from "../support/service-process.ts";

/** Without `TEST_CHROMIUM`, the tests are skipped if there is no browser; with it, a missing browser is a failure. */
const CHROMIUM = process.env.TEST_CHROMIUM ?? "/usr/bin/chromium";
const skipReason =
  process.env.TEST_CHROMIUM === undefined && !existsSync(CHROMIUM) ? `${CHROMIUM} does not exist` : false;
const BROWSER_FLAGS = [
  ...["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"],
  ...["--disable-background-networking", "--disable-component-update", "--disable-sync"],
];

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let service: ServiceProcess;
let browser: Browser;
/** Path of the page of one market. */
let marketPath: string;
before(async () => {
  if (skipReason !== false) return;
  folder = await temporaryFolder();
  service = await startServiceProcess({ dataDir: folder.path, env: { PARALLAX_SANDBOX_MARKETS: "60" } });
  const { text } = await service.get("/markets", { accept: "text/html" });
  marketPath = /href="(\/markets\/[^"?]+)"/.exec(text)?.[1] ?? "";
  browser = await chromium.launch({ executablePath: CHROMIUM, args: BROWSER_FLAGS });
});
after(async () => {
  if (skipReason !== false) return;
  await browser.close();
  await service.end();
  await folder.release();
});

/** Opens a separate browser context. `problems` collects failed and external requests and console messages. */
async function openPage(
  options: BrowserContextOptions,
): Promise<{ page: Page; problems: string[]; close(): Promise<void> }> {
  const context = await browser.newContext(options);
  const page = await context.newPage();
  const problems: string[] = [];
  page.on("requestfailed", (request) => problems.push(`${request.url()}: ${request.failure()?.errorText}`));
  page.on("request", (request) => {
    if (!request.url().startsWith(service.url)) problems.push(`external request: ${request.url()}`);
  });
  page.on("console", (message) => problems.push(message.text()));
  page.on("pageerror", (error) => problems.push(error.message));
  return { page, problems, close: () => context.close() };
}

/** Lists, in the browser, what extends the page beyond the window, and code that is broken into more lines. */
const LIST_DEFECTS = `(() => {
  const { clientWidth, scrollWidth } = document.documentElement;
  const isTooWide = (element) => element.getBoundingClientRect().right > clientWidth && !element.closest("pre");
  const countLines = (code) => new Set([...code.getClientRects()].map(({ top }) => Math.round(top))).size;
  const isBroken = (code) => countLines(code) > code.textContent.split("\\n").length;
  const elements = [
    ...(scrollWidth > clientWidth ? [...document.body.querySelectorAll("*")].filter(isTooWide) : []),
    ...[...document.querySelectorAll(".code code")].filter(isBroken),
  ];
  return [...(scrollWidth > clientWidth ? [scrollWidth] : []), ...elements.map(({ outerHTML }) => outerHTML)];
})()`;

const listPages = () => ["/", "/markets", "/markets?q=zzz", marketPath, `${marketPath}?period=30d`, "/pricing"];

test("at 320, 390 and 1280 px, no public page overflows, breaks a key or reports an error", {
  skip: skipReason,
}, async () => {
  for (const width of [320, 390, 1280]) {
    const { page, problems, close } = await openPage({ viewport: { width, height: 844 } });
    for (const path of listPages()) {
      await page.goto(service.url + path);
      assert.deepEqual(await page.evaluate(LIST_DEFECTS), [], `${path} at ${width} px`);
    }
    assert.deepEqual(problems, []);
    await close();
  }
});

test("every link of the public pages leads to an existing page", { skip: skipReason }, async () => {
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
  skip: skipReason,
}, async () => {
  const { page, problems, close } = await openPage({ permissions: ["clipboard-read", "clipboard-write"] });
  for (const path of ["/", marketPath]) {
    await page.goto(service.url + path);
    await page.click("button:has-text('Copy')");
    await page.waitForSelector("button:has-text('Copied')");
    const command = await page.evaluate<string>("navigator.clipboard.readText()");
    const [, url = "", authorization = ""] = /^curl "([^"]+)" \\\n {2}-H "Authorization: ([^"]+)"$/.exec(command) ?? [];
    const response = await fetch(url, { headers: { authorization } });
    assert.equal(response.status, 200, command);
    await response.body?.cancel();
  }
  assert.deepEqual(problems, []);
  await close();
});

test("without JavaScript, a visitor searches markets and opens one with its chart", { skip: skipReason }, async () => {
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
