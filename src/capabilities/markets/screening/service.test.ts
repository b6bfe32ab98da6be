import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { FakeClock } from "../../../../test/support/fake-clock.ts";
import {
  SAMPLE_AT,
  type SampleParts,
  sampleEvent,
  sampleMarket,
} from "../../../../test/support/markets/market-samples.ts";
import { MarketBoard, priceChange24h } from "../../../board/index.ts";
import { HOUR_MS } from "../../../lib/durations.ts";
import { screenScore, timeIndependentScreenScore } from "../../../quant/screen-score.ts";
import type { LastHour } from "../../../storage/index.ts";
import type { ScreenRequest } from "./model.ts";
import { createScreeningService } from "./service.ts";

const EVERYTHING: ScreenRequest = {
  markets: null,
  venues: ["alpha", "beta"],
  category: null,
  text: null,
  limit: 200,
  minVolume24h: null,
  minLiquidity: null,
  maxSpread: null,
  minScore: null,
  minHoursToResolution: null,
  maxHoursToResolution: null,
};

function openScreening(lastHours: Readonly<Record<string, LastHour>> = {}) {
  const clock = new FakeClock(SAMPLE_AT);
  const board = new MarketBoard(() => clock.now());
  const service = createScreeningService({
    board,
    clock,
    estimateOf: () => null,
    findLastHour: ({ listing }) => lastHours[listing.marketId] ?? null,
  });
  const add = (id: string, parts: SampleParts = {}) => board.apply(sampleMarket(id, parts), clock.now()).market;
  const screenIds = (request: Partial<ScreenRequest> = {}) =>
    service.screen({ ...EVERYTHING, ...request }).map(({ market_id }) => market_id);
  return { clock, board, service, add, screenIds };
}

test("returns the highest scores in descending order, equal to the formula applied to every market", () => {
  const usd = fc.option(fc.integer({ min: 0, max: 1_000_000 }), { nil: null });
  const market = fc.record({
    volume24hUsd: usd,
    liquidityUsd: usd,
    bid: fc.option(fc.integer({ min: 1, max: 40 }), { nil: null }),
    hours: fc.option(fc.integer({ min: -10, max: 10_000 }), { nil: null }),
    dayAgo: fc.option(fc.integer({ min: 1, max: 99 }), { nil: null }),
  });
  fc.assert(
    fc.property(fc.array(market, { maxLength: 30 }), fc.integer({ min: 1, max: 10 }), (markets, limit) => {
      const { board, service, add } = openScreening();
      const scores = markets.map(({ volume24hUsd, liquidityUsd, bid, hours, dayAgo }, index) => {
        const added = add(`m${index}`, {
          listing: { expectedResolutionAt: hours === null ? null : SAMPLE_AT + hours * HOUR_MS },
          quote: { bid: bid === null ? null : bid / 100, ask: 0.42, lastPrice: 0.3 },
          activity: { volume24hUsd, liquidityUsd },
        });
        const changed = board.annotate(added, { priceDayAgo: dayAgo === null ? null : dayAgo / 100 });
        const spread = bid === null ? null : (42 - bid) / 100;
        const figures = { volume24hUsd, liquidityUsd, spread, priceChange24h: priceChange24h(changed) };
        return screenScore(timeIndependentScreenScore(figures), hours);
      });
      const expected = scores.toSorted((a, b) => b - a).slice(0, limit);
      const result = service.screen({ ...EVERYTHING, limit });
      assert.equal(result.length, expected.length);
      for (const [index, { score }] of result.entries()) assert.ok(Math.abs(score - (expected[index] ?? 0)) <= 5e-5);
    }),
  );
});

