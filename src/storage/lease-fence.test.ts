import assert from "node:assert/strict";
import { eachDatabase, onPostgres } from "../../test/support/databases.ts";
import { FakeClock } from "../../test/support/fake-clock.ts";
import { SAMPLE_AT, sampleEvent, sampleMarket } from "../../test/support/markets/market-samples.ts";
import { quietLog } from "../../test/support/quiet-log.ts";
import { sampleTick } from "../../test/support/storage-samples.ts";
import type { Database } from "../ports/database.ts";
import { type ChangeCursor, type CurrentQuote, createChangeStore } from "./change-store.ts";
import { fenceParameters, heldFencesSql } from "./lease-fence.ts";
import { createMarketStore } from "./market-store.ts";
import type { VenueFence } from "./model.ts";
import { createTickWriter } from "./tick-writer.ts";

const CURRENT_FENCE: VenueFence = { venue: "alpha", fence: 7 };
const OUTDATED_FENCE: VenueFence = { venue: "alpha", fence: 6 };

/** Inserts a lease of the venue alpha with fence 7 and creates the stores that check it. */
async function openStores(database: Database) {
  await database.query(
    "insert into leases (name, holder, fence, expires_at) values ('venue:alpha', 'me', 7, now() + interval '1 hour')",
  );
  const ticks = createTickWriter({ database, clock: new FakeClock(SAMPLE_AT), log: quietLog });
  return { store: createMarketStore(database), changes: createChangeStore(database), ticks };
}

const countRows = async (database: Database, table: string) => (await database.query(`select 1 from ${table}`)).length;

const createTick = (marketKey: number, fence?: VenueFence) => sampleTick(marketKey, SAMPLE_AT, { fence });

const createQuote = (marketKey: number, bid: number): CurrentQuote => ({
  marketKey,
  venue: "alpha",
  updatedAt: SAMPLE_AT + 5,
  quote: { ...sampleMarket("x").quote, bid, bidSize: 12.5 },
  activity: { volume24hUsd: 1.5, volumeTotalUsd: null, liquidityUsd: 0, openInterestUsd: null },
});

eachDatabase("the tick writer rejects and counts only ticks with an outdated fencing token", async (database) => {
  const { ticks } = await openStores(database);
  ticks.write(createTick(1, CURRENT_FENCE));
  ticks.write(createTick(2, OUTDATED_FENCE));
  ticks.write(createTick(3, { venue: "beta", fence: 7 }));
  ticks.write(createTick(4));
  await ticks.close();
  const rows = await database.query("select market_key from ticks order by 1");
  assert.deepEqual(rows, [{ market_key: 1 }, { market_key: 4 }]);
  assert.deepEqual(ticks.counters, { written: 2, dropped: 2, queued: 0 });
});

eachDatabase(
  "markets, events, quotes and status changes are written only with the current fencing token",
  async (database) => {
    const { store, changes } = await openStores(database);
    const writeAll = async (fence: VenueFence, title: string, bid: number) => {
      const keys = await store.upsertMarkets([sampleMarket("a", { listing: { title } })], [fence]);
      await store.upsertEvents([sampleEvent("E", { title })], [fence]);
      await changes.saveQuotes([createQuote(1, bid)], [fence]);
      const status = { marketKey: 1, from: "active", to: "closed", outcome: null, changedAt: SAMPLE_AT } as const;
      await store.recordStatusChange(status, fence);
      return keys;
    };
    const tables = ["markets", "events", "quotes", "status_changes"];
    assert.deepEqual(await writeAll(OUTDATED_FENCE, "never", 0.1), [null]);
    for (const table of tables) assert.equal(await countRows(database, table), 0, table);
    const [key] = await writeAll(CURRENT_FENCE, "first", 0.2);
    assert.equal(typeof key, "number");
    for (const table of tables) assert.equal(await countRows(database, table), 1, table);
    assert.deepEqual(await writeAll(OUTDATED_FENCE, "never", 0.1), [null]);
    const [row] = await database.query<{ title: string; bid: number; listing: string }>(
      "select title, bid, listing from markets, quotes, events",
    );
    assert.deepEqual([row?.title, row?.bid, JSON.parse(row?.listing ?? "{}").title], ["first", 200_000, "first"]);
  },
);

/** Waits until the server reports that a statement like `pattern` is blocked by a lock. */
async function waitUntilBlocked(database: Database, pattern: string): Promise<void> {
  const findBlocked = "select 1 from pg_stat_activity where wait_event_type = 'Lock' and query like $1";
  while ((await database.query(findBlocked, [pattern])).length === 0);
}

