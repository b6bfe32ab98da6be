import { DisjointSets } from "./disjoint-sets.ts";
import type { PairRow, PairSide } from "./rows.ts";

/**
 * Returns the group number of each pair. Two pairs are in one group if they share a question. They are also in one
 * group if they contain questions of the same venue whose event titles are equal apart from numbers and months; a
 * question without an event title is compared by its own title. Cross-validation never splits a group, so that a model
 * is not fitted to near-duplicates of the pairs that it scores.
 */
export function groupPairs(rows: readonly PairRow[]): number[] {
  const sets = new DisjointSets<string>();
  for (const [index, { a, b }] of rows.entries())
    for (const side of [a, b]) for (const key of keysOf(side)) sets.join(`row:${index}`, key);
  const numbers = new Map<string, number>();
  return rows.map((_, index) => {
    const root = sets.rootOf(`row:${index}`);
    const group = numbers.get(root) ?? numbers.size;
    numbers.set(root, group);
    return group;
  });
}

const VARIABLE_PATTERN =
  /[0-9]+|january|february|march|april|may|june|july|august|september|october|november|december/g;

function keysOf({ venue, id, title, event_title }: PairSide): string[] {
  const family = (event_title ?? title).toLowerCase().replace(VARIABLE_PATTERN, "#");
  return [`id:${id}`, `family:${venue}:${family}`];
}
