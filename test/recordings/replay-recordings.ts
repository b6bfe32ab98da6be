import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { convertKalshiDepth, type DepthRow } from "../../bench/convert-kalshi-depth.ts";
import { convertXvenueQuotes, type XvenueRow } from "../../bench/convert-xvenue-quotes.ts";
import { readRecordingRows } from "../../bench/support/recording.ts";
import { eventually, type ServiceProcess, startServiceProcess, temporaryFolder } from "../support/service-process.ts";
import { testSandbox, venueSettings } from "../support/venues/sandbox.ts";

/** Real order books and quotes, which are not part of the project. */
const DATA = new URL("../../../shared/data/", import.meta.url).pathname;
const DEPTH = join(DATA, "tape-kalshi-depth.jsonl.gz");
const XVENUE = join(DATA, "tape-xvenue-quotes.jsonl.gz");

const SPEED = 3_600;
/** The last 3% of the tapes, half a day, are replayed while the test looks on. */
const PAST_PERCENT = 97;
/** A polled answer is stamped when its head arrives; the book it shows was read this much earlier at the most. */
const READ_TO_ARRIVAL_MS_MAX = 1_000;
/** How old a poll may be on a busy machine. */
const SWEEP_MS_MAX = 10_000;
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

interface TapeQuote {
  readonly at: number;
  readonly bid: number | null;
  readonly ask: number | null;
}
/** What the tape itself says, by venue and market id, oldest first. */
type Tape = ReadonlyMap<string, readonly TapeQuote[]>;

const micros = (price: number) => Math.round(price * 1e6);

function newestAt(quotes: readonly TapeQuote[], at: number): TapeQuote | null {
  return quotes.findLast((quote) => quote.at <= at) ?? null;
}

/** The interface's price of a market that never traded: the mid where the spread is at most 0.10. */
function priceOf(quote: TapeQuote | null, isAnySpread = false): number | null {
  if (quote === null || quote.bid === null || quote.ask === null) return null;
  const [bid, ask] = [micros(quote.bid), micros(quote.ask)];
  return isAnySpread || ask - bid <= 100_000 ? Math.round((bid + ask) / 2) / 1e6 : null;
}

async function depthTape(): Promise<Tape> {
  const tape = new Map<string, TapeQuote[]>();
  for (const { ts, ticker, yes_bids, no_bids } of await readRecordingRows<DepthRow>(DEPTH)) {
    const best = (levels: DepthRow["yes_bids"]) => (levels.length === 0 ? null : Math.max(...levels.map(([p]) => p)));
    const no = best(no_bids);
    const quote = {
      at: Date.parse(ts),
      bid: best(yes_bids),
      ask: no === null ? null : (1_000_000 - micros(no)) / 1e6,
    };
    const key = `kalshi/${ticker}`;
    const quotes = tape.get(key);
    if (quotes === undefined) tape.set(key, [quote]);
    else quotes.push(quote);
  }
  return tape;
}

async function xvenueTape(): Promise<Tape> {
  const tape = new Map<string, TapeQuote[]>();
  const side = (price: number | null) => (price !== null && price > 0 && price < 1 ? price : null);
  for (const { ts, kalshi, polymarket } of await readRecordingRows<XvenueRow>(XVENUE)) {
    for (const [key, top] of [
      [`kalshi/${kalshi.ticker}`, kalshi],
      [`polymarket/${polymarket.market_id}`, polymarket],
    ] as const) {
      const quotes = tape.get(key) ?? [];
      tape.set(key, quotes);
      quotes.push({ at: Date.parse(ts), bid: side(top.yes_bid), ask: side(top.yes_ask) });
    }
  }
  return tape;
}

interface Replay {
  readonly service: ServiceProcess;
  readonly genesis: number;
  /** The instant of the tape that is shown at an instant of the wall clock. */
  toTape(wall: number): number;
  close(): Promise<void>;
}

