/** Splits items into consecutive slices of at most `size`. */
export function* chunksOf<Item>(items: readonly Item[], size: number): Generator<readonly Item[]> {
  for (let start = 0; start < items.length; start += size) yield items.slice(start, start + size);
}

/**
 * Yields pages of rows in the order of their positions, until a page is empty.
 *
 * @param start  a position before all rows
 * @param select  returns the rows after a position
 */
export async function* keysetPages<Position, Row extends Position>(
  start: Position,
  select: (after: Position) => Promise<readonly Row[]>,
): AsyncGenerator<readonly Row[]> {
  let rows = await select(start);
  for (let last = rows.at(-1); last !== undefined; last = rows.at(-1)) {
    yield rows;
    rows = await select(last);
  }
}
