import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { before, test } from "node:test";
import type { Browser, Page } from "playwright-core";
import {
  expandAll,
  listLayoutDefects,
  listViolations,
  openBrowserPage,
  browserSkipReason as skip,
} from "../support/pages/browser.ts";
import { openPagesService } from "../support/pages/pages-service.ts";
import type { ServiceProcess } from "../support/service-process.ts";

let service: ServiceProcess;
let browser: Browser;
before(async () => {
  if (skip !== false) return;
  ({ service, browser } = await openPagesService());
});

const readStatus = async (path: string, key: string): Promise<number> =>
  (await service.get(path, { authorization: `Bearer ${key}` })).status;

const readText = async (page: Page, selector: string): Promise<string> => (await page.textContent(selector)) ?? "";

const openPage = () => openBrowserPage(browser, service.url, { javaScriptEnabled: false });

/** Submits twice, because some users double-click buttons. */
const clickTwice = (page: Page, button: string) => page.click(button, { clickCount: 2 });

async function signUp(page: Page, email: string): Promise<string> {
  await page.goto(`${service.url}/account`);
  await page.fill("#name", "Ada <b>Lovelace</b>");
  await page.fill("#sign-up-email", email);
  await clickTwice(page, "text=Create account");
  return readText(page, "#api-key-text");
}

async function signIn(page: Page, email: string): Promise<void> {
  await page.goto(`${service.url}/account`);
  await page.fill("#sign-in-email", email);
  await clickTwice(page, "text=Show sign-in link");
  await page.click("text=Sign in to your account");
  await clickTwice(page, "button:has-text('Sign in')");
  await page.waitForURL(`${service.url}/account`);
}

test("without JavaScript, a user signs up, is signed in, sees the usage and manages keys", {
  skip,
}, async () => {
  const { page, problems, close } = await openPage();
  const key = await signUp(page, "ada@example.org");
  assert.match(key, /^plx_free_[a-z2-7]{33}$/);
  for (let call = 0; call < 3; call++) assert.equal(await readStatus("/v1/markets?limit=1", key), 200);
  await page.click("text=Go to your account");
  assert.equal(await readText(page, "h1"), "Ada <b>Lovelace</b>");
  assert.match(await readText(page, ".usage"), /LISTING\s*3 of 100/);
  await page.click("text=API keys");
  await page.click("text=Rotate");
  await clickTwice(page, "button:has-text('Rotate key')");
  await page.waitForSelector("#api-key-text");
  const nextKey = await readText(page, "#api-key-text");
  assert.notEqual(nextKey, key);
  assert.equal(await readStatus("/v1/customers/me", key), 401);
  assert.equal(await readStatus("/v1/customers/me", nextKey), 200);
  const keys = await service.get("/v1/customers/me/keys", { authorization: `Bearer ${nextKey}` });
  assert.equal(keys.json.length, 2, "a double click creates one key");
  await page.click("text=Back to API keys");
  await page.fill("#key-name", "robot");
  await clickTwice(page, "button:has-text('Create API key')");
  await page.waitForSelector("#api-key-text");
  const robotKey = await readText(page, "#api-key-text");
  await page.click("text=Back to API keys");
  await page.click("[aria-label='Revoke robot']");
  await clickTwice(page, "button:has-text('Revoke key')");
  await page.waitForSelector("text=Revoked keys (2)");
  assert.deepEqual(
    [await readStatus("/v1/customers/me", robotKey), await readStatus("/v1/customers/me", nextKey)],
    [401, 200],
  );
  // One click: on a slow machine, the second one would reach a link in the header of the next page.
  await page.click("header button:has-text('Sign out')");
  await page.waitForSelector("text=Show sign-in link");
  await signIn(page, "ada@example.org");
  await page.click("text=Settings");
  await page.click("text=Sign out everywhere");
  await clickTwice(page, "button:has-text('Sign out everywhere')");
  await page.waitForSelector("text=Show sign-in link");
  assert.deepEqual(problems, []);
  await close();
});

test("without JavaScript, a user changes the e-mail and deletes the account", { skip }, async () => {
  const { page, problems, close } = await openPage();
  const key = await signUp(page, "bob@example.org");
  await page.click("text=Go to your account");
  await page.click("text=Settings");
  await page.fill("#new-email", "bob@new.example");
  await clickTwice(page, "button:has-text('Change e-mail')");
  await page.click("a:has-text('Confirm your new e-mail')");
  await clickTwice(page, "button:has-text('Change e-mail')");
  await page.waitForSelector("dd:has-text('bob@new.example')");
  await page.click("a:has-text('Delete account')");
  await page.fill("#confirmation", "bob@new.example");
  await clickTwice(page, "button:has-text('Delete account')");
  await page.waitForSelector("h1:has-text('Your account was deleted')");
  assert.equal(await readStatus("/v1/markets", key), 401);
  await page.click("a:has-text('Sign up')");
  await page.waitForSelector("text=Create account");
  assert.deepEqual(problems, []);
  await close();
});

