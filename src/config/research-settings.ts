import { isLoopbackHost } from "../lib/loopback.ts";
import type { SettingsReader } from "./settings-reader.ts";

const SEARCH_ENGINES = ["gdelt", "wikipedia", "brave"] as const;
const BUDGET_USD_MAX = 100;
const DAILY_BUDGET_USD_MAX = 100_000;
const PRICE_USD_MAX = 10_000;
const KEY_PATTERN = /^[\x21-\x7e]{1,500}$/;

export type ResearchSettings = NonNullable<ReturnType<typeof parseResearchSettings>>;

/**
 * Reads `PARALLAX_LLM_*` and `PARALLAX_SEARCH_*`. Returns null if PARALLAX_LLM_MODEL is unset. Errors never repeat a
 * key.
 */
export function parseResearchSettings(reader: SettingsReader) {
  const name = reader.text("PARALLAX_LLM_MODEL");
  if (name === "") return null;
  const { errors } = reader;
  const baseUrl = reader.url("PARALLAX_LLM_BASE_URL", ["http:", "https:"]);
  const apiKey = parseKey(reader, "PARALLAX_LLM_API_KEY");
  if (
    baseUrl !== null &&
    apiKey !== null &&
    new URL(baseUrl).protocol === "http:" &&
    !isLoopbackHost(new URL(baseUrl).hostname)
  )
    errors.push("PARALLAX_LLM_BASE_URL: http:// would send the key unencrypted; give an https:// URL, or no key");
  const [, prefix, rest] = /^(anthropic|openai)\/(.+)$/.exec(name) ?? [];
  const hostedProvider = prefix === "anthropic" ? ("anthropic" as const) : ("openai" as const);
  if (baseUrl === null && prefix === undefined)
    errors.push(
      `PARALLAX_LLM_MODEL=${name}: give anthropic/<model> or openai/<model>, or set PARALLAX_LLM_BASE_URL for another server`,
    );
  if (baseUrl === null && apiKey === null) errors.push("PARALLAX_LLM_MODEL requires PARALLAX_LLM_API_KEY");
  return {
    model: {
      provider: baseUrl === null ? hostedProvider : ("compatible" as const),
      model: baseUrl === null ? (rest ?? name) : name,
      baseUrl,
      apiKey,
      price: parsePrice(reader),
    },
    /** Maximum cost of one run. */
    budgetUsd: parseBudget(reader, "PARALLAX_LLM_BUDGET_USD", BUDGET_USD_MAX),
    /** No research is started if all runs of the last 24 hours have cost this much. */
    dailyBudgetUsd: parseBudget(reader, "PARALLAX_LLM_DAILY_BUDGET_USD", DAILY_BUDGET_USD_MAX),
    /** Maximum cost of judging uncertain matches in 24 hours; 0 disables it. */
    matchBudgetUsd: parseBudget(reader, "PARALLAX_LLM_MATCH_BUDGET_USD", DAILY_BUDGET_USD_MAX, { mayBeZero: true }),
    deadlineMs: reader.integer("PARALLAX_LLM_DEADLINE_SECONDS", 10, 1_800) * 1_000,
    search: parseSearch(reader),
  };
}

function parseKey(reader: SettingsReader, name: string): string | null {
  const key = reader.textOrNull(name);
  if (key !== null && !KEY_PATTERN.test(key))
    reader.errors.push(`${name}: give visible ASCII characters without spaces`);
  return key;
}

/** USD per million tokens. */
function parsePrice(reader: SettingsReader): { readonly input: number; readonly output: number } {
  const text = reader.text("PARALLAX_LLM_PRICE");
  const [input = Number.NaN, output = Number.NaN, ...rest] = text.split(";").map(parseDecimal);
  if (!(input <= PRICE_USD_MAX && output <= PRICE_USD_MAX) || rest.length > 0)
    reader.errors.push(`PARALLAX_LLM_PRICE=${text}: give USD per million input and output tokens, such as 5;25`);
  return { input, output };
}

function parseBudget(reader: SettingsReader, name: string, max: number, { mayBeZero = false } = {}): number {
  const text = reader.text(name);
  const budget = parseDecimal(text);
  const isInRange = (mayBeZero ? budget >= 0 : budget > 0) && budget <= max;
  if (!isInRange) reader.errors.push(`${name}=${text}: give USD ${mayBeZero ? "from" : "above"} 0, at most ${max}`);
  return budget;
}

function parseSearch(reader: SettingsReader) {
  const apiKey = parseKey(reader, "PARALLAX_SEARCH_API_KEY");
  if (reader.text("PARALLAX_SEARCH_ENGINES").trim() === "none") return { engines: [], apiKey };
  const engines = reader.list("PARALLAX_SEARCH_ENGINES").flatMap((name) => {
    const engine = SEARCH_ENGINES.find((candidate) => candidate === name);
    if (engine === undefined)
      reader.errors.push(
        `PARALLAX_SEARCH_ENGINES: ${name} is not one of ${SEARCH_ENGINES.join(", ")}; none alone disables search`,
      );
    return engine ?? [];
  });
  if (engines.includes("brave") && apiKey === null)
    reader.errors.push("PARALLAX_SEARCH_ENGINES: brave requires PARALLAX_SEARCH_API_KEY");
  return { engines, apiKey };
}

/** A decimal number without sign and exponent; NaN for other text. */
const parseDecimal = (text: string): number =>
  /^\d{1,9}(?:\.\d{1,9})?$/.test(text.trim()) ? Number(text) : Number.NaN;
