/** Things in the order in which they are due: a binary heap, so that looking at what is not due yet costs nothing. */
export class DueHeap<Item> {
  #entries: { readonly at: number; readonly item: Item }[] = [];

  get size(): number {
    return this.#entries.length;
  }

  push(at: number, item: Item): void {
    const entries = this.#entries;
    const entry = { at, item };
    let place = entries.length;
    entries.push(entry);
    while (place > 0) {
      const parent = (place - 1) >>> 1;
      const above = entries[parent];
      if (above === undefined || above.at <= at) break;
      entries[place] = above;
      place = parent;
    }
    entries[place] = entry;
  }

  /** Takes out what is due first, unless that is after `until`. */
  pop(until: number): { readonly at: number; readonly item: Item } | null {
    const entries = this.#entries;
    const first = entries[0];
    if (first === undefined || first.at > until) return null;
    const last = entries.pop();
    if (last === undefined || entries.length === 0) return first;
    let place = 0;
    for (;;) {
      let child = 2 * place + 1;
      const left = entries[child];
      const right = entries[child + 1];
      if (left === undefined) break;
      if (right !== undefined && right.at < left.at) child += 1;
      const smaller = right !== undefined && right.at < left.at ? right : left;
      if (smaller.at >= last.at) break;
      entries[place] = smaller;
      place = child;
    }
    entries[place] = last;
    return first;
  }
}
