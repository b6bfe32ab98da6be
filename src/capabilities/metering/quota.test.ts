import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { test } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import fc from "fast-check";
import { ClusterNode } from "../../../test/support/cluster.ts";
import { eachDatabase, embeddedDatabase } from "../../../test/support/databases.ts";
import { FakeClock } from "../../../test/support/fake-clock.ts";
import { quietLog } from "../../../test/support/quiet-log.ts";
import { temporaryFolder } from "../../../test/support/service-process.ts";
import { openQuotaJournal } from "../../adapters/metering/quota-journal-file.ts";
import { AppError } from "../../domain/errors.ts";
import type { Database } from "../../ports/database.ts";
import type { QuotaJournal } from "../../ports/quota-journal.ts";
import { createQuotaMeter, type QuotaMeter, type QuotaReceipt } from "./quota.ts";
import { createQuotaStore, type QuotaAccount, type QuotaStore } from "./quota-store.ts";

const ACCOUNT: QuotaAccount = { customerId: "cus-a", tier: "INSIGHT" };

interface NodeParts {
  readonly store?: QuotaStore;
  /** What stands between a node and its journal. */
  readonly journal?: (file: QuotaJournal) => QuotaJournal;
}

/** Nodes over one store, each with a journal of its own that outlives it. */
async function nodes(database: Database, count: number, parts: NodeParts = {}) {
  const { store = createQuotaStore(database), journal = (file) => file } = parts;
  const folders = await Promise.all(Array.from({ length: count }, () => temporaryFolder()));
  const clock = new FakeClock();
  const processes: { readonly id: string; readonly node: ClusterNode }[] = [];
  /** A process in this node's place; the one that is there is killed. */
  const open = async (index: number): Promise<QuotaMeter> => {
    processes[index]?.node.kill();
    const node = new ClusterNode(clock, () => database);
    const id = randomUUID();
    processes[index] = { id, node };
    const file = journal(openQuotaJournal(folders[index]?.path ?? ""));
    const meter = createQuotaMeter({ store, journal: file, clock: node.clock, log: quietLog, nodeId: id });
    await meter.start();
    return meter;
  };
  const meters = await Promise.all(folders.map((_, index) => open(index)));
  return {
    ...{ clock, store, meters, reopen: open },
    idOf: (index: number) => processes[index]?.id ?? "",
    release: () => Promise.all(folders.map((folder) => folder.release())),
  };
}

/** Takes until refused; gives the receipts. */
async function takeAll(meter: QuotaMeter, limit: number, tries = Number.POSITIVE_INFINITY): Promise<QuotaReceipt[]> {
  const receipts: QuotaReceipt[] = [];
  for (let count = 0; count < tries; count++) {
    const decision = await meter.take(ACCOUNT, limit);
    if (!decision.isAllowed) break;
    receipts.push(decision.receipt);
  }
  return receipts;
}

/** Waits until the store says so, as long as it takes it to be told. */
async function usedIs(store: QuotaStore, units: number): Promise<void> {
  while ((await store.usage(ACCOUNT.customerId)).used.INSIGHT !== units) await nextTurn();
}

const isUnavailable = (error: unknown) => error instanceof AppError && error.code === "store_unavailable";

eachDatabase("64 callers at once on three nodes take the limit to the unit, never one more", async (database) => {
  const { meters, store, release } = await nodes(database, 3);
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
  await release();
});

eachDatabase("units that are unused come back when a node stops, and other nodes get them", async (database) => {
  const { meters, store, release } = await nodes(database, 2);
  const [first, second] = meters as [QuotaMeter, QuotaMeter];
  assert.equal((await takeAll(first, 200, 10)).length, 10);
  assert.deepEqual((await store.usage(ACCOUNT.customerId)).used, { INSIGHT: 0 });
  await first.stop();
  assert.deepEqual((await store.usage(ACCOUNT.customerId)).used, { INSIGHT: 10 });
  assert.equal((await takeAll(second, 200)).length, 190);
  await second.stop();
  await release();
});

