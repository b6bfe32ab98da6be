import assert from "node:assert/strict";
import { eachDatabase } from "../../../../test/support/databases.ts";
import { FakeClock } from "../../../../test/support/fake-clock.ts";
import { quietLog } from "../../../../test/support/quiet-log.ts";
import { systemRandom } from "../../../adapters/system/system-random.ts";
import { CUSTOMER_DATA } from "../../../app/customer-data.ts";
import { DAY_MS, HOUR_MS } from "../../../lib/durations.ts";
import type { Database } from "../../../ports/database.ts";
import { deleteOlderRows } from "./queries.ts";
import { createCustomers } from "./service.ts";

const NOW = Date.UTC(2026, 10, 21, 12);
const AUDIT_DAYS = 400;
/** Time of the first cleanup: one minute after the start. */
const CLEANUP_AT = NOW + 60_000;
/** Rows older than these timestamps are deleted, except active keys. */
const DELETION_BOUNDARIES = {
  pending_signups: CLEANUP_AT,
  attempts: CLEANUP_AT - DAY_MS,
  audit_log: CLEANUP_AT - AUDIT_DAYS * DAY_MS,
  api_keys: CLEANUP_AT - AUDIT_DAYS * DAY_MS,
  trade_reports: CLEANUP_AT - 731 * DAY_MS,
};

function setUp(database: Database) {
  const clock = new FakeClock(NOW);
  const ports = { database, clock, random: systemRandom, log: quietLog, onKeysChanged() {} };
  const settings = { signUp: null, emailDelivery: null, auditDays: AUDIT_DAYS, customerData: CUSTOMER_DATA };
  return { clock, customers: createCustomers({ ...ports, ...settings }) };
}

async function insertAttempts(database: Database, count: number, at: number): Promise<void> {
  await database.query(
    `insert into attempts (subject, taken_at, last_at)
     select $1 || n, '{}', to_timestamp($2::float8 / 1000) from generate_series(1, $3::int) as n`,
    [`at ${at} `, at, count],
  );
}

const countRows = async (database: Database, table: string) =>
  (await database.query<{ count: number }>(`select count(*) as count from ${table}`))[0]?.count;

eachDatabase(
  "one minute after the start, the cleanup deletes exactly the expired rows, to the millisecond",
  async (database) => {
    const { clock, customers } = setUp(database);
    const customerId = "cus-a";
    await customers.ensureMarketplaceAccount(customerId, null, { kind: "operator", id: "ada" });
    await database.query("truncate audit_log");
    const insertRow = {
      pending_signups: (name: string, at: number) =>
        database.query(
          `insert into pending_signups (email, customer_id, token_hash, expires_at)
         values ($1, $1, $1::text::bytea, to_timestamp($2::float8 / 1000))`,
          [name, at],
        ),
      attempts: (name: string, at: number) =>
        database.query(
          "insert into attempts (subject, taken_at, last_at) values ($1, '{}', to_timestamp($2::float8 / 1000))",
          [name, at],
        ),
      audit_log: (name: string, at: number) =>
        database.query(
          `insert into audit_log (occurred_at, actor_kind, actor_id, action, customer_id, details)
         values (to_timestamp($2::float8 / 1000), 'operator', 'ada', $1, 'cus-a', '{}')`,
          [name, at],
        ),
      api_keys: (name: string, at: number | null) =>
        database.query(
          `insert into api_keys (key_hash, key_id, customer_id, plan, prefix, name, created_at, revoked_at)
         values ($1::text::bytea, $1, $3, 'free', 'plx_free_', $1, to_timestamp(0), to_timestamp($2::float8 / 1000))`,
          [name, at, customerId],
        ),
      trade_reports: (name: string, at: number) =>
        database.query(
          `insert into trade_reports
             (agent_id, venue, market_id, side, price, size_usd, client_ref, is_plausible, reported_at)
           values ($3, 'alpha', 'm', 'yes', 0.5, 1, $1, true, to_timestamp($2::float8 / 1000))`,
          [name, at, customerId],
        ),
    };
    const labelColumn = {
      pending_signups: "email",
      attempts: "subject",
      audit_log: "action",
      api_keys: "name",
      trade_reports: "client_ref",
    };
    const tables = Object.keys(DELETION_BOUNDARIES) as (keyof typeof DELETION_BOUNDARIES)[];
    for (const table of tables) {
      await insertRow[table]("old", DELETION_BOUNDARIES[table] - 1);
      await insertRow[table]("young", DELETION_BOUNDARIES[table]);
    }
    await insertRow.api_keys("active", null);
    const listRemaining = async (table: keyof typeof DELETION_BOUNDARIES) =>
      (await database.query<{ label: string }>(`select ${labelColumn[table]} as label from ${table} order by 1`)).map(
        (row) => row.label,
      );
    customers.start();
    await clock.advance(59_999);
    assert.deepEqual(await listRemaining("attempts"), ["old", "young"]);
    await clock.advance(1);
    // Waits for the end of the cleanup, which schedules the next one.
    while (clock.nextInMs === null) await clock.settle();
    assert.equal(clock.nextInMs, HOUR_MS);
    await customers.stop();
    for (const table of tables)
      assert.deepEqual(await listRemaining(table), table === "api_keys" ? ["active", "young"] : ["young"], table);
  },
);

eachDatabase(
  "one cleanup deletes all expired rows in batches, and a second cleanup deletes nothing",
  async (database) => {
    await insertAttempts(database, 12_001, NOW - 1);
    await insertAttempts(database, 7, NOW);
    let batchCount = 0;
    const countingDatabase = {
      ...database,
      query: ((...args) => {
        batchCount += 1;
        return database.query(...args);
      }) as Database["query"],
    };
    await deleteOlderRows(countingDatabase, "attempts", NOW);
    assert.equal(await countRows(database, "attempts"), 7);
    assert.equal(batchCount, 3, "5,000 rows per batch");
    await deleteOlderRows(database, "attempts", NOW);
    assert.equal(await countRows(database, "attempts"), 7);
  },
);

eachDatabase("if a stop is requested, the cleanup stops after the current batch", async (database) => {
  await insertAttempts(database, 6_000, NOW - 1);
  let checkCount = 0;
  await deleteOlderRows(database, "attempts", NOW, () => ++checkCount > 1);
  assert.equal(await countRows(database, "attempts"), 1_000);
});
