/** Definition of a simulated real-world event, and helpers for the templates that create such definitions. */
import { MONTH_NAMES } from "../../../src/lib/dates/month-names.ts";
import { hashKeys, uniform } from "../random.ts";
import type { OutcomeModel, ResolutionCriterion } from "../truth.ts";
import type { ListedEvent, SandboxVenue, Strike } from "../types.ts";

/** Difference between the number of a trap and the number of its event; above the numbers of all events. */
export const TRAP_NUMBER_OFFSET = 6_000_000;

export type VenueTexts = Readonly<Record<SandboxVenue, string>>;

/** A simulated real-world event with the texts under which each venue lists it. */
export interface EventDefinition {
  /** Question and time, which must be unique: two events with the same identity could contradict each other. */
  readonly identity: string;
  readonly series: string;
  readonly seriesTitle: string;
  readonly category: string;
  readonly tags: readonly string[];
  /** True for an event on whether a price is at least as high after 15 minutes (a round); otherwise absent. */
  readonly isRound?: true;
  readonly sides?: ListedEvent["sides"];
  readonly mutuallyExclusive: boolean;
  readonly exhaustive: boolean;
  readonly ladder: boolean;
  readonly source: string;
  readonly model: OutcomeModel;
  readonly titles: VenueTexts;
  readonly descriptions: VenueTexts;
  readonly markets: readonly MarketDefinition[];
  /** Events that look like this one but differ. Not read for an event that is itself a trap. */
  readonly traps?: () => readonly TrapDefinition[];
}

export interface MarketDefinition {
  readonly labels: VenueTexts;
  readonly questions: VenueTexts;
  readonly rules: VenueTexts;
  readonly strike: Strike | null;
  readonly criterion: ResolutionCriterion;
  /** Only in a trap: position, in the original event, of the market that this market looks like. */
  readonly resembles?: number;
}

/**
 * Kinds of traps, by the difference between the trap and the event that it looks like.
 * - `date`, `threshold`, `candidate`, `stage`, `measure`, `station`: this property is different
 * - `bucket`: cumulative thresholds on one side, exclusive ranges on the other
 * - `window`: deadlines at the end of the day instead of at a time of day, or a price one hour later
 * - `announcement`: an announcement of the event also counts
 * - `race`: the event must also be earlier than a rival event
 * - `polarity`: the opposite question
 * - `placeholder`: the text has a placeholder instead of the decisive value
 */
export const TRAP_KINDS = [
  ...(["date", "threshold", "candidate", "stage", "measure", "station"] as const),
  ...(["bucket", "window", "announcement", "race", "polarity", "placeholder"] as const),
] as const;
export type TrapKind = (typeof TRAP_KINDS)[number];

export interface TrapDefinition {
  readonly kind: TrapKind;
  readonly event: EventDefinition;
  /** True if the process of the original event determines the outcome. Otherwise the trap has its own process. */
  readonly sharesProcess: boolean;
  /** Unix milliseconds; the close of the original event if absent. */
  readonly closeAt?: number;
}

/** Input of a template. Its random numbers depend only on `seed`, `underlying` and `choice`. */
export interface TemplateInput {
  readonly seed: number;
  /** Number of the real-world event. */
  readonly underlying: number;
  /** Random key of the template's choices. Differs from `underlying` (the default) if they are drawn again. */
  readonly choice?: number;
  /** Unix milliseconds. */
  readonly openAt: number;
  readonly closeAt: number;
}

/** Creates an event; `close` holds the texts of its closing date. */
export type Template = (input: TemplateInput, close: DateTexts) => EventDefinition;

/** Fields that the event builders copy unchanged. */
export type EventFields = Omit<
  EventDefinition,
  "markets" | "model" | "mutuallyExclusive" | "exhaustive" | "ladder" | "descriptions"
>;

const NUMBER_FORMAT = new Intl.NumberFormat("en-US", { maximumFractionDigits: 4 });

/** Formats a number as "96,500". */
export const formatNumber = (value: number): string => NUMBER_FORMAT.format(value);

export type DateTexts = ReturnType<typeof createDateTexts>;

/**
 * Texts of a time in UTC: longDate "December 5, 2026", monthAndDay "December 5", shortDate "Dec 5, 2026",
 * time "14:30 UTC". `dates` are as venues write them in titles, `fullDates` and `times` as in rules.
 */
export function createDateTexts(at: number) {
  const date = new Date(at);
  const month = MONTH_NAMES[date.getUTCMonth()] ?? "";
  const day = date.getUTCDate();
  const year = date.getUTCFullYear();
  const longDate = `${month} ${day}, ${year}`;
  const monthAndDay = `${month} ${day}`;
  const shortDate = `${month.slice(0, 3)} ${day}, ${year}`;
  const time = `${date.toISOString().slice(11, 16)} UTC`;
  const hours = date.getUTCHours();
  const halfDayTime = `${hours % 12 || 12}:${date.toISOString().slice(14, 16)} ${hours < 12 ? "AM" : "PM"} UTC`;
  return {
    longDate,
    monthAndDay,
    shortDate,
    month,
    year,
    time,
    dates: { kalshi: shortDate, polymarket: monthAndDay, limitless: shortDate, manifold: longDate },
    fullDates: { kalshi: shortDate, polymarket: longDate, limitless: longDate, manifold: `${day} ${month} ${year}` },
    times: { kalshi: halfDayTime, polymarket: halfDayTime, limitless: time, manifold: time },
  } as const;
}

