import assert from "node:assert/strict";
import { eachDatabase, onPostgres } from "../../../../test/support/databases.ts";
import type { Database } from "../../../ports/database.ts";
import {
  claimWebhooks,
  countWaiting,
  type DeliveryState,
  deleteNode,
  deleteOldDeliveries,
  releaseWebhooks,
  renewNode,
  selectDeliverable,
  selectRetries,
  selectShare,
  type WebhookState,
  writeResults,
} from "./node-queries.ts";

const LEASE_MS = 60_000;

/** Inserts a customer with enabled webhooks `w0`, `w1`, ... without a holder. */
async function insertWebhooks(database: Database, count: number): Promise<void> {
  await database.query(
    "insert into customers (customer_id, plan, status, created_at) values ('cus', 'pro', 'active', now())",
  );
  await database.query(
    `insert into webhooks (webhook_id, customer_id, url, events, enabled, secret, created_at, position)
     select 'w' || index, 'cus', 'https://example.org/', '{price_shift}', true, 's', now(), 10
     from generate_series(0, $1 - 1) as index`,
    [count],
  );
}

const claim = async (database: Database, nodeId: string, held: readonly string[] = [], activeCount = held.length) =>
  (await claimWebhooks(database, nodeId, held, activeCount)).map(({ webhookId }) => webhookId).sort();

const delivery = (fields: Partial<DeliveryState> = {}): DeliveryState => ({
  webhookId: "w0",
  eventId: 11,
  eventType: "price_shift",
  status: "retrying",
  attempts: 1,
  body: "{}",
  firstAttemptAt: 1,
  lastAttemptAt: 1,
  responseStatus: 500,
  responseHead: "",
  failure: null,
  latencyMs: 1,
  nextAttemptAt: 5_000,
  ...fields,
});
const DELIVERED = { status: "delivered", attempts: 2, nextAttemptAt: null, responseStatus: 200 } as const;
const state = (fields: Partial<WebhookState> = {}): WebhookState => ({
  webhookId: "w0",
  revision: 0,
  position: 11,
  streak: { count: 3, since: 1_000, lastAt: 2_000 },
  disables: false,
  ...fields,
});
const readWebhook = async (database: Database) => {
  const [row] = await database.query<Record<string, unknown>>(
    `select position, enabled, failure_count as count, extract(epoch from failing_since)::int4 as since,
       extract(epoch from last_failure_at)::int4 as last from webhooks where webhook_id = 'w0'`,
  );
  return row;
};
const readDeliveries = (database: Database) =>
  database.query<Record<string, unknown>>(
    `select event_id as id, status, attempts, body, next_attempt_at is not null as "isWaiting"
     from webhook_deliveries order by event_id`,
  );

eachDatabase("each live node claims its share of the webhooks that no live node holds", async (database) => {
  await insertWebhooks(database, 5);
  await renewNode(database, "a", LEASE_MS);
  await renewNode(database, "b", LEASE_MS);
  assert.equal(await selectShare(database), 3);
  assert.deepEqual(await claim(database, "a"), ["w0", "w1", "w2"]);
  assert.deepEqual(await claim(database, "a", ["w0", "w1", "w2"]), [], "no more than the share");
  assert.deepEqual(await claim(database, "a", ["w0", "w1"], 3), []);
  assert.deepEqual(await claim(database, "b"), ["w3", "w4"], "none that a live node holds");
  assert.deepEqual(await claim(database, "a", ["w0"], 9), [], "nothing above the share");
  assert.deepEqual(await claim(database, "a", ["w0"]), ["w1", "w2"], "its own that it does not deliver");
  await renewNode(database, "a", -1);
  assert.equal(await selectShare(database), 5);
  assert.deepEqual(await claim(database, "b", ["w3", "w4"]), ["w0", "w1", "w2"], "those of a dead node");
  await renewNode(database, "a", LEASE_MS);
  await deleteNode(database, "b");
  assert.equal(await selectShare(database), 5);
  assert.deepEqual(await claim(database, "a"), ["w0", "w1", "w2", "w3", "w4"], "those of a stopped node");
});

