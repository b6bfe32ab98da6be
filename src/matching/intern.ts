import type { Fingerprint, Side } from "./fingerprint.ts";

/** Maximum number of entries. The interner is then cleared, to free the values of removed markets. */
const ENTRIES_MAX = 400_000;

/** Returns the first value that was stored for a key, so that fingerprints share equal parts. */
export class Interner {
  readonly #values = new Map<string, unknown>();

  get<Value>(key: string, value: Value): Value {
    const known = this.#values.get(key);
    if (known !== undefined) return known as Value;
    if (this.#values.size >= ENTRIES_MAX) this.#values.clear();
    this.#values.set(key, value);
    return value;
  }
}

/** Returns the fingerprint with shared parts. */
export function internFingerprint(fingerprint: Fingerprint, interner: Interner): Fingerprint {
  const words = (values: readonly string[]) =>
    interner.get(
      // Names of places contain spaces: ["new york"] is not ["new", "york"].
      `w${values.join("\n")}`,
      values.map((value) => interner.get(`s${value}`, value)),
    );
  const side = ({ stems, teams }: Side): Side =>
    interner.get(`t${stems.join("\n")}\n${teams.join(",")}`, { stems: words(stems), teams });
  // Nearly every market has a different list of stems, so only the strings are shared.
  const stems = fingerprint.stems.map((stem) => interner.get(`s${stem}`, stem));
  const { scopes, periods, window, quantities, fixture } = fingerprint;
  return {
    stems,
    eventStems: words(fingerprint.eventStems),
    names: interner.get(`n${JSON.stringify(fingerprint.names)}`, fingerprint.names),
    subject: side(fingerprint.subject),
    fixture: fixture === null ? null : [side(fixture[0]), side(fixture[1])],
    yesSide: fingerprint.yesSide,
    isTwoSided: fingerprint.isTwoSided,
    reference: words(fingerprint.reference),
    places: words(fingerprint.places),
    allPlaces: words(fingerprint.allPlaces),
    periods: interner.get(`p${JSON.stringify(periods)}`, periods),
    window: window === null ? null : interner.get(`d${window.from}-${window.to}`, window),
    quantities: interner.get(`q${JSON.stringify(quantities)}`, quantities),
    scopes: interner.get(`c${JSON.stringify([...scopes].map(([name, values]) => [name, ...values]))}`, scopes),
    endAt: fingerprint.endAt,
    decidedAt: fingerprint.decidedAt,
  };
}
