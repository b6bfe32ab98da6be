import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { before, describe, test } from "node:test";
import { createWorld } from "../../sandbox/world/index.ts";
import { openEmbeddedDatabase } from "../../src/adapters/database/embedded-database.ts";
import { DAY_MS, HOUR_MS } from "../../src/lib/durations.ts";
import { type Fact, openRecordingWriter } from "../../src/recording/index.ts";
import { FROM, listContradiction, settledFact } from "../../test/support/backtest/sample-facts.ts";
import { fillStore } from "../../test/support/backtest/sample-store.ts";
import { quietLog } from "../../test/support/quiet-log.ts";
import { createProgramRunner } from "../../test/support/run-on-rows.ts";
import { makeStore } from "../../test/support/store-template.ts";
import { worldFacts } from "./world-facts.ts";

const { run, pathOf } = createProgramRunner(new URL("backtest.ts", import.meta.url));
const PERIOD = ["--from", "2026-06-01", "--to", "2026-06-03"];

interface Summary {
  readonly analyses: number;
  readonly analyses_with_peers: number;
  readonly signals: number;
  readonly signals_without_book: number;
  readonly trades: number;
  readonly traded_markets: number;
  readonly resolved: number;
  readonly pnl_usd: number;
  readonly fees_usd: number;
  readonly realised_edge_ci: readonly (number | null)[] | null;
  readonly brier: { readonly moments: number };
}
const lastLine = (stdout: string): Summary => JSON.parse(stdout.replace(/\n$/, "").split("\n").at(-1) ?? "");

async function record(name: string, facts: Iterable<Fact>): Promise<string> {
  const file = pathOf(name);
  const header = { startedAt: FROM - DAY_MS, source: "a test" };
  const writer = await openRecordingWriter({ file, header, bytesMax: 1e9 });
  for (const fact of facts) {
    writer.append(fact);
    await writer.ready();
  }
  await writer.close();
  return file;
}

describe("npm run backtest on a recording", () => {
  let world = "";
  before(async () => {
    const simulation = createWorld({ seed: 7, genesis: FROM, speed: 1, marketCount: 60 });
    const period = { from: FROM, to: FROM + 2 * DAY_MS, stepMs: 2 * HOUR_MS };
    world = await record("world.jsonl.gz", worldFacts(simulation, period));
  });

  test("the output has tables and ends with one JSON object, and the reports are written", async () => {
    const [html, json] = [pathOf("report.html"), pathOf("report.json")];
    const options = ["--recording", world, "--every", "6h", "--markets", "40", "--html", html, "--json", json];
    const { code, stdout, stderr } = await run(...PERIOD, ...options);
    assert.equal(code, 0, stderr);
    const summary = lastLine(stdout);
    assert.ok(summary.analyses > 100 && summary.trades > 0 && summary.resolved > 0 && summary.brier.moments > 0);
    assert.ok(summary.analyses_with_peers > 0);
    assert.match(stdout, /trades? (earned|LOST) [\d.]+ USD after fees/);
    assert.match(stdout, /Ladders of thresholds and dates are not compared/);
    assert.match(stderr, /^2026-06-02: \d+ analyses, \d+ trades$/m);
    const report = JSON.parse(await readFile(json, "utf8"));
    const total = report.days.reduce((sum: number, day: { pnl_usd: number }) => sum + day.pnl_usd, 0);
    assert.ok(Math.abs(total - summary.pnl_usd) < 1e-6);
    const sumOf = (parts: readonly { trades: number }[]) => parts.reduce((sum, { trades }) => sum + trades, 0);
    assert.deepEqual([sumOf(report.by_venue), sumOf(report.by_category)], [summary.trades, summary.trades]);
    const page = await readFile(html, "utf8");
    assert.match(page, /<svg .*Cumulative profit from 2026-06-01 to 2026-06-02/s);
    assert.doesNotMatch(page, /src=|href=|<script/);
    const again = await run(...PERIOD, ...options);
    assert.equal(again.stdout, stdout);
  });

  test("a loss is reported as a loss, and the bounds of an interval are null if only one market resolved", async () => {
    const facts = [...listContradiction(), settledFact(FROM + HOUR_MS, "A", { kind: "yes" })];
    const { stdout } = await run(...PERIOD, "--recording", await record("loss.jsonl", facts), "--every", "1d");
    const summary = lastLine(stdout);
    assert.ok(summary.pnl_usd < 0);
    assert.match(stdout, /2 trades LOST [\d.]+ USD after fees/);
    assert.deepEqual(summary.realised_edge_ci, [null, null]);
  });

  test("a period without data gives an error with the period that the recording covers", async () => {
    const period = ["--from", "2025-01-01", "--to", "2025-01-02"];
    const { code, stdout, stderr } = await run(...period, "--recording", world);
    assert.deepEqual([code, stdout], [1, ""]);
    assert.match(stderr, /no data from 2025-01-01T.* it has data from 2026-06-01T00:00:00.000Z to 2026-06-03T/);
  });

  test("a file that is not a recording and a missing file are rejected", async () => {
    const file = pathOf("broken.jsonl");
    await writeFile(file, "{}\n");
    const broken = await run(...PERIOD, "--recording", file);
    assert.equal(broken.code, 1);
    assert.match(broken.stderr, /broken\.jsonl, line 1: not the header of a recording/);
    const absent = await run(...PERIOD, "--recording", pathOf("absent.jsonl"));
    assert.equal(absent.code, 1);
    assert.match(absent.stderr, /cannot be read/);
  });
});

describe("npm run backtest on a store", () => {
  let folder = "";
  before(async () => {
    folder = pathOf("data");
    await makeStore(folder);
    const database = await openEmbeddedDatabase({ dataDir: folder, log: quietLog });
    await fillStore(database);
    await database.close();
  });

  test("without sizes there is no trade, and the reason is printed", async () => {
    const { code, stdout, stderr } = await run(...PERIOD, "--store", folder, "--every", "1d");
    assert.equal(code, 0, stderr);
    const summary = lastLine(stdout);
    assert.deepEqual([summary.signals, summary.signals_without_book, summary.trades], [2, 2, 0]);
    assert.match(stdout, /The signals made no trade/);
    assert.match(stdout, /no order books and no sizes of quotes/);
  });

  test("with `--assumed-size`, signals trade at stored quotes, and trades settle at stored status changes", async () => {
    const { stdout } = await run(...PERIOD, "--store", folder, "--every", "1d", "--assumed-size", "5000");
    const summary = lastLine(stdout);
    assert.deepEqual([summary.trades, summary.traded_markets, summary.resolved], [2, 2, 1]);
    assert.match(stdout, /assumed to offer 5000 contracts/);
  });

  test("a directory without a store and a period without data are rejected", async () => {
    const absent = await run(...PERIOD, "--store", pathOf("nothing"));
    assert.equal(absent.code, 1);
    assert.match(absent.stderr, /contains no store/);
    const empty = await run("--from", "2020-01-01", "--to", "2020-01-03", "--store", folder);
    assert.equal(empty.code, 1);
    assert.match(empty.stderr, /The store has no data from 2020-01-01/);
  });
});

test("invalid options give exit code 1 and a message without a stack trace; --help prints the usage", async () => {
  const wrong = await run("--from", "2026-06-01", "--recording", "file");
  assert.deepEqual([wrong.code, wrong.stdout], [1, ""]);
  assert.match(wrong.stderr, /^--to is missing: a day as YYYY-MM-DD\.\nSee npm run backtest -- --help\n$/);
  const help = await run("--help");
  assert.equal(help.code, 0);
  assert.match(help.stdout, /^Usage: npm run backtest/);
});
