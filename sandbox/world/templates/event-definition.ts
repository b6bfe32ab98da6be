/** Definition of a simulated real-world event, and helpers for the templates that create such definitions. */
import { gaussian, hashKeys, sigmoid, uniform } from "../random.ts";
import type { OutcomeModel, ResolutionCriterion } from "../truth.ts";
import type { ListedEvent, SandboxVenue, Strike } from "../types.ts";

export const DAY_MS = 86_400_000;

export type VenueTexts = Readonly<Record<SandboxVenue, string>>;

/** A simulated real-world event with the texts under which each venue lists it. */
export interface EventDefinition {
  readonly series: string;
  readonly seriesTitle: string;
  readonly category: string;
  readonly tags: readonly string[];
  readonly frequency: ListedEvent["frequency"];
  readonly sides?: ListedEvent["sides"];
  readonly mutuallyExclusive: boolean;
  readonly exhaustive: boolean;
  readonly ladder: boolean;
  readonly source: string;
  readonly model: OutcomeModel;
  readonly titles: VenueTexts;
  readonly description: string;
  readonly markets: readonly MarketDefinition[];
}

export interface MarketDefinition {
  readonly label: string;
  readonly questions: VenueTexts;
  readonly rules: string;
  readonly strike: Strike | null;
  readonly criterion: ResolutionCriterion;
}

/** Input of a template. Random choices of a template depend only on the seed and the event number. */
export interface TemplateInput {
  readonly seed: number;
  /** Number of the real-world event. */
  readonly underlying: number;
  /** Unix milliseconds. */
  readonly openAt: number;
  readonly closeAt: number;
}

/** Creates an event; `close` holds the texts of its closing date. */
export type Template = (input: TemplateInput, close: DateTexts) => EventDefinition;

/** Fields that the event builders below copy unchanged. */
type EventFields = Omit<EventDefinition, "markets" | "model" | "mutuallyExclusive" | "exhaustive" | "ladder">;

const MONTHS = "January February March April May June July August September October November December".split(" ");

type DateTexts = ReturnType<typeof createDateTexts>;

/** Texts of a time in UTC: longDate "December 5, 2026", monthAndDay "December 5", shortDate "Dec 5, 2026", time "14:30 UTC". */
export function createDateTexts(at: number) {
  const date = new Date(at);
  const month = MONTHS[date.getUTCMonth()] ?? "";
  const day = date.getUTCDate();
  const year = date.getUTCFullYear();
  return {
    longDate: `${month} ${day}, ${year}`,
    monthAndDay: `${month} ${day}`,
    shortDate: `${month.slice(0, 3)} ${day}, ${year}`,
    month,
    year,
    time: `${date.toISOString().slice(11, 16)} UTC`,
  };
}

/** Picks an item at random; `salt` distinguishes the draws of one event. */
export function pick<T>(items: readonly T[], input: TemplateInput, salt: number): T {
  const item = items[hashKeys(input.seed, input.underlying, 100, salt) % items.length];
  if (item === undefined) throw new Error("cannot pick from an empty list");
  return item;
}

/** A uniform number in (0, 1); `salt` distinguishes the draws of one event. */
export function draw(input: TemplateInput, salt: number): number {
  return uniform(input.seed, input.underlying, 101, salt);
}

/** Picks the home team, then the away team from the remaining teams. */
export function pickTeams(teams: readonly string[], input: TemplateInput, salt: number): [home: string, away: string] {
  const home = pick(teams, input, salt);
  const otherTeams = teams.filter((team) => team !== home);
  return [home, pick(otherTeams, input, salt + 1)];
}

/** Creates the texts of all venues: the override of a venue if present, otherwise `text`. */
export function createVenueTexts(text: string, overrides: Partial<VenueTexts> = {}): VenueTexts {
  return { kalshi: text, polymarket: text, limitless: text, manifold: text, ...overrides };
}

/** Creates an event with one yes/no question. */
export function createBinaryEvent(
  input: TemplateInput,
  spec: EventFields & { readonly rules: string },
): EventDefinition {
  const { rules, ...fields } = spec;
  const prior = sigmoid(0.15 + 1.3 * gaussian(input.seed, input.underlying, 103));
  return {
    ...fields,
    mutuallyExclusive: false,
    exhaustive: false,
    ladder: false,
    model: { kind: "categorical", priors: [prior, 1 - prior], strength: 1.2 + draw(input, 1) },
    markets: [
      { label: "Yes", questions: fields.titles, rules, strike: null, criterion: { kind: "outcome", index: 0 } },
    ],
  };
}

interface CategoricalSpec extends EventFields {
  readonly names: readonly string[];
  /** Whether the names cover all possible outcomes. */
  readonly exhaustive: boolean;
  readonly questions: (name: string) => VenueTexts;
  readonly rules: (name: string) => string;
}

/** Creates an event with several named outcomes. At most one of them resolves YES. */
export function createCategoricalEvent(input: TemplateInput, spec: CategoricalSpec): EventDefinition {
  const { names, exhaustive, questions, rules, ...fields } = spec;
  return {
    ...fields,
    mutuallyExclusive: true,
    exhaustive,
    ladder: false,
    model: {
      kind: "categorical",
      priors: drawPriors(input, names.length + (exhaustive ? 0 : 1)),
      strength: 1 + draw(input, 2),
    },
    markets: names.map((name, index) => ({
      label: name,
      questions: questions(name),
      rules: rules(name),
      strike: null,
      criterion: { kind: "outcome", index },
    })),
  };
}

/** Random priors that sum to 1: the softmax of standard normal numbers. */
function drawPriors(input: TemplateInput, count: number): number[] {
  const weights = Array.from({ length: count }, (_, index) =>
    Math.exp(gaussian(input.seed, input.underlying, 102, index)),
  );
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  return weights.map((weight) => weight / total);
}

interface ThresholdSpec extends EventFields {
  /** Center and standard deviation of the published number; count of thresholds and the step between them. */
  readonly number: {
    readonly center: number;
    readonly deviation: number;
    readonly step: number;
    readonly count: number;
  };
  readonly format: (threshold: number) => string;
  /** Receives the formatted threshold. */
  readonly questions: (threshold: string) => VenueTexts;
  readonly rules: (threshold: string) => string;
}

/** Creates an event about a number that is published at the close, with one "above x?" market per threshold. */
export function createThresholdEvent(input: TemplateInput, spec: ThresholdSpec): EventDefinition {
  const { number, format, questions, rules, ...fields } = spec;
  const { center, deviation, step, count } = number;
  const middle = Math.round(center / step);
  const mean = (middle + gaussian(input.seed, input.underlying, 104) * 0.8) * step;
  return {
    ...fields,
    mutuallyExclusive: false,
    exhaustive: false,
    ladder: true,
    model: { kind: "numeric", mean, deviation },
    markets: Array.from({ length: count }, (_, position) => {
      const floor = Number(((middle + position - Math.floor(count / 2)) * step).toFixed(6));
      const threshold = format(floor);
      return {
        label: `Above ${threshold}`,
        questions: questions(threshold),
        rules: rules(threshold),
        strike: { type: "greater", floor, cap: null },
        criterion: { kind: "range", above: floor, upTo: Number.POSITIVE_INFINITY },
      } satisfies MarketDefinition;
    }),
  };
}
