import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { accountHarness, inputIn } from "../../../test/support/customers/account-harness.ts";
import { signUpServices } from "../../../test/support/customers/customer-harness.ts";
import { eachDatabase, embeddedDatabase } from "../../../test/support/databases.ts";
import { PLAN_ALLOWANCES, TIERS } from "../../domain/plan.ts";

const BROWSER = { accept: "text/html,application/xhtml+xml,*/*;q=0.8" };
const DUMMY = { "cf-turnstile-response": "XXXX.DUMMY.TOKEN.XXXX" };

let services: Awaited<ReturnType<typeof signUpServices>>;
before(async () => {
  services = await signUpServices();
});
after(() => services.close());

test("303: what a person types or loads again without its form leads to the account's page", async () => {
  const bench = await accountHarness(await embeddedDatabase());
  const forms = [
    "sign-in",
    "sign-up",
    "sign-out",
    "sign-out-everywhere",
    "prove",
    "keys",
    "keys/x/rotate",
    "keys/x/revoke",
  ];
  for (const path of ["/", "/account/", ...forms.map((form) => `/account/${form}`)]) {
    const answer = await bench.visit(path, { headers: BROWSER });
    assert.deepEqual([answer.status, answer.headers.location], [303, "/account"], path);
  }
  assert.match((await bench.visit("/account")).text, /<a href="\/docs">/);
  await bench.close();
});

test("404 and 405: a browser that went astray gets a page, programs and the interface JSON", async () => {
  const bench = await accountHarness(await embeddedDatabase());
  const stray = await bench.visit("/acount", { headers: BROWSER });
  assert.equal(stray.status, 404);
  assert.match(stray.text, /<h1>There is no such thing<\/h1>/);
  const wrong = await bench.submit("/account/plans", {}, { headers: BROWSER });
  assert.equal(wrong.status, 405);
  assert.equal(wrong.headers.allow, "GET, HEAD");
  assert.match(String(wrong.headers["content-type"]), /^text\/html/);
  for (const [path, headers] of [
    ["/acount", { accept: "*/*" }],
    ["/acount", {}],
    ["/v1/nothing", BROWSER],
  ] as const) {
    const answer = await bench.visit(path, { headers });
    assert.deepEqual([answer.status, answer.json?.code], [404, "not_found"], path);
  }
  await bench.close();
});

test("400, 404, 422 and 429: from the verification page a browser gets pages, programs JSON", async () => {
  const bench = await accountHarness(await embeddedDatabase());
  const verify = (body: string, accept: string, from = "192.0.2.250") =>
    bench.call("POST", "/v1/customers/verify", {
      ...{ body, from },
      headers: { accept, "content-type": "application/x-www-form-urlencoded" },
    });
  const told = async (status: number, body: string) => {
    const page = await verify(body, BROWSER.accept);
    assert.equal(page.status, status);
    assert.match(String(page.headers["content-type"]), /^text\/html/);
    assert.match(page.text, /<h1>/);
    const json = await verify(body, "application/json");
    assert.deepEqual([json.status, typeof json.json?.detail], [status, status === 422 ? "object" : "string"]);
  };
  await told(400, "token=a&token=b");
  await told(404, "token=x");
  await told(422, "other=x");
  const dead = await bench.visit("/v1/customers/verify?token=x", { headers: BROWSER });
  assert.equal(dead.status, 404);
  assert.match(dead.text, /<h1>This link does not work<\/h1>/);
  assert.equal((await bench.visit("/v1/customers/verify?token=x")).json.code, "verification_not_found");
  for (let turn = 0; turn < 600; turn++) await verify("token=x", "application/json");
  await told(429, "token=x");
  await bench.close();
});

