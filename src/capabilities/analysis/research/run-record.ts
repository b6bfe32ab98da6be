import type { Clock } from "../../../ports/clock.ts";
import type {
  CallRecord,
  ResearchFailure,
  ResearchLimits,
  ResearchOptions,
  ResearchOutcome,
  ResearchQuestion,
  ResearchState,
  ResearchTranscript,
} from "./model.ts";
import type { TrialsSummary } from "./summarise-trials.ts";

const EXCERPT_CHARACTERS = 500;
const CALLS_MAX = 200;

/** The state of one run. It starts from the saved state, is stored after each step, and is converted to the outcome. */
export class RunRecord {
  #state: ResearchState;
  readonly #options: Pick<ResearchOptions, "deadlineAt" | "onState">;
  readonly #clock: Clock;
  readonly #model: string | null;

  constructor(
    question: ResearchQuestion,
    options: Pick<ResearchOptions, "deadlineAt" | "savedState" | "onState">,
    clock: Clock,
    limits: ResearchLimits,
    model: string | null,
  ) {
    const key = `${question.venue}/${question.marketId}/${limits.trials}`;
    this.#state = parseSavedState(options.savedState, key) ?? {
      version: 1,
      key,
      asOf: question.asOf,
      costUsd: 0,
      risks: [],
      plan: null,
      found: null,
      documents: null,
      trials: [],
      calls: [],
    };
    this.#options = options;
    this.#clock = clock;
    this.#model = model;
  }

  get state(): ResearchState {
    return this.#state;
  }

  /** Milliseconds until the deadline, at least 0. */
  get remainingMs(): number {
    return Math.max(0, this.#options.deadlineAt - this.#clock.now());
  }

  addCall(call: CallRecord): void {
    const calls = [...this.#state.calls, call].slice(-CALLS_MAX);
    this.#state = { ...this.#state, calls, costUsd: this.#state.costUsd + call.costUsd };
  }

  addRisk(risk: string): void {
    if (!this.#state.risks.includes(risk)) this.#state = { ...this.#state, risks: [...this.#state.risks, risk] };
  }

  async update(change: Partial<ResearchState>): Promise<void> {
    this.#state = { ...this.#state, ...change };
    await this.#options.onState(this.#state);
  }

  fail(reason: ResearchFailure, reasonText: string): ResearchOutcome {
    return { ...this.#summary(), research: null, sourceCount: 0, ensemble: [], reason, reasonText };
  }

  complete(conclusion: TrialsSummary): ResearchOutcome {
    const summary = this.#summary();
    return { ...summary, ...conclusion, risks: [...new Set([...conclusion.risks, ...summary.risks])], reason: null };
  }

  #summary(): Pick<ResearchOutcome, "risks" | "costUsd" | "models" | "transcript"> {
    const { risks, costUsd, calls } = this.#state;
    const models = this.#model === null || calls.length === 0 ? [] : [this.#model];
    return { risks, costUsd, models, transcript: transcriptOf(this.#state) };
  }
}

/**
 * Returns the saved state if it belongs to the same question. Only this program stores states, so the type is not
 * checked further.
 */
function parseSavedState(saved: unknown, key: string): ResearchState | null {
  if (typeof saved !== "object" || saved === null) return null;
  const { version, key: savedKey } = saved as Partial<ResearchState>;
  return version === 1 && savedKey === key ? (saved as ResearchState) : null;
}

function transcriptOf({ plan, documents, trials, calls }: ResearchState): ResearchTranscript {
  return {
    plan,
    trials,
    calls,
    documents: (documents ?? []).map(({ text, ...document }) => ({
      ...document,
      excerpt: text.slice(0, EXCERPT_CHARACTERS).toWellFormed(),
      characters: text.length,
    })),
  };
}