const choiceOf = ({ underlying, choice = underlying }: TemplateInput): number => choice;

/** Picks an item at random; `salt` distinguishes the draws of one event. */
export function pick<T>(items: readonly T[], input: TemplateInput, salt: number): T {
  const item = items[hashKeys(input.seed, choiceOf(input), 100, salt) % items.length];
  if (item === undefined) throw new Error("cannot pick from an empty list");
  return item;
}

export function pickOther<T>(items: readonly T[], excluded: T, input: TemplateInput, salt: number): T {
  return pick(
    items.filter((item) => item !== excluded),
    input,
    salt,
  );
}

/** A uniform number in (0, 1); `salt` distinguishes the draws of one event. */
export const draw = (input: TemplateInput, salt: number): number => uniform(input.seed, choiceOf(input), 101, salt);

/** Texts that are created when they are read, because most events are listed on few venues. */
class LazyTexts implements VenueTexts {
  readonly #text: (venue: SandboxVenue) => string;

  constructor(text: (venue: SandboxVenue) => string) {
    this.#text = text;
  }

  get kalshi(): string {
    return this.#text("kalshi");
  }
  get polymarket(): string {
    return this.#text("polymarket");
  }
  get limitless(): string {
    return this.#text("limitless");
  }
  get manifold(): string {
    return this.#text("manifold");
  }
}

/** Creates one text per venue. The result has getters, so it cannot be spread. */
export const forVenues = (text: (venue: SandboxVenue) => string): VenueTexts => new LazyTexts(text);

/** Creates the texts of all venues: the override of a venue if present, otherwise `text`. */
export function createVenueTexts(text: string, overrides: Partial<VenueTexts> = {}): VenueTexts {
  return { kalshi: text, polymarket: text, limitless: text, manifold: text, ...overrides };
}

const capitalise = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

const RULE_SENTENCES: Readonly<Record<SandboxVenue, (condition: string) => string>> = {
  kalshi: (condition) => `If ${condition}, then the market resolves to Yes.`,
  polymarket: (condition) =>
    `This market will resolve to "Yes" if ${condition}. Otherwise, this market will resolve to "No".`,
  limitless: (condition) =>
    `This market will resolve to "YES" if ${condition}. In all other cases it will resolve to "NO".`,
  manifold: (condition) => `Resolves YES if ${condition}, otherwise NO.`,
};

/** Creates the rules of a market in the style of each venue, from the clause that follows "if". */
export function createRules(condition: VenueTexts, note?: string): VenueTexts {
  return forVenues((venue) => {
    const sentence = RULE_SENTENCES[venue](condition[venue]);
    return note === undefined ? sentence : `${sentence}\n\n${capitalise(note)}.`;
  });
}

/** Creates the descriptions of an event in the style of each venue, from a noun phrase. */
export function createDescriptions(subject: VenueTexts): VenueTexts {
  return forVenues((venue) => {
    if (venue === "kalshi") return `${capitalise(subject.kalshi)}.`;
    const start = { polymarket: "This is a market on", limitless: "Trade on", manifold: "This question is about" }[
      venue
    ];
    return `${start} ${subject[venue]}.`;
  });
}

export const YES_LABELS = createVenueTexts("Yes");
/** Creates an event with a single question, which looks like one question of the original event. */
export function createSingleEvent(event: EventDefinition, series: string, market: MarketDefinition): EventDefinition {
  return {
    ...event,
    series,
    mutuallyExclusive: false,
    exhaustive: false,
    ladder: false,
    titles: market.questions,
    markets: [{ ...market, labels: YES_LABELS }],
  };
}

/** Creates a trap whose outcome the process of the original event determines. */
export const sharedTrap = (kind: TrapKind, event: EventDefinition): TrapDefinition => ({
  kind,
  event,
  sharesProcess: true,
});

/** Creates a trap with its own process. */
export const separateTrap = (kind: TrapKind, event: EventDefinition): TrapDefinition => ({
  kind,
  event,
  sharesProcess: false,
});

/** Creates an event from `createSpec(false)` with one trap from `createSpec(true)`, which has its own process. */
export function createWithTrap<Spec extends Pick<EventFields, "traps">>(
  kind: TrapKind,
  createSpec: (isTrap: boolean) => Spec,
  create: (spec: Spec) => EventDefinition,
): EventDefinition {
  return create({ ...createSpec(false), traps: () => [separateTrap(kind, create(createSpec(true)))] });
}
