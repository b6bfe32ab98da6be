import assert from "node:assert/strict";
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { test } from "node:test";
import { isStoreUnavailable } from "../../../../test/support/asserts/error-code.ts";
import { ACCOUNT, startQuotaNode, takeAll, waitForUsage } from "../../../../test/support/customers/quota-nodes.ts";
import { eachDatabase } from "../../../../test/support/databases.ts";
import { createTestFolder } from "../../../../test/support/test-folder.ts";
import { openQuotaJournal } from "../../../adapters/metering/quota-journal-file.ts";
import { AppError } from "../../../domain/errors.ts";
import { DAY_MS } from "../../../lib/durations.ts";
import type { QuotaCharge } from "./quota-meter.ts";
import { createQuotaStore, type QuotaStore } from "./quota-store.ts";

eachDatabase("a node that stops during a grant returns the granted units", async (database) => {
  const { meter, store } = await startQuotaNode(database);
  const pending = meter.take(ACCOUNT, 1_000);
  await meter.stop();
  assert.ok((await pending).isAllowed);
  assert.deepEqual(await database.query("select * from quota_blocks"), []);
  assert.deepEqual((await store.usage(ACCOUNT.customerId)).used, { INSIGHT: 1 });
});

eachDatabase("a released unit can be taken again, both from an open and from a closed block", async (database) => {
  const { meter, clock, store } = await startQuotaNode(database);
  for (const limit of [200, 10]) {
    await database.query("truncate quota_months, quota_blocks");
    const charges = await takeAll(meter, limit);
    assert.equal(charges.length, limit);
    for (const charge of charges.slice(0, 7)) charge.release();
    await clock.advance(5_000);
    await meter.usage(ACCOUNT.customerId);
    assert.equal((await takeAll(meter, limit)).length, 7);
    await clock.advance(5_000);
    await meter.usage(ACCOUNT.customerId);
  }
  await meter.stop();
  assert.deepEqual((await store.usage(ACCOUNT.customerId)).used, { INSIGHT: 10 });
});

eachDatabase("if the store fails or its response is lost, a released unit is freed exactly once", async (database) => {
  const realStore = createQuotaStore(database);
  const faults = ["refused", "response lost", "response lost"];
  const store: QuotaStore = {
    ...realStore,
    async releaseUnits(...units) {
      const fault = faults.shift();
      if (fault !== "refused") await realStore.releaseUnits(...units);
      if (fault !== undefined) throw new AppError("store_unavailable", fault);
    },
  };
  const { meter, clock } = await startQuotaNode(database, { store });
  const [first, second] = (await takeAll(meter, 10)) as [QuotaCharge, QuotaCharge];
  first.release();
  while (faults.length > 0) await clock.advance(1_000);
  await waitForUsage(store, 9);
  second.release();
  await waitForUsage(store, 8);
  await meter.stop();
  assert.deepEqual((await store.usage(ACCOUNT.customerId)).used, { INSIGHT: 8 });
});

eachDatabase("after concurrent usage queries, each block still has a separate journal slot", async (database) => {
  const { meter: killed, store, restart } = await startQuotaNode(database);
  const limit = 1_000;
  // The first block is used up and not yet returned to the store.
  assert.equal((await takeAll(killed, limit, 65)).length, 65);
  await Promise.all([killed.usage(ACCOUNT.customerId), killed.usage(ACCOUNT.customerId)]);
  const otherTier = { ...ACCOUNT, tier: "DEEP" } as const;
  assert.equal((await takeAll(killed, limit, 64)).length, 64);
  for (let call = 0; call < 7; call++) assert.ok((await killed.take(otherTier, limit)).isAllowed);
  const restarted = await restart(0);
  await restarted.stop();
  assert.deepEqual((await store.usage(ACCOUNT.customerId)).used, { INSIGHT: 129, DEEP: 7 });
});

eachDatabase("a lowered limit applies immediately and includes units taken before the change", async (database) => {
  const { meter, clock, store } = await startQuotaNode(database);
  assert.equal((await takeAll(meter, 1_000, 70)).length, 70);
  assert.equal((await takeAll(meter, 80)).length, 10);
  const rejected = await meter.take(ACCOUNT, 30);
  assert.ok(!rejected.isAllowed);
  assert.equal(rejected.used, 80);
  await clock.advance(1_000);
  assert.equal((await takeAll(meter, 1_000)).length, 920);
  await meter.stop();
  assert.deepEqual((await store.usage(ACCOUNT.customerId)).used, { INSIGHT: 1_000 });
});

