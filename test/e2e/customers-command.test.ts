import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import pg from "pg";
import { openEmbeddedDatabase } from "../../src/adapters/database-embedded.ts";
import { migrateDatabase } from "../../src/adapters/database-migrations.ts";
import { quietLog } from "../support/quiet-log.ts";
import { run, type ServiceProcess, startServiceProcess, temporaryFolder } from "../support/service-process.ts";

interface Ended {
  readonly code: number | null;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: a test reads what the program printed and asserts on it
  readonly json: any;
}

/** Runs the program as an operator would. */
async function parallax(env: Readonly<Record<string, string>>, ...words: readonly string[]): Promise<Ended> {
  const program = run(process.execPath, ["bin/parallax.mjs", "customers", ...words], env);
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

/** The program reaches whichever store the environment names; what each verb does stands in src/cli/customers.test.ts. */
async function manageAnAccount(env: Readonly<Record<string, string>>): Promise<void> {
  const made = await parallax(env, "create", "Ada@Example.org", "--plan", "pro", "--json");
  assert.equal(made.code, 0, made.text);
  assert.match(made.json.api_key, /^plx_pro_[a-z2-7]{33}$/);
  assert.equal((await parallax(env, "set-plan", "ada@example.org", "enterprise", "--json")).json.plan, "enterprise");
  const again = await parallax(env, "create", "ada@example.org");
  assert.deepEqual([again.code, again.text], [1, "An account with this e-mail address exists.\n"]);
  const audit = await parallax(env, "audit", made.json.customer_id);
  assert.equal(audit.code, 0);
  assert.match(audit.text, /operator:\S+ +customer\.plan_set/);
  assert.ok(!audit.text.includes(made.json.api_key));
}

test("help and faults end with their codes, and no store is looked for", async () => {
  const env = { PARALLAX_DATA_DIR: "/nowhere" };
  const help = await parallax(env, "--help");
  assert.equal(help.code, 0);
  assert.match(help.text, /npx parallax customers <command>/);
  const wrong = await parallax(env, "set-plan", "a", "gold");
  assert.equal(wrong.code, 2);
  assert.match(wrong.text, /gold is not one of free, pro, enterprise\. Try "customers --help"/);
});

test("a store that is not there is not made: the command says so and ends with 1", async () => {
  const folder = await temporaryFolder();
  const ended = await parallax({ PARALLAX_DATA_DIR: folder.path }, "list");
  assert.equal(ended.code, 1);
  assert.match(ended.text, /There is no store in .*: start the service once/);
  await folder.release();
});

test("an operator manages accounts on the embedded store of a service that is down", async () => {
  const folder = await temporaryFolder();
  const database = await openEmbeddedDatabase({ dataDir: folder.path, log: quietLog });
  await migrateDatabase(database);
  await database.close();
  await manageAnAccount({ PARALLAX_DATA_DIR: folder.path });
  await folder.release();
});

const SERVER = process.env.TEST_DATABASE_URL;

test("an operator manages accounts on PostgreSQL", { skip: SERVER === undefined }, async () => {
  const name = `parallax_customers_${process.pid}`;
  const admin = new pg.Client({ connectionString: SERVER });
  await admin.connect();
  await admin.query(`create database ${name}`);
  try {
    const url = new URL(SERVER ?? "");
    url.pathname = `/${name}`;
    await manageAnAccount({ DATABASE_URL: url.href });
  } finally {
    await admin.query(`drop database ${name} with (force)`);
    await admin.end();
  }
});

describe("while a service runs on the embedded store", () => {
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

  test("the command is handed to it, and what it changes counts at once", async () => {
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
