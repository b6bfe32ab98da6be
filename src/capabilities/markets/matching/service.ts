import type { BoardMarket } from "../../../board/index.ts";
import type { VenueId } from "../../../domain/market.ts";
import { formatMarketRef, parseMarketRef } from "../../../domain/market-name.ts";
import { PeriodicJob } from "../../../lib/periodic-job.ts";
import { isSameQuestion, type MarketPair, type MatchUpdate } from "../../../matching/index.ts";
import type { LanguageModel } from "../../../ports/language-model.ts";
import type { AreaPorts, Pipeline } from "../../area-ports.ts";
import { createMatchDecisions, MATCHES_TOPIC } from "./decisions.ts";
import { MatchJudge } from "./judge.ts";
import { AlsoOnLinks } from "./links.ts";
import { Matcher } from "./matcher.ts";
import { type MatchingReport, type MatchRequest, partnerOf } from "./model.ts";
import type { PairChanges } from "./pair-map.ts";

const MATCH_THREAD = new URL("./match-thread.ts", import.meta.url);
/** Maximum heap size of the thread, enough for an index of 300,000 markets. */
const THREAD_MEMORY_MIB_MAX = 1_024;
/** Interval of reading the decisions again, because a bus message can be lost. */
const DECISIONS_POLL_MS = 5_000;

/** A language model that judges uncertain pairs. */
export interface MatchJudgeSettings {
  readonly model: LanguageModel;
  /** Maximum cost in 24 hours, USD. */
  readonly dailyBudgetUsd: number;
}

export interface MatchingDependencies
  extends Pick<AreaPorts, "database" | "bus" | "clock" | "random" | "log" | "openStateThread" | "isReadOnly" | "node">,
    Pick<Pipeline, "board"> {
  /** Null or omitted without a language model. */
  readonly matchJudge?: MatchJudgeSettings | null;
  readonly venues: readonly Pick<AreaPorts["venues"][number], "id" | "playMoney">[];
}

/** Receives the changes of the pairs, synchronously. Must not throw. */
export interface PairObserver {
  /** A changed pair is in both lists. Apply the removals first. */
  onPairs(changes: PairChanges): void;
}

/** A market of another venue that asks the same question. */
export interface MatchedMarket {
  readonly market: BoardMarket;
  /** True if YES of this market is NO of the given market. */
  readonly isInverse: boolean;
  readonly isPlayMoney: boolean;
  /** Calibrated probability that both ask the same question, in [0, 1]. */
  readonly confidence: number;
}

export type Matching = ReturnType<typeof createMatching>;
export type MatchedPairs = Pick<Matching, "pairs" | "observe">;

/**
 * Finds the markets of the board that ask the same question at different venues. Create it before the board is filled,
 * because it observes every change of the board.
 */
export function createMatching(ports: MatchingDependencies) {
  const { board, database, bus, clock, log } = ports;
  const observers: PairObserver[] = [];
  let pairsRevision = 0;
  const playMoneyVenues = new Set(ports.venues.filter(({ playMoney }) => playMoney).map(({ id }) => id));

  const { matchJudge = null } = ports;
  const judge =
    matchJudge === null
      ? null
      : new MatchJudge({
          ...ports,
          ...matchJudge,
          mayAsk: ports.isReadOnly !== true && ports.node?.maintains !== false,
          candidates: () => matcher.candidates.values(),
          onJudgements: (judgements) => matcher.addJudgements(judgements),
        });
  const matcher = new Matcher({
    board,
    clock,
    log,
    judge,
    openThread: () =>
      ports.openStateThread<MatchRequest, MatchUpdate>(MATCH_THREAD, { memoryMibMax: THREAD_MEMORY_MIB_MAX }),
    onChange(changes, newUrls) {
      pairsRevision += 1;
      for (const id of listMarkets(changes)) links.update(id);
      for (const id of newUrls) {
        // A market that left the board and returned may have the same pairs, so no pair change updates its links.
        links.update(id);
        links.updatePartners(id);
      }
      if (changes.added.length > 0 || changes.removed.length > 0)
        for (const observer of observers) observer.onPairs(changes);
    },
  });
  const { pairs, eventPairs } = matcher;
  const links = new AlsoOnLinks(board, (id) => pairs.of(id));
  board.observe({ onSet: () => {}, onRemove: (row) => links.onRemove(row) });
  const decisions = createMatchDecisions({
    database,
    clock,
    venues: ports.venues.map(({ id }) => id),
    onChanged() {
      bus.publish(MATCHES_TOPIC);
      reader.wake();
    },
  });

  let hasDecisions = false;
  let lastDecisions = "";

  /** Reads the decisions again. Matching starts after the first success, so that no forbidden pair is served. */
  const readDecisions = async (signal: AbortSignal) => {
    const latest = (await decisions.list()).map(({ a, b, decision }) => ({ a, b, decision }));
    const text = JSON.stringify(latest);
    if (!hasDecisions || text !== lastDecisions) matcher.setOverrides(latest);
    lastDecisions = text;
    if (!hasDecisions && !signal.aborted) matcher.start();
    hasDecisions = true;
  };
  const reader = new PeriodicJob({
    clock,
    intervalMs: DECISIONS_POLL_MS,
    run: readDecisions,
    onFailure(error, failures) {
      if (failures === 1) log.warn({ err: error }, "reading the decisions about matches failed; retrying");
    },
  });
  let unsubscribe = () => {};

  /** The markets of other venues that ask the same question, most likely first. */
  const equalMarketsOf = ({ listing }: BoardMarket): MatchedMarket[] => {
    const id = formatMarketRef(listing);
    const equalPairs = pairs.of(id).filter(isSameQuestion);
    return equalPairs
      .sort((a, b) => b.confidence - a.confidence)
      .flatMap((pair) => {
        const partner = parseMarketRef(partnerOf(pair, id));
        const market = board.find(partner.venue, partner.marketId);
        if (market === null) return [];
        return [
          {
            market,
            isInverse: pair.relation === "inverse",
            isPlayMoney: playMoneyVenues.has(partner.venue),
            confidence: pair.confidence,
          },
        ];
      });
  };

  return {
    decisions,
    /** All pairs, of every relation and confidence. */
    pairs: (): IterableIterator<MarketPair> => pairs.values(),
    pairsOf: (venue: VenueId, marketId: string) => pairs.of(formatMarketRef({ venue, marketId })),
    eventPairsOf: (slug: string) => eventPairs.of(slug),
    /** URLs of the same market at other venues; the same object until they change. Null if there are none. */
    alsoOnOf: (market: BoardMarket) => links.find(market),
    equalMarketsOf,
    /** Changes with the pairs and when a market of a pair returns to the board. */
    get pairsRevision() {
      return pairsRevision;
    },
    observe(observer: PairObserver): void {
      observers.push(observer);
    },
    get report(): MatchingReport {
      return { ...matcher.report, judge: judge?.report ?? null };
    },
    /** True when all markets that were on the board have been matched once. */
    get isComplete() {
      return matcher.isComplete;
    },

    start(): void {
      unsubscribe = bus.subscribe(MATCHES_TOPIC, () => reader.wake());
      reader.start();
      judge?.start();
    },
    async stop(): Promise<void> {
      unsubscribe();
      await Promise.all([reader.stop(), judge?.stop()]);
      await matcher.stop();
    },
  };
}

function listMarkets({ added, removed }: PairChanges): Set<string> {
  return new Set([...added, ...removed].flatMap(({ a, b }) => [a, b]));
}
