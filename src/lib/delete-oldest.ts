/** Deletes the oldest entries of a map or set until at most `sizeMax` remain. */
export function deleteOldest<Key>(
  entries: { readonly size: number; keys(): Iterable<Key>; delete(key: Key): boolean },
  sizeMax: number,
): void {
  for (const key of entries.keys()) {
    if (entries.size <= sizeMax) return;
    entries.delete(key);
  }
}
