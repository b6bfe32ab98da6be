import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:net";
import { test } from "node:test";
import { setImmediate as nextIteration } from "node:timers/promises";
import { AppError } from "../../src/domain/errors.ts";
import type { Database } from "../../src/ports/database.ts";
import { eachDatabase, embeddedDatabase, onPostgres } from "../support/databases.ts";
import { failure, SECRET } from "../support/evm/paid-service.ts";
import { callWith, decode, fetchRequirements, signPayment } from "../support/evm/payer.ts";
import {
  assertRejected,
  callDuring,
  chain,
  facilitator,
  LISTING,
  spendElsewhere,
  startShop,
} from "../support/evm/shop.ts";

test("402: the response is withheld if the nonce was used for another transfer during the call", async () => {
  const shop = await startShop(await embeddedDatabase());
  const payer = await chain.newPayer(LISTING);
  const requirements = await fetchRequirements(`${shop.url}/v1/test/after`);
  const { header } = await signPayment(payer, chain, requirements);
  // Uses the same nonce for another transfer.
  const { status, text, headers } = await callDuring(shop, header, () => spendElsewhere(payer, header));
  assert.equal(headers.get("etag"), null);
  assert.ok(!text.includes(SECRET));
  // The nonce was used for another transfer, so the payment can never be settled.
  assert.equal(status, 402, text);
  assert.equal(decode(headers.get("payment-required")).error, "payment_never_settled");
  assert.deepEqual(await shop.states(), ["rejected"]);
  const resent = await callWith(`${shop.url}/v1/test/after`, header);
  assert.equal(resent.status, 402, resent.text);
  assert.deepEqual(await shop.states(), ["rejected"]);
  assert.equal(await shop.transfers(), 0);
  await shop.close();
});

test("402: the response is withheld and the payment rejected if the payer's balance is insufficient", async () => {
  const shop = await startShop(await embeddedDatabase());
  const payer = await chain.newPayer(LISTING);
  const requirements = await fetchRequirements(`${shop.url}/v1/test/after`);
  const { header } = await signPayment(payer, chain, requirements);
  const other = await signPayment(payer, chain, requirements);
  const { status, text, headers } = await callDuring(shop, header, () => spendElsewhere(payer, other.header));
  assert.deepEqual([status, text.includes(SECRET), headers.get("etag")], [402, false, null]);
  const receipt = decode(headers.get("payment-response"));
  assert.deepEqual([receipt.success, receipt.errorReason], [false, "invalid_exact_evm_insufficient_balance"]);
  await chain.mint(payer.address, LISTING);
  await assertRejected(shop, "/v1/test/after", header, 402, /insufficient_balance/);
  assert.deepEqual(await shop.states(), ["rejected"]);
  await shop.close();
});

eachDatabase(
  "if the facilitator's response is lost, the payer receives the content for one transfer",
  async (database) => {
    for (const path of ["/v1/test/after", "/v1/test/before"]) {
      const shop = await startShop(database);
      const payer = await chain.newPayer(LISTING * 5n);
      const { header } = await signPayment(payer, chain, await fetchRequirements(`${shop.url}${path}`));
      facilitator.faults.settle = { kind: "lose_response" };
      const response = await callWith(`${shop.url}${path}`, header);
      assert.equal(response.status, 200, response.text);
      assert.ok(response.text.includes(SECRET));
      assert.match(decode(response.headers.get("payment-response")).transaction, /^0x[0-9a-f]{64}$/);
      assert.equal(await shop.transfers(), 1);
      await shop.close();
    }
  },
);

test("503 if the facilitator's response is lost without an RPC endpoint; a repetition returns the content for one transfer", async () => {
  const shop = await startShop(await embeddedDatabase(), {
    hasRpc: false,
    deadlines: { verifyMs: 1_000, settleMs: 200 },
  });
  const payer = await chain.newPayer(LISTING * 5n);
  const { header } = await signPayment(payer, chain, await fetchRequirements(`${shop.url}/v1/test/after`));
  facilitator.faults.settle = { kind: "timeout" };
  const first = await callWith(`${shop.url}/v1/test/after`, header);
  assert.deepEqual([first.status, first.text.includes(SECRET)], [503, false]);
  facilitator.reset();
  const second = await callWith(`${shop.url}/v1/test/after`, header);
  assert.deepEqual([second.status, second.text.includes(SECRET)], [200, true], second.text);
  assert.deepEqual(
    [shop.work.count, await shop.transfers()],
    [1, 1],
    "the stored response is returned and charged once",
  );
  await shop.close();
});

