import assert from "node:assert/strict";
import { test } from "node:test";
import { customerHarness } from "../../../../test/support/customers/customer-harness.ts";
import { eachDatabase } from "../../../../test/support/databases.ts";
import { FakeClock } from "../../../../test/support/fake-clock.ts";
import { interruptible } from "../../../../test/support/interruptible-database.ts";
import { quietLog } from "../../../../test/support/quiet-log.ts";
import { TIERS } from "../../../domain/plan.ts";
import { DAY_MS } from "../../../lib/durations.ts";
import type { Database } from "../../../ports/database.ts";
import { ActivityRecorder, type CustomerRequest, dayInMonth } from "./recorder.ts";
import { createActivity } from "./service.ts";

const OPERATOR = { kind: "operator", id: "test" } as const;
const START = Date.UTC(2026, 10, 21, 12);
const COUNTED = { tier: "LISTING", month: "2026-11-01" } as const;
const REQUEST: CustomerRequest = {
  customerId: "cus-a",
  keyId: "key-a",
  requestId: "request-1",
  method: "GET",
  route: "/v1/markets",
  status: 200,
  code: null,
  durationMs: 1.5,
  counted: COUNTED,
};

const insertCustomer = (database: Database, customerId: string) =>
  database.query("insert into customers (customer_id, plan, status, created_at) values ($1, 'free', 'active', now())", [
    customerId,
  ]);

/** Two nodes on one database with a common clock. */
async function openNodes(database: Database) {
  await insertCustomer(database, "cus-a");
  const clock = new FakeClock(START);
  const open = (nodeId: string, store = database) => createActivity({ database: store, clock, log: quietLog, nodeId });
  return { clock, open, first: open("node-1"), second: open("node-2") };
}

eachDatabase("the requests of several nodes are added up by day and key", async (database) => {
  const { clock, first, second } = await openNodes(database);
  first.record(REQUEST);
  first.record({ ...REQUEST, status: 404, code: "market_not_found", counted: null });
  first.record({ ...REQUEST, keyId: "key-b", counted: { tier: "DEEP", month: "2026-11-01" } });
  await first.usage("cus-a", "2026-11-01");
  for (const node of [first, second]) node.record(REQUEST);
  await second.usage("cus-a", "2026-11-01");
  await clock.advance(DAY_MS);
  second.record({ ...REQUEST, counted: null });
  await second.usage("cus-a", "2026-11-01");
  const none = { LISTING: 0, INSIGHT: 0, STRATEGY: 0, DEEP: 0 };
  assert.deepEqual(await first.usage("cus-a", "2026-11-01"), [
    { day: "2026-11-21", keyId: "key-a", requests: 4, failed: 1, counted: { ...none, LISTING: 3 } },
    { day: "2026-11-21", keyId: "key-b", requests: 1, failed: 0, counted: { ...none, DEEP: 1 } },
    { day: "2026-11-22", keyId: "key-a", requests: 1, failed: 0, counted: none },
  ]);
  assert.deepEqual(
    (await first.usage("cus-a", "2026-11-22")).map(({ day }) => day),
    ["2026-11-22"],
  );
  assert.deepEqual(await first.usage("cus-b", "2026-11-01"), []);
});

eachDatabase("usage is written every five seconds and when the service stops", async (database) => {
  const { clock, first } = await openNodes(database);
  const countRows = async () => (await database.query("select 1 from usage_days")).length;
  first.start();
  first.record(REQUEST);
  await clock.settle();
  assert.equal(await countRows(), 0, "not written during the request");
  await clock.advance(5_000);
  await first.stop();
  assert.equal(await countRows(), 1);
  first.record({ ...REQUEST, keyId: "key-b" });
  await first.stop();
  assert.equal(await countRows(), 2);
});

eachDatabase("a batch whose commit succeeded but whose response was lost is counted once", async (database) => {
  const { open } = await openNodes(database);
  let losesResponse = true;
  const node = open("node-3", {
    ...database,
    async transaction(run) {
      const result = await database.transaction(run);
      if (losesResponse) throw new Error("connection lost");
      return result;
    },
  });
  node.record(REQUEST);
  await node.usage("cus-a", "2026-11-01");
  losesResponse = false;
  node.record(REQUEST);
  const [row] = await node.usage("cus-a", "2026-11-01");
  assert.equal(row?.requests, 2);
  assert.equal((await node.requests("cus-a")).length, 2);
});

eachDatabase("while the store is unavailable, usage is kept and written later", async (database) => {
  const { open } = await openNodes(database);
  const { state, database: store } = interruptible(database);
  const node = open("node-3", store);
  state.isUp = false;
  node.record(REQUEST);
  await assert.rejects(node.usage("cus-a", "2026-11-01"), { code: "store_unavailable" });
  node.record(REQUEST);
  state.isUp = true;
  assert.equal((await node.usage("cus-a", "2026-11-01"))[0]?.requests, 2);
});

