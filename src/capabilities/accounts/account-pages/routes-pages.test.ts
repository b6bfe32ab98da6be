import assert from "node:assert/strict";
import { test } from "node:test";
import {
  accountHarness,
  cookieIn,
  inputIn,
  keyIn,
  TEST_TOKEN,
} from "../../../../test/support/customers/account-harness.ts";
import { useSignUpServices } from "../../../../test/support/customers/customer-harness.ts";
import { eachDatabase, embeddedDatabase, onEmbedded } from "../../../../test/support/databases.ts";
import { PLAN_ALLOWANCES, TIERS } from "../../../domain/plan.ts";
import type { AccountSettings } from "./model.ts";

const BROWSER = { accept: "text/html,application/xhtml+xml,*/*;q=0.8" };

const services = await useSignUpServices();

test("303: without a session, a GET request for a page of an account or a form target redirects to the account page", async () => {
  const harness = await accountHarness(await embeddedDatabase());
  const forms = [
    "",
    "sign-in",
    "sign-up",
    "sign-out",
    "sign-out-everywhere",
    "prove",
    "keys/x/rotate",
    "keys/x/revoke",
  ];
  const pages = ["keys", "usage", "requests", "settings", "delete"];
  for (const path of [...forms, ...pages].map((name) => `/account/${name}`)) {
    const response = await harness.visit(path, { headers: BROWSER });
    assert.deepEqual([response.status, response.headers.location], [303, "/account"], path);
  }
  assert.match((await harness.visit("/account")).text, /<a href="\/docs">/);
});

test("404 and 405: browsers receive an error page; other clients, and all clients of `/v1/` paths, receive JSON", async () => {
  const harness = await accountHarness(await embeddedDatabase());
  const notFoundResponse = await harness.visit("/acount", { headers: BROWSER });
  assert.equal(notFoundResponse.status, 404);
  assert.match(notFoundResponse.text, /<h1>Not found<\/h1>/);
  const wrongMethodResponse = await harness.submit("/pricing", {}, { headers: BROWSER });
  assert.equal(wrongMethodResponse.status, 405);
  assert.equal(wrongMethodResponse.headers.allow, "GET, HEAD");
  assert.match(String(wrongMethodResponse.headers["content-type"]), /^text\/html/);
  for (const [path, headers] of [
    ["/acount", { accept: "*/*" }],
    ["/acount", {}],
    ["/v1/nothing", BROWSER],
  ] as const) {
    const response = await harness.visit(path, { headers });
    assert.deepEqual([response.status, response.json?.code], [404, "not_found"], path);
  }
});

test("400, 404, 422 and 429: the verification endpoint returns pages to browsers and JSON to other clients", async () => {
  const harness = await accountHarness(await embeddedDatabase());
  const verify = (body: string, accept: string, from = "192.0.2.250") =>
    harness.call("POST", "/v1/customers/verify", {
      body,
      from,
      headers: { accept, "content-type": "application/x-www-form-urlencoded", "sec-fetch-site": "same-origin" },
    });
  const assertPageAndJson = async (status: number, body: string) => {
    const page = await verify(body, BROWSER.accept);
    assert.equal(page.status, status);
    assert.match(String(page.headers["content-type"]), /^text\/html/);
    assert.match(page.text, /<h1>/);
    const json = await verify(body, "application/json");
    assert.deepEqual([json.status, typeof json.json?.detail], [status, status === 422 ? "object" : "string"]);
  };
  await assertPageAndJson(400, "token=a&token=b");
  await assertPageAndJson(404, "token=x");
  await assertPageAndJson(422, "other=x");
  const invalidLink = await harness.visit("/v1/customers/verify?token=x", { headers: BROWSER });
  assert.equal(invalidLink.status, 404);
  assert.match(invalidLink.text, /<h1>This link does not work<\/h1>/);
  assert.equal((await harness.visit("/v1/customers/verify?token=x")).json.code, "verification_not_found");
  for (let request = 0; request < 600; request++) await verify("token=x", "application/json");
  await assertPageAndJson(429, "token=x");
});

