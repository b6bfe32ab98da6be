import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { copyCheckout } from "./support/copy-checkout.ts";
import { createTestFolder } from "./support/test-folder.ts";

const PROJECT = new URL("..", import.meta.url).pathname;
const runCommand = promisify(execFile);

async function listSources(folder: string): Promise<string[]> {
  const entries = await readdir(join(PROJECT, folder), { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile() && entry.name.endsWith(".ts"))
    .map((entry) => relative(PROJECT, join(entry.parentPath, entry.name)));
}

/** Runs a check and returns its output and whether it passed. */
async function runCheck(
  command: string,
  args: readonly string[],
  cwd = PROJECT,
): Promise<{ hasPassed: boolean; output: string }> {
  return runCommand(join(PROJECT, "node_modules/.bin", command), [...args], {
    cwd,
    maxBuffer: 64 * 1024 * 1024,
  }).then(
    ({ stdout, stderr }) => ({ hasPassed: true, output: stdout + stderr }),
    (error: { stdout: string; stderr: string }) => ({ hasPassed: false, output: error.stdout + error.stderr }),
  );
}

async function createCopy(): Promise<string> {
  const copy = join(await createTestFolder(), "copy");
  await copyCheckout(copy);
  return copy;
}

const listProductSources = async () => [...(await listSources("src")), ...(await listSources("sandbox"))];

const isTest = (file: string) => file.endsWith(".test.ts");

test("every test file except those of test/e2e, test/wire and test itself runs in exactly one test group", async () => {
  const groups = await listSources("test/groups");
  const texts = await Promise.all(groups.map((group) => readFile(join(PROJECT, group), "utf8")));
  const folders = [...texts.join().matchAll(/"((?:src|sandbox|research|test)(?:\/[^"]+)?)"/g)].map(
    ([, folder]) => `${folder}/`,
  );
  const files = [
    ...(await listProductSources()),
    ...(await listSources("research")),
    ...(await listSources("test")).filter((file) => !/^test\/((e2e|groups|wire)\/)?[^/]+$/.test(file)),
  ].filter(isTest);
  const groupCounts = files.map((file) => [file, folders.filter((folder) => file.startsWith(folder)).length]);
  assert.deepEqual(
    groupCounts.filter(([, count]) => count !== 1),
    [],
  );
});

