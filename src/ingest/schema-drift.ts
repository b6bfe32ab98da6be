import { redactSample } from "../lib/redact-sample.ts";
import type { DriftKind } from "../ports/venue.ts";

/** One way in which a venue's wire departs from what its adapter knows. Times are Unix milliseconds. */
export interface DriftEntry {
  /** Kind of object and field, `market.status`; `other` where there was no room or the name could not be shown. */
  readonly name: string;
  readonly kind: DriftKind;
  /** Objects found so; new fields and forms are looked for in a sample of all objects. */
  readonly count: number;
  /** The first value, redacted, as `type: value`; null where there was none. */
  readonly sample: string | null;
  readonly firstSeenAt: number;
  readonly lastSeenAt: number;
}

const NAMES_MAX = 60;
/** A field's name comes from the venue: what looks like an id used as a key, or like anything but a name, is not kept. */
const FIELD_NAME = /^[A-Za-z][A-Za-z_]{0,31}(?:\.[A-Za-z_][A-Za-z0-9_]{0,39})?$/;
const MANY_DIGITS = /\d{4}|(?:\d.*){6}/;
const OTHER = "other";

/** Drift of one venue by kind and name: a bounded number of names, one redacted sample each. */
export class SchemaDriftLog {
  readonly #entries = new Map<string, { -readonly [Key in keyof DriftEntry]: DriftEntry[Key] }>();

  note(kind: DriftKind, field: string, value: unknown, at: number): void {
    const known = this.#entries.get(`${kind} ${field}`) ?? this.#add(kind, field, value, at);
    known.count += 1;
    known.lastSeenAt = at;
  }

  /** In the order first seen. */
  list(): DriftEntry[] {
    return [...this.#entries.values()].map((entry) => ({ ...entry }));
  }

  #add(kind: DriftKind, field: string, value: unknown, at: number) {
    const isNamed = FIELD_NAME.test(field) && !MANY_DIGITS.test(field) && this.#entries.size < NAMES_MAX;
    const name = isNamed ? field : OTHER;
    const key = `${kind} ${name}`;
    const known = this.#entries.get(key);
    if (known !== undefined) return known;
    const sample = kind === "missing" || !isNamed ? null : redactSample(name, value);
    const entry = { name, kind, count: 0, sample, firstSeenAt: at, lastSeenAt: at };
    this.#entries.set(key, entry);
    return entry;
  }
}
