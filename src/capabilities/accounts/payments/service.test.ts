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
} from "../../../../test/support/customers/payment-ledger.ts";
import { eachDatabase, onPostgres } from "../../../../test/support/databases.ts";
import type { Payment } from "./model.ts";

onPostgres("of 1,000 concurrent identical payments on three nodes, exactly one begins a run", async (database) => {
  const { addNode, newPayment, facilitator, states } = openLedger(database);
  const services = [addNode().service, addNode().service, addNode().service];
  const payment = newPayment();
  const attempts = Array.from({ length: 1_000 }, (_, index) =>
    services[index % 3]?.begin(payment, AFTER, REQUEST).then(
      () => "begun",
      (error: { readonly code?: string }) => error.code,
    ),
  );
  const outcomes = Object.groupBy(await Promise.all(attempts), (outcome) => outcome ?? "other");
  assert.deepEqual([outcomes.begun?.length, outcomes.payment_in_progress?.length], [1, 999]);
  assert.deepEqual([facilitator.verifyRequests, facilitator.settleRequests, await states()], [1, 0, ["verified"]]);
});

eachDatabase(
  "if a node dies before the charge, the payment can be used again after its lease expires",
  async (database) => {
    const { cluster, addNode, newPayment, facilitator, states } = openLedger(database);
    const [killed, other] = [addNode(), addNode()];
    const payment = newPayment();
    const lostRun = await beginRun(killed.service, payment);
    killed.node.kill();
    await assert.rejects(other.service.begin(payment, AFTER, REQUEST), IN_PROGRESS);
    await cluster.advance(91_000);
    await other.reconciler.runOnce();
    assert.deepEqual(await states(), ["released"]);
    const current = await beginRun(other.service, payment);
    assert.notEqual(current.lease.attempt, lostRun.lease.attempt);
    await other.service.deliver(current, RESPONSE);
    assert.equal(facilitator.settleRequests, 1);
  },
);

eachDatabase("a payment with an expired lease is taken over without waiting for the reconciler", async (database) => {
  const { cluster, addNode, newPayment } = openLedger(database);
  const [slow, other] = [addNode(), addNode()];
  const payment = newPayment();
  const expired = await beginRun(slow.service, payment);
  await cluster.advance(91_000);
  const current = await beginRun(other.service, payment);
  // The slow node continues, but its response is neither charged nor delivered.
  await assert.rejects(slow.service.deliver(expired, RESPONSE), IN_PROGRESS);
  await other.service.deliver(current, RESPONSE);
});

eachDatabase(
  "a payment charged before the handler runs can be used again until one response is delivered",
  async (database) => {
    const { cluster, addNode, newPayment, facilitator, states } = openLedger(database);
    const [killed, other] = [addNode(), addNode()];
    const payment = newPayment();
    const run = await beginRun(killed.service, payment, BEFORE);
    assert.notEqual(run.settlement, null);
    killed.node.kill();
    await assert.rejects(other.service.begin(payment, BEFORE, REQUEST), IN_PROGRESS);
    await cluster.advance(361_000);
    const second = await beginRun(other.service, payment, BEFORE);
    await other.service.release(second);
    const third = await beginRun(other.service, payment, BEFORE);
    await assert.rejects(other.service.begin(payment, BEFORE, REQUEST), IN_PROGRESS);
    await other.service.deliver(third, null);
    assert.deepEqual(await states(), ["delivered"]);
    await assert.rejects(other.service.begin(payment, BEFORE, REQUEST), isRejection("payment_already_used"));
    assert.equal(facilitator.settleRequests, 1);
  },
);

eachDatabase("an authorization with a reused nonce is rejected and gets no stored response", async (database) => {
  const { addNode, newPayment } = openLedger(database);
  const { service } = addNode();
  const payment = newPayment();
  await service.deliver(await beginRun(service, payment), RESPONSE);
  const reused: Payment = { ...payment, signature: `0x${"2".repeat(130)}` };
  await assert.rejects(service.begin(reused, AFTER, REQUEST), isRejection("payment_already_used"));
});

eachDatabase(
  "if a payment expires during its run, a repeated request is rejected with `payment_in_progress`",
  async (database) => {
    const { cluster, addNode, newPayment } = openLedger(database);
    const { service } = addNode();
    const payment = newPayment();
    const { authorization } = payment;
    const now = Math.floor(cluster.clock.now() / 1_000);
    const short = { ...payment, authorization: { ...authorization, validBefore: String(now + 95) } };
    const run = await beginRun(service, short);
    await cluster.advance(10_000);
    await assert.rejects(service.begin(short, AFTER, REQUEST), IN_PROGRESS);
    await service.release(run);
    await assert.rejects(
      service.begin(short, AFTER, REQUEST),
      isRejection("invalid_exact_evm_payload_authorization_valid_before"),
    );
  },
);
