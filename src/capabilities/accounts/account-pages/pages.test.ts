import assert from "node:assert/strict";
import { test } from "node:test";
import { type DefaultTreeAdapterTypes, parse } from "parse5";
import { accountHarness, keyIn } from "../../../../test/support/customers/account-harness.ts";
import { embeddedDatabase } from "../../../../test/support/databases.ts";
import { hostileTexts } from "../../../../test/support/hostile-texts.ts";
import { PLAN_ALLOWANCES } from "../../../domain/plan.ts";
import { renderDocument } from "../../../http/html/index.ts";
import { createKeyChangePage, createKeysPage, createRejectedKeyPage } from "./keys-page.ts";
import { createOverviewPage } from "./overview-page.ts";
import {
  createEmailSentPage,
  createLinkSentPage,
  createNewKeyPage,
  createSignedOutPage,
  renderReauthenticationSection,
} from "./pages.ts";
import { createRequestsPage } from "./requests-page.ts";
import {
  createConfirmEmailPage,
  createDeleteAccountPage,
  createEmailChangeSentPage,
  createRejectedEmailPage,
  createSettingsPage,
} from "./settings-page.ts";
import { createUsagePage } from "./usage-page.ts";

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

/** Renders pages with this text in every field that users or clients choose. */
function renderPages(text: string, proof: boolean): string {
  const form = { token: text, id: text };
  const at = new Date(0);
  const key = { keyId: text, name: text, prefix: text, createdAt: at, lastUsedAt: null, revokedAt: null };
  const keys = [key, { ...key, revokedAt: at }];
  const account = {
    customerId: "cus-a",
    email: text,
    name: text,
    plan: "free" as const,
    status: "active" as const,
    createdAt: at,
    allowance: PLAN_ALLOWANCES.free,
    customLimits: { quotas: {}, rateLimits: {} },
    keys,
  };
  const month = { usage: NOTHING_USED, quotas: PLAN_ALLOWANCES.free.quotas, resetsOn: "1970-02-01" };
  const fields = { method: text, route: text, code: text, requestId: text, keyId: text };
  const requests = [{ ...fields, occurredAt: at, status: 404, durationMs: 1 }];
  const usage = [{ day: "1970-01-01", keyId: text, requests: 1, failed: 1, counted: { ...NOTHING_USED, LISTING: 1 } }];
  const proofSection = proof ? renderReauthenticationSection({ email: text, form, canSignIn: true, next: text }) : null;
  const sessions = [{ sessionId: text, startedAt: at, lastSeenAt: at }];
  const pendingEmail = { email: text, expiresAt: at };
  const rejected = { error: { field: "confirmation", message: text }, values: { confirmation: text } };
  const settings = {
    account,
    form,
    proof: proofSection,
    canChangeEmail: true,
    pendingEmail,
    sessions,
    sessionId: text,
  };
  const pages = [
    createOverviewPage({ account, month, form, requests, routes: [], upgradeUrl: text, origin: text }),
    createOverviewPage({ account, month, form, requests: [], routes: [], upgradeUrl: null, origin: text }),
    createKeysPage({ form, keys, proof: proofSection }),
    createKeyChangePage("revoke", key, form),
    createRejectedKeyPage(form, { error: { field: "name", message: text }, values: { name: text } }),
    createUsagePage({ form, keys, month, usage, now: 0 }),
    createRequestsPage({ form, keys, requests, onlyFailed: false }),
    createSettingsPage(settings),
    createDeleteAccountPage(form, text, rejected),
    createRejectedEmailPage(form, { error: { field: "email", message: text }, values: { email: text } }),
    createEmailChangeSentPage(form, text),
    createConfirmEmailPage(form, text, text),
    createEmailSentPage(text, text),
    createLinkSentPage(text, text),
    createNewKeyPage({ ...key, apiKey: text }, text, text),
    createSignedOutPage({
      botCheck: { token: text },
      canSignIn: true,
      showsLinks: true,
      formId: text,
      rejected: { form: "sign-up", error: { field: "name", message: text }, values: { name: text, email: text } },
    }),
  ];
  return pages.map((page) => renderDocument(page, { isSandbox: false, publicUrl: null })).join("");
}

