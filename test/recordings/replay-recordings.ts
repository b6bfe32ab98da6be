import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { convertKalshiDepth, type DepthRow } from "../../bench/convert-kalshi-depth.ts";
import { convertXvenueQuotes, quotedPrice, type XvenueRow } from "../../bench/convert-xvenue-quotes.ts";
import { readRecordingRows } from "../../bench/support/recording.ts";
import { HOUR_MS, MINUTE_MS } from "../../src/lib/durations.ts";
import { eventually, type ServiceProcess, startServiceProcess, temporaryFolder } from "../support/service-process.ts";
import { testSandbox, venueSettings } from "../support/venues/sandbox.ts";

/** Recorded order books and quotes, which are not part of the repository. */
const DATA_DIR = new URL("../../../shared/data/", import.meta.url).pathname;
const DEPTH_FILE = join(DATA_DIR, "tape-kalshi-depth.jsonl.gz");
const XVENUE_FILE = join(DATA_DIR, "tape-xvenue-quotes.jsonl.gz");

/** Recorded seconds per wall-clock second. */
const REPLAY_SPEED = 3_600;
/** Share of the recording that is history at the start; the rest, half a day, is replayed during the test. */
const HISTORY_PERCENT = 97;
/** Maximum time from the sandbox reading a book to the arrival of the response headers, which sets `updated_at`. */
const BOOK_AGE_MS_MAX = 1_000;
/** Maximum age of polled quotes on a busy machine. */
const SWEEP_MS_MAX = 10_000;

interface SourceQuote {
  readonly at: number;
  readonly bid: number | null;
  readonly ask: number | null;
}
/** The quotes of the source data by `venue/market_id`, oldest first. */
type SourceQuotes = ReadonlyMap<string, readonly SourceQuote[]>;

const toMicros = (price: number) => Math.round(price * 1e6);

/** Returns the quote in effect at a timestamp, or null before the first quote. */
function quoteAt(quotes: readonly SourceQuote[], at: number): SourceQuote | null {
  return quotes.findLast((quote) => quote.at <= at) ?? null;
}

/** Returns all quotes in effect at any time in [from, to]. */
function quotesBetween(quotes: readonly SourceQuote[], from: number, to: number): (SourceQuote | null)[] {
  return [quoteAt(quotes, from), ...quotes.filter((quote) => quote.at > from && quote.at <= to)];
}

/** Returns the price of a market without trades: the mid if the spread is at most 0.10 or `isAnySpread` is true, else null. */
function priceOf(quote: SourceQuote | null, isAnySpread = false): number | null {
  if (quote === null || quote.bid === null || quote.ask === null) return null;
  const [bid, ask] = [toMicros(quote.bid), toMicros(quote.ask)];
  return isAnySpread || ask - bid <= 100_000 ? Math.round((bid + ask) / 2) / 1e6 : null;
}

function appendQuote(quotesByKey: Map<string, SourceQuote[]>, key: string, quote: SourceQuote): void {
  const quotes = quotesByKey.get(key);
  if (quotes === undefined) quotesByKey.set(key, [quote]);
  else quotes.push(quote);
}

async function readDepthQuotes(): Promise<SourceQuotes> {
  const quotesByKey = new Map<string, SourceQuote[]>();
  const bestPriceOf = (levels: DepthRow["yes_bids"]) =>
    levels.length === 0 ? null : Math.max(...levels.map(([price]) => price));
  for (const { ts, ticker, yes_bids, no_bids } of await readRecordingRows<DepthRow>(DEPTH_FILE)) {
    const noBid = bestPriceOf(no_bids);
    const ask = noBid === null ? null : (1_000_000 - toMicros(noBid)) / 1e6;
    appendQuote(quotesByKey, `kalshi/${ticker}`, { at: Date.parse(ts), bid: bestPriceOf(yes_bids), ask });
  }
  return quotesByKey;
}

async function readXvenueQuotes(): Promise<SourceQuotes> {
  const quotesByKey = new Map<string, SourceQuote[]>();
  for (const { ts, kalshi, polymarket } of await readRecordingRows<XvenueRow>(XVENUE_FILE)) {
    for (const [key, prices] of [
      [`kalshi/${kalshi.ticker}`, kalshi],
      [`polymarket/${polymarket.market_id}`, polymarket],
    ] as const) {
      const quote = { at: Date.parse(ts), bid: quotedPrice(prices.yes_bid), ask: quotedPrice(prices.yes_ask) };
      appendQuote(quotesByKey, key, quote);
    }
  }
  return quotesByKey;
}

