/**
 * Parses a query string and decodes it once. The last value of a repeated name wins, so that values are never arrays. Keeps
 * malformed escapes unchanged; `isWellEncoded` rejects them earlier.
 */
export function parseQuery(text: string): Record<string, string> {
  const result: Record<string, string> = Object.create(null);
  if (text === "") return result;
  for (const pair of text.split("&")) {
    if (pair === "") continue;
    const equals = pair.indexOf("=");
    const name = decode(equals < 0 ? pair : pair.slice(0, equals));
    result[name] = equals < 0 ? "" : decode(pair.slice(equals + 1));
  }
  return result;
}

/** Whether every percent-encoding in the query of a raw URL is valid UTF-8. */
export function isWellEncoded(url: string): boolean {
  const start = url.indexOf("?");
  if (start < 0 || url.indexOf("%", start) < 0) return true;
  try {
    decodeURIComponent(url.slice(start + 1));
    return true;
  } catch {
    return false;
  }
}

function decode(text: string): string {
  const spaced = text.includes("+") ? text.replaceAll("+", " ") : text;
  if (!spaced.includes("%")) return spaced;
  try {
    return decodeURIComponent(spaced);
  } catch {
    return spaced;
  }
}
