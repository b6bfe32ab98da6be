/** The fault switches of a simulated venue: each has a rate and optional parameters. */
import { isObject } from "../../src/lib/is-object.ts";
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

const createChoice = (...choices: readonly string[]): ChoiceParameter => ({ fallback: "any", choices });

/** New switches must be appended at the end, because the position of a switch is part of its random key. */
const DEFINITIONS = {
  latency: {
    about: "delays responses",
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
  rate_limit_absurd: { about: "429 with an invalid Retry-After: 31 years, negative, or text", parameters: {} },
  server_error: { about: "a 5xx response", parameters: { kind: createChoice("500", "502", "503", "504") } },
  cut_body: { about: "a complete response with truncated JSON", parameters: {} },
  cut_socket: { about: "the connection closes before the end of the body", parameters: {} },
  garbage: {
    about: "status 200 with HTML, binary data, corrupt gzip data or JSON that contains NaN",
    parameters: { kind: createChoice("html", "binary", "nan", "gzip") },
  },
  half_page: {
    about: "a page with half of its rows, with the cursor of its own request, or with repeated rows",
    parameters: { kind: createChoice("short", "loop", "repeat") },
  },
  crossed_book: { about: "bid above ask, drawn for each market", parameters: {} },
  empty_book: { about: "no bid and no ask, drawn for each market", parameters: {} },
  price_out_of_range: {
    about: "prices outside [0, 1], drawn for each market",
    parameters: { kind: createChoice("percent", "above", "negative", "nan") },
  },
  clock_skew: {
    about: "the venue's timestamps are too early or too late",
    parameters: { minutes: { fallback: 10, min: 0, max: 10_080 } },
  },
  frozen: {
    about: "connections are accepted, but requests get no response until the switch is turned off",
    parameters: {},
  },
  socket_duplicate: { about: "a message is sent twice", parameters: {} },
  socket_out_of_order: { about: "a message is sent after the next one", parameters: {} },
  socket_gap: { about: "a message is lost", parameters: {} },
  socket_garbage: { about: "a message is replaced by invalid JSON", parameters: {} },
  socket_drop: {
    about: "the socket closes; drawn at the first message and every 20 messages after it",
    parameters: {},
  },
  socket_frozen: {
    about:
      "the socket stays open but sends nothing, not even pings, until the switch is turned off; drawn like socket_drop",
    parameters: {},
  },
} satisfies Readonly<Record<string, FaultDefinition>>;

export type FaultName = keyof typeof DEFINITIONS;
export const FAULT_NAMES = Object.keys(DEFINITIONS) as readonly FaultName[];
/** Description and parameters of each switch. */
export const FAULT_DEFINITIONS: Readonly<Record<FaultName, FaultDefinition>> = DEFINITIONS;

/** Rate in [0, 1] and the parameters of the switch. */
export type FaultSetting = Readonly<Record<string, number | string>> & { readonly rate: number };
export type FaultSettings = Partial<Readonly<Record<FaultName, FaultSetting>>>;

/** Thrown for an unknown switch, parameter or value. The message lists the valid values. */
export class FaultError extends UserFacingError {}

const isFaultName = (name: string): name is FaultName => Object.hasOwn(DEFINITIONS, name);

/**
 * Parses `{switch: rate}` or `{switch: {rate, ...parameters}}`. The default rate of an object is 1.
 *
 * @throws FaultError if a switch or parameter is unknown, or a value is out of range
 */
export function parseFaults(value: unknown): FaultSettings {
  if (!isObject(value)) throw new FaultError("expected an object: {switch: rate} or {switch: {rate, ...parameters}}");
  const settings: Partial<Record<FaultName, FaultSetting>> = {};
  for (const [name, setting] of Object.entries(value)) {
    if (!isFaultName(name)) throw new FaultError(`unknown switch "${name}"; switches: ${FAULT_NAMES.join(", ")}`);
    settings[name] = parseSetting(name, isObject(setting) ? setting : { rate: setting });
  }
  return settings;
}

function parseSetting(name: FaultName, input: Readonly<Record<string, unknown>>): FaultSetting {
  const { parameters } = FAULT_DEFINITIONS[name];
  const { rate = 1 } = input;
  if (typeof rate !== "number" || !(rate >= 0 && rate <= 1))
    throw new FaultError(`${name}: rate must be between 0 and 1`);
  for (const key of Object.keys(input)) {
    if (key !== "rate" && !Object.hasOwn(parameters, key))
      throw new FaultError(
        `${name}: unknown parameter "${key}"; parameters: ${["rate", ...Object.keys(parameters)].join(", ")}`,
      );
  }
  const setting: Record<string, number | string> & { rate: number } = { rate };
  for (const [key, parameter] of Object.entries(parameters)) {
    const value = input[key] ?? parameter.fallback;
    if ("choices" in parameter) {
      const choices = [parameter.fallback, ...parameter.choices];
      if (typeof value !== "string" || !choices.includes(value))
        throw new FaultError(`${name}: ${key} must be one of ${choices.join(", ")}`);
      setting[key] = value;
    } else {
      if (typeof value !== "number" || !(value >= parameter.min && value <= parameter.max))
        throw new FaultError(`${name}: ${key} must be a number from ${parameter.min} to ${parameter.max}`);
      setting[key] = value;
    }
  }
  return setting;
}

/**
 * Parses switches in text form: `kalshi:server_error=0.1,frozen=1;manifold:latency=0.5`. `all` selects every venue or
 * every switch.
 *
 * @throws FaultError if the text is malformed or names an unknown venue or switch
 */
export function parseFaultText(text: string, venues: readonly string[]): ReadonlyMap<string, FaultSettings> {
  const byVenue = new Map<string, FaultSettings>();
  for (const part of text.split(";").filter((piece) => piece.trim() !== "")) {
    const [, venueName, list] = /^\s*([a-z]+)\s*:\s*(.+?)\s*$/.exec(part) ?? [];
    if (venueName === undefined || list === undefined)
      throw new FaultError(`"${part.trim()}" does not have the form venue:switch=rate,switch=rate`);
    if (venueName !== "all" && !venues.includes(venueName))
      throw new FaultError(`unknown venue "${venueName}"; venues: ${venues.join(", ")}, all`);
    const rates = list.split(",").flatMap((piece) => {
      const [name = "", rate = ""] = piece.trim().split("=");
      const names = name === "all" ? FAULT_NAMES : [name];
      return names.map((switchName) => [switchName, rate === "" ? Number.NaN : Number(rate)] as const);
    });
    const settings = parseFaults(Object.fromEntries(rates));
    for (const venue of venueName === "all" ? venues : [venueName])
      byVenue.set(venue, { ...byVenue.get(venue), ...settings });
  }
  return byVenue;
}
