import type { Findings } from "./types.ts";

const NAMES_MAX = 20;
const NAME_LENGTH_MAX = 40;
const DISTANCE_MAX = 2;

/**
 * Value of the header `x-ignored-parameters`: unknown fields of the request, with the nearest known name for likely typos,
 * for example `risk_limit, perod; did you mean period`. Null if no field was ignored.
 */
export function ignoredParametersHeader(ignored: Findings["ignored"]): string | null {
  if (ignored.length === 0) return null;
  return ignored
    .slice(0, NAMES_MAX)
    .map(({ name, known }) => {
      const near = nearestName(name.slice(name.lastIndexOf(".") + 1), known);
      return near === null ? headerSafe(name) : `${headerSafe(name)}; did you mean ${near}`;
    })
    .join(", ");
}

/** Replaces unsafe header characters by underscores, because the caller chooses the names. */
function headerSafe(name: string): string {
  return name.slice(0, NAME_LENGTH_MAX).replace(/[^A-Za-z0-9_.-]/g, "_") || "_";
}

/** The known name with the smallest edit distance, at most 2 and less than the length of `name`; otherwise null. */
function nearestName(name: string, known: readonly string[]): string | null {
  if (name.length > NAME_LENGTH_MAX) return null;
  let best: string | null = null;
  let bestDistance = Math.min(DISTANCE_MAX, name.length - 1) + 1;
  for (const candidate of known) {
    if (Math.abs(candidate.length - name.length) >= bestDistance) continue;
    const distance = editDistance(name.toLowerCase(), candidate.toLowerCase());
    if (distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

/** Levenshtein distance. */
function editDistance(a: string, b: string): number {
  let previous = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const current = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = (previous[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      current.push(Math.min(replaced, (previous[j] ?? 0) + 1, (current[j - 1] ?? 0) + 1));
    }
    previous = current;
  }
  return previous[b.length] ?? 0;
}
