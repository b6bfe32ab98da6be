/** One prompt to a language model without tools. */
export interface LanguageModelCall {
  readonly system: string;
  readonly prompt: string;
  readonly outputTokensMax: number;
  readonly signal: AbortSignal;
}

export interface LanguageModelAnswer {
  readonly text: string;
  /** Number of tokens reported by the provider; null if it reports none. */
  readonly inputTokens: number | null;
  readonly outputTokens: number | null;
  /** refused: the provider filtered the answer. */
  readonly finish: "complete" | "cut_off" | "refused";
}

/** Price of tokens in USD per million. */
export interface TokenPrice {
  readonly input: number;
  readonly output: number;
}

export type LanguageModelFailure = "unauthorized" | "rate_limited" | "unavailable" | "bad_response" | "aborted";

/** Thrown if a call fails. The message never contains the key, the prompt or the body of the response. */
export class LanguageModelError extends Error {
  override readonly name = "LanguageModelError";
  readonly failure: LanguageModelFailure;

  constructor(failure: LanguageModelFailure, message: string) {
    super(message);
    this.failure = failure;
  }

  /** Whether a retry of the same call may succeed. */
  get isRetryable(): boolean {
    return this.failure === "rate_limited" || this.failure === "unavailable" || this.failure === "bad_response";
  }
}

export interface LanguageModel {
  /** Model name that is stored with a run. */
  readonly name: string;
  readonly price: TokenPrice;
  /** @throws LanguageModelError */
  complete(call: LanguageModelCall): Promise<LanguageModelAnswer>;
}
