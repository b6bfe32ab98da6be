import assert from "node:assert/strict";
import { after, test } from "node:test";
import { FakeClock } from "../../../test/support/fake-clock.ts";
import { TEST_CERTIFICATE } from "../../../test/support/webhooks/certificate.ts";
import { dialLoopback, startReceiver } from "../../../test/support/webhooks/receiver.ts";
import type { WebhookAnswer, WebhookOut } from "../../ports/webhook-out.ts";
import { createWebhookHttp } from "./webhook-http.ts";
import { OverRateError, WebhookRates } from "./webhook-rates.ts";

const PUBLIC = "93.184.215.14";
const closers: (() => Promise<void>)[] = [];
after(() => Promise.all(closers.map((close) => close())));

/** A sender whose names all resolve to one address, and the receiver behind that address. */
async function openSender(hostRate: number) {
  const clock = new FakeClock();
  const receiver = await startReceiver((_request, response) => void response.end(), { isSecure: true });
  const { dial, dialled } = dialLoopback(receiver.port);
  const sender = createWebhookHttp(clock, {
    hostRate,
    dial,
    allowsLoopback: true,
    ca: TEST_CERTIFICATE.cert,
    resolveHost: async () => [PUBLIC],
  });
  closers.push(() => sender.close(), receiver.close);
  return { clock, receiver, dialled, sender };
}

async function post(sender: WebhookOut, host: string, customerId: string): Promise<WebhookAnswer> {
  const request = { url: `https://${host}/in`, headers: {}, body: "{}", deadlineMs: 15_000, customerId };
  return (await sender.post(request)).answer;
}

function countResults(answers: readonly WebhookAnswer[]): Record<string, number> {
  const results = answers.map((answer) => (answer.kind === "answered" ? "answered" : answer.failure));
  return Object.fromEntries([...Map.groupBy(results, (result) => result)].map(([result, all]) => [result, all.length]));
}

async function takeHost(rates: WebhookRates, host: string, customer: string, signal: AbortSignal): Promise<void> {
  if (!rates.tryTakeHost(host)) await rates.waitForHost(host, customer, signal, async () => () => {});
}

/**
 * Requests a turn for each customer. Returns the customers that got one and those that were refused; both lists grow.
 */
function takeHostOften(rates: WebhookRates, customers: readonly string[], signal = new AbortController().signal) {
  const counted: string[] = [];
  const refused: string[] = [];
  for (const customer of customers)
    takeHost(rates, "hooks.example", customer, signal).then(
      () => counted.push(customer),
      () => refused.push(customer),
    );
  return { counted, refused };
}

test("customers with the same host take turns within its rate limit, and another host is not affected", async () => {
  const { clock, receiver, sender } = await openSender(5);
  const posts = [...Array<string>(8).fill("ann"), "bob"].map((customer) => post(sender, "hooks.example", customer));
  await Promise.all(posts.slice(0, 5));
  assert.equal(receiver.requests.length, 5);
  const other = await post(sender, `localhost:${receiver.port}`, "ann");
  assert.equal(other.kind, "answered");
  for (const index of [5, 8, 6]) {
    await clock.advance(200);
    assert.equal((await posts[index])?.kind, "answered", String(index));
  }
  assert.equal(await Promise.race([posts[7], "pending"]), "pending");
  await clock.advance(200);
  assert.equal((await posts[7])?.kind, "answered");
});

test("at most 256 requests wait for the rate limit of a host, four of one customer, and an aborted wait frees its place", async () => {
  const clock = new FakeClock();
  const rates = new WebhookRates(clock, 1);
  const first = takeHostOften(rates, ["ann"]);
  await clock.settle();
  assert.deepEqual(first.counted, ["ann"]);
  const abort = new AbortController();
  const ann = takeHostOften(rates, Array<string>(7).fill("ann"), abort.signal);
  await clock.settle();
  // One request waits for the next token and four are queued.
  assert.deepEqual([ann.counted.length, ann.refused.length], [0, 2]);
  const others = takeHostOften(
    rates,
    Array.from({ length: 260 }, (_, index) => `cus-${index}`),
  );
  await clock.settle();
  assert.equal(others.refused.length, 8);
  abort.abort();
  await clock.settle();
  assert.equal(ann.refused.length, 7);
  await clock.advance(1_000);
  assert.deepEqual(others.counted, ["cus-0"]);
  await clock.advance(251_000);
  assert.deepEqual([others.counted.length, rates.waitingQueues], [252, 0]);
});

test("a customer that sends less than its share gets every second token, even if another one sends much more", async () => {
  const clock = new FakeClock();
  const rates = new WebhookRates(clock, 10);
  takeHostOften(rates, Array<string>(10).fill("ann"));
  await clock.settle();
  for (let index = 0; index < 20; index++) {
    takeHostOften(rates, Array<string>(4).fill("ann"));
    await clock.advance(100);
  }
  const bob = takeHostOften(rates, ["bob", "bob", "bob"]);
  await clock.advance(600);
  assert.deepEqual(bob.counted, ["bob", "bob", "bob"], "every second token");
});

