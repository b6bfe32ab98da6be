import assert from "node:assert/strict";
import { onPostgres } from "../../../test/support/databases.ts";
import { recordingLog } from "../../../test/support/test-app.ts";
import type { Database, Transaction } from "../../ports/database.ts";
import { createInProcessBus } from "../bus/in-process-bus.ts";
import { systemClock } from "../system/system-clock.ts";
import { createPgBossQueues } from "./pg-boss-queues.ts";

/** The store, used with the privileges of another role. */
function withRole(database: Database, role: string): Database {
  const transaction: Database["transaction"] = (run) =>
    database.transaction(async (inner) => {
      await inner.query(`set local role ${role}`);
      return run(inner);
    });
  const query: Transaction["query"] = (text, parameters) => transaction((inner) => inner.query(text, parameters));
  return { query, transaction, close: async () => {} };
}

onPostgres(
  "if the database user may not create schemas, the fix is logged once, and an existing schema is used",
  async (database) => {
    const role = `parallax_test_${process.pid}_${Date.now().toString(36)}`;
    const [row] = await database.query<{ schema: string }>("select current_schema() as schema");
    const jobsSchema = `${row?.schema}_jobs`;
    await database.query(`create role ${role}`);
    try {
      await database.query(`grant usage on schema ${row?.schema} to ${role}`);
      const { log, lines } = recordingLog();
      const bus = createInProcessBus(log);
      const queues = createPgBossQueues({ database: withRole(database, role), bus, clock: systemClock, log });
      const queue = queues.open("letters");
      for (let attempt = 0; attempt < 2; attempt++)
        await assert.rejects(queue.prepare(), {
          code: "store_unavailable",
          message: /^The job queue is not available/,
        });
      const errors = lines.filter(({ level }) => level === "error").map(({ message }) => message);
      assert.equal(errors.length, 1);
      assert.match(errors[0] ?? "", new RegExp(`create schema ${jobsSchema} authorization <user>`));
      await database.query(`create schema ${jobsSchema} authorization ${role}`);
      await queue.prepare();
      assert.deepEqual(await queue.fetch(1), []);
      await queues.close();
    } finally {
      await database.query(`drop owned by ${role} cascade`);
      await database.query(`drop role ${role}`);
    }
  },
);