test("describes each market with its figures, and unknown ones as null", () => {
  const { board, add, service } = openScreening({
    known: { yesPriceBefore: 0.38, volumeUsd: 4_000 },
    calm: { yesPriceBefore: null, volumeUsd: 99 },
  });
  board.applyEvent(sampleEvent("E", { category: "Economics" }));
  const known = add("known", {
    listing: { eventId: "E", expectedResolutionAt: SAMPLE_AT + 36 * HOUR_MS, closeAt: SAMPLE_AT },
    activity: { volume24hUsd: 24_000, liquidityUsd: 10_000 },
  });
  board.annotate(known, { priceDayAgo: 0.45 });
  add("calm", { listing: { closeAt: SAMPLE_AT - HOUR_MS }, activity: { volume24hUsd: 100 } });
  add("unknown", { quote: { bid: null } });
  const figures = service
    .screen(EVERYTHING)
    .map((item) => [
      ...[item.market_id, item.category, item.trend, item.volume_spike, item.hours_to_resolution, item.bid_ask_spread],
      ...[item.price_velocity_1h, item.action],
    ]);
  assert.deepEqual(figures, [
    ["known", "Economics", "falling", true, 36, 0.02, 0.03, "analyze"],
    ["calm", null, null, false, null, 0.02, null, "skip"],
    ["unknown", null, null, null, null, null, null, "skip"],
  ]);
});

test("each threshold keeps a market whose figure equals the threshold, and omits a market whose figure is unknown", () => {
  const { board, add, screenIds } = openScreening();
  add("equal", {
    listing: { expectedResolutionAt: SAMPLE_AT + 10 * HOUR_MS },
    activity: { volume24hUsd: 500, liquidityUsd: 300 },
  });
  add("unknown", { quote: { bid: null } });
  add("overdue", { listing: { expectedResolutionAt: SAMPLE_AT - HOUR_MS }, quote: { ask: 0.49 } });
  const cases: readonly (readonly [Partial<ScreenRequest>, readonly string[]])[] = [
    [{ minVolume24h: 500 }, ["equal"]],
    [{ minVolume24h: 501 }, []],
    [{ minLiquidity: 300 }, ["equal"]],
    [{ minLiquidity: 301 }, []],
    [{ maxSpread: 0.02 }, ["equal"]],
    [{ maxSpread: 0.1 }, ["equal", "overdue"]],
    [{ minHoursToResolution: 0 }, ["equal"]],
    [{ minHoursToResolution: 10 }, ["equal"]],
    [{ minHoursToResolution: 10.1 }, []],
    [{ maxHoursToResolution: 10 }, ["equal"]],
    [{ maxHoursToResolution: 9.9 }, []],
    [{ minScore: 0.1 }, ["equal"]],
    [{ minScore: 1 }, []],
    [{ limit: 1 }, ["equal"]],
    [{}, ["equal", "overdue", "unknown"]],
  ];
  for (const [request, expected] of cases) assert.deepEqual(screenIds(request), expected, JSON.stringify(request));
  assert.equal(board.size, 3);
});

test("an empty or one-sided book and a market opened a minute ago have null figures; a resolved market is left out", () => {
  const { add, service } = openScreening();
  add("empty", { quote: { bid: null, ask: null } });
  add("one-sided", { quote: { ask: null } });
  add("new", { listing: { openAt: SAMPLE_AT - 60_000 } });
  for (const status of ["determined", "finalized"] as const) add(status, { listing: { status } });
  const figures = service.screen(EVERYTHING).map((item) => ({
    id: item.market_id,
    price: item.yes_price,
    spread: item.bid_ask_spread,
    unknown: [item.trend, item.volume_spike, item.price_velocity_1h],
  }));
  const unknown = [null, null, null];
  assert.deepEqual(figures, [
    { id: "new", price: 0.41, spread: 0.02, unknown },
    { id: "empty", price: 0.41, spread: null, unknown },
    { id: "one-sided", price: 0.41, spread: null, unknown },
  ]);
});

test("screens boards of more than a thousand markets", () => {
  const { add, screenIds } = openScreening();
  for (let index = 0; index < 2_500; index++) add(`m${index}`, { activity: { volume24hUsd: index } });
  assert.deepEqual(screenIds({ limit: 2 }), ["m2499", "m2498"]);
  assert.deepEqual(screenIds({ minVolume24h: 2_499 }), ["m2499"]);
});

