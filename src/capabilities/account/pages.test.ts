import assert from "node:assert/strict";
import { test } from "node:test";
import { type DefaultTreeAdapterTypes, parse } from "parse5";
import { accountHarness, keyIn, TEST_TOKEN } from "../../../test/support/customers/account-harness.ts";
import { eachDatabase, embeddedDatabase } from "../../../test/support/databases.ts";
import { hostileTexts } from "../../../test/support/hostile-texts.ts";
import { PLAN_ALLOWANCES } from "../../domain/plan.ts";
import { renderAccountPage } from "./account-page.ts";
import type { AccountSettings } from "./model.ts";

const NOTHING_USED = { LISTING: 0, INSIGHT: 0, STRATEGY: 0, DEEP: 0 };

function parseElements(html: string): DefaultTreeAdapterTypes.Element[] {
  const pageElements: DefaultTreeAdapterTypes.Element[] = [];
  const walk = (node: DefaultTreeAdapterTypes.Node) => {
    if ("tagName" in node) pageElements.push(node);
    if ("childNodes" in node) for (const child of node.childNodes) walk(child);
  };
  walk(parse(html));
  return pageElements;
}

/** Lists the elements and attribute names of a page, without its text. */
const describeOutline = (html: string): string =>
  parseElements(html)
    .map(({ tagName, attrs }) => `${tagName} ${attrs.map(({ name }) => name).join(" ")}`)
    .join("\n");

const createView = (text: string) => ({
  account: {
    customerId: "cus-a",
    email: text,
    name: text,
    plan: "free" as const,
    status: "active" as const,
    createdAt: new Date(0),
    allowance: PLAN_ALLOWANCES.free,
    customLimits: { quotas: {}, rateLimits: {} },
    keys: [{ keyId: text, name: text, prefix: text, createdAt: new Date(0), lastUsedAt: null, revokedAt: null }],
  },
  month: { usage: NOTHING_USED, quotas: PLAN_ALLOWANCES.free.quotas, resetsOn: text },
  form: { token: text, id: text },
  isProven: true,
  canSignIn: true,
  routes: [],
  sessionId: text,
  sessions: [{ sessionId: text, startedAt: new Date(0), lastSeenAt: new Date(0) }],
});

test("hostile text in any account field adds no element and no attribute to the page", () => {
  assert.equal(hostileTexts.length, 100);
  for (const isProven of [true, false]) {
    const plainOutline = describeOutline(renderAccountPage({ ...createView("plain"), isProven }));
    for (const text of hostileTexts) {
      const html = renderAccountPage({ ...createView(text), isProven });
      assert.equal(describeOutline(html), plainOutline, text);
      assert.equal(parseElements(html).filter(({ tagName }) => tagName === "script").length, 0);
    }
  }
});

eachDatabase("if a hostile name is accepted, pages display it as text", async (database) => {
  const harness = await accountHarness(database);
  let acceptedCount = 0;
  for (const [index, text] of hostileTexts.entries()) {
    const email = `x${index}@example.org`;
    const fields = { name: text, email, ...TEST_TOKEN };
    const signUpResponse = await harness.submit("/account/sign-up", fields);
    if (signUpResponse.status !== 200) {
      assert.equal(signUpResponse.status, 422, text);
      await harness.createAccount(email);
    } else acceptedCount += 1;
    const browser = await harness.signIn(email);
    const createResponse = await harness.submit(
      "/account/keys",
      { ...browser.fields, name: text.slice(0, 64) },
      { cookie: browser.cookie },
    );
    const page = await harness.visit("/account", { cookie: browser.cookie });
    for (const { text: html } of [signUpResponse, createResponse, page]) {
      const pageElements = parseElements(html);
      assert.deepEqual(
        pageElements.filter(({ tagName }) =>
          ["script", "img", "svg", "iframe", "object", "embed", "style", "base"].includes(tagName),
        ),
        [],
      );
      assert.deepEqual(
        pageElements.flatMap(({ attrs }) => attrs.filter(({ name }) => name.startsWith("on") || name === "style")),
        [],
      );
    }
  }
  assert.ok(acceptedCount > 80, `${acceptedCount} names were accepted`);
});

