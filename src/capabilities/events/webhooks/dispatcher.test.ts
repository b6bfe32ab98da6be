import assert from "node:assert/strict";
import { Webhook } from "standardwebhooks";
import { eachDatabase, onEmbedded } from "../../../../test/support/databases.ts";
import { quietLog } from "../../../../test/support/quiet-log.ts";
import { openReceiver } from "../../../../test/support/webhooks/event-receiver.ts";
import { ok } from "../../../../test/support/webhooks/fake-webhook-ports.ts";
import { openWebhooks, waitFor } from "../../../../test/support/webhooks/webhook-harness.ts";
import { openWorld } from "../../../../test/support/webhooks/webhook-world.ts";
import type { EventType } from "../../../event-log/index.ts";
import { DAY_MS } from "../../../lib/durations.ts";
import type { Database } from "../../../ports/database.ts";
import type { Log } from "../../../ports/log.ts";

const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => String(from + index));

eachDatabase(
  "sends the selected events after the registration, in order and with valid signatures",
  async (database) => {
    const receiver = await openReceiver();
    const { register, append, start } = await openWebhooks(database);
    await append(3);
    const webhook = await register(`${receiver.url}/a`);
    await register(`${receiver.url}/b`, { events: ["whale_alert"] });
    start();
    await append(5);
    await append(1, { type: "whale_alert" });
    await append(200);
    await waitFor(() => receiver.requests.length === 206);
    assert.deepEqual(receiver.idsOn("/a"), [...range(4, 8), ...range(10, 209)]);
    assert.deepEqual(receiver.idsOn("/b"), ["9"]);
    const verifier = new Webhook(webhook.newSecret ?? "");
    for (const { path, body, headers } of receiver.requests) {
      assert.equal(headers["webhook-id"], `evt_${JSON.parse(body).id}`);
      assert.equal(headers["content-type"], "application/json");
      if (path === "/a") verifier.verify(body, headers);
    }
  },
);

eachDatabase(
  "a webhook registered without a dispatcher receives its events when a dispatcher starts",
  async (database) => {
    const receiver = await openReceiver();
    const { register, append, start } = await openWebhooks(database);
    await register(receiver.url);
    await append(150);
    start();
    await waitFor(() => receiver.requests.length === 150);
    assert.deepEqual(receiver.idsOn("/"), range(1, 150));
  },
);

eachDatabase("a failed delivery is repeated with the same id and body until it succeeds", async (database) => {
  let failures = 3;
  const receiver = await openReceiver((response) => {
    response.statusCode = failures-- > 0 ? 500 : 204;
    response.end("busy");
  });
  const harness = await openWebhooks(database, { retryDelaysMs: [1, 1, 1, 1] });
  const { webhookId } = await harness.register(receiver.url);
  harness.start();
  await harness.append();
  await waitFor(() => receiver.requests.length === 4);
  assert.equal(new Set(receiver.requests.map(({ body }) => body)).size, 1);
  assert.deepEqual(new Set(receiver.requests.map(({ headers }) => headers["webhook-id"])), new Set(["evt_1"]));
  const read = () => harness.service.deliveries(harness.customerId, webhookId, { before: 1e9, limit: 10 });
  await waitFor(async () => (await read())[0]?.status === "delivered");
  const [delivery] = await read();
  assert.deepEqual([delivery?.attempts, delivery?.responseStatus, delivery?.nextAttemptAt], [4, 204, null]);
  assert.equal((await harness.service.list(harness.customerId))[0]?.failureCount, 0);
  const bodies = await database.query("select 1 from webhook_deliveries where body is not null");
  assert.equal(bodies.length, 0);
});

/** A world of one subscribed webhook, whose receiver accepts everything, and the ids that it received. */
async function openAccepting(database: Database, log?: Log) {
  const world = await openWorld(database, [], log);
  const ids: unknown[] = [];
  world.state.answer = async ({ headers }) => {
    ids.push(headers["webhook-id"]);
    return ok();
  };
  const { webhookId } = await world.register("https://example.org/", ["price_shift"]);
  const changeTo = (events: EventType[]) => world.until(world.service.change(world.customerId, webhookId, { events }));
  return { world, ids, changeTo };
}

onEmbedded("a node that starts without a store is reported as failing until it delivers", async (database) => {
  const failed: unknown[] = [];
  const warn: Log["warn"] = (fields) => failed.push(fields?.task);
  const { world, ids } = await openAccepting(database, { ...quietLog, warn });
  const node = world.startNode("cut off");
  const id = await world.append(["price_shift"]);
  await world.advance(5_000);
  assert.deepEqual([ids, node.dispatcher.failingJobs], [[], ["webhooks"]]);
  assert.deepEqual(failed.sort(), ["clean", "count", "follow", "renew"], "each task is logged once");
  node.state = "running";
  await world.advance(1_000);
  assert.deepEqual([ids, node.dispatcher.failingJobs], [[`evt_${id}`], []]);
  await world.close();
});

onEmbedded(
  "a webhook whose secret cannot be opened is logged once, delays no other webhook, and delivers with a new secret",
  async (database) => {
    const errors: unknown[] = [];
    const error: Log["error"] = (fields) => errors.push(fields?.webhook_id);
    const world = await openWorld(database, [], { ...quietLog, error });
    const sentTo: string[] = [];
    world.state.answer = async ({ url }) => {
      sentTo.push(url);
      return ok();
    };
    const lost = await world.register("https://lost.example/", ["price_shift"]);
    await world.register("https://other.example/", ["price_shift"]);
    await database.query("update webhooks set secret = 'unreadable' where webhook_id = $1", [lost.webhookId]);
    world.startNode();
    await world.append(["price_shift"]);
    await world.advance(10_000);
    assert.deepEqual([sentTo, errors], [["https://other.example/"], [lost.webhookId]]);
    await world.until(world.service.change(world.customerId, lost.webhookId, { secret: "a new secret" }));
    await world.advance(10_000);
    assert.deepEqual([sentTo, errors.length], [["https://other.example/", "https://lost.example/"], 1]);
    await world.close();
  },
);