eachDatabase("blocks on their way to a node that is killed come back with it", async (database) => {
  const { meters, store, reopen, idOf, release } = await nodes(database, 2);
  const [killed, other] = meters as [QuotaMeter, QuotaMeter];
  assert.equal((await takeAll(killed, 1_000, 10)).length, 10);
  assert.equal((await takeAll(other, 1_000, 10)).length, 10);
  // Granted, and the node died before it heard of it.
  const options = { leaseMs: 30_000, sizeMax: 64, singlesBelow: 128, blocks: 1 };
  await store.take(ACCOUNT, { ...options, limit: 1_000, nodeId: idOf(0) });
  const back = await reopen(0);
  await other.usage(ACCOUNT.customerId);
  assert.equal((await takeAll(back, 1_000)).length + (await takeAll(other, 1_000)).length, 980);
  for (const meter of [back, other]) await meter.stop();
  assert.deepEqual((await store.usage(ACCOUNT.customerId)).used, { INSIGHT: 1_000 });
  await release();
});

eachDatabase("a node that stops while units are on their way to it gives those back too", async (database) => {
  const { meters, store, release } = await nodes(database, 1);
  const [meter] = meters as [QuotaMeter];
  const taking = meter.take(ACCOUNT, 1_000);
  await meter.stop();
  assert.ok((await taking).isAllowed);
  assert.deepEqual(await database.query("select * from quota_blocks"), []);
  assert.deepEqual((await store.usage(ACCOUNT.customerId)).used, { INSIGHT: 1 });
  await release();
});

eachDatabase(
  "a busy customer's blocks come several at once, and every unit of them is served once",
  async (database) => {
    const { meters, store, release } = await nodes(database, 2);
    const [first, second] = meters as [QuotaMeter, QuotaMeter];
    const limit = 20_000;
    assert.equal((await takeAll(first, limit, 12_000)).length, 12_000);
    const [held] = await database.query<{ blocks: number; largest: number }>(
      "select count(*)::int4 as blocks, max(size)::int4 as largest from quota_blocks",
    );
    assert.ok(held !== undefined && held.blocks > 1 && held.largest === 64);
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
    await release();
  },
);

eachDatabase("a node that is killed loses no unit and gives none twice once it is back", async (database) => {
  const { meters, store, reopen, release } = await nodes(database, 2);
  const [killed, other] = meters as [QuotaMeter, QuotaMeter];
  assert.equal((await takeAll(killed, 1_000, 100)).length, 100);
  assert.equal((await takeAll(other, 1_000, 30)).length, 30);
  // No word of goodbye: what it spent is known to its journal alone.
  const back = await reopen(0);
  assert.equal((await takeAll(back, 1_000)).length + (await takeAll(other, 1_000)).length, 870);
  await back.stop();
  await other.stop();
  assert.deepEqual((await store.usage(ACCOUNT.customerId)).used, { INSIGHT: 1_000 });
  await release();
});

eachDatabase("of a node that is away what it may have spent counts as spent, until it comes back", async (database) => {
  const { meters, store, reopen, release } = await nodes(database, 2);
  const [killed, other] = meters as [QuotaMeter, QuotaMeter];
  assert.equal((await takeAll(killed, 1_000, 70)).length, 70);
  await database.query("update quota_blocks set expires_at = now() - interval '1 second'");
  assert.deepEqual((await store.usage(ACCOUNT.customerId)).used, { INSIGHT: 128 });
  assert.equal(await store.sweep(), 0);
  // Two blocks of 64 were taken: 128 count, of which 70 were used.
  assert.equal((await takeAll(other, 1_000)).length, 1_000 - 128);
  const back = await reopen(0);
  assert.equal((await takeAll(back, 1_000)).length, 128 - 70);
  for (const meter of [back, other]) await meter.stop();
  assert.deepEqual((await store.usage(ACCOUNT.customerId)).used, { INSIGHT: 1_000 });
  await release();
});

eachDatabase("what a node left behind is forgotten with its month, not while its lease lasts", async (database) => {
  const { meters, store, release } = await nodes(database, 1);
  const [killed] = meters as [QuotaMeter];
  await takeAll(killed, 1_000, 70);
  await database.query("update quota_blocks set month = month - interval '1 month'");
  assert.equal(await store.sweep(), 0);
  await database.query("update quota_blocks set expires_at = now() - interval '1 second'");
  assert.equal(await store.sweep(), 2);
  await release();
});

