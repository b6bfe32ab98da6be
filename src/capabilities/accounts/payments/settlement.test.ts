import assert from "node:assert/strict";
import {
  AFTER,
  BEFORE,
  beginRun,
  IN_PROGRESS,
  isRejection,
  openLedger,
  REQUEST,
  RESPONSE,
  transactionOf,
  UNKNOWN,
} from "../../../../test/support/customers/payment-ledger.ts";
import { eachDatabase } from "../../../../test/support/databases.ts";
import type { Payment } from "./model.ts";

eachDatabase(
  "if a node dies while settling, the payer is charged once and can redeem the payment",
  async (database) => {
    for (const wasCharged of [true, false]) {
      await database.query("delete from payments");
      const { cluster, addNode, newPayment, facilitator, states } = openLedger(database);
      const [killed, other] = [addNode(), addNode()];
      const payment = newPayment();
      const run = await beginRun(killed.service, payment);
      facilitator.charges = wasCharged;
      const settle = facilitator.settle.bind(facilitator);
      facilitator.settle = async (signed) => {
        killed.node.kill();
        return settle(signed as Payment);
      };
      void killed.service.deliver(run, RESPONSE).catch(() => {});
      await cluster.settle();
      facilitator.settle = settle;
      facilitator.charges = true;
      assert.deepEqual(await states(), ["settling"]);
      await assert.rejects(other.service.begin(payment, AFTER, REQUEST), IN_PROGRESS);
      await cluster.advance(91_000);
      await other.reconciler.runOnce();
      assert.deepEqual(await states(), ["settled"], "settled by a retry with the same authorization");
      assert.equal(facilitator.charged.size, 1);
      const credit = await beginRun(other.service, payment);
      assert.equal(credit.settlement?.transaction, transactionOf(payment.authorization.nonce));
      const requests = facilitator.settleRequests;
      await other.service.deliver(credit, RESPONSE);
      assert.equal(facilitator.settleRequests, requests, "a charged payment is not settled again");
    }
  },
);

eachDatabase(
  "the response of an unknown settlement is stored and replayed after the settlement is confirmed",
  async (database) => {
    const { cluster, addNode, newPayment, facilitator, states } = openLedger(database);
    const { service, reconciler } = addNode();
    const payment = newPayment();
    const run = await beginRun(service, payment);
    facilitator.reported = { kind: "unknown", why: "timeout" };
    await assert.rejects(service.deliver(run, RESPONSE), UNKNOWN);
    await assert.rejects(service.begin(payment, AFTER, REQUEST), UNKNOWN);
    await reconciler.runOnce();
    assert.deepEqual(await states(), ["unknown"]);
    facilitator.reported = null;
    // After the authorization's expiry the payer can still get the response.
    await cluster.advance(400_000);
    await reconciler.runOnce();
    assert.deepEqual(await states(), ["settled"]);
    const replayed = await service.begin(payment, AFTER, REQUEST);
    assert.equal(replayed.kind === "replay" && Buffer.from(replayed.response.body).toString(), "content");
    assert.deepEqual(await states(), ["delivered"]);
  },
);

eachDatabase(
  "after an unknown settlement the payment pays for one different request; the stored response is then deleted",
  async (database) => {
    const { addNode, newPayment, facilitator } = openLedger(database);
    const { service, reconciler } = addNode();
    const payment = newPayment();
    const run = await beginRun(service, payment);
    facilitator.reported = { kind: "unknown", why: "timeout" };
    await assert.rejects(service.deliver(run, RESPONSE), UNKNOWN);
    facilitator.reported = null;
    const other = { ...REQUEST, url: "/v1/events" };
    const credit = await beginRun(service, payment, AFTER, other);
    // The response is too large to be stored, so only the previously stored response could be replayed.
    await service.deliver(credit, { ...RESPONSE, body: Buffer.alloc(300_000) });
    await assert.rejects(service.begin(payment, AFTER, REQUEST), isRejection("payment_already_used"));
    await service.release(await beginRun(service, payment, AFTER, other));
    await assert.rejects(service.begin(payment, AFTER, REQUEST), isRejection("payment_already_used"));
    await reconciler.runOnce();
  },
);

