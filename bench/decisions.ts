/**
 * Measures signals and estimates on simulated markets, whose true probabilities and results are known:
 *
 * node bench/decisions.ts signals [--seeds 1,2 --markets 20 --wait-seconds 180 --checkouts DIR,DIR]
 *     asks for the signals of each venue's most traded markets, and for the same ones again after a wait; recomputes their
 *     figures from public responses, and prints what the trades earn
 * node bench/decisions.ts coverage [--seeds 1]
 *     prints how many of each venue's most traded markets have an estimate three minutes after a start
 * node bench/decisions.ts logic [--seeds 1 --minutes 60]
 *     reads every event repeatedly and counts estimates that contradict each other: thresholds, deadlines and exclusive outcomes
 *
 * `--checkouts` compares versions: each starts the service of its own folder at the same time.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import type { ListedMarket } from "../sandbox/world/types.ts";
import { MINUTE_MS, SECOND_MS } from "../src/lib/durations.ts";
import { type ServiceProcess, startServiceProcess, temporaryFolder } from "../test/support/service-process.ts";
import { type MarketTruth, readTruth } from "./harness/simulated-truth.ts";

const VENUES = ["kalshi", "polymarket", "limitless"] as const;
const PROJECT = new URL("..", import.meta.url).pathname;
const WORLD_MARKETS = 400;
/** A larger difference than that of rounding in a response. */
const TOLERANCE = 1e-6;
/** The estimate starts at the price, moved by a small share of the distance to the size-weighted price. */
const PRIOR_TOLERANCE = 3e-3;
const LOW_PRICES = { from: 0.02, to: 0.12 };

// biome-ignore lint/suspicious/noExplicitAny: the versions compared have different responses
type Json = any;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seeds: { type: "string", default: "1" },
    markets: { type: "string", default: "20" },
    "wait-seconds": { type: "string", default: "180" },
    minutes: { type: "string", default: "60" },
    "warm-up-seconds": { type: "string", default: "180" },
    checkouts: { type: "string", default: PROJECT },
  },
});
/** Scheduled analyses cover the most traded markets within three minutes of a start. */
const WARM_UP_MS = Number(values["warm-up-seconds"]) * SECOND_MS;
const print = (text: string) => process.stdout.write(`${text}\n`);

/** Starts the service of a checkout, and ends it after `use`. */
async function withService<Result>(
  seed: number,
  checkout: string,
  use: (service: ServiceProcess, truthOf: Awaited<ReturnType<typeof readTruth>>) => Promise<Result>,
): Promise<Result> {
  const folder = await temporaryFolder();
  try {
    const service = await startServiceProcess({
      dataDir: folder.path,
      createsStore: true,
      project: checkout,
      env: { PARALLAX_SANDBOX_SEED: String(seed), PARALLAX_SANDBOX_MARKETS: String(WORLD_MARKETS) },
    });
    try {
      return await use(service, await readTruth(service, checkout, WORLD_MARKETS));
    } finally {
      await service.end();
    }
  } finally {
    await folder.release();
  }
}

/** Sends a request again while a limit of calls is reached. */
async function send(service: ServiceProcess, path: string, body?: object): Promise<Json> {
  for (;;) {
    const headers = { authorization: `Bearer ${service.keys.enterprise}`, "content-type": "application/json" };
    const init = body === undefined ? { headers } : { headers, method: "POST", body: JSON.stringify(body) };
    const response = await fetch(`${service.url}${path}`, init);
    const json: Json = await response.json();
    if (response.status === 200) return json;
    if (response.status !== 429 && response.status < 500) throw new Error(`${path}: ${response.status} ${json.detail}`);
    await sleep((json.retry_after_seconds ?? 1) * SECOND_MS);
  }
}

/** The most traded markets of each venue: half of them at low prices, where the engine finds most edges. */
async function chooseMarkets(service: ServiceProcess, count: number): Promise<Json[]> {
  const lists: Json[][] = await Promise.all(
    VENUES.map((venue) => send(service, `/v1/markets?source=${venue}&status=active&sort=volume_24h&limit=100`)),
  );
  return lists.flatMap((markets) => {
    const isLow = ({ yes_price: price }: Json) => price >= LOW_PRICES.from && price <= LOW_PRICES.to;
    const low = markets.filter(isLow).slice(0, Math.ceil(count / VENUES.length / 2));
    const others = markets.filter((market) => !low.includes(market));
    return [...low, ...others.slice(0, Math.ceil(count / VENUES.length) - low.length)];
  });
}

