import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { Cluster, type ClusterNode } from "../../../test/support/cluster.ts";
import { eachDatabase, onPostgres } from "../../../test/support/databases.ts";
import { quietLog } from "../../../test/support/quiet-log.ts";
import { recordingLog } from "../../../test/support/test-app.ts";
import { systemRandom } from "../../adapters/system/system-random.ts";
import type { Database } from "../../ports/database.ts";
import type { Log } from "../../ports/log.ts";
import type { ChainFinding } from "./chain.ts";
import type { Facilitator, SettleOutcome, Verdict } from "./facilitator.ts";
import type { Payment, PaymentAsset, RoutePrice, StoredResponse } from "./model.ts";
import { deleteOldPayments } from "./queries.ts";
import { createPaymentReconciler } from "./reconciler.ts";
import { requirementsFor } from "./requirements.ts";
import { createPaymentService, PaymentRefusedError, type PaymentService } from "./service.ts";

const ASSET: PaymentAsset = {
  ...{ network: "eip155:84532", chainId: 84_532, name: "USDC", version: "2" },
  asset: "0x036CbD53842c5426634e7929541eC2318f3dCF7e",
  payTo: `0x${"2".repeat(40)}`,
};
const AFTER: RoutePrice = { tier: "LISTING", settles: "after" };
const BEFORE: RoutePrice = { tier: "LISTING", settles: "before" };
const REQUEST = { method: "GET", url: "/v1/markets", body: undefined };
const ANSWER: StoredResponse = { status: 200, headers: { "content-type": "text/plain" }, body: Buffer.from("content") };
const transactionOf = (nonce: string) => `0x${createHash("sha256").update(nonce).digest("hex")}`;

/** A facilitator and its chain as one: a nonce is charged once, whatever is asked. */
class ScriptedFacilitator implements Facilitator {
  verdict: Verdict = { isValid: true };
  /** What is told of a settlement; null tells the truth. */
  told: SettleOutcome | null = null;
  /** Whether asking charges. */
  charges = true;
  /** What the chain says; null tells the truth. */
  finding: ChainFinding | null = null;
  readonly charged = new Set<string>();
  asked = 0;
  verified = 0;

  async verify(): Promise<Verdict> {
    this.verified += 1;
    return this.verdict;
  }

  async settle({ authorization: { nonce } }: Payment): Promise<SettleOutcome> {
    this.asked += 1;
    if (this.charges) this.charged.add(nonce);
    return this.told ?? { kind: "settled", transaction: transactionOf(nonce) };
  }

  async find({ nonce }: Payment["authorization"]): Promise<ChainFinding> {
    if (this.finding !== null) return this.finding;
    return this.charged.has(nonce) ? { kind: "transferred", transaction: transactionOf(nonce) } : { kind: "open" };
  }
}

function openLedger(database: Database, options: { readonly hasChain?: boolean } = {}) {
  const cluster = new Cluster(database);
  const facilitator = new ScriptedFacilitator();
  const serviceOf = (node: ClusterNode): PaymentService =>
    createPaymentService({
      ...{ database: node.database, clock: node.clock, random: systemRandom, log: quietLog, asset: ASSET, facilitator },
      chain: options.hasChain === true ? facilitator : null,
      isSignedByPayer: async () => true,
    });
  const addNode = (log: Log = quietLog) => {
    const node = cluster.addNode();
    const service = serviceOf(node);
    const parts = { database: node.database, clock: node.clock, random: systemRandom, log, asset: ASSET };
    return { node, service, upkeep: createPaymentReconciler({ ...parts, service }) };
  };
  let drawn = 0;
  const payment = (): Payment => {
    drawn += 1;
    const now = Math.floor(cluster.clock.now() / 1_000);
    return {
      ...{ version: 2, scheme: "exact", network: ASSET.network, accepted: requirementsFor(ASSET, AFTER) },
      signature: `0x${"1".repeat(130)}`,
      authorization: {
        ...{ from: `0x${"a".repeat(40)}`, to: ASSET.payTo, value: "10000", validAfter: "0" },
        ...{ validBefore: String(now + 300), nonce: `0x${String(drawn).padStart(64, "0")}` },
      },
    };
  };
  const states = async () => {
    const rows = await database.query<{ state: string }>("select state from payments order by payment_id");
    return rows.map(({ state }) => state);
  };
  return { cluster, facilitator, addNode, payment, states };
}

