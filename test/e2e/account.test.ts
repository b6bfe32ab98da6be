import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, test } from "node:test";
import { type Browser, chromium, type Page } from "playwright-core";
import { type ServiceProcess, startServiceProcess, temporaryFolder } from "../support/service-process.ts";

/** Where it is not named, a test without a browser is skipped; where it is, a missing one is a failure. */
const CHROMIUM = process.env.TEST_CHROMIUM ?? "/usr/bin/chromium";
const skip =
  process.env.TEST_CHROMIUM === undefined && !existsSync(CHROMIUM) ? `there is no ${CHROMIUM} on this machine` : false;
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

/** A browser of its own in which no script runs; what it could not load or was not allowed to is in `faults`. */
async function openPage(): Promise<{ page: Page; faults: string[]; close(): Promise<void> }> {
  const context = await browser.newContext({ javaScriptEnabled: false });
  const page = await context.newPage();
  const faults: string[] = [];
  page.on("requestfailed", (request) => {
    const why = request.failure()?.errorText;
    // Of a double click the browser gives the first form up, where it has not been answered yet.
    if (why !== "net::ERR_ABORTED" || request.method() !== "POST") faults.push(`${request.url()}: ${why}`);
  });
  page.on("request", (request) => {
    if (!request.url().startsWith(service.url)) faults.push(`${request.url()} was asked`);
  });
  page.on("console", (message) => faults.push(message.text()));
  return { page, faults, close: () => context.close() };
}

/** Every button is pressed twice, as people do. */
const press = (page: Page, button: string) => page.click(button, { clickCount: 2 });

async function signUp(page: Page, email: string): Promise<string> {
  await page.goto(`${service.url}/account`);
  await page.fill("#name", "Ada <b>Lovelace</b>");
  await page.fill("#sign-up-email", email);
  await press(page, "text=Create a free account");
  return textOf(page, "code.key");
}

async function signIn(page: Page, email: string): Promise<void> {
  await page.goto(`${service.url}/account`);
  await page.fill("#sign-in-email", email);
  await press(page, "text=Show me a link");
  await page.click("text=Sign in to your account");
  await press(page, "button:has-text('Sign in')");
  await page.waitForURL(`${service.url}/account`);
}

test("without a script a stranger signs up, signs in, sees usage, and rotates a key", { skip }, async () => {
  const { page, faults, close } = await openPage();
  const key = await signUp(page, "ada@example.org");
  assert.match(key, /^plx_free_[a-z2-7]{33}$/);
  for (let call = 0; call < 3; call++) assert.equal(await statusOf("/v1/markets?limit=1", key), 200);
  await signIn(page, "ada@example.org");
  assert.equal(await textOf(page, "h1"), "Ada <b>Lovelace</b>");
  assert.match(await textOf(page, ".usage"), /LISTING\s*3 of 100/);
  await page.click("summary:has-text('Rotate')");
  await press(page, "text=Rotate now");
  await page.waitForSelector("code.key");
  const next = await textOf(page, "code.key");
  assert.notEqual(next, key);
  assert.equal(await statusOf("/v1/customers/me", key), 401);
  assert.equal(await statusOf("/v1/customers/me", next), 200);
  const keys = await service.get("/v1/customers/me/keys", { authorization: `Bearer ${next}` });
  assert.equal(keys.json.length, 2, "a double click made one key");
  await page.click("text=Back to your account");
  await page.fill("#key-name", "robot");
  await press(page, "text=Make a key");
  const robot = await textOf(page, "code.key");
  await page.click("text=Back to your account");
  await page.click("tr:has-text('robot') summary:has-text('Revoke')");
  await press(page, "tr:has-text('robot') button:has-text('Revoke now')");
  await page.waitForSelector("text=Ended keys (2)");
  assert.deepEqual([await statusOf("/v1/customers/me", robot), await statusOf("/v1/customers/me", next)], [401, 200]);
  await press(page, "header button:has-text('Sign out')");
  await page.waitForSelector("text=Show me a link");
  await signIn(page, "ada@example.org");
  await press(page, "text=Sign out everywhere");
  await page.waitForSelector("text=Show me a link");
  assert.deepEqual(faults, []);
  await close();
});

test("each form tells its site, as browsers that tell nothing else have to, and no address holds a token elsewhere", {
  skip,
}, async () => {
  const { page, close } = await openPage();
  const sent: Promise<readonly [path: string, origin: string | undefined, referer: string | undefined]>[] = [];
  page.on("request", (request) => {
    const path = new URL(request.url()).pathname;
    const told = request.allHeaders().then(({ origin, referer }) => [path, origin, referer] as const);
    if (request.method() === "POST") sent.push(told);
  });
  await page.goto(`${service.url}/account`);
  await page.fill("#sign-up-email", "grace@example.org");
  await page.click("text=Create a free account");
  await page.click("button:has-text('Sign in')");
  await page.click("text=Sign in to your account");
  await page.click("button:has-text('Sign in')");
  await page.click("text=Sign out");
  await page.waitForSelector("text=Show me a link");
  assert.deepEqual(
    await Promise.all(sent),
    ["sign-up", "sign-in", "enter", "sign-out"].map((form) => [`/account/${form}`, service.url, `${service.url}/`]),
  );
  await close();
});

test("a form on another site's page is refused, and the key goes on working", { skip }, async () => {
  const { page, close } = await openPage();
  const key = await signUp(page, "eve@example.org");
  await signIn(page, "eve@example.org");
  const action = await page.getAttribute("form[action$='/rotate']", "action");
  const csrf = await page.getAttribute("input[name=csrf]", "value");
  const form = `<form method="post" action="${service.url}${action}"><input name="csrf" value="${csrf}"><input name="form" value="x"><button>Win</button></form>`;
  const evil = createServer((_request, response) => {
    response.writeHead(200, { "content-type": "text/html" }).end(form);
  });
  await new Promise<void>((resolve) => evil.listen(0, "127.0.0.1", resolve));
  // Another name of this machine is another site to a browser; another port of the same one is the same site.
  for (const host of ["localhost", "127.0.0.1"]) {
    await page.goto(`http://${host}:${(evil.address() as AddressInfo).port}/`);
    const [answer] = await Promise.all([page.waitForResponse(`${service.url}${action}`), page.click("text=Win")]);
    assert.equal(answer.status(), 403, host);
    assert.equal(await textOf(page, "h1"), "This was refused");
  }
  evil.close();
  assert.equal(await statusOf("/v1/customers/me", key), 200);
  await close();
});
