/** English names of the months, January first. The first three letters are the short name. */
export const MONTH_NAMES: readonly string[] =
  "January February March April May June July August September October November December".split(" ");
export const SHORT_MONTH_NAMES: readonly string[] = MONTH_NAMES.map((name) => name.slice(0, 3));
