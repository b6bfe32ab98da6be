interface Entry<Item> {
  readonly at: number;
  readonly item: Item;
}

/** Binary min-heap of items by time. */
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
      const left = 2 * index + 1;
      const isRightEarlier = (entries[left + 1]?.at ?? Number.POSITIVE_INFINITY) < (entries[left]?.at ?? 0);
      const childIndex = isRightEarlier ? left + 1 : left;
      const child = entries[childIndex];
      if (child === undefined || child.at >= last.at) break;
      entries[index] = child;
      index = childIndex;
    }
    entries[index] = last;
    return first;
  }
}