test("an amount of 0 is known, and the time of an overdue resolution is unknown", () => {
  const { add, screenIds } = openScreening();
  add("m", {
    listing: { expectedResolutionAt: SAMPLE_AT - HOUR_MS },
    activity: { volume24hUsd: 0, liquidityUsd: 0.5 },
  });
  assert.deepEqual(screenIds({ minVolume24h: 0, minLiquidity: 0.5 }), ["m"]);
  assert.deepEqual(screenIds({ minHoursToResolution: 0 }), []);
  assert.deepEqual(screenIds({ maxHoursToResolution: 1 }), []);
});

test("filters by venue, category, text and market ids", () => {
  const { board, add, screenIds } = openScreening();
  board.applyEvent(sampleEvent("E", { title: "Weather in Oslo", category: "Weather" }));
  add("rain", { listing: { eventId: "E", title: "Rain tomorrow?" } });
  add("wind", { listing: { venue: "beta", title: "Wind tomorrow?", category: "weather" } });
  add("a/b", { listing: { title: "Other" } });
  assert.deepEqual(screenIds({ venues: ["beta"] }), ["wind"]);
  assert.deepEqual(screenIds({ category: "WEATHER" }), ["rain", "wind"]);
  assert.deepEqual(screenIds({ text: "oslo" }), ["rain"]);
  assert.deepEqual(screenIds({ text: "tomorrow", venues: ["alpha"] }), ["rain"]);
  const markets = [
    { venue: "alpha", marketId: "a/b" },
    { venue: "beta", marketId: "wind" },
    { venue: "beta", marketId: "rain" },
  ];
  assert.deepEqual(screenIds({ markets }), ["wind", "a/b"]);
  assert.deepEqual(screenIds({ markets, venues: ["alpha"] }), ["a/b"]);
  assert.deepEqual(screenIds({ markets: [] }), []);
});

test("screens only active markets that accept orders and have a price, and follows every change", () => {
  const { clock, board, add, screenIds } = openScreening();
  add("closed", { listing: { status: "closed" } });
  add("paused", { listing: { paused: true } });
  add("priceless", { quote: { bid: null, ask: null, lastPrice: null } });
  const market = add("m");
  assert.deepEqual(screenIds(), ["m"]);
  add("paused");
  add("m", { listing: { status: "finalized" } });
  assert.deepEqual(screenIds(), ["paused"]);
  board.remove(market);
  add("next", { activity: { volume24hUsd: 1_000 } });
  assert.deepEqual(screenIds(), ["next", "paused"]);
  board.applyQuote("alpha", "next", { bid: null, ask: null }, clock.now());
  assert.deepEqual(screenIds({ maxSpread: 1 }), ["paused"]);
});

test("the score changes with the time until the resolution, without any change of the market", async () => {
  const { clock, add, service } = openScreening();
  add("m", { listing: { expectedResolutionAt: SAMPLE_AT + 100 * HOUR_MS } });
  const scoreNow = () => service.screen(EVERYTHING)[0]?.score ?? Number.NaN;
  const before = scoreNow();
  await clock.advance(50 * HOUR_MS);
  assert.ok(scoreNow() > before);
  await clock.advance(60 * HOUR_MS);
  assert.ok(scoreNow() < before, "overdue");
});

test("an impossible amount from a venue counts as unknown, and its market is still listed", () => {
  const { add, screenIds } = openScreening();
  for (const [id, amount] of [
    ["negative", -5],
    ["infinite", Infinity],
    ["nan", Number.NaN],
  ] as const)
    add(id, { activity: { volume24hUsd: amount, liquidityUsd: amount } });
  assert.deepEqual(screenIds().sort(), ["infinite", "nan", "negative"]);
  assert.deepEqual(screenIds({ minVolume24h: 0 }), []);
  assert.deepEqual(screenIds({ minLiquidity: 0 }), []);
});

test("screens markets that were on the board before the service was created", () => {
  const board = new MarketBoard(() => SAMPLE_AT);
  board.apply(sampleMarket("m"), SAMPLE_AT);
  const clock = new FakeClock(SAMPLE_AT);
  const service = createScreeningService({ board, clock, findLastHour: () => null, estimateOf: () => null });
  assert.equal(service.screen(EVERYTHING).length, 1);
});
