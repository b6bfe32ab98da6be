import assert from "node:assert/strict";
import { type Call, customerHarness } from "../../../../test/support/customers/customer-harness.ts";
import { eachDatabase } from "../../../../test/support/databases.ts";
import { systemRandom } from "../../../adapters/system/system-random.ts";
import type { Database } from "../../../ports/database.ts";
import { createKey } from "../keys/index.ts";

const ME_PATH = "/v1/customers/me";
const KEYS_PATH = "/v1/customers/me/keys";

async function createCustomerWithKey(database: Database, ports: Parameters<typeof customerHarness>[1] = {}) {
  const harness = await customerHarness(database, ports);
  const { api_key: key, customer_id: customerId } = (await harness.signUpAs("ada@example.org")).json;
  // The limits of the free plan are too low for these tests.
  const operator = { kind: "operator", id: "test" } as const;
  await harness.app.customers.setPlan(customerId, "enterprise", operator);
  await harness.app.customers.setRateLimits(customerId, { general: 10_000 }, operator);
  const listActiveKeys = async () =>
    (await harness.call("GET", KEYS_PATH, { key })).json.filter(
      (listed: { revoked_at: unknown }) => listed.revoked_at === null,
    );
  return { ...harness, key: key as string, customerId: customerId as string, activeKeys: listActiveKeys };
}

const ENDPOINTS: readonly (readonly ["GET" | "POST" | "DELETE", string, Call?])[] = [
  ["GET", ME_PATH],
  ["GET", KEYS_PATH],
  ["POST", KEYS_PATH, { body: { name: "robot" } }],
  ["POST", `${KEYS_PATH}/rotate`],
  ["DELETE", `${KEYS_PATH}/key-any`],
];

eachDatabase(
  "200: a caller over its rate limit can read its account and when the limit resets, up to 60 times a minute",
  async (database) => {
    const harness = await customerHarness(database);
    const { api_key: key } = (await harness.signUpAs("ada@example.org")).json;
    while ((await harness.call("GET", KEYS_PATH, { key })).status !== 429);
    const first = await harness.call("GET", ME_PATH, { key });
    assert.equal(first.status, 200);
    assert.equal(first.headers["ratelimit-policy"], '"account";q=60;w=60, "general";q=30;w=60');
    assert.match(String(first.headers.ratelimit), /^"account";r=59;t=60, "general";r=0;t=60$/);
    for (let read = 1; read < 60; read++) assert.equal((await harness.call("GET", ME_PATH, { key })).status, 200);
    const rejected = await harness.call("GET", ME_PATH, { key });
    assert.equal(rejected.status, 429);
    assert.ok(Number(rejected.headers["retry-after"]) <= 66);
  },
);

eachDatabase(
  "401: account routes require an active key, and a key with a wrong checksum causes no database query",
  async (database) => {
    let queries = 0;
    const query: Database["query"] = (text, parameters) => {
      queries += 1;
      return database.query(text, parameters);
    };
    const harness = await createCustomerWithKey({
      ...database,
      query,
      transaction: (run) => database.transaction(run),
    });
    const wrongChecksum = `${harness.key.slice(0, -1)}${harness.key.endsWith("a") ? "b" : "a"}`;
    const wrongPlan = harness.key.replace("plx_free_", "plx_pro_");
    queries = 0;
    for (const [method, url, call] of ENDPOINTS) {
      for (const key of [wrongChecksum, wrongPlan, "plx_free_", "nothing"]) {
        const response = await harness.call(method, url, { ...call, key });
        assert.equal(response.status, 401, `${method} ${url}`);
        assert.deepEqual(response.json, { detail: "Invalid or expired API key", code: "unauthorized" });
        assert.equal(response.headers["www-authenticate"], "Bearer");
      }
      assert.equal((await harness.call(method, url, call)).status, 401);
    }
    assert.equal(queries, 0);
    assert.equal((await harness.call("GET", ME_PATH, { key: createKey(systemRandom, "free").key })).status, 401);
    assert.equal(queries, 1);
  },
);

