import assert from "node:assert/strict";
import { eachDatabase } from "../../test/support/databases.ts";
import { SAMPLE_AT, sampleChildren, sampleEvent, sampleMarket } from "../../test/support/markets/market-samples.ts";
import type { MarketListing, MarketSnapshot } from "../domain/market.ts";
import { DAY_MS } from "../lib/durations.ts";
import { createMarketStore } from "./market-store.ts";

const createSnapshot = (marketId: string, listing: Partial<MarketListing> = {}): MarketSnapshot =>
  sampleMarket(marketId, {
    listing: {
      eventId: "E",
      title: `Will ${marketId}?`,
      category: "Economics",
      rules: "Pays 1 if so.",
      closeAt: SAMPLE_AT + DAY_MS,
      takerFee: { kind: "quadratic", rate: 0.07, exponent: 1, rounding: { feeStep: 0.0001, balanceStep: 0.01 } },
      venueKeys: { series: "S" },
      ...listing,
    },
    quote: { lastPrice: null, eventAt: SAMPLE_AT },
    activity: { volume24hUsd: 12.5 },
  });

const titleOf = ({ snapshot }: { readonly snapshot: MarketSnapshot }) => snapshot.listing.title;

const collect = async <Item>(pages: AsyncIterable<readonly Item[]>) => {
  const items: Item[] = [];
  for await (const page of pages) items.push(...page);
  return items;
};

eachDatabase("`loadAll` returns markets as stored, and repeated writes do not change their keys", async (database) => {
  const store = createMarketStore(database);
  const unusualSnapshot = createSnapshot("b", {
    title: 'NUL \0, quote " \\ {}, \ud800',
    outcome: { kind: "void", value: null },
  });
  const keys = await store.upsertMarkets([createSnapshot("a"), unusualSnapshot]);
  const keysOfSecondWrite = await store.upsertMarkets([
    unusualSnapshot,
    createSnapshot("a", { title: "Changed?" }),
    createSnapshot("c"),
  ]);
  assert.deepEqual(keysOfSecondWrite.slice(0, 2), [keys[1], keys[0]]);
  const storedSnapshots = new Map((await collect(store.loadAll())).map((market) => [market.key, market.snapshot]));
  assert.equal(storedSnapshots.size, 3);
  assert.deepEqual(storedSnapshots.get(keys[1] ?? -1), unusualSnapshot);
  assert.equal(storedSnapshots.get(keys[0] ?? -1)?.listing.title, "Changed?");
});

eachDatabase("storing existing markets consumes no sequence values for keys", async (database) => {
  const store = createMarketStore(database);
  for (let round = 0; round < 5; round++) await store.upsertMarkets([createSnapshot("a"), createSnapshot("b")]);
  const [key] = await store.upsertMarkets([createSnapshot("c")]);
  assert.equal(key, 3);
});

eachDatabase("stores the last entry per market; omits unstorable ids and returns null for them", async (database) => {
  const store = createMarketStore(database);
  const keys = await store.upsertMarkets([
    createSnapshot("a"),
    createSnapshot("a", { title: "Later?" }),
    createSnapshot("x\0y"),
    createSnapshot("z", { closeAt: 1e300 }),
  ]);
  assert.equal(keys[0], keys[1]);
  assert.equal(keys[2], null);
  assert.deepEqual((await collect(store.loadAll())).map(titleOf).sort(), ["Later?", "Will z?"]);
});

eachDatabase("does not load markets that were finalized before the given time", async (database) => {
  const store = createMarketStore(database);
  await store.upsertMarkets([
    createSnapshot("open"),
    createSnapshot("done", { status: "finalized", outcome: { kind: "yes" } }),
  ]);
  assert.equal((await collect(store.loadAll())).length, 2);
  const recentMarkets = await collect(store.loadAll({ finalizedSinceMs: SAMPLE_AT + 1 }));
  assert.deepEqual(recentMarkets.map(titleOf), ["Will open?"]);
});

eachDatabase("skips a stored row that this version cannot read", async (database) => {
  const store = createMarketStore(database);
  await store.upsertMarkets([createSnapshot("a"), createSnapshot("b")]);
  await database.query(`update markets set snapshot = '{"listing": {"venue": 5}}' where market_id = 'a'`);
  assert.equal((await collect(store.loadAll())).length, 1);
});

