import assert from "node:assert/strict";
import { eachDatabase } from "../../../../test/support/databases.ts";
import { FakeClock } from "../../../../test/support/fake-clock.ts";
import { fakeSeal, ok, toAttempt } from "../../../../test/support/webhooks/fake-webhook-ports.ts";
import { systemRandom } from "../../../adapters/system/system-random.ts";
import { DAY_MS, HOUR_MS } from "../../../lib/durations.ts";
import type { Database } from "../../../ports/database.ts";
import type { WebhookRequest } from "../../../ports/webhook-out.ts";
import { createWebhookService, deleteWebhooksOf } from "./index.ts";
import { signDelivery } from "./signature.ts";

const PAGE = { before: 1e9, limit: 10 };

/** The service with the customers `cus-a` and `cus-b`, on a fake clock. */
async function openService(database: Database) {
  const clock = new FakeClock();
  const sent: WebhookRequest[] = [];
  const published: string[] = [];
  const service = createWebhookService({
    database,
    clock,
    random: systemRandom,
    seal: fakeSeal,
    bus: { publish: (topic) => void published.push(topic) },
    out: {
      async post(request) {
        sent.push(request);
        return toAttempt(ok());
      },
    },
    checkUrl: (url) => ({ kind: "valid", url }),
  });
  await database.query(
    `insert into customers (customer_id, plan, status, created_at)
     select id, 'pro', 'active', now() from unnest('{cus-a,cus-b}'::text[]) as id`,
  );
  const register = (customerId = "cus-a") =>
    service.register(customerId, { url: "https://example.org/", events: ["price_shift"], secret: "first" });
  /** Advances the clock until a change has taken effect. */
  const settle = async <Value>(change: Promise<Value>): Promise<Value> => {
    let isEnded = false;
    const end = () => {
      isEnded = true;
    };
    change.then(end, end);
    while (!isEnded) await clock.advance(10);
    return change;
  };
  const addDelivery = (webhookId: string, eventId: number, status: "delivered" | "retrying") =>
    database.query(
      `insert into webhook_deliveries (webhook_id, event_id, event_type, status, attempts, first_attempt_at,
         last_attempt_at, latency_ms, next_attempt_at, body)
       values ($1, $2, 'price_shift', $3, 1, now(), now(), 1, case $3 when 'retrying' then now() end,
         case $3 when 'retrying' then '{}' end)`,
      [webhookId, eventId, status],
    );
  const statuses = async (customerId: string, webhookId: string) =>
    (await service.deliveries(customerId, webhookId, PAGE)).map(({ eventId, status }) => [eventId, status]);
  return { clock, service, sent, published, register, settle, addDelivery, statuses };
}

eachDatabase(
  "a new webhook starts after the newest event, and the nodes are notified of the registration",
  async (database) => {
    const { register, published } = await openService(database);
    await database.query("insert into event_log_head (last_id, dropped_through) values (77, 0)");
    await register();
    const rows = await database.query<{ position: number }>("select position from webhooks");
    assert.deepEqual([rows, published], [[{ position: 77 }], ["webhooks"]]);
  },
);

eachDatabase(
  "a registration by a customer who no longer exists is rejected, and no webhook is stored",
  async (database) => {
    const { register } = await openService(database);
    await assert.rejects(register("cus-gone"), { code: "unauthorized" });
    assert.deepEqual(await database.query("select 1 from webhooks"), []);
  },
);

eachDatabase("webhooks are listed oldest first", async (database) => {
  const { clock, register, service } = await openService(database);
  const first = await register();
  await clock.advance(1_000);
  const second = await register();
  assert.deepEqual(
    (await service.list("cus-a")).map(({ webhookId }) => webhookId),
    [first.webhookId, second.webhookId],
  );
});

eachDatabase(
  "a change and a deletion complete 50 ms after the write, when earlier ownership checks have expired",
  async (database) => {
    const { clock, register, service, published } = await openService(database);
    const { webhookId } = await register();
    for (const change of [() => service.change("cus-a", webhookId, {}), () => service.remove("cus-a", webhookId)]) {
      published.length = 0;
      let hasEnded = false;
      const ended = change().then(() => {
        hasEnded = true;
      });
      while (published.length === 0) await clock.settle();
      await clock.advance(49);
      assert.deepEqual([hasEnded, published], [false, ["webhooks"]]);
      await clock.advance(1);
      await ended;
    }
  },
);

eachDatabase(
  "deleting one webhook, or all webhooks of a customer, deletes only the deliveries of those webhooks",
  async (database) => {
    const { register, service, settle, addDelivery, statuses } = await openService(database);
    const [deleted, kept, other] = [await register(), await register(), await register("cus-b")];
    for (const { webhookId } of [deleted, kept, other]) await addDelivery(webhookId, 1, "delivered");
    await settle(service.remove("cus-a", deleted.webhookId));
    const rows = await database.query("select webhook_id from webhook_deliveries");
    assert.equal(rows.length, 2);
    await database.transaction((transaction) => deleteWebhooksOf(transaction, "cus-a"));
    assert.deepEqual(await statuses("cus-b", other.webhookId), [[1, "delivered"]]);
    assert.deepEqual(await database.query("select webhook_id from webhook_deliveries"), [
      { webhook_id: other.webhookId },
    ]);
  },
);