interface Decision {
  readonly recommendation: string;
  readonly problems: readonly string[];
  /** Null without a trade. */
  readonly trade: { readonly costUsd: number; readonly expectedUsd: number; readonly settledUsd: number } | null;
}

const isClose = (x: number, y: number, tolerance = TOLERANCE): boolean => Math.abs(x - y) <= tolerance;

/** Recomputes a signal from its own public figures. */
function problemsOf(signal: Json): string[] {
  const { causal, order, recommendation } = signal;
  const checks: [string, boolean][] = [
    ["edge is not the estimate less the price", isClose(signal.edge, signal.model_probability - signal.yes_price)],
    ["the estimate starts at another price", isClose(causal.factors[0]?.prior, signal.yes_price, PRIOR_TOLERANCE)],
    ["the factors end at another estimate", isClose(causal.factors.at(-1)?.posterior, signal.model_probability)],
  ];
  if (recommendation !== "NO_TRADE") {
    const probability = recommendation === "BUY_YES" ? signal.model_probability : 1 - signal.model_probability;
    const cost = order.cost_usd / order.contracts;
    checks.push(
      [
        "the executable edge is not the estimate less the all-in price",
        isClose(signal.executable_edge, probability - cost),
      ],
      [
        "the order costs more than its parts",
        isClose(order.cost_usd, order.contracts * order.average_price + order.fee_usd, 1e-5),
      ],
      ["a trade without an executable edge", signal.executable_edge > 0],
    );
  }
  return checks.flatMap(([problem, isRight]) => (isRight ? [] : [problem]));
}

/** USD that the trade of a signal earns after costs: expected with the true probability, and at settlement. */
function earningsOf({ recommendation, order }: Json, truth: MarketTruth | null, at: number): Decision["trade"] {
  if (recommendation === "NO_TRADE" || truth === null) return null;
  const { contracts, cost_usd: costUsd } = order;
  const ofSide = (yes: number) => contracts * (recommendation === "BUY_YES" ? yes : 1 - yes) - costUsd;
  return {
    costUsd,
    expectedUsd: ofSide(truth.probabilityAt(at)),
    settledUsd: truth.yesPayout === null ? 0 : ofSide(truth.yesPayout),
  };
}

async function askAll(
  service: ServiceProcess,
  truthOf: Awaited<ReturnType<typeof readTruth>>,
  markets: readonly Json[],
): Promise<Decision[]> {
  const decisions: Decision[] = [];
  for (const { platform, market_id } of markets) {
    const signal = await send(service, "/v1/signals?wait=true&expand=causal", { platform, market_id });
    const trade = earningsOf(signal, truthOf(platform, market_id), Date.now());
    decisions.push({ recommendation: signal.recommendation, problems: problemsOf(signal), trade });
  }
  return decisions;
}

function summarise(label: string, decisions: readonly Decision[]): void {
  const trades = decisions.flatMap(({ trade }) => trade ?? []);
  const sum = (pick: (trade: NonNullable<Decision["trade"]>) => number) =>
    trades.reduce((total, trade) => total + pick(trade), 0);
  const cost = sum(({ costUsd }) => costUsd);
  const percent = (share: number) => `${(100 * share).toFixed(1)}%`;
  const earned = (usd: number) => `${usd.toFixed(0)} USD (${cost === 0 ? "no cost" : percent(usd / cost)})`;
  const problems = Map.groupBy(
    decisions.flatMap(({ problems: found }) => found),
    (problem) => problem,
  );
  const buys = decisions.filter(({ recommendation }) => recommendation !== "NO_TRADE").length;
  print(
    `${label}: ${buys} of ${decisions.length} are BUY (${percent(buys / decisions.length)}), cost ${cost.toFixed(0)} USD, expected ${earned(sum(({ expectedUsd }) => expectedUsd))}, settled ${earned(sum(({ settledUsd }) => settledUsd))}`,
  );
  for (const [problem, found] of problems) print(`  ${found.length} signals: ${problem}`);
}

async function compareSignals(): Promise<void> {
  const checkouts = values.checkouts.split(",");
  const second = new Map<string, Decision[]>(checkouts.map((checkout) => [checkout, []]));
  for (const seed of values.seeds.split(",").map(Number)) {
    const runOne = (checkout: string) =>
      withService(seed, checkout, async (service, truthOf) => {
        await sleep(WARM_UP_MS);
        const markets = await chooseMarkets(service, Number(values.markets));
        const before = await askAll(service, truthOf, markets);
        await sleep(Number(values["wait-seconds"]) * SECOND_MS);
        const after = await askAll(service, truthOf, markets);
        summarise(`${checkout} seed ${seed}, first  `, before);
        summarise(`${checkout} seed ${seed}, again  `, after);
        second.get(checkout)?.push(...after);
      });
    await Promise.all(checkouts.map(runOne));
  }
  for (const [checkout, decisions] of second) summarise(`${checkout} all seeds, again`, decisions);
}

