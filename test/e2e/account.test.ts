import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, test } from "node:test";
import { type Browser, chromium, type Page } from "playwright-core";
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
before(async () => {
  if (skipReason !== false) return;
  folder = await temporaryFolder();
  const env = { PARALLAX_SANDBOX_MARKETS: "10" };
  service = await startServiceProcess({ dataDir: folder.path, env });
  browser = await chromium.launch({ executablePath: CHROMIUM, args: BROWSER_FLAGS });
});
after(async () => {
  if (skipReason !== false) return;
  await browser.close();
  await service.end();
  await folder.release();
});

const readStatus = async (path: string, key: string): Promise<number> =>
  (await service.get(path, { authorization: `Bearer ${key}` })).status;

const readText = async (page: Page, selector: string): Promise<string> => (await page.textContent(selector)) ?? "";

/** Opens a separate browser context without JavaScript. `problems` collects failed and external requests and console messages. */
async function openPage(): Promise<{ page: Page; problems: string[]; close(): Promise<void> }> {
  const context = await browser.newContext({ javaScriptEnabled: false });
  const page = await context.newPage();
  const problems: string[] = [];
  page.on("requestfailed", (request) => {
    const error = request.failure()?.errorText;
    // After a double click, the browser aborts the first submission if it is still pending.
    if (error !== "net::ERR_ABORTED" || request.method() !== "POST") problems.push(`${request.url()}: ${error}`);
  });
  page.on("request", (request) => {
    if (!request.url().startsWith(service.url)) problems.push(`external request: ${request.url()}`);
  });
  page.on("console", (message) => problems.push(message.text()));
  return { page, problems, close: () => context.close() };
}

/** Submits twice, because some users double-click buttons. */
const clickTwice = (page: Page, button: string) => page.click(button, { clickCount: 2 });

async function signUp(page: Page, email: string): Promise<string> {
  await page.goto(`${service.url}/account`);
  await page.fill("#name", "Ada <b>Lovelace</b>");
  await page.fill("#sign-up-email", email);
  await clickTwice(page, "text=Create a free account");
  return readText(page, "code.key");
}

async function signIn(page: Page, email: string): Promise<void> {
  await page.goto(`${service.url}/account`);
  await page.fill("#sign-in-email", email);
  await clickTwice(page, "text=Show sign-in link");
  await page.click("text=Sign in to your account");
  await clickTwice(page, "button:has-text('Sign in')");
  await page.waitForURL(`${service.url}/account`);
}

test("without JavaScript, a user signs up, signs in, sees the usage and manages keys", {
  skip: skipReason,
}, async () => {
  const { page, problems, close } = await openPage();
  const key = await signUp(page, "ada@example.org");
  assert.match(key, /^plx_free_[a-z2-7]{33}$/);
  for (let call = 0; call < 3; call++) assert.equal(await readStatus("/v1/markets?limit=1", key), 200);
  await signIn(page, "ada@example.org");
  assert.equal(await readText(page, "h1"), "Ada <b>Lovelace</b>");
  assert.match(await readText(page, ".usage"), /LISTING\s*3 of 100/);
  await page.click("summary:has-text('Rotate')");
  await clickTwice(page, "text=Rotate now");
  await page.waitForSelector("code.key");
  const nextKey = await readText(page, "code.key");
  assert.notEqual(nextKey, key);
  assert.equal(await readStatus("/v1/customers/me", key), 401);
  assert.equal(await readStatus("/v1/customers/me", nextKey), 200);
  const keys = await service.get("/v1/customers/me/keys", { authorization: `Bearer ${nextKey}` });
  assert.equal(keys.json.length, 2, "a double click creates one key");
  await page.click("text=Back to your account");
  await page.fill("#key-name", "robot");
  await clickTwice(page, "text=Create key");
  const robotKey = await readText(page, "code.key");
  await page.click("text=Back to your account");
  await page.click("tr:has-text('robot') summary:has-text('Revoke')");
  await clickTwice(page, "tr:has-text('robot') button:has-text('Revoke now')");
  await page.waitForSelector("text=Revoked keys (2)");
  assert.deepEqual(
    [await readStatus("/v1/customers/me", robotKey), await readStatus("/v1/customers/me", nextKey)],
    [401, 200],
  );
  await clickTwice(page, "header button:has-text('Sign out')");
  await page.waitForSelector("text=Show sign-in link");
  await signIn(page, "ada@example.org");
  await clickTwice(page, "text=Sign out everywhere");
  await page.waitForSelector("text=Show sign-in link");
  assert.deepEqual(problems, []);
  await close();
});

test("every form submission sends the site's origin, and no referrer contains a path or token", {
  skip: skipReason,
}, async () => {
  const { page, close } = await openPage();
  const sentHeaders: Promise<readonly [path: string, origin: string | undefined, referer: string | undefined]>[] = [];
  page.on("request", (request) => {
    const path = new URL(request.url()).pathname;
    const headers = request.allHeaders().then(({ origin, referer }) => [path, origin, referer] as const);
    if (request.method() === "POST") sentHeaders.push(headers);
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
    await Promise.all(sentHeaders),
    ["sign-up", "sign-in", "enter", "sign-out"].map((form) => [`/account/${form}`, service.url, `${service.url}/`]),
  );
  await close();
});

test("if another site submits the rotation form, the request is rejected and the key still works", {
  skip: skipReason,
}, async () => {
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
  // For a browser, another host name is another site; another port of the same host is the same site but another
  // origin.
  for (const host of ["localhost", "127.0.0.1"]) {
    await page.goto(`http://${host}:${(otherSite.address() as AddressInfo).port}/`);
    const [response] = await Promise.all([page.waitForResponse(`${service.url}${action}`), page.click("text=Win")]);
    assert.equal(response.status(), 403, host);
    assert.equal(await readText(page, "h1"), "Request refused");
  }
  otherSite.close();
  assert.equal(await readStatus("/v1/customers/me", key), 200);
  await close();
});
