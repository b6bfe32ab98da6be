import assert from "node:assert/strict";
import { customerHarness, useSignUpServices } from "../../../../test/support/customers/customer-harness.ts";
import { eachDatabase } from "../../../../test/support/databases.ts";

const services = await useSignUpServices();

const createAddress = (index: number) => `198.51.${Math.floor(index / 250)}.${index % 250}`;

eachDatabase("200: a sandbox accepts the test token and returns a working key immediately", async (database) => {
  const harness = await customerHarness(database);
  const response = await harness.signUpAs(" Ada@Example.ORG ", { name: "Ada" });
  assert.equal(response.status, 200);
  const { api_key: key, customer_id: customerId, ...rest } = response.json;
  assert.deepEqual(rest, {
    message: "Your account is ready. Store the API key safely: it is shown only once.",
    requires_verification: false,
  });
  assert.match(key, /^plx_free_[a-z2-7]{33}$/);
  assert.equal(response.headers["cache-control"], "no-store");
  const account = await harness.call("GET", "/v1/customers/me", { key });
  assert.equal(account.status, 200);
  assert.equal(account.json.customer_id, customerId);
  assert.equal(account.json.email, "ada@example.org");
});

eachDatabase("422: the response lists all errors and does not contain the bot check token", async (database) => {
  const harness = await customerHarness(database);
  const postSignUp = (body: unknown) => harness.call("POST", "/v1/customers/signup", { body });
  const listErrors = async (body: unknown) => {
    const response = await postSignUp(body);
    assert.equal(response.status, 422, JSON.stringify(body));
    return response.json.detail.map(({ type, loc }: { type: string; loc: string[] }) => `${loc.join(".")} ${type}`);
  };
  assert.deepEqual(await listErrors({}), ["body.email missing", "body.turnstile_token missing"]);
  assert.deepEqual(await listErrors({ email: 5, name: 5, turnstile_token: "x".repeat(2049) }), [
    "body.email string_type",
    "body.name string_type",
    "body.turnstile_token string_too_long",
  ]);
  for (const name of ["a\r\nBcc: eve@example.org", "a\u202eb", "a\u0007", "x".repeat(101)])
    assert.equal((await listErrors({ email: "a@b.org", turnstile_token: "t", name })).length, 1, JSON.stringify(name));
  for (const email of ["ada", "ada@localhost", "a@b.org\r\nBcc: e@b.org", "a@b.org,e@b.org", "a@sub.TEMPMAIL.example."])
    assert.deepEqual(await listErrors({ email, turnstile_token: "t" }), ["body.email value_error"], email);
  const canary = "turnstile-canary-token";
  const response = await postSignUp({ turnstile_token: canary, email: "ada" });
  assert.doesNotMatch(response.text, /canary/);
  assert.doesNotMatch((await postSignUp({ turnstile_token: canary })).text, /canary/);
  assert.deepEqual(await database.query("select * from attempts"), [], "rejected before counting an attempt");
});

eachDatabase(
  "403 bot_check_failed: a failed bot check causes no database query, whether or not the e-mail address has an account",
  async (database) => {
    const { turnstile, withTurnstile } = services;
    let queries = 0;
    const countingDatabase = {
      ...database,
      query: (...args: Parameters<typeof database.query>) => {
        queries += 1;
        return database.query(...args);
      },
      transaction: (...args: Parameters<typeof database.transaction>) => {
        queries += 1;
        return database.transaction(...args);
      },
    } as typeof database;
    const harness = await customerHarness(countingDatabase, { signUp: withTurnstile });
    assert.equal((await harness.signUpAs("ada@example.org", { token: turnstile.issue() })).status, 200);
    queries = 0;
    const invalidTokens = [
      turnstile.issue({ hostname: "evil.example" }),
      turnstile.issue({ action: "login" }),
      "unknown token",
      "XXXX.DUMMY.TOKEN.XXXX",
    ];
    for (const token of invalidTokens) {
      for (const email of ["ada@example.org", "new@example.org"]) {
        const response = await harness.signUpAs(email, { token });
        assert.equal(response.status, 403);
        assert.equal(response.json.code, "bot_check_failed");
      }
    }
    assert.equal(queries, 0);
  },
);

eachDatabase(
  "503 bot_check_unavailable: while Turnstile is unavailable, sign-ups are rejected and no attempt is counted",
  async (database) => {
    const { turnstile, withTurnstile } = services;
    const harness = await customerHarness(database, { signUp: withTurnstile });
    for (let attempt = 0; attempt < 6; attempt++) {
      turnstile.failNext("500", 2);
      const response = await harness.signUpAs("ada@example.org", { token: turnstile.issue() });
      assert.equal(response.status, 503);
      assert.equal(response.json.code, "bot_check_unavailable");
      assert.ok(Number(response.headers["retry-after"]) > 0);
    }
    assert.equal((await harness.signUpAs("ada@example.org", { token: turnstile.issue() })).status, 200);
  },
);

eachDatabase("503 signup_not_configured: a server without a bot check rejects every sign-up", async (database) => {
  const harness = await customerHarness(database, { signUp: null });
  for (const email of ["ada@example.org", "a@tempmail.example"]) {
    const response = await harness.signUpAs(email);
    assert.equal(response.status, 503);
    assert.equal(response.json.code, "signup_not_configured");
  }
});