interface Estimate {
  readonly market: ListedMarket;
  readonly criterion: Json;
  readonly probability: number;
}

/** Contradictions among the estimates of one event, each with its size. */
function contradictionsOf(estimates: readonly Estimate[]): { readonly compared: number; readonly found: string[] } {
  const found: string[] = [];
  let compared = 0;
  const compareInOrder = (kind: string, ordered: readonly Estimate[]) => {
    for (const [index, narrower] of ordered.entries()) {
      const wider = ordered[index - 1];
      if (wider === undefined) continue;
      compared += 1;
      if (narrower.probability > wider.probability + TOLERANCE)
        found.push(
          `${kind}: "${narrower.market.question}" ${narrower.probability} above "${wider.market.question}" ${wider.probability}`,
        );
    }
  };
  const ofKind = (kind: string) => estimates.filter(({ criterion }) => criterion.kind === kind);
  const above = ofKind("range").filter(({ criterion }) => criterion.upTo === Number.POSITIVE_INFINITY);
  compareInOrder(
    "threshold",
    above.toSorted((a, b) => a.criterion.above - b.criterion.above),
  );
  compareInOrder(
    "deadline",
    ofKind("before").toSorted((a, b) => b.criterion.deadline - a.criterion.deadline),
  );
  const outcomes = ofKind("outcome");
  const sum = outcomes.reduce((total, { probability }) => total + probability, 0);
  if (outcomes.length > 1) {
    compared += 1;
    if (sum > 1 + TOLERANCE)
      found.push(`exclusive: ${outcomes.length} outcomes of "${outcomes[0]?.market.event.title}" sum to ${sum}`);
  }
  return { compared, found };
}

async function checkLogic(): Promise<void> {
  const { groundTruthOf } = await import("../sandbox/world/list-event.ts");
  for (const seed of values.seeds.split(",").map(Number))
    await withService(seed, PROJECT, async (service, truthOf) => {
      await sleep(WARM_UP_MS);
      const endAt = Date.now() + Number(values.minutes) * MINUTE_MS;
      let [rounds, compared] = [0, 0];
      const found: string[] = [];
      while (Date.now() < endAt) {
        for (const { slug } of await listEvents(service)) {
          const markets: Json[] = await send(service, `/v1/events/${encodeURIComponent(slug)}/markets`);
          const estimates = markets.flatMap(({ platform, market_id, model_probability: probability }): Estimate[] => {
            const market = truthOf(platform, market_id)?.market;
            if (market === undefined || typeof probability !== "number") return [];
            return [{ market, criterion: groundTruthOf(market).criterion, probability }];
          });
          const result = contradictionsOf(estimates);
          compared += result.compared;
          found.push(...result.found);
        }
        rounds += 1;
        if (rounds % 10 === 0)
          print(`seed ${seed}: ${rounds} rounds, ${compared} comparisons, ${found.length} contradictions`);
        await sleep(5 * SECOND_MS);
      }
      print(
        `seed ${seed}: ${rounds} rounds in ${values.minutes} minutes, ${compared} comparisons, ${found.length} contradictions`,
      );
      for (const contradiction of found.slice(0, 20)) print(`  ${contradiction}`);
    });
}

async function measureCoverage(): Promise<void> {
  for (const seed of values.seeds.split(",").map(Number))
    await withService(seed, PROJECT, async (service) => {
      await sleep(WARM_UP_MS);
      for (const venue of VENUES)
        for (const sort of ["volume_24h", "open_interest"]) {
          const path = `/v1/markets?source=${venue}&status=active&sort=${sort}&limit=${values.markets}`;
          const markets: Json[] = await send(service, path);
          const estimated = markets.filter(({ model_probability: probability }) => typeof probability === "number");
          print(`seed ${seed}: ${venue} by ${sort}: ${estimated.length} of ${markets.length} have an estimate`);
        }
    });
}

async function listEvents(service: ServiceProcess): Promise<{ readonly slug: string }[]> {
  const lists = VENUES.map((venue) => send(service, `/v1/events?source=${venue}&limit=100&min_markets=2`));
  return (await Promise.all(lists)).flat();
}

if (positionals[0] === "signals") await compareSignals();
else if (positionals[0] === "logic") await checkLogic();
else if (positionals[0] === "coverage") await measureCoverage();
else throw new Error("the first argument must be signals, coverage or logic");