onPostgres(
  "1,000 concurrent requests with one payment on three nodes lead to one handler run, one transfer and one response",
  async (database) => {
    const shop = await startShop(database, {}, 3);
    const payer = await chain.newPayer(LISTING * 5n);
    const settled = facilitator.calls.settle;
    const { header } = await signPayment(payer, chain, await fetchRequirements(`${shop.url}/v1/test/after`));
    const hold = Promise.withResolvers<void>();
    for (const { work } of shop.services) work.hold = hold.promise;
    let finished = 0;
    const calls = Array.from({ length: 1_000 }, async (_, index) => {
      const { url } = shop.services[index % 3] ?? shop;
      const response = await callWith(`${url}/v1/test/after`, header);
      finished += 1;
      return response;
    });
    // All other requests are rejected while the first one is still running.
    while (finished < 999) await nextIteration();
    hold.resolve();
    const responses = await Promise.all(calls);
    const counts = Object.groupBy(responses, ({ status }) => String(status));
    // Above the payer's minute limit the status is 429. The service test sends 1,000 payments without this limit.
    assert.equal(counts["200"]?.length, 1);
    assert.equal((counts["409"]?.length ?? 0) + (counts["429"]?.length ?? 0), 999);
    assert.ok((counts["409"]?.length ?? 0) >= 300);
    assert.equal(responses.filter(({ text }) => text.includes(SECRET)).length, 1);
    const runs = () => shop.services.reduce((sum, { work }) => sum + work.count, 0);
    assert.equal(runs(), 1);
    assert.equal(facilitator.calls.settle - settled, 1);
    assert.deepEqual([await shop.transfers(), await shop.earned()], [1, LISTING]);

    const later = await shop.addNode();
    const replays = await Promise.all(Array.from({ length: 60 }, () => callWith(`${later.url}/v1/test/after`, header)));
    const [delivered] = counts["200"] ?? [];
    for (const { status, text, headers } of replays) {
      assert.deepEqual([status, text], [200, delivered?.text], "repeated requests receive the stored response");
      assert.equal(headers.get("payment-response"), delivered?.headers.get("payment-response"));
    }
    const elsewhere = await callWith(`${later.url}/v1/test/after?n=1`, header);
    assert.deepEqual([elsewhere.status, elsewhere.text.includes(SECRET)], [402, false], elsewhere.text);
    assert.equal(runs(), 1);
    await shop.close();
  },
);

test("a stream is charged before its first byte; if the route settles after the handler, the stream is withheld", async () => {
  const shop = await startShop(await embeddedDatabase());
  const payer = await chain.newPayer(LISTING * 5n);
  const { header } = await signPayment(payer, chain, await fetchRequirements(`${shop.url}/v1/test/stream-before`));
  const streamed = await callWith(`${shop.url}/v1/test/stream-before`, header);
  assert.deepEqual([streamed.status, streamed.text], [200, SECRET + SECRET]);
  assert.equal(decode(streamed.headers.get("payment-response")).success, true);
  assert.deepEqual([await shop.transfers(), await shop.states()], [1, ["delivered"]]);
  const resent = await callWith(`${shop.url}/v1/test/stream-before`, header);
  assert.deepEqual([resent.status, shop.work.count], [402, 1]);

  const { header: second } = await signPayment(
    payer,
    chain,
    await fetchRequirements(`${shop.url}/v1/test/stream-after`),
  );
  const withheld = await callWith(`${shop.url}/v1/test/stream-after`, second);
  assert.deepEqual([withheld.status, withheld.text.includes(SECRET)], [500, false]);
  assert.match(withheld.headers.get("content-type") ?? "", /json/);
  assert.deepEqual([await shop.transfers(), await shop.states()], [1, ["delivered", "released"]]);
  await shop.close();
});

test("an event stream is charged once, before its first byte, and the same payment cannot open a second stream", async () => {
  const shop = await startShop(await embeddedDatabase());
  const url = `${shop.url}/v1/stream`;
  const payer = await chain.newPayer(LISTING * 500n);
  const { header } = await signPayment(payer, chain, await fetchRequirements(url));
  const stream = await fetch(url, { headers: { "payment-signature": header } });
  assert.deepEqual([stream.status, stream.headers.get("cache-control")], [200, "no-store"]);
  assert.equal(decode(stream.headers.get("payment-response")).success, true);
  assert.deepEqual([await shop.transfers(), await shop.states()], [1, ["delivered"]]);
  const reader = stream.body?.pipeThrough(new TextDecoderStream()).getReader();
  assert.match((await reader?.read())?.value ?? "", /^: ok\nretry: 3000\n\n/);
  assert.equal((await callWith(url, header)).status, 402);
  assert.equal(await shop.transfers(), 1);
  await reader?.cancel();
  await shop.close();
});