test("a request that waits because slow receivers are limited does not delay other requests to the same host", async () => {
  const clock = new FakeClock();
  const rates = new WebhookRates(clock, 1);
  const { signal } = new AbortController();
  assert.equal(rates.tryTakeHost("hooks.example", "slow"), true);
  void rates.waitForHost("hooks.example", "ann", signal, () => new Promise(() => {}), "slow");
  const { counted } = takeHostOften(rates, ["bob"]);
  await clock.advance(1_000);
  assert.deepEqual(counted, ["bob"]);
});

test("slow and failing receivers each get at most a quarter of their host's rate, and healthy receivers get the rest", async () => {
  const clock = new FakeClock();
  const rates = new WebhookRates(clock, 20);
  const { signal } = new AbortController();
  const counts = { slow: 0, failing: 0, healthy: 0 };
  const requestOften = async (health: keyof typeof counts, customer: string) => {
    while (clock.now() < startedAt + 10_000) {
      if (!rates.tryTakeHost("hooks.example", health))
        await rates.waitForHost("hooks.example", customer, signal, async () => () => {}, health);
      counts[health] += 1;
    }
  };
  const startedAt = clock.now();
  for (const customer of ["ann", "bob", "cem", "dee"])
    for (const health of ["slow", "failing", "healthy"] as const) void requestOften(health, customer);
  for (let elapsedMs = 0; elapsedMs < 10_000; elapsedMs += 50) await clock.advance(50);
  // In the first second, each kind may use its whole share, and all kinds the whole rate, at once.
  assert.equal(counts.slow + counts.failing + counts.healthy, 220);
  for (const health of ["slow", "failing"] as const)
    assert.ok(counts[health] >= 45 && counts[health] <= 55, JSON.stringify(counts));
});

test("host names that share an address get four times the rate of one name, and excess requests open no connection", async () => {
  const { sender, dialled } = await openSender(5);
  // The certificate is not valid for these names, so a request that is dialled is a failed connection.
  const answers = await Promise.all(
    Array.from({ length: 60 }, (_, index) => post(sender, `h${index % 20}.example`, `cus-${index}`)),
  );
  assert.deepEqual(countResults(answers), { connection_failed: 20, unavailable: 40 });
  assert.equal(dialled.length, 20);
});

test("a request on an open connection counts towards the address's rate, and a refused request keeps the connection open", async () => {
  const { clock, receiver, sender } = await openSender(2);
  assert.equal((await post(sender, "hooks.example", "cus-1")).kind, "answered");
  for (let index = 0; index < 7; index++) await post(sender, `h${index}.example`, "cus-2");
  assert.deepEqual(await post(sender, "hooks.example", "cus-1"), { kind: "failed", failure: "unavailable" });
  assert.equal(receiver.requests.length, 1);
  await clock.advance(1_000);
  const before = receiver.connections.length;
  assert.equal((await post(sender, "hooks.example", "cus-1")).kind, "answered");
  assert.equal(receiver.connections.length, before);
});

test("a request that is refused because one address is over its rate takes no token of its other addresses", () => {
  const rates = new WebhookRates(new FakeClock(), 1);
  for (let index = 0; index < 4; index++) rates.takeAddresses([PUBLIC]);
  for (let index = 0; index < 10; index++)
    assert.throws(() => rates.takeAddresses(["93.184.215.15", PUBLIC]), OverRateError);
  for (let index = 0; index < 4; index++) rates.takeAddresses(["93.184.215.15"]);
  assert.throws(() => rates.takeAddresses(["93.184.215.15"]), OverRateError);
});

test("a request to a host with two addresses of one /64 takes one token", () => {
  const rates = new WebhookRates(new FakeClock(), 1);
  const addresses = ["2606:2800:21f:cb07::1", "2606:2800:21f:cb07::2"];
  for (let index = 0; index < 4; index++) rates.takeAddresses(addresses);
  assert.throws(() => rates.takeAddresses(addresses), OverRateError);
});

test("addresses of an IPv6 /64 share a rate", () => {
  const rates = new WebhookRates(new FakeClock(), 1);
  for (let index = 0; index < 4; index++) rates.takeAddresses([`2606:2800:21f:cb07::${index}`]);
  assert.throws(() => rates.takeAddresses(["2606:2800:21f:cb07::9"]), OverRateError);
  rates.takeAddresses(["2606:2800:21f:cb08::9"]);
});

test("stores only the hosts of the last second, and refuses new hosts above the maximum", async () => {
  const clock = new FakeClock();
  const rates = new WebhookRates(clock, 1, 1_000);
  const { signal } = new AbortController();
  const take = (host: string) => takeHost(rates, host, "cus-1", signal);
  for (let index = 0; index < 10_000; index++) {
    await take(`h${index}.example`);
    await clock.advance(10);
    assert.ok(rates.size <= 100);
  }
  for (let index = 0; rates.size < 1_000; index++) await take(`n${index}.example`);
  await assert.rejects(take("another.example"), OverRateError);
  assert.equal(rates.size, 1_000);
  await clock.advance(1_000);
  await take("another.example");
  assert.equal(rates.size, 1);
});
