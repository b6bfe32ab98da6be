interface Entry<Item> {
  readonly at: number;
  readonly item: Item;
}

/** Binary min-heap of items by time: peeking at the earliest item costs the same for any number of items. */
export class PriorityQueue<Item> {
  readonly #entries: Entry<Item>[] = [];

  get size(): number {
    return this.#entries.length;
  }

  push(at: number, item: Item): void {
    const entries = this.#entries;
    const entry = { at, item };
    let index = entries.length;
    entries.push(entry);
    while (index > 0) {
      const parentIndex = (index - 1) >>> 1;
      const parent = entries[parentIndex];
      if (parent === undefined || parent.at <= at) break;
      entries[index] = parent;
      index = parentIndex;
    }
    entries[index] = entry;
  }

  /** Removes and returns the earliest entry, or null if it is later than `until`. */
  pop(until: number): Entry<Item> | null {
    const entries = this.#entries;
    const first = entries[0];
    if (first === undefined || first.at > until) return null;
    const last = entries.pop();
    if (last === undefined || entries.length === 0) return first;
    let index = 0;
    for (;;) {
      let child = 2 * index + 1;
      const left = entries[child];
      const right = entries[child + 1];
      if (left === undefined) break;
      if (right !== undefined && right.at < left.at) child += 1;
      const smaller = right !== undefined && right.at < left.at ? right : left;
      if (smaller.at >= last.at) break;
      entries[index] = smaller;
      index = child;
    }
    entries[index] = last;
    return first;
  }
}