test("only adapters and main.ts read the wall clock or draw random numbers", async () => {
  const allowedPath = /^src\/(adapters\/|commands\/main\.ts$)/;
  for (const file of await listProductSources()) {
    if (isTest(file) || allowedPath.test(file)) continue;
    const text = await readFile(join(PROJECT, file), "utf8");
    assert.doesNotMatch(
      text,
      /\bDate\.now\(|\bnew Date\(\)|\bMath\.random\(|\bperformance\.now\(|\brandomBytes\(|\brandomUUID\(/,
      file,
    );
  }
});

test("venue names occur only in src/venues, in sources and in the help text of `PARALLAX_VENUES`", async () => {
  const allowedPath = /^src\/venues\//;
  for (const file of await listSources("src")) {
    if (isTest(file) || allowedPath.test(file)) continue;
    const text = (await readFile(join(PROJECT, file), "utf8")).replace(
      /^.*(?:PARALLAX_VENUES| \* @see https:).*$/gm,
      "",
    );
    assert.doesNotMatch(text, /kalshi|polymarket|limitless|manifold/i, file);
  }
});

test("only main.ts reads environment variables", async () => {
  for (const file of await listProductSources()) {
    if (isTest(file) || file === "src/commands/main.ts") continue;
    assert.doesNotMatch(await readFile(join(PROJECT, file), "utf8"), /process\.env/, file);
  }
});

test("no source file uses the local time zone", async () => {
  for (const file of await listProductSources()) {
    const text = await readFile(join(PROJECT, file), "utf8");
    assert.doesNotMatch(
      text,
      /\.(getHours|getDate|getMonth|getFullYear|getDay|getMinutes|toLocaleDateString|toLocaleTimeString)\(/,
      file,
    );
  }
});

test("`tsc`, `biome` and `knip` each fail on a planted error and report it", async () => {
  const copy = await createCopy();
  const plant = async (name: string, text: string) => writeFile(join(copy, "src/lib", name), text);

  await plant("wrong-type.ts", "export const planted: number = 'text';\n");
  // The types of the other files need no second check.
  await writeFile(
    join(copy, "tsconfig.planted.json"),
    JSON.stringify({ extends: "./tsconfig.json", include: ["src/lib/wrong-type.ts"] }),
  );
  const typeCheck = await runCheck("tsc", ["-p", "tsconfig.planted.json"], copy);
  assert.equal(typeCheck.hasPassed, false);
  assert.match(typeCheck.output, /wrong-type\.ts.*TS2322/);
  const { output: config } = await runCheck("tsc", ["-p", ".", "--showConfig"], copy);
  assert.ok(JSON.parse(config).files.includes("./src/lib/wrong-type.ts"));
  await rm(join(copy, "tsconfig.planted.json"));
  await rm(join(copy, "src/lib/wrong-type.ts"));

  const longFunction = `export function long() {\n${"  Math.abs(1);\n".repeat(130)}}\n`;
  await plant(
    "wrong-style.ts",
    `export default function (a: any) { return a }\nexport const b = { ...{ c: 1 } };\n${longFunction}`,
  );
  const styleCheck = await runCheck("biome", ["check", "src/lib/wrong-style.ts"], copy);
  assert.equal(styleCheck.hasPassed, false);
  const rules = [
    "noDefaultExport",
    "noExplicitAny",
    "noExcessiveLinesPerFunction",
    "instead of spreading it",
    "format",
  ];
  for (const rule of rules) assert.match(styleCheck.output, new RegExp(rule));
  await rm(join(copy, "src/lib/wrong-style.ts"));

  await plant("unused.ts", "export const planted = 1;\n");
  const unusedCheck = await runCheck("knip", [], copy);
  assert.equal(unusedCheck.hasPassed, false);
  assert.match(unusedCheck.output, /unused\.ts/);
});

/** One forbidden import per rule: the folder of the planted file, what it imports, and the rule that must report it. */
const FORBIDDEN_IMPORTS: readonly (readonly [folder: string, imported: string, rule: string])[] = [
  ["src/lib", "src/domain/market.ts", "lib-imports-only-itself"],
  ["src/lib", "node:fs", "pure-folders-do-no-io"],
  ["src/domain", "src/ports/clock.ts", "domain-imports-only-lib"],
  ["src/text", "src/quant/calibration.ts", "text-imports-only-domain-lib"],
  ["src/text", "node:fs", "pure-folders-do-no-io"],
  ["src/matching", "src/ports/clock.ts", "matching-imports-only-text-quant-domain-lib"],
  ["src/quant", "src/ports/clock.ts", "quant-imports-only-domain-lib"],
  ["src/engine", "src/ports/clock.ts", "engine-imports-only-quant-domain-lib"],
  ["src/trading", "src/ports/clock.ts", "trading-imports-only-engine-quant-domain-lib"],
  ["src/ports", "src/lib/idempotency-cache.ts", "ports-imports-only-domain"],
  ["src/adapters", "src/board/index.ts", "adapters-imports-only-ports-domain-lib"],
  ["src/venues", "src/ingest/index.ts", "venues-imports-only-ports-domain-lib"],
  ["src/http", "src/capabilities/accounts/keys/index.ts", "http-imports-only-ports-domain-lib"],
  ["src/recording", "src/venues/registry.ts", "recording-imports-only-ports-domain-lib"],
  ["src/board", "src/storage/index.ts", "board-imports-only-ports-domain-lib"],
  ["src/event-log", "src/board/index.ts", "event-log-imports-only-ports-domain-lib"],
  ["src/storage", "src/ingest/index.ts", "storage-imports-only-board-event-log-ports-domain-lib"],
  [
    "src/ingest",
    "src/capabilities/markets/market-data/index.ts",
    "ingest-imports-only-board-storage-event-log-ports-domain-lib",
  ],
  ["src/ingest", "src/board/board.ts", "import-through-the-index"],
  ["src/capabilities/markets/market-data", "src/app/index.ts", "capabilities-imports-only-"],
  ["src/capabilities/markets/market-data", "src/adapters/system/system-clock.ts", "capabilities-imports-only-"],
  ["src/capabilities/markets/market-data", "src/capabilities/accounts/keys/queries.ts", "import-through-the-index"],
  ["src/capabilities/markets/matching", "src/matching/model.ts", "import-through-the-index"],
  ["src/capabilities/markets/market-data", "src/http/route.ts", "only-http-files-of-a-capability-import-http"],
  [
    "src/capabilities/accounts/keys",
    "src/capabilities/markets/consensus/index.ts",
    "area-accounts-imports-no-later-area",
  ],
  ["src/capabilities/markets/consensus", "src/capabilities/events/index.ts", "area-markets-imports-no-later-area"],
  ["src/capabilities/events/webhooks", "src/capabilities/strategy/index.ts", "area-events-imports-no-later-area"],
  ["src/capabilities/analysis/what-if", "src/capabilities/strategy/index.ts", "area-analysis-imports-no-later-area"],
  ["src/capabilities/strategy/signals", "src/capabilities/site/index.ts", "area-strategy-imports-no-later-area"],
  ["src/capabilities/operations/health", "src/capabilities/site/index.ts", "area-operations-imports-no-later-area"],
  ["src/config", "src/ingest/index.ts", "config-imports-only-"],
  ["src/config", "src/adapters/system/system-clock.ts", "commands-load-on-demand"],
  ["src/board", "sandbox/main.ts", "only-commands-start-the-sandbox"],
  ["src/matching", "node:fs", "pure-folders-do-no-io"],
  ["src/matching", "research/logistic.ts", "the-service-never-imports-research"],
  ["research", "src/http/server.ts", "research-imports-no-capability"],
  ["sandbox", "src/domain/market.ts", "the-sandbox-imports-only-lib-and-recordings"],
  ["sandbox/protocol", "sandbox/world/list-event.ts", "venue-protocols-do-not-read-the-true-outcomes"],
];

interface DependencyReport {
  readonly modules: readonly { readonly source: string }[];
  readonly summary: {
    readonly violations: readonly { readonly rule: { readonly name: string }; readonly from: string }[];
    /** Number of violations with the severity `error`. The command fails if it is above 0. */
    readonly error: number;
  };
}

test("dependency-cruiser reads every source file, and each import rule reports a planted forbidden import", async () => {
  const copy = await createCopy();
  for (const [index, [parent, imported]] of FORBIDDEN_IMPORTS.entries()) {
    const folder = join(copy, parent, `planted-${index}`);
    await mkdir(folder);
    const path = imported.startsWith("node:") ? imported : relative(folder, join(copy, imported));
    await writeFile(join(folder, "forbidden.ts"), `import * as planted from "${path}";\nexport { planted };\n`);
    if (index === 0) {
      await writeFile(join(folder, "a.ts"), 'import { b } from "./b.ts";\nexport const a = () => b;\n');
      await writeFile(join(folder, "b.ts"), 'import { a } from "./a.ts";\nexport const b = () => a;\n');
    }
  }
  const { output } = await runCheck(
    "depcruise",
    ["--config", ".dependency-cruiser.js", "--output-type", "json", "src", "sandbox", "research"],
    copy,
  );
  const { modules, summary }: DependencyReport = JSON.parse(output);
  const checkedFiles = new Set(modules.map(({ source }) => source));
  for (const file of await listProductSources()) assert.ok(checkedFiles.has(file), `${file} was not read`);
  const violations = summary.violations.map(({ rule, from }) => `${rule.name}: ${from}`).join("\n");
  assert.match(violations, /no-cycles: .*planted-0\//);
  for (const [index, [parent, , rule]] of FORBIDDEN_IMPORTS.entries())
    assert.match(violations, new RegExp(`${rule}[a-z-]*: ${parent}/planted-${index}/`), `${rule} in ${parent}`);
  assert.equal(summary.error, summary.violations.length);
});

test("files have at most 450 lines (tests and benchmarks 600), and folders at most 25 files, not counting tests", async () => {
  const files = [
    ...(await listProductSources()),
    ...(await Promise.all(["research", "test", "bench"].map(listSources))).flat(),
  ];
  const filesInFolder = new Map<string, number>();
  for (const file of files) {
    const lines = (await readFile(join(PROJECT, file), "utf8")).split("\n").length - 1;
    const linesMax = isTest(file) || /^(test|bench)\//.test(file) ? 600 : 450;
    assert.ok(lines <= linesMax, `${file} has ${lines} lines, more than ${linesMax}`);
    if (!isTest(file)) filesInFolder.set(dirname(file), (filesInFolder.get(dirname(file)) ?? 0) + 1);
  }
  for (const [folder, count] of filesInFolder) assert.ok(count <= 25, `${folder} has ${count} files, more than 25`);
});

test("openapi.json equals the output of `parallax openapi`", async () => {
  const { stdout } = await runCommand(process.execPath, ["bin/parallax.mjs", "openapi"], {
    cwd: PROJECT,
    maxBuffer: 64 * 1024 * 1024,
  });
  assert.deepEqual(
    JSON.parse(await readFile(join(PROJECT, "openapi.json"), "utf8")),
    JSON.parse(stdout),
    "run `npm run openapi`",
  );
});