async function run(service: PaymentService, payment: Payment, price = AFTER, request = REQUEST) {
  const begun = await service.begin(payment, price, request);
  assert.equal(begun.kind, "run");
  if (begun.kind !== "run") throw new Error("unreachable");
  return begun.run;
}

const inProgress = { code: "payment_in_progress" };
const unknown = { code: "settlement_unknown" };
const UNTIMELY = "invalid_exact_evm_payload_authorization_valid_before";
const isRefusal = (reason: string) => (error: unknown) =>
  error instanceof PaymentRefusedError && error.reason === reason;

onPostgres("of 1,000 equal payments at once on three nodes one begins", async (database) => {
  const { addNode, payment, facilitator, states } = openLedger(database);
  const services = [addNode().service, addNode().service, addNode().service];
  const sent = payment();
  const tries = Array.from({ length: 1_000 }, (_, index) =>
    services[index % 3]?.begin(sent, AFTER, REQUEST).then(
      () => "begun",
      (error: { readonly code?: string }) => error.code,
    ),
  );
  const outcomes = Object.groupBy(await Promise.all(tries), (outcome) => outcome ?? "something else");
  assert.deepEqual([outcomes.begun?.length, outcomes.payment_in_progress?.length], [1, 999]);
  assert.deepEqual([facilitator.verified, facilitator.asked, await states()], [1, 0, ["verified"]]);
});

eachDatabase(
  "a node that dies before it asks for the charge leaves the payment usable once its lease is over",
  async (database) => {
    const { cluster, addNode, payment, facilitator, states } = openLedger(database);
    const [dying, other] = [addNode(), addNode()];
    const sent = payment();
    const lost = await run(dying.service, sent);
    dying.node.kill();
    await assert.rejects(other.service.begin(sent, AFTER, REQUEST), inProgress);
    await cluster.advance(91_000);
    await other.upkeep.runOnce();
    assert.deepEqual(await states(), ["released"]);
    const taken = await run(other.service, sent);
    assert.notEqual(taken.claim.attempt, lost.claim.attempt);
    await other.service.deliver(taken, ANSWER);
    assert.equal(facilitator.asked, 1);
  },
);

eachDatabase("a payment whose lease ran out is taken over without waiting for the upkeep", async (database) => {
  const { cluster, addNode, payment } = openLedger(database);
  const [slow, other] = [addNode(), addNode()];
  const sent = payment();
  const late = await run(slow.service, sent);
  await cluster.advance(91_000);
  const taken = await run(other.service, sent);
  // The slow one comes back: its answer is neither charged for nor given.
  await assert.rejects(slow.service.deliver(late, ANSWER), inProgress);
  await other.service.deliver(taken, ANSWER);
});

eachDatabase(
  "a node that dies while settling: nobody is charged twice, and the payer gets what was paid for",
  async (database) => {
    for (const wasCharged of [true, false]) {
      await database.query("delete from payments");
      const { cluster, addNode, payment, facilitator, states } = openLedger(database);
      const [dying, other] = [addNode(), addNode()];
      const sent = payment();
      const begun = await run(dying.service, sent);
      facilitator.charges = wasCharged;
      const settle = facilitator.settle.bind(facilitator);
      facilitator.settle = async (signed) => {
        dying.node.kill();
        return settle(signed as Payment);
      };
      void dying.service.deliver(begun, ANSWER).catch(() => {});
      await cluster.settle();
      facilitator.settle = settle;
      facilitator.charges = true;
      assert.deepEqual(await states(), ["settling"]);
      await assert.rejects(other.service.begin(sent, AFTER, REQUEST), inProgress);
      await cluster.advance(91_000);
      await other.upkeep.runOnce();
      assert.deepEqual(await states(), ["settled"], "asked again, with the same authorization");
      assert.equal(facilitator.charged.size, 1);
      const owed = await run(other.service, sent);
      assert.equal(owed.settlement?.transaction, transactionOf(sent.authorization.nonce));
      const asked = facilitator.asked;
      await other.service.deliver(owed, ANSWER);
      assert.equal(facilitator.asked, asked, "what is charged is not asked for again");
    }
  },
);