test("422, 403 and 409: a form that is not accepted comes back with what was typed and why, as text", async () => {
  const bench = await accountHarness(await embeddedDatabase());
  await bench.open("taken@example.org");
  const odd = '"><script>ada';
  const send = (fields: Readonly<Record<string, string>>) =>
    bench.submit("/account/sign-up", { ...DUMMY, name: "Ada", email: "ada@example.org", ...fields });
  for (const [status, fields, why] of [
    [422, { email: odd }, /not a valid e-mail address/],
    [422, { name: "Ada\u202e" }, /characters that show what they are/],
    [422, { email: "ada@tempmail.example" }, /disposable/],
    [403, { "cf-turnstile-response": "" }, /Wait for the check below to be done, then press again/],
    [409, { email: "taken@example.org" }, /exists/],
  ] as const) {
    const { status: told, text } = await send(fields);
    assert.equal(told, status);
    assert.match(
      text,
      new RegExp(
        `<p class="warn" role="alert">[^<]*${why.source}[^<]*</p>\\s*<form method="post" action="/account/sign-up">`,
      ),
    );
    const escaped = (value: string) =>
      value.replace(/["<>]/g, (c) => ({ '"': "&quot;", "<": "&lt;", ">": "&gt;" })[c] ?? c);
    const sent: Readonly<Record<string, string>> = { name: "Ada", email: "ada@example.org", ...fields };
    for (const name of ["name", "email"]) assert.ok(text.includes(`value="${escaped(sent[name] ?? "")}"`), name);
    assert.doesNotMatch(text, /<script/);
  }
  const signIn = await bench.submit("/account/sign-in", { email: "ada" });
  assert.equal(signIn.status, 422);
  assert.match(signIn.text, /id="sign-in-email"[^>]* value="ada"/);
  const { cookie, fields } = await bench.signIn("taken@example.org");
  const key = await bench.submit("/account/keys", { ...fields, name: "default" }, { cookie });
  assert.equal(key.status, 409);
  assert.match(key.text, /living key has this name[\s\S]*name="name"[^>]* value="default"/);
  const again = { csrf: inputIn(key.text, "csrf"), form: inputIn(key.text, "form"), name: "robot" };
  assert.equal((await bench.submit("/account/keys", again, { cookie })).status, 200, "the form that came back works");
  await bench.close();
});

test("403: a form whose bot check is not done costs nothing and asks nobody", async () => {
  const account = { botCheck: { siteKey: "site-key" }, letters: null };
  const bench = await accountHarness(await embeddedDatabase(), { account, signUp: services.withTurnstile });
  const asked = services.turnstile.requests.length;
  const send = (token: string) =>
    bench.submit(
      "/account/sign-up",
      { name: "", email: "ada@example.org", "cf-turnstile-response": token },
      { from: "192.0.2.7" },
    );
  for (let turn = 0; turn < 31; turn++) {
    const { status, headers, text } = await send("");
    assert.equal(status, 403);
    assert.match(text, /cf-turnstile/);
    assert.match(String(headers["content-security-policy"]), /script-src https:\/\/challenges\.cloudflare\.com/);
  }
  assert.equal(services.turnstile.requests.length, asked);
  assert.equal((await send(services.turnstile.issue())).status, 200);
  await bench.close();
});

test("the page after sign-up offers to sign in only where that can be done", async () => {
  for (const data of ["live", "sandbox"] as const) {
    const bench = await accountHarness(await embeddedDatabase(), { data });
    const opened = await bench.submit("/account/sign-up", { ...DUMMY, name: "", email: `${data}@example.org` });
    assert.equal(opened.status, 200);
    assert.equal(/action="\/account\/sign-in"/.test(opened.text), data === "sandbox");
    assert.equal(opened.text.includes("GET /v1/customers/me"), data === "live");
    await bench.close();
  }
});

test("the plans' page tells every number and every endpoint that is served, and how to get more", async () => {
  const database = await embeddedDatabase();
  const sandbox = await accountHarness(database);
  const { text } = await sandbox.visit("/account/plans");
  for (const plan of ["free", "pro"] as const)
    for (const number of Object.values(PLAN_ALLOWANCES[plan].quotas))
      assert.ok(
        text.includes(`data-label="${plan}">${number === 0 ? "not included" : number.toLocaleString("en-US")}<`),
      );
  const { tiers } = (await sandbox.visit("/v1/pricing")).json;
  for (const endpoint of tiers.flatMap(({ endpoints }: { endpoints: string[] }) => endpoints))
    assert.ok(text.includes(`>${endpoint}<`), endpoint);
  for (const tier of TIERS) assert.ok(text.includes(`<dt>${tier}</dt>`));
  assert.match(text, /npx parallax customers set-plan/);
  await sandbox.close();
  const upgradeUrl = "https://shop.example/plans";
  const account = { botCheck: null, letters: null, upgradeUrl };
  for (const [data, more] of [
    ["live", { account }],
    ["live", {}],
  ] as const) {
    const bench = await accountHarness(database, { data, ...more });
    const page = (await bench.visit("/account/plans")).text;
    assert.equal(page.includes(`href="${upgradeUrl}"`), "account" in more);
    assert.doesNotMatch(page, /set-plan/);
    await bench.close();
  }
});

eachDatabase("an answer that a plan does not suffice for leads to a page that is there", async (database) => {
  const refusedBy = async (ports: Parameters<typeof accountHarness>[1], host: string) => {
    const bench = await accountHarness(database, ports);
    const { customerId, apiKey } = await bench.open(`${bench.clock.now()}@${host.replace(/[^a-z]/g, "")}.example.org`);
    await bench.app.metering.start();
    await bench.app.customers.setPlan(customerId, "enterprise", bench.operator);
    await bench.app.customers.setQuota(customerId, "LISTING", 0, bench.operator);
    const answer = await bench.call("GET", "/v1/markets", { key: apiKey, headers: { host } });
    const url = /Upgrade: (\S+)$/.exec(answer.json.detail)?.[1] ?? "";
    const path = url.startsWith("/") ? url : new URL(url).pathname;
    if (!url.startsWith("https://shop")) assert.equal((await bench.visit(path)).status, 200, url);
    await bench.close();
    return url;
  };
  const account = { botCheck: null, letters: null, upgradeUrl: "https://shop.example/plans" };
  assert.equal(await refusedBy({}, "127.0.0.1:8787"), "http://127.0.0.1:8787/account/plans");
  assert.equal(await refusedBy({}, "evil.example"), "/account/plans", "a Host header is not believed");
  const publicUrl = "https://parallax.example";
  assert.equal(await refusedBy({ publicUrl }, "localhost:1"), `${publicUrl}/account/plans`);
  assert.equal(await refusedBy({ publicUrl, account }, "x.example"), "https://shop.example/plans");
});

test("the description tells that the verification page is HTML, that it may be missing, and that a form is read", async () => {
  const bench = await accountHarness(await embeddedDatabase());
  const { get, post } = (await bench.visit("/openapi.json")).json.paths["/v1/customers/verify"];
  assert.deepEqual(Object.keys(get.responses[200].content), ["text/html"]);
  assert.match(get.responses[404].description, /verification_not_found/);
  assert.deepEqual(Object.keys(post.requestBody.content), ["application/json", "application/x-www-form-urlencoded"]);
  await bench.close();
});