onPostgres("a claim does not wait for webhooks that another node is claiming", async (database) => {
  await insertWebhooks(database, 2);
  await renewNode(database, "a", LEASE_MS);
  await database.transaction(async (transaction) => {
    await transaction.query("select from webhooks where webhook_id = 'w0' for update");
    assert.deepEqual(await claim(database, "a"), ["w1"]);
  });
});

eachDatabase("a node whose lease expired before its claim gets a share", async (database) => {
  await insertWebhooks(database, 2);
  assert.deepEqual(await claim(database, "a"), ["w0", "w1"]);
});

eachDatabase("nodes that expired an hour ago are deleted", async (database) => {
  await renewNode(database, "old", -3_700_000);
  await renewNode(database, "new", -3_500_000);
  await renewNode(database, "a", LEASE_MS);
  const rows = await database.query<{ id: string }>("select node_id as id from webhook_nodes order by node_id");
  assert.deepEqual(
    rows.map(({ id }) => id),
    ["a", "new"],
  );
});

eachDatabase(
  "nodes do not claim or serve disabled webhooks or webhooks of customers whose status or plan excludes webhooks",
  async (database) => {
    await insertWebhooks(database, 2);
    await renewNode(database, "a", LEASE_MS);
    const claimAndCheck = async () => {
      await database.query("update webhooks set holder = null");
      const claimed = await claim(database, "a");
      await database.query("update webhooks set holder = 'a'");
      return [claimed, [...(await selectDeliverable(database, "a", ["w0", "w1"])).keys()].sort()];
    };
    assert.deepEqual(await claimAndCheck(), [
      ["w0", "w1"],
      ["w0", "w1"],
    ]);
    await database.query("update webhooks set enabled = false, holder = null where webhook_id = 'w1'");
    assert.equal(await selectShare(database), 1);
    await database.query("update webhooks set enabled = true where webhook_id = 'w1'");
    await database.query("update customers set status = 'canceled'");
    assert.deepEqual(await claimAndCheck(), [[], []]);
    await database.query("update customers set status = 'active', plan = 'free'");
    assert.deepEqual(await claimAndCheck(), [[], []]);
    await database.query("update customers set plan = 'pro'");
    await database.query("update webhooks set enabled = false where webhook_id = 'w0'");
    assert.deepEqual(await claimAndCheck(), [["w1"], ["w1"]]);
  },
);

eachDatabase("a node that lost a webhook may not deliver, write, or release it", async (database) => {
  await insertWebhooks(database, 1);
  await database.query("update webhooks set holder = 'b'");
  assert.equal((await selectDeliverable(database, "a", ["w1"])).size, 0);
  await writeResults(database, "a", [state({ disables: true })], [delivery()]);
  await releaseWebhooks(database, "a", ["w1"]);
  assert.deepEqual(await readDeliveries(database), []);
  assert.deepEqual(await readWebhook(database), { position: 10, enabled: true, count: 0, since: null, last: null });
  assert.deepEqual([...(await selectDeliverable(database, "b", ["w0"]))], [["w0", 0]]);
});

eachDatabase("results never decrease the position, and they start and end the streak of failures", async (database) => {
  await insertWebhooks(database, 1);
  await database.query("update webhooks set holder = 'a'");
  await writeResults(database, "a", [state()], []);
  const failing = { position: 11, enabled: true, count: 3, since: 1, last: 2 };
  assert.deepEqual(await readWebhook(database), failing);
  await writeResults(database, "a", [state({ position: 5, streak: null })], []);
  assert.deepEqual(await readWebhook(database), failing);
  await writeResults(database, "a", [state({ streak: { count: 0, since: null, lastAt: null } })], []);
  assert.deepEqual(await readWebhook(database), { ...failing, count: 0, since: null, last: null });
});

eachDatabase(
  "after a change by the customer, earlier attempts neither count as failures nor disable the webhook",
  async (database) => {
    await insertWebhooks(database, 1);
    await database.query("update webhooks set holder = 'a', revision = 1");
    await writeResults(database, "a", [state({ disables: true })], [delivery()]);
    assert.deepEqual(await readWebhook(database), { position: 11, enabled: true, count: 0, since: null, last: null });
    assert.equal((await readDeliveries(database)).length, 1);
    await writeResults(database, "a", [state({ revision: 1, disables: true })], []);
    assert.equal((await readWebhook(database))?.enabled, false);
    await writeResults(database, "a", [state({ revision: 1 })], []);
    assert.equal((await readWebhook(database))?.enabled, false, "a later result does not enable again");
  },
);

