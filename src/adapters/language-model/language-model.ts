import type { LanguageModel as SdkModel } from "ai";
import {
  type LanguageModel,
  type LanguageModelAnswer,
  type LanguageModelCall,
  LanguageModelError,
  type LanguageModelFailure,
  type TokenPrice,
} from "../../ports/language-model.ts";
import { boundResponses, createLimitedFetch, type Fetch } from "./bounded-fetch.ts";

export interface LanguageModelSettings {
  /** compatible: any server that implements the protocol of OpenAI's chat completions at `baseUrl`. */
  readonly provider: "anthropic" | "openai" | "compatible";
  readonly model: string;
  /** Null for the provider's own URL. */
  readonly baseUrl: string | null;
  /** Null for a local server without a key. */
  readonly apiKey: string | null;
  readonly price: TokenPrice;
}

const HOSTED_URLS: Readonly<Partial<Record<LanguageModelSettings["provider"], string>>> = {
  anthropic: "https://api.anthropic.com/v1",
  openai: "https://api.openai.com/v1",
};
const REDACTED = "[redacted]";

/**
 * Creates a language model of any provider with the AI SDK. The SDK is loaded at the first call. Requests are not
 * retried or redirected here. No result or error contains the API key, even if a server echoes it.
 */
export function createLanguageModel(
  settings: LanguageModelSettings,
  fetch: Fetch = createLimitedFetch(),
): LanguageModel {
  const { provider, model, price, apiKey } = settings;
  let opened: Promise<SdkModel> | null = null;
  const openModel = () => {
    opened ??= openSdkModel(settings, boundResponses(fetch));
    return opened;
  };
  return {
    name: provider === "compatible" ? model : `${provider}/${model}`,
    price,
    async complete(call) {
      try {
        const answer = await generate(await openModel(), call);
        return apiKey === null ? answer : { ...answer, text: answer.text.replaceAll(apiKey, REDACTED) };
      } catch (error) {
        throw await toFailure(error, call.signal);
      }
    },
  };
}

async function openSdkModel(settings: LanguageModelSettings, fetch: Fetch): Promise<SdkModel> {
  const { provider, model, baseUrl } = settings;
  // Without a URL, the SDK would use one from an environment variable.
  const baseURL = baseUrl ?? HOSTED_URLS[provider] ?? "";
  const options = { fetch, baseURL, ...(settings.apiKey === null ? {} : { apiKey: settings.apiKey }) };
  if (provider === "anthropic") return (await import("@ai-sdk/anthropic")).createAnthropic(options)(model);
  if (provider === "openai") return (await import("@ai-sdk/openai")).createOpenAI(options)(model);
  const { createOpenAICompatible } = await import("@ai-sdk/openai-compatible");
  return createOpenAICompatible({ ...options, name: "compatible" }).chatModel(model);
}

async function generate(model: SdkModel, call: LanguageModelCall): Promise<LanguageModelAnswer> {
  const { generateText } = await import("ai");
  // By default the SDK prints warnings of the provider, which may contain parts of a request.
  globalThis.AI_SDK_LOG_WARNINGS = false;
  const { text, usage, finishReason } = await generateText({
    model,
    instructions: call.system,
    prompt: call.prompt,
    maxOutputTokens: call.outputTokensMax,
    maxRetries: 0,
    abortSignal: call.signal,
  });
  return {
    text,
    inputTokens: readCount(usage.inputTokens),
    outputTokens: readCount(usage.outputTokens),
    finish: finishReason === "content-filter" ? "refused" : finishReason === "length" ? "cut_off" : "complete",
  };
}

const readCount = (count: number | undefined): number | null =>
  count !== undefined && Number.isSafeInteger(count) && count >= 0 ? count : null;

const MESSAGES: Readonly<Record<LanguageModelFailure, string>> = {
  unauthorized: "The language model rejected the key.",
  rate_limited: "The language model refused the request because of its rate limit.",
  unavailable: "The language model could not be reached, or failed.",
  bad_response: "The language model sent a response that is not of its protocol.",
  aborted: "The request to the language model was canceled.",
};

/** Returns the error of a failed call. The cause is not kept: it may contain the prompt and the response. */
async function toFailure(error: unknown, signal: AbortSignal): Promise<LanguageModelError> {
  const failed = (failure: LanguageModelFailure) => new LanguageModelError(failure, MESSAGES[failure]);
  if (signal.aborted) return failed("aborted");
  const { APICallError } = await import("ai");
  if (!APICallError.isInstance(error)) return failed("bad_response");
  const { statusCode } = error;
  if (statusCode === undefined) return failed("unavailable");
  if (statusCode === 401 || statusCode === 403) return failed("unauthorized");
  if (statusCode === 429) return failed("rate_limited");
  return failed(statusCode >= 500 || statusCode === 408 ? "unavailable" : "bad_response");
}
