import type { BoardMarket } from "../../../board/index.ts";
import { InvalidRequestError, type ValidationItem } from "../../../domain/errors.ts";
import type { VenueId } from "../../../domain/market.ts";
import { formatMarketRef, type MarketRef, parseMarketName } from "../../../domain/market-name.ts";
import type { Clock } from "../../../ports/clock.ts";
import type { WorkerPool } from "../../../ports/worker-pool.ts";
import type { PairCorrelation } from "../../../quant/correlation.ts";
import { logOddsMoves } from "../../../quant/price-grid.ts";
import { stableCorrelations } from "../../../quant/stable-correlation.ts";
import type { PriceSeries } from "../../../storage/index.ts";
import { lookUpMarkets } from "../look-up.ts";
import type { MarketsService } from "../market-data/index.ts";
import { ALSO_ON_CONFIDENCE_MIN } from "../matching/index.ts";
import type { MarketDependencies } from "../ports.ts";
import { computeReport } from "./compute.ts";
import { CORRELATED_MARKETS_MAX, type CorrelationPeriod, type CorrelationTask, type MatchedPair } from "./model.ts";
import { type CorrelationReport, encodeReport } from "./report.ts";

/** Maximum time that a request waits for history from the venues. */
const FETCH_TIMEOUT_MS = 5_000;
/** Maximum time for a request for which missing coefficients are acceptable. */
const SHORT_FETCH_TIMEOUT_MS = 500;
/** Maximum multiplications of a computation on the main thread, which delays other requests by a few milliseconds. */
const INLINE_PRODUCTS_MAX = 1_000_000;

/** The selection for internal callers: all pairs over 30 days. */
const MONTH = { period: "30d", minCorrelation: null, limit: null } as const;

interface CorrelationDependencies extends Pick<MarketDependencies, "board" | "clock" | "venues" | "pairsOf"> {
  readonly markets: Pick<MarketsService, "getMarket" | "getEvent">;
  /** Fetches history of this period that is missing in the store, if the venues answer in time. Never rejects. */
  readonly fetchMissingHistory: (
    markets: readonly BoardMarket[],
    options: { readonly period: CorrelationPeriod; readonly timeoutMs: number },
  ) => Promise<void>;
  readonly readPriceSeries: (
    marketKeys: readonly (number | null)[],
    options: { readonly period: CorrelationPeriod; readonly now: number },
  ) => Promise<PriceSeries>;
  readonly workers: WorkerPool<CorrelationTask, CorrelationReport>;
}

/** Selection of the returned pairs (`CorrelationTask`). */
export type PairChoice = Pick<CorrelationTask, "period" | "minCorrelation" | "limit">;

interface MarketName extends MarketRef {
  /** Name of the market in the request. */
  readonly name: string;
}

export type CorrelationService = ReturnType<typeof createCorrelationService>;

