import type { Clock } from "../ports/clock.ts";
import {
  type LanguageModel,
  type LanguageModelAnswer,
  LanguageModelError,
  type TokenPrice,
} from "../ports/language-model.ts";
import type { Random } from "../ports/random.ts";
import { cleanText } from "./clean-text.ts";

/** UTF-8 bytes per token, low enough that the estimate of a prompt is rarely below its true size. */
const BYTES_PER_TOKEN = 3;
/** Tokens that a provider adds to each message. */
const MESSAGE_TOKENS = 50;
const RETRY_MS = 500;
const ATTEMPTS = 2;
const REMINDER = "\n\nYour previous answer was not a JSON object of the schema. Answer with that object only.";

/** System and user message of one call. */
export interface Prompt {
  readonly system: string;
  readonly prompt: string;
}

/** One attempt to get an answer. */
export interface ModelCall {
  readonly outcome: "valid" | "invalid" | "refused" | "failed";
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly costUsd: number;
  readonly durationMs: number;
  /** Start of the answer, cleaned. */
  readonly answer: string;
}

export interface AskLimits {
  /** Maximum number of tokens of an answer. */
  readonly outputTokens: number;
  /** Maximum number of characters of `ModelCall.answer`. */
  readonly answerCharacters: number;
  /** Maximum duration of one attempt. */
  readonly callMs: number;
}

/**
 * budget: the budget does not cover the call. deadline: the time of the call or of the run ended before the model
 * answered. failed: the model is unavailable. rejected: the model's server did not accept this call, for example because
 * the prompt is too long. invalid: the answer cannot be parsed.
 */
export type AskFailure = "budget" | "deadline" | "failed" | "rejected" | "invalid";
export type AskResult<Value> = { readonly value: Value } | { readonly failure: AskFailure };

/** The cost so far, and the cost that is reserved for open calls, in USD. */
export class ModelBudget {
  readonly #budgetUsd: number;
  #spentUsd: number;
  #reservedUsd = 0;
  #openCalls = 0;
  #waiting: (() => void)[] = [];

  constructor(budgetUsd: number, spentUsd: number) {
    this.#budgetUsd = budgetUsd;
    this.#spentUsd = spentUsd;
  }

  get spentUsd(): number {
    return this.#spentUsd;
  }

