/** Reference-counted mapping from strings to small integers. The number of a released string is reused. */
export class StringInterner {
  readonly #entries = new Map<string, { readonly number: number; references: number }>();
  readonly #freeNumbers: number[] = [];
  #nextNumber = 0;

  /** Adds a reference to the string and returns its number. */
  acquire(text: string): number {
    const entry = this.#entries.get(text);
    if (entry !== undefined) {
      entry.references += 1;
      return entry.number;
    }
    const number = this.#freeNumbers.pop() ?? this.#nextNumber++;
    this.#entries.set(text, { number, references: 1 });
    return number;
  }

  /** Removes a reference to the string. Call it once per `acquire`. */
  release(text: string): void {
    const entry = this.#entries.get(text);
    if (entry === undefined) return;
    entry.references -= 1;
    if (entry.references > 0) return;
    this.#entries.delete(text);
    this.#freeNumbers.push(entry.number);
  }

  /** All strings that have references, with their numbers. */
  *all(): Generator<readonly [text: string, number: number]> {
    for (const [text, { number }] of this.#entries) yield [text, number];
  }
}