eachDatabase("503: if the journal cannot be written, no unit is served and no block is reserved", async (database) => {
  let isBroken = true;
  let storeRequests = 0;
  const realStore = createQuotaStore(database);
  const { meter, clock, store } = await startQuotaNode(database, {
    store: {
      ...realStore,
      takeBlocks(...options) {
        storeRequests += 1;
        return realStore.takeBlocks(...options);
      },
    },
    wrapJournal: (journal) => ({
      ...journal,
      open(blockId) {
        if (isBroken) throw new Error("EROFS: read-only file system, write");
        return journal.open(blockId);
      },
    }),
  });
  for (let attempt = 0; attempt < 10; attempt++) await assert.rejects(takeAll(meter, 1_000, 1), isStoreUnavailable);
  assert.equal(storeRequests, 1);
  await meter.usage(ACCOUNT.customerId);
  assert.deepEqual(await database.query("select * from quota_blocks"), []);
  assert.deepEqual((await store.usage(ACCOUNT.customerId)).used, { INSIGHT: 0 });
  isBroken = false;
  await clock.advance(1_000);
  assert.equal((await takeAll(meter, 1_000)).length, 1_000);
  await meter.stop();
});

test("a journal slot that could not be written is reused for the next block", async (t) => {
  const journal = openQuotaJournal(await createTestFolder());
  journal.clear("node");
  const write = t.mock.method(fs, "writeSync", () => {
    throw new Error("EIO: i/o error, write");
  });
  syncBuiltinESMExports();
  assert.throws(() => journal.open(1), /EIO/);
  write.mock.restore();
  syncBuiltinESMExports();
  assert.equal(journal.open(2), 0);
  assert.equal(journal.open(3), 1);
  journal.end();
});

eachDatabase("blocks of a lost grant response are returned, blocks of a pending grant are not", async (database) => {
  const realStore = createQuotaStore(database);
  let isResponseLost = true;
  let deliverResponse: () => void = () => {};
  const store: QuotaStore = {
    ...realStore,
    async takeBlocks(...options) {
      const grant = await realStore.takeBlocks(...options);
      if (isResponseLost) throw new AppError("store_unavailable", "The connection was closed");
      await new Promise<void>((resolve) => {
        deliverResponse = resolve;
      });
      return grant;
    },
  };
  const { meter, clock } = await startQuotaNode(database, { store });
  const countBlocks = async () => (await database.query("select * from quota_blocks")).length;
  const expireLeases = async () => {
    await database.query("update quota_blocks set expires_at = now() - interval '1 second'");
    await clock.advance(1_000);
    await meter.usage("other-customer");
  };
  await assert.rejects(takeAll(meter, 1_000, 1), isStoreUnavailable);
  assert.equal(await countBlocks(), 1);
  isResponseLost = false;
  const pending = meter.take(ACCOUNT, 1_000);
  while ((await countBlocks()) < 2) await clock.settle();
  await expireLeases();
  assert.equal(await countBlocks(), 2);
  deliverResponse();
  assert.ok((await pending).isAllowed);
  for (let round = 0; round < 3; round++) {
    await expireLeases();
    assert.equal(await countBlocks(), 1);
  }
  await meter.stop();
  assert.deepEqual((await store.usage(ACCOUNT.customerId)).used, { INSIGHT: 1 });
});

eachDatabase(
  "usage is exact while blocks are open, and exactly `remaining` further units can be taken",
  async (database) => {
    const { meter } = await startQuotaNode(database);
    await takeAll(meter, 300, 41);
    assert.deepEqual((await meter.usage(ACCOUNT.customerId)).used, { LISTING: 0, INSIGHT: 41, STRATEGY: 0, DEEP: 0 });
    const decision = await meter.take(ACCOUNT, 300);
    assert.ok(decision.isAllowed);
    assert.equal((await takeAll(meter, 300)).length, decision.remaining);
    await meter.stop();
  },
);

eachDatabase("quotas are separate for each month, customer and tier", async (database) => {
  const { meter } = await startQuotaNode(database);
  await database.query(
    `insert into quota_months values ('cus-a', (date_trunc('month', now() at time zone 'utc') - interval '1 month')::date, 'INSIGHT', 5, 1)`,
  );
  assert.equal((await takeAll(meter, 5)).length, 5);
  assert.ok((await meter.take({ ...ACCOUNT, tier: "DEEP" }, 1)).isAllowed);
  assert.ok((await meter.take({ ...ACCOUNT, customerId: "cus-b" }, 1)).isAllowed);
  assert.equal((await meter.take({ ...ACCOUNT, customerId: "cus-c" }, 0)).isAllowed, false);
  await meter.stop();
});

eachDatabase("a block cannot be used after the end of its month", async (database) => {
  const { meter, clock } = await startQuotaNode(database);
  const first = await meter.take(ACCOUNT, 1_000);
  assert.ok(first.isAllowed && first.resetsInMs > 0 && first.resetsInMs <= 31 * DAY_MS);
  await clock.advance(first.resetsInMs);
  const second = await meter.take(ACCOUNT, 1_000);
  assert.ok(second.isAllowed && second.block !== first.block);
  await meter.stop();
});