test("hostile text in any field adds no element and no attribute to a page", () => {
  assert.equal(hostileTexts.length, 100);
  for (const proof of [true, false]) {
    const plainOutline = describeOutline(renderPages("plain", proof));
    for (const text of hostileTexts) {
      const html = renderPages(text, proof);
      assert.equal(describeOutline(html), plainOutline, text);
    }
  }
});

test("every page forbids inline and external scripts, external resources and framing", async () => {
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
  for (const [index, { headers, text }] of responses.entries()) {
    // Only the page with the new key and the overview without requests have a copy button.
    const hasCopyButton = index === 1 || index === responses.length - 1;
    const scriptPolicy = hasCopyButton ? " script-src 'self'; connect-src 'self';" : "";
    assert.equal(
      headers["content-security-policy"],
      `default-src 'none'; style-src 'self'; img-src 'self';${scriptPolicy} form-action 'self'; base-uri 'none'; frame-ancestors 'none'`,
    );
    assert.equal(headers["x-content-type-options"], "nosniff");
    assert.equal(headers["cross-origin-opener-policy"], "same-origin");
    assert.equal(headers["referrer-policy"], "strict-origin", "forms need the origin; paths are not sent");
    assert.equal(headers["x-frame-options"], "DENY");
    assert.equal(headers["cache-control"], "no-store");
    assert.equal(headers["content-type"], "text/html; charset=utf-8");
    for (const { tagName, attrs } of parseElements(text)) {
      if (!hasCopyButton) assert.notEqual(tagName, "script");
      if (tagName === "script") assert.ok(attrs.some(({ name }) => name === "src"));
      assert.notEqual(tagName, "style");
      for (const { name, value } of attrs)
        if (["href", "src", "action"].includes(name))
          assert.match(value, /^(?:\/(?!\/)|#)/, `${tagName} ${name}=${value}`);
    }
  }
  assert.notEqual(keyIn(responses.at(-1)?.text ?? ""), "");
  const stylesheetPath = /href="(\/assets\/style-[0-9a-f]{16}\.css)"/.exec(responses[0]?.text ?? "")?.[1] ?? "";
  const stylesheet = await harness.visit(stylesheetPath);
  assert.equal(stylesheet.status, 200);
  assert.equal(stylesheet.headers["content-type"], "text/css; charset=utf-8");
  assert.equal(stylesheet.headers["cache-control"], "public, max-age=31536000, immutable");
  assert.equal((await harness.call("GET", "/account/nothing")).status, 404);
});

test("only the sign-up page with a site key allows Turnstile's script and frame", async () => {
  const account = { botCheck: { siteKey: "0x4AAAAAAA-site" }, emailDelivery: null, displaysLinks: true };
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
  for (const page of [
    await harness.visit("/account/keys", { cookie }),
    await harness.visit("/account/enter?token=x"),
  ]) {
    assert.doesNotMatch(page.text, /<script|cloudflare/);
    assert.doesNotMatch(String(page.headers["content-security-policy"]), /script-src|cloudflare/);
  }
});

test("the labels of key links contain the key's name, and tables have ARIA roles", () => {
  const pageElements = parseElements(renderPages("robot", false));
  const readAttributes = (tag: string) =>
    pageElements
      .filter(({ tagName }) => tagName === tag)
      .map(({ attrs }) => Object.fromEntries(attrs.map(({ name, value }) => [name, value])));
  const labels = readAttributes("a").map((attrs) => attrs["aria-label"]);
  for (const name of ["Rotate robot", "Revoke robot"]) assert.ok(labels.includes(name), name);
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
