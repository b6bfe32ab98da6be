import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { createProgramRunner } from "../../test/support/run-on-rows.ts";

const { run: evaluate, fileWith, pathOf } = createProgramRunner(new URL("evaluate.ts", import.meta.url));

const pair = (a: string, b: string, same: boolean, relation: string, grain = "market") => ({
  a: { venue: "first", id: `a:${a}`, title: a },
  b: { venue: "second", id: `b:${b}`, title: b },
  same,
  relation,
  grain,
});

const LAKERS = "Will the Lakers win the 2027 NBA Finals?";
const MARKETS = [
  pair(LAKERS, LAKERS, true, "equivalent"),
  pair(LAKERS, "Will the Celtics win the 2027 NBA Finals?", false, "different_entity"),
  // The label of this pair is wrong, so the command must list the pair as a mistake.
  pair("Will Norway win Eurovision 2027?", "Will Norway win Eurovision 2027?", false, "different_scope"),
  pair("Will Norway win Eurovision 2027?", "Will Italy win Eurovision 2027?", true, "equivalent"),
];
const EVENT = pair("Eurovision 2027 winner", "Eurovision 2027 winner", true, "equivalent", "event");

const lastLine = (stdout: string): unknown => JSON.parse(stdout.replace(/\n$/, "").split("\n").at(-1) ?? "");

describe("npm run evaluate:matching", () => {
  test("the output has tables, mistakes with both titles, and the scores as JSON on the last line", async () => {
    const { code, stdout, stderr } = await evaluate(await fileWith([...MARKETS, EVENT]));
    assert.equal(code, 0, stderr);
    const { market, event, ece } = lastLine(stdout) as { market: unknown; event: unknown; ece: number };
    assert.deepEqual(market, { n: 4, precision: 0.5, recall: 0.5, f1: 0.5 });
    assert.deepEqual(event, { n: 1, precision: 1, recall: 1, f1: 1 });
    assert.ok(ece > 0.2 && ece < 1);
    assert.match(stdout, /\| different_entity \| 1 \| 0 \| 0 \|/);
    assert.match(stdout, /Expected calibration error/);
    assert.match(stdout, /Mistakes: 2, of which 2 are listed/);
    assert.match(stdout, /matched wrongly \(market, labelled different_scope\)\n.*identical.*\n {2}first: Will Norway/);
    assert.match(
      stdout,
      /not matched \(market, labelled equivalent\)\n.*vetoes: outcome, place\n.*\n {2}second: Will Italy/,
    );
  });

  test("with --json, only the line of JSON is printed, also for a gzipped file", async () => {
    const { stdout } = await evaluate(await fileWith(MARKETS, "rows.jsonl.gz"), "--json");
    assert.equal(stdout.split("\n").length, 2);
    const { market, event } = lastLine(stdout) as { market: { n: number }; event: unknown };
    assert.equal(market.n, 4);
    assert.deepEqual(event, { n: 0, precision: null, recall: null, f1: null });
  });

  test("--mistakes limits the number of listed mistakes", async () => {
    const { stdout } = await evaluate(await fileWith(MARKETS), "--mistakes", "1");
    assert.match(stdout, /Mistakes: 2, of which 1 are listed/);
    assert.equal(stdout.match(/^ {2}first:/gm)?.length, 1);
  });

  test("--paraphrases scores all pairs again in other words, in the same words in each run", async () => {
    const file = await fileWith([...MARKETS, EVENT]);
    const first = await evaluate(file, "--paraphrases", "3");
    assert.equal(first.code, 0, first.stderr);
    assert.match(first.stdout, /Scores in other words/);
    const { market, paraphrased } = lastLine(first.stdout) as Record<string, { n: number; market: { n: number } }>;
    assert.equal(market?.n, 4);
    assert.equal(paraphrased?.market.n, 12);
    const second = await evaluate(file, "--paraphrases", "3", "--json");
    assert.deepEqual(lastLine(second.stdout), lastLine(first.stdout));
    assert.equal("paraphrased" in (lastLine((await evaluate(file, "--json")).stdout) as object), false);
  });

  test("for a file without pairs, n is 0 and all scores are null", async () => {
    const { code, stdout } = await evaluate(await fileWith([]), "--json");
    assert.equal(code, 0);
    const none = { n: 0, precision: null, recall: null, f1: null };
    assert.deepEqual(lastLine(stdout), { market: none, event: none, ece: null });
  });

  test("an invalid line gives an error with its number, and invalid arguments give an error with the usage", async () => {
    const bad = await evaluate(await fileWith([MARKETS[0] ?? {}, { same: true }]));
    assert.equal(bad.code, 1);
    assert.equal(bad.stdout, "");
    assert.match(bad.stderr, /rows\.jsonl, line 2: not a pair/);
    assert.equal((await evaluate(pathOf("absent.jsonl"))).code, 1);
    const noFile = await evaluate();
    assert.equal(noFile.code, 1);
    assert.match(noFile.stderr, /Usage: npm run evaluate:matching/);
    for (const option of ["--mistakes", "--paraphrases"]) {
      const { code, stderr } = await evaluate(await fileWith([]), option, "many");
      assert.equal(code, 1);
      assert.match(stderr, new RegExp(`${option} must be a whole number`));
    }
    assert.match((await evaluate("--help")).stdout, /^Usage:/);
  });
});
