/** Rewrites dates, deadlines and amounts of money: another way to write the same value. */
import { type Cells, choose, fill } from "./paraphrase-support.ts";
import tables from "./paraphrases.json" with { type: "json" };

const DAY_MS = 86_400_000;
/** A title without its year means the year of its close if that is at most this far away. */
const CLOSE_DAYS_MAX = 45;
/** Only in this year does "in 2026" mean "before 2027", because no later year has begun. */
const CURRENT_YEAR = 2026;
const MONTHS = "January February March April May June July August September October November December".split(" ");
const MONTH = `(${MONTHS.join("|")}|(?:Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec)\\.?)`;
const DAY = "(\\d{1,2})(?:st|nd|rd|th)?";
const YEAR = "(20\\d\\d)";
const FIRST_DAY = `(?: 1(?:st)?)?`;
/** Full dates, days of a month after a preposition, and months of a year, with the ways to write them. */
const DATES: readonly (readonly [RegExp, readonly string[]])[] = [
  [
    new RegExp(`\\b(?:${MONTH} ${DAY},? ${YEAR}|${DAY} ${MONTH},? ${YEAR}|20\\d\\d-\\d\\d-\\d\\d)\\b`, "g"),
    tables.dates.full,
  ],
  [
    new RegExp(
      `(?<=\\b(?:by|before|on|after|since|until|through|from|than) )(?:${MONTH} ${DAY}\\b|${DAY} ${MONTH})(?=[?,)]? |[?,)]*$)(?!,? \\d{4}| [a-z]+ (?!at|in|and|or|for|inclusive|if|the)[a-z])`,
      "g",
    ),
    tables.dates.day,
  ],
  [new RegExp(`\\b${MONTH},? ${YEAR}\\b`, "g"), tables.dates.month],
];
/** What may follow a deadline: not a noun, as in "before the end of 2026 season". */
const DEADLINE_END = `(?=$|[?.;:)\\]]|,? (?:[—–([&]|(?:in|at|that|if|according|and|with|without|on|to|for|as|because|will|would|by|unless|due)\\b)|, | \\?)`;
const ONCE_ONLY = new RegExp(tables.dates.onceOnly, "iu");

/** "by December 31, 2026", "before Jan 1, 2027", "before 2027" and "by the end of 2026" are one deadline. */
export function rewriteEndOfYear(text: string, pick: number): string {
  const { endOfYear } = tables.dates;
  const rewrite = (year: number, found: string) =>
    choose(
      endOfYear.map((form) => fill(form, yearCells(year))),
      pick,
      found,
    );
  return text
    .replace(
      new RegExp(`\\bbefore (?:(?:Jan(?:uary|\\.)?(?: 1(?:st)?)?,? )|1(?:st)? January )?${YEAR}${DEADLINE_END}`, "g"),
      (found, year) => rewrite(Number(year) - 1, found),
    )
    .replace(
      new RegExp(`\\b(?:by|before) (?:the )?(?:end of|EOY|year-end) ${YEAR}${DEADLINE_END}`, "g"),
      (found, year) => rewrite(Number(year), found),
    )
    .replace(
      new RegExp(`\\bby (?:Dec(?:ember|\\.)? 31(?:st)?,?|31(?:st)? Dec(?:ember)?) ${YEAR}${DEADLINE_END}`, "g"),
      (found, year) => rewrite(Number(year), found),
    );
}

const yearCells = (year: number): Cells => ({ y: String(year), next: String(year + 1) });

/** "by March 31", "before April 1" and "by the end of March" are one deadline. December is the end of a year. */
export function rewriteEndOfMonth(text: string, pick: number): string {
  const rewrite = (found: string, month: number, year: number | null) => {
    if (month === 11 || month < 0) return found;
    const { endOfMonth, endOfMonthWithoutYear } = tables.dates;
    const last = new Date(Date.UTC(year ?? CURRENT_YEAR, month + 1, 0)).getUTCDate();
    if (year === null && month === 1) return found;
    const cells = { ...dateCells(last, month, year), NextMonth: MONTHS[month + 1] ?? "", next: String(year) };
    return choose(
      (year === null ? endOfMonthWithoutYear : endOfMonth).map((form) => fill(form, cells)),
      pick,
      found,
    );
  };
  const yearOf = (year: string | undefined) => (year === undefined ? null : Number(year));
  return text
    .replace(new RegExp(`\\bbefore ${MONTH}${FIRST_DAY}(?:,? ${YEAR})?${DEADLINE_END}`, "g"), (found, month, year) =>
      rewrite(found, monthOf(month) - 1, yearOf(year)),
    )
    .replace(new RegExp(`\\bby (?:the )?end of ${MONTH}(?:,? ${YEAR})?${DEADLINE_END}`, "g"), (found, month, year) =>
      rewrite(found, monthOf(month), yearOf(year)),
    )
    .replace(new RegExp(`\\bby ${MONTH} ${DAY}(?:,? ${YEAR})?${DEADLINE_END}`, "g"), (found, month, day, year) => {
      const last = new Date(Date.UTC(yearOf(year) ?? CURRENT_YEAR, monthOf(month) + 1, 0)).getUTCDate();
      return Number(day) === last ? rewrite(found, monthOf(month), yearOf(year)) : found;
    });
}

