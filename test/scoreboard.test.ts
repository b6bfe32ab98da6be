import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { GuaranteeError, SkippedError } from "../bench/harness/scenario.ts";
import { formatUsage, selectRows } from "../bench/scoreboard/main.ts";
import { applyMutation, formatProof } from "../bench/scoreboard/prove.ts";
import { type Measurement, NotHereError, type ScoreboardRow } from "../bench/scoreboard/row.ts";
import { SCOREBOARD_ROWS } from "../bench/scoreboard/rows.ts";
import { formatResult, isSuccess, runRow } from "../bench/scoreboard/runner.ts";

import { run } from "./support/service-process.ts";
import { createTestFolder } from "./support/test-folder.ts";

const PROJECT = new URL("..", import.meta.url).pathname;
const ROW_COUNT = 32;
const ALL_IDS = Array.from({ length: ROW_COUNT }, (_, index) => `S${index + 1}`);

function createRow(measure: () => Promise<Measurement>): ScoreboardRow {
  return { id: "S1", figure: "lost rows", target: "0", mutations: [], measure };
}

const judge = (measure: () => Promise<Measurement>) =>
  runRow(createRow(measure), { quick: true, seed: 7, print: () => {} });

test("the scoreboard has the rows S1 to S32 in order", () => {
  assert.deepEqual(
    SCOREBOARD_ROWS.map(({ id }) => id),
    ALL_IDS,
  );
});

for (const { id, mutations } of SCOREBOARD_ROWS) {
  test(`${id} has a mutation, and each mutation changes its file once and leaves it valid`, async () => {
    assert.ok(mutations.length > 0);
    for (const mutation of mutations) {
      const source = await readFile(join(PROJECT, mutation.file), "utf8");
      assert.notEqual(applyMutation(source, mutation), source);
    }
  });
}

test("a mutation whose text is absent or repeated, or whose result is not valid, is rejected", () => {
  const mutation = { defence: "a check", file: "a.ts", find: "check();", replace: "" };
  assert.equal(applyMutation("start(); check();", mutation), "start(); ");
  assert.throws(() => applyMutation("start();", mutation), /0 times/);
  assert.throws(() => applyMutation("check(); check();", mutation), /2 times/);
  assert.throws(() => applyMutation("check();", { ...mutation, replace: "if (" }));
});

test("a row is PASS or FAIL by its figure, and a figure that is not a number is an ERROR", async () => {
  assert.equal((await judge(async () => ({ isMet: true, value: "0 lost" }))).verdict, "PASS");
  assert.equal((await judge(async () => ({ isMet: false, value: "3 lost" }))).verdict, "FAIL");
  assert.equal((await judge(async () => ({ isMet: true, value: "p99 NaN ms" }))).verdict, "ERROR");
});

test("a violated guarantee is FAIL, a missing requirement NOT HERE and every other error ERROR", async () => {
  assert.equal((await judge(() => Promise.reject(new GuaranteeError("1 row is lost")))).verdict, "FAIL");
  assert.equal((await judge(() => Promise.reject(new NotHereError("no database")))).verdict, "NOT HERE");
  assert.equal((await judge(() => Promise.reject(new SkippedError("no database")))).verdict, "NOT HERE");
  assert.equal((await judge(() => Promise.reject(new TypeError("undefined")))).verdict, "ERROR");
});

test("FAIL and ERROR make the run fail; NOT HERE does not", () => {
  assert.equal(isSuccess([{ verdict: "PASS" }, { verdict: "NOT HERE" }]), true);
  assert.equal(isSuccess([{ verdict: "PASS" }, { verdict: "FAIL" }]), false);
  assert.equal(isSuccess([{ verdict: "ERROR" }]), false);
});

test("the line of a row has the verdict, value, target, seed and duration, and marks a short run", async () => {
  const result = await judge(async () => ({ isMet: true, value: "0 lost\nof 10" }));
  assert.match(formatResult(result), /^S1 {3}PASS \(quick\) {2}lost rows: 0 lost of 10; target 0; seed 7; \d+\.\d s$/);
  assert.match(formatResult({ ...result, isQuick: false }), /^S1 {3}PASS {2}/);
  assert.match(formatResult({ ...result, verdict: "FAIL" }), /^S1 {3}FAIL {2}/);
});

test("the line of a proof says whether the row failed without the defence, and why", () => {
  const proof = { id: "S1", defence: "a check", wasSeenToFail: true, reason: "3 lost" };
  assert.equal(formatProof(proof), "S1   seen to fail: yes (3 lost), without: a check");
  assert.match(formatProof({ ...proof, wasSeenToFail: false, reason: "PASS: 0 lost" }), /no \(PASS: 0 lost\)/);
});

test("the usage lists each row, and only known rows can be selected", () => {
  const usage = formatUsage(SCOREBOARD_ROWS);
  for (const { id, figure } of SCOREBOARD_ROWS) assert.ok(usage.includes(`${id.padEnd(4)} ${figure}`));
  assert.deepEqual(selectRows(SCOREBOARD_ROWS, []), SCOREBOARD_ROWS);
  assert.deepEqual(
    selectRows(SCOREBOARD_ROWS, ["S1"]).map(({ id }) => id),
    ["S1"],
  );
  assert.throws(() => selectRows(SCOREBOARD_ROWS, ["S33"]), /S33/);
});

test("a row that is measured by tests counts failed assertions, and any other failure is an error", async () => {
  const folder = await createTestFolder();
  const testFile = join(folder, "planted.test.ts");
  await writeFile(
    testFile,
    `import assert from "node:assert/strict";
     import { test } from "node:test";
     test("passes", () => {});
     test("fails", () => assert.equal(1, 2));
     test("throws", () => { throw new TypeError("planted"); });
     test("is skipped", { skip: true }, () => {});`,
  );
  const script = join(folder, "script.mjs");
  await writeFile(
    script,
    `import { runTests } from ${JSON.stringify(new URL("../bench/scoreboard/run-tests.ts", import.meta.url).href)};
     const outcomes = [];
     for (const name of [/passes|fails/, /throws/, /skipped/, /absent/])
       outcomes.push(await runTests([${JSON.stringify(testFile)}], [name]).catch((error) => error.message));
     console.log(JSON.stringify(outcomes));`,
  );
  const program = run(process.execPath, [script]);
  assert.equal(await program.ended, 0, program.output());
  const line = program
    .output()
    .split("\n")
    .find((candidate) => candidate.startsWith("["));
  const [counts, thrown, skipped, absent] = JSON.parse(line ?? "null");
  assert.deepEqual(counts, { passed: 1, failed: ["fails"] });
  assert.match(thrown, /planted/);
  assert.match(skipped, /is skipped/);
  assert.match(absent, /no test/);
});