  /**
   * Reserves the maximum cost of a call. If too little is left, waits for open calls, which usually cost less than
   * reserved. Returns false if the budget does not cover the call. Each reservation must be settled.
   */
  async reserve(usd: number): Promise<boolean> {
    while (this.#spentUsd + this.#reservedUsd + usd > this.#budgetUsd) {
      if (this.#openCalls === 0 || this.#spentUsd + usd > this.#budgetUsd) return false;
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
    this.#openCalls += 1;
    this.#reservedUsd += usd;
    return true;
  }

  settle(reservedUsd: number, usd: number): void {
    this.#openCalls -= 1;
    // Without open calls, the remainder of the sum is a rounding error.
    this.#reservedUsd = this.#openCalls === 0 ? 0 : this.#reservedUsd - reservedUsd;
    this.#spentUsd += usd;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resume of waiting) resume();
  }
}

export interface AskPorts {
  readonly model: LanguageModel;
  readonly clock: Clock;
  readonly random: Pick<Random, "uniform">;
  readonly limits: AskLimits;
  readonly spending: ModelBudget;
  /** Aborts at the deadline of the caller. */
  readonly signal: AbortSignal;
  /** Called after each attempt. */
  record(call: ModelCall): void;
}

const costOf = (price: TokenPrice, inputTokens: number, outputTokens: number): number =>
  (price.input * inputTokens + price.output * outputTokens) / 1e6;

function estimateInputTokens({ system, prompt }: Prompt): number {
  return Math.ceil(Buffer.byteLength(system + prompt) / BYTES_PER_TOKEN) + MESSAGE_TOKENS;
}

/** Returns the maximum cost of `askModel` with all its attempts, in USD. */
export function maximumCostOf(price: TokenPrice, prompt: Prompt, limits: Pick<AskLimits, "outputTokens">): number {
  const longest = { ...prompt, prompt: prompt.prompt + REMINDER };
  return ATTEMPTS * costOf(price, estimateInputTokens(longest), limits.outputTokens);
}

/**
 * Asks the model and parses its answer. Retries once after an invalid answer or a temporary failure. Reserves the
 * maximum cost of each call before it starts.
 */
export async function askModel<Value>(
  ports: AskPorts,
  prompt: Prompt,
  parse: (answer: string) => Value | null,
): Promise<AskResult<Value>> {
  let failure: AskFailure = "failed";
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const wasInvalid: boolean = failure === "invalid";
    const result: Awaited<ReturnType<typeof askOnce<Value>>> = await askOnce(
      ports,
      wasInvalid ? { ...prompt, prompt: prompt.prompt + REMINDER } : prompt,
      parse,
    );
    if ("value" in result) return result;
    failure = result.failure;
    if (!result.mayRetry) break;
    if ((failure === "failed" || failure === "rejected") && attempt + 1 < ATTEMPTS)
      await ports.clock.sleep(RETRY_MS * (1 + ports.random.uniform()), ports.signal).catch(() => undefined);
  }
  return { failure };
}

async function askOnce<Value>(
  ports: AskPorts,
  prompt: Prompt,
  parse: (answer: string) => Value | null,
): Promise<{ readonly value: Value } | { readonly failure: AskFailure; readonly mayRetry: boolean }> {
  const { model, clock, limits, spending, signal } = ports;
  if (signal.aborted) return { failure: "deadline", mayRetry: false };
  const expectedInputTokens = estimateInputTokens(prompt);
  const reservedUsd = costOf(model.price, expectedInputTokens, limits.outputTokens);
  if (!(await spending.reserve(reservedUsd))) return { failure: "budget", mayRetry: false };
  if (signal.aborted) {
    spending.settle(reservedUsd, 0);
    return { failure: "deadline", mayRetry: false };
  }
  const startedAt = clock.monotonic();
  /** Records the call, and replaces its reservation by its cost. */
  const settle = (outcome: ModelCall["outcome"], inputTokens: number, outputTokens: number, answer: string) => {
    const costUsd = costOf(model.price, inputTokens, outputTokens);
    spending.settle(reservedUsd, costUsd);
    const durationMs = clock.monotonic() - startedAt;
    const answerStart = cleanText(answer, limits.answerCharacters);
    ports.record({ outcome, inputTokens, outputTokens, costUsd, durationMs, answer: answerStart });
  };
  try {
    const answer = await completeInTime(ports, prompt);
    const inputTokens = answer.inputTokens ?? expectedInputTokens;
    const outputTokens = answer.outputTokens ?? Math.ceil(Buffer.byteLength(answer.text) / BYTES_PER_TOKEN);
    const value = answer.finish === "refused" ? null : parse(answer.text);
    settle(
      value === null ? (answer.finish === "refused" ? "refused" : "invalid") : "valid",
      inputTokens,
      outputTokens,
      answer.text,
    );
    return value === null ? { failure: "invalid", mayRetry: true } : { value };
  } catch (error) {
    const isTimeout = error instanceof LanguageModelError && error.failure === "aborted";
    // The provider may charge for an aborted call.
    settle("failed", isTimeout ? expectedInputTokens : 0, isTimeout ? limits.outputTokens : 0, "");
    if (isTimeout) return { failure: "deadline", mayRetry: false };
    if (!(error instanceof LanguageModelError)) return { failure: "failed", mayRetry: false };
    return { failure: error.failure === "bad_response" ? "rejected" : "failed", mayRetry: error.isRetryable };
  }
}

/** Calls the model. Rejects after `limits.callMs`, or when the run ends, even if the model ignores its signal. */
async function completeInTime(ports: AskPorts, prompt: Prompt): Promise<LanguageModelAnswer> {
  const { model, clock, limits } = ports;
  const controller = new AbortController();
  const signal = AbortSignal.any([ports.signal, controller.signal]);
  const cancelTimer = clock.setTimeout(() => controller.abort(), limits.callMs);
  let stop = () => {};
  const aborted = new Promise<never>((_, reject) => {
    stop = () => reject(new LanguageModelError("aborted", "The language model did not answer in time."));
    signal.addEventListener("abort", stop, { once: true });
  });
  try {
    return await Promise.race([model.complete({ ...prompt, outputTokensMax: limits.outputTokens, signal }), aborted]);
  } finally {
    cancelTimer();
    signal.removeEventListener("abort", stop);
  }
}
