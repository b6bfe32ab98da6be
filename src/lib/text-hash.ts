const FNV_PRIME = 0x01000193;
const FNV_OFFSET = 0x811c9dc5;
/** A second, independent start value. */
const OTHER_OFFSET = 0x9e3779b9;

/** Returns the 32-bit FNV-1a hash of the UTF-16 units of a text. */
export function fnv1a(text: string, offset = FNV_OFFSET): number {
  let hash = offset;
  for (let index = 0; index < text.length; index++) hash = Math.imul(hash ^ text.charCodeAt(index), FNV_PRIME);
  return hash >>> 0;
}

/** Returns a 64-bit hash of a text: two 32-bit FNV-1a hashes. Not cryptographic: collisions can be constructed. */
export const hashText = (text: string): string => `${fnv1a(text)}-${fnv1a(text, OTHER_OFFSET)}`;
