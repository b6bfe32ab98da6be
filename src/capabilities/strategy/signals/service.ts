import type { BoardMarket } from "../../../board/index.ts";
import { categoryOf } from "../../../domain/category.ts";
import { acceptsOrders } from "../../../domain/close-time.ts";
import { AppError, invalidValue } from "../../../domain/errors.ts";
import {
  decideSignal,
  findTradeCandidate,
  REFERENCE_BANKROLL_USD,
  type ShadowEntry,
  type Signal,
  type SignalInput,
  type SizingOptions,
  type TradeCandidate,
} from "../../../trading/index.ts";
import type { AnalysesService, StoredAnalysis } from "../../analysis/analyses/index.ts";
import type { MarketDependencies } from "../../markets/ports.ts";
import { type FindMarketDependencies, findMarket } from "./find-market.ts";
import { quoteBook, toTradedMarket } from "./known-book.ts";
import {
  KELLY_SHARE_DEFAULT,
  type MarketSignal,
  POSITION_MAX_DEFAULT,
  type PreparedSignal,
  type RunningAnalysis,
  type SignalPreparation,
  type SignalRequest,
} from "./model.ts";

/** Maximum time that a call waits for its analysis. */
const WAIT_MS_MAX = 300_000;
const POLL_MS = 250;

/** Sizing of the shadow book, independent of the callers' bankrolls. */
export const SHADOW_SIZING: SizingOptions = {
  bankrollUsd: REFERENCE_BANKROLL_USD,
  kellyShare: KELLY_SHARE_DEFAULT,
  positionMax: POSITION_MAX_DEFAULT,
};

export interface SignalDependencies
  extends FindMarketDependencies,
    Pick<MarketDependencies, "readBook" | "isPlayMoney"> {
  readonly analyses: Pick<AnalysesService, "analyse" | "latest" | "move" | "getStatus">;
  /** Adds a trade to the shadow book, at most once per analysis and side. */
  readonly enterShadowTrade: (entry: ShadowEntry) => Promise<unknown>;
  readonly onSignal?: SignalObserver;
}

/** Called for each signal on request and for each signal of a completed analysis. Must not throw. */
export type SignalObserver = (recommendation: Signal["recommendation"], origin: "request" | "analysis") => void;

export type SignalsService = ReturnType<typeof createSignalsService>;

