import type { MarketBoard } from "../../../board/index.ts";
import { parseMarketRef } from "../../../domain/market-name.ts";
import { AsyncEvent } from "../../../lib/async-event.ts";
import { PeriodicJob } from "../../../lib/periodic-job.ts";
import {
  type EventPair,
  isSameQuestion,
  type MarketPair,
  type MatchJudgement,
  type MatchOverride,
  type MatchUpdate,
  PAIR_CONFIDENCE_MIN,
} from "../../../matching/index.ts";
import type { Clock } from "../../../ports/clock.ts";
import type { Log } from "../../../ports/log.ts";
import type { StateThread } from "../../../ports/state-thread.ts";
import { type BoardBatch, BoardChanges } from "./board-changes.ts";
import { CANDIDATE_CONFIDENCE_MAX, type MatchingReport, type MatchRequest, RULES_LENGTH_MAX } from "./model.ts";
import { type PairChanges, PairMap } from "./pair-map.ts";

/** Maximum number of changed markets that the thread matches per request, which takes about 50 ms. */
const MATCHES_PER_REQUEST = 100;
const RULES_PER_REQUEST = 50;
const JUDGEMENTS_PER_REQUEST = 50;
const RESTART_PAUSE_MS_MIN = 1_000;
const RESTART_DOUBLINGS_MAX = 6;

export interface MatcherOptions {
  readonly board: MarketBoard;
  readonly clock: Clock;
  readonly log: Log;
  readonly openThread: () => StateThread<MatchRequest, MatchUpdate>;
  /** Called with the changes of the pairs and with the markets whose URL is new. It must not throw. */
  readonly onChange: (changes: PairChanges, newUrls: readonly string[]) => void;
  /** Judges uncertain pairs; null without a language model. */
  readonly judge: JudgementSource | null;
}

/** What the matcher needs from the judge of uncertain pairs. */
export interface JudgementSource {
  /** Called before the thread gets the changes: with markets whose text may have changed, and with removed markets. */
  onMarkets(changed: readonly string[], removed: readonly string[]): void;
  /** Returns all judgements, for a new thread. */
  list(): readonly MatchJudgement[];
}

const isCandidate = (pair: MarketPair): boolean =>
  isSameQuestion(pair) && pair.source === "model" && pair.confidence < CANDIDATE_CONFIDENCE_MAX;

/**
 * Keeps the pairs up to date: sends the changes of the board to the matching thread, one request at a time, and stores
 * the returned pairs. A failed thread is replaced, and the new thread gets the whole board again.
 */
export class Matcher {
  readonly pairs = new PairMap<MarketPair>();
  /** Uncertain pairs that a language model may judge. Some are also in `pairs`. */
  readonly candidates = new PairMap<MarketPair>();
  readonly eventPairs = new PairMap<EventPair>();
  readonly #options: MatcherOptions;
  readonly #changes: BoardChanges;
  readonly #job: PeriodicJob;
  readonly #work = new AsyncEvent();
  #thread: StateThread<MatchRequest, MatchUpdate> | null = null;
  /** Markets whose rules the thread has requested. */
  readonly #wantedRules = new Set<string>();
  /** Markets whose rules have been sent to the thread. */
  readonly #sentRules = new Set<string>();
  #unsentJudgements: MatchJudgement[] = [];
  #overrides: readonly MatchOverride[] = [];
  #areOverridesSent = false;
  /** Number of changed markets that the thread had not matched at its last response. */
  #threadPendingCount = 0;
  /** Whether the current thread has matched the whole board. */
  #isThreadComplete = false;
  #isComplete = false;
  #restarts = 0;

