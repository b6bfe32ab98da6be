import Type from "typebox";
import type { DriftKind } from "../ports/venue.ts";
import { redactSample } from "./redact-sample.ts";

/** One difference between a venue's responses and the documented format. Times are Unix milliseconds. */
export const DriftEntry = Type.Object({
  /** Object type and field, such as `market.status`; `other` if the list is full or the name may contain an id. */
  name: Type.String(),
  kind: Type.Enum(["unknown_value", "missing", "new"]),
  /** Number of affected objects. New fields and formats are counted in a sample of the objects. */
  count: Type.Number(),
  /** The first value, redacted, as `type: value`; null for missing fields. */
  sample: Type.Union([Type.String(), Type.Null()]),
  firstSeenAt: Type.Number(),
  lastSeenAt: Type.Number(),
});
export type DriftEntry = Type.Static<typeof DriftEntry>;

const NAMES_MAX = 60;
/** Field names that may be displayed. Other names may contain ids and are counted as `other`. */
const FIELD_NAME_PATTERN = /^[A-Za-z][A-Za-z_]{0,31}(?:\.[A-Za-z_][A-Za-z0-9_]{0,39})?$/;
const MANY_DIGITS_PATTERN = /\d{4}|(?:\d.*){6}/;
const OTHER_NAME = "other";

/** Counts the drift of one venue by kind and name, each with one redacted sample, for a bounded number of names. */
export class SchemaDriftLog {
  readonly #entries = new Map<string, DriftEntry>();

  note(kind: DriftKind, field: string, value: unknown, at: number): void {
    const entry = this.#entries.get(`${kind} ${field}`) ?? this.#add(kind, field, value, at);
    entry.count += 1;
    entry.lastSeenAt = at;
  }

  /** Returns the entries in the order of their first occurrence. */
  list(): DriftEntry[] {
    return [...this.#entries.values()].map((entry) => ({ ...entry }));
  }

  #add(kind: DriftKind, field: string, value: unknown, at: number) {
    const isDisplayableName =
      FIELD_NAME_PATTERN.test(field) && !MANY_DIGITS_PATTERN.test(field) && this.#entries.size < NAMES_MAX;
    const name = isDisplayableName ? field : OTHER_NAME;
    const key = `${kind} ${name}`;
    const existing = this.#entries.get(key);
    if (existing !== undefined) return existing;
    const sample = kind === "missing" || !isDisplayableName ? null : redactSample(name, value);
    const entry = { name, kind, count: 0, sample, firstSeenAt: at, lastSeenAt: at };
    this.#entries.set(key, entry);
    return entry;
  }
}
