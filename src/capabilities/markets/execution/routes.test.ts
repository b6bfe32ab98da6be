import assert from "node:assert/strict";
import { test } from "node:test";
import { FakeClock } from "../../../../test/support/fake-clock.ts";
import { describeErrors } from "../../../../test/support/markets/market-api.ts";
import { SAMPLE_AT, type SampleParts, sampleMarket } from "../../../../test/support/markets/market-samples.ts";
import { testServer, VALID_KEY } from "../../../../test/support/test-app.ts";
import { MarketBoard } from "../../../board/index.ts";
import { AppError } from "../../../domain/errors.ts";
import type { BookLevel, OrderBook } from "../../../domain/order-book.ts";
import { HOUR_MS } from "../../../lib/durations.ts";
import type { QuoteTicks } from "../../../storage/index.ts";
import { createResolutionService } from "../resolution/index.ts";
import { executionRoutes } from "./routes.ts";
import { createExecutionService, type ExecutionDependencies } from "./service.ts";

const NOW = SAMPLE_AT + HOUR_MS;
const URL_OF_MARKET = "/v1/markets/alpha/m/execution";

const createBook = (bids: readonly BookLevel[], asks: readonly BookLevel[]): OrderBook => ({
  bids,
  asks,
  lastPrice: null,
  eventAt: null,
  receivedAt: NOW,
});
const BOOK = createBook(
  [
    { price: 0.4, size: 300 },
    { price: 0.39, size: 500 },
  ],
  [
    { price: 0.44, size: 100 },
    { price: 0.45, size: 1_000 },
  ],
);
/** Two days of quotes: 36 hours at two cents, then 12 hours at four cents. */
const TICKS: QuoteTicks = {
  ticks: [
    { at: NOW - 60 * HOUR_MS, bid: 0.4, ask: 0.42 },
    { at: NOW - 12 * HOUR_MS, bid: 0.4, ask: 0.44 },
  ],
  tickCount: 1,
};

/** Opens the route with a market "m" on the venue alpha, a book and stored quotes. */
async function openExecutionApi(ports: Partial<ExecutionDependencies> = {}, parts: SampleParts = {}) {
  const clock = new FakeClock(NOW);
  const board = new MarketBoard(() => clock.now());
  board.restore(sampleMarket("m", { activity: { volume24hUsd: 999 }, ...parts }), 7);
  const { app } = await testServer();
  const getMarket: ExecutionDependencies["getMarket"] = async (venue, marketId) => {
    const market = board.find(venue, marketId);
    if (market === null) throw new AppError("market_not_found", "There is no such market on this venue");
    return market;
  };
  const service = createExecutionService({
    clock,
    getMarket,
    readBook: async () => BOOK,
    readQuoteTicks: async () => TICKS,
    nextKeyDate: createResolutionService({ board, clock, getMarket }).nextKeyDate,
    ...ports,
  });
  executionRoutes(app, service, { trading: ["alpha", "beta"], all: ["alpha", "beta", "gamma"] });
  const get = (url = URL_OF_MARKET) =>
    app.inject({ method: "GET", url, headers: { authorization: `Bearer ${VALID_KEY}` } });
  return { app, get };
}

const UNKNOWN_PRICES = {
  current_bid: null,
  current_ask: null,
  current_spread: null,
  spread_percentile: null,
  liquidity_score: null,
  estimated_slippage_pct: null,
  recommendation: "WAIT",
  suggested_limit_price: null,
};

/** Asserts the given fields of a 200 response. */
async function assertFields(
  api: { get: (url?: string) => Promise<{ statusCode: number; json(): unknown }> },
  expected: object,
) {
  const response = await api.get();
  assert.equal(response.statusCode, 200);
  const body = response.json() as Record<string, unknown>;
  assert.deepEqual(Object.fromEntries(Object.keys(expected).map((name) => [name, body[name]])), expected);
  return body;
}

