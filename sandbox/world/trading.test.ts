import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../src/lib/durations.ts";
import { createWorld } from "./index.ts";
import { stepAtPrice } from "./price-bands.ts";
import { type BookState, type ListedMarket, SANDBOX_VENUES, type World } from "./types.ts";

const GENESIS = Date.UTC(2026, 10, 20);

const worlds = [1, 60].map((speed) => {
  const world = createWorld({ seed: 40 + speed, genesis: GENESIS, speed, marketCount: 60 });
  return { world, markets: SANDBOX_VENUES.flatMap((venue) => world.markets(venue, GENESIS)) };
});

/** Selects a world, one of its markets, and a time as a share of the market's life. */
const selection = fc.record({
  worldIndex: fc.nat(worlds.length - 1),
  marketNumber: fc.nat(10_000),
  lifeShare: fc.double({ min: 0, max: 1, noNaN: true }),
});

/** The selected market and a time from its opening until at most two hours after genesis. */
function pick(selected: { worldIndex: number; marketNumber: number; lifeShare: number }) {
  const { worldIndex, marketNumber, lifeShare } = selected;
  const { world, markets } = worlds[worldIndex] ?? { world: undefined, markets: [] };
  const market = markets[marketNumber % markets.length];
  if (world === undefined || market === undefined) throw new Error("expected a world with markets");
  const until = Math.min(market.finalizeAt, GENESIS + 2 * HOUR_MS);
  return { world, market, at: Math.round(market.openAt + lifeShare * (until - market.openAt)) };
}

const isOnGrid = (price: number, tick: number) => Math.abs(price / tick - Math.round(price / tick)) < 1e-6;
const cents = (amount: number) => Math.round(amount * 100);

test("a book is uncrossed, sorted best first and on the tick grid, and is empty if the market does not trade", () => {
  let quoted = 0;
  fc.assert(
    fc.property(selection, (selected) => {
      const { world, market, at } = pick(selected);
      const { bids, asks } = world.book(market, at);
      const isTrading = world.lifecycle(market, at).phase === "active" && market.mechanism === "clob";
      assert.equal(bids.length + asks.length > 0, isTrading);
      quoted += isTrading ? 1 : 0;
      const [bid, ask] = [bids[0], asks[0]];
      if (bid !== undefined && ask !== undefined) assert.ok(bid.price < ask.price);
      for (const [number, { price, size }] of [...bids.entries(), ...asks.entries()]) {
        assert.ok(price > 0 && price < 1 && isOnGrid(price, stepAtPrice(market.bands, price)), String(price));
        assert.ok(Number.isInteger(size) && size >= 1);
        assert.ok(number < 6);
      }
      assert.ok(bids.every(({ price }, number) => number === 0 || price < (bids[number - 1]?.price ?? 0)));
      assert.ok(asks.every(({ price }, number) => number === 0 || price > (asks[number - 1]?.price ?? 1)));
      const probability = world.probability(market, at);
      assert.ok(probability > 0 && probability < 1);
    }),
    { numRuns: 1_500 },
  );
  assert.ok(quoted > 300, String(quoted));
});

test("the sizes of all trades between two times add up exactly to the volume difference", () => {
  let traded = 0;
  fc.assert(
    fc.property(selection, fc.integer({ min: 1, max: 12 * HOUR_MS }), (selected, length) => {
      const { world, market, at } = pick(selected);
      const from = at - length;
      const trades = world.trades(market, from, at);
      const sum = trades.reduce((total, { size }) => total + size, 0);
      const difference =
        world.activity(market, at - 1).volumeContracts - world.activity(market, from - 1).volumeContracts;
      assert.equal(cents(sum), cents(difference));
      traded += trades.length;
    }),
    { numRuns: 2_000 },
  );
  assert.ok(traded > 300, String(traded));
});

test("trades are ordered, unique, within the requested range and on the tick grid; adjacent ranges concatenate", () => {
  fc.assert(
    fc.property(selection, fc.integer({ min: 2, max: HOUR_MS }), (selected, length) => {
      const { world, market, at } = pick(selected);
      const trades = world.trades(market, at - length, at);
      assert.ok(trades.every((trade, number) => number === 0 || trade.at >= (trades[number - 1]?.at ?? 0)));
      assert.equal(new Set(trades.map(({ id }) => id)).size, trades.length);
      for (const trade of trades) {
        assert.ok(trade.at >= at - length && trade.at < at);
        assert.ok(trade.size > 0 && trade.yesPrice > 0 && trade.yesPrice < 1);
        if (market.mechanism === "clob") assert.ok(isOnGrid(trade.yesPrice, stepAtPrice(market.bands, trade.yesPrice)));
      }
      const middle = at - Math.floor(length / 2);
      assert.deepEqual([...world.trades(market, at - length, middle), ...world.trades(market, middle, at)], trades);
    }),
    { numRuns: 300 },
  );
});

/** The market's last trades before a time: all trades of that last millisecond. */
function lastTrades(world: World, market: ListedMarket, before: number) {
  const trades = world.trades(market, before - 6 * HOUR_MS, before);
  const at = trades.at(-1)?.at;
  return trades.filter((trade) => trade.at === at);
}

const sizeAt = (levels: BookState["bids"], price: number) => levels.find((level) => level.price === price)?.size;