test("422, 403 and 409: the response to a rejected form contains the form with the error and the escaped input", async () => {
  const harness = await accountHarness(await embeddedDatabase());
  await harness.createAccount("taken@example.org");
  const hostileText = '"><script>ada';
  const submitSignUp = (fields: Readonly<Record<string, string>>) =>
    harness.submit("/account/sign-up", { ...TEST_TOKEN, name: "Ada", email: "ada@example.org", ...fields });
  for (const [status, fields, reason, field] of [
    [422, { email: hostileText }, /not a valid e-mail address/, "sign-up-email"],
    [422, { name: "Ada\u202e" }, /control or invisible characters/, "name"],
    [422, { email: "ada@tempmail.example" }, /Disposable/, "sign-up-email"],
    [403, { "cf-turnstile-response": "" }, /Wait for the bot check below to finish/, undefined],
    [409, { email: "taken@example.org" }, /exists/, "sign-up-email"],
  ] as const) {
    const { status: sentStatus, text } = await submitSignUp(fields);
    assert.equal(sentStatus, status);
    assert.match(text, new RegExp(`<p class="error"[^>]*>[^<]*${reason.source}[^<]*</p>`));
    const invalidField = /id="([^"]+)"[^>]* aria-invalid="true" aria-describedby="\1-error" autofocus>/.exec(text)?.[1];
    assert.equal(invalidField, field);
    if (field !== undefined) assert.match(text, new RegExp(`<p class="error" id="${field}-error">`));
    const escapeHtml = (value: string) =>
      value.replace(/["<>]/g, (c) => ({ '"': "&quot;", "<": "&lt;", ">": "&gt;" })[c] ?? c);
    const sentFields: Readonly<Record<string, string>> = { name: "Ada", email: "ada@example.org", ...fields };
    for (const name of ["name", "email"])
      assert.ok(text.includes(`value="${escapeHtml(sentFields[name] ?? "")}"`), name);
    assert.doesNotMatch(text, /<script/);
  }
  const signInResponse = await harness.submit("/account/sign-in", { email: "ada" });
  assert.equal(signInResponse.status, 422);
  assert.match(signInResponse.text, /id="sign-in-email"[^>]* value="ada"/);
  const { cookie, fields } = await harness.signIn("taken@example.org");
  const keyResponse = await harness.submit("/account/keys", { ...fields, name: "default" }, { cookie });
  assert.equal(keyResponse.status, 409);
  assert.match(
    keyResponse.text,
    /name="name"[^>]* value="default"[^>]* aria-invalid="true"[\s\S]*active key already has this name/,
  );
  const resubmission = {
    csrf: inputIn(keyResponse.text, "csrf"),
    form: inputIn(keyResponse.text, "form"),
    name: "robot",
  };
  assert.equal((await harness.submit("/account/keys", resubmission, { cookie })).status, 200);
});

onEmbedded(
  "403: a form without a bot check token is rejected without a request to Turnstile, and no attempt is counted",
  async (database) => {
    const account: AccountSettings = { botCheck: { siteKey: "site-key" }, emailDelivery: null };
    const harness = await accountHarness(database, { account, signUp: services.withTurnstile });
    const requestsBefore = services.turnstile.requests.length;
    const submitSignUp = (token: string) =>
      harness.submit(
        "/account/sign-up",
        { name: "", email: "ada@example.org", "cf-turnstile-response": token },
        { from: "192.0.2.7" },
      );
    for (let attempt = 0; attempt < 31; attempt++) {
      const { status, headers, text } = await submitSignUp("");
      assert.equal(status, 403);
      assert.match(text, /cf-turnstile/);
      assert.match(String(headers["content-security-policy"]), /script-src https:\/\/challenges\.cloudflare\.com/);
    }
    assert.equal(services.turnstile.requests.length, requestsBefore);
    assert.equal((await submitSignUp(services.turnstile.issue())).status, 200);
  },
);

test("after sign-up, the browser is signed in, and the page shows the key and an example request with the key", async () => {
  for (const displaysLinks of [true, false]) {
    const account: AccountSettings = { botCheck: null, emailDelivery: null, displaysLinks };
    const harness = await accountHarness(await embeddedDatabase(), { account });
    const signUpResponse = await harness.submit("/account/sign-up", {
      ...TEST_TOKEN,
      name: "",
      email: `ada-${displaysLinks}@example.org`,
    });
    assert.equal(signUpResponse.status, 200);
    const key = keyIn(signUpResponse.text);
    assert.ok(signUpResponse.text.includes(`<code id="api-key-text">${key}</code>`));
    assert.ok(
      signUpResponse.text.includes(
        `curl &quot;http://localhost:80/v1/markets?limit=1&quot; \\\n  -H &quot;Authorization: Bearer ${key}&quot;`,
      ),
      signUpResponse.text,
    );
    const cookie = cookieIn(signUpResponse);
    assert.equal(await harness.isSignedIn(cookie), true);
    const { text } = await harness.visit("/account/keys", { cookie });
    assert.doesNotMatch(text, /Confirm that it’s you/);
    assert.ok(!text.includes(key));
  }
});

