/**
 * Text of one line that shows what it is: no control or format characters (zero-width ones, turns of the direction of
 * writing), no line ends. As source of a regular expression with the flag `u`.
 */
export const PLAIN_TEXT_PATTERN = "^[^\\p{Cc}\\p{Cf}\\p{Cs}\\p{Zl}\\p{Zp}]*$";

const PLAIN_TEXT = new RegExp(PLAIN_TEXT_PATTERN, "u");

/** Whether a name is one to `lengthMax` characters (code points, as schemas count) of plain text, without blanks around it. */
export function isPlainName(text: string, lengthMax: number): boolean {
  return text !== "" && text.trim() === text && [...text].length <= lengthMax && PLAIN_TEXT.test(text);
}