eachDatabase("200: the account response contains plan, status, usage, quotas and the reset date", async (database) => {
  const harness = await createCustomerWithKey(database);
  await database.query(
    `insert into quota_months (customer_id, month, tier, taken, last_grant)
     values ($1, (date_trunc('month', now() at time zone 'utc'))::date, 'LISTING', 7, 1)`,
    [harness.customerId],
  );
  await database.query(`update customers set status = 'past_due', quotas = '{"DEEP": 99}'`);
  await harness.clock.advance(1_000);
  // The database clock defines the month.
  const [nextMonth] = await database.query<{ first: string }>(
    "select to_char(date_trunc('month', now() at time zone 'utc') + interval '1 month', 'YYYY-MM-DD') as first",
  );
  const response = await harness.call("GET", ME_PATH, { key: harness.key });
  assert.equal(response.status, 200);
  assert.equal(response.headers["cache-control"], "no-store");
  assert.deepEqual(response.json, {
    customer_id: harness.customerId,
    email: "ada@example.org",
    plan: "enterprise",
    status: "past_due",
    key_prefix: harness.key.slice(0, 13),
    usage: { listing: 7, insight: 0, strategy: 0, deep: 0 },
    quotas: { listing: 10_000, insight: 500, strategy: 50, deep: 99 },
    resets_on: nextMonth?.first,
  });
});

eachDatabase(
  "200: a new key works, the key list marks a revoked key, and the list contains no full key",
  async (database) => {
    const harness = await createCustomerWithKey(database);
    const createResponse = await harness.call("POST", KEYS_PATH, { key: harness.key, body: { name: " robot " } });
    assert.equal(createResponse.status, 200);
    assert.equal(createResponse.headers["cache-control"], "no-store");
    const { api_key: secondKey, ...view } = createResponse.json;
    assert.equal(view.name, "robot");
    assert.equal((await harness.call("GET", ME_PATH, { key: secondKey })).json.customer_id, harness.customerId);
    const revokeResponse = await harness.call("DELETE", `${KEYS_PATH}/${view.key_id}`, { key: harness.key });
    assert.deepEqual([revokeResponse.status, revokeResponse.json], [200, {}]);
    assert.equal((await harness.call("GET", ME_PATH, { key: secondKey })).status, 401);
    const listResponse = await harness.call("GET", KEYS_PATH, { key: harness.key });
    assert.deepEqual(
      listResponse.json.map(({ name, revoked_at: revokedAt }: { name: string; revoked_at: string | null }) => [
        name,
        revokedAt === null,
      ]),
      [
        ["default", true],
        ["robot", false],
      ],
    );
    assert.ok(!listResponse.text.includes(secondKey.slice(-15)) && !listResponse.text.includes(harness.key.slice(-15)));
  },
);

eachDatabase("422: a key name must be plain text of 1 to 64 characters", async (database) => {
  const harness = await createCustomerWithKey(database);
  for (const name of ["", "   ", "x".repeat(65), "😀".repeat(65), "a\nb", "a\u202eb", "a\u200bb", "\u00ad", 5, null]) {
    const response = await harness.call("POST", KEYS_PATH, { key: harness.key, body: { name } });
    assert.equal(response.status, 422, JSON.stringify(name));
    assert.deepEqual(response.json.detail[0].loc, ["body", "name"]);
  }
  const longestName = "😀".repeat(64);
  assert.equal(
    (await harness.call("POST", KEYS_PATH, { key: harness.key, body: { name: longestName } })).json.name,
    longestName,
  );
  assert.equal((await harness.call("POST", KEYS_PATH, { key: harness.key })).status, 422);
});

eachDatabase(
  "404: the responses for another customer's key and for a non-existent key are identical",
  async (database) => {
    const harness = await createCustomerWithKey(database);
    const eveAccount = (await harness.signUpAs("eve@example.org")).json;
    const [otherCustomersKey] = await harness.activeKeys();
    const responses = [];
    for (const keyId of [otherCustomersKey.key_id, "key-none", "a".repeat(600)]) {
      const response = await harness.call("DELETE", `${KEYS_PATH}/${keyId}`, { key: eveAccount.api_key });
      assert.equal(response.status, 404);
      responses.push(response.text);
    }
    assert.equal(new Set(responses).size, 1);
    assert.equal((await harness.call("GET", ME_PATH, { key: harness.key })).status, 200);
  },
);