eachDatabase("an answer whose settlement was unknown is kept, and given once that is known", async (database) => {
  const { cluster, addNode, payment, facilitator, states } = openLedger(database);
  const { service, upkeep } = addNode();
  const sent = payment();
  const begun = await run(service, sent);
  facilitator.told = { kind: "unknown", why: "silence" };
  await assert.rejects(service.deliver(begun, ANSWER), unknown);
  await assert.rejects(service.begin(sent, AFTER, REQUEST), unknown);
  await upkeep.runOnce();
  assert.deepEqual(await states(), ["unknown"]);
  facilitator.told = null;
  // Long past its end: the payer still may ask for what was charged.
  await cluster.advance(400_000);
  await upkeep.runOnce();
  assert.deepEqual(await states(), ["settled"]);
  const again = await service.begin(sent, AFTER, REQUEST);
  assert.equal(again.kind === "replay" && Buffer.from(again.answer.body).toString(), "content");
  assert.deepEqual(await states(), ["delivered"]);
});

eachDatabase(
  "the credit of an unknown settlement buys one answer, also to another request, and not the kept one",
  async (database) => {
    const { addNode, payment, facilitator } = openLedger(database);
    const { service, upkeep } = addNode();
    const sent = payment();
    const begun = await run(service, sent);
    facilitator.told = { kind: "unknown", why: "silence" };
    await assert.rejects(service.deliver(begun, ANSWER), unknown);
    facilitator.told = null;
    const other = { ...REQUEST, url: "/v1/events" };
    const owed = await run(service, sent, AFTER, other);
    // Too large to be kept, so that only what was kept before could be given in its place.
    await service.deliver(owed, { ...ANSWER, body: Buffer.alloc(300_000) });
    for (const request of [REQUEST, other])
      await assert.rejects(service.begin(sent, AFTER, request), isRefusal("payment_already_used"));
    await upkeep.runOnce();
  },
);

eachDatabase(
  "what the chain says will never be paid is rejected, what it does not say stays unknown",
  async (database) => {
    const { addNode, payment, facilitator, states } = openLedger(database, { hasChain: true });
    const { service, upkeep } = addNode();
    facilitator.charges = false;
    facilitator.told = { kind: "unknown", why: "invalid_exact_evm_nonce_already_used" };
    const sent = payment();
    const begun = await run(service, sent);
    await assert.rejects(service.deliver(begun, ANSWER), unknown);
    facilitator.finding = { kind: "unknown" };
    await assert.rejects(service.begin(sent, AFTER, REQUEST), unknown);
    facilitator.finding = { kind: "void" };
    await assert.rejects(service.begin(sent, AFTER, REQUEST), isRefusal("payment_never_settled"));
    assert.deepEqual(await states(), ["rejected"]);
    await assert.rejects(service.begin(sent, AFTER, REQUEST), isRefusal("payment_never_settled"));
    await upkeep.runOnce();
  },
);

eachDatabase("a facilitator's refusal is no refusal where the chain has the transfer", async (database) => {
  const { addNode, payment, facilitator, states } = openLedger(database, { hasChain: true });
  const { service } = addNode();
  facilitator.told = { kind: "refused", reason: "insufficient_funds" };
  const begun = await run(service, payment());
  const settlement = await service.deliver(begun, ANSWER);
  assert.equal(settlement.transaction, transactionOf(begun.payment.authorization.nonce));
  assert.deepEqual(await states(), ["delivered"]);
});

eachDatabase("a charge before the work is a credit until one answer is given, whoever gives it", async (database) => {
  const { cluster, addNode, payment, facilitator, states } = openLedger(database);
  const [dying, other] = [addNode(), addNode()];
  const sent = payment();
  const begun = await run(dying.service, sent, BEFORE);
  assert.notEqual(begun.settlement, null);
  dying.node.kill();
  await assert.rejects(other.service.begin(sent, BEFORE, REQUEST), inProgress);
  await cluster.advance(361_000);
  const again = await run(other.service, sent, BEFORE);
  await other.service.giveUp(again);
  const third = await run(other.service, sent, BEFORE);
  await assert.rejects(other.service.begin(sent, BEFORE, REQUEST), inProgress);
  await other.service.deliver(third, null);
  assert.deepEqual(await states(), ["delivered"]);
  await assert.rejects(other.service.begin(sent, BEFORE, REQUEST), isRefusal("payment_already_used"));
  assert.equal(facilitator.asked, 1);
});

