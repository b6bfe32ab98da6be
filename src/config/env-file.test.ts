import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { parseEnv, promisify } from "node:util";
import { parseEnvironment } from "../../test/support/config.ts";
import { temporaryFolder } from "../../test/support/service-process.ts";
import { addEnvFile, EnvFileError } from "./env-file.ts";
import { SETTINGS } from "./settings.ts";
import type { Environment } from "./settings-reader.ts";

const EXAMPLE_FILE = new URL("../../.env.example", import.meta.url).pathname;

async function withFile(text: string, work: (path: string) => Promise<void> | void): Promise<void> {
  const folder = await temporaryFolder();
  const path = join(folder.path, "settings");
  await writeFile(path, text);
  await work(path);
  await folder.release();
}

test("settings of the file are added, and variables of the environment take precedence", async () => {
  const text = [
    "\ufeff# comment",
    "PARALLAX_PORT=9000",
    "export PARALLAX_HOST=::1 # comment",
    "PARALLAX_VENUES='kalshi;manifold'",
    'PARALLAX_MAIL_FROM="Parallax <a@example.org>"  # comment',
    "PARALLAX_LOG_LEVEL=",
    "",
  ].join("\r\n");
  await withFile(text, (path) => {
    const environment = addEnvFile({ PARALLAX_ENV_FILE: path, PARALLAX_PORT: "9001", OTHER: "x" });
    assert.deepEqual(environment, {
      PARALLAX_ENV_FILE: path,
      PARALLAX_PORT: "9001",
      OTHER: "x",
      PARALLAX_HOST: "::1",
      PARALLAX_VENUES: "kalshi;manifold",
      PARALLAX_MAIL_FROM: "Parallax <a@example.org>",
      PARALLAX_LOG_LEVEL: "",
    });
    assert.equal(addEnvFile({ PARALLAX_ENV_FILE: path, PARALLAX_HOST: "" }).PARALLAX_HOST, "");
  });
});

test("a malformed line is an error that names file and line but no value", async () => {
  const malformedLines: readonly string[] = [
    "s3cret",
    "PARALLAX_PORT = s3cret",
    "PARALLAX_PORT= s3cret",
    "PARALLAX_PORT: s3cret",
    "9PORT=s3cret",
    "PARALLAX-PORT=s3cret",
    "set PARALLAX_PORT=s3cret",
    "PARALLAX_PORT='s3cret",
    "PARALLAX_PORT=\"s3cret'",
    "PARALLAX_PORT='s3cret' s3cret",
    "PARALLAX_SMTP_URL=smtp://a:s3cret#s3cret@mail.example",
  ];
  for (const line of malformedLines)
    await withFile(`# comment\n\n${line}\nA='b'\n`, (path) => {
      assert.throws(
        () => addEnvFile({ PARALLAX_ENV_FILE: path }),
        (error) => {
          assert.ok(error instanceof EnvFileError, line);
          assert.ok(error.message.startsWith(`${path}, line 3: `), line);
          assert.doesNotMatch(error.message, /s3cret|\n/, line);
          return true;
        },
      );
    });
});

test("a file that cannot be read is an error, except for a missing .env", async () => {
  const folder = await temporaryFolder();
  await mkdir(join(folder.path, "directory"));
  for (const name of ["missing", "directory"])
    assert.throws(
      () => addEnvFile({ PARALLAX_ENV_FILE: join(folder.path, name) }),
      /cannot be read \((ENOENT|EISDIR)\)/,
    );
  await folder.release();
});

test(".env.example lists exactly the settings, each with its default", async () => {
  const text = await readFile(EXAMPLE_FILE, "utf8");
  const lines = text.split("\n");
  assert.deepEqual(
    lines.flatMap((line) => /^([A-Z][A-Z0-9_]*)=/.exec(line)?.[1] ?? []),
    SETTINGS.map(({ name }) => name),
  );
  assert.deepEqual(parseEnv(text), Object.fromEntries(SETTINGS.map(({ name, defaultValue }) => [name, defaultValue])));
  for (const { name } of SETTINGS) {
    const index = lines.findIndex((line) => line.startsWith(`${name}=`));
    const precedingComment = lines.slice(0, index).findLast((line) => line === "" || line.startsWith("#"));
    assert.notEqual(precedingComment, "", `${name} has a comment`);
  }
  // The commented lines are examples of venue settings. They must be valid.
  const examples = lines.flatMap((line) => {
    const [, name, value] = /^# (PARALLAX_[A-Z_]+)=(.*)$/.exec(line) ?? [];
    return name === undefined ? [] : [[name, value === "" ? "x" : value]];
  });
  assert.ok(examples.length > 0);
  parseEnvironment(Object.fromEntries(examples));
});

test(".env.example can be copied to .env and loaded by a shell, and sets every setting to its default", async () => {
  const expected = Object.fromEntries(SETTINGS.map(({ name, defaultValue }) => [name, defaultValue]));
  const pickSettings = (environment: Environment) =>
    Object.fromEntries(Object.keys(expected).map((name) => [name, environment[name]]));
  await withFile(await readFile(EXAMPLE_FILE, "utf8"), async (path) => {
    const fromFile = addEnvFile({ PARALLAX_ENV_FILE: path });
    assert.deepEqual(pickSettings(fromFile), { ...expected, PARALLAX_ENV_FILE: path });
    assert.deepEqual(parseEnvironment(fromFile), parseEnvironment());
    const script = `set -eua; . "$1"; exec "$2" -p 'JSON.stringify(process.env)'`;
    const { stdout, stderr } = await promisify(execFile)("sh", ["-c", script, "sh", path, process.execPath], {
      env: {},
    });
    assert.equal(stderr, "");
    const fromShell = JSON.parse(stdout);
    assert.deepEqual(pickSettings(fromShell), expected);
    assert.deepEqual(parseEnvironment(fromShell), parseEnvironment());
    // The variable has its default value here, so a missing .env is not an error.
    assert.deepEqual(pickSettings(addEnvFile({ ...fromShell })), expected);
  });
});
