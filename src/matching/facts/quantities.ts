/** Finds the thresholds and ranges in a title. */

export type Comparator = "at_least" | "at_most" | "between" | "exactly";

export interface Quantity {
  readonly comparator: Comparator;
  readonly low: number;
  /** Equal to `low` unless the comparator is `between`. */
  readonly high: number;
  /** For example "%", "$", "°"; "x" for a number without a unit. Basis points are hundredths of "%". */
  readonly unit: string;
  /** Whether the title states that the bound belongs to the range: "at least 3", "3 or more". Absent otherwise. */
  readonly isInclusive?: true;
}

export interface QuantityText {
  readonly quantities: readonly Quantity[];
  /** The text without the quantities. */
  readonly rest: string;
}

const SCALE: Readonly<Record<string, number>> = {
  k: 1e3,
  thousand: 1e3,
  m: 1e6,
  mn: 1e6,
  million: 1e6,
  b: 1e9,
  bn: 1e9,
  billion: 1e9,
  t: 1e12,
  tn: 1e12,
  trillion: 1e12,
};
/** Factor of a suffix such as "k" or "million"; 1 without one. */
export const suffixScale = (suffix: string | undefined): number => SCALE[suffix?.trim() ?? ""] ?? 1;

const NUMBER = "(-?[0-9]+(?:\\.[0-9]+)?)";
const SUFFIX = "( ?(?:k|thousand|mn|million|m|bn|billion|b|tn|trillion|t)\\b)?";
const UNIT = "( ?(?:%|percent|percentage points?|bps|basis points?|°[fc]?|degrees?))?";
const AMOUNT = `(\\$)?${NUMBER}${SUFFIX}${UNIT}`;
const ABOVE =
  "above|over|more than|greater than|at least|exceeds?|exceeding|reach(?:es)?|hits?(?: \\(high\\))?|surpass(?:es)?|higher than|minimum of|≥|>=|>";
const BELOW =
  "below|under|less than|fewer than|at most|dips? (?:to|below)|drops? (?:to|below)|falls? (?:to|below)|lower than|hits? \\(low\\)|≤|<=|<";

const PERCENT_PER_BASIS_POINT = 0.01;
/** Central banks change rates in steps of 25 basis points, so that "more than 25 bps" means "at least 50 bps". */
const RATE_STEP = 0.25;
/** Leading words of a range that contains its bound. */
const INCLUSIVE_PATTERN = /^(?:at least|at most|minimum of|reach.*|hits?.*|≥|>=|≤|<=)$/;
const STRICT_PATTERN =
  /^(?:above|over|more than|greater than|exceed.*|higher than|>|below|under|less than|fewer than|lower than|<)$/;
const RATE_PATTERN =
  /\b(?:ratecut|ratehike|cuts?|hikes?|rates?|decrease[sd]?|increase[sd]?|raise[sd]?|lower(?:s|ed)?)\b/;
const RATE_MOVE_PATTERN = /\brate(?:cut|hike)\b/;
const COUNT_PATTERN = /(?<![\p{L}\d])\d|\b(?:how many|number of|no|zero|one|two|three|four|five|six)\b/u;
const BELOW_PATTERN = new RegExp(`^(?:${BELOW})$`);
const QUANTITY_PATTERN = new RegExp(
  `(?:\\b(between|from) )?(?:(${ABOVE}|${BELOW}) ?)?(?<![0-9.\\p{L}])${AMOUNT}(?: ?(?:-|–|to|and) ?${AMOUNT})?( ?\\+| (?:or|and) (?:more|above|higher|greater|over|less|below|lower|fewer|under)(?! ?\\$?[0-9]))?`,
  "gu",
);

function unitOf(dollar: string | undefined, unit: string | undefined): string {
  const name = unit?.trim() ?? "";
  if (/^(?:%|percent|b)/.test(name)) return "%";
  if (name !== "") return "°";
  return dollar === undefined ? "x" : "$";
}