eachDatabase("a unit given back can be taken again, whether its block is in use or not", async (database) => {
  const { meters, clock, store, release } = await nodes(database, 1);
  const [meter] = meters as [QuotaMeter];
  for (const limit of [200, 10]) {
    await database.query("truncate quota_months, quota_blocks");
    const receipts = await takeAll(meter, limit);
    assert.equal(receipts.length, limit);
    for (const receipt of receipts.slice(0, 7)) meter.release(receipt);
    await clock.advance(5_000);
    await meter.usage(ACCOUNT.customerId);
    assert.equal((await takeAll(meter, limit)).length, 7);
    await clock.advance(5_000);
    await meter.usage(ACCOUNT.customerId);
  }
  await meter.stop();
  assert.deepEqual((await store.usage(ACCOUNT.customerId)).used, { INSIGHT: 10 });
  await release();
});

eachDatabase("one unit given back at the limit is there for another node at once", async (database) => {
  const { meters, store, release } = await nodes(database, 2);
  const [first, second] = meters as [QuotaMeter, QuotaMeter];
  // Not asked for more than there is: the newest unit's block is still the one in use.
  const receipts = await takeAll(first, 10, 10);
  for (const receipt of receipts.slice(-3)) first.release(receipt);
  await usedIs(store, 7);
  assert.equal((await takeAll(second, 10)).length, 3);
  for (const meter of meters) await meter.stop();
  await release();
});

eachDatabase("a unit whose way back to the store is troubled comes back exactly once", async (database) => {
  const real = createQuotaStore(database);
  const troubles = ["refused", "answer lost", "answer lost"];
  const store: QuotaStore = {
    ...real,
    async release(...told) {
      const trouble = troubles.shift();
      if (trouble !== "refused") await real.release(...told);
      if (trouble !== undefined) throw new AppError("store_unavailable", trouble);
    },
  };
  const { meters, clock, release } = await nodes(database, 1, { store });
  const [meter] = meters as [QuotaMeter];
  const [first, second] = (await takeAll(meter, 10)) as [QuotaReceipt, QuotaReceipt];
  meter.release(first);
  while (troubles.length > 0) await clock.advance(1_000);
  await usedIs(store, 9);
  meter.release(second);
  await usedIs(store, 8);
  await meter.stop();
  assert.deepEqual((await store.usage(ACCOUNT.customerId)).used, { INSIGHT: 8 });
  await release();
});

eachDatabase("two looks at the usage at once leave each block its own place in the journal", async (database) => {
  const { meters, store, reopen, release } = await nodes(database, 1);
  const [killed] = meters as [QuotaMeter];
  const limit = 1_000;
  // A block that is spent is one to be ended.
  assert.equal((await takeAll(killed, limit, 65)).length, 65);
  await Promise.all([killed.usage(ACCOUNT.customerId), killed.usage(ACCOUNT.customerId)]);
  const others = { ...ACCOUNT, tier: "DEEP" } as const;
  assert.equal((await takeAll(killed, limit, 64)).length, 64);
  for (let call = 0; call < 7; call++) assert.ok((await killed.take(others, limit)).isAllowed);
  const back = await reopen(0);
  await back.stop();
  assert.deepEqual((await store.usage(ACCOUNT.customerId)).used, { INSIGHT: 129, DEEP: 7 });
  await release();
});

eachDatabase("a limit that is lowered holds at once, for units taken before it too", async (database) => {
  const { meters, clock, store, release } = await nodes(database, 1);
  const [meter] = meters as [QuotaMeter];
  assert.equal((await takeAll(meter, 1_000, 70)).length, 70);
  assert.equal((await takeAll(meter, 80)).length, 10);
  const refused = await meter.take(ACCOUNT, 30);
  assert.ok(!refused.isAllowed);
  assert.equal(refused.used, 80);
  await clock.advance(1_000);
  assert.equal((await takeAll(meter, 1_000)).length, 920);
  await meter.stop();
  assert.deepEqual((await store.usage(ACCOUNT.customerId)).used, { INSIGHT: 1_000 });
  await release();
});