/** "in 2026"; it is the same as "before 2027" only for what can happen once. */
export function rewriteSpanOfYear(text: string, pick: number): string {
  const { inYear, endOfYear } = tables.dates;
  return text.replace(/(?<=\S )(?:in|during) (20\d\d)(?=\??$|\? | —)/g, (found, year) => {
    const forms = Number(year) === CURRENT_YEAR && ONCE_ONLY.test(text) ? [...inYear, ...endOfYear] : inYear;
    return choose(
      forms.map((form) => fill(form, yearCells(Number(year)))),
      pick,
      found,
    );
  });
}

/** Another way to write the same date. Numbers alone stand for a month and a day only if they cannot be swapped. */
export function rewriteDate(text: string, pick: number): string {
  const [pattern, forms] = DATES.find(([date]) => text.search(date) >= 0) ?? [];
  if (!pattern || !forms || /\bbetween\b|\d ?[-–] ?\d{1,2}(?![\d-])/.test(text.replace(/\d{4}-\d\d-\d\d/g, "")))
    return text;
  return text.replace(pattern, (found) => {
    const cells = parseDate(found);
    const usable = forms.filter(
      (form) =>
        (Number(cells.d) > 12 || !form.includes("{m}")) && (cells.Mon !== cells.Month || !form.includes("{Mon}")),
    );
    return choose(
      usable.map((form) => fill(form, cells)),
      pick,
      found,
    );
  });
}

function parseDate(text: string): Cells {
  const [year = ""] = /20\d\d/.exec(text) ?? [];
  const [, isoMonth, isoDay] = /-(\d\d)-(\d\d)$/.exec(text) ?? [];
  const day = isoDay ?? /\d+/.exec(text.replace(year, ""))?.[0];
  const month = isoMonth === undefined ? monthOf(/[A-Z][a-z]+/.exec(text)?.[0] ?? "") : Number(isoMonth) - 1;
  return dateCells(Number(day), month, Number(year));
}

/** Adds or leaves out the year of a date if the side's close tells it. */
export function rewriteYearOfDate(text: string, _pick: number, close: string | null | undefined): string {
  const closeTime = Date.parse(close ?? "");
  const isNear = (year: number, month: number, day: number) =>
    Math.abs(Date.UTC(year, month, day) - closeTime) <= CLOSE_DAYS_MAX * DAY_MS;
  if (Number.isNaN(closeTime)) return text;
  return text.replace(
    new RegExp(`\\b${MONTH} ${DAY}(?:,? ${YEAR})?(?=\\??$|\\? | —)`, "g"),
    (found, month, day, year) => {
      const ownYear = year === undefined ? new Date(closeTime).getUTCFullYear() : Number(year);
      if (monthOf(month) === 0 || !isNear(ownYear, monthOf(month), Number(day))) return found;
      return year === undefined ? `${found}, ${ownYear}` : `${month} ${Number(day)}`;
    },
  );
}

const monthOf = (name: string): number => MONTHS.findIndex((month) => month.startsWith(name.slice(0, 3)));

function dateCells(day: number, month: number, year: number | null): Cells {
  const name = MONTHS[month] ?? "";
  const suffix = day >= 11 && day <= 13 ? "th" : (["th", "st", "nd", "rd"][day % 10] ?? "th");
  return {
    Month: name,
    Mon: name.slice(0, 3),
    d: String(day),
    dth: `${day}${suffix}`,
    y: String(year),
    m: String(month + 1),
    mm: String(month + 1).padStart(2, "0"),
    dd: String(day).padStart(2, "0"),
  };
}

const SCALES: readonly (readonly [RegExp, number, readonly string[]])[] = [
  [/^(?:k|thousand)$/i, 1e3, ["k", "K"]],
  [/^(?:m|million)$/i, 1e6, ["M", " million"]],
  [/^(?:b|bn|billion)$/i, 1e9, ["B", " billion", "bn"]],
  [/^(?:t|trillion)$/i, 1e12, ["T", " trillion"]],
];

/** "$100,000", "$100k" and "100,000 dollars" are one amount. */
export function rewriteMoney(text: string, pick: number): string {
  return text.replace(
    /\$(\d[\d,]*(?:\.\d+)?)(?:( ?(?:[kKmMbBtT]|bn|thousand|million|billion|trillion)\b)|(?![\d,.]*\d| ?(?:[kKmMbBtT]|bn|thousand|million|billion|trillion)\b))(?!\+| [A-Z]| ?[-–]|\w)/g,
    (found, digits: string, unit: string | undefined) => {
      const plain = digits.replaceAll(",", "");
      const scale = SCALES.find(([name]) => name.test((unit ?? "").trim()));
      if (unit !== undefined && scale) {
        const whole = Number(plain) * scale[1];
        const long = scale[1] === 1e3 && Number.isInteger(whole) ? [`$${whole.toLocaleString("en-US")}`] : [];
        return choose([...scale[2].map((name) => `$${digits}${name}`), ...long], pick, found);
      }
      const value = Number(plain);
      const short = value >= 1e4 && value < 1e6 && value % 1e3 === 0 ? [`$${value / 1e3}k`, `$${value / 1e3}K`] : [];
      const grouped =
        Number.isInteger(value) && !plain.includes(".") ? [`$${value.toLocaleString("en-US")}`, `$${value}`] : [];
      return choose([...short, ...grouped, `${digits} dollars`, `USD ${digits}`], pick, found);
    },
  );
}