onEmbedded(
  "a stop waits two seconds for attempts, and another node repeats the unfinished attempts",
  async (database) => {
    const world = await openWorld(database, []);
    await world.register("https://example.org/", ["price_shift"]);
    const { dispatcher } = world.startNode();
    const attempts: string[] = [];
    world.state.answer = ({ headers }, { nodeId }) => {
      attempts.push(`${headers["webhook-id"]} by ${nodeId}`);
      return nodeId === "node-0" ? new Promise(() => {}) : Promise.resolve(ok());
    };
    await world.advance(100);
    const id = await world.append(["price_shift"]);
    await world.advance(100);
    const startedAt = world.clock.monotonic();
    await world.until(dispatcher.stop());
    assert.equal(world.clock.monotonic() - startedAt, 2_000);
    const [stopped] = world.nodes;
    assert.ok(stopped !== undefined);
    await world.expire(stopped);
    world.startNode();
    await world.advance(5_000);
    assert.deepEqual(attempts, [`evt_${id} by node-0`, `evt_${id} by node-1`]);
    stopped.state = "killed";
    await world.close();
  },
);

onEmbedded("a webhook that is registered or changed receives the next event at once", async (database) => {
  const { world, ids, changeTo } = await openAccepting(database);
  world.startNode();
  await world.advance(100);
  await world.register("https://example.com/", ["price_shift"]);
  await world.append(["price_shift"]);
  await world.advance(500);
  assert.equal(ids.length, 2);
  await changeTo(["whale_alert"]);
  await world.advance(100);
  await world.append(["whale_alert"]);
  await world.advance(500);
  assert.equal(ids.length, 3);
  await world.close();
});

onEmbedded("when a node stops, another one delivers its webhooks at once and no event twice", async (database) => {
  const { world, ids } = await openAccepting(database);
  for (let index = 0; index < 3; index++) await world.register(`https://example.com/${index}`, ["whale_alert"]);
  const node = world.startNode();
  await world.advance(2_000);
  const other = world.startNode();
  // The result of the delivery cannot be written before the stop has begun.
  node.failingStatement = "insert into webhook_deliveries";
  other.failingStatement = "insert into webhook_deliveries";
  await world.append(["price_shift"]);
  await world.advance(50);
  const stopping = node.dispatcher.stop();
  await world.advance(500);
  node.failingStatement = null;
  other.failingStatement = null;
  await world.until(stopping);
  const id = await world.append(["price_shift"]);
  await world.advance(500);
  assert.deepEqual([ids, other.dispatcher.figures.webhooks], [[`evt_${id - 1}`, `evt_${id}`], 4]);
  const nodes = await database.query<{ id: string }>("select node_id as id from webhook_nodes");
  assert.deepEqual(nodes, [{ id: other.nodeId }]);
  await world.close();
});

onEmbedded("a node releases webhooks to a node that starts, until both have an equal share", async (database) => {
  const { world } = await openAccepting(database);
  for (let index = 0; index < 3; index++) await world.register(`https://example.com/${index}`, ["price_shift"]);
  const nodes = [world.startNode()];
  await world.advance(2_000);
  nodes.push(world.startNode());
  await world.advance(10_000);
  assert.deepEqual(
    nodes.map(({ dispatcher }) => dispatcher.figures.webhooks),
    [2, 2],
  );
  await world.close();
});

onEmbedded("a node whose release of a webhook fails delivers the webhook again", async (database) => {
  const { world, ids, changeTo } = await openAccepting(database);
  const node = world.startNode();
  await world.advance(100);
  node.failingStatement = "set holder = null";
  await changeTo(["whale_alert"]);
  await world.advance(3_000);
  const id = await world.append(["whale_alert"]);
  await world.advance(500);
  assert.deepEqual([ids, node.dispatcher.figures.webhooks], [[`evt_${id}`], 1]);
  node.failingStatement = null;
  await world.close();
});

onEmbedded("a node deletes deliveries after three days, and counts waiting deliveries", async (database) => {
  const world = await openWorld(database, []);
  const { webhookId } = await world.register("https://example.org/", ["price_shift"]);
  const [old, recent] = [-3 * DAY_MS - 1, -3 * DAY_MS + 1].map((byMs) => world.clock.now() + byMs);
  await database.query(
    `insert into webhook_deliveries (webhook_id, event_id, event_type, status, attempts, first_attempt_at,
       last_attempt_at, latency_ms, next_attempt_at, body)
     select $1, id, 'price_shift', case id when 3 then 'retrying' else 'delivered' end, 1, to_timestamp(at / 1000),
       to_timestamp(at / 1000), 1, case id when 3 then to_timestamp(at / 1000) + interval '10 days' end, case id when 3 then '{}' end
     from unnest(array[1, 2, 3], $2::float8[]) as delivery (id, at)`,
    [webhookId, [old, recent, old]],
  );
  await database.query("update webhooks set holder = 'node-0'");
  const { dispatcher } = world.startNode();
  await world.advance(100);
  const rows = await database.query<{ id: number }>("select event_id as id from webhook_deliveries order by event_id");
  assert.deepEqual(
    rows.map(({ id }) => id),
    [2, 3],
  );
  assert.equal(dispatcher.figures.waiting, 1);
  await world.close();
});
