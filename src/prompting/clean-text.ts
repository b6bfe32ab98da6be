/** Invisible characters: controls except line feed and tab, zero-width, bidirectional and tag characters. */
const INVISIBLE = /[^\P{C}\n\t]|\p{Default_Ignorable_Code_Point}/gu;
const MARKUP_COMMENT = /<!--[\s\S]*?(?:-->|$)/g;
/**
 * Encoded text: base64, hexadecimal, percent, entity and backslash escapes, binary, and letters separated by spaces.
 */
const ENCODED_PASSAGES: readonly RegExp[] = [
  /[A-Za-z0-9+/=_-]{40,}/g,
  /(?=[A-Za-z0-9+/_-]*[a-z])(?=[A-Za-z0-9+/_-]*[A-Z])(?=[A-Za-z0-9+/_-]*[0-9+/])[A-Za-z0-9+/_-]{20,}={0,2}/g,
  /(?:\b(?:0x|\\x)?[0-9a-fA-F]{2}[\s,:]*){10,}/g,
  /(?:%[0-9a-fA-F]{2}[^\s%]{0,3}){3,}/g,
  /(?:&#?[a-z0-9]{1,8};\s?){3,}/gi,
  /(?:\\u\{?[0-9a-fA-F]{4,6}\}?\s?){3,}/g,
  /(?:\b[01]{7,8}\b\s*){4,}/g,
  /(?:(?<![\p{L}\p{N}])[\p{L}\p{N}][^\p{L}\p{N}\n]{1,3}){12,}/gu,
];
/** Input beyond this multiple of the maximum length is ignored. */
const INPUT_FACTOR = 8;

/**
 * Sanitises third-party text for a prompt: normalises it to Unicode NFKC, removes invisible characters, markup comments
 * and encoded passages, collapses white space, and truncates it to `charactersMax` characters.
 */
export function cleanText(text: string, charactersMax: number): string {
  let cleaned = text
    .slice(0, charactersMax * INPUT_FACTOR)
    .normalize("NFKC")
    .replace(INVISIBLE, "")
    .replace(MARKUP_COMMENT, " ");
  for (const pattern of ENCODED_PASSAGES) cleaned = cleaned.replace(pattern, " ");
  return cleaned
    .replace(/[^\S\n]+/g, " ")
    .replace(/ ?\n[ \n]*/g, "\n")
    .trim()
    .slice(0, charactersMax)
    .toWellFormed();
}

/** Same as `cleanText`, on one line. */
export const cleanLine = (text: string, charactersMax: number): string =>
  cleanText(text, charactersMax).replace(/\s+/g, " ");

/** Splits text into sentences. A line break ends a sentence. */
export function splitSentences(text: string): string[] {
  return text
    .split(/(?<=[.!?。！？؟])\s+|(?<=[。！？])|\n+/u)
    .map((sentence) => sentence.trim())
    .filter((sentence) => sentence !== "");
}
