import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import {
  ACCOUNT,
  startQuotaNode,
  startQuotaNodes,
  takeAll,
  waitForUsage,
} from "../../../../test/support/customers/quota-nodes.ts";
import { eachDatabase, embeddedDatabase } from "../../../../test/support/databases.ts";
import type { QuotaCharge, QuotaMeter } from "./quota-meter.ts";

eachDatabase("64 concurrent callers on each of three nodes take exactly the limit", async (database) => {
  const { meters, store } = await startQuotaNodes(database, 3);
  const limit = 1_000;
  const caller = async (meter: QuotaMeter) => {
    let taken = 0;
    for (let attempt = 0; attempt < 40; attempt++) if ((await meter.take(ACCOUNT, limit)).isAllowed) taken += 1;
    return taken;
  };
  const taken = await Promise.all(meters.flatMap((meter) => Array.from({ length: 64 }, () => caller(meter))));
  assert.equal(
    taken.reduce((sum, each) => sum + each, 0),
    limit,
  );
  for (const meter of meters) await meter.stop();
  assert.equal((await store.usage(ACCOUNT.customerId)).used.INSIGHT, limit);
});

eachDatabase("a stopped node returns its unused units, and other nodes can take them", async (database) => {
  const { meters, store } = await startQuotaNodes(database, 2);
  const [first, second] = meters;
  assert.equal((await takeAll(first, 200, 10)).length, 10);
  assert.deepEqual((await store.usage(ACCOUNT.customerId)).used, { INSIGHT: 0 });
  await first.stop();
  assert.deepEqual((await store.usage(ACCOUNT.customerId)).used, { INSIGHT: 10 });
  assert.equal((await takeAll(second, 200)).length, 190);
  await second.stop();
});

eachDatabase("a restarted node recovers blocks that were granted just before it was killed", async (database) => {
  const { meters, store, restart, idOf } = await startQuotaNodes(database, 2);
  const [killed, other] = meters;
  assert.equal((await takeAll(killed, 1_000, 10)).length, 10);
  assert.equal((await takeAll(other, 1_000, 10)).length, 10);
  // The store granted a block, and the node was killed before it received the response.
  const options = { leaseMs: 30_000, sizeMax: 64, singleUnitsBelow: 128, blocks: 1 };
  await store.takeBlocks(ACCOUNT, { ...options, limit: 1_000, nodeId: idOf(0) });
  const restarted = await restart(0);
  await other.usage(ACCOUNT.customerId);
  assert.equal((await takeAll(restarted, 1_000)).length + (await takeAll(other, 1_000)).length, 980);
  for (const meter of [restarted, other]) await meter.stop();
  assert.deepEqual((await store.usage(ACCOUNT.customerId)).used, { INSIGHT: 1_000 });
});

eachDatabase("a busy account receives several blocks per request, and each unit is served once", async (database) => {
  const { meters, store } = await startQuotaNodes(database, 2);
  const [first, second] = meters;
  const limit = 20_000;
  assert.equal((await takeAll(first, limit, 12_000)).length, 12_000);
  const [stored] = await database.query<{ blocks: number; largest: number }>(
    "select count(*)::int4 as blocks, max(size)::int4 as largest from quota_blocks",
  );
  assert.ok(stored !== undefined && stored.blocks > 1 && stored.largest === 64);
  assert.deepEqual((await first.usage(ACCOUNT.customerId)).used, {
    LISTING: 0,
    INSIGHT: 12_000,
    STRATEGY: 0,
    DEEP: 0,
  });
  assert.deepEqual((await store.usage(ACCOUNT.customerId)).used, { INSIGHT: 12_000 });
  await first.stop();
  assert.equal((await takeAll(second, limit)).length, 8_000);
  await second.stop();
  assert.deepEqual((await store.usage(ACCOUNT.customerId)).used, { INSIGHT: limit });
});

eachDatabase("a killed and restarted node loses no unit and serves no unit twice", async (database) => {
  const { meters, store, restart } = await startQuotaNodes(database, 2);
  const [killed, other] = meters;
  assert.equal((await takeAll(killed, 1_000, 100)).length, 100);
  assert.equal((await takeAll(other, 1_000, 30)).length, 30);
  // The node did not shut down cleanly, so only its journal contains the spent units.
  const restarted = await restart(0);
  assert.equal((await takeAll(restarted, 1_000)).length + (await takeAll(other, 1_000)).length, 870);
  await restarted.stop();
  await other.stop();
  assert.deepEqual((await store.usage(ACCOUNT.customerId)).used, { INSIGHT: 1_000 });
});