test("a trade sets the last price and change time of the book and removes the traded size", () => {
  let checked = 0;
  fc.assert(
    fc.property(selection, (selected) => {
      const { world, market, at: before } = pick(selected);
      const trades = lastTrades(world, market, before);
      const last = trades.at(-1);
      if (last === undefined || world.lifecycle(market, last.at).phase !== "active") return;
      const after = world.book(market, last.at);
      assert.deepEqual([after.lastPrice, after.changedAt], [last.yesPrice, last.at]);
      if (market.mechanism === "amm") return;
      const earlier = world.book(market, last.at - 1);
      if (Math.floor(earlier.version / 256) !== Math.floor(after.version / 256)) return;
      assert.ok(after.version > earlier.version);
      const side = last.takerSide === "yes" ? "asks" : "bids";
      if (trades.some(({ takerSide }) => takerSide !== last.takerSide)) return;
      const filled = trades.reduce((sum, { yesPrice, size }) => sum + (yesPrice === last.yesPrice ? size : 0), 0);
      const size = sizeAt(earlier[side], last.yesPrice);
      assert.ok(size !== undefined, "trades execute at quoted prices");
      const remaining = sizeAt(after[side], last.yesPrice);
      if (remaining === undefined) assert.equal(filled, size);
      else assert.equal(remaining, Math.max(1, size - filled));
      checked += 1;
    }),
    { numRuns: 1_000 },
  );
  assert.ok(checked > 30, String(checked));
});

test("a market has no trades while it is pending, paused or closed", () => {
  let paused = 0;
  for (const seed of [1, 2, 3]) {
    const world = createWorld({ seed, genesis: GENESIS, speed: 1, marketCount: 400 });
    for (const market of SANDBOX_VENUES.flatMap((venue) => world.markets(venue, GENESIS))) {
      assert.deepEqual(world.trades(market, market.determineAt, market.finalizeAt + DAY_MS), []);
      assert.deepEqual(world.trades(market, market.openAt - DAY_MS, market.openAt), []);
      for (let at = market.openAt; at < Math.min(market.closeAt, GENESIS); at += 5 * MINUTE_MS) {
        const { phase, since } = world.lifecycle(market, at);
        if (phase !== "paused") continue;
        assert.deepEqual(world.trades(market, since, since + 10 * MINUTE_MS), []);
        paused += 1;
        break;
      }
    }
  }
  assert.ok(paused > 5, String(paused));
});

test("each point of the price history equals the book and the volume at its time", () => {
  fc.assert(
    fc.property(selection, fc.constantFrom(MINUTE_MS, 5 * MINUTE_MS, HOUR_MS), (selected, intervalMs) => {
      const { world, market, at } = pick(selected);
      const points = world.priceHistory(market, at - 12 * intervalMs, at, intervalMs);
      for (const point of points) {
        assert.equal(point.at % intervalMs, 0);
        assert.ok(point.at > at - 12 * intervalMs && point.at <= at && point.at > market.openAt);
        const before = world.activity(market, point.at - intervalMs).volumeContracts;
        const volume = world.activity(market, point.at).volumeContracts - before;
        assert.equal(cents(point.volumeContracts), cents(volume));
        if (!["active", "paused"].includes(world.lifecycle(market, point.at).phase)) continue;
        const { bids, asks, lastPrice } = world.book(market, point.at);
        assert.deepEqual(
          [point.bid, point.ask, point.lastPrice],
          [bids[0]?.price ?? null, asks[0]?.price ?? null, lastPrice],
        );
      }
    }),
    { numRuns: 300 },
  );
});

test("nextChangeAt returns the time of the next book change", () => {
  let changed = 0;
  fc.assert(
    fc.property(selection, fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true }), (selected, share) => {
      const { world, market, at } = pick(selected);
      const next = world.nextChangeAt(market, at);
      assert.ok(next > at);
      if (next === Number.POSITIVE_INFINITY || world.lifecycle(market, at).phase !== "active") return;
      const between = Math.min(next - 1, Math.floor(at + share * (next - at)));
      assert.deepEqual(world.book(market, between), world.book(market, at));
      if (world.lifecycle(market, next).phase === "active") assert.equal(world.book(market, next).changedAt, next);
      changed += 1;
    }),
    { numRuns: 1_000 },
  );
  assert.ok(changed > 100, String(changed));
});

test("volumes never decrease, and the dollar volume differs by less than 15% from the dollar value of all trades", () => {
  let tradedUsd = 0;
  let reportedUsd = 0;
  for (const { world, markets } of worlds) {
    for (const market of markets.filter((_, number) => number % 6 === 0)) {
      const until = Math.min(market.finalizeAt, GENESIS + 10 * MINUTE_MS);
      let before = { volumeContracts: 0, volumeUsd: 0 };
      for (let step = 0; step <= 60; step++) {
        const at = Math.round(market.openAt + ((until - market.openAt) * step) / 60);
        const { volumeContracts, volumeUsd, volume24hUsd } = world.activity(market, at);
        assert.ok(volumeContracts >= before.volumeContracts && volumeUsd >= before.volumeUsd, market.question);
        assert.ok(volumeUsd <= volumeContracts && volume24hUsd >= 0 && volume24hUsd <= volumeUsd);
        before = { volumeContracts, volumeUsd };
      }
      for (const { size, yesPrice } of world.trades(market, market.openAt, until)) tradedUsd += size * yesPrice;
      reportedUsd += before.volumeUsd;
    }
  }
  assert.ok(tradedUsd > 0);
  assert.ok(Math.abs(reportedUsd / tradedUsd - 1) < 0.15, `reported ${reportedUsd}, traded ${tradedUsd}`);
});
