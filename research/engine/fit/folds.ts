/** Assigns rows to the folds of a cross-validation. */

export const FOLD_COUNT = 10;
const TIME_BLOCKS = 8;

/** Returns the fold of a group: the FNV-1a hash of its name modulo 10. */
export function foldOf(group: string): number {
  let hash = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(group)) hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  return hash % FOLD_COUNT;
}

export interface TrainTestSplit<Row> {
  readonly train: readonly Row[];
  readonly test: readonly Row[];
}

/** Splits rows into at most ten folds. No group is in both the training and the test rows. Each row is tested once. */
export function splitByGroup<Row extends { readonly group: string }>(rows: readonly Row[]): TrainTestSplit<Row>[] {
  return Array.from({ length: FOLD_COUNT }, (_, fold) => ({
    train: rows.filter(({ group }) => foldOf(group) !== fold),
    test: rows.filter(({ group }) => foldOf(group) === fold),
  })).filter(({ test }) => test.length > 0);
}

export interface TimedRow {
  readonly group: string;
  readonly asOf: number;
  readonly resolvedAt: number;
}

/**
 * Splits rows into eight consecutive time blocks of about equal size. The training rows of a block were resolved before
 * the block starts and share no group with it. The first block is never tested.
 */
export function splitByTime<Row extends TimedRow>(rows: readonly Row[]): TrainTestSplit<Row>[] {
  const byTime = rows.toSorted((a, b) => a.asOf - b.asOf);
  const starts = Array.from(
    { length: TIME_BLOCKS },
    (_, block) => byTime[Math.floor((block * byTime.length) / TIME_BLOCKS)]?.asOf ?? 0,
  );
  return starts.flatMap((start, block) => {
    if (block === 0) return [];
    const end = starts[block + 1] ?? Number.POSITIVE_INFINITY;
    const test = byTime.filter(({ asOf }) => asOf >= start && asOf < end);
    const groups = new Set(test.map(({ group }) => group));
    const train = byTime.filter(({ resolvedAt, group }) => resolvedAt < start && !groups.has(group));
    return test.length === 0 ? [] : [{ train, test }];
  });
}
