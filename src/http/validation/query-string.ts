/**
 * Names and values of a query string, decoded once; of a repeated name the last value wins, so that no value is ever a
 * list by accident. A malformed escape stays as it was sent: `isWellEncoded` refuses it before anyone reads it.
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

/** Whether every percent escape of a raw URL's query is one of valid UTF-8. */
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
