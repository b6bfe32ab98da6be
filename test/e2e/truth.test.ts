import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { isDeepStrictEqual } from "node:util";
import type { RunningSandbox } from "../../sandbox/main.ts";
import type { WorldCandle } from "../../sandbox/world/candles.ts";
import type { WorldTrade } from "../../sandbox/world/types.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../src/lib/durations.ts";
import {
  eventually,
  everyMarket,
  type ServiceProcess,
  type ServiceResponse,
  startServiceProcess,
  temporaryFolder,
} from "../support/service-process.ts";
import { testSandbox, venueSettings } from "../support/venues/sandbox.ts";

/**
 * Maximum time from the venue reading a book to the arrival of the response headers, which sets `updated_at` of a
 * polled quote. A streamed quote has the venue's timestamp and needs no tolerance.
 */
const BOOK_AGE_MS_MAX = 1_000;

interface ServedTrade {
  readonly trade_id: string;
  readonly executed_at: string;
  readonly side: "yes" | "no";
  readonly yes_price: number;
  readonly size: number;
  readonly size_usd: number;
}

interface ServedCandle {
  readonly timestamp: string;
  readonly open: number;
  readonly high: number;
  readonly low: number;
  readonly close: number;
}

let sandbox: RunningSandbox;
/** When the service started. Before that, history can only come from the venues. */
let startedAt: number;
let folder: { path: string; release(): Promise<void> };
let service: ServiceProcess;

before(async () => {
  startedAt = Date.now();
  sandbox = await testSandbox({ marketCount: 150, enforceLimits: true });
  folder = await temporaryFolder();
  service = await startServiceProcess({ dataDir: folder.path, env: venueSettings(sandbox) });
});
after(async () => {
  await service.end();
  await sandbox.close();
  await folder.release();
});

// biome-ignore lint/suspicious/noExplicitAny: untyped JSON of the sandbox
async function fetchTruth(path: string, query: Readonly<Record<string, string | number>>): Promise<any> {
  const search = new URLSearchParams(
    Object.entries(query).map(([name, value]): [string, string] => [name, String(value)]),
  );
  const response = await fetch(`${sandbox.urls.control?.rest}/truth/${path}?${search}`);
  assert.equal(response.status, 200, `${path}?${search}`);
  return response.json();
}

/** Fetches the simulated state of a market at a timestamp. */
async function fetchStateAt(venue: string, marketId: string, at: number) {
  const { markets } = await fetchTruth(venue, { at, market_id: marketId });
  return markets[0];
}

const marketPath = (venue: string, marketId: string) => `/v1/markets/${venue}/${encodeURIComponent(marketId)}`;

/** Markets by venue, most traded first. */
async function tradedMarkets() {
  return Map.groupBy(await everyMarket(service), ({ platform }) => platform as string);
}

test("every served quote equals the sandbox's book at its `updated_at`, on every venue, streamed or polled", async () => {
  // After the streams have connected, the service serves both streamed and polled quotes.
  await eventually(async () => {
    const { venues } = (await service.get("/v1/health", {})).json.checks;
    return venues.polymarket.stream === "up" && venues.limitless.stream === "up" ? true : null;
  }, "the streams");
  const markets = await everyMarket(service);
  assert.ok(markets.length >= 150);
  const wrong: string[] = [];
  let exactCount = 0;
  for (const market of markets) {
    const at = Date.parse(market.updated_at);
    let isEqual = false;
    for (let back = 0; back <= BOOK_AGE_MS_MAX && !isEqual; back += back === 0 ? 1 : 25) {
      const expected = await fetchStateAt(market.platform, market.market_id, at - back);
      if (expected === undefined || expected.lifecycle.phase !== "active")
        isEqual = expected !== undefined && market.bid === undefined;
      else
        isEqual =
          (expected.book.bids[0]?.price ?? undefined) === market.bid &&
          (expected.book.asks[0]?.price ?? undefined) === market.ask;
      if (isEqual && back === 0) exactCount += 1;
    }
    if (!isEqual)
      wrong.push(`${market.platform}/${market.market_id} bid ${market.bid} ask ${market.ask} at ${market.updated_at}`);
  }
  assert.deepEqual(wrong, []);
  assert.ok(exactCount >= markets.length * 0.9, `${exactCount} of ${markets.length} are equal at exactly updated_at`);
});

