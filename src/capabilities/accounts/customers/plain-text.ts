/**
 * A single line without control, format, surrogate and line-separator characters, such as zero-width characters and
 * direction overrides. A regular expression for the flag `u`.
 */
export const PLAIN_TEXT_PATTERN = "^[^\\p{Cc}\\p{Cf}\\p{Cs}\\p{Zl}\\p{Zp}]*$";

const PLAIN_TEXT_REGEXP = new RegExp(PLAIN_TEXT_PATTERN, "u");

/** Whether a name has 1 to `lengthMax` code points of plain text, without leading or trailing white space. */
export function isPlainName(text: string, lengthMax: number): boolean {
  return text !== "" && text.trim() === text && [...text].length <= lengthMax && PLAIN_TEXT_REGEXP.test(text);
}
