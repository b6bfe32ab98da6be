/** Splits labelled pairs into folds for cross-validation. */
import { DisjointSets } from "./disjoint-sets.ts";
import { groupPairs } from "./groups.ts";
import type { PairRow } from "./rows.ts";

/** Sources with fewer pairs are one fold. */
const SOURCE_ROWS_MIN = 20;
const GROUP_FOLD_COUNT = 10;
const SMALL_SOURCES = "other sources";

/** Folds by group: near-duplicates of a pair are in its fold. Returns the name of each pair's fold. */
export const foldsByGroup = (rows: readonly PairRow[]): string[] =>
  groupPairs(rows).map((group) => String(group % GROUP_FOLD_COUNT));

/**
 * Folds by source: a pair that names two sources joins both, and sources with fewer than 20 pairs are one fold. Returns
 * the name of each pair's fold.
 */
export function foldsBySource(rows: readonly PairRow[]): string[] {
  const sets = new DisjointSets<string>();
  const sourcesOf = ({ source_repo = "" }: PairRow): string[] => source_repo.split(" and ");
  for (const row of rows) for (const source of sourcesOf(row)) sets.join(sourcesOf(row)[0] ?? "", source);
  const roots = rows.map((row) => sets.rootOf(sourcesOf(row)[0] ?? ""));
  const counts = new Map<string, number>();
  for (const root of roots) counts.set(root, (counts.get(root) ?? 0) + 1);
  return roots.map((root) => ((counts.get(root) ?? 0) < SOURCE_ROWS_MIN ? SMALL_SOURCES : root));
}
