import type { PairRow, PairSide } from "./rows.ts";

/**
 * Returns the group number of each pair. Two pairs are in one group if they share a question. They are also in one
 * group if they contain questions of the same venue whose event titles are equal apart from numbers and months; a
 * question without an event title is compared by its own title. Cross-validation never splits a group, so that a model
 * is not fitted to near-duplicates of the pairs that it scores.
 */
export function groupPairs(rows: readonly PairRow[]): number[] {
  const parents = new Map<string, string>();
  const find = (key: string): string => {
    let root = key;
    for (let parent = parents.get(root); parent !== undefined && parent !== root; parent = parents.get(root))
      root = parent;
    return root;
  };
  const union = (a: string, b: string) => {
    const [rootA, rootB] = [find(a), find(b)];
    if (rootA !== rootB) parents.set(rootA, rootB);
  };
  for (const [index, { a, b }] of rows.entries())
    for (const side of [a, b]) for (const key of keysOf(side)) union(`row:${index}`, key);
  const numbers = new Map<string, number>();
  return rows.map((_, index) => {
    const root = find(`row:${index}`);
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