interface Replay {
  readonly service: ServiceProcess;
  readonly genesis: number;
  /** Converts a wall-clock time to the recorded time. */
  toRecordedTime(wallTime: number): number;
  close(): Promise<void>;
}

async function openReplay(
  convert: (source: string, recording: string) => Promise<unknown>,
  source: string,
  venues: string,
): Promise<Replay> {
  const folder = await temporaryFolder();
  const file = join(folder.path, "recording.jsonl");
  await convert(source, file);
  const sandbox = await testSandbox({ speed: REPLAY_SPEED, recording: { file, pastShare: HISTORY_PERCENT / 100 } });
  const service = await startServiceProcess({
    dataDir: join(folder.path, "data"),
    env: { ...venueSettings(sandbox, venues.split(",")), PARALLAX_VENUES: venues },
  });
  const world = await (await fetch(`${sandbox.urls.control?.rest}/world`)).json();
  // biome-ignore lint/suspicious/noExplicitAny: the JSON of the sandbox
  const { genesis, recording } = world as any;
  return {
    service,
    genesis,
    toRecordedTime: (wallTime) => recording.pivot_at + (wallTime - genesis) * (wallTime > genesis ? REPLAY_SPEED : 1),
    async close() {
      await service.end();
      await sandbox.close();
      await folder.release();
    },
  };
}

function everyNth<T>(items: readonly T[], count: number): T[] {
  const step = Math.max(1, Math.floor(items.length / count));
  return items.filter((_, index) => index % step === 0);
}

/** Returns whether a served market equals a source quote in effect at `updated_at` or up to `BOOK_AGE_MS_MAX` earlier. */
// biome-ignore lint/suspicious/noExplicitAny: a parsed response
function equalsSource(market: any, quotes: readonly SourceQuote[], replay: Replay): boolean {
  const at = Date.parse(market.updated_at);
  // A millisecond of the wall clock is several seconds of the recording.
  const candidates = quotesBetween(quotes, replay.toRecordedTime(at - BOOK_AGE_MS_MAX), replay.toRecordedTime(at + 1));
  return candidates.some(
    (quote) =>
      (market.bid ?? null) === (quote?.bid ?? null) &&
      (market.ask ?? null) === (quote?.ask ?? null) &&
      (market.yes_price ?? null) === priceOf(quote),
  );
}

/** Returns whether the source had no price at any time in the last `SWEEP_MS_MAX`. */
function wasUnpriced(quotes: readonly SourceQuote[], replay: Replay): boolean {
  const from = replay.toRecordedTime(Date.now() - SWEEP_MS_MAX);
  const to = replay.toRecordedTime(Date.now());
  return quotesBetween(quotes, from, to).some((quote) => priceOf(quote) === null);
}

/** Compares served markets with the source. Returns the differences and the numbers of compared and of priced markets. */
async function compareMarkets(replay: Replay, source: SourceQuotes, keys: readonly string[]) {
  const differences: string[] = [];
  let priced = 0;
  for (const key of keys) {
    const { status, json } = await replay.service.get(`/v1/markets/${key}`);
    const quotes = source.get(key) ?? [];
    if (status === 200 && json.yes_price !== null) priced += 1;
    // The API returns 502 for a known market that has no price.
    const isEqual = status === 502 ? wasUnpriced(quotes, replay) : status === 200 && equalsSource(json, quotes, replay);
    if (!isEqual) {
      differences.push(
        `${key}: ${status} bid ${json?.bid} ask ${json?.ask} price ${json?.yes_price} at ${json?.updated_at}`,
      );
    }
  }
  return { compared: keys.length, priced, differences };
}

/**
 * Compares history points from before the replay started. A point's price is the latest price in the venue's history at
 * the end of the interval. The sandbox's history has hourly points, and five-minute points for the last two days.
 */
