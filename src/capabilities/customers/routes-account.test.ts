import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
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

async function benchWithCustomer(database: Database, ports: Parameters<typeof customerHarness>[1] = {}) {
  const bench = await customerHarness(database, ports);
  const { api_key: key, customer_id: customerId } = (await bench.signUpAs("ada@example.org")).json;
  // These tests are about keys, not about how often a free plan may ask.
  const operator = { kind: "operator", id: "test" } as const;
  await bench.app.customers.setPlan(customerId, "enterprise", operator);
  await bench.app.customers.setRateLimits(customerId, { general: 10_000 }, operator);
  const living = async () =>
    (await bench.call("GET", KEYS, { key })).json.filter((one: { revoked_at: unknown }) => one.revoked_at === null);
  return { ...bench, key: key as string, customerId: customerId as string, living };
}

const ENDPOINTS: readonly (readonly ["GET" | "POST" | "DELETE", string, Call?])[] = [
  ["GET", ME],
  ["GET", KEYS],
  ["POST", KEYS, { body: { name: "robot" } }],
  ["POST", `${KEYS}/rotate`],
  ["DELETE", `${KEYS}/key-any`],
];

eachDatabase(
  "401: one's own account needs a living key, and one with a wrong checksum reads nothing from the store",
  async (database) => {
    let reads = 0;
    const query: Database["query"] = (text, parameters) => {
      reads += 1;
      return database.query(text, parameters);
    };
    const bench = await benchWithCustomer({ ...database, query, transaction: (run) => database.transaction(run) });
    const wrongSum = `${bench.key.slice(0, -1)}${bench.key.endsWith("a") ? "b" : "a"}`;
    const pro = bench.key.replace("plx_free_", "plx_pro_");
    reads = 0;
    for (const [method, url, call] of ENDPOINTS) {
      for (const key of [wrongSum, pro, "plx_free_", "nothing"]) {
        const answer = await bench.call(method, url, { ...call, key });
        assert.equal(answer.status, 401, `${method} ${url}`);
        assert.deepEqual(answer.json, { detail: "Invalid or expired API key", code: "unauthorized" });
        assert.equal(answer.headers["www-authenticate"], "Bearer");
      }
      assert.equal((await bench.call(method, url, call)).status, 401);
    }
    assert.equal(reads, 0);
    assert.equal((await bench.call("GET", ME, { key: createKey(systemRandom, "free").key })).status, 401);
    assert.equal(reads, 1);
    await bench.close();
  },
);

eachDatabase("200: the account tells plan, status, usage and quotas, and when they begin anew", async (database) => {
  const bench = await benchWithCustomer(database);
  await database.query(
    `insert into quota_months (customer_id, month, tier, taken, last_grant)
     values ($1, (date_trunc('month', now() at time zone 'utc'))::date, 'LISTING', 7, 1)`,
    [bench.customerId],
  );
  await database.query(`update customers set status = 'past_due', quotas = '{"DEEP": 99}'`);
  await bench.clock.advance(1_000);
  // Months are the store's.
  const [next] = await database.query<{ first: string }>(
    "select to_char(date_trunc('month', now() at time zone 'utc') + interval '1 month', 'YYYY-MM-DD') as first",
  );
  const answer = await bench.call("GET", ME, { key: bench.key });
  assert.equal(answer.status, 200);
  assert.equal(answer.headers["cache-control"], "no-store");
  assert.deepEqual(answer.json, {
    customer_id: bench.customerId,
    email: "ada@example.org",
    plan: "enterprise",
    status: "past_due",
    key_prefix: bench.key.slice(0, 13),
    usage: { listing: 7, insight: 0, strategy: 0, deep: 0 },
    quotas: { listing: 10_000, insight: 500, strategy: 50, deep: 99 },
    resets_on: next?.first,
  });
  await bench.close();
});

eachDatabase("200: a new key works, an old one is listed with its end, and no list shows a key", async (database) => {
  const bench = await benchWithCustomer(database);
  const made = await bench.call("POST", KEYS, { key: bench.key, body: { name: " robot " } });
  assert.equal(made.status, 200);
  assert.equal(made.headers["cache-control"], "no-store");
  const { api_key: second, ...view } = made.json;
  assert.equal(view.name, "robot");
  assert.equal((await bench.call("GET", ME, { key: second })).json.customer_id, bench.customerId);
  const ended = await bench.call("DELETE", `${KEYS}/${view.key_id}`, { key: bench.key });
  assert.deepEqual([ended.status, ended.json], [200, {}]);
  assert.equal((await bench.call("GET", ME, { key: second })).status, 401);
  const list = await bench.call("GET", KEYS, { key: bench.key });
  assert.deepEqual(
    list.json.map(({ name, revoked_at: end }: { name: string; revoked_at: string | null }) => [name, end === null]),
    [
      ["default", true],
      ["robot", false],
    ],
  );
  assert.ok(!list.text.includes(second.slice(-15)) && !list.text.includes(bench.key.slice(-15)));
  await bench.close();
});

