/**
 * Measures the detectors of market alerts:
 *
 * node bench/alerts.ts quiet [--seeds 1,2,3 --markets 100 --days 14]   false alarms in simulated worlds, and planted shifts found
 * node bench/alerts.ts whales [--seeds 1,2,3 --markets 100 --days 14 --volume-minutes 10]
 *     false alarms for large trades, and planted ones found
 * node bench/alerts.ts cost [--markets 40000 --rounds 7]               time of a tick with and without the detectors
 */
import { parseArgs } from "node:util";
import { createWorld } from "../sandbox/world/index.ts";
import { groundTruthOf } from "../sandbox/world/list-event.ts";
import { trueProbability } from "../sandbox/world/truth.ts";
import type { ListedMarket } from "../sandbox/world/types.ts";
import { systemClock } from "../src/adapters/system/system-clock.ts";
import { type BoardMarket, MarketBoard } from "../src/board/index.ts";
import { DEFAULT_ALERT_LIMITS } from "../src/capabilities/events/market-alerts/index.ts";
import { classifyShift } from "../src/capabilities/events/market-alerts/log-alerts.ts";
import { PriceShiftDetector } from "../src/capabilities/events/market-alerts/price-shift-detector.ts";
import { yesPrice as displayedPrice } from "../src/domain/market.ts";
import { createLiveFeed } from "../src/ingest/live-feed.ts";
import { DAY_MS, HOUR_MS } from "../src/lib/durations.ts";
import { hourlySigma, type PriceShiftAlert, shiftSigmas } from "../src/quant/alerts/price-shift.ts";
import { priceLogOdds } from "../src/quant/log-odds.ts";
import { SAMPLE_AT, sampleMarket } from "../test/support/markets/market-samples.ts";
import { type AlertTotals, type ReplayOptions, replayTrades } from "./harness/replay-trades.ts";
import { interleave } from "./harness/rounds.ts";
import { spreadOf } from "./harness/statistics.ts";

const STEP_MS = 10 * 60_000;
const GENESIS = Date.UTC(2026, 10, 20);
const LIMITS = DEFAULT_ALERT_LIMITS.priceShift;
/** Maximum delay between a change of the true probability and the quotes. */
const LAG_MS = HOUR_MS;
/** An alert is true if the true probability moved by at least this share of the move in the alert. */
const TRUE_SHARE_MIN = 0.5;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seeds: { type: "string", default: "1,2,3" },
    markets: { type: "string" },
    days: { type: "string", default: "14" },
    "volume-minutes": { type: "string", default: "10" },
    displaced: { type: "boolean", default: false },
    rounds: { type: "string", default: "7" },
  },
});
const print = (text: string) => process.stdout.write(`${text}\n`);
const TEMPLATE: BoardMarket = new MarketBoard(() => SAMPLE_AT).apply(sampleMarket("m"), SAMPLE_AT).market;

/** Returns whether the true probability moved by at least half of the move in the alert, in log-odds. */
function isTrueMove(market: ListedMarket, { at, oldPrice, newPrice }: PriceShiftAlert, oldAt: number): boolean {
  const { process, criterion } = groundTruthOf(market);
  const after = priceLogOdds(trueProbability(process, criterion, at));
  const announced = priceLogOdds(newPrice) - priceLogOdds(oldPrice);
  for (let from = oldAt - LAG_MS; from <= oldAt; from += STEP_MS)
    if ((after - priceLogOdds(trueProbability(process, criterion, from))) / announced >= TRUE_SHARE_MIN) return true;
  return false;
}

/** Feeds the simulated prices of one market to the detector, counts its alerts, and then plants a shift. */
function replay(
  world: ReturnType<typeof createWorld>,
  market: ListedMarket,
  { days }: ReplayOptions,
  totals: AlertTotals,
): void {
  const watch = new PriceShiftDetector(LIMITS);
  const boardMarket = { ...TEMPLATE, listing: { ...TEMPLATE.listing, marketId: String(market.index) } };
  const closes: { at: number; yesPrice: number }[] = [];
  const shifts: PriceShiftAlert[] = [];
  let previous: BoardMarket | null = null;
  /** Observes a price twice, because a shift must be confirmed. Returns the new alert, or null. */
  const observe = (at: number, yesPrice: number): { shift: PriceShiftAlert; oldAt: number } | null => {
    const current: BoardMarket = { ...boardMarket, yesPrice, updatedAt: at };
    if (watch.add(current, previous, at)) watch.add(current, current, at + 1);
    previous = current;
    const [candidate] = watch.peek(1);
    if (candidate === undefined) return null;
    const recent = shifts.filter((shift) => Math.floor(at / HOUR_MS) - Math.floor(shift.at / HOUR_MS) <= 1);
    const judgement = classifyShift(candidate, closes, recent, LIMITS);
    watch.settle([judgement]);
    if (judgement.event === null || judgement.lastShift === null) return null;
    shifts.push(judgement.lastShift);
    return { shift: judgement.lastShift, oldAt: candidate.old.at };
  };
  const start = Math.max(market.openAt, GENESIS - days * DAY_MS);
  const end = Math.min(market.closeAt, groundTruthOf(market).tradingEndsAt, GENESIS) - 1;
  let last: number | null = null;
  for (let at = Math.ceil(start / STEP_MS) * STEP_MS; at < end; at += STEP_MS) {
    if (world.lifecycle(market, at).phase !== "active") continue;
    const { bids, asks, lastPrice } = world.book(market, at);
    const [bid, ask] = [bids[0]?.price ?? null, asks[0]?.price ?? null];
    const indicativePrice = market.mechanism === "amm" ? world.probability(market, at) : null;
    last = displayedPrice({ bid, ask, lastPrice: indicativePrice === null ? lastPrice : null, indicativePrice });
    if (last === null) continue;
    totals.days += STEP_MS / DAY_MS;
    const alert = observe(at, last);
    if (alert !== null) {
      totals.alarms += 1;
      if (!isTrueMove(market, alert.shift, alert.oldAt)) totals.falseAlarms += 1;
    }
    if (at % HOUR_MS === 0) closes.push({ at, yesPrice: last });
  }
  plantShift(closes, last, end, observe, totals);
}

