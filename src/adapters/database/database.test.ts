import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdir, readlink } from "node:fs/promises";
import { createInterface } from "node:readline";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import { isStoreUnavailable } from "../../../test/support/asserts/error-code.ts";
import { eachDatabase, onEmbedded, onPostgres, postgresDatabase } from "../../../test/support/databases.ts";
import { quietLog } from "../../../test/support/quiet-log.ts";
import { copyStoreTemplate } from "../../../test/support/store-template.ts";
import { createTestFolder } from "../../../test/support/test-folder.ts";
import { runForCaller } from "../../lib/current-caller.ts";
import type { Database, Transaction } from "../../ports/database.ts";
import { DataDirLockedError } from "../system/data-dir-lock.ts";
import { openEmbeddedDatabase } from "./embedded-database.ts";
import { migrateDatabase, splitStatements } from "./migrations.ts";
import { openPostgresDatabase } from "./postgres-database.ts";
import { ensureStoreIdentity, StoreIdentityError } from "./store-identity.ts";

const INSERT_META = "insert into meta (key, value) values ($1, '1')";

/** Creates a folder with an empty embedded store. */
async function createDataDir(): Promise<string> {
  const path = await createTestFolder();
  await copyStoreTemplate(path);
  return path;
}

eachDatabase("the embedded store and PostgreSQL return the same types", async (database) => {
  const texts = ['a"b\\c,{}', null, "", "NULL", "é\u{1f600}\n"];
  const [row] = await database.query(
    `select $1::text[] as texts, $2::int8[] as counts, 5::int8 as count, to_timestamp(1790000000.123) as at,
            $3::timestamptz as given_at, $4::bytea as bytes, 0.1::float8 as price, $5::jsonb as document, $6::bool as flag`,
    [texts, [1, null, 9007199254740991], new Date(1_790_000_000_123), new Uint8Array([0, 255]), '{"a":[1]}', true],
  );
  assert.ok(row !== undefined && row.bytes instanceof Uint8Array);
  assert.deepEqual(
    { ...row, bytes: [...row.bytes] },
    {
      texts,
      counts: [1, null, 9007199254740991],
      count: 5,
      at: new Date(1_790_000_000_123),
      given_at: new Date(1_790_000_000_123),
      bytes: [0, 255],
      price: 0.1,
      document: { a: [1] },
      flag: true,
    },
  );
});

eachDatabase(
  "arrays of numbers round-trip: empty arrays and null, tiny and huge values, together with text arrays",
  async (database) => {
    const floats = [0.1, null, -2.5e-300, 1.7976931348623157e308, 1_790_000_000_123.25, Number.NaN, -Infinity];
    const [row] = await database.query(
      "select $1::float8[] as floats, $2::int4[] as none, $3::int4[] as unknown, $4::bool[] as flags, $5::text[] as texts",
      [floats, [], [null, null], [true, null, false], ["1", null, "2,3"]],
    );
    assert.deepEqual(row, {
      floats,
      none: [],
      unknown: [null, null],
      flags: [true, null, false],
      texts: ["1", null, "2,3"],
    });
  },
);

eachDatabase(
  "commits a transaction if its callback resolves and rolls it back if the callback throws",
  async (database) => {
    await database.transaction(async ({ query }) => {
      await query(INSERT_META, ["kept"]);
    });
    const failing = database.transaction(async ({ query }) => {
      await query(INSERT_META, ["lost"]);
      throw new Error("no");
    });
    await assert.rejects(failing, /no/);
    const rows = await database.query("select key from meta");
    assert.deepEqual(rows, [{ key: "kept" }]);
  },
);

eachDatabase(
  "rejects a transaction with a failed statement, even if the callback catches the error",
  async (database) => {
    const failing = database.transaction(async ({ query }) => {
      await query(INSERT_META, ["lost"]);
      await query("select 1 / 0").catch(() => {});
    });
    await assert.rejects(failing, /cannot be committed/);
    assert.deepEqual(await database.query("select key from meta"), []);
  },
);

