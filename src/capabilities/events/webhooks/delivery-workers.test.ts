import assert from "node:assert/strict";
import { Webhook } from "standardwebhooks";
import { eachDatabase, onPostgres } from "../../../../test/support/databases.ts";
import { openReceiver } from "../../../../test/support/webhooks/event-receiver.ts";
import { ok, toAttempt } from "../../../../test/support/webhooks/fake-webhook-ports.ts";
import { createLoopbackWebhookOut } from "../../../../test/support/webhooks/loopback-webhook-out.ts";
import { openWebhooks, waitFor } from "../../../../test/support/webhooks/webhook-harness.ts";
import type { WebhookOut, WebhookRequest } from "../../../ports/webhook-out.ts";

/** Holds every request to a URL with "/dead", until the test ends. */
function createHangingOut(): WebhookOut & { readonly held: WebhookRequest[]; readonly answered: WebhookRequest[] } {
  const held: WebhookRequest[] = [];
  const answered: WebhookRequest[] = [];
  const endings: (() => void)[] = [];
  return {
    held,
    answered,
    async post(request) {
      request.onStart?.();
      if (!request.url.includes("/dead")) {
        answered.push(request);
        return toAttempt(ok());
      }
      held.push(request);
      await new Promise<void>((resolve) => endings.push(resolve));
      return toAttempt({ kind: "failed", failure: "timeout" });
    },
    async close() {
      for (const end of endings) end();
    },
  };
}

eachDatabase(
  "10 endpoints that never answer do not delay 40 others, and have at most 4 attempts each",
  async (database) => {
    const out = createHangingOut();
    const { register, append, start } = await openWebhooks(database, { out });
    await database.query(
      "insert into customers (customer_id, plan, status, created_at) values ('cus-all', 'pro', 'active', now())",
    );
    for (let index = 0; index < 50; index++) {
      await register(`https://example.org/${index < 10 ? "dead" : "ok"}/${index}`);
      // An account has at most 10 webhooks.
      await database.query("update webhooks set customer_id = 'cus-all'");
    }
    start();
    await append(20);
    await waitFor(() => out.answered.length === 40 * 20);
    const heldPerUrl = Map.groupBy(out.held, ({ url }) => url);
    for (const [url, requests] of heldPerUrl) assert.ok(requests.length <= 4, url);
    await out.close();
  },
);

eachDatabase("nothing is sent to a webhook that is deleted during many retries", async (database) => {
  const receiver = await openReceiver((response) => response.writeHead(500).end());
  const harness = await openWebhooks(database, { retryDelaysMs: Array<number>(1_000).fill(1) });
  const { webhookId } = await harness.register(receiver.url);
  harness.start();
  await harness.append(50);
  await waitFor(() => receiver.requests.length > 200);
  await harness.service.remove(harness.customerId, webhookId);
  // Attempts that ran at this time have arrived when a later event of another webhook has.
  const control = await openReceiver();
  await harness.register(control.url);
  await harness.append();
  await waitFor(() => control.requests.length === 1);
  const count = receiver.requests.length;
  await harness.append(5);
  await waitFor(() => control.requests.length === 6);
  assert.equal(receiver.requests.length, count);
  assert.deepEqual(await database.query("select 1 from webhook_deliveries where webhook_id = $1", [webhookId]), []);
});

eachDatabase("a disabled webhook receives nothing, and its retries are canceled", async (database) => {
  const receiver = await openReceiver((response) => response.writeHead(500).end());
  const harness = await openWebhooks(database, { retryDelaysMs: Array<number>(1_000).fill(1) });
  const { webhookId } = await harness.register(receiver.url);
  harness.start();
  await harness.append(3);
  await waitFor(() => receiver.requests.length > 20);
  await harness.service.change(harness.customerId, webhookId, { enabled: false });
  const page = { before: 1e9, limit: 10 };
  await waitFor(async () => {
    const deliveries = await harness.service.deliveries(harness.customerId, webhookId, page);
    return deliveries.length > 0 && deliveries.every(({ status }) => status === "canceled");
  });
  const count = receiver.requests.length;
  receiver.state.respond = (response) => response.end();
  await harness.append(2);
  await harness.service.change(harness.customerId, webhookId, { enabled: true });
  await harness.append(1);
  await waitFor(() => receiver.requests.length > count);
  assert.deepEqual(receiver.idsOn("/").slice(count), ["6"]);
});

eachDatabase("pending attempts of disabled endpoints do not block other endpoints", async (database) => {
  const out = createHangingOut();
  const harness = await openWebhooks(database, { out });
  await harness.register("https://example.org/ok/0");
  const dead = [
    await harness.register("https://example.org/dead/1"),
    await harness.register("https://example.org/dead/2"),
  ];
  const dispatcher = harness.start();
  await harness.append();
  await waitFor(() => out.answered.length === 1 && out.held.length === 2);
  for (const { webhookId } of dead) await harness.service.change(harness.customerId, webhookId, { enabled: false });
  await harness.register("https://example.org/ok/3");
  await waitFor(() => dispatcher.figures.webhooks === 4);
  await harness.append();
  await waitFor(() => out.answered.length === 3);
  await out.close();
});