eachDatabase(
  "a payment that the chain reports as void is rejected; without a chain response, the payment stays unknown",
  async (database) => {
    const { addNode, newPayment, facilitator, states } = openLedger(database, { hasChain: true });
    const { service, reconciler } = addNode();
    facilitator.charges = false;
    facilitator.reported = { kind: "unknown", why: "invalid_exact_evm_nonce_already_used" };
    const payment = newPayment();
    const run = await beginRun(service, payment);
    await assert.rejects(service.deliver(run, RESPONSE), UNKNOWN);
    facilitator.finding = { kind: "unknown" };
    await assert.rejects(service.begin(payment, AFTER, REQUEST), UNKNOWN);
    facilitator.finding = { kind: "void" };
    await assert.rejects(service.begin(payment, AFTER, REQUEST), isRejection("payment_never_settled"));
    assert.deepEqual(await states(), ["rejected"]);
    await assert.rejects(service.begin(payment, AFTER, REQUEST), isRejection("payment_never_settled"));
    await reconciler.runOnce();
  },
);

eachDatabase("a transfer on the chain overrides the facilitator's rejection", async (database) => {
  const { addNode, newPayment, facilitator, states } = openLedger(database, { hasChain: true });
  const { service } = addNode();
  facilitator.reported = { kind: "rejected", reason: "insufficient_funds" };
  const run = await beginRun(service, newPayment());
  const settlement = await service.deliver(run, RESPONSE);
  assert.equal(settlement.transaction, transactionOf(run.payment.authorization.nonce));
  assert.deepEqual(await states(), ["delivered"]);
});

eachDatabase("a store failure after the charge request is reported as settlement_unknown", async (database) => {
  const { cluster, addNode, newPayment, facilitator, states } = openLedger(database);
  const { node, service, reconciler } = addNode();
  const settle = facilitator.settle.bind(facilitator);
  facilitator.settle = async (signed) => {
    node.isDisconnected = true;
    return settle(signed as Payment);
  };
  const first = newPayment();
  const run = await beginRun(service, first);
  await assert.rejects(service.deliver(run, RESPONSE), UNKNOWN);
  node.isDisconnected = false;
  await assert.rejects(service.begin(newPayment(), BEFORE, REQUEST), UNKNOWN);
  facilitator.settle = settle;
  await cluster.advance(91_000);
  assert.deepEqual(await states(), ["settling", "settling"]);
  node.isDisconnected = false;
  await reconciler.runOnce();
  assert.deepEqual(await states(), ["settled", "settled"]);
  assert.notEqual((await beginRun(service, first)).settlement, null);
  assert.equal(facilitator.charged.size, 2);
});

eachDatabase("a store failure while reusing a charged payment is reported as settlement_unknown", async (database) => {
  const { addNode, newPayment } = openLedger(database);
  const { node, service } = addNode();
  const payment = newPayment();
  await service.release(await beginRun(service, payment, BEFORE));
  const { query } = node.database;
  node.database.query = async (text, ...more) => {
    if (text.startsWith("update payments set attempt")) node.isDisconnected = true;
    return query(text, ...more) as never;
  };
  await assert.rejects(service.begin(payment, BEFORE, REQUEST), UNKNOWN);
});

eachDatabase(
  "the stored response of an unknown settlement is not replayed after one hour; the call runs again",
  async (database) => {
    const { cluster, addNode, newPayment, facilitator } = openLedger(database);
    const { service } = addNode();
    const payment = newPayment();
    facilitator.reported = { kind: "unknown", why: "timeout" };
    await assert.rejects(service.deliver(await beginRun(service, payment), RESPONSE), UNKNOWN);
    facilitator.reported = null;
    cluster.clock.jumpWallClock(3_601_000);
    const credit = await beginRun(service, payment);
    await service.deliver(credit, { ...RESPONSE, body: Buffer.from("new content") });
    const replayed = await service.begin(payment, AFTER, REQUEST);
    assert.equal(replayed.kind === "replay" && Buffer.from(replayed.response.body).toString(), "new content");
  },
);
