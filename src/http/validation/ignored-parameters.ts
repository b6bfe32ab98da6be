import type { Findings } from "./types.ts";

const NAMES_MAX = 20;
const NAME_LENGTH_MAX = 40;
const EDIT_DISTANCE_MAX = 2;

/**
 * Formats the header `x-ignored-parameters`: unknown fields of the request, with the nearest known name for likely
 * typos, for example `risk_limit, perod; did you mean period`. Returns null if no field was ignored.
 */
export function formatIgnoredParameters(ignored: Findings["ignored"]): string | null {
  if (ignored.length === 0) return null;
  return ignored
    .slice(0, NAMES_MAX)
    .map(({ name, known }) => {
      const suggestion = findNearestName(name.slice(name.lastIndexOf(".") + 1), known);
      return suggestion === null ? sanitiseName(name) : `${sanitiseName(name)}; did you mean ${suggestion}`;
    })
    .join(", ");
}

/** Replaces characters that are unsafe in a header with underscores, because the names are client input. */
function sanitiseName(name: string): string {
  return name.slice(0, NAME_LENGTH_MAX).replace(/[^A-Za-z0-9_.-]/g, "_") || "_";
}

/** Returns the known name with the smallest edit distance, at most 2 and less than the length of `name`, or null. */
function findNearestName(name: string, known: readonly string[]): string | null {
  if (name.length > NAME_LENGTH_MAX) return null;
  let nearest: string | null = null;
  let nearestDistance = Math.min(EDIT_DISTANCE_MAX, name.length - 1) + 1;
  for (const candidate of known) {
    if (Math.abs(candidate.length - name.length) >= nearestDistance) continue;
    const distance = editDistance(name.toLowerCase(), candidate.toLowerCase());
    if (distance < nearestDistance) {
      nearest = candidate;
      nearestDistance = distance;
    }
  }
  return nearest;
}

/** Levenshtein distance. */
function editDistance(a: string, b: string): number {
  let previousRow = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const currentRow = [i];
    for (let j = 1; j <= b.length; j++) {
      const replacementCost = (previousRow[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      currentRow.push(Math.min(replacementCost, (previousRow[j] ?? 0) + 1, (currentRow[j - 1] ?? 0) + 1));
    }
    previousRow = currentRow;
  }
  return previousRow[b.length] ?? 0;
}
