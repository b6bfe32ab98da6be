import { openEmbeddedDatabase } from "../../src/adapters/database/embedded-database.ts";
import { quietLog } from "../../test/support/quiet-log.ts";

/** Counts the ticks in an embedded store received in [fromMs, toMs), Unix milliseconds. The service must be stopped. */
export async function countStoredTicks(dataDir: string, fromMs: number, toMs: number): Promise<number> {
  const database = await openEmbeddedDatabase({ dataDir, log: quietLog });
  try {
    const [row] = await database.query<{ count: number }>(
      `select count(*) as count from ticks
       where received_at >= to_timestamp($1::float8 / 1000) and received_at < to_timestamp($2::float8 / 1000)`,
      [fromMs, toMs],
    );
    return row?.count ?? 0;
  } finally {
    await database.close();
  }
}