test("200: describes the book, the spread of two days, the slippage and the next date", async () => {
  const periods: unknown[] = [];
  const { get } = await openExecutionApi(
    {
      readQuoteTicks: async (key, { fromMs, toMs }) => {
        periods.push([key, fromMs, toMs]);
        return TICKS;
      },
    },
    {
      listing: { closeAt: NOW + 90 * 60_000, expectedResolutionAt: NOW + 5 * HOUR_MS },
      activity: { volume24hUsd: 999 },
    },
  );
  const response = await get();
  assert.equal(response.statusCode, 200);
  assert.deepEqual(response.json(), {
    market_id: "m",
    platform: "alpha",
    title: "Question m",
    current_bid: 0.4,
    current_ask: 0.44,
    current_spread: 0.04,
    avg_spread_48h: 0.025,
    spread_percentile: 87.5,
    spread_trend: "widening",
    liquidity_score: 55,
    // $44 buy 100 contracts at 0.44, and $56 buy 124.4 contracts at 0.45: a mean price of 0.44555.
    estimated_slippage_pct: 1.2601,
    recommendation: "LIMIT_ORDER",
    suggested_limit_price: 0.43,
    rationale:
      "The spread is 0.04 (bid 0.4, ask 0.44). The mean of the last 48 h is 0.025; the current spread is at percentile 87.5 of it. The trend is widening. A market order of $100 for YES or NO pays up to 1.2601% more than the best price. A limit order to buy YES at 0.43 avoids paying the spread. Next event: Trading closes in 1.5 h.",
    buy_yes: {
      limit_price: 0.43,
      contracts: 224,
      average_price: 0.445535714286,
      worst_price: 0.45,
      slippage_pct: 1.2581,
      fee_usd: null,
    },
    buy_no: {
      limit_price: 0.59,
      contracts: 166,
      average_price: 0.6,
      worst_price: 0.6,
      slippage_pct: 0,
      fee_usd: null,
    },
    sell_yes: {
      limit_price: 0.41,
      contracts: 250,
      average_price: 0.4,
      worst_price: 0.4,
      slippage_pct: 0,
      fee_usd: null,
    },
    sell_no: {
      limit_price: 0.57,
      contracts: 180,
      average_price: 0.555555555556,
      worst_price: 0.55,
      slippage_pct: 0.7937,
      fee_usd: null,
    },
    upcoming_event: "Trading closes",
    hours_to_event: 1.5,
    tick_count: 1,
    reference_size_usd: 100,
    generated_at: new Date(NOW).toISOString(),
  });
  assert.deepEqual(periods, [[7, NOW - 48 * HOUR_MS, NOW]]);
});

test("200: `size_usd` sets the size of the slippage; null if a side of the book cannot fill it", async () => {
  const { get } = await openExecutionApi();
  const slippage = async (size: number) =>
    (await get(`${URL_OF_MARKET}?size_usd=${size}`)).json().estimated_slippage_pct;
  assert.equal(await slippage(44), 0);
  // Buying NO with $280 takes 300 contracts at 0.6 and 163.9 at 0.61, buying YES takes more than one level, too.
  assert.ok((await slippage(280)) > 1);
  assert.equal(await slippage(486), null);
  assert.equal((await get(`${URL_OF_MARKET}?size_usd=486`)).json().reference_size_usd, 486);
});

test("200: an empty, one-sided or crossed book gives WAIT, and null for every unknown price", async () => {
  const bids = [{ price: 0.4, size: 10 }];
  const asks = [{ price: 0.44, size: 10 }];
  const { current_bid: _bid, current_ask: _ask, ...others } = UNKNOWN_PRICES;
  const empty = await assertFields(
    await openExecutionApi({ readBook: async () => createBook([], []) }),
    UNKNOWN_PRICES,
  );
  assert.match(String(empty.rationale), /^The order book is empty/);
  const oneSided = { ...others, avg_spread_48h: 0.025, spread_trend: "widening" };
  const withoutAsks = await assertFields(await openExecutionApi({ readBook: async () => createBook(bids, []) }), {
    ...oneSided,
    current_bid: 0.4,
    current_ask: null,
  });
  assert.match(String(withoutAsks.rationale), /^The order book has no asks/);
  const withoutBids = await assertFields(await openExecutionApi({ readBook: async () => createBook([], asks) }), {
    ...oneSided,
    current_bid: null,
    current_ask: 0.44,
  });
  assert.match(String(withoutBids.rationale), /^The order book has no bids/);
  const crossed = await assertFields(
    await openExecutionApi({ readBook: async () => createBook(asks, bids) }),
    UNKNOWN_PRICES,
  );
  assert.match(String(crossed.rationale), /^The order book is inconsistent/);
});

test("200: a market without an order book gives WAIT", async () => {
  const body = await assertFields(await openExecutionApi({ readBook: async () => null }), UNKNOWN_PRICES);
  assert.match(String(body.rationale), /no order book/);
});

