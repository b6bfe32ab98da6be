import { createHash } from "node:crypto";
import { eventSlugOf, type MarketBoard } from "../../../board/index.ts";
import { parseMarketRef } from "../../../domain/market-name.ts";
import { chunksOf } from "../../../lib/chunks.ts";
import { DAY_MS, MINUTE_MS } from "../../../lib/durations.ts";
import { PeriodicJob } from "../../../lib/periodic-job.ts";
import type { MarketPair, MatchJudgement } from "../../../matching/index.ts";
import type { Clock } from "../../../ports/clock.ts";
import type { Database } from "../../../ports/database.ts";
import type { LanguageModel } from "../../../ports/language-model.ts";
import type { Log } from "../../../ports/log.ts";
import type { Random } from "../../../ports/random.ts";
import { askModel, ModelBudget, type ModelCall, maximumCostOf } from "../../../prompting/ask.ts";
import { type Judgement, judgePrompt, type MarketText, parseJudgement } from "./judge-prompt.ts";
import {
  claimJudgement,
  deleteOldJudgements,
  type StoredJudgement,
  selectJudgements,
  settleJudgement,
} from "./judge-queries.ts";
import type { JudgementSource } from "./matcher.ts";
import { type JudgeReport, RULES_LENGTH_MAX } from "./model.ts";

/** Part of the hash. Change it with the prompt, so that the texts are judged again. */
const PROMPT_VERSION = 1;
const INTERVAL_MS = 30_000;
const FAILURE_PAUSE_DOUBLINGS_MAX = 7;
/** Maximum number of simultaneous calls. */
const CALLS_MAX = 4;
/** Maximum number of pairs per run. The others follow in later runs. */
const PAIRS_PER_RUN_MAX = 2_000;
const HASHES_PER_READ = 500;
/** Maximum number of attempts for the same texts. Without an answer, they are then not judged. */
const ATTEMPTS_MAX = 3;
/** A call of another node that began this long ago was interrupted. Longer than both attempts of a call. */
const CLAIM_MS = 10 * MINUTE_MS;
/** Age at which a judgement is deleted. Markets that still exist are then judged again. */
const KEPT_MS = 180 * DAY_MS;
/** Number of consecutive rejected prompts after which a run ends, because the server probably rejects all of them. */
const REJECTED_IN_A_ROW_MAX = 5;
const ASK_LIMITS = { outputTokens: 400, answerCharacters: 1_000, callMs: MINUTE_MS };

export interface JudgePorts {
  readonly board: MarketBoard;
  readonly database: Database;
  readonly clock: Clock;
  readonly random: Pick<Random, "bytes" | "uniform">;
  readonly log: Log;
  readonly model: LanguageModel;
  /** Maximum cost of the calls of all nodes in 24 hours, USD. */
  readonly dailyBudgetUsd: number;
  /** False on a node that only applies the judgements of other nodes. */
  readonly mayAsk: boolean;
  /** The uncertain pairs. */
  readonly candidates: () => Iterable<MarketPair>;
  /** Applies new and withdrawn judgements. */
  readonly onJudgements: (judgements: readonly MatchJudgement[]) => void;
}

/** A pair that was a candidate in some run. */
interface KnownPair {
  readonly a: string;
  readonly b: string;
  /** Identifies the texts of that run. */
  readonly textHash: string;
  /** Null without a judgement. */
  readonly judgement: MatchJudgement | null;
  /** True if the model is not asked again, because all attempts ended without an answer. */
  readonly isExhausted: boolean;
}

/**
 * Has a language model judge uncertain pairs from their titles and rules. The store keeps the judgements by the hash of
 * both texts: the same texts are judged once, by one node. The model sees no prices, and its answer only changes the
 * probability of a match that has no conflict.
 */
export class MatchJudge implements JudgementSource {
  readonly #ports: JudgePorts;
  readonly #job: PeriodicJob;
  readonly #known = new Map<string, KnownPair>();
  /** Keys of the known pairs of a market. */
  readonly #keysOf = new Map<string, Set<string>>();
  readonly #calls: Record<string, number> = {};
  #waitingCount = 0;
  #costUsd = 0;
  #cleanedAt = Number.NEGATIVE_INFINITY;
  #rejectedInARow = 0;
  #isBudgetLogged = false;

