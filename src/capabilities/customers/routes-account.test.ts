import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as nextTick } from "node:timers/promises";
import { type Call, customerHarness } from "../../../test/support/customers/customer-harness.ts";
import { eachDatabase } from "../../../test/support/databases.ts";
import { quietLog } from "../../../test/support/quiet-log.ts";
import { createInProcessBus } from "../../adapters/bus/in-process-bus.ts";
import { systemClock } from "../../adapters/system/system-clock.ts";
import { systemRandom } from "../../adapters/system/system-random.ts";
import { PLAN_ALLOWANCES } from "../../domain/plan.ts";
import { createHttpServer } from "../../http/server.ts";
import type { Database } from "../../ports/database.ts";
import { createKey } from "../keys/index.ts";
import { customerRoutes } from "./routes.ts";

const ME = "/v1/customers/me";
const KEYS = "/v1/customers/me/keys";

async function customerWithKey(database: Database, ports: Parameters<typeof customerHarness>[1] = {}) {
  const harness = await customerHarness(database, ports);
  const { api_key: key, customer_id: customerId } = (await harness.signUpAs("ada@example.org")).json;
  // The limits of the free plan are too low for these tests.
  const operator = { kind: "operator", id: "test" } as const;
  await harness.app.customers.setPlan(customerId, "enterprise", operator);
  await harness.app.customers.setRateLimits(customerId, { general: 10_000 }, operator);
  const activeKeys = async () =>
    (await harness.call("GET", KEYS, { key })).json.filter(
      (listed: { revoked_at: unknown }) => listed.revoked_at === null,
    );
  return { ...harness, key: key as string, customerId: customerId as string, activeKeys };
}

const ENDPOINTS: readonly (readonly ["GET" | "POST" | "DELETE", string, Call?])[] = [
  ["GET", ME],
  ["GET", KEYS],
  ["POST", KEYS, { body: { name: "robot" } }],
  ["POST", `${KEYS}/rotate`],
  ["DELETE", `${KEYS}/key-any`],
];

eachDatabase(
  "401: account routes need an active key, and a key with a wrong checksum causes no database query",
  async (database) => {
    let queries = 0;
    const query: Database["query"] = (text, parameters) => {
      queries += 1;
      return database.query(text, parameters);
    };
    const harness = await customerWithKey({ ...database, query, transaction: (run) => database.transaction(run) });
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
    assert.equal((await harness.call("GET", ME, { key: createKey(systemRandom, "free").key })).status, 401);
    assert.equal(queries, 1);
  },
);