async function compareHistories(replay: Replay, source: SourceQuotes, keys: readonly string[]) {
  const differences: string[] = [];
  let compared = 0;
  const fiveMinutePointsFrom = Math.floor(replay.genesis / (5 * MINUTE_MS)) * 5 * MINUTE_MS - 48 * HOUR_MS;
  for (const key of keys) {
    const quotes = source.get(key) ?? [];
    // For a market without trades Polymarket's history has the mid at any spread.
    const isAnySpread = key.startsWith("polymarket/");
    for (const period of ["48h", "7d"]) {
      const { status, json } = await replay.service.get(`/v1/markets/${key}/history?period=${period}&max_points=100`);
      if (status !== 200) differences.push(`${key} ${period}: ${status}`);
      for (const point of json.points ?? []) {
        const endAt = Date.parse(point.timestamp) + json.interval_seconds * 1_000;
        if (endAt > replay.genesis) continue;
        compared += 1;
        let expected: number | null = null;
        for (let at = endAt; expected === null && at > endAt - 20 * 24 * HOUR_MS; at -= 5 * MINUTE_MS) {
          if (at % HOUR_MS !== 0 && at <= fiveMinutePointsFrom + HOUR_MS) continue;
          expected = priceOf(quoteAt(quotes, replay.toRecordedTime(at)), isAnySpread);
        }
        if (point.yes_price !== expected) {
          differences.push(
            `${key} ${period} until ${new Date(endAt).toISOString()}: ${point.yes_price}, expected ${expected}`,
          );
        }
      }
    }
  }
  return { compared, differences };
}

async function waitForMarkets(replay: Replay, countsMin: Readonly<Record<string, number>>): Promise<void> {
  await eventually(async () => {
    const { venues } = (await replay.service.get("/v1/health", {})).json.checks;
    const hasAllMarkets = Object.entries(countsMin).every(([venue, count]) => venues[venue].markets >= count);
    return hasAllMarkets ? true : null;
  }, "all markets");
}

describe("the service on a replayed recording", () => {
  const skipReason =
    existsSync(DEPTH_FILE) && existsSync(XVENUE_FILE) ? false : "the recorded data is not on this machine";

  test("serves the recorded order books of 23,035 markets of one venue", { skip: skipReason }, async (t) => {
    const source = await readDepthQuotes();
    const replay = await openReplay(convertKalshiDepth, DEPTH_FILE, "kalshi");
    try {
      await waitForMarkets(replay, { kalshi: source.size * 0.97 });
      const startedMarkets = [...source].filter(
        ([, [first]]) => (first?.at ?? 0) < replay.toRecordedTime(replay.genesis),
      );
      const keys = everyNth(
        startedMarkets.map(([key]) => key),
        200,
      );
      const comparison = await compareMarkets(replay, source, keys);
      // The API serves neither a market without a current price nor its history.
      const activeKeys = startedMarkets
        .filter(([, quotes]) => quotes.length >= 10 && priceOf(quotes.at(-1) ?? null) !== null)
        .map(([key]) => key);
      const history = await compareHistories(replay, source, everyNth(activeKeys, 12));
      t.diagnostic(
        `compared ${comparison.compared} markets (${comparison.priced} with a price), ${history.compared} history points`,
      );
      assert.deepEqual([...comparison.differences, ...history.differences], []);
      assert.ok(
        comparison.priced >= 20 && history.compared >= 500,
        `${comparison.priced} prices, ${history.compared} history points`,
      );
    } finally {
      await replay.close();
    }
  });

  test("serves the recorded quotes of equal markets on two venues, one streamed and one polled", {
    skip: skipReason,
  }, async (t) => {
    const source = await readXvenueQuotes();
    const replay = await openReplay(convertXvenueQuotes, XVENUE_FILE, "kalshi,polymarket");
    try {
      await waitForMarkets(replay, { kalshi: 63, polymarket: 63 });
      const keys = [...source.keys()];
      const rounds = [];
      for (let round = 0; round < 2; round++) rounds.push(await compareMarkets(replay, source, keys));
      const pricedKeys = keys.filter((key) => priceOf(source.get(key)?.at(-1) ?? null) !== null);
      const history = await compareHistories(replay, source, everyNth(pricedKeys, 16));
      const compared = rounds.reduce((sum, round) => sum + round.compared, 0);
      const priced = rounds.reduce((sum, round) => sum + round.priced, 0);
      t.diagnostic(`compared ${compared} markets (${priced} with a price), ${history.compared} history points`);
      assert.deepEqual([...rounds.flatMap(({ differences }) => differences), ...history.differences], []);
      assert.ok(priced >= 100 && history.compared >= 1_500, `${priced} prices, ${history.compared} history points`);
    } finally {
      await replay.close();
    }
  });
});
