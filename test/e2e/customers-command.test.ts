import assert from "node:assert/strict";
import { chown, mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import pg from "pg";
import { migrateDatabase } from "../../src/adapters/database/migrations.ts";
import { openPostgresDatabase } from "../../src/adapters/database/postgres-database.ts";
import { KEYS_TOPIC } from "../../src/capabilities/accounts/keys/index.ts";
import { openBus } from "../../src/commands/open-store.ts";
import { readOperatorName } from "../../src/commands/operator/run.ts";
import type { Database } from "../../src/ports/database.ts";
import { quietLog } from "../support/quiet-log.ts";
import {
  eventually,
  run,
  type ServiceProcess,
  startServiceProcess,
  temporaryFolder,
} from "../support/service-process.ts";
import { makeStore } from "../support/store-template.ts";

interface CommandOutput {
  readonly code: number | null;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests read and check untyped output
  readonly json: any;
}

type Variables = Readonly<Record<string, string>>;

/** Runs the `customers` command as an operator would. */
const runCustomersCommand = (env: Variables, ...args: readonly string[]) => runCommand(env, "customers", ...args);

async function runCommand(env: Variables, ...args: readonly string[]): Promise<CommandOutput> {
  const program = run(process.execPath, ["bin/parallax.mjs", ...args], env);
  const code = await program.ended;
  const text = program.output();
  let json: unknown = null;
  try {
    json = JSON.parse(text);
  } catch {
    json = null;
  }
  return { code, text, json };
}

/** Creates and changes an account in the configured database. src/commands/customers tests all subcommands. */
async function manageAnAccount(env: Readonly<Record<string, string>>): Promise<void> {
  const createOutput = await runCustomersCommand(env, "create", "Ada@Example.org", "--plan", "pro", "--json");
  assert.equal(createOutput.code, 0, createOutput.text);
  assert.match(createOutput.json.api_key, /^plx_pro_[a-z2-7]{33}$/);
  assert.equal(
    (await runCustomersCommand(env, "set-plan", "ada@example.org", "enterprise", "--json")).json.plan,
    "enterprise",
  );
  const duplicateOutput = await runCustomersCommand(env, "create", "ada@example.org");
  assert.deepEqual([duplicateOutput.code, duplicateOutput.text], [1, "An account with this e-mail address exists.\n"]);
  const auditOutput = await runCustomersCommand(env, "audit", createOutput.json.customer_id);
  assert.equal(auditOutput.code, 0);
  assert.match(auditOutput.text, /operator:\S+ +customer\.plan_set/);
  assert.ok(!auditOutput.text.includes(createOutput.json.api_key));
  await runCustomersCommand(env, "create", "eve@example.org");
  const unconfirmedOutput = await runCustomersCommand(env, "delete", "eve@example.org");
  assert.deepEqual([unconfirmedOutput.code, /add --yes/.test(unconfirmedOutput.text)], [2, true]);
  assert.equal((await runCustomersCommand(env, "delete", "eve@example.org", "--yes")).code, 0);
  assert.equal((await runCustomersCommand(env, "show", "eve@example.org")).code, 1);
}

test("without a database, `--help` exits with 0 and a usage error exits with 2", async () => {
  const env = { PARALLAX_DATA_DIR: "/nowhere" };
  const helpOutput = await runCustomersCommand(env, "--help");
  assert.equal(helpOutput.code, 0);
  assert.match(helpOutput.text, /npx parallax customers <command>/);
  const invalidOutput = await runCustomersCommand(env, "set-plan", "a", "gold");
  assert.equal(invalidOutput.code, 2);
  assert.match(invalidOutput.text, /gold is not one of free, pro, enterprise\. Try "customers --help"/);
});

test("if the database does not exist, the command creates none and exits with 1", async () => {
  const folder = await temporaryFolder();
  const output = await runCustomersCommand({ PARALLAX_DATA_DIR: folder.path }, "list");
  assert.equal(output.code, 1);
  assert.match(output.text, /There is no database in .*: start the service once/);
  await folder.release();
});

test("if an operator has no user name, the user id identifies the operator", () => {
  const throwMissingName = () => {
    throw new Error("ENOENT: uv_os_get_passwd");
  };
  assert.equal(readOperatorName(throwMissingName), `uid-${process.getuid?.()}`);
  assert.equal(
    readOperatorName(() => ({ username: "ada" })),
    "ada",
  );
});

test("if another user owns the database, the command does not change it", {
  skip: process.getuid?.() === 0 ? false : "only root can run a command as another user",
}, async () => {
  const folder = await temporaryFolder();
  await mkdir(join(folder.path, "store"));
  await chown(join(folder.path, "store"), 12_345, 12_345);
  const output = await runCustomersCommand({ PARALLAX_DATA_DIR: folder.path }, "list");
  assert.equal(output.code, 1);
  assert.match(output.text, /belongs to user 12345: run the command as that user/);
  assert.deepEqual(await readdir(join(folder.path, "store")), []);
  await folder.release();
});

test("an operator manages accounts in the embedded database of a stopped service", async () => {
  const folder = await temporaryFolder();
  await makeStore(folder.path);
  await manageAnAccount({ PARALLAX_DATA_DIR: folder.path });
  await folder.release();
});

const SERVER_URL = process.env.TEST_DATABASE_URL;

describe("on PostgreSQL", { skip: SERVER_URL === undefined }, () => {
  const databaseName = `parallax_customers_${process.pid}`;
  const url = new URL(SERVER_URL ?? "postgres://nowhere");
  url.pathname = `/${databaseName}`;
  const env = { DATABASE_URL: url.href };
  const admin = new pg.Client({ connectionString: SERVER_URL });
  const withDatabase = async (run: (database: Database) => Promise<unknown>) => {
    const database = await openPostgresDatabase({ url: url.href, log: quietLog });
    await run(database).finally(() => database.close());
  };
  before(async () => {
    await admin.connect();
    await admin.query(`create database ${databaseName}`);
  });
  after(async () => {
    await admin.query(`drop database ${databaseName} with (force)`);
    await admin.end();
  });

  test("if a database has no Parallax tables or another schema version, the command does not change it", async () => {
    const output = await runCustomersCommand(env, "list");
    assert.equal(output.code, 1);
    assert.match(output.text, /database without Parallax tables: correct DATABASE_URL/);
    await withDatabase(async (database) => {
      assert.deepEqual(await database.query("select tablename from pg_tables where schemaname = 'public'"), []);
      await migrateDatabase(database);
      await database.query("insert into schema_migrations (name) values ('9999-newer')");
    });
    assert.match(
      (await runCustomersCommand(env, "list")).text,
      /newer than this version: use the command of that version/,
    );
    await withDatabase((database) => database.query("delete from schema_migrations where name = '9999-newer'"));
    await withDatabase((database) =>
      database.query("delete from schema_migrations where name = (select max(name) from schema_migrations)"),
    );
    assert.match(
      (await runCustomersCommand(env, "list")).text,
      /older than this version: start the service of this version once/,
    );
    await withDatabase(async (database) => {
      await database.query("drop schema public cascade");
      await database.query("create schema public");
      await migrateDatabase(database);
    });
  });

  test("an operator manages accounts, and the bus publishes key changes to running services", async () => {
    const bus = await openBus({ redisUrl: null, isReadOnly: false, databaseUrl: url.href }, quietLog);
    let messageCount = 0;
    await eventually(() => (bus.isConnected ? true : null), "the bus to connect");
    bus.subscribe(KEYS_TOPIC, () => {
      messageCount += 1;
    });
    await manageAnAccount(env);
    await eventually(() => (messageCount > 0 ? true : null), "a message on the bus");
    await bus.close();
  });
});

describe("while a service runs on the embedded database", () => {
  let service: ServiceProcess;
  let folder: { path: string; release(): Promise<void> };
  before(async () => {
    folder = await temporaryFolder();
    service = await startServiceProcess({
      dataDir: folder.path,
      isReady: false,
      env: { PARALLAX_SANDBOX_MARKETS: "10" },
    });
  });
  after(async () => {
    await service.end();
    await folder.release();
  });

  test("the service runs the forwarded command, and changes take effect immediately", async () => {
    const env = { PARALLAX_DATA_DIR: folder.path };
    const requestAccount = () => service.get("/v1/customers/me", { authorization: `Bearer ${service.keys.free}` });
    const { customer_id: customerId, plan } = (await requestAccount()).json;
    assert.equal(plan, "free");
    assert.equal((await runCustomersCommand(env, "set-plan", customerId, "pro", "--json")).json.plan, "pro");
    assert.equal((await requestAccount()).json.plan, "pro");
    const rotateOutput = await runCustomersCommand(env, "rotate", customerId, "demo", "--json");
    assert.equal((await requestAccount()).status, 401);
    const accountResponse = await service.get("/v1/customers/me", {
      authorization: `Bearer ${rotateOutput.json.api_key}`,
    });
    assert.equal(accountResponse.json.customer_id, customerId);
    assert.equal((await runCustomersCommand(env, "show", "cus-none")).code, 1);
    assert.equal((await runCustomersCommand(env, "audit", "--json")).json.length, 2);
    assert.ok(!service.output().includes(rotateOutput.json.api_key));
  });

  test("the service stores 2,000 pairs from the operator's file, and `delete` requires `--yes`", async () => {
    const env = { PARALLAX_DATA_DIR: folder.path };
    const file = join(folder.path, "pairs.csv");
    const lines = Array.from({ length: 2_000 }, (_, index) => `kalshi/KXLONGNAME-26DEC-T${index},polymarket/${index}`);
    await writeFile(file, `${lines.join("\n")}\n`);
    const pinOutput = await runCommand(env, "matches", "pin", "--file", file);
    assert.equal(pinOutput.code, 0, pinOutput.text);
    assert.match(pinOutput.text, /^Stored 2000 decisions: 2000 identical\.$/m);
    await writeFile(file, "kalshi/A,polymarket/1\nkalshi/A\n");
    const invalidOutput = await runCommand(env, "matches", "forbid", "--file", file);
    assert.deepEqual([invalidOutput.code, /^Line 2: /m.test(invalidOutput.text)], [2, true]);
    const missingOutput = await runCommand(env, "matches", "pin", "--file", `${file}.none`);
    assert.deepEqual([missingOutput.code, /cannot be read \(ENOENT\)/.test(missingOutput.text)], [1, true]);
    await runCustomersCommand(env, "create", "eve@example.org");
    assert.match((await runCustomersCommand(env, "delete", "eve@example.org")).text, /add --yes/);
    assert.equal((await runCustomersCommand(env, "delete", "eve@example.org", "--yes")).code, 0);
  });
});
