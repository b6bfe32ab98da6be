import { gaussian } from "../random.ts";
import type { SandboxVenue } from "../types.ts";
import {
  createDescriptions,
  createRules,
  createSingleEvent,
  type EventDefinition,
  type EventFields,
  forVenues,
  type MarketDefinition,
  sharedTrap,
  type TemplateInput,
  type TrapDefinition,
  type VenueTexts,
} from "./event-definition.ts";

/** Part of the number line that a market asks about: (above, upTo]. */
interface Range {
  readonly above: number;
  readonly upTo: number;
}

export interface NumberSpec extends EventFields {
  /** Center and standard deviation of the published number; count of thresholds and the step between them. */
  readonly number: {
    readonly center: number;
    readonly deviation: number;
    readonly step: number;
    readonly count: number;
    /** The number is published in multiples of this; continuous if absent. */
    readonly unit?: number;
  };
  /** `ladder`: markets "above x". `buckets`: exclusive and exhaustive ranges. */
  readonly shape: "ladder" | "buckets";
  readonly format: (value: number, venue: SandboxVenue) => string;
  readonly subject: VenueTexts;
  /** `predicate` is for example "above 3%". */
  readonly question: (predicate: string, venue: SandboxVenue) => string;
  /** The clause of the rules that follows "if". */
  readonly condition: (predicate: string, venue: SandboxVenue) => string;
  readonly note?: string;
}

const ABOVE_WORDS: VenueTexts = { kalshi: "above", polymarket: "above", limitless: "over", manifold: "more than" };
const UP_TO_WORDS: VenueTexts = {
  kalshi: "at or below",
  polymarket: "no higher than",
  limitless: "at most",
  manifold: "not above",
};

/** Describes a range. `style` selects the wording of titles and labels, or the exact wording of rules. */
function describeRange({ above, upTo }: Range, spec: NumberSpec, venue: SandboxVenue, style: "title" | "rule"): string {
  const { unit } = spec.number;
  const format = (value: number) => spec.format(value, venue);
  const isRule = style === "rule";
  if (upTo === Number.POSITIVE_INFINITY) {
    if (unit !== undefined) return `${format(above + unit)} or above`;
    return `${isRule ? (venue === "polymarket" ? "higher than" : "above") : ABOVE_WORDS[venue]} ${format(above)}`;
  }
  if (above === Number.NEGATIVE_INFINITY) {
    if (unit !== undefined) return `${format(upTo)} or below`;
    return `${isRule ? "at or below" : UP_TO_WORDS[venue]} ${format(upTo)}`;
  }
  const low = format(unit === undefined ? above : above + unit);
  const high = format(upTo);
  if (isRule && unit === undefined) return `above ${low} and at or below ${high}`;
  return venue === "kalshi" || isRule
    ? `between ${low} and ${high}`
    : `${venue === "manifold" ? "from " : ""}${low} to ${high}`;
}

function labelOf({ above, upTo }: Range, spec: NumberSpec, venue: SandboxVenue): string {
  const format = (value: number) => spec.format(value, venue);
  const unit = spec.number.unit ?? 0;
  const dash = venue === "kalshi" || venue === "manifold" ? " to " : "-";
  if (upTo === Number.POSITIVE_INFINITY) {
    if (unit > 0) return `${format(above + unit)} or above`;
    if (venue === "limitless") return `>${format(above)}`;
    return venue === "manifold" ? `More than ${format(above)}` : `Above ${format(above)}`;
  }
  if (above === Number.NEGATIVE_INFINITY) return `${format(upTo)} or below`;
  return `${format(above + unit)}${dash}${format(upTo)}`;
}

function createNumberMarket(range: Range, spec: NumberSpec, resembles?: number): MarketDefinition {
  const { above, upTo } = range;
  const unit = spec.number.unit ?? 0;
  const isLadder = upTo === Number.POSITIVE_INFINITY;
  const isLowest = above === Number.NEGATIVE_INFINITY;
  return {
    labels: forVenues((venue) => labelOf(range, spec, venue)),
    questions: forVenues((venue) => spec.question(describeRange(range, spec, venue, "title"), venue)),
    rules: createRules(
      forVenues((venue) => spec.condition(describeRange(range, spec, venue, "rule"), venue)),
      spec.note,
    ),
    strike: isLadder
      ? { type: "greater", floor: above, cap: null }
      : isLowest
        ? { type: "less", floor: null, cap: upTo + unit }
        : { type: "between", floor: above + unit, cap: upTo },
    // The process is continuous. A published number is rounded to the nearest multiple of the unit.
    criterion: { kind: "range", above: above + unit / 2, upTo: upTo + unit / 2 },
    resembles,
  };
}