eachDatabase("after a change of the event types, every later event of the new types is delivered", async (database) => {
  const receiver = await openReceiver();
  const harness = await openWebhooks(database);
  const { webhookId } = await harness.register(receiver.url);
  harness.start();
  await harness.append();
  await waitFor(() => receiver.requests.length === 1);
  await harness.service.change(harness.customerId, webhookId, { events: ["whale_alert"] });
  await harness.append(3, { type: "whale_alert" });
  await waitFor(() => receiver.requests.length === 4);
  assert.deepEqual(receiver.idsOn("/"), ["1", "2", "3", "4"]);
});

eachDatabase("410 disables the webhook", async (database) => {
  const receiver = await openReceiver((response) => response.writeHead(410).end());
  const harness = await openWebhooks(database);
  await harness.register(receiver.url);
  harness.start();
  await harness.append(1);
  await waitFor(async () => (await harness.service.list(harness.customerId))[0]?.enabled === false);
  await harness.append(3);
  const [webhook] = await harness.service.list(harness.customerId);
  assert.deepEqual([webhook?.failureCount, receiver.requests.length], [1, 1]);
});

eachDatabase(
  "during a rotation both secrets verify; without a rotation only the current secret verifies",
  async (database) => {
    const receiver = await openReceiver();
    const harness = await openWebhooks(database);
    const { webhookId, newSecret } = await harness.register(receiver.url);
    harness.start();
    await harness.append();
    await waitFor(() => receiver.requests.length === 1);
    const rolled = await harness.service.change(harness.customerId, webhookId, { roll_secret: true });
    await harness.append();
    await waitFor(() => receiver.requests.length === 2);
    await database.query("update webhooks set previous_secret_until = now(), revision = revision + 1");
    // An ownership check of the earlier revision is valid for a short time.
    await harness.service.change(harness.customerId, webhookId, {});
    await harness.append();
    await waitFor(() => receiver.requests.length === 3);
    const accepts = (secret: string | null, index: number): boolean => {
      const { body, headers } = receiver.requests[index] ?? assert.fail();
      try {
        new Webhook(secret ?? "").verify(body, headers);
        return true;
      } catch {
        return false;
      }
    };
    assert.deepEqual(
      [0, 1, 2].map((index) => accepts(newSecret, index)),
      [true, true, false],
    );
    assert.deepEqual(
      [0, 1, 2].map((index) => accepts(rolled.newSecret, index)),
      [false, true, true],
    );
  },
);

eachDatabase("a customer whose plan does not include webhooks receives no events", async (database) => {
  const receiver = await openReceiver();
  const harness = await openWebhooks(database);
  await harness.register(`${receiver.url}/free`);
  await database.query("update customers set plan = 'free'");
  await database.query(
    "insert into customers (customer_id, plan, status, created_at) values ('cus-other', 'pro', 'active', now())",
  );
  const registration = { url: `${receiver.url}/pro`, events: ["price_shift" as const] };
  await harness.service.register("cus-other", registration);
  harness.start();
  await harness.append(5);
  await waitFor(() => receiver.requests.length === 5);
  assert.deepEqual(receiver.idsOn("/free"), []);
});

onPostgres("a second node takes over the webhooks of a killed one, and nothing is lost", async (database) => {
  const receiver = await openReceiver();
  const harness = await openWebhooks(database);
  for (let index = 0; index < 6; index++) await harness.register(`${receiver.url}/${index}`);
  // A killed node sends nothing and does not release its webhooks.
  const dead = createHangingOut();
  const out: WebhookOut = { ...dead, post: (request) => dead.post({ ...request, url: "/dead" }) };
  harness.start({ out });
  await harness.append(10);
  await waitFor(() => dead.held.length >= 6);
  await database.query("update webhook_nodes set expires_at = now() - interval '1 second'");
  harness.start({ out: createLoopbackWebhookOut() });
  await waitFor(async () => {
    // The first node renews its lease, as a killed one would not.
    await database.query("update webhook_nodes set expires_at = now() - interval '1 second' where node_id = 'node-0'");
    return receiver.requests.length >= 60;
  });
  const ids = Array.from({ length: 10 }, (_, index) => String(index + 1));
  for (let index = 0; index < 6; index++) assert.deepEqual([...new Set(receiver.idsOn(`/${index}`))], ids);
  await dead.close();
});

onPostgres("two nodes share the webhooks, and each event is sent once", async (database) => {
  const receiver = await openReceiver();
  const harness = await openWebhooks(database);
  for (let index = 0; index < 10; index++) await harness.register(`${receiver.url}/${index}`);
  const first = harness.start();
  await waitFor(() => first.figures.webhooks === 10);
  const second = harness.start();
  await waitFor(() => first.figures.webhooks === 5 && second.figures.webhooks === 5);
  await harness.append(100);
  await waitFor(() => receiver.requests.length === 1_000);
  await harness.stop(first);
  await waitFor(() => second.figures.webhooks === 10);
  await harness.append(1);
  await waitFor(() => receiver.requests.length === 1_010);
  const ids = Array.from({ length: 101 }, (_, index) => String(index + 1));
  for (let index = 0; index < 10; index++) assert.deepEqual(receiver.idsOn(`/${index}`), ids);
});
