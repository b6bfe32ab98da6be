import assert from "node:assert/strict";
import { test } from "node:test";
import { describeErrors, openMarketApi } from "../../../../test/support/markets/market-api.ts";
import { SAMPLE_AT, sampleMarket } from "../../../../test/support/markets/market-samples.ts";
import { sampleCandle } from "../../../../test/support/storage-samples.ts";
import { VenueError } from "../../../domain/errors.ts";
import type { OrderBook } from "../../../domain/order-book.ts";
import type { Trade } from "../../../domain/trade.ts";
import { encodeCursor, type Keyset, type ListingKey } from "../../../http/pagination.ts";
import { HOUR_MS } from "../../../lib/durations.ts";
import type { HistoryRange } from "../../../ports/venue.ts";
import type { TradePosition } from "../../../storage/index.ts";

const AT = new Date(SAMPLE_AT).toISOString();
const PATHS = ["orderbook", "trades", "history"] as const;
const timeout = () => new VenueError("timeout", "inner-host:443 did not answer", { retryable: true });

const BOOK: OrderBook = {
  bids: [
    { price: 0.4, size: 10 },
    { price: 0.4, size: 2.5 },
    { price: 0.39, size: 7 },
  ],
  asks: [{ price: 0.42, size: 1 }],
  lastPrice: 0.1,
  eventAt: SAMPLE_AT - 60_000,
  receivedAt: SAMPLE_AT - 1_000,
};

async function openApiWithBook(book: OrderBook | null, parts: Parameters<typeof sampleMarket>[1] = {}) {
  const api = await openMarketApi({
    books: { readOrLast: async () => ({ book, isStale: false }) },
    detailsOf: ({ marketId }) => ({ bookType: marketId === "pool" ? "amm" : "clob", ids: {} }),
  });
  api.board.apply(sampleMarket("m", parts), SAMPLE_AT);
  api.board.apply(sampleMarket("pool", parts), SAMPLE_AT);
  return api;
}

test("200: an order book has its levels best first, adds up levels of one price and is cut at the depth", async () => {
  const { get } = await openApiWithBook(BOOK);
  const reply = await get("/v1/markets/alpha/m/orderbook");
  assert.equal(reply.statusCode, 200);
  assert.deepEqual(reply.json(), {
    platform: "alpha",
    market_id: "m",
    book_type: "clob",
    bids: [
      { price: 0.4, size: 12.5 },
      { price: 0.39, size: 7 },
    ],
    asks: [{ price: 0.42, size: 1 }],
    // That of the board, which includes the trades of the stream.
    last_price: 0.41,
    updated_at: new Date(SAMPLE_AT - 1_000).toISOString(),
    stale: false,
  });
  assert.deepEqual((await get("/v1/markets/alpha/m/orderbook?depth=1")).json().bids, [{ price: 0.4, size: 12.5 }]);
});

test("200: an order book has at most 25 levels per side by default, and 200 on request", async () => {
  const levels = Array.from({ length: 250 }, (_, index) => ({ price: 0.9 - index / 1_000, size: 1 }));
  const { get } = await openApiWithBook({ ...BOOK, bids: levels });
  for (const [query, count] of [
    ["", 25],
    ["?depth=200", 200],
  ] as const)
    assert.equal((await get(`/v1/markets/alpha/m/orderbook${query}`)).json().bids.length, count);
});

test("200: one-sided and empty books, automated market makers, settled and unpriced markets have empty sides", async () => {
  const sidesOf = async (book: OrderBook | null, id: string, parts: Parameters<typeof sampleMarket>[1] = {}) => {
    const { get } = await openApiWithBook(book, parts);
    const { book_type, bids, asks, last_price, updated_at } = (await get(`/v1/markets/alpha/${id}/orderbook`)).json();
    return [book_type, bids.length, asks.length, last_price, updated_at];
  };
  const unpriced = { quote: { bid: 0.4, ask: null, lastPrice: null } };
  const receivedAt = new Date(BOOK.receivedAt).toISOString();
  assert.deepEqual(await sidesOf({ ...BOOK, asks: [], lastPrice: null }, "m", unpriced), [
    "clob",
    2,
    0,
    null,
    receivedAt,
  ]);
  assert.deepEqual(await sidesOf({ ...BOOK, bids: [] }, "m", unpriced), ["clob", 0, 1, BOOK.lastPrice, receivedAt]);
  assert.deepEqual(await sidesOf({ ...BOOK, bids: [], asks: [] }, "m"), ["clob", 0, 0, 0.41, receivedAt]);
  assert.deepEqual(await sidesOf(null, "pool"), ["amm", 0, 0, 0.41, AT]);
  assert.deepEqual(await sidesOf(null, "m", { listing: { status: "finalized" } }), ["clob", 0, 0, 0.41, AT]);
});