eachDatabase(
  "`deliveries` returns the deliveries of one webhook before a given event, newest first",
  async (database) => {
    const { register, service, addDelivery } = await openService(database);
    const [one, other] = [await register(), await register()];
    for (const eventId of [2, 1, 4, 3]) await addDelivery(one.webhookId, eventId, "delivered");
    await addDelivery(other.webhookId, 1, "delivered");
    const read = async (before: number, limit: number) =>
      (await service.deliveries("cus-a", one.webhookId, { before, limit })).map(({ eventId }) => eventId);
    assert.deepEqual(await read(4, 2), [3, 2]);
    assert.deepEqual(await read(5, 10), [4, 3, 2, 1]);
  },
);

eachDatabase(
  "a replaced secret also signs for 24 hours, and a change of other fields keeps both the old and the new secret",
  async (database) => {
    const { clock, register, service, settle, sent } = await openService(database);
    const { webhookId } = await register();
    const replacedAt = clock.now();
    await settle(service.change("cus-a", webhookId, { secret: "second" }));
    await clock.advance(HOUR_MS);
    const { events } = await settle(
      service.change("cus-a", webhookId, { enabled: true, events: ["whale_alert", "whale_alert"] }),
    );
    assert.deepEqual(events, ["whale_alert"]);
    for (const at of [replacedAt + DAY_MS - 1, replacedAt + DAY_MS]) {
      clock.jumpWallClock(at - clock.now());
      // Skips the minimum interval between two tests of a webhook.
      await database.query("update webhooks set last_test_at = null");
      await service.test("cus-a", webhookId);
    }
    for (const [index, previous] of [{ secret: "first", until: Number.MAX_SAFE_INTEGER }, null].entries()) {
      const { headers, body, deadlineMs, customerId } = sent[index] ?? assert.fail();
      const content = { id: headers["webhook-id"] ?? "", sentAt: replacedAt + DAY_MS - 1 + index, body };
      assert.deepEqual(headers, signDelivery(content, { current: "second", previous }));
      assert.deepEqual([deadlineMs, customerId], [10_000, "cus-a"]);
    }
  },
);

eachDatabase("only enabling a disabled webhook skips events and resets the failures", async (database) => {
  const { register, service, settle } = await openService(database);
  const { webhookId } = await register();
  await database.query("insert into event_log_head (last_id, dropped_through) values (77, 0)");
  await database.query(
    "update webhooks set failure_count = 4, failing_since = now(), last_failure_at = now(), position = 5",
  );
  const read = () =>
    database.query(
      `select position, failure_count as count, failing_since is null as "isSinceNull", last_failure_at is null as "isLastNull",
         revision from webhooks`,
    );
  const failing = { position: 5, count: 4, isSinceNull: false, isLastNull: false };
  await settle(service.change("cus-a", webhookId, { enabled: true }));
  assert.deepEqual(await read(), [{ ...failing, revision: 1 }]);
  await settle(service.change("cus-a", webhookId, { enabled: false }));
  assert.deepEqual(await read(), [{ ...failing, revision: 2 }]);
  await settle(service.change("cus-a", webhookId, { enabled: true }));
  assert.deepEqual(await read(), [{ position: 77, count: 0, isSinceNull: true, isLastNull: true, revision: 3 }]);
});

eachDatabase(
  "disabling a webhook cancels its retries, but not its ended deliveries or another webhook's retries",
  async (database) => {
    const { register, service, settle, addDelivery, statuses } = await openService(database);
    const [one, other] = [await register(), await register()];
    await addDelivery(one.webhookId, 1, "delivered");
    for (const { webhookId } of [one, other]) await addDelivery(webhookId, 2, "retrying");
    await settle(service.change("cus-a", one.webhookId, { events: ["whale_alert"] }));
    assert.deepEqual((await statuses("cus-a", one.webhookId))[0], [2, "retrying"]);
    await settle(service.change("cus-a", one.webhookId, { enabled: false }));
    assert.deepEqual(await statuses("cus-a", one.webhookId), [
      [2, "canceled"],
      [1, "delivered"],
    ]);
    assert.deepEqual(await statuses("cus-a", other.webhookId), [[2, "retrying"]]);
  },
);

eachDatabase("enabling cancels retries that remained because a node was killed after a 410", async (database) => {
  const { register, service, settle, addDelivery, statuses } = await openService(database);
  const { webhookId } = await register();
  await addDelivery(webhookId, 2, "retrying");
  await database.query("update webhooks set enabled = false");
  await settle(service.change("cus-a", webhookId, { enabled: true }));
  assert.deepEqual(await statuses("cus-a", webhookId), [[2, "canceled"]]);
});

eachDatabase("a webhook can be tested again 10 seconds after its last test", async (database) => {
  const { clock, register, service, sent } = await openService(database);
  const [one, other] = [await register(), await register()];
  await service.test("cus-a", one.webhookId);
  await service.test("cus-a", other.webhookId);
  await clock.advance(9_999);
  await assert.rejects(service.test("cus-a", one.webhookId), { code: "rate_limited" });
  await clock.advance(1);
  await service.test("cus-a", one.webhookId);
  assert.equal(sent.length, 3);
});