test("a route that hijacks the response delivers nothing to a payer", async () => {
  const shop = await startShop(await embeddedDatabase());
  const payer = await chain.newPayer(LISTING);
  const { header } = await signPayment(payer, chain, await fetchRequirements(`${shop.url}/v1/test/hijack`));
  const response = await callWith(`${shop.url}/v1/test/hijack`, header);
  assert.deepEqual([response.status, response.text.includes(SECRET)], [500, false]);
  assert.deepEqual([await shop.transfers(), await shop.states()], [0, ["released"]]);
  await shop.close();
});

test("503: a store failure after the charge reports a redeemable payment", async () => {
  const database = await embeddedDatabase();
  let isUnavailable = false;
  const store: Database = {
    query: (text, ...more) =>
      isUnavailable && text.startsWith("update payments")
        ? Promise.reject(new AppError("store_unavailable", "The store is unavailable"))
        : database.query(text, ...more),
    transaction: (run) => database.transaction(run),
    close: () => database.close(),
  };
  const shop = await startShop(store);
  const payer = await chain.newPayer(LISTING);
  const path = `${shop.url}/v1/test/before`;
  const { header } = await signPayment(payer, chain, await fetchRequirements(path));
  const hold = Promise.withResolvers<void>();
  shop.work.hold = hold.promise;
  const response = callWith(path, header);
  while (shop.work.count === 0) await nextIteration();
  isUnavailable = true;
  hold.resolve();
  const { status, text, headers } = await response;
  assert.deepEqual([status, text.includes(SECRET)], [503, false]);
  const { payment } = JSON.parse(text);
  assert.deepEqual([payment.settled, payment.redeemable], [true, true]);
  assert.equal(decode(headers.get("payment-response")).transaction, payment.transaction);
  isUnavailable = false;
  await database.query("update payments set lease_until = clock_timestamp()");
  assert.equal((await callWith(path, header)).status, 200);
  assert.equal(await shop.transfers(), 1);
  await shop.close();
});

/** Sends a request over a new socket and disconnects after `iterations` event-loop iterations. */
async function callAndDisconnect(url: string, header: string, iterations: number): Promise<void> {
  const { hostname, port, pathname } = new URL(url);
  const socket = connect(Number(port), hostname).on("error", () => {});
  await once(socket, "connect");
  const head = [`GET ${pathname} HTTP/1.1`, "host: localhost", `payment-signature: ${header}`, "accept-encoding: br"];
  socket.write(`${head.join("\r\n")}\r\n\r\n`);
  for (let count = 0; count < iterations; count++) await nextIteration();
  socket.destroy();
}

test("clients that disconnect during a large replay cause no second run and no failure", async () => {
  const shop = await startShop(await embeddedDatabase());
  shop.work.size = 200_000;
  const payer = await chain.newPayer(LISTING);
  const path = `${shop.url}/v1/test/after`;
  const { header } = await signPayment(payer, chain, await fetchRequirements(path));
  assert.equal((await callWith(path, header)).status, 200);
  for (let iterations = 0; iterations < 60; iterations++) await callAndDisconnect(path, header, iterations);
  const resent = await callWith(path, header);
  assert.deepEqual([resent.status, resent.text.length > 200_000], [200, true]);
  assert.deepEqual([shop.work.count, await shop.transfers()], [1, 1]);
  await shop.close();
});