eachDatabase("a delivered event stays delivered, and only waiting deliveries keep their body", async (database) => {
  await insertWebhooks(database, 1);
  await database.query("update webhooks set holder = 'a'");
  await writeResults(database, "a", [state()], [delivery()]);
  assert.deepEqual(await readDeliveries(database), [
    { id: 11, status: "retrying", attempts: 1, body: "{}", isWaiting: true },
  ]);
  const delivered = [{ id: 11, status: "delivered", attempts: 2, body: null, isWaiting: false }];
  await writeResults(database, "a", [state()], [delivery(DELIVERED)]);
  assert.deepEqual(await readDeliveries(database), delivered);
  await writeResults(database, "a", [state()], [delivery({ attempts: 3 })]);
  assert.deepEqual(await readDeliveries(database), delivered);
});

eachDatabase(
  "the retries of a disabled webhook are canceled, and those of a released one are kept",
  async (database) => {
    await insertWebhooks(database, 1);
    await database.query("update webhooks set holder = 'a'");
    const ended = delivery({ ...DELIVERED, eventId: 12 });
    await writeResults(database, "a", [state()], [delivery(), ended]);
    await releaseWebhooks(database, "a", ["w0"]);
    const statuses = async () => (await readDeliveries(database)).map(({ status }) => status);
    assert.deepEqual(await statuses(), ["retrying", "delivered"]);
    await database.query("update webhooks set holder = 'a', enabled = false");
    await writeResults(database, "a", [state()], [delivery({ eventId: 13 })]);
    assert.deepEqual(await statuses(), ["retrying", "delivered", "canceled"], "no retry is planned");
    await releaseWebhooks(database, "a", ["w0"]);
    assert.deepEqual(await statuses(), ["canceled", "delivered", "canceled"]);
    const [row] = await database.query<{ holder: string | null }>("select holder from webhooks");
    assert.equal(row?.holder, null);
  },
);

eachDatabase(
  "retries are read in the order of their times, with the time of the first that is not due",
  async (database) => {
    await insertWebhooks(database, 1);
    await database.query("update webhooks set holder = 'a'");
    const waiting = [3_000, 1_000, 2_000, 9_000].map((nextAttemptAt, index) =>
      delivery({ eventId: 20 + index, nextAttemptAt }),
    );
    await writeResults(database, "a", [state()], [...waiting, delivery({ ...DELIVERED, eventId: 30 })]);
    const read = async (now: number, limit: number) => {
      const { due, nextAt } = await selectRetries(database, "w0", { now, limit });
      return [due.map(({ eventId }) => eventId), nextAt];
    };
    assert.deepEqual(await read(3_000, 10), [[21, 22, 20], 9_000]);
    assert.deepEqual(await read(3_000, 2), [[21, 22], null]);
    assert.deepEqual(await read(9_000, 10), [[21, 22, 20, 23], null]);
    assert.deepEqual(await read(0, 10), [[], 1_000]);
    assert.deepEqual([await countWaiting(database, "a"), await countWaiting(database, "b")], [4, 0]);
  },
);

eachDatabase("old deliveries are deleted, unless they wait for a retry", async (database) => {
  await insertWebhooks(database, 1);
  await database.query("update webhooks set holder = 'a'");
  const deliveries = [
    delivery({ eventId: 1, firstAttemptAt: 1_000 }),
    delivery({ ...DELIVERED, eventId: 2, firstAttemptAt: 1_000 }),
    delivery({ ...DELIVERED, eventId: 3, firstAttemptAt: 2_000 }),
  ];
  await writeResults(database, "a", [state()], deliveries);
  assert.equal(await deleteOldDeliveries(database, 2_000), 1);
  assert.deepEqual(
    (await readDeliveries(database)).map(({ id }) => id),
    [1, 3],
  );
});
