import assert from "node:assert/strict";
import { onEmbedded } from "../../../test/support/databases.ts";
import type { Database } from "../../ports/database.ts";

/** Number of runs after which a statement is certainly prepared. */
const RUNS = 3;

async function repeat<Result>(run: (number: number) => Promise<Result>): Promise<Result[]> {
  const results: Result[] = [];
  for (let number = 0; number < RUNS; number++) results.push(await run(number));
  return results;
}
const failureOf = (database: Database, text: string, parameters: readonly unknown[]) =>
  database.query(text, parameters).then(
    () => assert.fail("the statement succeeded"),
    ({ code, constraint, message }: Record<string, unknown>) => ({ code, constraint, message }),
  );
/** Returns how many statements with this text, or with any text, are prepared. */
const countPrepared = async (database: Database, text: string | null = null) => {
  const [row] = await database.query<{ count: number }>(
    "select count(*)::int4 as count from pg_prepared_statements where $1::text is null or statement = $1",
    [text],
  );
  return row?.count ?? 0;
};

onEmbedded("a statement returns the same rows at its first run and when it is prepared", async (database) => {
  const text = `select $1::int4 as int, $2::text as text, $3::float8[] as floats, $4::timestamptz as time,
    $5::jsonb as json, $6::int8 as large, $7::bool as bool, $8::text[] as texts, null as nothing`;
  const parameters = [
    7,
    'a"\\\u{1f600}',
    [0.1, null, -2],
    new Date(1_700_000_000_123),
    { a: [1] },
    2 ** 40,
    true,
    ["x,y", null, ""],
  ];
  const [first, ...others] = await repeat(() => database.query(text, parameters));
  assert.equal(await countPrepared(database, text), 1);
  for (const rows of others) assert.deepEqual(rows, first);
  assert.deepEqual(await repeat((number) => database.query(text, Array(8).fill(null).with(0, number))), [
    ...[0, 1, 2].map((int) => [
      { int, text: null, floats: null, time: null, json: null, large: null, bool: null, texts: null, nothing: null },
    ]),
  ]);
});

onEmbedded("statements without rows, and several rows, are returned", async (database) => {
  const inserted = await repeat((number) =>
    database.query("insert into meta (key, value) values ($1, $2)", [`k${number}`, "v"]),
  );
  assert.deepEqual(inserted, [[], [], []]);
  const read = await repeat(() => database.query("select key from meta where value = $1 order by key", ["v"]));
  assert.deepEqual(read[2], [{ key: "k0" }, { key: "k1" }, { key: "k2" }]);
  assert.deepEqual(await repeat(() => database.query("select key from meta where value = $1", ["w"])), [[], [], []]);
});

onEmbedded("a prepared statement fails with the same error, and the next statement works", async (database) => {
  const insert = "insert into meta (key, value) values ($1, $2)";
  await database.query(insert, ["same", "a"]);
  const errors = await repeat(() => failureOf(database, insert, ["same", "b"]));
  assert.deepEqual(errors[0]?.code, "23505");
  assert.deepEqual(errors[0]?.constraint, "meta_pkey");
  for (const error of errors) assert.deepEqual(error, errors[0]);
  const invalid = await repeat(() => failureOf(database, "select missing from meta", []));
  assert.deepEqual(
    invalid.map(({ code }) => code),
    ["42703", "42703", "42703"],
  );
  const divided = await repeat((number) => failureOf(database, "select 1 / $1::int4", [0 * number]));
  assert.deepEqual(divided[2]?.code, "22012");
  assert.deepEqual(await database.query("select 6 / $1::int4 as share", [2]), [{ share: 3 }]);
});

onEmbedded("a statement that failed in a transaction works after the rollback", async (database) => {
  const insert = "insert into meta (key, value) values ($1, $2)";
  for (let round = 0; round < RUNS; round++)
    await assert.rejects(
      database.transaction(async (transaction) => {
        await transaction.query(insert, [`t${round}`, "a"]);
        await transaction.query("select 1 / $1::int4", [0]);
      }),
      { code: "22012" },
    );
  assert.deepEqual(await database.query("select key from meta"), []);
  await database.query(insert, ["t", "a"]);
  assert.deepEqual(await database.query("select key from meta"), [{ key: "t" }]);
});

onEmbedded("after a table was altered, a prepared statement returns the new columns", async (database) => {
  await database.query("create table altered (a int4)");
  try {
    await database.query("insert into altered values (1)");
    await repeat(() => database.query("select * from altered"));
    await database.query("alter table altered add column b int4 default 2");
    assert.deepEqual(await repeat(() => database.query("select * from altered")), Array(RUNS).fill([{ a: 1, b: 2 }]));
    await database.query("alter table altered add column c int4 default 3");
    await assert.rejects(
      database.transaction((transaction) => transaction.query("select * from altered")),
      { code: "0A000" },
    );
    assert.deepEqual(await database.query("select * from altered"), [{ a: 1, b: 2, c: 3 }]);
  } finally {
    await database.query("drop table altered");
  }
});

onEmbedded("at most 200 statements are prepared, and a forgotten one works again", async (database) => {
  const select = (number: number) => database.query(`select ${number} as number, $1::int4 as given`, [number]);
  for (let number = 0; number < 250; number++) await repeat(() => select(number));
  const count = await countPrepared(database);
  assert.ok(count > 150 && count <= 200, `${count} prepared statements`);
  for (const number of [0, 249]) assert.deepEqual(await select(number), [{ number, given: number }]);
});