test("the pricing page shows all limits, all endpoints and how to upgrade", async () => {
  const database = await embeddedDatabase();
  const sandboxHarness = await accountHarness(database);
  const { text } = await sandboxHarness.visit("/pricing");
  for (const plan of ["free", "pro"] as const)
    for (const number of Object.values(PLAN_ALLOWANCES[plan].quotas))
      assert.ok(
        text.includes(
          `data-label="${plan === "free" ? "Free" : "Pro"}">${number === 0 ? "not included" : number.toLocaleString("en-US")}<`,
        ),
      );
  const { tiers } = (await sandboxHarness.visit("/v1/pricing")).json;
  for (const endpoint of tiers.flatMap(({ endpoints }: { endpoints: string[] }) => endpoints))
    assert.ok(text.replaceAll("<wbr>", "").includes(`>${endpoint}<`), endpoint);
  for (const tier of TIERS) assert.ok(text.includes(`<dt>${tier}</dt>`));
  assert.match(text, /npx parallax customers set-plan/);
  const upgradeUrl = "https://shop.example/plans";
  const account: AccountSettings = { botCheck: null, emailDelivery: null, upgradeUrl };
  for (const [data, ports] of [
    ["live", { account }],
    ["live", {}],
  ] as const) {
    const harness = await accountHarness(database, { data, ...ports });
    const page = (await harness.visit("/pricing")).text;
    assert.equal(page.includes(`href="${upgradeUrl}"`), "account" in ports);
    assert.doesNotMatch(page, /set-plan/);
  }
});

eachDatabase("an error response that requires a larger plan contains the URL of an existing page", async (database) => {
  const readUpgradeUrl = async (ports: Parameters<typeof accountHarness>[1], host: string) => {
    const harness = await accountHarness(database, ports);
    const { customerId, apiKey } = await harness.createAccount(
      `${harness.clock.now()}@${host.replace(/[^a-z]/g, "")}.example.org`,
    );
    await harness.app.metering.start();
    await harness.app.customers.setPlan(customerId, "enterprise", harness.operator);
    await harness.app.customers.setQuota(customerId, "LISTING", 0, harness.operator);
    const response = await harness.call("GET", "/v1/markets", { key: apiKey, headers: { host } });
    const url = /Upgrade: (\S+)$/.exec(response.json.detail)?.[1] ?? "";
    const path = url.startsWith("/") ? url : new URL(url).pathname;
    if (!url.startsWith("https://shop")) assert.equal((await harness.visit(path)).status, 200, url);
    return url;
  };
  const account: AccountSettings = { botCheck: null, emailDelivery: null, upgradeUrl: "https://shop.example/plans" };
  assert.equal(await readUpgradeUrl({}, "127.0.0.1:8787"), "http://127.0.0.1:8787/pricing");
  assert.equal(await readUpgradeUrl({}, "evil.example"), "/pricing", "an unknown Host header is ignored");
  const publicUrl = "https://parallax.example";
  assert.equal(await readUpgradeUrl({ publicUrl }, "localhost:1"), `${publicUrl}/pricing`);
  assert.equal(await readUpgradeUrl({ publicUrl, account }, "x.example"), "https://shop.example/plans");
});

test("the OpenAPI document describes the verification page's HTML and 404 responses and its form body", async () => {
  const harness = await accountHarness(await embeddedDatabase());
  const { get, post } = (await harness.visit("/openapi.json")).json.paths["/v1/customers/verify"];
  assert.deepEqual(Object.keys(get.responses[200].content), ["text/html"]);
  assert.match(get.responses[404].description, /verification_not_found/);
  assert.deepEqual(Object.keys(post.requestBody.content), ["application/json", "application/x-www-form-urlencoded"]);
});