eachDatabase("statements outside a transaction see all of its changes or none", async (database) => {
  const transaction = database.transaction(async ({ query }) => {
    await query(INSERT_META, ["a"]);
    await query(INSERT_META, ["b"]);
  });
  const counts = await Promise.all(
    Array.from({ length: 20 }, () => database.query<{ count: number }>("select count(*) as count from meta")),
  );
  await transaction;
  for (const [row] of counts) assert.ok(row?.count === 0 || row?.count === 2);
});

onEmbedded(
  "a caller with many statements delays a statement of another caller by at most two statements",
  async (database) => {
    const ended: string[] = [];
    const run = (caller: string) =>
      runForCaller(caller, () => database.query("select 1").then(() => ended.push(caller)));
    await Promise.all([...Array.from({ length: 100 }, () => run("ann")), run("bob")]);
    assert.ok(ended.indexOf("bob") <= 2, `bob was number ${ended.indexOf("bob")}`);
  },
);

/** Starts transactions that stay open until `end` is called. */
function openTransactions(database: Database, caller: string | null, count: number) {
  const { promise: end, resolve } = Promise.withResolvers<void>();
  const started = Array.from({ length: count }, () => Promise.withResolvers<void>());
  let startedCount = 0;
  const open = () =>
    database.transaction(async ({ query }) => {
      await query("select 1");
      started[startedCount++]?.resolve();
      await end;
    });
  const ended = Promise.allSettled(started.map(() => (caller === null ? open() : runForCaller(caller, open))));
  return {
    ended,
    /** Resolves when this many transactions have started; rejects if a transaction ends before. */
    untilStarted: (wanted: number) =>
      Promise.race([
        Promise.all(started.slice(0, wanted).map(({ promise }) => promise)),
        ended.then(() => Promise.reject(new Error(`${startedCount} of ${count} transactions have started`))),
      ]),
    end: async () => {
      resolve();
      await ended;
    },
  };
}

onPostgres("one caller uses at most eight of the ten connections", async (database) => {
  const anns = openTransactions(database, "ann", 10);
  await anns.untilStarted(8);
  const bobs = openTransactions(database, "bob", 2);
  await bobs.untilStarted(2);
  await Promise.all([anns.end(), bobs.end()]);
});

onPostgres("at most 1,024 statements wait for a connection", async (database) => {
  const open = openTransactions(database, null, 10);
  await open.untilStarted(10);
  const waiting = Promise.allSettled(Array.from({ length: 1_024 }, () => database.query("select 1")));
  await assert.rejects(database.query("select 1"), /too many statements are queued/);
  await open.end();
  await waiting;
});

eachDatabase(
  "an invalid statement throws an error with its SQLSTATE, and the next statement succeeds",
  async (database) => {
    await assert.rejects(database.query("select nothing_such"), (error: unknown) => {
      assert.ok(!isStoreUnavailable(error));
      assert.equal((error as { code?: unknown }).code, "42703");
      return true;
    });
    assert.deepEqual(await database.query("select 1 as one"), [{ one: 1 }]);
  },
);

eachDatabase("a second migration run applies no migration", async (database) => {
  assert.deepEqual(await migrateDatabase(database), []);
});

eachDatabase("refuses to migrate a store that a newer version has migrated", async (database) => {
  await database.query("insert into schema_migrations (name) values ('9999-newer')");
  try {
    await assert.rejects(
      migrateDatabase(database),
      /^NewerStoreError: A newer version .*9999-newer.*PARALLAX_DATA_DIR/,
    );
  } finally {
    await database.query("delete from schema_migrations where name = '9999-newer'");
  }
});

eachDatabase(
  "refuses a store with a different kind of data or seed, and returns the genesis of the first start",
  async (database) => {
    const first = await ensureStoreIdentity(database, { data: "sandbox", seed: 1, genesisAt: 1_000 });
    assert.deepEqual(first, { data: "sandbox", seed: 1, genesisAt: 1_000 });
    assert.deepEqual(await ensureStoreIdentity(database, { data: "sandbox", seed: 1, genesisAt: 2_000 }), first);
    await assert.rejects(
      ensureStoreIdentity(database, { data: "live", seed: null, genesisAt: null }),
      StoreIdentityError,
    );
    await assert.rejects(
      ensureStoreIdentity(database, { data: "sandbox", seed: 2, genesisAt: 1_000 }),
      StoreIdentityError,
    );
  },
);

