import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, test } from "node:test";
import { type Browser, chromium, type Page } from "playwright-core";
import { type ServiceProcess, startServiceProcess, temporaryFolder } from "../support/service-process.ts";

/** Without `TEST_CHROMIUM`, the tests are skipped if there is no browser; with it, a missing browser is a failure. */
const CHROMIUM = process.env.TEST_CHROMIUM ?? "/usr/bin/chromium";
const skip = process.env.TEST_CHROMIUM === undefined && !existsSync(CHROMIUM) ? `${CHROMIUM} does not exist` : false;
const FLAGS = [
  ...["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"],
  ...["--disable-background-networking", "--disable-component-update", "--disable-sync"],
];

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let service: ServiceProcess;
let browser: Browser;
before(async () => {
  if (skip !== false) return;
  folder = await temporaryFolder();
  const env = { PARALLAX_SANDBOX_MARKETS: "10" };
  service = await startServiceProcess({ dataDir: folder.path, env });
  browser = await chromium.launch({ executablePath: CHROMIUM, args: FLAGS });
});
after(async () => {
  if (skip !== false) return;
  await browser.close();
  await service.end();
  await folder.release();
});

const statusOf = async (path: string, key: string): Promise<number> =>
  (await service.get(path, { authorization: `Bearer ${key}` })).status;

const textOf = async (page: Page, selector: string): Promise<string> => (await page.textContent(selector)) ?? "";

/** Opens a separate browser context without JavaScript. `problems` collects failed and external requests and console messages. */
async function openPage(): Promise<{ page: Page; problems: string[]; close(): Promise<void> }> {
  const context = await browser.newContext({ javaScriptEnabled: false });
  const page = await context.newPage();
  const problems: string[] = [];
  page.on("requestfailed", (request) => {
    const error = request.failure()?.errorText;
    // On a double click the browser aborts the first submission if it is still pending.
    if (error !== "net::ERR_ABORTED" || request.method() !== "POST") problems.push(`${request.url()}: ${error}`);
  });
  page.on("request", (request) => {
    if (!request.url().startsWith(service.url)) problems.push(`external request: ${request.url()}`);
  });
  page.on("console", (message) => problems.push(message.text()));
  return { page, problems, close: () => context.close() };
}

/** Double-clicks every button, as some users do. */
const doubleClick = (page: Page, button: string) => page.click(button, { clickCount: 2 });

async function signUp(page: Page, email: string): Promise<string> {
  await page.goto(`${service.url}/account`);
  await page.fill("#name", "Ada <b>Lovelace</b>");
  await page.fill("#sign-up-email", email);
  await doubleClick(page, "text=Create a free account");
  return textOf(page, "code.key");
}

async function signIn(page: Page, email: string): Promise<void> {
  await page.goto(`${service.url}/account`);
  await page.fill("#sign-in-email", email);
  await doubleClick(page, "text=Show sign-in link");
  await page.click("text=Sign in to your account");
  await doubleClick(page, "button:has-text('Sign in')");
  await page.waitForURL(`${service.url}/account`);
}

test("without JavaScript a user signs up, signs in, sees usage, and manages keys", { skip }, async () => {
  const { page, problems, close } = await openPage();
  const key = await signUp(page, "ada@example.org");
  assert.match(key, /^plx_free_[a-z2-7]{33}$/);
  for (let call = 0; call < 3; call++) assert.equal(await statusOf("/v1/markets?limit=1", key), 200);
  await signIn(page, "ada@example.org");
  assert.equal(await textOf(page, "h1"), "Ada <b>Lovelace</b>");
  assert.match(await textOf(page, ".usage"), /LISTING\s*3 of 100/);
  await page.click("summary:has-text('Rotate')");
  await doubleClick(page, "text=Rotate now");
  await page.waitForSelector("code.key");
  const next = await textOf(page, "code.key");
  assert.notEqual(next, key);
  assert.equal(await statusOf("/v1/customers/me", key), 401);
  assert.equal(await statusOf("/v1/customers/me", next), 200);
  const keys = await service.get("/v1/customers/me/keys", { authorization: `Bearer ${next}` });
  assert.equal(keys.json.length, 2, "a double click creates one key");
  await page.click("text=Back to your account");
  await page.fill("#key-name", "robot");
  await doubleClick(page, "text=Create key");
  const robot = await textOf(page, "code.key");
  await page.click("text=Back to your account");
  await page.click("tr:has-text('robot') summary:has-text('Revoke')");
  await doubleClick(page, "tr:has-text('robot') button:has-text('Revoke now')");
  await page.waitForSelector("text=Revoked keys (2)");
  assert.deepEqual([await statusOf("/v1/customers/me", robot), await statusOf("/v1/customers/me", next)], [401, 200]);
  await doubleClick(page, "header button:has-text('Sign out')");
  await page.waitForSelector("text=Show sign-in link");
  await signIn(page, "ada@example.org");
  await doubleClick(page, "text=Sign out everywhere");
  await page.waitForSelector("text=Show sign-in link");
  assert.deepEqual(problems, []);
  await close();
});

test("every form sends its origin, and referrers contain no path or token", {
  skip,
}, async () => {
  const { page, close } = await openPage();
  const sent: Promise<readonly [path: string, origin: string | undefined, referer: string | undefined]>[] = [];
  page.on("request", (request) => {
    const path = new URL(request.url()).pathname;
    const headers = request.allHeaders().then(({ origin, referer }) => [path, origin, referer] as const);
    if (request.method() === "POST") sent.push(headers);
  });
  await page.goto(`${service.url}/account`);
  await page.fill("#sign-up-email", "grace@example.org");
  await page.click("text=Create a free account");
  await page.click("button:has-text('Sign in')");
  await page.click("text=Sign in to your account");
  await page.click("button:has-text('Sign in')");
  await page.click("text=Sign out");
  await page.waitForSelector("text=Show sign-in link");
  assert.deepEqual(
    await Promise.all(sent),
    ["sign-up", "sign-in", "enter", "sign-out"].map((form) => [`/account/${form}`, service.url, `${service.url}/`]),
  );
  await close();
});

test("a form on another site is rejected, and the key still works", { skip }, async () => {
  const { page, close } = await openPage();
  const key = await signUp(page, "eve@example.org");
  await signIn(page, "eve@example.org");
  const action = await page.getAttribute("form[action$='/rotate']", "action");
  const csrf = await page.getAttribute("input[name=csrf]", "value");
  const form = `<form method="post" action="${service.url}${action}"><input name="csrf" value="${csrf}"><input name="form" value="x"><button>Win</button></form>`;
  const otherSite = createServer((_request, response) => {
    response.writeHead(200, { "content-type": "text/html" }).end(form);
  });
  await new Promise<void>((resolve) => otherSite.listen(0, "127.0.0.1", resolve));
  // For a browser, another host name is another site; another port of the same host is the same site but another origin.
  for (const host of ["localhost", "127.0.0.1"]) {
    await page.goto(`http://${host}:${(otherSite.address() as AddressInfo).port}/`);
    const [response] = await Promise.all([page.waitForResponse(`${service.url}${action}`), page.click("text=Win")]);
    assert.equal(response.status(), 403, host);
    assert.equal(await textOf(page, "h1"), "Request refused");
  }
  otherSite.close();
  assert.equal(await statusOf("/v1/customers/me", key), 200);
  await close();
});