eachDatabase("503: while the journal cannot be written nothing is served and nothing kept", async (database) => {
  let isBroken = true;
  let asked = 0;
  const real = createQuotaStore(database);
  const { meters, clock, store, release } = await nodes(database, 1, {
    store: {
      ...real,
      take(...wish) {
        asked += 1;
        return real.take(...wish);
      },
    },
    journal: (file) => ({
      ...file,
      open(blockId) {
        if (isBroken) throw new Error("EROFS: read-only file system, write");
        return file.open(blockId);
      },
    }),
  });
  const [meter] = meters as [QuotaMeter];
  for (let attempt = 0; attempt < 10; attempt++) await assert.rejects(takeAll(meter, 1_000, 1), isUnavailable);
  assert.equal(asked, 1);
  await meter.usage(ACCOUNT.customerId);
  assert.deepEqual(await database.query("select * from quota_blocks"), []);
  assert.deepEqual((await store.usage(ACCOUNT.customerId)).used, { INSIGHT: 0 });
  isBroken = false;
  await clock.advance(1_000);
  assert.equal((await takeAll(meter, 1_000)).length, 1_000);
  await meter.stop();
  await release();
});

test("a place in the journal that could not be written is used by the next block", async (t) => {
  const folder = await temporaryFolder();
  const journal = openQuotaJournal(folder.path);
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
  await folder.release();
});

eachDatabase(
  "blocks whose grant was lost on its way come back, those that are still under way do not",
  async (database) => {
    const real = createQuotaStore(database);
    let isLost = true;
    let arrive: () => void = () => {};
    const store: QuotaStore = {
      ...real,
      async take(...wish) {
        const answer = await real.take(...wish);
        if (isLost) throw new AppError("store_unavailable", "The connection was cut");
        await new Promise<void>((resolve) => {
          arrive = resolve;
        });
        return answer;
      },
    };
    const { meters, clock, release } = await nodes(database, 1, { store });
    const [meter] = meters as [QuotaMeter];
    const blocks = async () => (await database.query("select * from quota_blocks")).length;
    const later = async () => {
      await database.query("update quota_blocks set expires_at = now() - interval '1 second'");
      await clock.advance(1_000);
      await meter.usage("nobody");
    };
    await assert.rejects(takeAll(meter, 1_000, 1), isUnavailable);
    assert.equal(await blocks(), 1);
    isLost = false;
    const taking = meter.take(ACCOUNT, 1_000);
    while ((await blocks()) < 2) await clock.settle();
    await later();
    assert.equal(await blocks(), 2);
    arrive();
    assert.ok((await taking).isAllowed);
    for (let again = 0; again < 3; again++) {
      await later();
      assert.equal(await blocks(), 1);
    }
    await meter.stop();
    assert.deepEqual((await store.usage(ACCOUNT.customerId)).used, { INSIGHT: 1 });
    await release();
  },
);

eachDatabase(
  "a journal settles its own node's blocks, and none for less than the store has heard",
  async (database) => {
    const { meters, store, idOf, reopen, release } = await nodes(database, 2);
    const [first, other] = meters as [QuotaMeter, QuotaMeter];
    assert.equal((await takeAll(first, 1_000, 20)).length, 20);
    assert.equal((await takeAll(other, 1_000, 20)).length, 20);
    for (const meter of meters) await meter.usage(ACCOUNT.customerId);
    const blocks = await database.query<{ block_id: number }>("select block_id from quota_blocks");
    // As a power cut may leave it, and as another store's would read: both blocks, with fewer units than were spent.
    const recovered = blocks.map(({ block_id: blockId }) => ({ blockId, spent: 5 }));
    await store.giveBackOfDead(idOf(0), recovered);
    assert.equal((await database.query("select * from quota_blocks")).length, 1);
    assert.deepEqual((await store.usage(ACCOUNT.customerId)).used, { INSIGHT: 40 });
    const back = await reopen(0);
    assert.equal((await takeAll(back, 1_000)).length + (await takeAll(other, 1_000)).length, 960);
    for (const meter of [back, other]) await meter.stop();
    await release();
  },
);