test("every level of a served order book equals the sandbox's book at its `updated_at`, on every venue", async () => {
  const markets = await everyMarket(service);
  const wrong: string[] = [];
  const exactCounts = new Map<string, number>();
  const counts = new Map<string, number>();
  for (const { platform, market_id } of markets) {
    if ((counts.get(platform) ?? 0) >= 25) continue;
    const { json: book } = await service.get(`${marketPath(platform, market_id)}/orderbook?depth=200`);
    if (book.book_type === "amm") continue;
    counts.set(platform, (counts.get(platform) ?? 0) + 1);
    const at = Date.parse(book.updated_at);
    let isEqual = false;
    for (let back = 0; back <= BOOK_AGE_MS_MAX && !isEqual; back += back === 0 ? 1 : 25) {
      const expected = await fetchStateAt(platform, market_id, at - back);
      const sides = expected?.lifecycle.phase === "active" ? expected.book : { bids: [], asks: [] };
      isEqual = isDeepStrictEqual([book.bids, book.asks], [sides.bids, sides.asks]);
      if (isEqual && back === 0) exactCounts.set(platform, (exactCounts.get(platform) ?? 0) + 1);
    }
    if (!isEqual) wrong.push(`${platform}/${market_id} at ${book.updated_at}`);
  }
  assert.deepEqual(wrong, []);
  for (const [platform, count] of counts) {
    const exactCount = exactCounts.get(platform) ?? 0;
    assert.ok(
      count >= 20 && exactCount >= count * 0.8,
      `${platform}: ${exactCount} of ${count} are equal at updated_at`,
    );
  }
});

const TRADED_MARKETS = 3;
/** Pages of 100 trades. Limitless sends 100 trades per response and allows few requests. */
const TRADE_PAGES: Readonly<Record<string, number>> = { kalshi: 4, polymarket: 4, limitless: 1 };

/** Reads all pages of a market's trades, at most `pagesMax`. */
async function readTrades(path: string, limit: number, pagesMax: number): Promise<ServedTrade[]> {
  const trades: ServedTrade[] = [];
  let url: string | undefined = `${path}/trades?limit=${limit}`;
  for (let page = 0; page < pagesMax && url !== undefined; page++) {
    const pageUrl = url;
    // 502: the request budget of the venue is used up by the first sweeps.
    const response: ServiceResponse = await eventually(async () => {
      const reply = await service.get(pageUrl);
      return reply.status === 502 ? null : reply;
    }, pageUrl);
    assert.equal(response.status, 200);
    trades.push(...response.json);
    url = /^<([^>]+)>/.exec(response.headers.get("link") ?? "")?.[1];
  }
  return trades;
}

/** A trade in a form that can be compared. Times of Polymarket are whole seconds. */
const keyOf = (at: number, side: string, size: number, isSecond: boolean) =>
  `${isSecond ? Math.floor(at / 1_000) * 1_000 : at} ${side} ${size}`;

test("the trades of a market equal the sandbox's trades up to the time of the request, on every venue, over all pages", async () => {
  for (const [venue, markets] of await tradedMarkets()) {
    for (const { market_id: marketId, tick_size: tickSize } of markets.slice(0, TRADED_MARKETS)) {
      const requestedAt = Date.now();
      const served = await readTrades(marketPath(venue, marketId), 100, TRADE_PAGES[venue] ?? 0);
      const isSecond = venue === "polymarket";
      const latestAt = Math.max(requestedAt, ...served.map(({ executed_at }) => Date.parse(executed_at)));
      const oldestAt = Math.min(...served.map(({ executed_at }) => Date.parse(executed_at)));
      const { trades }: { trades: WorldTrade[] } = await fetchTruth(`${venue}/trades`, { market_id: marketId });
      const label = `${venue}/${marketId}`;
      // The oldest second may continue on the next page.
      // A trade of the second of the request may have been executed after the request.
      const isBeforeEnd = (at: number) => (isSecond ? at < Math.floor(requestedAt / 1_000) * 1_000 : at <= latestAt);
      const isCompared = (at: number) => isBeforeEnd(at) && at >= oldestAt + (isSecond ? 1_000 : 1);
      const expected = trades.filter(({ at }) => isCompared(at));
      const actual = served.filter(({ executed_at }) => isCompared(Date.parse(executed_at)));
      assert.deepEqual(
        actual.map(({ executed_at, side, size }) => keyOf(Date.parse(executed_at), side, size, isSecond)).sort(),
        expected.map(({ at, takerSide, size }) => keyOf(at, takerSide, size, isSecond)).sort(),
        label,
      );
      assert.ok(expected.length > 10, `${label} has ${expected.length} trades`);
      const times = served.map(({ executed_at }) => executed_at);
      assert.deepEqual(times, times.toSorted().reverse(), label);
      assert.equal(new Set(served.map(({ trade_id }) => trade_id)).size, served.length, label);
      for (const { executed_at, side, size, yes_price, size_usd } of actual) {
        const key = keyOf(Date.parse(executed_at), side, size, isSecond);
        const prices = expected.filter((trade) => keyOf(trade.at, trade.takerSide, trade.size, isSecond) === key);
        // Polymarket reports the average price of the levels of a match: up to one tick better than the last level.
        const better = isSecond ? (side === "yes" ? -tickSize : tickSize) : 0;
        const isPrice = ({ yesPrice }: WorldTrade) =>
          yes_price >= Math.min(yesPrice, yesPrice + better) - 1e-9 &&
          yes_price <= Math.max(yesPrice, yesPrice + better) + 1e-9;
        assert.ok(prices.some(isPrice), `${label} ${key} at ${yes_price}`);
        assert.ok(Math.abs(size_usd - (side === "no" ? 1 - yes_price : yes_price) * size) < 1e-5, label);
      }
    }
  }
});