function createShape(
  thresholds: readonly number[],
  shape: NumberSpec["shape"],
  spec: NumberSpec,
  resembling: (position: number) => number | undefined = (position) => position,
): MarketDefinition[] {
  if (shape === "ladder")
    return thresholds.map((above, position) =>
      createNumberMarket({ above, upTo: Number.POSITIVE_INFINITY }, spec, resembling(position)),
    );
  const bounds = [Number.NEGATIVE_INFINITY, ...thresholds, Number.POSITIVE_INFINITY];
  return bounds
    .slice(1)
    .map((upTo, position) => createNumberMarket({ above: bounds[position] ?? upTo, upTo }, spec, resembling(position)));
}

/**
 * Creates an event about a number that is published at the closing time. Its traps ask about the same number with other
 * thresholds, with ranges instead of thresholds or the reverse, with the opposite question, or without a threshold.
 */
export function createNumberEvent(input: TemplateInput, spec: NumberSpec): EventDefinition {
  const { number, shape, format, subject, question, condition, note, traps, ...fields } = spec;
  const { center, deviation, step, count, unit } = number;
  const middle = Math.round(center / step);
  const mean = (middle + gaussian(input.seed, input.underlying, 104) * 0.8) * step;
  const toThreshold = (steps: number) => Number((steps * step).toFixed(6));
  const thresholds = Array.from({ length: count }, (_, position) =>
    toThreshold(middle + position - Math.floor(count / 2)),
  );
  const shapeFields = (newShape: NumberSpec["shape"]) => ({
    mutuallyExclusive: newShape === "buckets",
    exhaustive: newShape === "buckets",
    ladder: newShape === "ladder",
  });
  const event: EventDefinition = {
    ...fields,
    ...shapeFields(shape),
    model: { kind: "numeric", mean, deviation },
    descriptions: createDescriptions(subject),
    markets: createShape(thresholds, shape, spec),
  };
  const listTraps = (): TrapDefinition[] => {
    const shift = unit ?? step / 2;
    const chosen = Math.floor(count / 2);
    const threshold = thresholds[chosen] ?? 0;
    return [
      sharedTrap("threshold", {
        ...event,
        series: `${spec.series}B`,
        markets: createShape(
          thresholds.map((above) => Number((above + shift).toFixed(6))),
          shape,
          spec,
        ),
      }),
      sharedTrap("bucket", {
        ...event,
        series: `${spec.series}R`,
        ...shapeFields(shape === "ladder" ? "buckets" : "ladder"),
        // The range that starts at a threshold looks like the market "above" that threshold.
        markets:
          shape === "ladder"
            ? createShape(thresholds, "buckets", spec, (position) => (position === 0 ? undefined : position - 1))
            : createShape(thresholds, "ladder", spec, (position) => position + 1),
      }),
      sharedTrap("placeholder", createPlaceholderEvent(event, threshold + shift, chosen, spec)),
      ...(shape === "ladder"
        ? [
            sharedTrap("polarity", {
              ...event,
              series: `${spec.series}NOT`,
              markets: thresholds.map((upTo, position) =>
                createNumberMarket({ above: Number.NEGATIVE_INFINITY, upTo }, spec, position),
              ),
            }),
          ]
        : []),
      ...(traps?.() ?? []),
    ];
  };
  return { ...event, traps: listTraps };
}

/** Creates one question whose threshold is missing in all texts. */
function createPlaceholderEvent(
  event: EventDefinition,
  threshold: number,
  resembles: number,
  spec: NumberSpec,
): EventDefinition {
  const market = createNumberMarket({ above: threshold, upTo: Number.POSITIVE_INFINITY }, spec, resembles);
  const questions = forVenues((venue) => spec.question("above ___", venue));
  const rules = createRules(forVenues((venue) => spec.condition("above {threshold}", venue)));
  return createSingleEvent(event, `${spec.series}P`, { ...market, questions, rules, strike: null });
}