onPostgres("a takeover, but not a renewal, waits for a transaction with the old fence", async (database) => {
  await openStores(database);
  const takeOver = () =>
    database
      .query("update leases set fence = fence + 1, holder = 'you' where name = 'venue:alpha'")
      .then(() => "taken");
  let takeover: Promise<string> | null = null;
  await database.transaction(async (transaction) => {
    const rows = await transaction.query(heldFencesSql("$1", "$2"), fenceParameters([CURRENT_FENCE]));
    assert.equal(rows.length, 1);
    await database.query("update leases set expires_at = now() + interval '2 hours' where name = 'venue:alpha'");
    takeover = takeOver();
    await waitUntilBlocked(database, "update leases set fence%");
  });
  assert.equal(await takeover, "taken");
  const heldFences = await database.query(heldFencesSql("$1", "$2"), fenceParameters([CURRENT_FENCE]));
  assert.deepEqual(heldFences, []);
});

onPostgres("a write during a takeover waits for the takeover and is rejected", async (database) => {
  const { ticks } = await openStores(database);
  let pendingFlush: Promise<void> | null = null;
  await database.transaction(async (transaction) => {
    await transaction.query("update leases set fence = fence + 1 where name = 'venue:alpha'");
    ticks.write(createTick(1, CURRENT_FENCE));
    pendingFlush = ticks.flush();
    await waitUntilBlocked(database, "%insert into ticks%");
  });
  await pendingFlush;
  assert.deepEqual([ticks.counters, await countRows(database, "ticks")], [{ written: 0, dropped: 1, queued: 0 }, 0]);
  await ticks.close();
});

eachDatabase("a follower reads each change once, and each changed market with its current quote", async (database) => {
  const { store, changes } = await openStores(database);
  const startCursors = await changes.latestCursors(["alpha", "beta"]);
  await store.upsertEvents([sampleEvent("E")], [CURRENT_FENCE]);
  const keys = await store.upsertMarkets([sampleMarket("a"), sampleMarket("b")], [CURRENT_FENCE]);
  const [a = 0, b = 0] = keys.map((key) => key ?? 0);
  await changes.saveQuotes([createQuote(a, 0.2)], [CURRENT_FENCE]);
  const firstRead = await changes.read(startCursors, 0);
  assert.deepEqual(firstRead.events, [sampleEvent("E")]);
  const bids = new Map(firstRead.markets.map(({ key, snapshot }) => [key, snapshot.quote.bid]));
  assert.deepEqual([firstRead.markets.length, bids.get(a), bids.get(b)], [2, 0.2, 0.4]);
  const { quote: storedQuote, activity } = createQuote(a, 0.2);
  assert.deepEqual(firstRead.quotes, [
    { venue: "alpha", marketId: "a", quote: { ...storedQuote, receivedAt: SAMPLE_AT + 5 }, activity },
  ]);
  assert.equal(firstRead.hasMore, false);
  const secondRead = await changes.read(firstRead.cursors, 0);
  assert.deepEqual([secondRead.events, secondRead.markets, secondRead.quotes], [[], [], []]);
  await store.upsertEvents([sampleEvent("E")], [CURRENT_FENCE]);
  await changes.saveQuotes([createQuote(b, 0.3)], [CURRENT_FENCE]);
  const thirdRead = await changes.read(secondRead.cursors, 0);
  const changedIds = thirdRead.quotes.map(({ marketId }) => marketId);
  assert.deepEqual([thirdRead.events, changedIds], [[], ["b"]], "an unchanged event is not a change");
  await store.upsertMarkets([sampleMarket("b", { quote: { bid: 0.35 } })], [CURRENT_FENCE]);
  const fourthRead = await changes.read(thirdRead.cursors, 0);
  const snapshotBids = fourthRead.markets.map(({ snapshot }) => snapshot.quote.bid);
  assert.deepEqual(snapshotBids, [0.35], "the snapshot is newer than the quote");
});

eachDatabase("several reads return many changes without gaps or duplicates", async (database) => {
  const { store, changes } = await openStores(database);
  const snapshots = Array.from({ length: 4_500 }, (_, index) => sampleMarket(`m${index}`));
  await store.upsertMarkets(snapshots, [CURRENT_FENCE]);
  const seenMarketIds: string[] = [];
  let cursors: ReadonlyMap<string, ChangeCursor> = new Map([["alpha", { events: 0, markets: 0, quotes: 0 }]]);
  for (let hasMore = true, reads = 0; hasMore; reads++) {
    assert.ok(reads < 5);
    const changesRead = await changes.read(cursors, 0);
    seenMarketIds.push(...changesRead.markets.map(({ snapshot }) => snapshot.listing.marketId));
    ({ cursors, hasMore } = changesRead);
  }
  assert.deepEqual([seenMarketIds.length, new Set(seenMarketIds).size], [4_500, 4_500]);
});

eachDatabase("`loadAll` returns the quote of the table `quotes` if it is newer than the snapshot", async (database) => {
  const { store, changes } = await openStores(database);
  const [key] = await store.upsertMarkets([sampleMarket("a")], [CURRENT_FENCE]);
  await changes.saveQuotes([createQuote(key ?? 0, 0.2)], [CURRENT_FENCE]);
  const bids: (number | null)[] = [];
  for await (const page of store.loadAll()) bids.push(...page.map(({ snapshot }) => snapshot.quote.bid));
  assert.deepEqual(bids, [0.2]);
});