/**
 * Finds the quantities of a normalised text without dates. A bare number counts only with a comparator, a currency, a
 * scale or a unit: "GTA 6" has no quantity.
 */
export function findQuantities(text: string): QuantityText {
  const quantities: Quantity[] = [];
  const rest = text.replace(QUANTITY_PATTERN, (match: string, ...args: (string | undefined)[]) => {
    const [between, lead, dollar, number, suffix, unit, dollar2, number2, suffix2, unit2, tail] = args;
    const isRange = number2 !== undefined;
    const marks = [between, lead, dollar, suffix, unit, tail, dollar2, suffix2, unit2];
    if (marks.every((mark) => mark === undefined)) return match;
    const basisPoints = /^ ?b/.test(unit ?? unit2 ?? "");
    const scale = basisPoints ? PERCENT_PER_BASIS_POINT : 1;
    const low = Number(number) * suffixScale(suffix ?? (isRange ? suffix2 : undefined)) * scale;
    // A number with hundreds of digits overflows and is not a quantity.
    if (!Number.isFinite(low)) return match;
    const quantityUnit = unitOf(dollar ?? dollar2, unit ?? unit2);
    if (isRange) {
      const high = Number(number2) * suffixScale(suffix2 ?? suffix) * scale;
      if (!Number.isFinite(high)) return match;
      const [least, most] = low < high ? [low, high] : [high, low];
      quantities.push({ comparator: "between", low: least, high: most, unit: quantityUnit });
      return " ";
    }
    const comparator = comparatorOf(lead, tail);
    const isStrict = basisPoints && STRICT_PATTERN.test(lead ?? "") && RATE_PATTERN.test(text);
    const bound = isStrict ? low + (comparator === "at_least" ? RATE_STEP : -RATE_STEP) : low;
    const isInclusive = tail !== undefined || INCLUSIVE_PATTERN.test(lead ?? "");
    quantities.push({ comparator, low: bound, high: bound, unit: quantityUnit, ...(isInclusive && { isInclusive }) });
    return " ";
  });
  // A cut or a hike without a size is one of any size. "3 rate cuts" is about their number.
  if (quantities.length === 0 && RATE_MOVE_PATTERN.test(text) && !COUNT_PATTERN.test(text))
    quantities.push({ comparator: "at_least", low: RATE_STEP, high: RATE_STEP, unit: "%", isInclusive: true });
  return { quantities: withoutRepetitions(quantities), rest: rest.replace(/\s+/g, " ").trim() };
}

/** Removes repeated quantities: a title and its outcome often name the same threshold. */
function withoutRepetitions(quantities: readonly Quantity[]): readonly Quantity[] {
  return quantities.filter(
    (quantity, index) => quantities.findIndex((other) => relate(quantity, other) === "same") === index,
  );
}

function comparatorOf(lead: string | undefined, tail: string | undefined): Comparator {
  const word = tail?.trim() ?? "";
  if (word !== "") return /less|below|lower|fewer|under/.test(word) ? "at_most" : "at_least";
  if (lead === undefined) return "exactly";
  return BELOW_PATTERN.test(lead) ? "at_most" : "at_least";
}

export type QuantityRelation =
  | "same"
  | "opposite"
  | "a_implies_b"
  | "b_implies_a"
  | "overlap"
  | "conflict"
  | "missing"
  | "none";

/** Maximum relative difference of two equal thresholds. "Above 2.9%" and "3% or more" are different. */
const EQUAL_TOLERANCE = 1e-9;

/**
 * Compares the quantities of two titles. `missing`: one title lacks quantities that the other has. `none`: neither has
 * quantities. `opposite`: one is at least, the other at most the same number, or the previous
 * whole number.
 */
