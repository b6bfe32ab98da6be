/** `npm run bench -- scoreboard`: measures the guarantees of the scoreboard. See bench/README.md. */
import { randomInt } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { parseArgs } from "node:util";
import { formatProof, type Proof, proveRow } from "./prove.ts";
import type { ScoreboardRow } from "./row.ts";
import { SCOREBOARD_ROWS } from "./rows.ts";
import { formatResult, isSuccess, type RowResult, runRow } from "./runner.ts";

const SEED_MAX = 2 ** 31 - 1;
const EXIT_CODE_INTERRUPTED = 130;

/** Formats the text of `--help`. */
export function formatUsage(rows: readonly ScoreboardRow[]): string {
  return `npm run bench -- scoreboard               measure all rows
npm run bench -- scoreboard S1 S5         measure only these rows

Options:
  --quick        short runs: the same checks, smaller numbers
  --seed N       seeds random choices; drawn if absent, always printed
  --json FILE    write the results
  --prove        also run each row with each of its defences switched off, and require that it fails
  --help

Rows:
${rows.map(({ id, figure, target }) => `  ${id.padEnd(4)} ${figure}; target ${target}`).join("\n")}

The exit code is 1 if a row is FAIL or ERROR, or if --prove did not see a row fail.
`;
}

/** Returns the rows with these ids, in the order of the scoreboard; all rows if there are no ids. */
export function selectRows(rows: readonly ScoreboardRow[], ids: readonly string[]): readonly ScoreboardRow[] {
  const unknownIds = ids.filter((id) => !rows.some((row) => row.id === id));
  if (unknownIds.length > 0) throw new RangeError(`no such row: ${unknownIds.join(", ")} (--help lists them)`);
  return ids.length === 0 ? rows : rows.filter(({ id }) => ids.includes(id));
}

function parseSeed(text: string | undefined): number {
  if (text === undefined) return randomInt(SEED_MAX);
  if (!/^\d{1,10}$/.test(text) || Number(text) > SEED_MAX)
    throw new RangeError(`--seed ${text}: must be a whole number of at most ${SEED_MAX}`);
  return Number(text);
}

/** Runs the command. Sets the exit code of the process. @throws RangeError if an argument is invalid */
export async function runScoreboard(args: readonly string[]): Promise<void> {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      help: { type: "boolean", short: "h" },
      quick: { type: "boolean" },
      seed: { type: "string" },
      json: { type: "string" },
      prove: { type: "boolean" },
    },
  });
  if (values.help === true) {
    process.stdout.write(formatUsage(SCOREBOARD_ROWS));
    return;
  }
  const seed = parseSeed(values.seed);
  const print = (line: string) => process.stderr.write(`  ${line}\n`);
  const options = { quick: values.quick === true, seed, print };
  const interruption = new AbortController();
  const results: RowResult[] = [];
  const proofs: Proof[] = [];
  for (const row of selectRows(SCOREBOARD_ROWS, positionals)) {
    process.stderr.write(`${row.id} ...\n`);
    const result = await runRow(row, options);
    results.push(result);
    process.stdout.write(`${formatResult(result)}\n`);
    if (values.prove === true) {
      const rowProofs = await proveUnlessInterrupted(row, result, { seed, print, interruption });
      proofs.push(...rowProofs);
      for (const proof of rowProofs) process.stdout.write(`${formatProof(proof)}\n`);
    }
    // Written after each row, so that an interrupted run loses at most one result.
    if (values.json !== undefined)
      await writeFile(values.json, `${JSON.stringify({ rows: results, proofs }, null, 2)}\n`);
    if (interruption.signal.aborted) {
      process.exitCode = EXIT_CODE_INTERRUPTED;
      return;
    }
  }
  process.exitCode = isSuccess(results) && proofs.every(({ wasSeenToFail }) => wasSeenToFail) ? 0 : 1;
}

/** A row that fails with all defences is not run without them, because its failure would not be caused by the mutation. */
async function proveUnlessInterrupted(
  row: ScoreboardRow,
  { verdict }: RowResult,
  { interruption, ...options }: { seed: number; print: (line: string) => void; interruption: AbortController },
): Promise<Proof[]> {
  if (verdict !== "PASS")
    return row.mutations.map(({ defence }) => ({
      id: row.id,
      defence,
      wasSeenToFail: false,
      reason: `the row is ${verdict} with all defences`,
    }));
  const interrupt = () => interruption.abort();
  process.once("SIGINT", interrupt).once("SIGTERM", interrupt);
  try {
    return await proveRow(row, { ...options, signal: interruption.signal });
  } catch (error) {
    if (interruption.signal.aborted) return [];
    const reason = error instanceof Error ? error.message : String(error);
    return [{ id: row.id, defence: "not known", wasSeenToFail: false, reason }];
  } finally {
    process.off("SIGINT", interrupt).off("SIGTERM", interrupt);
  }
}
