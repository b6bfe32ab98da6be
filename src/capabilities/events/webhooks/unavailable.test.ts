import assert from "node:assert/strict";
import { eachDatabase } from "../../../../test/support/databases.ts";
import { ok, toAttempt } from "../../../../test/support/webhooks/fake-webhook-ports.ts";
import { openWebhooks, waitFor } from "../../../../test/support/webhooks/webhook-harness.ts";
import { systemClock } from "../../../adapters/system/system-clock.ts";
import type { Clock } from "../../../ports/clock.ts";
import type { WebhookAnswer, WebhookOut } from "../../../ports/webhook-out.ts";

const UNAVAILABLE: WebhookAnswer = { kind: "failed", failure: "unavailable" };
/** More than the attempts that a node makes at the same time to endpoints that did not fail. */
const ENDPOINTS = 260;

interface Sent {
  readonly url: string;
  readonly eventId: string;
}

/** Refuses requests as if their host were requested too often. @param isRefused  called with the refusals so far */
function createRefusingOut(isRefused: (request: Sent, refusals: number) => boolean) {
  const sent: Sent[] = [];
  const state = { refusals: 0, sent };
  const out: WebhookOut = {
    async post({ url, body, onStart }) {
      const request = { url, eventId: JSON.parse(body).id };
      if (isRefused(request, state.refusals)) {
        state.refusals += 1;
        return toAttempt(UNAVAILABLE);
      }
      onStart?.();
      sent.push(request);
      return toAttempt(ok());
    },
    close: async () => {},
  };
  return { out, state };
}

eachDatabase(
  "endpoints whose host is above its rate limit do not block attempts at other endpoints",
  async (database) => {
    const { out, state } = createRefusingOut(({ url }) => url.includes("/capped"));
    const { register, append, start } = await openWebhooks(database, { out });
    await database.query(
      "insert into customers (customer_id, plan, status, created_at) values ('cus-all', 'pro', 'active', now())",
    );
    for (let index = 0; index < ENDPOINTS; index++) {
      await register(`https://example.org/capped/${index}`);
      // An account has at most 10 webhooks.
      await database.query("update webhooks set customer_id = 'cus-all' where customer_id <> 'cus-all'");
    }
    const dispatcher = start();
    await waitFor(() => dispatcher.figures.webhooks === ENDPOINTS);
    await append();
    await waitFor(() => state.refusals >= 256);
    await register("https://example.net/ok");
    await append(5);
    await waitFor(() => state.sent.length === 5);
    const { delivered, failed } = dispatcher.figures.attempts;
    assert.deepEqual([delivered, failed], [5, 0]);
  },
);

eachDatabase("the events after a refused event wait for it", async (database) => {
  const { out, state } = createRefusingOut(({ eventId }, refusals) => eventId === "1" && refusals < 2);
  const harness = await openWebhooks(database, { out });
  await harness.register("https://example.org/");
  harness.start();
  await harness.append(4);
  await waitFor(() => state.sent.length === 4);
  assert.deepEqual(
    state.sent.map(({ eventId }) => eventId),
    ["1", "2", "3", "4"],
  );
});

eachDatabase("a refused request is sent again after a wait, and is not counted as an attempt", async (database) => {
  const { out, state } = createRefusingOut((_request, refusals) => refusals < 20);
  const sleeps: number[] = [];
  const clock: Clock = {
    ...systemClock,
    async sleep(ms) {
      sleeps.push(ms);
      await systemClock.yieldToEventLoop();
    },
  };
  const harness = await openWebhooks(database, { out, clock });
  const { webhookId } = await harness.register("https://example.org/");
  const dispatcher = harness.start();
  await harness.append(3);
  await waitFor(() => dispatcher.figures.attempts.delivered === 3);
  assert.equal(state.refusals, 20);
  assert.deepEqual(dispatcher.figures.attempts, { delivered: 3, failed: 0, postponed: 20 });
  assert.equal(sleeps.filter((ms) => ms >= 250 && ms <= 750).length, 20);
  await waitFor(async () => {
    const deliveries = await harness.service.deliveries(harness.customerId, webhookId, { before: 1e9, limit: 10 });
    return deliveries.length === 3 && deliveries.every(({ status }) => status === "delivered");
  });
  const deliveries = await harness.service.deliveries(harness.customerId, webhookId, { before: 1e9, limit: 10 });
  assert.deepEqual(
    deliveries.map(({ attempts }) => attempts),
    [1, 1, 1],
  );
  assert.equal((await harness.service.list(harness.customerId))[0]?.failureCount, 0);
});
