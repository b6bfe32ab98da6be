/**
 * Text of one line that shows what it is: no control characters, no line ends, nothing that turns the direction of
 * writing. As source of a regular expression with the flag `u`.
 */
export const PLAIN_TEXT_PATTERN =
  "^[^\\u0000-\\u001f\\u007f-\\u009f\\u061c\\u200e\\u200f\\u2028-\\u202e\\u2066-\\u2069\\ufeff]*$";

const PLAIN_TEXT = new RegExp(PLAIN_TEXT_PATTERN, "u");

/** Whether a name is one to `lengthMax` characters of plain text, without blanks around it. */
export function isPlainName(text: string, lengthMax: number): boolean {
  return text !== "" && text.trim() === text && text.length <= lengthMax && PLAIN_TEXT.test(text);
}