/** Computes correlations from stored prices. Large computations run on a worker thread. */
export function createCorrelationService(ports: CorrelationDependencies) {
  const { board, clock } = ports;

  /** Fetches missing history, then reads the prices of the markets. */
  const readTask = async (
    markets: readonly BoardMarket[],
    names: readonly string[],
    choice: PairChoice,
    timeoutMs = FETCH_TIMEOUT_MS,
  ): Promise<CorrelationTask> => {
    const { period } = choice;
    await ports.fetchMissingHistory(markets, { period, timeoutMs });
    const generatedAt = clock.now();
    // The fetch may have stored a market for the first time.
    const keys = markets.map(({ listing, storeKey }) => storeKey ?? findStoreKey(listing));
    const { grid, series } = await ports.readPriceSeries(keys, { period, now: generatedAt });
    const venues = new Set(markets.map(({ listing }) => listing.venue));
    const platform = venues.size === 1 ? (markets[0]?.listing.venue ?? null) : null;
    return {
      ...choice,
      marketIds: names,
      platform,
      matches: findMatches(markets, ports.pairsOf),
      grid,
      series,
      generatedAt,
    };
  };

  const correlate = async (
    markets: readonly BoardMarket[],
    names: readonly string[],
    choice: PairChoice,
  ): Promise<AsyncIterable<string>> => {
    const task = await readTask(markets, names, choice);
    const { grid, series } = task;
    const products = (markets.length * (markets.length - 1) * grid.count) / 2;
    const buffers = series.flatMap(({ times, prices }) => [times.buffer, prices.buffer]);
    const report = products <= INLINE_PRODUCTS_MAX ? computeReport(task) : await ports.workers.run(task, buffers);
    return encodeInTurns(report, clock);
  };
  const findStoreKey = ({ venue, marketId }: BoardMarket["listing"]): number | null =>
    board.find(venue, marketId)?.storeKey ?? null;

  return {
    /**
     * Returns the correlations of these markets as JSON, in pieces of about 32 KiB that are encoded on demand.
     *
     * @param marketIds  ids at the venue `platform`, or `platform/market_id`
     * @throws InvalidRequestError for an id without venue and for a repeated market; AppError `market_not_found`,
     *   `overloaded`, `store_unavailable`; VenueError
     */
    async correlateMarkets(
      marketIds: readonly string[],
      platform: VenueId | null,
      choice: PairChoice,
    ): Promise<AsyncIterable<string>> {
      const names = parseNames(marketIds, platform, ports.venues);
      const { getMarket } = ports.markets;
      const describeUnknown = ({ name }: MarketName) => `There is no such market on this venue: ${name}`;
      const markets = await lookUpMarkets({ board, getMarket }, names, describeUnknown);
      return correlate(markets, marketIds, choice);
    },

    /**
     * Returns the correlation of two markets' log-odds moves over 30 days, at the horizon at which it is stable.
     *
     * @throws AppError `store_unavailable`
     */
    async correlatePair(a: BoardMarket, b: BoardMarket): Promise<Pick<PairCorrelation, "correlation" | "dataPoints">> {
      const { series, grid } = await readTask([a, b], [], MONTH);
      const [pair] = stableCorrelations(series.map((prices) => logOddsMoves(prices, grid)));
      return pair ?? { correlation: null, dataPoints: 0 };
    },

    /**
     * Returns the correlations of up to 50 markets' log-odds moves over 30 days, as in `correlatePair`. `dataPoints` is
     * the number of independent moves. Waits at most half a second for history that is missing in the store.
     *
     * @returns  all pairs of indexes of `markets`
     * @throws AppError `store_unavailable`
     */
    async correlatePairs(markets: readonly BoardMarket[]): Promise<PairCorrelation[]> {
      if (markets.length < 2) return [];
      const { series, grid } = await readTask(markets, [], MONTH, SHORT_FETCH_TIMEOUT_MS);
      return stableCorrelations(series.map((prices) => logOddsMoves(prices, grid))).map((pair) => ({
        a: pair.a,
        b: pair.b,
        correlation: pair.correlation,
        dataPoints: Math.round(pair.effectivePoints ?? pair.dataPoints),
      }));
    },

    /**
     * Returns the correlations of an event's markets as `correlateMarkets` does. If the event has more than 500
     * markets, only the 500 with the largest volume are compared.
     *
     * @throws AppError `event_not_found`, `overloaded`, `store_unavailable`
     */
    async correlateEvent(slug: string, choice: PairChoice): Promise<AsyncIterable<string>> {
      const { markets } = ports.markets.getEvent(slug);
      const volumeOf = ({ activity }: BoardMarket) => activity.volume24hUsd ?? 0;
      const compared = markets.toSorted((a, b) => volumeOf(b) - volumeOf(a)).slice(0, CORRELATED_MARKETS_MAX);
      return correlate(
        compared,
        compared.map(({ listing }) => listing.marketId),
        choice,
      );
    },
  };
}

/** Yields to the event loop after each piece, because a fast client could otherwise delay other requests. */
async function* encodeInTurns(report: CorrelationReport, clock: Clock): AsyncGenerator<string> {
  for (const piece of encodeReport(report)) {
    yield piece;
    await clock.yieldToEventLoop();
  }
}

/** Returns the published matches: pairs of markets with the same or opposite questions. */
function findMatches(markets: readonly BoardMarket[], pairsOf: MarketDependencies["pairsOf"]): MatchedPair[] {
  const indexes = new Map(markets.map(({ listing }, index) => [formatMarketRef(listing), index]));
  return markets.flatMap(({ listing }, own) =>
    pairsOf(listing.venue, listing.marketId).flatMap((pair): MatchedPair[] => {
      const other = indexes.get(pair.a === formatMarketRef(listing) ? pair.b : pair.a);
      if (other === undefined || other <= own || pair.confidence < ALSO_ON_CONFIDENCE_MIN) return [];
      if (pair.relation === "identical") return [{ a: own, b: other, correlation: pair.confidence }];
      return pair.relation === "inverse" ? [{ a: own, b: other, correlation: -pair.confidence }] : [];
    }),
  );
}

/** @throws InvalidRequestError that lists every name without a venue and every repeated market */
function parseNames(
  marketIds: readonly string[],
  platform: VenueId | null,
  venues: readonly VenueId[],
): readonly MarketName[] {
  const errors: ValidationItem[] = [];
  const indexes = new Map<string, number>();
  const names = marketIds.flatMap((name, index): MarketName[] => {
    const fail = (reason: string) => {
      const loc = ["body", "market_ids", index];
      errors.push({ type: "value_error", loc, msg: `Value error, ${reason}`, input: name, ctx: { error: {} } });
      return [];
    };
    const market = parseMarketName(name, venues, platform);
    if (market === null) return fail("the venue is missing; send platform, or ids of the form platform/market_id");
    const id = formatMarketRef(market);
    if (indexes.has(id)) return fail(`this is the same market as at position ${indexes.get(id)}`);
    indexes.set(id, index);
    return [{ name, ...market }];
  });
  if (errors.length > 0) throw new InvalidRequestError(errors);
  return names;
}