eachDatabase(
  "409 email_taken: of a hundred concurrent sign-ups with spellings of one e-mail address, exactly one succeeds",
  async (database) => {
    const harness = await customerHarness(database);
    const spellings = ["ada@example.org", "ADA@EXAMPLE.ORG", "ada@example.org.", "ａda@example.org"];
    const responses = await Promise.all(
      Array.from({ length: 100 }, (_, index) =>
        harness.signUpAs(spellings[index % 4] ?? "", { from: createAddress(index) }),
      ),
    );
    const statuses = responses.map(({ status }) => status);
    assert.equal(statuses.filter((status) => status === 200).length, 1);
    assert.equal(statuses.filter((status) => status === 409).length, 99);
    const [rows] = await database.query(
      `select (select count(*) from customers) as customers, (select count(*) from api_keys) as keys,
       (select count(*) from audit_log) as entries`,
    );
    assert.deepEqual(rows, { customers: 1, keys: 1, entries: 1 });
    const conflictResponse = responses.find(({ status }) => status === 409);
    assert.deepEqual(conflictResponse?.json, {
      detail: "An account with this e-mail address exists",
      code: "email_taken",
    });
  },
);

eachDatabase(
  "429: the sixth sign-up from one IP address within an hour is rejected, even with forged proxy headers",
  async (database) => {
    const harness = await customerHarness(database);
    const forgedHeaders = (address: string) => ({
      "x-forwarded-for": address,
      forwarded: `for=${address}`,
      "x-real-ip": address,
      "cf-connecting-ip": address,
    });
    const statuses: number[] = [];
    for (let index = 0; index < 20; index++) {
      const headers = forgedHeaders(createAddress(index));
      statuses.push((await harness.signUpAs(`a${index}@example.org`, { headers })).status);
    }
    assert.deepEqual(statuses, [200, 200, 200, 200, 200, ...Array.from({ length: 15 }, () => 429)]);
    const response = await harness.signUpAs("late@example.org");
    assert.equal(response.json.code, "rate_limited");
    const seconds = Number(response.headers["retry-after"]);
    assert.equal(
      response.json.detail,
      `Too many sign-ups from this address. Retry after ${seconds} seconds (${Math.ceil(seconds / 60)} minutes).`,
    );
    await harness.clock.advance((seconds - 1) * 1000);
    assert.equal((await harness.signUpAs("late@example.org")).status, 429);
    await harness.clock.advance(1_000);
    assert.equal((await harness.signUpAs("late@example.org")).status, 200);
  },
);

eachDatabase(
  "429: the limit applies per IPv6 /64 prefix and, behind a trusted proxy, to the last forwarded IP address",
  async (database) => {
    const harness = await customerHarness(database, { trustProxy: ["10.0.0.0/8"] });
    const ipv6Statuses: number[] = [];
    for (let index = 0; index < 6; index++) {
      const from = `2001:db8:0:7:${index}::1`;
      ipv6Statuses.push((await harness.signUpAs(`six${index}@example.org`, { from })).status);
    }
    assert.deepEqual(ipv6Statuses, [200, 200, 200, 200, 200, 429]);
    assert.equal((await harness.signUpAs("six9@example.org", { from: "2001:db8:0:8::1" })).status, 200);
    const proxyStatuses: number[] = [];
    for (let index = 0; index < 6; index++) {
      const headers = { "x-forwarded-for": `${createAddress(index)}, 203.0.113.77` };
      proxyStatuses.push((await harness.signUpAs(`proxy${index}@example.org`, { from: "10.1.2.3", headers })).status);
    }
    assert.deepEqual(proxyStatuses, [200, 200, 200, 200, 200, 429]);
  },
);

eachDatabase(
  "429: after thirty failed bot checks, a caller is rejected without a request to Turnstile",
  async (database) => {
    const { turnstile, withTurnstile } = services;
    const harness = await customerHarness(database, { signUp: withTurnstile });
    const requestsBefore = turnstile.requests.length;
    // The tokens are unique, because all tests of this file share the Turnstile server.
    const token = `unknown token after ${requestsBefore}`;
    const statuses: number[] = [];
    for (let attempt = 0; attempt < 35; attempt++)
      statuses.push((await harness.signUpAs("ada@example.org", { token: `${token} ${attempt}` })).status);
    assert.equal(statuses.filter((status) => status === 403).length, 30);
    assert.equal(statuses.filter((status) => status === 429).length, 5);
    assert.equal(turnstile.requests.length - requestsBefore, 30);
  },
);

eachDatabase("unknown fields of the sign-up body, such as plan or quotas, have no effect", async (database) => {
  const harness = await customerHarness(database);
  const unknown = { plan: "pro", customer_id: "cus-x", status: "canceled", email_verified: true };
  const limits = { quotas: { deep: 9 }, quota: 9, rate_limits: { general: 9 } };
  const body = { ...unknown, ...limits, email: "ada@example.org", turnstile_token: "XXXX.DUMMY.TOKEN.XXXX" };
  const response = await harness.call("POST", "/v1/customers/signup", { body });
  const account = await harness.call("GET", "/v1/customers/me", { key: response.json.api_key });
  const { customer_id: customerId, plan, status, quotas } = account.json;
  assert.match(customerId, /^cus-[a-z2-7]{26}$/);
  assert.deepEqual([plan, status, quotas], ["free", "active", { listing: 100, insight: 10, strategy: 0, deep: 0 }]);
});