eachDatabase("all units of a disconnected node's blocks count as used until it returns", async (database) => {
  const { meters, store, restart } = await startQuotaNodes(database, 2);
  const [killed, other] = meters;
  assert.equal((await takeAll(killed, 1_000, 70)).length, 70);
  await database.query("update quota_blocks set expires_at = now() - interval '1 second'");
  assert.deepEqual((await store.usage(ACCOUNT.customerId)).used, { INSIGHT: 128 });
  assert.equal(await store.sweep(), 0);
  // All units of two blocks (128) count as used, although only 70 were used.
  assert.equal((await takeAll(other, 1_000)).length, 1_000 - 128);
  const restarted = await restart(0);
  assert.equal((await takeAll(restarted, 1_000)).length, 128 - 70);
  for (const meter of [restarted, other]) await meter.stop();
  assert.deepEqual((await store.usage(ACCOUNT.customerId)).used, { INSIGHT: 1_000 });
});

eachDatabase("a dead node's blocks are deleted after their month and lease have ended", async (database) => {
  const { meter: killed, store } = await startQuotaNode(database);
  await takeAll(killed, 1_000, 70);
  await database.query("update quota_blocks set month = month - interval '1 month'");
  assert.equal(await store.sweep(), 0);
  await database.query("update quota_blocks set expires_at = now() - interval '1 second'");
  assert.equal(await store.sweep(), 2);
});

eachDatabase("units released at the limit are immediately available to another node", async (database) => {
  const { meters, store } = await startQuotaNodes(database, 2);
  const [first, second] = meters;
  // Takes exactly 10 units, so the block of the last unit is still open.
  const charges = await takeAll(first, 10, 10);
  for (const charge of charges.slice(-3)) charge.release();
  await waitForUsage(store, 7);
  assert.equal((await takeAll(second, 10)).length, 3);
  for (const meter of meters) await meter.stop();
});

eachDatabase(
  "a journal settles only the blocks of its node, and never with fewer units than reported",
  async (database) => {
    const { meters, store, idOf, restart } = await startQuotaNodes(database, 2);
    const [first, other] = meters;
    assert.equal((await takeAll(first, 1_000, 20)).length, 20);
    assert.equal((await takeAll(other, 1_000, 20)).length, 20);
    for (const meter of meters) await meter.usage(ACCOUNT.customerId);
    const blocks = await database.query<{ block_id: number }>("select block_id from quota_blocks");
    // A journal that is outdated or of another database: it contains both blocks with fewer units than spent.
    const recovered = blocks.map(({ block_id: blockId }) => ({ blockId, spent: 5 }));
    await store.returnBlocksOfDeadNode(idOf(0), recovered);
    assert.equal((await database.query("select * from quota_blocks")).length, 1);
    assert.deepEqual((await store.usage(ACCOUNT.customerId)).used, { INSIGHT: 40 });
    const restarted = await restart(0);
    assert.equal((await takeAll(restarted, 1_000)).length + (await takeAll(other, 1_000)).length, 960);
    for (const meter of [restarted, other]) await meter.stop();
  },
);

test("for any order of takes, releases, kills and maintenance on three nodes, usage is exact and within the limit", async () => {
  const database = await embeddedDatabase();
  const steps = fc.array(
    fc.record({
      node: fc.nat(2),
      action: fc.constantFrom("take", "take", "take", "release", "pause", "kill"),
      times: fc.integer({ min: 1, max: 60 }),
    }),
    { minLength: 1, maxLength: 15 },
  );
  await fc.assert(
    fc.asyncProperty(steps, fc.integer({ min: 0, max: 400 }), async (sequence, limit) => {
      await database.query("truncate quota_months, quota_blocks");
      const { clock, meters, store, restart } = await startQuotaNodes(database, 3);
      const heldCharges: { charge: QuotaCharge; meter: QuotaMeter }[] = [];
      let unreleasableUnits = 0;
      for (const { node, action, times } of sequence) {
        const meter = meters[node] as QuotaMeter;
        if (action === "take") {
          for (const charge of await takeAll(meter, limit, times)) heldCharges.push({ charge, meter });
        } else if (action === "release") {
          for (const entry of heldCharges.splice(0, times)) {
            if (meters.includes(entry.meter)) entry.charge.release();
            else unreleasableUnits += 1;
          }
        } else if (action === "pause") {
          await clock.advance(times * 100);
          await meter.usage(ACCOUNT.customerId);
        } else {
          // A kill may lose releases that are neither reported to the store nor written to the journal.
          await meter.usage(ACCOUNT.customerId);
          meters[node] = await restart(node);
        }
        assert.ok(heldCharges.length + unreleasableUnits <= limit);
      }
      for (const meter of meters) await meter.stop();
      assert.equal((await store.usage(ACCOUNT.customerId)).used.INSIGHT ?? 0, heldCharges.length + unreleasableUnits);
    }),
    { numRuns: 15 },
  );
});