test("200: a market that accepts no orders gives WAIT without asking the venue", async () => {
  const readBook = () => Promise.reject(new Error("the venue was asked"));
  for (const [listing, reason] of [
    [{ status: "closed" }, /^The market is closed and/],
    [{ status: "determined" }, /^The market is determined and/],
    [{ status: "finalized" }, /^The market is finalized and/],
    [{ status: "pending" }, /^The market is pending and/],
    [{ paused: true }, /^The venue currently accepts no orders/],
  ] as const) {
    const { rationale } = await assertFields(await openExecutionApi({ readBook }, { listing }), UNKNOWN_PRICES);
    assert.match(String(rationale), reason);
  }
});

test("200: a market without stored quotes, and one that opened a minute ago, have no percentile and no trend", async () => {
  const noHistory = { spread_percentile: null, spread_trend: null, suggested_limit_price: 0.42 };
  const withTicks = (ticks: QuoteTicks) => openExecutionApi({ readQuoteTicks: async () => ticks });
  await assertFields(await withTicks({ ticks: [], tickCount: 0 }), {
    ...noHistory,
    avg_spread_48h: null,
    tick_count: 0,
  });
  const opened = { ticks: [{ at: NOW - 60_000, bid: 0.4, ask: 0.43 }], tickCount: 1 };
  await assertFields(await withTicks(opened), { ...noHistory, avg_spread_48h: 0.03, tick_count: 1 });
});

test("200: the trend compares the last 12 hours with the 36 hours before", async () => {
  const ticks = [
    { at: NOW - 60 * HOUR_MS, bid: 0.4, ask: 0.42 },
    { at: NOW - 14 * HOUR_MS, bid: 0.4, ask: 0.44 },
    { at: NOW - 12 * HOUR_MS, bid: 0.4, ask: 0.42 },
  ];
  const api = await openExecutionApi({ readQuoteTicks: async () => ({ ticks, tickCount: 2 }) });
  await assertFields(api, { spread_trend: "stable" });
});

test("200: a volume of 0 is known, and an impossible volume is unknown", async () => {
  const withVolume = (volume24hUsd: number) => openExecutionApi({}, { activity: { volume24hUsd } });
  await assertFields(await withVolume(0), { liquidity_score: 30 });
  for (const impossible of [-1, Infinity, Number.NaN])
    await assertFields(await withVolume(impossible), { liquidity_score: null });
});

test("200: one-sided quotes are counted but are not part of the spread history", async () => {
  const ticks = [{ at: NOW - HOUR_MS, bid: 0.4, ask: null }];
  const api = await openExecutionApi({ readQuoteTicks: async () => ({ ticks, tickCount: 1 }) });
  const { rationale } = await assertFields(api, { tick_count: 1, avg_spread_48h: null });
  assert.match(String(rationale), /No quote with both sides is stored/);
});

test("200: a market that is not stored yet has no quotes, and unknown volume, tick and dates are null", async () => {
  const board = new MarketBoard(() => NOW);
  const { market } = board.apply(sampleMarket("m", { listing: { priceRanges: null } }), NOW);
  const api = await openExecutionApi({
    getMarket: async () => market,
    readQuoteTicks: () => Promise.reject(new Error("a market without a key was read")),
  });
  await assertFields(api, {
    tick_count: 0,
    avg_spread_48h: null,
    liquidity_score: null,
    suggested_limit_price: null,
    upcoming_event: null,
    hours_to_event: null,
    recommendation: "LIMIT_ORDER",
  });
});

test("200: the next date is the earliest date in the future; a past date is not shown", async () => {
  const listing = { closeAt: NOW, expectedResolutionAt: NOW + 48 * HOUR_MS };
  await assertFields(await openExecutionApi({}, { listing }), {
    upcoming_event: "Resolution expected by the venue",
    hours_to_event: 48,
  });
  await assertFields(await openExecutionApi({}, { listing: { closeAt: NOW + HOUR_MS / 4 } }), { hours_to_event: 0.25 });
});

test("422: rejects an unknown venue and sizes outside 1 to 1,000,000", async () => {
  const { get } = await openExecutionApi();
  const cases: Readonly<Record<string, string>> = {
    "/v1/markets/gamma/m/execution": "literal_error at path.platform",
    [`${URL_OF_MARKET}?size_usd=0.99`]: "greater_than_equal at query.size_usd",
    [`${URL_OF_MARKET}?size_usd=1000001`]: "less_than_equal at query.size_usd",
    [`${URL_OF_MARKET}?size_usd=nan`]: "less_than_equal at query.size_usd",
    [`${URL_OF_MARKET}?size_usd=all`]: "float_parsing at query.size_usd",
  };
  for (const [url, expected] of Object.entries(cases))
    assert.deepEqual(describeErrors(await get(url)), [expected], url);
});
