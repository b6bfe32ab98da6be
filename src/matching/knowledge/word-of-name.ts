const DIGITS = "zero one two three four five six seven eight nine".split(" ");

/** Joins the words of a name to one word of lower-case letters without accents: "South Korea" is southkorea. */
export const wordOfName = (name: string): string =>
  name
    .toLowerCase()
    .replaceAll("ø", "o")
    .replaceAll("ß", "ss")
    .normalize("NFKD")
    .replace(/\p{M}/gu, "")
    .replace(/[0-9]/g, (digit) => DIGITS[Number(digit)] ?? "")
    .replace(/[^\p{L}]/gu, "");