  constructor(ports: JudgePorts) {
    this.#ports = ports;
    this.#job = new PeriodicJob({
      clock: ports.clock,
      intervalMs: (failures) => INTERVAL_MS * 2 ** Math.min(failures, FAILURE_PAUSE_DOUBLINGS_MAX),
      run: (signal) => this.#run(signal),
      onFailure(error, failures) {
        if (failures === 1) ports.log.warn({ err: error }, "judging uncertain matches failed; retrying");
      },
    });
  }

  get report(): JudgeReport {
    const judgements: Record<string, number> = { identical: 0, inverse: 0, neither: 0 };
    for (const { relation } of this.list())
      if (relation !== null) judgements[relation] = (judgements[relation] ?? 0) + 1;
    return { judgements, waitingCount: this.#waitingCount, calls: { ...this.#calls }, costUsd: this.#costUsd };
  }

  start(): void {
    this.#job.start();
  }

  async stop(): Promise<void> {
    await this.#job.stop();
  }

  list(): readonly MatchJudgement[] {
    return [...this.#known.values()].flatMap(({ judgement }) => judgement ?? []);
  }

  onMarkets(changed: readonly string[], removed: readonly string[]): void {
    for (const id of removed) for (const key of this.#keysOf.get(id) ?? []) this.#forget(key);
    const withdrawn: MatchJudgement[] = [];
    for (const id of changed)
      for (const key of this.#keysOf.get(id) ?? []) {
        const pair = this.#known.get(key);
        if (pair === undefined || this.#read(pair)?.textHash === pair.textHash) continue;
        this.#forget(key);
        if (pair.judgement !== null) withdrawn.push({ ...pair.judgement, relation: null });
      }
    if (withdrawn.length > 0) this.#ports.onJudgements(withdrawn);
  }

  async #run(signal: AbortSignal): Promise<void> {
    const { database, clock, mayAsk } = this.#ports;
    if (mayAsk && clock.now() - this.#cleanedAt >= DAY_MS) {
      await deleteOldJudgements(database, clock.now() - KEPT_MS);
      this.#cleanedAt = clock.now();
    }
    const waiting = await this.#listWaiting();
    this.#waitingCount = waiting.length;
    const stored = new Map<string, StoredJudgement>();
    for (const chunk of chunksOf(waiting, HASHES_PER_READ)) {
      const hashes = chunk.map(({ textHash }) => textHash);
      for (const row of await selectJudgements(database, hashes)) stored.set(row.textHash, row);
    }
    const open: KnownPair[] = [];
    for (const pair of waiting) {
      const row = stored.get(pair.textHash);
      if (row !== undefined && row.relation !== null)
        this.#apply(pair, { relation: row.relation, reason: row.reason }, row.model);
      else if (row === undefined || this.#mayRetry(row)) open.push(pair);
      else if (row.attempts >= ATTEMPTS_MAX && this.#isOver(row))
        this.#known.set(keyOf(pair), { ...pair, isExhausted: true });
    }
    if (mayAsk && open.length > 0) await this.#askAll(open, signal);
  }

  #mayRetry(row: StoredJudgement): boolean {
    return row.attempts === 0 || (row.attempts < ATTEMPTS_MAX && this.#isOver(row));
  }

  /** Whether the last call of a row has ended or was interrupted. */
  #isOver({ askedAt }: StoredJudgement): boolean {
    return askedAt < this.#ports.clock.now() - CLAIM_MS;
  }

  /** Lists the candidates without a judgement, most likely first. Forgets pairs that are no longer candidates. */
  async #listWaiting(): Promise<KnownPair[]> {
    const candidates = [...this.#ports.candidates()].sort((a, b) => b.confidence - a.confidence);
    const keys = new Set(candidates.map(keyOf));
    for (const [key, { judgement }] of this.#known) if (judgement === null && !keys.has(key)) this.#forget(key);
    const waiting: KnownPair[] = [];
    for (const { a, b } of candidates) {
      if (waiting.length === PAIRS_PER_RUN_MAX) break;
      const known = this.#known.get(keyOf({ a, b }));
      // Reading and hashing the texts of a pair takes up to 0.1 ms.
      if (known === undefined) await this.#ports.clock.yieldToEventLoop();
      const pair = known ?? this.#remember({ a, b });
      if (pair !== null && pair.judgement === null && !pair.isExhausted) waiting.push(pair);
    }
    return waiting;
  }

  #remember({ a, b }: Pick<KnownPair, "a" | "b">): KnownPair | null {
    const texts = this.#read({ a, b });
    if (texts === null) return null;
    const pair: KnownPair = { a, b, textHash: texts.textHash, judgement: null, isExhausted: false };
    this.#known.set(keyOf(pair), pair);
    for (const id of [a, b]) this.#keysOf.set(id, (this.#keysOf.get(id) ?? new Set()).add(keyOf(pair)));
    return pair;
  }

  #forget(key: string): void {
    const pair = this.#known.get(key);
    if (pair === undefined) return;
    this.#known.delete(key);
    for (const id of [pair.a, pair.b]) {
      const keys = this.#keysOf.get(id);
      keys?.delete(key);
      if (keys?.size === 0) this.#keysOf.delete(id);
    }
  }

  /** Reads the texts of both markets, in an order that does not depend on their ids; null if one left the board. */
  #read({ a, b }: Pick<KnownPair, "a" | "b">) {
    const [textA, textB] = [this.#textOf(a), this.#textOf(b)];
    if (textA === null || textB === null) return null;
    const [jsonA, jsonB] = [JSON.stringify(textA), JSON.stringify(textB)];
    const isInOrder = jsonA <= jsonB;
    const [first, second] = isInOrder ? [textA, textB] : [textB, textA];
    const key = JSON.stringify([PROMPT_VERSION, ...(isInOrder ? [jsonA, jsonB] : [jsonB, jsonA])]);
    return { textHash: createHash("sha256").update(key).digest("hex"), first, second };
  }

  #textOf(id: string): MarketText | null {
    const { board } = this.#ports;
    const { venue, marketId } = parseMarketRef(id);
    const listing = board.find(venue, marketId)?.listing;
    if (listing?.status !== "active") return null;
    const slug = eventSlugOf(listing);
    return {
      title: listing.title,
      outcomeLabel: listing.outcomeLabel,
      eventTitle: slug === null ? null : (board.findEvent(slug)?.listing.title ?? null),
      rules: listing.rules?.slice(0, RULES_LENGTH_MAX) ?? null,
    };
  }

  #apply({ a, b, textHash }: KnownPair, { relation, reason }: Judgement, model: string): void {
    const key = keyOf({ a, b });
    // The pair can be forgotten, or its texts can change, while the model is asked.
    if (this.#known.get(key)?.textHash !== textHash) return;
    const judgement: MatchJudgement = {
      a,
      b,
      relation: relation === "identical" || relation === "inverse" ? relation : "neither",
      evidence: `The language model ${model} compared both markets: ${DESCRIPTIONS[relation]}.${reason === null ? "" : ` Its reason: ${reason}`}`,
    };
    this.#known.set(key, { a, b, textHash, judgement, isExhausted: false });
    this.#waitingCount -= 1;
    this.#ports.onJudgements([judgement]);
  }

  /** Asks about the pairs until the budget is spent. @throws Error if the model cannot be used */
  async #askAll(pairs: readonly KnownPair[], signal: AbortSignal): Promise<void> {
    const remaining = pairs.values();
    let end: "budget" | "failed" | null = null;
    const askNext = async () => {
      for (const pair of remaining) {
        if (signal.aborted || end !== null) return;
        try {
          end = (await this.#ask(pair, signal)) ?? end;
        } catch (error) {
          // Ends the other calls' loops, too.
          end = "failed";
          throw error;
        }
      }
    };
    const results = await Promise.allSettled(Array.from({ length: CALLS_MAX }, askNext));
    const rejected = results.find((result) => result.status === "rejected");
    if (rejected !== undefined) throw rejected.reason;
    if (end === "failed" && !signal.aborted) throw new Error("The language model cannot be used.");
  }

  /** Asks about one pair. Returns why the run must end; null if it can continue. */
  async #ask(pair: KnownPair, signal: AbortSignal): Promise<"budget" | "failed" | null> {
    const { database, clock, model, random, log, dailyBudgetUsd } = this.#ports;
    const texts = this.#read(pair);
    // The pair can have been forgotten, and its texts can have changed, since the start of the run.
    if (texts?.textHash !== pair.textHash || this.#known.get(keyOf(pair)) !== pair) return null;
    const prompt = judgePrompt(texts.first, texts.second, random);
    const costUsd = maximumCostOf(model.price, prompt, ASK_LIMITS);
    const now = clock.now();
    const claim = await claimJudgement(
      database,
      { textHash: pair.textHash, model: model.name, costUsd, now },
      {
        claimedBefore: now - CLAIM_MS,
        attemptsMax: ATTEMPTS_MAX,
        spentSince: now - DAY_MS,
        budgetUsd: dailyBudgetUsd,
      },
    );
    if (claim === "taken") return null;
    if (claim === "budget") {
      if (!this.#isBudgetLogged)
        log.info({ cost_usd: costUsd }, "the daily budget for uncertain matches does not cover the next call");
      this.#isBudgetLogged = true;
      return claim;
    }
    this.#isBudgetLogged = false;
    const spending = new ModelBudget(costUsd, 0);
    const record = ({ outcome }: ModelCall) => {
      this.#calls[outcome] = (this.#calls[outcome] ?? 0) + 1;
    };
    const ports = { model, clock, random, signal, limits: ASK_LIMITS, spending, record };
    const result = await askModel(ports, prompt, parseJudgement);
    this.#costUsd += spending.spentUsd;
    const judgement = "value" in result ? result.value : null;
    const failure = "failure" in result ? result.failure : null;
    this.#rejectedInARow = failure === "rejected" ? this.#rejectedInARow + 1 : 0;
    const isDown = failure === "failed";
    await settleJudgement(database, pair.textHash, {
      judgement,
      costCorrectionUsd: spending.spentUsd - costUsd,
      // A model that is down says nothing about the pair. One that answers without a judgement is not asked again.
      extraAttempts: isDown || signal.aborted ? -1 : failure === "invalid" ? ATTEMPTS_MAX : 0,
    });
    if (judgement !== null) this.#apply(pair, judgement, model.name);
    return isDown || this.#rejectedInARow >= REJECTED_IN_A_ROW_MAX ? "failed" : null;
  }
}

const keyOf = ({ a, b }: Pick<KnownPair, "a" | "b">): string => `${a}\n${b}`;

const DESCRIPTIONS: Readonly<Record<Judgement["relation"], string>> = {
  identical: "they ask the same question",
  inverse: "they ask opposite questions",
  subset: "they ask different questions, and YES of one implies YES of the other",
  superset: "they ask different questions, and YES of one implies YES of the other",
  overlap: "they ask related questions",
  different: "they ask different questions",
};