eachDatabase("another authorization of the same nonce never gets what the first one bought", async (database) => {
  const { addNode, payment } = openLedger(database);
  const { service } = addNode();
  const sent = payment();
  await service.deliver(await run(service, sent), ANSWER);
  const twin: Payment = { ...sent, signature: `0x${"2".repeat(130)}` };
  await assert.rejects(service.begin(twin, AFTER, REQUEST), isRefusal("payment_already_used"));
});

eachDatabase("kept answers are forgotten after an hour, rows when nobody can use them any more", async (database) => {
  const { cluster, addNode, payment, facilitator, states } = openLedger(database);
  const { node, service, upkeep } = addNode();
  const sent = payment();
  await service.deliver(await run(service, sent), ANSWER);
  facilitator.verdict = { isValid: false, reason: "insufficient_funds" };
  await assert.rejects(service.begin(payment(), AFTER, REQUEST), isRefusal("insufficient_funds"));
  assert.equal((await service.begin(sent, AFTER, REQUEST)).kind, "replay");
  cluster.clock.jumpWallClock(3_601_000);
  await upkeep.runOnce();
  await assert.rejects(service.begin(sent, AFTER, REQUEST), isRefusal("payment_already_used"));
  cluster.clock.jumpWallClock(3 * 86_400_000);
  assert.equal(await deleteOldPayments(node.database), 1);
  assert.deepEqual(await states(), ["delivered"]);
  cluster.clock.jumpWallClock(400 * 86_400_000);
  assert.equal(await deleteOldPayments(node.database), 1);
});

eachDatabase(
  "a store that fails once the charge was asked for leaves it in doubt, and is never a plain failure",
  async (database) => {
    const { cluster, addNode, payment, facilitator, states } = openLedger(database);
    const { node, service, upkeep } = addNode();
    const settle = facilitator.settle.bind(facilitator);
    facilitator.settle = async (signed) => {
      node.isCut = true;
      return settle(signed as Payment);
    };
    const late = payment();
    const begun = await run(service, late);
    await assert.rejects(service.deliver(begun, ANSWER), unknown);
    node.isCut = false;
    await assert.rejects(service.begin(payment(), BEFORE, REQUEST), unknown);
    facilitator.settle = settle;
    await cluster.advance(91_000);
    assert.deepEqual(await states(), ["settling", "settling"]);
    node.isCut = false;
    await upkeep.runOnce();
    assert.deepEqual(await states(), ["settled", "settled"]);
    assert.notEqual((await run(service, late)).settlement, null);
    assert.equal(facilitator.charged.size, 2);
  },
);

eachDatabase("a store that fails while a payment that may be charged is taken up again says so", async (database) => {
  const { addNode, payment } = openLedger(database);
  const { node, service } = addNode();
  const sent = payment();
  await service.giveUp(await run(service, sent, BEFORE));
  const { query } = node.database;
  node.database.query = async (text, ...more) => {
    if (text.startsWith("update payments set attempt")) node.isCut = true;
    return query(text, ...more) as never;
  };
  await assert.rejects(service.begin(sent, BEFORE, REQUEST), unknown);
});

eachDatabase(
  "a payment that runs out while it is worked on is in progress for whoever sends it again",
  async (database) => {
    const { cluster, addNode, payment } = openLedger(database);
    const { service } = addNode();
    const sent = payment();
    const { authorization } = sent;
    const now = Math.floor(cluster.clock.now() / 1_000);
    const short = { ...sent, authorization: { ...authorization, validBefore: String(now + 95) } };
    const begun = await run(service, short);
    await cluster.advance(10_000);
    await assert.rejects(service.begin(short, AFTER, REQUEST), inProgress);
    await service.giveUp(begun);
    await assert.rejects(service.begin(short, AFTER, REQUEST), isRefusal(UNTIMELY));
  },
);

eachDatabase(
  "an answer kept for an unknown settlement is given within its hour, and after it the call is run again",
  async (database) => {
    const { cluster, addNode, payment, facilitator } = openLedger(database);
    const { service } = addNode();
    const sent = payment();
    facilitator.told = { kind: "unknown", why: "silence" };
    await assert.rejects(service.deliver(await run(service, sent), ANSWER), unknown);
    facilitator.told = null;
    cluster.clock.jumpWallClock(3_601_000);
    const owed = await run(service, sent);
    await service.deliver(owed, { ...ANSWER, body: Buffer.from("new content") });
    const again = await service.begin(sent, AFTER, REQUEST);
    assert.equal(again.kind === "replay" && Buffer.from(again.answer.body).toString(), "new content");
  },
);