eachDatabase("409: a name that lives, and an eleventh key", async (database) => {
  const bench = await benchWithCustomer(database);
  const make = (name: string) => bench.call("POST", KEYS, { key: bench.key, body: { name } });
  assert.equal((await make("default")).json.code, "key_name_taken");
  for (let number = 1; number < 10; number++) assert.equal((await make(`key ${number}`)).status, 200);
  const eleventh = await make("one more");
  assert.equal(eleventh.status, 409);
  assert.equal(eleventh.json.code, "key_limit_reached");
  await bench.close();
});

eachDatabase("422: a key's name is plain text of 1 to 64 characters", async (database) => {
  const bench = await benchWithCustomer(database);
  for (const name of ["", "   ", "x".repeat(65), "😀".repeat(65), "a\nb", "a\u202eb", "a\u200bb", "\u00ad", 5, null]) {
    const answer = await bench.call("POST", KEYS, { key: bench.key, body: { name } });
    assert.equal(answer.status, 422, JSON.stringify(name));
    assert.deepEqual(answer.json.detail[0].loc, ["body", "name"]);
  }
  const longest = "😀".repeat(64);
  assert.equal((await bench.call("POST", KEYS, { key: bench.key, body: { name: longest } })).json.name, longest);
  assert.equal((await bench.call("POST", KEYS, { key: bench.key })).status, 422);
  await bench.close();
});

eachDatabase("404: another customer's key looks exactly like one that is not there", async (database) => {
  const bench = await benchWithCustomer(database);
  const eve = (await bench.signUpAs("eve@example.org")).json;
  const [foreign] = await bench.living();
  const answers = [];
  for (const keyId of [foreign.key_id, "key-none", "%00", "a".repeat(600)]) {
    const answer = await bench.call("DELETE", `${KEYS}/${keyId}`, { key: eve.api_key });
    assert.equal(answer.status, 404);
    answers.push(answer.text);
  }
  assert.equal(new Set(answers).size, 1);
  assert.equal((await bench.call("GET", ME, { key: bench.key })).status, 200);
  await bench.close();
});

eachDatabase(
  "401: of fifty rotations at once by one key exactly one is answered with a key, and that one lives",
  async (database) => {
    const bench = await benchWithCustomer(database);
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => bench.call("POST", `${KEYS}/rotate`, { key: bench.key })),
    );
    const won = answers.filter(({ status }) => status === 200);
    assert.equal(won.length, 1);
    assert.equal(answers.filter(({ status }) => status === 401).length, 49);
    assert.equal((await bench.call("GET", ME, { key: bench.key })).status, 401);
    const next = won[0]?.json.api_key;
    const list = await bench.call("GET", KEYS, { key: next });
    const living = list.json.filter((one: { revoked_at: unknown }) => one.revoked_at === null);
    assert.deepEqual(
      living.map(({ key_id: id, name }: { key_id: string; name: string }) => [id, name]),
      [[won[0]?.json.key_id, "default"]],
    );
    await bench.close();
  },
);

eachDatabase("a rotation on one node ends the key on the others at once, by the bus", async (database) => {
  const bus = createInProcessBus(quietLog);
  const here = await benchWithCustomer(database, { bus });
  const there = await customerHarness(database, { bus });
  there.app.start();
  assert.equal((await there.call("GET", ME, { key: here.key })).status, 200);
  const rotated = await here.call("POST", `${KEYS}/rotate`, { key: here.key });
  await turn();
  await turn();
  // No time passes on the other node's clock: what it remembered would be good for a second yet.
  assert.equal((await there.call("GET", ME, { key: here.key })).status, 401);
  assert.equal((await there.call("GET", ME, { key: rotated.json.api_key })).status, 200);
  await there.app.stop();
  await here.close();
  await there.close();
});

eachDatabase("a rotation that another node is not told of ends the key there within a second", async (database) => {
  const here = await benchWithCustomer(database);
  const there = await customerHarness(database);
  assert.equal((await there.call("GET", ME, { key: here.key })).status, 200);
  await here.call("POST", `${KEYS}/rotate`, { key: here.key });
  assert.equal((await there.call("GET", ME, { key: here.key })).status, 200);
  await there.clock.advance(1_000);
  assert.equal((await there.call("GET", ME, { key: here.key })).status, 401);
  await here.close();
  await there.close();
});

