const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/**
 * Maximum nesting depth of JSON from a venue. The deepest recorded response has 7 levels. Parsing a long text of
 * opening brackets would take hundreds of megabytes and block the event loop.
 */
export const JSON_DEPTH_MAX = 64;

/** Thrown if a JSON text is nested too deeply or has too many values. */
export class JsonBoundError extends Error {}

/** @throws JsonBoundError if the text is nested more than `JSON_DEPTH_MAX` deep; SyntaxError if it is not JSON */
export function parseShallowJson(json: string): unknown {
  if (isNestedDeeper(json, JSON_DEPTH_MAX)) throw new JsonBoundError("nested too deeply");
  return JSON.parse(json);
}

/** Returns whether a JSON text is nested more than `depthMax` deep, without parsing it. */
export function isNestedDeeper(json: string, depthMax: number): boolean {
  let depth = 0;
  for (let at = 0; at < json.length; at++) {
    const code = json.charCodeAt(at);
    if (code === QUOTE) {
      at = endOfString(json, at);
      if (at === -1) return false;
    } else if (code === 0x5b || code === 0x7b) {
      depth += 1;
      if (depth > depthMax) return true;
    } else if (code === 0x5d || code === 0x7d) depth -= 1;
  }
  return false;
}

/**
 * Returns the position of the closing quote of the string that starts at `start`; -1 if there is none. `indexOf` is
 * several times faster than comparing each character, and most of a venue's response is text.
 */
function endOfString(json: string, start: number): number {
  for (let at = json.indexOf('"', start + 1); at !== -1; at = json.indexOf('"', at + 1)) {
    let backslashes = 0;
    while (json.charCodeAt(at - 1 - backslashes) === BACKSLASH) backslashes += 1;
    if (backslashes % 2 === 0) return at;
  }
  return -1;
}
