import assert from "node:assert/strict";
import { chown, mkdir, readdir } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import pg from "pg";
import { migrateDatabase } from "../../src/adapters/database/migrations.ts";
import { openPostgresDatabase } from "../../src/adapters/database/postgres-database.ts";
import { KEYS_TOPIC } from "../../src/capabilities/keys/index.ts";
import { operatorName } from "../../src/commands/customers/run.ts";
import { openBus } from "../../src/commands/open-store.ts";
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

/** Runs the `customers` command as an operator would. */
async function parallax(env: Readonly<Record<string, string>>, ...args: readonly string[]): Promise<CommandOutput> {
  const program = run(process.execPath, ["bin/parallax.mjs", "customers", ...args], env);
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

/** Checks that the command uses the configured database. The subcommands are tested in src/commands/customers. */
async function manageAnAccount(env: Readonly<Record<string, string>>): Promise<void> {
  const created = await parallax(env, "create", "Ada@Example.org", "--plan", "pro", "--json");
  assert.equal(created.code, 0, created.text);
  assert.match(created.json.api_key, /^plx_pro_[a-z2-7]{33}$/);
  assert.equal((await parallax(env, "set-plan", "ada@example.org", "enterprise", "--json")).json.plan, "enterprise");
  const duplicate = await parallax(env, "create", "ada@example.org");
  assert.deepEqual([duplicate.code, duplicate.text], [1, "An account with this e-mail address exists.\n"]);
  const audit = await parallax(env, "audit", created.json.customer_id);
  assert.equal(audit.code, 0);
  assert.match(audit.text, /operator:\S+ +customer\.plan_set/);
  assert.ok(!audit.text.includes(created.json.api_key));
}

test("help and usage errors exit with their codes, without a database", async () => {
  const env = { PARALLAX_DATA_DIR: "/nowhere" };
  const help = await parallax(env, "--help");
  assert.equal(help.code, 0);
  assert.match(help.text, /npx parallax customers <command>/);
  const invalid = await parallax(env, "set-plan", "a", "gold");
  assert.equal(invalid.code, 2);
  assert.match(invalid.text, /gold is not one of free, pro, enterprise\. Try "customers --help"/);
});

test("a missing database is not created: the command fails with exit code 1", async () => {
  const folder = await temporaryFolder();
  const output = await parallax({ PARALLAX_DATA_DIR: folder.path }, "list");
  assert.equal(output.code, 1);
  assert.match(output.text, /There is no database in .*: start the service once/);
  await folder.release();
});

test("an operator without a user name is identified by user id", () => {
  const nameless = () => {
    throw new Error("ENOENT: uv_os_get_passwd");
  };
  assert.equal(operatorName(nameless), `uid-${process.getuid?.()}`);
  assert.equal(
    operatorName(() => ({ username: "ada" })),
    "ada",
  );
});

test("a database owned by another user is not touched", { skip: process.getuid?.() !== 0 }, async () => {
  const folder = await temporaryFolder();
  await mkdir(join(folder.path, "store"));
  await chown(join(folder.path, "store"), 12_345, 12_345);
  const output = await parallax({ PARALLAX_DATA_DIR: folder.path }, "list");
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

const SERVER = process.env.TEST_DATABASE_URL;

describe("on PostgreSQL", { skip: SERVER === undefined }, () => {
  const name = `parallax_customers_${process.pid}`;
  const url = new URL(SERVER ?? "postgres://nowhere");
  url.pathname = `/${name}`;
  const env = { DATABASE_URL: url.href };
  const admin = new pg.Client({ connectionString: SERVER });
  const withDatabase = async (run: (database: Database) => Promise<unknown>) => {
    const database = await openPostgresDatabase({ url: url.href, log: quietLog });
    await run(database).finally(() => database.close());
  };
  before(async () => {
    await admin.connect();
    await admin.query(`create database ${name}`);
  });
  after(async () => {
    await admin.query(`drop database ${name} with (force)`);
    await admin.end();
  });

  test("a database without Parallax tables or with another schema version is not changed", async () => {
    const output = await parallax(env, "list");
    assert.equal(output.code, 1);
    assert.match(output.text, /database without Parallax tables: correct DATABASE_URL/);
    await withDatabase(async (database) => {
      assert.deepEqual(await database.query("select tablename from pg_tables where schemaname = 'public'"), []);
      await migrateDatabase(database);
      await database.query("insert into kysely_migration values ('9999-newer', 'now')");
    });
    assert.match((await parallax(env, "list")).text, /newer than this version: use the command of that version/);
    await withDatabase((database) => database.query("delete from kysely_migration where name = '9999-newer'"));
    await withDatabase((database) =>
      database.query("delete from kysely_migration where name = (select max(name) from kysely_migration)"),
    );
    assert.match((await parallax(env, "list")).text, /older than this version: start the service of this version once/);
    await withDatabase(async (database) => {
      await database.query("drop schema public cascade");
      await database.query("create schema public");
      await migrateDatabase(database);
    });
  });

  test("an operator manages accounts, and changes are published to running services", async () => {
    const bus = openBus({ redisUrl: null, databaseUrl: url.href }, quietLog);
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

  test("the command is forwarded to it, and changes take effect immediately", async () => {
    const env = { PARALLAX_DATA_DIR: folder.path };
    const me = () => service.get("/v1/customers/me", { authorization: `Bearer ${service.keys.free}` });
    const { customer_id: id, plan } = (await me()).json;
    assert.equal(plan, "free");
    assert.equal((await parallax(env, "set-plan", id, "pro", "--json")).json.plan, "pro");
    assert.equal((await me()).json.plan, "pro");
    const rotated = await parallax(env, "rotate", id, "demo", "--json");
    assert.equal((await me()).status, 401);
    const next = await service.get("/v1/customers/me", { authorization: `Bearer ${rotated.json.api_key}` });
    assert.equal(next.json.customer_id, id);
    assert.equal((await parallax(env, "show", "cus-none")).code, 1);
    assert.equal((await parallax(env, "audit", "--json")).json.length, 2);
    assert.ok(!service.output().includes(rotated.json.api_key));
  });
});