eachDatabase(
  "a response that is too large to be stored is charged once, and the same request runs again four times within an hour",
  async (database) => {
    for (const [path, contentLength] of [
      ["/v1/test/pieces", false],
      ["/v1/test/after", true],
    ] as const) {
      const shop = await startShop(database);
      shop.work.size = 600_000;
      const payer = await chain.newPayer(LISTING * 5n);
      const { header } = await signPayment(payer, chain, await fetchRequirements(`${shop.url}${path}`));
      for (const run of [1, 2, 3]) {
        const { status, text, headers } = await callWith(`${shop.url}${path}`, header);
        assert.deepEqual([status, text.length > 600_000, text.includes(SECRET)], [200, true, true]);
        assert.match(decode(headers.get("payment-response")).transaction, /^0x[0-9a-f]{64}$/);
        assert.equal(headers.get("cache-control"), "private");
        assert.equal(headers.get("etag") !== null, contentLength, path);
        assert.deepEqual([shop.work.count, await shop.transfers()], [run, 1]);
        assert.deepEqual(await shop.states(), ["delivered"]);
      }
      // A failed repetition leaves the payment as it was.
      shop.work.fail = failure();
      const failed = await callWith(`${shop.url}${path}`, header);
      assert.deepEqual([failed.status, JSON.parse(failed.text).payment.redeemable], [502, false]);
      shop.work.fail = null;
      assert.equal((await callWith(`${shop.url}${path}`, header)).status, 200);
      await assertRejected(shop, path, header, 402, /payment_already_used/);
      await database.query("update payments set repetitions = 0");
      assert.equal((await callWith(`${shop.url}${path}`, header)).status, 200);
      await assertRejected(shop, `${path}?n=1`, header, 402, /payment_already_used/);
      await database.query("update payments set response_until = response_until - interval '1 hour'");
      await assertRejected(shop, path, header, 402, /payment_already_used/);
      assert.equal(await shop.transfers(), 1);
      await shop.close();
    }
  },
);

test("a charged call continues after its client disconnects, and its response is stored", async () => {
  const shop = await startShop(await embeddedDatabase());
  const payer = await chain.newPayer(LISTING);
  const path = `${shop.url}/v1/test/before`;
  const { header } = await signPayment(payer, chain, await fetchRequirements(path));
  const hold = Promise.withResolvers<void>();
  shop.work.hold = hold.promise;
  const controller = new AbortController();
  const aborted = fetch(path, { headers: { "payment-signature": header }, signal: controller.signal });
  while (shop.work.count === 0) await nextIteration();
  controller.abort();
  await assert.rejects(aborted);
  for (let attempt = 0; attempt < 20; attempt++) {
    const concurrent = await callWith(path, header);
    assert.deepEqual([concurrent.status, JSON.parse(concurrent.text).code], [409, "payment_in_progress"]);
  }
  hold.resolve();
  while ((await shop.states())[0] !== "delivered") await nextIteration();
  const resent = await callWith(path, header);
  assert.deepEqual([resent.status, resent.text.includes(SECRET), shop.work.count], [200, true, 1]);
  await shop.close();
});

test("a failed call is not charged, and its payment can be used again", async () => {
  const shop = await startShop(await embeddedDatabase());
  const payer = await chain.newPayer(LISTING * 5n);
  const { header } = await signPayment(payer, chain, await fetchRequirements(`${shop.url}/v1/test/after`));
  shop.work.fail = failure();
  assert.equal((await callWith(`${shop.url}/v1/test/after`, header)).status, 502);
  assert.equal((await callWith(`${shop.url}/v1/test/after?n=99`, header)).status, 422);
  assert.deepEqual([await shop.transfers(), await shop.states()], [0, ["released"]]);
  shop.work.fail = null;
  assert.equal((await callWith(`${shop.url}/v1/test/after`, header)).status, 200);
  assert.equal(await shop.transfers(), 1);
  await shop.close();
});

test("if a call fails after it was charged, its payment is a credit for exactly one response", async () => {
  const shop = await startShop(await embeddedDatabase());
  const payer = await chain.newPayer(LISTING * 5n);
  const { header } = await signPayment(payer, chain, await fetchRequirements(`${shop.url}/v1/test/before`));
  shop.work.fail = failure();
  for (let round = 0; round < 2; round++) {
    const failed = await callWith(`${shop.url}/v1/test/before`, header);
    assert.equal(failed.status, 502);
    const { payment } = JSON.parse(failed.text);
    assert.deepEqual([payment.settled, payment.redeemable], [true, true]);
    assert.equal(decode(failed.headers.get("payment-response")).transaction, payment.transaction);
  }
  shop.work.fail = null;
  const valid = await callWith(`${shop.url}/v1/test/before`, header);
  assert.deepEqual([valid.status, shop.work.count], [200, 3]);
  const repeated = await callWith(`${shop.url}/v1/test/before?n=2`, header);
  assert.equal(repeated.status, 402);
  assert.deepEqual([await shop.transfers(), shop.work.count], [1, 3]);
  await shop.close();
});
