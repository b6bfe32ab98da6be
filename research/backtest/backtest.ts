/** `npm run backtest`: computes the profit of the service's signals on recorded or stored market data. */

import { writeFile } from "node:fs/promises";
import { toIso } from "../../src/lib/dates/iso-time.ts";
import { withStore } from "../open-store.ts";
import { toMarkdown } from "../report.ts";
import { BACKTEST_USAGE, type BacktestOptions, parseBacktestOptions } from "./options.ts";
import { readRecordedFacts } from "./recording-source.ts";
import { Replay } from "./replay.ts";
import { backtestToJson, describeResult, renderBacktestHtml, summariseResult } from "./report.ts";
import { computeBacktestResult } from "./result.ts";
import { readStoredFacts, STORE_LIMITATIONS } from "./store-source.ts";

try {
  const options = parseBacktestOptions(process.argv.slice(2));
  if (options === null) process.stdout.write(BACKTEST_USAGE);
  else await backtest(options);
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\nSee npm run backtest -- --help\n`);
  process.exitCode = 1;
}

async function backtest(options: BacktestOptions): Promise<void> {
  const replay = new Replay({ ...options, onDay: reportProgress });
  const notes = await readFacts(replay, options);
  const record = replay.finish();
  if (record.counts.facts === 0) throw new Error(describeEmptyPeriod(record.covers, options));
  const result = computeBacktestResult(record, options.to);
  const { html, json } = options;
  if (html !== null) await writeFile(html, renderBacktestHtml(result, options, notes));
  if (json !== null) await writeFile(json, `${JSON.stringify(backtestToJson(result, options, notes), null, 2)}\n`);
  const sections = describeResult(result, options, notes);
  process.stdout.write(`${toMarkdown(sections, "##")}\n\n${JSON.stringify(summariseResult(result, options))}\n`);
}

/** Applies all facts of the source to the replay. Returns the limitations of the source as sentences. */
async function readFacts(replay: Replay, options: BacktestOptions): Promise<readonly string[]> {
  const { kind, location } = options.source;
  if (kind === "recording") return readRecordedFacts(location, (fact) => replay.apply(fact));
  await withStore(location, (database) => readStoredFacts(database, options, (fact) => replay.apply(fact)));
  if (options.assumedSize === null) return STORE_LIMITATIONS;
  return [...STORE_LIMITATIONS, `Every quote is assumed to offer ${options.assumedSize} contracts at each side.`];
}

function describeEmptyPeriod(covers: { readonly from: number; readonly to: number } | null, options: BacktestOptions) {
  const period = `${toIso(options.from)} to ${toIso(options.to)}`;
  if (covers === null || options.source.kind === "store")
    return `The ${options.source.kind} has no data from ${period}.`;
  return `The recording has no data from ${period}; it has data from ${toIso(covers.from)} to ${toIso(covers.to)}.`;
}

function reportProgress(at: number, analyses: number, trades: number): void {
  process.stderr.write(`${toIso(at).slice(0, 10)}: ${analyses} analyses, ${trades} trades\n`);
}