/** Computes signals from analyses, and adds recommended trades to the shadow book. */
export function createSignalsService(ports: SignalDependencies) {
  const { clock, analyses } = ports;
  const stopped = new AbortController();

  /**
   * Reads the current order book, from a stream or from a request within the last seconds. Estimate and price are
   * computed from this book.
   */
  const readInputs = async (
    market: BoardMarket,
    stored: StoredAnalysis,
    answer: PreparedSignal["answer"],
  ): Promise<PreparedSignal> => {
    const book = acceptsOrders(market.listing, market.updatedAt, clock.now()) ? await ports.readBook(market) : null;
    const now = clock.now();
    const current = book === null ? market : quoteBook(market, book, now);
    return { market: current, stored: analyses.move(stored, current), book, answer, now };
  };

  const decide = (prepared: PreparedSignal, sizing: SizingOptions): Signal =>
    decideSignal(toInput(prepared, ports.isPlayMoney(prepared.market)), sizing);

  const enter = async (prepared: PreparedSignal, isRequested: boolean): Promise<void> => {
    const signal = decide(prepared, SHADOW_SIZING);
    if (!isRequested) ports.onSignal?.(signal.recommendation, "analysis");
    const entry = toShadowEntry(prepared, signal, isRequested);
    if (entry !== null) await ports.enterShadowTrade(entry);
  };

  const findAnalysis = async (market: BoardMarket, isForced: boolean): Promise<StoredAnalysis | null> => {
    if (isForced) return null;
    const { venue, marketId } = market.listing;
    const stored = await analyses.latest(venue, marketId);
    return stored === null || analyses.move(stored, market).freshness === "expired" ? null : stored;
  };

  /** Waits until a run has ended. Returns false after a timeout, if the caller disconnects, or if the service stops. */
  const waitFor = async ({ analysisId }: RunningAnalysis, signal: AbortSignal): Promise<boolean> => {
    const ended = AbortSignal.any([signal, stopped.signal]);
    const until = clock.now() + WAIT_MS_MAX;
    for (;;) {
      const { run } = await analyses.getStatus(analysisId, null);
      if (run.status === "error")
        throw new AppError("analysis_failed", run.errorMessage ?? "The analysis of this market failed");
      if (run.status === "complete") return true;
      if (ended.aborted || clock.now() >= until) return false;
      await clock.sleep(POLL_MS, ended).catch(() => {});
    }
  };

  /** Finds the market, its analysis and its order book. Starts an analysis if no usable analysis exists. */
  const prepare = async (request: SignalRequest): Promise<SignalPreparation> => {
    const { market, answer } = await findMarket(ports, request);
    const { venue, marketId } = market.listing;
    const stored = await findAnalysis(market, request.isForced);
    const prepared = stored === null ? null : await readInputs(market, stored, answer);
    if (prepared !== null && prepared.stored.freshness !== "expired") return { kind: "ready", prepared };
    assertTradable(market, clock.now());
    const { customerId, isForced, waits, signal } = request;
    const run = { market, ...(await analyses.analyse(venue, marketId, { customerId, isForced })) };
    if (!waits || !(await waitFor(run, signal))) return { kind: "running", run };
    const completed = await analyses.latest(venue, marketId);
    if (completed === null) throw new AppError("analysis_failed", "The result of the analysis is not stored any more");
    // The price may have moved during the analysis, so the market is read again.
    const current = ports.board.find(venue, marketId) ?? market;
    return { kind: "ready", prepared: await readInputs(current, completed, answer) };
  };

  return {
    prepare,
    decide,

    /** Returns the side with an edge and its offers; null if no side has an edge. */
    candidateOf(prepared: PreparedSignal): TradeCandidate | null {
      const candidate = findTradeCandidate(toInput(prepared, ports.isPlayMoney(prepared.market)));
      return typeof candidate === "string" ? null : candidate;
    },

    /**
     * Returns a signal, or the running analysis that the signal requires. A trade that is recommended for the shadow
     * book's bankroll is added to the shadow book before this resolves.
     *
     * @throws AppError `market_not_found`, `analysis_failed`, `venue_unavailable`, `overloaded`, `rate_limited`,
     *   `store_unavailable`; InvalidRequestError; VenueError
     */
    async generate(request: SignalRequest & { readonly sizing: SizingOptions }) {
      const preparation = await prepare(request);
      if (preparation.kind === "running") return preparation;
      const { prepared } = preparation;
      const signal = decide(prepared, request.sizing);
      ports.onSignal?.(signal.recommendation, "request");
      await enter(prepared, true);
      const answer: MarketSignal = { ...prepared, signal, bankrollUsd: request.sizing.bankrollUsd };
      return { kind: "signal" as const, signal: answer };
    },

    /**
     * Adds the signal of a completed analysis to the shadow book if it recommends a trade. Called for every analysis,
     * so that the track record does not depend on customers' requests.
     */
    async record(market: BoardMarket, stored: StoredAnalysis): Promise<void> {
      if (stored.result.analysis.recommendation === "NO_TRADE") return;
      await enter(await readInputs(market, stored, null), false);
    },

    /** Ends all waiting calls, so that a shutdown does not take five minutes. */
    stop(): void {
      stopped.abort();
    },
  };
}

/** Rejects a new analysis of a market that can no longer be traded. @throws InvalidRequestError */
function assertTradable({ listing, updatedAt }: BoardMarket, now: number): void {
  // A paused market is accepted, because the pause may end soon after the analysis.
  if (acceptsOrders({ ...listing, paused: false }, updatedAt, now)) return;
  throw invalidValue(["body", "market_id"], "the market is not open for orders and has no usable analysis", null);
}

function toInput({ market, stored, book, now }: PreparedSignal, isPlayMoney: boolean): SignalInput {
  const { analysis } = stored.result;
  return {
    now,
    analysis,
    market: toTradedMarket(market, isPlayMoney, now),
    yesPrice: analysis.marketPrice,
    book: book === null ? null : { at: now, bids: book.bids, asks: book.asks },
  };
}

/** Returns the shadow trade of a signal; null if it recommends no trade. */
function toShadowEntry(
  { market: { listing }, stored, now }: PreparedSignal,
  { recommendation, fill, probability, yesPrice, executableEdge, sizePct }: Signal,
  isRequested: boolean,
): ShadowEntry | null {
  if (recommendation === "NO_TRADE" || fill === null || executableEdge === null) return null;
  return {
    analysisId: stored.analysisId,
    venue: listing.venue,
    marketId: listing.marketId,
    title: listing.title,
    category: categoryOf(listing.category),
    at: now,
    probability,
    sizePct,
    isRequested,
    side: recommendation === "BUY_YES" ? "yes" : "no",
    contracts: fill.contracts,
    price: fill.averagePrice,
    feeUsd: fill.feeUsd,
    marketPrice: yesPrice,
    edge: executableEdge,
  };
}