eachDatabase("200: the account has plan, status, usage, quotas and the date they reset", async (database) => {
  const harness = await customerWithKey(database);
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
  const response = await harness.call("GET", ME, { key: harness.key });
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
  "200: a new key works, a revoked key is listed as revoked, and no list contains a full key",
  async (database) => {
    const harness = await customerWithKey(database);
    const created = await harness.call("POST", KEYS, { key: harness.key, body: { name: " robot " } });
    assert.equal(created.status, 200);
    assert.equal(created.headers["cache-control"], "no-store");
    const { api_key: second, ...view } = created.json;
    assert.equal(view.name, "robot");
    assert.equal((await harness.call("GET", ME, { key: second })).json.customer_id, harness.customerId);
    const revoked = await harness.call("DELETE", `${KEYS}/${view.key_id}`, { key: harness.key });
    assert.deepEqual([revoked.status, revoked.json], [200, {}]);
    assert.equal((await harness.call("GET", ME, { key: second })).status, 401);
    const list = await harness.call("GET", KEYS, { key: harness.key });
    assert.deepEqual(
      list.json.map(({ name, revoked_at: revokedAt }: { name: string; revoked_at: string | null }) => [
        name,
        revokedAt === null,
      ]),
      [
        ["default", true],
        ["robot", false],
      ],
    );
    assert.ok(!list.text.includes(second.slice(-15)) && !list.text.includes(harness.key.slice(-15)));
  },
);

eachDatabase("409: the name of an active key, and an eleventh key", async (database) => {
  const harness = await customerWithKey(database);
  const createNamed = (name: string) => harness.call("POST", KEYS, { key: harness.key, body: { name } });
  assert.equal((await createNamed("default")).json.code, "key_name_taken");
  for (let number = 1; number < 10; number++) assert.equal((await createNamed(`key ${number}`)).status, 200);
  const eleventh = await createNamed("one more");
  assert.equal(eleventh.status, 409);
  assert.equal(eleventh.json.code, "key_limit_reached");
});

eachDatabase("422: a key name must be plain text of 1 to 64 characters", async (database) => {
  const harness = await customerWithKey(database);
  for (const name of ["", "   ", "x".repeat(65), "😀".repeat(65), "a\nb", "a\u202eb", "a\u200bb", "\u00ad", 5, null]) {
    const response = await harness.call("POST", KEYS, { key: harness.key, body: { name } });
    assert.equal(response.status, 422, JSON.stringify(name));
    assert.deepEqual(response.json.detail[0].loc, ["body", "name"]);
  }
  const longest = "😀".repeat(64);
  assert.equal((await harness.call("POST", KEYS, { key: harness.key, body: { name: longest } })).json.name, longest);
  assert.equal((await harness.call("POST", KEYS, { key: harness.key })).status, 422);
});

eachDatabase("404: another customer's key and a non-existent key get identical responses", async (database) => {
  const harness = await customerWithKey(database);
  const eve = (await harness.signUpAs("eve@example.org")).json;
  const [otherCustomersKey] = await harness.activeKeys();
  const responses = [];
  for (const keyId of [otherCustomersKey.key_id, "key-none", "%00", "a".repeat(600)]) {
    const response = await harness.call("DELETE", `${KEYS}/${keyId}`, { key: eve.api_key });
    assert.equal(response.status, 404);
    responses.push(response.text);
  }
  assert.equal(new Set(responses).size, 1);
  assert.equal((await harness.call("GET", ME, { key: harness.key })).status, 200);
});

eachDatabase(
  "401: of fifty concurrent rotations by one key exactly one succeeds, and its new key is active",
  async (database) => {
    const harness = await customerWithKey(database);
    const responses = await Promise.all(
      Array.from({ length: 50 }, () => harness.call("POST", `${KEYS}/rotate`, { key: harness.key })),
    );
    const successes = responses.filter(({ status }) => status === 200);
    assert.equal(successes.length, 1);
    assert.equal(responses.filter(({ status }) => status === 401).length, 49);
    assert.equal((await harness.call("GET", ME, { key: harness.key })).status, 401);
    const next = successes[0]?.json.api_key;
    const list = await harness.call("GET", KEYS, { key: next });
    const active = list.json.filter((listed: { revoked_at: unknown }) => listed.revoked_at === null);
    assert.deepEqual(
      active.map(({ key_id: id, name }: { key_id: string; name: string }) => [id, name]),
      [[successes[0]?.json.key_id, "default"]],
    );
  },
);

eachDatabase("a rotation on one node revokes the key on other nodes immediately through the bus", async (database) => {
  const bus = createInProcessBus(quietLog);
  const here = await customerWithKey(database, { bus });
  const there = await customerHarness(database, { bus });
  there.app.start();
  assert.equal((await there.call("GET", ME, { key: here.key })).status, 200);
  const rotated = await here.call("POST", `${KEYS}/rotate`, { key: here.key });
  await nextTick();
  await nextTick();
  // The other node's clock has not advanced, so its cache entry has not expired.
  assert.equal((await there.call("GET", ME, { key: here.key })).status, 401);
  assert.equal((await there.call("GET", ME, { key: rotated.json.api_key })).status, 200);
  await there.app.stop();
});

eachDatabase("without a bus message, a rotation revokes the key on other nodes within a second", async (database) => {
  const here = await customerWithKey(database);
  const there = await customerHarness(database);
  assert.equal((await there.call("GET", ME, { key: here.key })).status, 200);
  await here.call("POST", `${KEYS}/rotate`, { key: here.key });
  assert.equal((await there.call("GET", ME, { key: here.key })).status, 200);
  await there.clock.advance(1_000);
  assert.equal((await there.call("GET", ME, { key: here.key })).status, 401);
});

eachDatabase("401: a revoked key cannot change keys on a node that still has it cached", async (database) => {
  const here = await customerWithKey(database);
  const there = await customerHarness(database);
  const robot = (await here.call("POST", KEYS, { key: here.key, body: { name: "robot" } })).json.key_id;
  assert.equal((await there.call("GET", ME, { key: here.key })).status, 200);
  const next = (await here.call("POST", `${KEYS}/rotate`, { key: here.key })).json.api_key;
  assert.equal((await there.call("GET", ME, { key: here.key })).status, 200, "still cached on the other node");
  const before = await database.query("select * from api_keys order by key_id");
  for (const [method, url, call] of [
    ["POST", KEYS, { body: { name: "another" } }],
    ["POST", `${KEYS}/rotate`, {}],
    ["DELETE", `${KEYS}/${robot}`, {}],
  ] as const) {
    const response = await there.call(method, url, { ...call, key: here.key });
    assert.deepEqual([response.status, response.json.code], [401, "unauthorized"], `${method} ${url}`);
  }
  assert.deepEqual(await database.query("select * from api_keys order by key_id"), before);
  assert.equal((await there.call("DELETE", `${KEYS}/${robot}`, { key: next })).status, 200);
});

eachDatabase(
  "401: the key of a disabled customer cannot change keys on a node that still has it cached",
  async (database) => {
    const here = await customerWithKey(database);
    const there = await customerHarness(database);
    assert.equal((await there.call("GET", ME, { key: here.key })).status, 200);
    await here.app.customers.disable(here.customerId, { kind: "operator", id: "test" });
    assert.equal((await there.call("POST", `${KEYS}/rotate`, { key: here.key })).status, 401);
    assert.equal((await database.query("select 1 from api_keys")).length, 1);
  },
);

eachDatabase(
  "429: a customer can create or rotate twenty keys per hour, over all its keys; revoking is not limited",
  async (database) => {
    const harness = await customerWithKey(database);
    let { key } = harness;
    const rotate = async () => {
      const response = await harness.call("POST", `${KEYS}/rotate`, { key });
      key = response.json.api_key ?? key;
      return response;
    };
    for (let rotation = 0; rotation < 19; rotation++) assert.equal((await rotate()).status, 200);
    const nameTaken = await harness.call("POST", KEYS, { key, body: { name: "default" } });
    assert.equal(nameTaken.status, 409, "failed creations do not count");
    const robot = await harness.call("POST", KEYS, { key, body: { name: "robot" } });
    assert.equal(robot.status, 200);
    await harness.clock.advance(600_000);
    for (const response of [
      await rotate(),
      await harness.call("POST", KEYS, { key: robot.json.api_key, body: { name: "another" } }),
    ]) {
      assert.equal(response.status, 429);
      assert.deepEqual(response.json, {
        detail: "Too many new keys. Retry after 3000 seconds (50 minutes).",
        code: "rate_limited",
      });
      assert.equal(response.headers["retry-after"], "3000");
    }
    assert.equal((await harness.call("GET", ME, { key })).status, 200, "the rejected rotation revokes nothing");
    assert.equal((await harness.call("DELETE", `${KEYS}/${robot.json.key_id}`, { key })).status, 200);
    await harness.app.customers.createKey(harness.customerId, "operator's", { kind: "operator", id: "test" });
    await harness.clock.advance(3_000_000);
    assert.equal((await rotate()).status, 200);
  },
);

test("403 account_required: marketplace callers have no account", async () => {
  const unexpected = () => {
    throw new Error("unexpected call");
  };
  const http = await createHttpServer({
    log: quietLog,
    random: systemRandom,
    data: "sandbox",
    docs: false,
    authentication: {
      authenticate: () => null,
      authenticateOtherwise: [
        () => ({ kind: "marketplace", customerId: "rapidapi:ada", plan: "pro", allowance: PLAN_ALLOWANCES.pro }),
      ],
    },
  });
  const customers = new Proxy({} as never, { get: () => unexpected });
  customerRoutes(http, { customers, usage: async () => unexpected(), clock: systemClock, random: systemRandom });
  for (const [method, url, call] of ENDPOINTS) {
    const reply = await http.inject({ method, url, payload: call?.body as object | undefined });
    assert.equal(reply.statusCode, 403, `${method} ${url}`);
    assert.equal(reply.json().code, "account_required");
  }
  await http.close();
});
