/** The faults that a simulated venue can be made to show, each with a rate and what else may be set. */
import { UserFacingError } from "../../src/lib/user-facing-error.ts";

interface NumberParameter {
  readonly fallback: number;
  readonly min: number;
  readonly max: number;
}

interface ChoiceParameter {
  readonly fallback: "any";
  readonly choices: readonly string[];
}

interface FaultDefinition {
  readonly about: string;
  readonly parameters: Readonly<Record<string, NumberParameter | ChoiceParameter>>;
}

const choice = (...choices: readonly string[]): ChoiceParameter => ({ fallback: "any", choices });

/** In the order of their numbers, which the random draws are keyed by: new ones go to the end. */
const DEFINITIONS = {
  latency: {
    about: "answers come this much later",
    parameters: {
      ms: { fallback: 300, min: 0, max: 600_000 },
      jitter_ms: { fallback: 300, min: 0, max: 600_000 },
    },
  },
  rate_limit: { about: "429 without Retry-After", parameters: {} },
  rate_limit_seconds: {
    about: "429 with Retry-After in seconds",
    parameters: { seconds: { fallback: 1, min: 0, max: 86_400 } },
  },
  rate_limit_date: {
    about: "429 with Retry-After as an HTTP date",
    parameters: { seconds: { fallback: 2, min: 0, max: 86_400 } },
  },
  rate_limit_absurd: { about: "429 with a Retry-After that nobody means: 31 years, negative, a word", parameters: {} },
  server_error: { about: "a 5xx answer", parameters: { kind: choice("500", "502", "503", "504") } },
  cut_body: { about: "a whole answer whose JSON ends in the middle", parameters: {} },
  cut_socket: { about: "the connection closes in the middle of the body", parameters: {} },
  garbage: {
    about: "status 200 with something that is not the venue's JSON",
    parameters: { kind: choice("html", "binary", "nan") },
  },
  half_page: {
    about: "a page with half its rows, with the cursor that asked for it, or with the same rows twice",
    parameters: { kind: choice("short", "loop", "repeat") },
  },
  crossed_book: { about: "bid above ask, market by market", parameters: {} },
  empty_book: { about: "no bid and no ask, market by market", parameters: {} },
  price_out_of_range: {
    about: "prices outside [0, 1], market by market",
    parameters: { kind: choice("percent", "above", "negative", "nan") },
  },
  clock_skew: {
    about: "the venue's timestamps are off, either way",
    parameters: { minutes: { fallback: 10, min: 0, max: 10_080 } },
  },
  frozen: { about: "connections are accepted and never answered until the switch is off again", parameters: {} },
  socket_duplicate: { about: "a message is sent twice", parameters: {} },
  socket_out_of_order: { about: "a message is sent after its successor", parameters: {} },
  socket_gap: { about: "a message is lost", parameters: {} },
  socket_garbage: { about: "a message is replaced by something unreadable", parameters: {} },
  socket_drop: { about: "the socket closes; drawn at the first message and at every 20th after it", parameters: {} },
  socket_frozen: {
    about: "the socket stays open and says nothing more, not even pings, until the switch is off; drawn as socket_drop",
    parameters: {},
  },
} satisfies Readonly<Record<string, FaultDefinition>>;

export type FaultName = keyof typeof DEFINITIONS;
export const FAULT_NAMES = Object.keys(DEFINITIONS) as readonly FaultName[];
/** What each switch does and which parameters it takes, for people. */
export const FAULT_DEFINITIONS: Readonly<Record<FaultName, FaultDefinition>> = DEFINITIONS;

/** Rate in [0, 1] and the switch's parameters. */
export type FaultSetting = Readonly<Record<string, number | string>> & { readonly rate: number };
export type FaultSettings = Partial<Readonly<Record<FaultName, FaultSetting>>>;

/** A switch, parameter or value that there is not; the message says which there are. */
export class FaultError extends UserFacingError {}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const isName = (name: string): name is FaultName => Object.hasOwn(DEFINITIONS, name);

/**
 * Reads `{switch: rate}` or `{switch: {rate, ...parameters}}`; the rate of an object is 1 where it is left out.
 *
 * @throws FaultError for anything that is not a switch, a parameter or within its range
 */
export function parseFaults(value: unknown): FaultSettings {
  if (!isRecord(value)) throw new FaultError("give an object: {switch: rate} or {switch: {rate, ...parameters}}");
  const settings: Partial<Record<FaultName, FaultSetting>> = {};
  for (const [name, given] of Object.entries(value)) {
    if (!isName(name)) throw new FaultError(`there is no switch "${name}"; switches: ${FAULT_NAMES.join(", ")}`);
    settings[name] = parseSetting(name, isRecord(given) ? given : { rate: given });
  }
  return settings;
}

function parseSetting(name: FaultName, given: Readonly<Record<string, unknown>>): FaultSetting {
  const { parameters } = FAULT_DEFINITIONS[name];
  const { rate = 1 } = given;
  if (typeof rate !== "number" || !(rate >= 0 && rate <= 1)) throw new FaultError(`${name}: a rate is between 0 and 1`);
  for (const key of Object.keys(given)) {
    if (key !== "rate" && !Object.hasOwn(parameters, key))
      throw new FaultError(
        `${name}: there is no parameter "${key}"; parameters: ${["rate", ...Object.keys(parameters)].join(", ")}`,
      );
  }
  const setting: Record<string, number | string> & { rate: number } = { rate };
  for (const [key, parameter] of Object.entries(parameters)) {
    const value = given[key] ?? parameter.fallback;
    if ("choices" in parameter) {
      const choices = [parameter.fallback, ...parameter.choices];
      if (typeof value !== "string" || !choices.includes(value))
        throw new FaultError(`${name}: ${key} is one of ${choices.join(", ")}`);
      setting[key] = value;
    } else {
      if (typeof value !== "number" || !(value >= parameter.min && value <= parameter.max))
        throw new FaultError(`${name}: ${key} is a number from ${parameter.min} to ${parameter.max}`);
      setting[key] = value;
    }
  }
  return setting;
}

/**
 * Reads the start setting: `kalshi:server_error=0.1,frozen=1;manifold:latency=0.5`, with `all` for every venue and for
 * every switch.
 *
 * @throws FaultError when a part has another form, or names what there is not
 */
export function parseFaultText(text: string, venues: readonly string[]): ReadonlyMap<string, FaultSettings> {
  const byVenue = new Map<string, FaultSettings>();
  for (const part of text.split(";").filter((piece) => piece.trim() !== "")) {
    const [, wanted, list] = /^\s*([a-z]+)\s*:\s*(.+?)\s*$/.exec(part) ?? [];
    if (wanted === undefined || list === undefined)
      throw new FaultError(`"${part.trim()}" is not of the form venue:switch=rate,switch=rate`);
    if (wanted !== "all" && !venues.includes(wanted))
      throw new FaultError(`there is no venue "${wanted}"; venues: ${venues.join(", ")}, all`);
    const rates = list.split(",").flatMap((piece) => {
      const [name = "", rate = ""] = piece.trim().split("=");
      const names = name === "all" ? FAULT_NAMES : [name];
      return names.map((each) => [each, rate === "" ? Number.NaN : Number(rate)] as const);
    });
    const settings = parseFaults(Object.fromEntries(rates));
    for (const venue of wanted === "all" ? venues : [wanted])
      byVenue.set(venue, { ...byVenue.get(venue), ...settings });
  }
  return byVenue;
}
