import assert from "node:assert/strict";
import {
  AFTER,
  beginRun,
  isRejection,
  leaveUnknown,
  openLedger,
  REQUEST,
  RESPONSE,
  UNKNOWN,
} from "../../../../test/support/customers/payment-ledger.ts";
import { eachDatabase } from "../../../../test/support/databases.ts";
import { recordingLog } from "../../../../test/support/test-app.ts";
import { DAY_MS } from "../../../lib/durations.ts";
import { deleteOldPayments } from "./queries.ts";

eachDatabase(
  "stored responses are deleted after one hour, and payments are deleted after their retention",
  async (database) => {
    const { cluster, addNode, newPayment, facilitator, states } = openLedger(database);
    const { node, service, reconciler } = addNode();
    const payment = newPayment();
    await service.deliver(await beginRun(service, payment), RESPONSE);
    facilitator.verdict = { isValid: false, reason: "insufficient_funds" };
    await assert.rejects(service.begin(newPayment(), AFTER, REQUEST), isRejection("insufficient_funds"));
    assert.equal((await service.begin(payment, AFTER, REQUEST)).kind, "replay");
    cluster.clock.jumpWallClock(3_601_000);
    await reconciler.runOnce();
    await assert.rejects(service.begin(payment, AFTER, REQUEST), isRejection("payment_already_used"));
    cluster.clock.jumpWallClock(3 * DAY_MS);
    assert.equal(await deleteOldPayments(node.database), 1);
    assert.deepEqual(await states(), ["delivered"]);
    cluster.clock.jumpWallClock(400 * DAY_MS);
    assert.equal(await deleteOldPayments(node.database), 1);
  },
);

eachDatabase(
  "`tries` counts only attempts of the reconciler, which logs one error for the operator",
  async (database) => {
    const ledger = openLedger(database);
    const { log, lines } = recordingLog();
    const { service, reconciler } = ledger.addNode(log);
    const [payment] = await leaveUnknown(ledger, service, 1);
    if (payment === undefined) throw new Error("unreachable");
    const tries = async () => (await database.query<{ tries: number }>("select tries from payments"))[0]?.tries;
    for (let attempt = 0; attempt < 20; attempt++)
      await assert.rejects(service.begin(payment, AFTER, REQUEST), UNKNOWN);
    assert.equal(await tries(), 0);
    const errors = () => lines.filter(({ level }) => level === "error").length;
    for (let round = 1; round <= 30; round++) {
      ledger.cluster.clock.jumpWallClock(601_000);
      await reconciler.runOnce();
      assert.equal(await tries(), round);
      assert.equal(errors(), round < 12 ? 0 : 1);
      assert.equal(reconciler.unknownCount, 1);
    }
    ledger.facilitator.reported = null;
    ledger.cluster.clock.jumpWallClock(601_000);
    await reconciler.runOnce();
    await reconciler.runOnce();
    assert.deepEqual([reconciler.unknownCount, service.counts.reserved, service.counts.settled], [0, 1, 1]);
  },
);

eachDatabase("a facilitator timeout does not delay other settlements, the sweep or the stop", async (database) => {
  const ledger = openLedger(database);
  const { cluster, facilitator, states } = ledger;
  const { service, reconciler } = ledger.addNode();
  const killed = ledger.addNode();
  await leaveUnknown(ledger, service, 3);
  await beginRun(killed.service, ledger.newPayment());
  killed.node.kill();
  await cluster.advance(85_000);
  facilitator.settleRequests = 0;
  facilitator.isUnresponsive = true;
  reconciler.start();
  await cluster.advance(15_000);
  assert.deepEqual([facilitator.settleRequests, await states()], [3, ["unknown", "unknown", "unknown", "released"]]);
  await reconciler.stop();
  const leased = await database.query("select 1 as one from payments where lease_until > now()");
  assert.deepEqual([leased.length, await states()], [0, ["unknown", "unknown", "unknown", "released"]]);
});

eachDatabase("requests to an unresponsive facilitator are aborted within the lease and retried", async (database) => {
  const ledger = openLedger(database);
  const { service, reconciler } = ledger.addNode();
  await leaveUnknown(ledger, service, 1);
  ledger.facilitator.settleRequests = 0;
  ledger.facilitator.isUnresponsive = true;
  reconciler.start();
  await ledger.cluster.advance(100_000);
  assert.equal(ledger.facilitator.settleRequests, 2);
  await reconciler.stop();
});

eachDatabase("deletes old payments in several batches if they exceed one batch", async (database) => {
  const { cluster, addNode, newPayment, facilitator, states } = openLedger(database);
  const { node, service } = addNode();
  facilitator.verdict = { isValid: false, reason: "insufficient_funds" };
  for (let attempt = 0; attempt < 5; attempt++)
    await assert.rejects(service.begin(newPayment(), AFTER, REQUEST), isRejection("insufficient_funds"));
  cluster.clock.jumpWallClock(5 * DAY_MS);
  assert.equal(await deleteOldPayments(node.database, 2), 5);
  assert.deepEqual(await states(), []);
});