eachDatabase("`loadEvents` returns the latest version of each event", async (database) => {
  const store = createMarketStore(database);
  const children = sampleChildren(3, { settled_no: 2, unreadable: 1 });
  await store.upsertEvents([sampleEvent("E"), sampleEvent("F")]);
  await store.upsertEvents([{ ...sampleEvent("E"), featured: true, children }]);
  assert.deepEqual(await collect(store.loadEvents()), [
    { ...sampleEvent("E"), featured: true, children },
    sampleEvent("F"),
  ]);
});

eachDatabase("stores a repeated trade once, and no trade without a valid size", async (database) => {
  const store = createMarketStore(database);
  const createTrade = (tradeId: string, executedAt: number, fields = {}) => ({
    marketKey: 1,
    trade: { tradeId, executedAt, yesPrice: 0.25, size: 8, takerSide: "no" as const, ...fields },
  });
  const trades = [createTrade("a", SAMPLE_AT - 1), createTrade("b", SAMPLE_AT - 2)];
  assert.equal(await store.insertTrades([...trades, createTrade("b", SAMPLE_AT - 2)]), 2);
  assert.equal(await store.insertTrades([...trades, createTrade("old", SAMPLE_AT - DAY_MS - 1)]), 1);
  assert.equal(await store.insertTrades([createTrade("bad", SAMPLE_AT, { size: Number.NaN })]), 0);
  assert.deepEqual(
    (await store.listTrades(1, null, 9)).map(({ tradeId }) => tradeId),
    ["a", "b", "old"],
  );
});

eachDatabase("of several versions of a trade, stores the largest, in either order", async (database) => {
  const store = createMarketStore(database);
  const createTrade = (tradeId: string, size: number, yesPrice: number) => ({
    marketKey: 1,
    trade: { tradeId, executedAt: SAMPLE_AT - 1, yesPrice, size, takerSide: "yes" as const },
  });
  const [part, whole] = [createTrade("a", 75, 0.44), createTrade("a", 100, 0.445)];
  assert.equal(await store.insertTrades([part]), 1);
  assert.equal(await store.insertTrades([whole]), 0);
  assert.equal(await store.insertTrades([part]), 0);
  assert.equal(await store.insertTrades([createTrade("b", 1, 0.5), createTrade("b", 2, 0.25)]), 1);
  const sizes = (await store.listTrades(1, null, 9)).map(({ yesPrice, size }) => [yesPrice, size]);
  assert.deepEqual(sizes, [
    [0.25, 2],
    [0.445, 100],
  ]);
});

eachDatabase("stores a repeated status change with its outcome once", async (database) => {
  const store = createMarketStore(database);
  const change = {
    marketKey: 1,
    from: "closed",
    to: "finalized",
    outcome: { kind: "partial", value: 0.5 },
    changedAt: SAMPLE_AT,
  } as const;
  await store.recordStatusChange(change);
  await store.recordStatusChange(change);
  const rows = await database.query("select from_status, to_status, outcome from status_changes");
  assert.deepEqual(rows, [{ from_status: "closed", to_status: "finalized", outcome: { kind: "partial", value: 0.5 } }]);
});

eachDatabase("lists trades newest first, by id within one time, and continues after any position", async (database) => {
  const store = createMarketStore(database);
  const trades = ["b", "a", "Z", "é", "0"].flatMap((id, index) =>
    [0, 1].map((second) => ({
      tradeId: `${id}${second}`,
      executedAt: SAMPLE_AT + second * 1_000 + 123,
      yesPrice: 0.25,
      size: index + 0.5,
      takerSide: index === 0 ? null : ("no" as const),
    })),
  );
  await store.insertTrades(trades.map((trade) => ({ marketKey: 1, trade })));
  await store.insertTrades([{ marketKey: 2, trade: { ...trades[0], tradeId: "other" } as (typeof trades)[number] }]);
  const byBytes = (a: string, b: string) => Buffer.compare(Buffer.from(b), Buffer.from(a));
  const expected = trades.toSorted((a, b) => b.executedAt - a.executedAt || byBytes(a.tradeId, b.tradeId));
  assert.deepEqual(await store.listTrades(1, null, 100), expected);
  for (const [index, { executedAt, tradeId }] of expected.entries()) {
    const after = { executedAt, tradeId };
    assert.deepEqual(await store.listTrades(1, after, 3), expected.slice(index + 1, index + 4));
  }
  assert.deepEqual(await store.listTrades(3, null, 10), []);
});