  constructor(options: MatcherOptions) {
    this.#options = options;
    this.#changes = new BoardChanges(options.board, () => this.#work.set());
    options.board.observe(this.#changes);
    this.#job = new PeriodicJob({
      clock: options.clock,
      intervalMs: (failures) => RESTART_PAUSE_MS_MIN * 2 ** Math.min(failures - 1, RESTART_DOUBLINGS_MAX),
      run: (signal) => this.#run(signal),
      onFailure: (error, failures) => {
        this.#restarts += 1;
        options.log.error({ err: error, failures }, "the matching thread failed and is replaced");
      },
    });
  }

  /** True when all markets that were on the board have been matched once. */
  get isComplete(): boolean {
    return this.#isComplete;
  }

  get report(): Omit<MatchingReport, "judge"> {
    return {
      pairs: this.pairs.size,
      pendingCount: this.#changes.pendingCount + this.#threadPendingCount,
      restarts: this.#restarts,
      isFailing: this.#job.hasFailed,
    };
  }

  /** Replaces all decisions of operators. Must be called before `start`, so that no forbidden pair is served. */
  setOverrides(overrides: readonly MatchOverride[]): void {
    this.#overrides = overrides;
    this.#areOverridesSent = false;
    this.#work.set();
  }

  /** Adds, replaces or withdraws judgements. */
  addJudgements(judgements: readonly MatchJudgement[]): void {
    this.#unsentJudgements.push(...judgements);
    this.#work.set();
  }

  start(): void {
    this.#job.start();
  }

  async stop(): Promise<void> {
    const stopped = this.#job.stop();
    this.#work.set();
    await this.#thread?.close();
    await stopped;
  }

  async #run(signal: AbortSignal): Promise<void> {
    const thread = this.#options.openThread();
    this.#thread = thread;
    try {
      await this.#feed(thread, signal);
    } finally {
      await thread.close();
    }
  }

  /** Sends changes until the matcher stops. @throws Error if the thread fails */
  async #feed(thread: StateThread<MatchRequest, MatchUpdate>, signal: AbortSignal): Promise<void> {
    const { clock, onChange, judge } = this.#options;
    this.#changes.reset();
    this.#wantedRules.clear();
    this.#sentRules.clear();
    this.#areOverridesSent = false;
    this.#threadPendingCount = 0;
    this.#isThreadComplete = false;
    this.#unsentJudgements = [...(judge?.list() ?? [])];
    this.pairs.startGeneration();
    this.candidates.startGeneration();
    this.eventPairs.startGeneration();
    while (!signal.aborted) {
      // Changes of a burst are sent together, and an API request waits for at most one batch.
      await clock.yieldToEventLoop();
      if (!this.#hasWork()) {
        if (!this.#isThreadComplete) await this.#complete();
        else await this.#work.wait(clock, null);
        continue;
      }
      const batch = this.#changes.take();
      if (batch.newUrls.length > 0) onChange({ added: [], removed: [] }, batch.newUrls);
      const request = this.#createRequest(batch);
      if (isEmpty(request) && this.#threadPendingCount === 0) continue;
      const update = await thread.request(request);
      this.#threadPendingCount = update.pendingCount;
      for (const id of update.rulesWanted) this.#wantedRules.add(id);
      this.eventPairs.apply(update.addedEvents, update.removedEvents);
      if (judge !== null) this.candidates.apply(update.added.filter(isCandidate), update.removed);
      const added = update.added.filter(({ confidence }) => confidence >= PAIR_CONFIDENCE_MIN);
      onChange(this.pairs.apply(added, update.removed), []);
    }
  }

  #hasWork(): boolean {
    return (
      !this.#areOverridesSent ||
      this.#wantedRules.size > 0 ||
      this.#unsentJudgements.length > 0 ||
      this.#threadPendingCount > 0 ||
      this.#changes.pendingCount > 0
    );
  }

  #createRequest({ removed, markets, newRules }: BoardBatch): MatchRequest {
    this.#options.judge?.onMarkets([...markets.map(({ id }) => id), ...newRules], removed);
    for (const id of removed) this.#sentRules.delete(id);
    if (removed.length > 0 && this.#unsentJudgements.length > 0) {
      const gone = new Set(removed);
      this.#unsentJudgements = this.#unsentJudgements.filter(({ a, b }) => !gone.has(a) && !gone.has(b));
    }
    for (const id of newRules) if (this.#sentRules.has(id)) this.#wantedRules.add(id);
    const overrides = this.#areOverridesSent ? null : this.#overrides;
    this.#areOverridesSent = true;
    // Matching before the whole board has been sent would compare with a part of the board and be repeated.
    const limit = this.#changes.pendingCount > 0 && !this.#isThreadComplete ? 0 : MATCHES_PER_REQUEST;
    return {
      hasJudge: this.#options.judge !== null,
      removed,
      markets,
      rules: this.#takeRules(),
      judgements: this.#unsentJudgements.splice(0, JUDGEMENTS_PER_REQUEST),
      overrides,
      limit,
    };
  }

  #takeRules(): MatchRequest["rules"] {
    const rules: { id: string; rules: string | null }[] = [];
    for (const id of this.#wantedRules) {
      if (rules.length >= RULES_PER_REQUEST) break;
      this.#wantedRules.delete(id);
      const { venue, marketId } = parseMarketRef(id);
      const market = this.#options.board.find(venue, marketId);
      if (market?.listing.status !== "active") continue;
      this.#sentRules.add(id);
      rules.push({ id, rules: market.listing.rules?.slice(0, RULES_LENGTH_MAX) ?? null });
    }
    return rules;
  }

  /** Called when the thread has matched the whole board. Removes pairs that this thread has not found. */
  async #complete(): Promise<void> {
    const { clock, onChange, log } = this.#options;
    await this.pairs.removeOutdated(clock, (removed) => onChange({ added: [], removed }, []));
    await this.candidates.removeOutdated(clock, () => {});
    await this.eventPairs.removeOutdated(clock, () => {});
    this.#isThreadComplete = true;
    this.#isComplete = true;
    this.#job.reportSuccess();
    log.info({ pairs: this.pairs.size }, "all markets on the board are matched");
  }
}

function isEmpty({ removed, markets, rules, judgements, overrides }: MatchRequest): boolean {
  const count = removed.length + markets.length + rules.length + judgements.length;
  return count === 0 && overrides === null;
}