const trade = (tradeId: string, parts: Partial<Trade> = {}): Trade => ({
  tradeId,
  executedAt: SAMPLE_AT,
  yesPrice: 0.55,
  size: 10,
  takerSide: "yes",
  ...parts,
});

test("200: trades have the price of the YES contract and what the taker paid for the side", async () => {
  const { board, get } = await openMarketApi({
    trades: {
      read: async () => ({
        trades: [
          trade("a"),
          trade("b", { takerSide: "no", executedAt: SAMPLE_AT - 1 }),
          trade("c", { takerSide: null }),
          trade("d", { yesPrice: 0.001, size: 0.25 }),
        ],
        next: null,
      }),
    },
  });
  board.apply(sampleMarket("m", { quote: { bid: null, ask: null, lastPrice: null } }), SAMPLE_AT);
  const reply = await get("/v1/markets/alpha/m/trades");
  assert.deepEqual([reply.statusCode, reply.headers.link], [200, undefined]);
  const common = { executed_at: AT, yes_price: 0.55, size: 10 };
  assert.deepEqual(reply.json(), [
    { trade_id: "a", ...common, side: "yes", size_usd: 5.5 },
    { trade_id: "b", ...common, executed_at: new Date(SAMPLE_AT - 1).toISOString(), side: "no", size_usd: 4.5 },
    { trade_id: "c", ...common, side: null, size_usd: null },
    { trade_id: "d", ...common, yes_price: 0.001, size: 0.25, side: "yes", size_usd: 0.00025 },
  ]);
});

test("200: the Link header of trades continues after the last trade, and its cursor belongs to one market", async () => {
  const reads: (readonly [TradePosition | null, number])[] = [];
  const { board, get } = await openMarketApi({
    trades: {
      async read(_market, after, limit) {
        reads.push([after, limit]);
        return { trades: [], next: after === null ? { executedAt: SAMPLE_AT, tradeId: "0xab:yes" } : null };
      },
    },
  });
  for (const id of ["m", "n"]) board.apply(sampleMarket(id), SAMPLE_AT);
  const reply = await get("/v1/markets/alpha/m/trades?limit=500");
  const url = /^<([^>]+)>/.exec(String(reply.headers.link))?.[1] ?? "";
  assert.equal((await get(url)).headers.link, undefined);
  assert.equal((await get("/v1/markets/alpha/m/trades?cursor=")).statusCode, 200);
  assert.deepEqual(reads, [
    [null, 500],
    [{ executedAt: SAMPLE_AT, tradeId: "0xab:yes" }, 500],
    [null, 100],
  ]);
  assert.deepEqual(describeErrors(await get(url.replace("/m/", "/n/"))), ["value_error at query.cursor"]);
});

test("422: rejects a cursor of another venue, and a forged cursor that the store could not compare", async () => {
  const reads: (TradePosition | null)[] = [];
  const { board, get } = await openMarketApi({
    trades: {
      async read(_market, after) {
        reads.push(after);
        return { trades: [], next: null };
      },
    },
  });
  board.apply(sampleMarket("m"), SAMPLE_AT);
  const listing = { platform: "alpha", market_id: "m" };
  const read = (value: Keyset["value"], id: string, of: ListingKey = listing) =>
    get(`/v1/markets/alpha/m/trades?cursor=${encodeCursor({ value, id }, of)}`);
  assert.equal((await read(8.64e15, "t")).statusCode, 200);
  assert.equal((await read(0, "")).statusCode, 200);
  for (const [value, id] of [
    [1e300, "t"],
    [8.64e15 + 1, "t"],
    [-1, "t"],
    [0.5, "t"],
    [null, "t"],
    ["5", "t"],
    [5, "a\0b"],
  ] as const)
    assert.deepEqual(describeErrors(await read(value, id)), ["value_error at query.cursor"], `${value} ${id}`);
  assert.equal((await read(5, "t", { ...listing, platform: "beta" })).statusCode, 422);
  assert.equal(reads.length, 2);
});