eachDatabase("the last 100 successful and the last 100 failed requests of a customer are kept", async (database) => {
  const { clock, first, second } = await openNodes(database);
  await insertCustomer(database, "cus-b");
  first.record({ ...REQUEST, customerId: "cus-b", keyId: "key-b", requestId: "other" });
  for (let index = 0; index < 150; index++) {
    const node = index % 2 === 0 ? first : second;
    node.record({ ...REQUEST, status: 429, code: "rate_limited", requestId: `failed-${index}` });
    await clock.advance(10);
  }
  await first.requests("cus-a");
  for (let index = 0; index < 300; index++) {
    first.record({ ...REQUEST, requestId: `successful-${index}` });
    await clock.advance(10);
  }
  const ids = (requests: readonly { readonly requestId: string }[]) => requests.map(({ requestId }) => requestId);
  const expectIds = (prefix: string, end: number) =>
    Array.from({ length: 100 }, (_, index) => `${prefix}-${end - 1 - index}`);
  await second.requests("cus-a");
  assert.deepEqual(ids(await first.requests("cus-a")), expectIds("successful", 300));
  const failed = await first.requests("cus-a", { onlyFailed: true });
  assert.deepEqual(ids(failed), expectIds("failed", 150));
  assert.deepEqual(failed[0], {
    occurredAt: new Date(START + 1_490),
    requestId: "failed-149",
    method: "GET",
    route: "/v1/markets",
    status: 429,
    code: "rate_limited",
    durationMs: 1.5,
    keyId: "key-a",
  });
  assert.deepEqual(ids(await second.requests("cus-b")), ["other"]);
  assert.equal((await database.query("select 1 from recent_requests")).length, 201);
});

eachDatabase("requests are not shown after seven days, and expired rows are deleted every hour", async (database) => {
  const harness = await customerHarness(database);
  const { customerId } = await harness.app.customers.create(
    { email: "a@example.org", name: null, plan: "free" },
    OPERATOR,
  );
  const activity = createActivity({ database, clock: harness.clock, log: quietLog, nodeId: "node-1" });
  activity.record({ ...REQUEST, customerId });
  assert.equal((await activity.requests(customerId)).length, 1);
  const countRows = async () =>
    (await Promise.all(["usage_days", "recent_requests"].map((table) => database.query(`select 1 from ${table}`)))).map(
      (rows) => rows.length,
    );
  harness.app.customers.start();
  await harness.clock.advance(7 * DAY_MS + 1);
  assert.deepEqual(await activity.requests(customerId), []);
  while ((await countRows())[1] !== 0) await harness.clock.advance(60_000);
  assert.deepEqual(await countRows(), [1, 0]);
  await harness.clock.advance(390 * DAY_MS);
  while ((await countRows())[0] !== 0) await harness.clock.advance(60_000);
  await harness.app.customers.stop();
});

eachDatabase("usage of a customer that was deleted is not stored", async (database) => {
  const { first } = await openNodes(database);
  first.record(REQUEST);
  first.record({ ...REQUEST, customerId: "cus-deleted", keyId: "key-deleted" });
  await first.usage("cus-a", "2026-11-01");
  const stored = await database.query<{ id: string }>(
    "select customer_id as id from usage_days union all select customer_id from recent_requests",
  );
  assert.deepEqual(
    stored.map(({ id }) => id),
    ["cus-a", "cus-a"],
  );
});

test("requests of keys above the row limit are dropped and reported; others above the list limit are counted, not listed", () => {
  const recorder = new ActivityRecorder({ usageRows: 3, requests: 5 });
  for (let index = 0; index < 10; index++) recorder.add({ ...REQUEST, keyId: `key-${index % 5}` }, START);
  const { batch, dropped } = recorder.take();
  assert.deepEqual([batch.usage.length, batch.requests.length, dropped], [3, 5, 4]);
  assert.deepEqual(recorder.take(), { batch: { usage: [], requests: [] }, dropped: 0 });
});

test("a call counted in a month's quota is recorded on a day of that month", () => {
  assert.equal(dayInMonth("2026-11-21", "2026-11-01"), "2026-11-21");
  assert.equal(dayInMonth("2026-11-30", "2026-12-01"), "2026-12-01");
  assert.equal(dayInMonth("2026-12-01", "2026-11-01"), "2026-11-30");
  assert.equal(dayInMonth("2028-03-01", "2028-02-01"), "2028-02-29");
});

eachDatabase(
  "the counted calls of all days add up to the month's usage, and failed calls count only as requests",
  async (database) => {
    const harness = await customerHarness(database);
    const { customerId, key } = await harness.app.customers.create(
      { email: "ada@example.org", name: null, plan: "pro" },
      OPERATOR,
    );
    const { apiKey } = key;
    const statuses: number[] = [];
    for (const path of ["/v1/markets?limit=1", "/v1/markets?limit=0", "/v1/markets/venue_a/none", "/v1/customers/me"])
      for (let call = 0; call < 3; call++) statuses.push((await harness.call("GET", path, { key: apiKey })).status);
    statuses.push((await harness.call("GET", "/v1/sentiment", { key: apiKey })).status);
    assert.deepEqual(statuses, [200, 200, 200, 422, 422, 422, 404, 404, 404, 200, 200, 200, 200]);
    await harness.call("GET", "/v1/markets?token=secret", { key: "plx_free_unknownunknownunknownunknownunkn" });
    const { usage } = await harness.app.metering.usage(await harness.app.customers.account(customerId));
    await harness.app.stop();
    const activity = createActivity({ database, clock: harness.clock, log: quietLog, nodeId: "reader" });
    const days = await activity.usage(customerId, "2000-01-01");
    for (const tier of TIERS)
      assert.equal(
        days.reduce((sum, { counted }) => sum + counted[tier], 0),
        usage[tier],
        tier,
      );
    assert.equal(usage.LISTING, 4);
    assert.equal(
      days.reduce((sum, { requests }) => sum + requests, 0),
      13,
    );
    assert.equal(
      days.reduce((sum, { failed }) => sum + failed, 0),
      6,
    );
    const requests = await activity.requests(customerId);
    assert.equal(requests.length, 13);
    assert.deepEqual([...new Set(requests.map(({ route, code }) => `${route} ${code}`))].sort(), [
      "/v1/customers/me null",
      "/v1/markets invalid_request",
      "/v1/markets null",
      "/v1/markets/:platform/:market_id market_not_found",
      "/v1/sentiment null",
    ]);
  },
);
