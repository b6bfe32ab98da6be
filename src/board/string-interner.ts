/** Gives each distinct name a small number while anybody uses it; numbers of names that nobody uses are given again. */
export class StringInterner {
  readonly #known = new Map<string, { readonly number: number; users: number }>();
  readonly #free: number[] = [];
  #next = 0;

  /** The name's number, counting one more user. */
  take(name: string): number {
    const known = this.#known.get(name);
    if (known !== undefined) {
      known.users += 1;
      return known.number;
    }
    const number = this.#free.pop() ?? this.#next++;
    this.#known.set(name, { number, users: 1 });
    return number;
  }

  /** One user fewer; one who never took the name must not give it back. */
  release(name: string): void {
    const known = this.#known.get(name);
    if (known === undefined) return;
    known.users -= 1;
    if (known.users > 0) return;
    this.#known.delete(name);
    this.#free.push(known.number);
  }

  /** The number of a name in use; null when nobody uses it. */
  find(name: string): number | null {
    return this.#known.get(name)?.number ?? null;
  }
}
