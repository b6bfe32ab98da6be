/** What a check of one recording found: the rows, the rows left out by reason, and what is wrong. */
import { differencesOf, type Expected, type Facts, type FieldDifference } from "./expectation.ts";
import { objectOf } from "./json.ts";

/** Maximum length of the recorded data that a difference shows. */
const EXCERPT_LENGTH_MAX = 400;

/** One wrong value, or a row that is wrong as a whole (`field` is then empty). */
export interface Difference extends FieldDifference {
  readonly row: string;
  /** How the adapter was asked, for example "getMarkets". */
  readonly method: string;
  readonly excerpt: string;
}

export interface Summary {
  readonly rows: number;
  readonly parsed: number;
  /** Number of rows left out, and of data that the adapter dropped, by reason. */
  readonly dropped: Readonly<Record<string, number>>;
  /** Rows with at least one difference, and differences that belong to no row. */
  readonly wrong: number;
  readonly differences: readonly Difference[];
}

export class Findings {
  readonly #rows = new Map<string, string | null>();
  readonly #wrongRows = new Set<string>();
  readonly #differences: Difference[] = [];
  readonly #countedDrops = new Map<string, number>();

  addRow(id: string): void {
    this.#rows.set(id, null);
  }

  /** Records that the row was left out correctly. */
  leaveOut(id: string, reason: string): void {
    this.#rows.set(id, reason);
  }

  /** Records data that the adapter dropped by its own count. */
  countDrop(reason: string, count: number): void {
    this.#countedDrops.set(reason, (this.#countedDrops.get(reason) ?? 0) + count);
  }

  /** Compares the fields of a row. */
  compare(row: string, method: string, expected: Expected, actual: Facts, raw: unknown): void {
    for (const difference of differencesOf(expected, actual)) this.#add(row, method, difference, raw);
  }

  /** Records a row that is wrong as a whole. */
  differ(row: string, method: string, expected: string, actual: string, raw: unknown): void {
    this.#add(row, method, { field: "", expected, actual }, raw);
  }

  get hasRows(): boolean {
    return this.#rows.size > 0;
  }

  get countedDrops(): ReadonlyMap<string, number> {
    return this.#countedDrops;
  }

  summary(): Summary {
    const dropped: Record<string, number> = {};
    let left = 0;
    for (const [id, reason] of this.#rows) {
      if (reason === null || this.#wrongRows.has(id)) continue;
      left += 1;
      dropped[reason] = (dropped[reason] ?? 0) + 1;
    }
    // The adapter may count a row once for each method that reads it.
    for (const [reason, count] of this.#countedDrops) dropped[reason] ??= count;
    const wrongRows = [...this.#wrongRows].filter((id) => this.#rows.has(id)).length;
    const otherWrong = [...this.#wrongRows].filter((id) => !this.#rows.has(id)).length;
    return {
      rows: this.#rows.size,
      parsed: this.#rows.size - left - wrongRows,
      dropped,
      wrong: wrongRows + otherWrong,
      differences: this.#differences,
    };
  }

  #add(row: string, method: string, difference: FieldDifference, raw: unknown): void {
    this.#wrongRows.add(row);
    this.#differences.push({ row, method, ...difference, excerpt: excerptOf(raw, difference.field) });
  }
}

/** Fields of the recorded row that explain a fact. Other facts show the row from its beginning. */
const EXPLAINING_FIELDS: Readonly<Record<string, RegExp>> = {
  status: /status|closed|active|accepting|result|resol|clos|expir|start/i,
  outcome: /result|settle|resol|outcome|payout|winning|prob/i,
  bid: /bid|ask|prices|book/i,
  ask: /bid|ask|prices|book/i,
  yes_price: /bid|ask|last|price|volume|prob/i,
  volume: /volume/i,
  open_interest: /interest/i,
  label: /title|outcomes|question/i,
  title: /title|question|text/i,
  taker_fee: /fee/i,
};
/** Longer texts, such as rules, are omitted. */
const TEXT_LENGTH_MAX = 200;

function excerptOf(raw: unknown, field: string): string {
  if (raw === undefined) return "";
  const name = Object.keys(EXPLAINING_FIELDS).find((each) => field.startsWith(each));
  const pattern = name === undefined ? undefined : EXPLAINING_FIELDS[name];
  const isShort = (value: unknown) => typeof value !== "string" || value.length <= TEXT_LENGTH_MAX;
  const entries = Object.entries(objectOf(raw)).filter(([, value]) => isShort(value));
  const explaining = pattern === undefined ? [] : entries.filter(([key]) => pattern.test(key));
  const shown = explaining.length > 0 ? explaining : entries;
  const text = JSON.stringify(entries.length > 0 ? Object.fromEntries(shown) : raw) ?? "";
  return text.length > EXCERPT_LENGTH_MAX ? `${text.slice(0, EXCERPT_LENGTH_MAX)}…` : text;
}
