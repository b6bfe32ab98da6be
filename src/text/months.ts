import { MONTH_NAMES as CAPITALISED_NAMES } from "../lib/dates/month-names.ts";

/** Pattern of an English name or abbreviation of a month, in one group; use it with the flag `i`. */
export const MONTH_PATTERN =
  "(Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sept?(?:ember)?|Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?)\\.?";

/** English names of the months in lower case, January first. Three letters identify each. */
export const MONTH_NAMES: readonly string[] = CAPITALISED_NAMES.map((name) => name.toLowerCase());

/** Returns 1 to 12 for an English name or abbreviation of a month, or 0 for another word. */
export function monthNumber(name: string): number {
  return MONTH_NAMES.findIndex((month) => month.slice(0, 3) === name.slice(0, 3).toLowerCase()) + 1;
}