test("200: a history by range is aligned to the interval, ends now at the latest, and has no period", async () => {
  const ranges: HistoryRange[] = [];
  const { board, get } = await openMarketApi({
    pastPrices: {
      async readRange(_market, range) {
        ranges.push(range);
        const points = [sampleCandle(range.fromMs, range.fromMs + range.intervalMs, 0.4)];
        return { period: null, intervalSeconds: range.intervalMs / 1_000, generatedAt: SAMPLE_AT, points };
      },
    },
  });
  board.apply(sampleMarket("m"), SAMPLE_AT);
  const get200 = async (query: string) => {
    const reply = await get(`/v1/markets/alpha/m/history?${query}`);
    assert.equal(reply.statusCode, 200, reply.body);
    return reply.json();
  };
  const body = await get200("from=2026-11-20T10:20:00Z&to=2026-11-20T12:00:00Z&interval=1h");
  assert.deepEqual(body, {
    platform: "alpha",
    market_id: "m",
    interval_seconds: 3_600,
    points: [
      {
        timestamp: "2026-11-20T10:00:00.000Z",
        yes_price: 0.4,
        bid: null,
        ask: null,
        volume: null,
        open: 0.4,
        high: 0.4,
        low: 0.4,
        close: 0.4,
      },
    ],
    generated_at: AT,
  });
  await get200("from=2026-11-20T11:00:00%2B01:00&to=2026-11-20T10:00:01Z&interval=1m");
  await get200("from=2026-11-20&interval=5m");
  await get200("from=2026-11-20&to=2027-01-01&interval=1d");
  const at = (hour: number, minute = 0) => Date.UTC(2026, 10, 20, hour, minute);
  assert.deepEqual(
    ranges.map(({ fromMs, toMs, intervalMs }) => [fromMs, toMs, intervalMs]),
    [
      [at(10), at(12), HOUR_MS],
      [at(10), at(10, 1), 60_000],
      [at(0), SAMPLE_AT, 300_000],
      [at(0), SAMPLE_AT, 24 * HOUR_MS],
    ],
  );
});

test("422: rejects each invalid parameter before the market is looked up", async () => {
  const { get } = await openMarketApi({ fetchMarket: () => Promise.reject(new Error("looked up")) });
  const cases: Readonly<Record<string, string>> = {
    "orderbook?depth=0": "greater_than_equal at query.depth",
    "orderbook?depth=201": "less_than_equal at query.depth",
    "orderbook?depth=deep": "int_parsing at query.depth",
    "trades?limit=0": "greater_than_equal at query.limit",
    "trades?limit=501": "less_than_equal at query.limit",
    "trades?cursor=x": "value_error at query.cursor",
    "history?interval=1h": "value_error at query.from",
    "history?from=2026-11-20": "value_error at query.interval",
    "history?to=2026-11-20": "value_error at query.interval",
    "history?from=2026-11-20&interval=2h": "literal_error at query.interval",
    "history?from=yesterday&interval=1h": "value_error at query.from",
    "history?from=2026-11-20&to=soon&interval=1h": "value_error at query.to",
    "history?from=2026-11-20&to=2026-11-20&interval=1h": "value_error at query.from",
    "history?from=2026-11-22&interval=1h": "value_error at query.from",
    "history?from=2026-11-20&interval=1h&period=7d": "value_error at query.period",
    "history?from=2026-11-20&interval=1h&max_points=20": "value_error at query.max_points",
    "history?from=2026-11-10&interval=5m": "value_error at query.interval",
    [`history?interval=1h&from=2026-11-20${"0".repeat(31)}`]: "string_too_long at query.from",
    [`history?interval=1h&from=2026-11-20&to=2026-11-20${"0".repeat(31)}`]: "string_too_long at query.to",
    [`trades?cursor=${"x".repeat(2_049)}`]: "string_too_long at query.cursor",
  };
  for (const [path, expected] of Object.entries(cases))
    assert.deepEqual(describeErrors(await get(`/v1/markets/alpha/m/${path}`)), [expected], path);
  for (const path of PATHS)
    assert.deepEqual(describeErrors(await get(`/v1/markets/gamma/m/${path}`)), ["literal_error at path.platform"]);
});

