/**
 * Calls `deleteBatch` until it deletes fewer than `batchMax` rows, at most `batchesMax` times, so that one run does not
 * take minutes. The next run deletes the remaining rows. Returns the number of deleted rows.
 */
export async function deleteInBatches(
  batchMax: number,
  batchesMax: number,
  deleteBatch: () => Promise<number>,
): Promise<number> {
  let totalCount = 0;
  for (let batch = 0; batch < batchesMax; batch++) {
    const count = await deleteBatch();
    totalCount += count;
    if (count < batchMax) break;
  }
  return totalCount;
}

interface Queries {
  query<Row extends object>(sql: string, parameters: readonly unknown[]): Promise<readonly Row[]>;
}

/**
 * Deletes the rows of a table that satisfy an SQL condition in batches. Returns how many. Idempotent.
 *
 * @param parameter  the value of `$1` in the condition
 * @param options.shouldStop  ends the run before the next batch
 */
export function deleteRows(
  database: Queries,
  table: string,
  condition: string,
  parameter: unknown,
  options: { readonly rowsMax?: number; readonly batchesMax?: number; readonly shouldStop?: () => boolean } = {},
): Promise<number> {
  const { rowsMax = 5_000, batchesMax = 100, shouldStop } = options;
  return deleteInBatches(rowsMax, batchesMax, async () => {
    if (shouldStop?.() === true) return 0;
    const [row] = await database.query<{ count: number }>(
      // The condition is repeated because not all PostgreSQL versions recheck it for a row found by ctid that has been
      // updated.
      `with old as (
         delete from ${table} where ${condition} and ctid = any(array(
           select ctid from ${table} where ${condition} limit ${rowsMax}))
         returning 1
       ) select count(*) as count from old`,
      [parameter],
    );
    return row?.count ?? 0;
  });
}