test("splits a migration at semicolons that end a line and removes comments", () => {
  assert.deepEqual(splitStatements("-- why; because\ncreate table a (b int);\n\ninsert into a values (';x');\n"), [
    "create table a (b int)",
    "insert into a values (';x')",
  ]);
});

test("opening a database on an unreachable server throws `store_unavailable`", async () => {
  const opening = openPostgresDatabase({ url: "postgres://nobody@127.0.0.1:1/none", log: quietLog });
  await assert.rejects(opening, isStoreUnavailable);
});

test("the first migration run returns every migration with its duration, and a second run returns none", async () => {
  // Not `createDataDir`, whose store may be a copy with all migrations applied.
  const database = await openEmbeddedDatabase({ dataDir: await createTestFolder(), log: quietLog });
  try {
    const applied = await migrateDatabase(database);
    assert.equal(applied[0]?.name, "0001-markets");
    assert.ok(applied.every(({ ms }) => Number.isInteger(ms) && ms >= 0));
    assert.deepEqual(await migrateDatabase(database), []);
  } finally {
    await database.close();
  }
});

test("the embedded store restarts a failed engine without losing rows, and running statements fail with `store_unavailable`", async () => {
  const dataDir = await createDataDir();
  const workers: Worker[] = [];
  const database = await openEmbeddedDatabase({
    dataDir,
    log: quietLog,
    environment: {
      spawn(workerData) {
        const worker = new Worker(new URL("./pglite-worker.ts", import.meta.url), { workerData });
        workers.push(worker);
        return worker;
      },
    },
  });
  try {
    await assert.rejects(openEmbeddedDatabase({ dataDir, log: quietLog }), DataDirLockedError);
    await migrateDatabase(database);
    await database.query("insert into meta (key, value) values ('kept', '1')");
    const inFlight = database.query("select count(*) from generate_series(1, 100000000)");
    const transaction = database.transaction(async ({ query }) => {
      await query(INSERT_META, ["late"]);
    });
    const outcomes = Promise.allSettled([inFlight, transaction]);
    await workers[0]?.terminate();
    const [first] = await outcomes;
    assert.ok(first.status === "rejected" && isStoreUnavailable(first.reason));
    assert.deepEqual(await database.query("select value from meta where key = 'kept'"), [{ value: "1" }]);
    assert.equal(workers.length, 2);
  } finally {
    await database.close();
  }
});

test("a closed embedded store throws `store_unavailable` and releases its directory", async () => {
  const dataDir = await createDataDir();
  const first = await openEmbeddedDatabase({ dataDir, log: quietLog });
  await first.query("create table t (a int)");
  await first.close();
  await assert.rejects(first.query("select 1"), isStoreUnavailable);
  const second = await openEmbeddedDatabase({ dataDir, log: quietLog });
  assert.deepEqual(await second.query("select a from t"), []);
  await second.close();
});

const WRITER_SCRIPT = fileURLToPath(new URL("../../../test/support/programs/write-until-killed.ts", import.meta.url));
const ACKNOWLEDGED_WRITES_MIN = 300;

test("the embedded store keeps at most 128 files open", {
  skip: process.platform === "linux" ? false : "counts open files in /proc",
}, async () => {
  const dataDir = await createDataDir();
  const database = await openEmbeddedDatabase({ dataDir, log: quietLog });
  try {
    const tables = await database.query<{ name: string }>(
      "select oid::regclass::text as name from pg_class where relkind = 'r' and relpersistence = 'p'",
    );
    // Reading all tables and their indexes opens more than 128 files, unless others are closed.
    for (const { name } of tables) await database.query(`select count(*) from ${name}`);
    const descriptors = await readdir("/proc/self/fd");
    const paths = await Promise.all(descriptors.map((name) => readlink(`/proc/self/fd/${name}`).catch(() => "")));
    const storeFiles = paths.filter((path) => path.startsWith(`${dataDir}/store/`));
    assert.ok(storeFiles.length > 64 && storeFiles.length <= 128, `${storeFiles.length} open files`);
  } finally {
    await database.close();
  }
});