test("200: a history by range is shared for one second by requests of the same market, range and interval", async () => {
  let count = 0;
  const { board, clock, get } = await openMarketApi({
    pastPrices: {
      async readRange(_market, { intervalMs }) {
        count += 1;
        return { period: null, intervalSeconds: intervalMs / 1_000, generatedAt: SAMPLE_AT, points: [] };
      },
    },
  });
  for (const venue of ["alpha", "beta"])
    for (const id of ["m", "n"]) board.apply(sampleMarket(id, { listing: { venue } }), SAMPLE_AT);
  const paths = [
    "alpha/m/history?from=2026-11-20&to=2026-11-21&interval=1h",
    "alpha/m/history?from=2026-11-19&to=2026-11-21&interval=1h",
    "alpha/m/history?from=2026-11-19&to=2026-11-20&interval=1h",
    "alpha/m/history?from=2026-11-20&to=2026-11-21&interval=1d",
    "alpha/n/history?from=2026-11-20&to=2026-11-21&interval=1h",
    "beta/m/history?from=2026-11-20&to=2026-11-21&interval=1h",
  ];
  for (const path of [...paths, ...paths]) await get(`/v1/markets/${path}`);
  assert.equal(count, paths.length);
  await clock.advance(1_000);
  await get(`/v1/markets/${paths[0]}`);
  assert.equal(count, paths.length + 1);
});

test("200: the history of a range that lies in the future is empty", async () => {
  const ranges: HistoryRange[] = [];
  const { board, get } = await openMarketApi({
    pastPrices: {
      async readRange(_market, range) {
        ranges.push(range);
        return { period: null, intervalSeconds: 3_600, generatedAt: SAMPLE_AT, points: [] };
      },
    },
  });
  board.apply(sampleMarket("m"), SAMPLE_AT);
  const reply = await get("/v1/markets/alpha/m/history?from=2027-01-01&to=2027-01-02&interval=1h");
  assert.deepEqual([reply.statusCode, reply.json().points], [200, []]);
  assert.ok(ranges.every(({ fromMs, toMs }) => toMs < fromMs));
});

test("422: a range has at most 2,000 intervals", async () => {
  const { board, get } = await openMarketApi();
  board.apply(sampleMarket("m"), SAMPLE_AT);
  const read = (minutes: number) => {
    const from = new Date(SAMPLE_AT - minutes * 60_000).toISOString();
    return get(`/v1/markets/alpha/m/history?from=${from}&interval=1m`);
  };
  assert.equal((await read(2_000)).statusCode, 200);
  assert.equal((await read(2_001)).statusCode, 422);
});

test("404 for an unknown market", async () => {
  const { get } = await openMarketApi();
  for (const path of PATHS) {
    const reply = await get(`/v1/markets/alpha/m/${path}`);
    assert.deepEqual([reply.statusCode, reply.json().code], [404, "market_not_found"]);
  }
});

test("502: if a required venue request fails, the response is `venue_unavailable` without internal details", async () => {
  const read = () => Promise.reject(timeout());
  const { board, get } = await openMarketApi({
    books: { readOrLast: read },
    trades: { read },
    pastPrices: { readRange: read },
  });
  board.apply(sampleMarket("m"), SAMPLE_AT);
  for (const path of ["orderbook", "trades", "history?from=2026-11-20&interval=1h"]) {
    const reply = await get(`/v1/markets/alpha/m/${path}`);
    assert.deepEqual(
      [reply.statusCode, reply.json()],
      [502, { detail: "The venue cannot be reached at the moment", code: "venue_unavailable" }],
    );
  }
});

test("502 and 503: the response for a failing venue or for exhausted venue requests has Retry-After", async () => {
  const failures: [VenueError, number, string, string][] = [
    [timeout(), 502, "venue_unavailable", "2"],
    [new VenueError("circuit_open", "x", { retryable: true, retryAfterMs: 1_000 }), 502, "venue_unavailable", "1"],
    [new VenueError("rate_limited", "x", { retryable: true, retryAfterMs: 4_200 }), 503, "venue_busy", "5"],
  ];
  for (const [failure, status, code, retryAfter] of failures) {
    const { board, get } = await openMarketApi({ books: { readOrLast: () => Promise.reject(failure) } });
    board.apply(sampleMarket("m"), SAMPLE_AT);
    const reply = await get("/v1/markets/alpha/m/orderbook");
    assert.deepEqual([reply.statusCode, reply.json().code, reply.headers["retry-after"]], [status, code, retryAfter]);
  }
});

test("200: the last known book of a venue that does not answer has `stale: true` and the time of its receipt", async () => {
  const { board, get } = await openMarketApi({ books: { readOrLast: async () => ({ book: BOOK, isStale: true }) } });
  board.apply(sampleMarket("m"), SAMPLE_AT);
  const { stale, updated_at: updatedAt } = (await get("/v1/markets/alpha/m/orderbook")).json();
  assert.deepEqual([stale, updatedAt], [true, new Date(BOOK.receivedAt).toISOString()]);
});