eachDatabase("401: a node that has a revoked key in its cache rejects key changes with it", async (database) => {
  const firstNode = await createCustomerWithKey(database);
  const secondNode = await customerHarness(database);
  const robotKey = (await firstNode.call("POST", KEYS_PATH, { key: firstNode.key, body: { name: "robot" } })).json
    .key_id;
  assert.equal((await secondNode.call("GET", ME_PATH, { key: firstNode.key })).status, 200);
  const nextKey = (await firstNode.call("POST", `${KEYS_PATH}/rotate`, { key: firstNode.key })).json.api_key;
  assert.equal(
    (await secondNode.call("GET", ME_PATH, { key: firstNode.key })).status,
    200,
    "the second node still has the key cached",
  );
  const keysBefore = await database.query("select * from api_keys order by key_id");
  for (const [method, url, call] of [
    ["POST", KEYS_PATH, { body: { name: "another" } }],
    ["POST", `${KEYS_PATH}/rotate`, {}],
    ["DELETE", `${KEYS_PATH}/${robotKey}`, {}],
  ] as const) {
    const response = await secondNode.call(method, url, { ...call, key: firstNode.key });
    assert.deepEqual([response.status, response.json.code], [401, "unauthorized"], `${method} ${url}`);
  }
  assert.deepEqual(await database.query("select * from api_keys order by key_id"), keysBefore);
  assert.equal((await secondNode.call("DELETE", `${KEYS_PATH}/${robotKey}`, { key: nextKey })).status, 200);
});

eachDatabase(
  "401: a node that has a disabled customer's key in its cache rejects key changes with it",
  async (database) => {
    const firstNode = await createCustomerWithKey(database);
    const secondNode = await customerHarness(database);
    assert.equal((await secondNode.call("GET", ME_PATH, { key: firstNode.key })).status, 200);
    await firstNode.app.customers.disable(firstNode.customerId, { kind: "operator", id: "test" });
    assert.equal((await secondNode.call("POST", `${KEYS_PATH}/rotate`, { key: firstNode.key })).status, 401);
    assert.equal((await database.query("select 1 from api_keys")).length, 1);
  },
);

eachDatabase(
  "429: a customer can create or rotate twenty keys per hour in total; revocations are not limited",
  async (database) => {
    const harness = await createCustomerWithKey(database);
    let { key } = harness;
    const rotate = async () => {
      const response = await harness.call("POST", `${KEYS_PATH}/rotate`, { key });
      key = response.json.api_key ?? key;
      return response;
    };
    for (let rotation = 0; rotation < 19; rotation++) assert.equal((await rotate()).status, 200);
    const nameTakenResponse = await harness.call("POST", KEYS_PATH, { key, body: { name: "default" } });
    assert.equal(nameTakenResponse.status, 409, "failed creations do not count");
    const robotKey = await harness.call("POST", KEYS_PATH, { key, body: { name: "robot" } });
    assert.equal(robotKey.status, 200);
    await harness.clock.advance(600_000);
    for (const response of [
      await rotate(),
      await harness.call("POST", KEYS_PATH, { key: robotKey.json.api_key, body: { name: "another" } }),
    ]) {
      assert.equal(response.status, 429);
      assert.deepEqual(response.json, {
        detail: "Too many new keys. Retry after 3000 seconds (50 minutes).",
        code: "rate_limited",
      });
      assert.equal(response.headers["retry-after"], "3000");
    }
    assert.equal((await harness.call("GET", ME_PATH, { key })).status, 200, "the rejected rotation revokes nothing");
    assert.equal((await harness.call("DELETE", `${KEYS_PATH}/${robotKey.json.key_id}`, { key })).status, 200);
    await harness.app.customers.createKey(harness.customerId, "operator's", { kind: "operator", id: "test" });
    await harness.clock.advance(3_000_000);
    assert.equal((await rotate()).status, 200);
  },
);
