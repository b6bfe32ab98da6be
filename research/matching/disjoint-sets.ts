/** Sets of keys that are joined with each other (union-find). A key that was never joined is its own set. */
export class DisjointSets<Key> {
  readonly #parents = new Map<Key, Key>();

  /** Returns the representative of the key's set. */
  rootOf(key: Key): Key {
    let root = key;
    for (
      let parent = this.#parents.get(root);
      parent !== undefined && parent !== root;
      parent = this.#parents.get(root)
    )
      root = parent;
    return root;
  }

  join(a: Key, b: Key): void {
    const [rootA, rootB] = [this.rootOf(a), this.rootOf(b)];
    if (rootA !== rootB) this.#parents.set(rootA, rootB);
  }
}