async function openReplay(
  convert: (tape: string, recording: string) => Promise<unknown>,
  source: string,
  venues: string,
): Promise<Replay> {
  const folder = await temporaryFolder();
  const file = join(folder.path, "recording.jsonl");
  await convert(source, file);
  const sandbox = await testSandbox({ speed: SPEED, recording: { file, pastShare: PAST_PERCENT / 100 } });
  const service = await startServiceProcess({
    dataDir: join(folder.path, "data"),
    env: { ...venueSettings(sandbox, venues.split(",")), PARALLAX_VENUES: venues },
  });
  const world = await (await fetch(`${sandbox.urls.control?.rest}/world`)).json();
  // biome-ignore lint/suspicious/noExplicitAny: the sandbox's own JSON
  const { genesis, recording } = world as any;
  return {
    service,
    genesis,
    toTape: (wall) => recording.pivot_at + (wall - genesis) * (wall > genesis ? SPEED : 1),
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

/** Whether what is served was on the tape at `updated_at`, or just before for what is polled. */
// biome-ignore lint/suspicious/noExplicitAny: a test reads what came over the wire
function isOnTape(market: any, quotes: readonly TapeQuote[], replay: Replay): boolean {
  const at = Date.parse(market.updated_at);
  // Instants are whole milliseconds of the wall clock, each several seconds of the tape.
  const to = replay.toTape(at + 1);
  const from = replay.toTape(at - READ_TO_ARRIVAL_MS_MAX);
  const candidates = [newestAt(quotes, from), ...quotes.filter((quote) => quote.at > from && quote.at <= to)];
  return candidates.some(
    (quote) =>
      (market.bid ?? null) === (quote?.bid ?? null) &&
      (market.ask ?? null) === (quote?.ask ?? null) &&
      (market.yes_price ?? null) === priceOf(quote),
  );
}

/** Whether the tape had no price lately: what is served may be as old as the last sweep. */
function wasUnpriced(quotes: readonly TapeQuote[], replay: Replay): boolean {
  const to = replay.toTape(Date.now());
  const from = replay.toTape(Date.now() - SWEEP_MS_MAX);
  const shown = [newestAt(quotes, from), ...quotes.filter((quote) => quote.at > from && quote.at <= to)];
  return shown.some((quote) => priceOf(quote) === null);
}

/** Compares served markets with the tape; gives how many were compared, how many have a price, and the wrong ones. */
async function compareMarkets(replay: Replay, tape: Tape, keys: readonly string[]) {
  const wrong: string[] = [];
  let priced = 0;
  for (const key of keys) {
    const { status, json } = await replay.service.get(`/v1/markets/${key}`);
    const quotes = tape.get(key) ?? [];
    if (status === 200 && json.yes_price !== null) priced += 1;
    // A market that is known and has no price now cannot be told.
    const isRight = status === 502 ? wasUnpriced(quotes, replay) : status === 200 && isOnTape(json, quotes, replay);
    if (!isRight)
      wrong.push(`${key}: ${status} bid ${json?.bid} ask ${json?.ask} price ${json?.yes_price} at ${json?.updated_at}`);
  }
  return { compared: keys.length, priced, wrong };
}

/**
 * Compares points of the past before the first start. A point's price is the newest that the venue's own history knows at
 * the bin's end: it tells whole hours, and every five minutes of the last two days.
 */
async function compareHistories(replay: Replay, tape: Tape, keys: readonly string[]) {
  const wrong: string[] = [];
  let compared = 0;
  const finestFrom = Math.floor(replay.genesis / (5 * MINUTE_MS)) * 5 * MINUTE_MS - 48 * HOUR_MS;
  for (const key of keys) {
    const quotes = tape.get(key) ?? [];
    // One venue shows the mid of any spread where nothing was ever traded.
    const isAnySpread = key.startsWith("polymarket/");
    for (const period of ["48h", "7d"]) {
      const { status, json } = await replay.service.get(`/v1/markets/${key}/history?period=${period}&max_points=100`);
      if (status !== 200) wrong.push(`${key} ${period}: ${status}`);
      for (const point of json.points ?? []) {
        const endAt = Date.parse(point.timestamp) + json.interval_seconds * 1_000;
        if (endAt > replay.genesis) continue;
        compared += 1;
        let expected: number | null = null;
        for (let at = endAt; expected === null && at > endAt - 20 * 24 * HOUR_MS; at -= 5 * MINUTE_MS) {
          if (at % HOUR_MS !== 0 && at <= finestFrom + HOUR_MS) continue;
          expected = priceOf(newestAt(quotes, replay.toTape(at)), isAnySpread);
        }
        if (point.yes_price !== expected)
          wrong.push(`${key} ${period} until ${new Date(endAt).toISOString()}: ${point.yes_price}, tape ${expected}`);
      }
    }
  }
  return { compared, wrong };
}

async function sweptWhole(replay: Replay, markets: Readonly<Record<string, number>>): Promise<void> {
  await eventually(async () => {
    const { venues } = (await replay.service.get("/v1/health", {})).json.checks;
    const isWhole = Object.entries(markets).every(([venue, count]) => venues[venue].markets >= count);
    return isWhole ? true : null;
  }, "all markets");
}

describe("real tapes come out of the service with their own prices", () => {
  const missing = existsSync(DEPTH) && existsSync(XVENUE) ? false : "the tapes are not on this machine";

  test("order books: 23,035 markets of one venue", { skip: missing }, async (t) => {
    const tape = await depthTape();
    const replay = await openReplay(convertKalshiDepth, DEPTH, "kalshi");
    try {
      await sweptWhole(replay, { kalshi: tape.size * 0.97 });
      const shown = [...tape].filter(([, [first]]) => (first?.at ?? 0) < replay.toTape(replay.genesis));
      const keys = everyNth(
        shown.map(([key]) => key),
        200,
      );
      const live = await compareMarkets(replay, tape, keys);
      // What has no price now is not served, nor its past.
      const busy = shown
        .filter(([, quotes]) => quotes.length >= 10 && priceOf(quotes.at(-1) ?? null) !== null)
        .map(([key]) => key);
      const past = await compareHistories(replay, tape, everyNth(busy, 12));
      t.diagnostic(
        `${live.compared} markets (${live.priced} with a price), ${past.compared} points of history compared`,
      );
      assert.deepEqual([...live.wrong, ...past.wrong], []);
      assert.ok(live.priced >= 20 && past.compared >= 500, `${live.priced} prices, ${past.compared} points`);
    } finally {
      await replay.close();
    }
  });

  test("quotes: the same contracts on two venues, streamed and polled", { skip: missing }, async (t) => {
    const tape = await xvenueTape();
    const replay = await openReplay(convertXvenueQuotes, XVENUE, "kalshi,polymarket");
    try {
      await sweptWhole(replay, { kalshi: 63, polymarket: 63 });
      const keys = [...tape.keys()];
      const rounds = [];
      for (let round = 0; round < 2; round++) rounds.push(await compareMarkets(replay, tape, keys));
      const past = await compareHistories(
        replay,
        tape,
        everyNth(
          keys.filter((key) => priceOf(tape.get(key)?.at(-1) ?? null) !== null),
          16,
        ),
      );
      const compared = rounds.reduce((sum, round) => sum + round.compared, 0);
      const priced = rounds.reduce((sum, round) => sum + round.priced, 0);
      t.diagnostic(`${compared} times a market (${priced} with a price), ${past.compared} points of history compared`);
      assert.deepEqual([...rounds.flatMap(({ wrong }) => wrong), ...past.wrong], []);
      assert.ok(priced >= 100 && past.compared >= 1_500, `${priced} prices, ${past.compared} points`);
    } finally {
      await replay.close();
    }
  });
});