test("no account page overflows, wraps a key or an id, or has an accessibility violation in either theme", {
  skip,
}, async () => {
  const context = await browser.newContext({ reducedMotion: "reduce" });
  const page = await context.newPage();
  const checkPage = async (name: string) => {
    await expandAll(page);
    for (const width of [390, 1280])
      for (const colorScheme of ["light", "dark"] as const) {
        await page.setViewportSize({ width, height: 844 });
        await page.emulateMedia({ colorScheme });
        assert.deepEqual(await listLayoutDefects(page), [], `${name} at ${width} px`);
        assert.deepEqual(await listViolations(page), [], `${name} at ${width} px, ${colorScheme}`);
      }
  };
  const open = async (path: string) => {
    await page.goto(`${service.url}${path}`);
    await checkPage(path);
  };
  await open("/account");
  await page.fill("#sign-up-email", "x@y");
  await page.click("text=Create account");
  assert.equal(await page.evaluate("document.activeElement.id"), "sign-up-email", "the invalid field has the focus");
  await checkPage("rejected sign-up");
  const longName = "W".repeat(64);
  await page.fill("#name", "W".repeat(100));
  await page.fill("#sign-up-email", `${"w".repeat(60)}@${"w".repeat(60)}.example`);
  await page.click("text=Create account");
  const key = await readText(page, "#api-key-text");
  // The text is there before the script that stores the key has run; scripts run before the page is loaded.
  await page.waitForLoadState("load");
  assert.equal(await page.evaluate("sessionStorage.getItem('parallax-key')"), key);
  await checkPage("new account");
  await open("/account");
  await page.goto(`${service.url}/account/keys`);
  await page.fill("#key-name", longName);
  await page.click("button:has-text('Create API key')");
  const longNameKey = await readText(page, "#api-key-text");
  for (const path of ["/v1/markets?limit=1", "/v1/markets/polymarket/none/history", "/v1/markets?limit=0"])
    await readStatus(path, longNameKey);
  await readStatus("/v1/markets?limit=1", key);
  for (const path of ["", "/keys", "/usage", "/requests", "/requests?only=errors", "/settings", "/delete"])
    await open(`/account${path}`);
  await page.fill("#confirmation", "x");
  await page.click("button:has-text('Delete account')");
  await checkPage("rejected deletion");
  await open("/account/sign-out-everywhere");
  await page.goto(`${service.url}/account/keys`);
  await page.click("text=Revoke >> nth=0");
  await checkPage("revoke");
  await page.click("header button:has-text('Sign out')");
  await page.waitForSelector("text=Show sign-in link");
  await page.waitForLoadState("load");
  assert.equal(await page.evaluate("sessionStorage.getItem('parallax-key')"), null, "signing out clears the tab");
  await context.close();
});

test("every form submission sends the site's origin, and no referrer contains a path or token", {
  skip,
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
  await page.click("text=Create account");
  await page.click("text=Go to your account");
  await page.click("text=Sign out");
  await signIn(page, "grace@example.org");
  await page.click("text=Sign out");
  await page.waitForSelector("text=Show sign-in link");
  const sent = await Promise.all(sentHeaders);
  // On a slow machine, both clicks of a double click submit the form.
  const forms = sent.map(([path]) => path).filter((path, index, paths) => path !== paths[index - 1]);
  assert.deepEqual(
    forms,
    ["sign-up", "sign-out", "sign-in", "enter", "sign-out"].map((form) => `/account/${form}`),
  );
  for (const [path, origin, referrer] of sent)
    assert.deepEqual([origin, referrer], [service.url, `${service.url}/`], path);
  await close();
});

test("if another site submits the rotation form, the request is rejected and the key still works", {
  skip,
}, async () => {
  const { page, close } = await openPage();
  const key = await signUp(page, "eve@example.org");
  await page.goto(`${service.url}/account/keys`);
  await page.click("text=Rotate");
  const action = await page.getAttribute("form[action$='/rotate']", "action");
  const csrf = await page.getAttribute("form[action$='/rotate'] input[name=csrf]", "value");
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
