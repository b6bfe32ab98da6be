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