eachDatabase("usage is exact while blocks are in use, and remaining is what then passes", async (database) => {
  const { meters, release } = await nodes(database, 1);
  const [meter] = meters as [QuotaMeter];
  await takeAll(meter, 300, 41);
  assert.deepEqual((await meter.usage(ACCOUNT.customerId)).used, { LISTING: 0, INSIGHT: 41, STRATEGY: 0, DEEP: 0 });
  const decision = await meter.take(ACCOUNT, 300);
  assert.ok(decision.isAllowed);
  assert.equal((await takeAll(meter, 300)).length, decision.remaining);
  await meter.stop();
  await release();
});

eachDatabase("months and customers and tiers do not share; last month's use counts for nothing", async (database) => {
  const { meters, release } = await nodes(database, 1);
  const [meter] = meters as [QuotaMeter];
  await database.query(
    `insert into quota_months values ('cus-a', (date_trunc('month', now() at time zone 'utc') - interval '1 month')::date, 'INSIGHT', 5, 1)`,
  );
  assert.equal((await takeAll(meter, 5)).length, 5);
  assert.ok((await meter.take({ ...ACCOUNT, tier: "DEEP" }, 1)).isAllowed);
  assert.ok((await meter.take({ ...ACCOUNT, customerId: "cus-b" }, 1)).isAllowed);
  assert.equal((await meter.take({ ...ACCOUNT, customerId: "cus-c" }, 0)).isAllowed, false);
  await meter.stop();
  await release();
});

eachDatabase("when the month ends the block in use ends with it", async (database) => {
  const { meters, clock, release } = await nodes(database, 1);
  const [meter] = meters as [QuotaMeter];
  const first = await meter.take(ACCOUNT, 1_000);
  assert.ok(first.isAllowed && first.resetsInMs > 0 && first.resetsInMs <= 31 * 86_400_000);
  await clock.advance(first.resetsInMs);
  const second = await meter.take(ACCOUNT, 1_000);
  assert.ok(second.isAllowed && second.receipt.block !== first.receipt.block);
  await meter.stop();
  await release();
});

test("any order of taking, giving back, kills and upkeep on three nodes leaves used = kept, and never above the limit", async () => {
  const database = await embeddedDatabase();
  const steps = fc.array(
    fc.record({
      node: fc.nat(2),
      what: fc.constantFrom("take", "take", "take", "release", "pause", "kill"),
      times: fc.integer({ min: 1, max: 60 }),
    }),
    { minLength: 1, maxLength: 15 },
  );
  await fc.assert(
    fc.asyncProperty(steps, fc.integer({ min: 0, max: 400 }), async (todo, limit) => {
      await database.query("truncate quota_months, quota_blocks");
      const { clock, meters, store, reopen, release } = await nodes(database, 3);
      const kept: { receipt: QuotaReceipt; meter: QuotaMeter }[] = [];
      let given = 0;
      for (const { node, what, times } of todo) {
        const meter = meters[node] as QuotaMeter;
        if (what === "take") {
          for (const receipt of await takeAll(meter, limit, times)) kept.push({ receipt, meter });
        } else if (what === "release") {
          for (const entry of kept.splice(0, times)) {
            if (meters.includes(entry.meter)) entry.meter.release(entry.receipt);
            else given += 1;
          }
        } else if (what === "pause") {
          await clock.advance(times * 100);
          await meter.usage(ACCOUNT.customerId);
        } else {
          // What was given back a moment before the kill and is on its way to the store may be lost.
          await meter.usage(ACCOUNT.customerId);
          meters[node] = await reopen(node);
        }
        assert.ok(kept.length + given <= limit);
      }
      for (const meter of meters) await meter.stop();
      assert.equal((await store.usage(ACCOUNT.customerId)).used.INSIGHT ?? 0, kept.length + given);
      await release();
    }),
    { numRuns: 15 },
  );
});