eachDatabase("401: an ended key changes no keys on a node that was not told of its end", async (database) => {
  const here = await benchWithCustomer(database);
  const there = await customerHarness(database);
  const robot = (await here.call("POST", KEYS, { key: here.key, body: { name: "robot" } })).json.key_id;
  assert.equal((await there.call("GET", ME, { key: here.key })).status, 200);
  const next = (await here.call("POST", `${KEYS}/rotate`, { key: here.key })).json.api_key;
  assert.equal((await there.call("GET", ME, { key: here.key })).status, 200, "the other node still believes in it");
  const before = await database.query("select * from api_keys order by key_id");
  for (const [method, url, call] of [
    ["POST", KEYS, { body: { name: "another" } }],
    ["POST", `${KEYS}/rotate`, {}],
    ["DELETE", `${KEYS}/${robot}`, {}],
  ] as const) {
    const answer = await there.call(method, url, { ...call, key: here.key });
    assert.deepEqual([answer.status, answer.json.code], [401, "unauthorized"], `${method} ${url}`);
  }
  assert.deepEqual(await database.query("select * from api_keys order by key_id"), before);
  assert.equal((await there.call("DELETE", `${KEYS}/${robot}`, { key: next })).status, 200);
  await here.close();
  await there.close();
});

eachDatabase("401: a disabled customer's key changes no keys on a node that was not told", async (database) => {
  const here = await benchWithCustomer(database);
  const there = await customerHarness(database);
  assert.equal((await there.call("GET", ME, { key: here.key })).status, 200);
  await here.app.customers.disable(here.customerId, { kind: "operator", id: "test" });
  assert.equal((await there.call("POST", `${KEYS}/rotate`, { key: here.key })).status, 401);
  assert.equal((await database.query("select 1 from api_keys")).length, 1);
  await here.close();
  await there.close();
});

eachDatabase(
  "429: a customer makes or replaces twenty keys an hour, over all its keys, and may end them",
  async (database) => {
    const bench = await benchWithCustomer(database);
    let { key } = bench;
    const rotate = async () => {
      const answer = await bench.call("POST", `${KEYS}/rotate`, { key });
      key = answer.json.api_key ?? key;
      return answer;
    };
    for (let turn = 0; turn < 19; turn++) assert.equal((await rotate()).status, 200);
    const taken = await bench.call("POST", KEYS, { key, body: { name: "default" } });
    assert.equal(taken.status, 409, "what makes none is not counted");
    const robot = await bench.call("POST", KEYS, { key, body: { name: "robot" } });
    assert.equal(robot.status, 200);
    await bench.clock.advance(600_000);
    for (const answer of [
      await rotate(),
      await bench.call("POST", KEYS, { key: robot.json.api_key, body: { name: "another" } }),
    ]) {
      assert.equal(answer.status, 429);
      assert.deepEqual(answer.json, {
        detail: "Too many new keys. Retry after 3000 seconds (50 minutes).",
        code: "rate_limited",
      });
      assert.equal(answer.headers["retry-after"], "3000");
    }
    assert.equal((await bench.call("GET", ME, { key })).status, 200, "the refused rotation has ended nothing");
    assert.equal((await bench.call("DELETE", `${KEYS}/${robot.json.key_id}`, { key })).status, 200);
    await bench.app.customers.createKey(bench.customerId, "operator's", { kind: "operator", id: "test" });
    await bench.clock.advance(3_000_000);
    assert.equal((await rotate()).status, 200);
    await bench.close();
  },
);

test("403 account_required: a caller of a marketplace has no account here", async () => {
  const nobody = () => {
    throw new Error("nobody is asked");
  };
  const http = await createHttpServer({
    ...{ log: quietLog, random: systemRandom, data: "sandbox", docs: false },
    authentication: {
      authenticate: () => null,
      authenticateOtherwise: [
        () => ({ kind: "marketplace", customerId: "rapidapi:ada", plan: "pro", allowance: PLAN_ALLOWANCES.pro }),
      ],
    },
  });
  const customers = new Proxy({} as never, { get: () => nobody });
  customerRoutes(http, { customers, usage: async () => nobody(), clock: systemClock, random: systemRandom });
  for (const [method, url, call] of ENDPOINTS) {
    const reply = await http.inject({
      method,
      url,
      ...(call?.body === undefined ? {} : { payload: call.body as object }),
    });
    assert.equal(reply.statusCode, 403, `${method} ${url}`);
    assert.equal(reply.json().code, "account_required");
  }
  await http.close();
});
