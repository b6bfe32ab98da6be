import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";

const CHROMIUM = process.env.TEST_CHROMIUM ?? "/usr/bin/chromium";
const BROWSER_FLAGS = [
  ...["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"],
  ...["--disable-background-networking", "--disable-component-update", "--disable-sync"],
];
const AXE = readFileSync(fileURLToPath(import.meta.resolve("axe-core/axe.min.js")), "utf8");

/** Without `TEST_CHROMIUM`, the tests are skipped if there is no browser; with it, a missing browser is a failure. */
export const browserSkipReason =
  process.env.TEST_CHROMIUM === undefined && !existsSync(CHROMIUM) ? `${CHROMIUM} does not exist` : false;

export const launchBrowser = (): Promise<Browser> => chromium.launch({ executablePath: CHROMIUM, args: BROWSER_FLAGS });

export interface OpenPage {
  readonly page: Page;
  /** Failed requests, requests to other origins, console messages and script errors. */
  readonly problems: string[];
  close(): Promise<void>;
}

/** Opens a page in a separate browser context. */
export async function openBrowserPage(
  browser: Browser,
  origin: string,
  options: BrowserContextOptions = {},
): Promise<OpenPage> {
  const context = await browser.newContext(options);
  const page = await context.newPage();
  const problems: string[] = [];
  page.on("requestfailed", (request) => {
    const error = request.failure()?.errorText;
    // A navigation aborts the requests of the page before it.
    if (error !== "net::ERR_ABORTED") problems.push(`${request.url()}: ${error}`);
  });
  page.on("request", (request) => {
    if (!request.url().startsWith(origin)) problems.push(`external request: ${request.url()}`);
  });
  page.on("console", (message) => {
    if (!message.text().startsWith("Clear-Site-Data header on")) problems.push(message.text());
  });
  page.on("pageerror", (error) => problems.push(error.message));
  return { page, problems, close: () => context.close() };
}

/** Opens all collapsed content, so that it is checked as well. */
export const expandAll = (page: Page): Promise<void> =>
  page.evaluate("for (const details of document.querySelectorAll('details')) details.open = true");

const LIST_LAYOUT_DEFECTS = `(() => {
  const { clientWidth, scrollWidth } = document.documentElement;
  const isTooWide = (element) => element.getBoundingClientRect().right > clientWidth && !element.closest("pre");
  const countLines = (code) => new Set([...code.getClientRects()].map(({ top }) => Math.round(top))).size;
  const isBroken = (code) => countLines(code) > code.textContent.split("\\n").length;
  const elements = [
    ...(scrollWidth > clientWidth ? [...document.body.querySelectorAll("*")].filter(isTooWide) : []),
    ...[...document.querySelectorAll(".code code, code.id")].filter(isBroken),
  ];
  return [...(scrollWidth > clientWidth ? [scrollWidth] : []), ...elements.map(({ outerHTML }) => outerHTML)];
})()`;

/** Lists the elements that extend the page beyond the window, and code and ids that are broken into more lines. */
export const listLayoutDefects = (page: Page): Promise<unknown[]> => page.evaluate(LIST_LAYOUT_DEFECTS);

/** Lists the accessibility violations, each with its rule and the HTML of its elements. */
export async function listViolations(page: Page): Promise<readonly string[]> {
  if ((await page.evaluate("typeof axe")) === "undefined") await page.evaluate(AXE);
  const violations: { id: string; nodes: { html: string }[] }[] = await page.evaluate(
    "axe.run().then((result) => result.violations)",
  );
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(" ")}`.slice(0, 500));
}
