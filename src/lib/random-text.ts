export const BASE32_ALPHABET = "abcdefghijklmnopqrstuvwxyz234567";

/** Returns random base32 text. The low five bits of a byte are uniform, because 256 is a multiple of 32. */
export function randomBase32(random: { readonly bytes: (length: number) => Uint8Array }, length: number): string {
  return Array.from(random.bytes(length), (byte) => BASE32_ALPHABET[byte & 31]).join("");
}