/**
 * Whether the price is what a venue's history shows instead of a price between close quotes: the last trade, or the middle
 * of distant quotes. The sandbox's candles have the last trade moved into the quotes.
 */
async function isPriceWithoutCloseQuotes(venue: string, marketId: string, at: number, price: number): Promise<boolean> {
  const { book } = await fetchStateAt(venue, marketId, at);
  const [bid, ask] = [book.bids[0]?.price ?? null, book.asks[0]?.price ?? null];
  const hasBoth = bid !== null && ask !== null;
  if (hasBoth && ask - bid <= 0.1 + 1e-9) return false;
  return Math.abs(price - book.lastPrice) <= 1e-6 || (hasBoth && Math.abs(price - (bid + ask) / 2) <= 1e-6);
}

/** Distance of the prices in each venue's history that the service reads for two days and for 30 days. */
const HISTORY_STEPS: Readonly<Record<string, Readonly<Record<"5m" | "1h", number>>>> = {
  kalshi: { "5m": 5 * MINUTE_MS, "1h": HOUR_MS },
  polymarket: { "5m": 5 * MINUTE_MS, "1h": HOUR_MS },
  limitless: { "5m": 15 * MINUTE_MS, "1h": HOUR_MS },
};
const INTERVALS_MS = { "5m": 5 * MINUTE_MS, "1h": HOUR_MS } as const;

test("candles equal the sandbox's prices at the end of each interval, on every venue", async () => {
  for (const [venue, markets] of await tradedMarkets()) {
    for (const [interval, days] of [
      ["5m", 1],
      ["1h", 20],
    ] as const) {
      const stepMs = HISTORY_STEPS[venue]?.[interval] ?? Number.NaN;
      let comparedCount = 0;
      for (const { market_id: marketId } of markets.slice(0, TRADED_MARKETS)) {
        const intervalMs = INTERVALS_MS[interval];
        const from = new Date(startedAt - days * DAY_MS).toISOString();
        const path = `${marketPath(venue, marketId)}/history?from=${from}&interval=${interval}`;
        const { json: history } = await service.get(path);
        const completePoints = (history.points as ServedCandle[]).filter(
          ({ timestamp }) => (Date.parse(timestamp) + intervalMs) % stepMs === 0,
        );
        const endsBefore = completePoints.filter(({ timestamp }) => Date.parse(timestamp) + intervalMs <= startedAt);
        const first = endsBefore[0];
        if (first === undefined) continue;
        const fromMs = Date.parse(first.timestamp);
        const to = Math.floor(startedAt / intervalMs) * intervalMs;
        const range = { market_id: marketId, from: fromMs, to, interval: intervalMs };
        const { candles }: { candles: WorldCandle[] } = await fetchTruth(`${venue}/candles`, range);
        const closes = new Map(candles.map(({ startAt, close }) => [startAt, close]));
        for (const { timestamp, close } of endsBefore) {
          const expected = closes.get(Date.parse(timestamp)) ?? Number.NaN;
          const endAt = Date.parse(timestamp) + intervalMs;
          assert.ok(
            Math.abs(close - expected) <= 1e-6 || (await isPriceWithoutCloseQuotes(venue, marketId, endAt, close)),
            `${venue}/${marketId} ${interval} at ${timestamp}: ${close}, not ${expected}`,
          );
          comparedCount += 1;
        }
      }
      assert.ok(comparedCount > 100, `${venue}: ${comparedCount} intervals of ${interval}`);
    }
  }
});

test("the prices of the current interval lie within the sandbox's price range since the previous interval", async () => {
  for (const [venue, markets] of await tradedMarkets()) {
    for (const { market_id: marketId } of markets.slice(0, TRADED_MARKETS)) {
      const from = new Date(Date.now() - 2 * MINUTE_MS).toISOString();
      const { json: history } = await service.get(`${marketPath(venue, marketId)}/history?from=${from}&interval=1m`);
      const current = (history.points as ServedCandle[]).at(-1);
      assert.ok(current !== undefined);
      const to = Date.parse(history.generated_at);
      // The previous price may be that of the venue's history, up to one step older.
      const fromMs = Date.parse(current.timestamp) - (HISTORY_STEPS[venue]?.["5m"] ?? 0);
      const range = { market_id: marketId, from: fromMs, to, interval: to - fromMs };
      const { candles }: { candles: WorldCandle[] } = await fetchTruth(`${venue}/candles`, range);
      const [candle] = candles;
      const before = await fetchTruth(`${venue}/candles`, {
        ...range,
        from: fromMs - 1_000,
        to: fromMs,
        interval: 1_000,
      });
      assert.ok(candle !== undefined, `${venue}/${marketId}`);
      const low = Math.min(candle.low, before.candles[0]?.close ?? 1);
      const high = Math.max(candle.high, before.candles[0]?.close ?? 0);
      assert.ok(
        current.low >= low - 1e-6 && current.high <= high + 1e-6,
        `${venue}/${marketId}: ${JSON.stringify(current)}, not between ${low} and ${high}`,
      );
      assert.ok(current.low <= Math.min(current.open, current.close));
      assert.ok(current.high >= Math.max(current.open, current.close));
    }
  }
});
