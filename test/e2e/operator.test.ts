import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { readdir, writeFile } from "node:fs/promises";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { afterEach, beforeEach, test } from "node:test";
import { openEmbeddedDatabase } from "../../src/adapters/database/embedded-database.ts";
import { quietLog } from "../support/quiet-log.ts";
import { eventually, linesWithoutProgress, run, temporaryFolder } from "../support/service-process.ts";
import { makeStore } from "../support/store-template.ts";

const CTRL_C = "\x03";
/** `script` is not installed everywhere, and outside util-linux a different command can have this name. */
const HAS_SCRIPT = /util-linux/.test(spawnSync("script", ["--version"], { encoding: "utf8" }).stdout ?? "");
const FEW_MARKETS = { PARALLAX_SANDBOX_MARKETS: "20" };

let folder: { path: string; release(): Promise<void> };
beforeEach(async () => {
  folder = await temporaryFolder();
});
afterEach(() => folder.release());

const serve = (env: Readonly<Record<string, string>>) =>
  run(process.execPath, ["bin/parallax.mjs", "serve"], { PARALLAX_PORT: "0", PARALLAX_DATA_DIR: folder.path, ...env });

/** Asserts that the service exits with 1 and prints one line besides its progress, and returns the line. */
async function readFailureLine(env: Readonly<Record<string, string>>): Promise<string> {
  const { ended, output } = serve(env);
  assert.equal(await ended, 1, output());
  const lines = linesWithoutProgress(output());
  assert.equal(lines.length, 1, output());
  return lines[0] ?? "";
}

test("a taken port is reported in one line before the store is opened", async () => {
  const server = createServer().listen(0, "127.0.0.1").unref();
  await once(server, "listening");
  const PARALLAX_PORT = String((server.address() as AddressInfo).port);
  const line = await readFailureLine({ PARALLAX_PORT });
  assert.ok(line.startsWith(`127.0.0.1:${PARALLAX_PORT} is in use by another process.`), line);
  assert.match(line, /PARALLAX_PORT/);
  assert.match(await readFailureLine({ PARALLAX_METRICS_PORT: PARALLAX_PORT }), /PARALLAX_METRICS_PORT/);
  assert.deepEqual(await readdir(folder.path), []);
});

test("a store that a newer version has migrated is refused in one line with the next step", async () => {
  await makeStore(folder.path);
  const database = await openEmbeddedDatabase({ dataDir: folder.path, log: quietLog });
  await database.query("insert into schema_migrations (name) values ('9999-newer')");
  await database.close();
  const line = await readFailureLine(FEW_MARKETS);
  assert.match(
    line,
    /^A newer version of Parallax has changed this store \(migration 9999-newer\): start that version/,
  );
});

test("an invalid setting and a malformed line in the settings file are each reported in one line", async () => {
  const file = join(folder.path, "settings");
  await writeFile(file, "PARALLAX_LOG_LEVEL=loud\n");
  assert.match(await readFailureLine({ PARALLAX_ENV_FILE: file }), /^Invalid setting PARALLAX_LOG_LEVEL=loud/);
  await writeFile(file, "PARALLAX_LOG_LEVEL = info\n");
  assert.match(await readFailureLine({ PARALLAX_ENV_FILE: file }), /settings, line 1: write NAME=value/);
});

test("`serve` reports all invalid settings in one run", async () => {
  const { ended, output } = run(process.execPath, ["bin/parallax.mjs", "serve"], {
    PARALLAX_PORT: "no",
    PARALLAX_MODE: "demo",
    PARALLAX_COLOUR: "blue",
  });
  assert.equal(await ended, 1);
  for (const name of ["PARALLAX_PORT", "PARALLAX_MODE", "PARALLAX_COLOUR"]) assert.match(output(), new RegExp(name));
});

test("`--help` lists settings of every kind", async () => {
  const { ended, output } = run("npm", ["start", "--", "--help"]);
  assert.equal(await ended, 0);
  for (const name of ["PARALLAX_MODE", "PARALLAX_VENUES", "DATABASE_URL", "PARALLAX_SANDBOX_SEED"])
    assert.match(output(), new RegExp(name));
});

/** Returns the ids and command lines of all live descendants of a process. */
function listDescendants(pid: number): Map<number, string> {
  const children = new Map<number, number[]>();
  for (const id of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
    const parent = Number(/\) \S (\d+) /.exec(readProcFile(id, "stat"))?.[1]);
    children.set(parent, [...(children.get(parent) ?? []), Number(id)]);
  }
  const found = new Map<number, string>();
  const pending = [pid];
  for (let id = pending.pop(); id !== undefined; id = pending.pop())
    for (const child of children.get(id) ?? []) {
      found.set(child, readProcFile(String(child), "cmdline").replaceAll("\0", " "));
      pending.push(child);
    }
  return found;
}

/** Empty if the process has ended meanwhile. */
function readProcFile(id: string, name: string): string {
  try {
    return readFileSync(`/proc/${id}/${name}`, "utf8");
  } catch {
    return "";
  }
}

test("Ctrl-C in a terminal under `npm start` shuts down gracefully with exit code 0 and leaves no process", {
  skip: HAS_SCRIPT ? false : "util-linux script is not installed",
}, async () => {
  const env = { PARALLAX_PORT: "0", PARALLAX_DATA_DIR: folder.path, ...FEW_MARKETS };
  await makeStore(folder.path);
  // `script` runs npm in a pseudo-terminal: Ctrl-C becomes a SIGINT to npm, the service and the simulated venues.
  const terminal = run("script", ["-qefc", "exec npm start", "/dev/null"], env, "pipe");
  await eventually(() => (/Ready: \d+ markets/.test(terminal.output()) ? true : null), "readiness");
  const processes = listDescendants(terminal.child.pid ?? 0);
  const commands = [...processes.values()].join("\n");
  for (const command of [/^npm start/m, /parallax\.mjs serve/, /parallax\.mjs sandbox/])
    assert.match(commands, command);
  terminal.child.stdin?.write(CTRL_C);
  assert.equal(await terminal.ended, 0, terminal.output());
  assert.match(terminal.output(), /^\d\d:\d\d:\d\dZ INFO {2}stopped/m);
  assert.doesNotMatch(terminal.output(), /simulated venues exited|WARN|ERROR|"level"/);
  for (const [pid, command] of processes) assert.equal(readProcFile(String(pid), "cmdline"), "", command);
});