/** So many payments of which it is not known whether they are charged. */
async function leaveUnknown(
  { payment, facilitator }: ReturnType<typeof openLedger>,
  service: PaymentService,
  count: number,
) {
  facilitator.told = { kind: "unknown", why: "silence" };
  const sent = Array.from({ length: count }, payment);
  for (const each of sent) await assert.rejects(service.deliver(await run(service, each), null), unknown);
  return sent;
}

eachDatabase("only the upkeep's own tries are counted, and an operator is told once", async (database) => {
  const ledger = openLedger(database);
  const { log, lines } = recordingLog();
  const { service, upkeep } = ledger.addNode(log);
  const [sent] = await leaveUnknown(ledger, service, 1);
  if (sent === undefined) throw new Error("unreachable");
  const tries = async () => (await database.query<{ tries: number }>("select tries from payments"))[0]?.tries;
  for (let resent = 0; resent < 20; resent++) await assert.rejects(service.begin(sent, AFTER, REQUEST), unknown);
  assert.equal(await tries(), 0);
  const told = () => lines.filter(({ level }) => level === "error").length;
  for (let round = 1; round <= 30; round++) {
    ledger.cluster.clock.jumpWallClock(601_000);
    await upkeep.runOnce();
    assert.equal(await tries(), round);
    assert.equal(told(), round < 12 ? 0 : 1);
    assert.equal(upkeep.unknown, 1);
  }
  ledger.facilitator.told = null;
  ledger.cluster.clock.jumpWallClock(601_000);
  await upkeep.runOnce();
  await upkeep.runOnce();
  assert.deepEqual([upkeep.unknown, service.counts.reserved, service.counts.settled], [0, 1, 1]);
});

eachDatabase(
  "a facilitator's silence holds up neither the next settlement in doubt nor the sweep nor a stop",
  async (database) => {
    const ledger = openLedger(database);
    const { cluster, facilitator, states } = ledger;
    const { service, upkeep } = ledger.addNode();
    const dying = ledger.addNode();
    await leaveUnknown(ledger, service, 3);
    await run(dying.service, ledger.payment());
    dying.node.kill();
    await cluster.advance(85_000);
    let asked = 0;
    facilitator.settle = (_payment: Payment, _requirements?: unknown, signal?: AbortSignal) => {
      asked += 1;
      const { promise, resolve } = Promise.withResolvers<SettleOutcome>();
      signal?.addEventListener("abort", () => resolve({ kind: "unknown", why: "given up" }));
      return promise;
    };
    upkeep.start();
    await cluster.advance(15_000);
    assert.deepEqual([asked, await states()], [3, ["unknown", "unknown", "unknown", "released"]]);
    await upkeep.stop();
    const leased = await database.query("select 1 as one from payments where lease_until > now()");
    assert.deepEqual([leased.length, await states()], [0, ["unknown", "unknown", "unknown", "released"]]);
  },
);

eachDatabase("a facilitator that never answers is given up within the lease, and asked again", async (database) => {
  const ledger = openLedger(database);
  const { service, upkeep } = ledger.addNode();
  await leaveUnknown(ledger, service, 1);
  let asked = 0;
  ledger.facilitator.settle = (_payment: Payment, _requirements?: unknown, signal?: AbortSignal) => {
    asked += 1;
    const { promise, resolve } = Promise.withResolvers<SettleOutcome>();
    signal?.addEventListener("abort", () => resolve({ kind: "unknown", why: "given up" }));
    return promise;
  };
  upkeep.start();
  await ledger.cluster.advance(100_000);
  assert.equal(asked, 2);
  await upkeep.stop();
});

eachDatabase("more rows past their use than one statement deletes are all deleted in one round", async (database) => {
  const { cluster, addNode, payment, facilitator, states } = openLedger(database);
  const { node, service } = addNode();
  facilitator.verdict = { isValid: false, reason: "insufficient_funds" };
  for (let sent = 0; sent < 5; sent++)
    await assert.rejects(service.begin(payment(), AFTER, REQUEST), isRefusal("insufficient_funds"));
  cluster.clock.jumpWallClock(5 * 86_400_000);
  assert.equal(await deleteOldPayments(node.database, 2), 5);
  assert.deepEqual(await states(), []);
});