test("every page forbids scripts, external resources and framing", async () => {
  const harness = await accountHarness(await embeddedDatabase());
  const { keyId } = await harness.createAccount("headers@example.org");
  const { cookie, fields } = await harness.signIn("headers@example.org");
  const responses = [
    await harness.visit("/account"),
    await harness.visit("/account", { cookie }),
    await harness.visit("/account/enter?token=x"),
    await harness.visit(`/account/enter?token=${"a".repeat(26)}`),
    await harness.submit("/account/sign-in", { email: "headers@example.org" }),
    await harness.submit("/account/sign-in", { email: "x" }),
    await harness.submit("/account/sign-out", {}, { headers: {} }),
    await harness.submit(`/account/keys/${keyId}/rotate`, fields, { cookie }),
  ];
  for (const { headers, text } of responses) {
    assert.equal(
      headers["content-security-policy"],
      "default-src 'none'; style-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    );
    assert.equal(headers["x-content-type-options"], "nosniff");
    assert.equal(headers["cross-origin-opener-policy"], "same-origin");
    assert.equal(headers["referrer-policy"], "strict-origin", "forms need the origin; paths are not sent");
    assert.equal(headers["x-frame-options"], "DENY");
    assert.equal(headers["cache-control"], "no-store");
    assert.equal(headers["content-type"], "text/html; charset=utf-8");
    for (const { tagName, attrs } of parseElements(text)) {
      assert.notEqual(tagName, "script");
      assert.notEqual(tagName, "style");
      for (const { name, value } of attrs)
        if (["href", "src", "action"].includes(name)) assert.match(value, /^\/(?!\/)/, `${tagName} ${name}=${value}`);
    }
  }
  assert.notEqual(keyIn(responses.at(-1)?.text ?? ""), "");
  const stylesheetPath = /href="(\/account\/style-[0-9a-f]{16}\.css)"/.exec(responses[0]?.text ?? "")?.[1] ?? "";
  const stylesheet = await harness.visit(stylesheetPath);
  assert.equal(stylesheet.status, 200);
  assert.equal(stylesheet.headers["content-type"], "text/css; charset=utf-8");
  assert.equal(stylesheet.headers["cache-control"], "public, max-age=31536000, immutable");
  assert.equal((await harness.call("GET", "/account/nothing")).status, 404);
});

test("only the sign-up page with a site key allows Turnstile's script and frame", async () => {
  const account: AccountSettings = { botCheck: { siteKey: "0x4AAAAAAA-site" }, emailDelivery: null };
  const harness = await accountHarness(await embeddedDatabase(), { account });
  const home = await harness.visit("/account");
  assert.match(
    String(home.headers["content-security-policy"]),
    /; script-src https:\/\/challenges\.cloudflare\.com; frame-src https:\/\/challenges\.cloudflare\.com; /,
  );
  assert.equal(home.headers["referrer-policy"], "strict-origin");
  const scripts = parseElements(home.text).filter(({ tagName }) => tagName === "script");
  assert.deepEqual(
    scripts.map(({ attrs }) => attrs.find(({ name }) => name === "src")?.value),
    ["https://challenges.cloudflare.com/turnstile/v0/api.js"],
  );
  assert.match(home.text, /class="cf-turnstile" data-sitekey="0x4AAAAAAA-site" data-action="signup"/);
  await harness.createAccount("turnstile@example.org");
  const { cookie } = await harness.signIn("turnstile@example.org");
  for (const page of [await harness.visit("/account", { cookie }), await harness.visit("/account/enter?token=x")]) {
    assert.doesNotMatch(page.text, /<script|cloudflare/);
    assert.doesNotMatch(String(page.headers["content-security-policy"]), /script-src|cloudflare/);
  }
});

test("the labels of key buttons contain the key's name, and tables have ARIA roles", () => {
  const pageElements = parseElements(renderAccountPage(createView("robot")));
  const readAttributes = (tag: string) =>
    pageElements
      .filter(({ tagName }) => tagName === tag)
      .map(({ attrs }) => Object.fromEntries(attrs.map(({ name, value }) => [name, value])));
  const labels = [...readAttributes("summary"), ...readAttributes("button")].map((attrs) => attrs["aria-label"]);
  for (const name of ["Rotate robot", "Revoke robot", "Rotate now: robot", "Revoke now: robot"])
    assert.ok(labels.includes(name), name);
  for (const [tag, role] of [
    ["table", "table"],
    ["thead", "rowgroup"],
    ["tbody", "rowgroup"],
    ["tr", "row"],
    ["td", "cell"],
    ["th", "columnheader"],
  ] as const) {
    assert.ok(readAttributes(tag).length > 0, tag);
    for (const attrs of readAttributes(tag)) assert.equal(attrs.role, role);
  }
  for (const attrs of readAttributes("th")) assert.equal(attrs.scope, "col");
});