/** Plants the smallest shift that exceeds the limits, and counts whether the detector finds it. */
function plantShift(
  closes: readonly { at: number; yesPrice: number }[],
  last: number | null,
  end: number,
  observe: (at: number, price: number) => unknown,
  totals: AlertTotals,
): void {
  const at = end + 2 * HOUR_MS;
  const sigma = hourlySigma(closes, 48, LIMITS.minHours);
  if (sigma === null || last === null || last < 0.05 || last > 0.9) return;
  for (let move = LIMITS.minMove; last + move < 0.97; move += 0.005) {
    if (shiftSigmas(last, last + move, sigma, LIMITS.sigmaFloor) < LIMITS.minSigmas + 0.1) continue;
    totals.planted += 1;
    observe(at, last);
    if (observe(at + 60_000, last + move) !== null) totals.found += 1;
    return;
  }
}

function measureQuiet(replayMarket: typeof replay): void {
  const options = { days: Number(values.days), volumeMinutes: Number(values["volume-minutes"]) };
  const all: AlertTotals = { days: 0, alarms: 0, falseAlarms: 0, planted: 0, found: 0 };
  const describe = ({ days: marketDays, alarms, falseAlarms, planted, found }: AlertTotals) =>
    `${marketDays.toFixed(0)} market-days, ${alarms} alerts, ${falseAlarms} false: ${((1_000 * falseAlarms) / marketDays).toFixed(2)} per 1,000 market-days; planted found ${found} of ${planted}`;
  for (const seed of values.seeds.split(",").map(Number)) {
    const world = createWorld({
      seed,
      genesis: GENESIS,
      speed: 1,
      marketCount: Number(values.markets ?? 100),
      hasDisplacedQuotes: values.displaced,
    });
    const totals: AlertTotals = { days: 0, alarms: 0, falseAlarms: 0, planted: 0, found: 0 };
    for (const venue of ["kalshi", "polymarket", "limitless"] as const)
      for (const market of world.markets(venue, GENESIS)) replayMarket(world, market, options, totals);
    for (const key of Object.keys(all) as (keyof AlertTotals)[]) all[key] += totals[key];
    print(`seed ${seed}: ${describe(totals)}`);
  }
  print(`all: ${describe(all)}`);
}

/** Microseconds of CPU per tick of a board with `count` markets, with the detectors or without. */
function measureTicks(count: number, hasDetectors: boolean): number {
  const board = new MarketBoard(() => systemClock.now());
  const live = createLiveFeed(systemClock);
  const watch = new PriceShiftDetector(LIMITS);
  if (hasDetectors)
    live.observe({
      onStart: () => {},
      onPrice: (market, previous, at) => watch.add(market, previous, at),
      onTrade() {},
    });
  const now = systemClock.now();
  for (let index = 0; index < count; index++)
    board.apply(sampleMarket(`m${index}`, { quote: { receivedAt: now } }), now);
  const started = process.cpuUsage();
  const ticks = 5 * count;
  for (let tick = 0; tick < ticks; tick++) {
    const mid = 0.4 + 0.02 * Math.floor(tick / count);
    const quote = { bid: mid - 0.01, ask: mid + 0.01, eventAt: null };
    const change = board.applyQuote("alpha", `m${tick % count}`, quote, now + tick);
    if (typeof change !== "string") live.reportPrice(change);
  }
  const { user, system } = process.cpuUsage(started);
  if (hasDetectors && watch.size !== count) throw new Error(`${watch.size} markets are watched`);
  return (user + system) / ticks;
}

async function measureCost(): Promise<void> {
  const count = Number(values.markets ?? 40_000);
  const samples = await interleave(Number(values.rounds), {
    bare: async () => measureTicks(count, false),
    detectors: async () => measureTicks(count, true),
  });
  const ratios = samples.detectors.map((cost, round) => cost / (samples.bare[round] ?? Number.NaN));
  const show = (name: string, list: readonly number[]) => {
    const { min, median, max } = spreadOf(list);
    print(`${name}: ${[min, median, max].map((value) => value.toFixed(2)).join(" / ")} (min / median / max)`);
  };
  show(`board alone, µs per tick, ${count} markets`, samples.bare);
  show("board and detectors, µs per tick", samples.detectors);
  show("ratio", ratios);
}

if (positionals[0] === "quiet") measureQuiet(replay);
else if (positionals[0] === "whales") measureQuiet(replayTrades);
else if (positionals[0] === "cost") await measureCost();
else throw new Error("give quiet, whales or cost");
