import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join, relative } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";

const PROJECT = new URL("..", import.meta.url).pathname;
const run = promisify(execFile);

async function listSources(folder: string): Promise<string[]> {
  const entries = await readdir(join(PROJECT, folder), { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile() && entry.name.endsWith(".ts"))
    .map((entry) => relative(PROJECT, join(entry.parentPath, entry.name)));
}

/** Runs one of the checks and returns its output and whether it hasPassed. */
async function check(command: string, args: readonly string[]): Promise<{ hasPassed: boolean; output: string }> {
  return run(join(PROJECT, "node_modules/.bin", command), [...args], {
    cwd: PROJECT,
    maxBuffer: 64 * 1024 * 1024,
  }).then(
    ({ stdout, stderr }) => ({ hasPassed: true, output: stdout + stderr }),
    (error: { stdout: string; stderr: string }) => ({ hasPassed: false, output: error.stdout + error.stderr }),
  );
}

const productSources = async () => [...(await listSources("src")), ...(await listSources("sandbox"))];

const isTest = (file: string) => file.endsWith(".test.ts");

test("only adapters and main.ts read the wall clock or draw random numbers", async () => {
  const allowed = /^src\/(adapters\/|main\.ts$)/;
  for (const file of await productSources()) {
    if (isTest(file) || allowed.test(file)) continue;
    const text = await readFile(join(PROJECT, file), "utf8");
    assert.doesNotMatch(
      text,
      /\bDate\.now\(|\bnew Date\(\)|\bMath\.random\(|\bperformance\.now\(|\brandomBytes\(|\brandomUUID\(/,
      file,
    );
  }
});

test("only src/venues and the help of PARALLAX_VENUES name a venue", async () => {
  const allowed = /^src\/venues\//;
  for (const file of await listSources("src")) {
    if (isTest(file) || allowed.test(file)) continue;
    const text = (await readFile(join(PROJECT, file), "utf8")).replace(/^.*PARALLAX_VENUES.*$/gm, "");
    assert.doesNotMatch(text, /kalshi|polymarket|limitless|manifold/i, file);
  }
});

test("only main.ts reads the environment", async () => {
  for (const file of await productSources()) {
    if (isTest(file) || file === "src/main.ts") continue;
    assert.doesNotMatch(await readFile(join(PROJECT, file), "utf8"), /process\.env/, file);
  }
});

test("no file uses local time", async () => {
  for (const file of await productSources()) {
    const text = await readFile(join(PROJECT, file), "utf8");
    assert.doesNotMatch(
      text,
      /\.(getHours|getDate|getMonth|getFullYear|getDay|getMinutes|toLocaleDateString|toLocaleTimeString)\(/,
      file,
    );
  }
});

test("the import check reads every source file", async () => {
  const { output } = await check("depcruise", [
    "--config",
    ".dependency-cruiser.js",
    "--output-type",
    "json",
    "src",
    "sandbox",
  ]);
  const cruised = new Set(JSON.parse(output).modules.map((module: { source: string }) => module.source));
  for (const file of await productSources()) assert.ok(cruised.has(file), `${file} was not read`);
});

test("each check of `npm run check` fails on a planted error and names the file", async () => {
  const folder = await mkdtemp(join(PROJECT, "src/lib/planted-"));
  const plant = async (name: string, text: string) => writeFile(join(folder, name), text);
  try {
    await plant("wrong-type.ts", "export const planted: number = 'text';\n");
    const types = await check("tsc", ["-p", "."]);
    assert.equal(types.hasPassed, false);
    assert.match(types.output, /wrong-type\.ts.*TS2322/);
    await rm(join(folder, "wrong-type.ts"));

    await plant("wrong-style.ts", "export default function (a: any) { return a }\n");
    const style = await check("biome", ["check", folder]);
    assert.equal(style.hasPassed, false);
    for (const rule of ["noDefaultExport", "noExplicitAny", "format"]) assert.match(style.output, new RegExp(rule));
    await rm(join(folder, "wrong-style.ts"));

    await plant(
      "wrong-arrow.ts",
      'import { yesPrice } from "../../domain/market.ts";\nexport const planted = yesPrice;\n',
    );
    const imports = await check("depcruise", ["--config", ".dependency-cruiser.js", "src"]);
    assert.equal(imports.hasPassed, false);
    assert.match(imports.output, /lib-imports-only-itself.*wrong-arrow/);

    const unused = await check("knip", []);
    assert.equal(unused.hasPassed, false);
    assert.match(unused.output, /wrong-arrow\.ts/);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});

test("openapi.json equals the OpenAPI document that the code generates", async () => {
  const { stdout } = await run(process.execPath, ["bin/parallax.mjs", "openapi"], {
    cwd: PROJECT,
    maxBuffer: 64 * 1024 * 1024,
  });
  assert.deepEqual(
    JSON.parse(await readFile(join(PROJECT, "openapi.json"), "utf8")),
    JSON.parse(stdout),
    "run `npm run openapi`",
  );
});

test(".env.example contains every setting with its default", async () => {
  const { SETTINGS } = await import("../src/config/settings.ts");
  const example = await readFile(join(PROJECT, ".env.example"), "utf8");
  for (const { name, defaultValue } of SETTINGS)
    assert.ok(example.includes(`\n${name}=${defaultValue}\n`), `${name}=${defaultValue}`);
});

test("npm ci installs all native packages under the oldest supported Node version", async () => {
  // npm silently skips an optional package whose `engines` exclude the Node version that runs npm. The service runs on a
  // newer Node, which is installed as a package. If this test fails, delete `engines` from these entries of the lock file.
  const lock = JSON.parse(await readFile(join(PROJECT, "package-lock.json"), "utf8"));
  const entries = Object.entries(lock.packages) as [string, { os?: string[]; engines?: { node?: string } }][];
  const excluded = entries.filter(
    ([, { os, engines }]) => os !== undefined && /^>=? ?(?:2[1-9]|[3-9]\d)/.test(engines?.node ?? ""),
  );
  assert.deepEqual(
    excluded.map(([name]) => name),
    [],
  );
});
