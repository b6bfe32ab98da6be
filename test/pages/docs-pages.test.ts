import assert from "node:assert/strict";
import { before, test } from "node:test";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { expandAll, listViolations, openBrowserPage, browserSkipReason as skip } from "../support/pages/browser.ts";
import { openPagesService } from "../support/pages/pages-service.ts";
import type { ServiceProcess } from "../support/service-process.ts";

/** One page of each kind. */
const PAGES = [
  ...["/docs", "/docs/first-call", "/docs/plans-and-quotas", "/docs/errors", "/docs/search?q=quota"],
  ...["/docs/api/list-markets", "/docs/api/create-key", "/docs/api/get-health"],
];
const WIDE = { width: 1280, height: 900 };
const NARROW = { width: 390, height: 844 };

let service: ServiceProcess;
let browser: Browser;
before(async () => {
  if (skip !== false) return;
  ({ service, browser } = await openPagesService());
});

const openPage = (options: BrowserContextOptions = {}) =>
  openBrowserPage(browser, service.url, { viewport: WIDE, ...options });

const open = (page: Page, path: string) => page.goto(`${service.url}${path}`);

/** Waits for a text in the status line. A script in the page could not wait, because the policy forbids `eval`. */
const waitForStatus = (page: Page, text: string) => page.waitForSelector(`[data-status]:has-text("${text}")`);

test("pages have no accessibility violation in the light and the dark theme", { skip }, async () => {
  const { page, problems, close } = await openPage({ reducedMotion: "reduce" });
  for (const path of PAGES) {
    await open(page, path);
    await expandAll(page);
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      assert.deepEqual(await listViolations(page), [], `${path}, ${colorScheme}`);
    }
  }
  assert.deepEqual(problems, []);
  await close();
});

test("the accessibility check reports a button without an accessible name", { skip }, async () => {
  const { page, close } = await openPage();
  await open(page, "/docs");
  await page.evaluate("document.body.append(document.createElement('button'))");
  assert.match((await listViolations(page)).join(), /button-name/);
  await close();
});

test("no page scrolls horizontally or writes to the console, on wide and narrow screens", { skip }, async () => {
  const paths = [...(await service.get("/llms.txt", {})).text.matchAll(/\(http:[^)]*?(\/docs[^)]*)\.md\)/g)];
  assert.ok(paths.length > 25);
  const { page, problems, close } = await openPage();
  for (const [, path = ""] of paths) {
    await open(page, path);
    for (const viewport of [WIDE, NARROW]) {
      await page.setViewportSize(viewport);
      const overflow: number = await page.evaluate("document.documentElement.scrollWidth - innerWidth");
      assert.ok(overflow <= 0, `${path} is ${overflow} px too wide at ${viewport.width} px`);
    }
  }
  assert.deepEqual(problems, []);
  await close();
});

test("on a wide screen the navigation stays visible while the page scrolls", { skip }, async () => {
  const { page, close } = await openPage();
  await open(page, "/docs/api/list-markets");
  await page.evaluate("scrollTo(0, document.body.scrollHeight / 2)");
  const box = await page.locator(".sidebar").boundingBox();
  assert.ok(box !== null && box.y >= 0 && box.y < 100, JSON.stringify(box));
  await close();
});

test("the form runs a call and shows status, limits and the formatted body", { skip }, async () => {
  const { page, problems, close } = await openPage();
  await open(page, "/docs/api/list-markets");
  await page.click("[data-send]");
  await page.waitForSelector("[data-output]:visible");
  assert.match((await page.textContent("[data-status]")) ?? "", /^200 OK · \d+ ms · ratelimit: "general"/);
  const body = (await page.textContent("[data-output]")) ?? "";
  assert.match(body, /^\[\n {2}\{\n {4}"platform"/);
  assert.equal(JSON.parse(body).length, 2);
  await page.fill("[name=limit]", "9999");
  await page.click("[data-send]");
  await waitForStatus(page, "422");
  assert.match((await page.textContent("[data-output]")) ?? "", /less than or equal to 100/);
  // The browser reports the 422 itself.
  assert.deepEqual(
    problems.filter((problem) => !problem.includes("422")),
    [],
  );
  await close();
});

test("the form sends a body, and a call can be cancelled", { skip }, async () => {
  const { page, close } = await openPage();
  await open(page, "/docs/api/create-key");
  await page.fill("[data-body]", '{"name": "from the page"}');
  await page.click("[data-send]");
  await page.waitForSelector("[data-output]:visible");
  assert.match((await page.textContent("[data-output]")) ?? "", /"name": "from the page"/);
  await page.route("**/v1/**", () => {});
  await page.click("[data-send]");
  await page.click("[data-cancel]");
  await waitForStatus(page, "Cancelled.");
  await close();
});

test("a large response is shown up to 256 KiB", { skip }, async () => {
  const { page, close } = await openPage();
  await open(page, "/docs/api/get-livez");
  await page.route("**/livez", (route) => route.fulfill({ body: "x".repeat(1_000_000) }));
  await page.click("[data-send]");
  await page.waitForSelector("[data-output]:visible");
  assert.match((await page.textContent("[data-status]")) ?? "", /only the first 256 KiB are shown/);
  assert.equal((await page.textContent("[data-output]"))?.length, 256 * 1024);
  await close();
});

test("samples contain the demo key, or the key that the user has used in this tab", { skip }, async () => {
  const { page, close } = await openPage();
  const readSample = async () => (await page.textContent(".tabs .panel code")) ?? "";
  await open(page, "/docs/api/list-markets");
  assert.ok((await readSample()).includes(service.keys.enterprise));
  await page.fill("[data-key]", service.keys.free);
  await page.press("[data-key]", "Tab");
  assert.ok((await readSample()).includes(service.keys.free));
  await open(page, "/docs/first-call");
  assert.ok((await readSample()).includes(service.keys.free));
  assert.ok(!(await readSample()).includes(service.keys.enterprise));
  await page.click("label:has-text('Python') >> nth=0");
  await open(page, "/docs/api/get-market");
  assert.equal(await page.isVisible("code:has-text('urllib')"), true, "the language is remembered");
  await close();
});

test("without JavaScript, samples, search and public calls work, and other forms are disabled with a notice", {
  skip,
}, async () => {
  const { page, problems, close } = await openPage({ javaScriptEnabled: false });
  await open(page, "/docs/api/list-markets");
  assert.equal(await page.isVisible("code:has-text('curl')"), true);
  await page.click("label:has-text('TypeScript')");
  assert.equal(await page.isVisible("code:has-text('await fetch')"), true);
  assert.equal(await page.isVisible("code:has-text('curl')"), false);
  assert.equal(await page.isDisabled("[data-send]"), true);
  assert.equal(await page.isVisible("noscript .notice"), true);
  await page.fill("#docs-search", "pagination");
  await page.press("#docs-search", "Enter");
  await page.click(".results a >> nth=0");
  assert.equal(await page.textContent("h1"), "Pagination");
  await open(page, "/docs/api/get-pricing");
  await page.click("[data-send]");
  await page.waitForURL(`${service.url}/v1/pricing**`);
  assert.deepEqual(problems, []);
  await close();
});
