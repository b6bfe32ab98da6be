/** Deletes the entries of a map or set that were added first, until at most `sizeMax` remain. */
export function deleteOldest<Key>(
  entries: { readonly size: number; keys(): Iterable<Key>; delete(key: Key): boolean },
  sizeMax: number,
): void {
  for (const key of entries.keys()) {
    if (entries.size <= sizeMax) return;
    entries.delete(key);
  }
}