/** Allocates short-lived objects in a worker thread and returns the size of its young generation in MiB. */
const MEASURE_YOUNG_GENERATION = `
  const { getHeapSpaceStatistics } = require("node:v8");
  let kept = [];
  for (let index = 0; index < 2_000_000; index++) {
    const object = { index, list: [index] };
    if (index % 50 === 0) kept.push(object);
    if (kept.length > 10_000) kept = [];
  }
  const youngSpace = getHeapSpaceStatistics().find((space) => space.space_name === "new_space");
  require("node:worker_threads").parentPort.postMessage(youngSpace.physical_space_size / 2 ** 20);`;

test("the embedded store limits its shared buffers and the young generation of its thread", async () => {
  const dataDir = await createDataDir();
  const database = await openEmbeddedDatabase({ dataDir, log: quietLog });
  try {
    assert.deepEqual(await database.query("show shared_buffers"), [{ shared_buffers: "16MB" }]);
    // Opening the store limits the young generation of all threads that start later. Measured in a new thread.
    const [youngMib] = await once(new Worker(MEASURE_YOUNG_GENERATION, { eval: true }), "message");
    assert.ok(youngMib <= 8, `${youngMib} MiB`);
  } finally {
    await database.close();
  }
});

test("the embedded store makes checkpoints between transactions to limit its write-ahead log", async () => {
  const dataDir = await createDataDir();
  const logBytesMax = 2 ** 20;
  const database = await openEmbeddedDatabase({
    dataDir,
    log: quietLog,
    environment: {
      spawn: (workerData) =>
        new Worker(new URL("./pglite-worker.ts", import.meta.url), {
          workerData: { ...workerData, logBytesMax, logCheckEveryMs: 0 },
        }),
    },
  });
  const readLogBytes = async ({ query }: Transaction) => {
    const [row] = await query<{ bytes: number }>(
      "select (pg_current_wal_insert_lsn() - redo_lsn)::float8 as bytes from pg_control_checkpoint()",
    );
    return row?.bytes ?? Number.NaN;
  };
  try {
    await database.query("create table bulk (text text)");
    await database.transaction(async ({ query }) => {
      await query("insert into bulk select repeat('x', 1000) from generate_series(1, 3000)");
      await query("insert into bulk values ('x')");
      assert.ok((await readLogBytes({ query })) > logBytesMax);
    });
    await database.query("select 1");
    assert.ok((await readLogBytes(database)) <= logBytesMax);
    const [row] = await database.query<{ count: number }>("select count(*) as count from bulk");
    assert.equal(row?.count, 3_001);
  } finally {
    await database.close();
  }
});

test("no acknowledged write is lost if the process is killed while it writes", async () => {
  const dataDir = await createTestFolder();
  const child = spawn(process.execPath, [WRITER_SCRIPT, dataDir], { stdio: ["ignore", "pipe", "inherit"] });
  const exit = once(child, "exit");
  let acknowledgedWrites = 0;
  for await (const line of createInterface({ input: child.stdout })) {
    acknowledgedWrites = Number(line);
    if (acknowledgedWrites === ACKNOWLEDGED_WRITES_MIN) child.kill("SIGKILL");
  }
  await exit;
  assert.ok(acknowledgedWrites >= ACKNOWLEDGED_WRITES_MIN);
  const database = await openEmbeddedDatabase({ dataDir, log: quietLog });
  try {
    const [row] = await database.query<{ count: number; last: number }>(
      "select count(*) as count, max(number) as last from written",
    );
    assert.ok(row !== undefined && row.last >= acknowledgedWrites, `${row?.last} of ${acknowledgedWrites}`);
    assert.equal(row.count, row.last);
  } finally {
    await database.close();
  }
});

test("a statement on a terminated connection fails with `store_unavailable`, and the next statement uses a new connection", {
  skip: process.env.TEST_DATABASE_URL === undefined ? "TEST_DATABASE_URL is not set" : false,
}, async () => {
  const database = await postgresDatabase();
  await assert.rejects(database.query("select pg_terminate_backend(pg_backend_pid())"), isStoreUnavailable);
  assert.deepEqual(await database.query("select 1 as one"), [{ one: 1 }]);
  const transaction = database.transaction(async ({ query }) => {
    await query("select pg_terminate_backend(pg_backend_pid())");
  });
  await assert.rejects(transaction);
  await database.transaction(async ({ query }) => {
    await query("select 1");
  });
});