export function compareQuantities(a: readonly Quantity[], b: readonly Quantity[]): QuantityRelation {
  if (a.length === 0 && b.length === 0) return "none";
  if (a.length === 0 || b.length === 0) return "missing";
  if (a.length !== b.length) {
    const [few, many] = a.length < b.length ? [a, b] : [b, a];
    return few.every((quantity) => many.some((other) => relate(quantity, other) === "same")) ? "missing" : "conflict";
  }
  const relations = a.map((quantity, index) => {
    const other = b[index];
    return other === undefined ? "conflict" : relate(quantity, other);
  });
  const [first = "conflict"] = relations;
  if (relations.every((relation) => relation === "same")) return "same";
  return relations.length === 1 ? first : "conflict";
}

function relate(a: Quantity, b: Quantity): Exclude<QuantityRelation, "missing" | "none"> {
  if (a.unit !== b.unit && a.unit !== "x" && b.unit !== "x") return "conflict";
  const sameLow = isNumericallyEqual(a.low, b.low);
  if (a.comparator === b.comparator) {
    if (sameLow && isNumericallyEqual(a.high, b.high)) return "same";
    if (a.comparator === "at_least") return a.low > b.low ? "a_implies_b" : "b_implies_a";
    if (a.comparator === "at_most") return a.low < b.low ? "a_implies_b" : "b_implies_a";
    return relateRanges(rangeOf(a), rangeOf(b));
  }
  if (areComplements(a, b) || areComplements(b, a)) return "opposite";
  if (isBoundOf(a, b)) return "a_implies_b";
  if (isBoundOf(b, a)) return "b_implies_a";
  return relateRanges(rangeOf(a), rangeOf(b));
}

/** Whether `exact` is the bound that `range` includes: "25 bps" and "25 bps or more". */
const isBoundOf = (exact: Quantity, range: Quantity): boolean =>
  exact.comparator === "exactly" && range.isInclusive === true && isNumericallyEqual(exact.low, range.low);

/** Units of values that are whole numbers if both bounds are: counts, and temperatures, which stations round. */
const WHOLE_UNITS: ReadonlySet<string> = new Set(["x", "°"]);

/**
 * Whether `a` is at least a number and `b` at most the same one, or the previous whole number if both include their
 * bounds: "71° or above" and "70° or below".
 */
function areComplements(a: Quantity, b: Quantity): boolean {
  if (a.comparator !== "at_least" || b.comparator !== "at_most") return false;
  const areWhole = [a, b].every(
    ({ low, unit, isInclusive }) => WHOLE_UNITS.has(unit) && Number.isInteger(low) && isInclusive === true,
  );
  return isNumericallyEqual(a.low, b.low) || (areWhole && a.low === b.low + 1);
}

type Range = readonly [low: number, high: number];

function rangeOf({ comparator, low, high }: Quantity): Range {
  if (comparator === "at_least") return [low, Number.POSITIVE_INFINITY];
  return comparator === "at_most" ? [Number.NEGATIVE_INFINITY, high] : [low, high];
}

/**
 * Compares two ranges. Ranges with a common bound do not imply each other, because one title may include the bound and
 * the other exclude it.
 */
function relateRanges(a: Range, b: Range): "a_implies_b" | "b_implies_a" | "overlap" | "conflict" {
  if (isInside(a, b)) return "a_implies_b";
  if (isInside(b, a)) return "b_implies_a";
  return Math.min(a[1], b[1]) - Math.max(a[0], b[0]) > 0 && a[0] < a[1] && b[0] < b[1] ? "overlap" : "conflict";
}

const isInside = ([low, high]: Range, [outerLow, outerHigh]: Range): boolean =>
  (low > outerLow || outerLow === Number.NEGATIVE_INFINITY) &&
  (high < outerHigh || outerHigh === Number.POSITIVE_INFINITY);

/** Whether two numbers are equal except for rounding errors. */
export const isNumericallyEqual = (x: number, y: number): boolean =>
  Math.abs(x - y) <= EQUAL_TOLERANCE * Math.max(1, Math.abs(x), Math.abs(y));
