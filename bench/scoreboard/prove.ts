import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { stripTypeScriptTypes } from "node:module";
import { join } from "node:path";
import { copyCheckout } from "../../test/support/copy-checkout.ts";
import { temporaryFolder } from "../../test/support/service-process.ts";
import type { Mutation, ScoreboardRow } from "./row.ts";
import type { RowResult } from "./runner.ts";

const COPY_FOLDER = "copy";
const TEMPORARY_FOLDER = "tmp";
/** Time after which a run with a mutation is stopped. */
const RUN_MS_MAX = 600_000;

/** Whether a row failed with one of its defences switched off. */
export interface Proof {
  readonly id: string;
  readonly defence: string;
  readonly wasSeenToFail: boolean;
  /** The figures of the failed row, or the reason why the run is not a proof. */
  readonly reason: string;
}

/**
 * Replaces the text of a mutation and checks the syntax of the result.
 *
 * @param source  text of the mutation's file
 * @throws Error if the source does not contain the text exactly once, or the result is not valid TypeScript
 */
export function applyMutation(source: string, { file, find, replace }: Mutation): string {
  const count = source.split(find).length - 1;
  if (count !== 1) throw new Error(`${file} contains the text ${count} times, not once: ${find}`);
  const mutated = source.replace(find, () => replace);
  if (file.endsWith(".ts")) stripTypeScriptTypes(mutated);
  return mutated;
}

/**
 * Runs a row in a copy of the checkout once per mutation. Only the verdict FAIL is a proof: a row that passes does not
 * depend on the defence, and a row with an error has no figure.
 *
 * @param signal  stops the run; its processes and the copy are removed
 */
export async function proveRow(
  row: ScoreboardRow,
  options: { readonly seed: number; readonly signal: AbortSignal; readonly print: (line: string) => void },
): Promise<Proof[]> {
  const folder = await temporaryFolder();
  const copy = join(folder.path, COPY_FOLDER);
  try {
    await mkdir(join(folder.path, TEMPORARY_FOLDER));
    await copyCheckout(copy);
    const proofs: Proof[] = [];
    for (const mutation of row.mutations) {
      options.signal.throwIfAborted();
      options.print(`${row.id} without: ${mutation.defence}`);
      const path = join(copy, mutation.file);
      const source = await readFile(path, "utf8");
      await writeFile(path, applyMutation(source, mutation));
      const { verdict, value } = await runInCopy(row.id, folder.path, options);
      await writeFile(path, source);
      proofs.push({
        id: row.id,
        defence: mutation.defence,
        wasSeenToFail: verdict === "FAIL",
        reason: verdict === "FAIL" ? value : `${verdict}: ${value}`,
      });
    }
    return proofs;
  } finally {
    await folder.release();
  }
}

async function runInCopy(
  id: string,
  folder: string,
  { seed, signal }: { readonly seed: number; readonly signal: AbortSignal },
): Promise<Pick<RowResult, "verdict" | "value">> {
  const resultFile = join(folder, "result.json");
  await writeFile(resultFile, "");
  const args = ["bench/main.ts", "scoreboard", id, "--quick", "--seed", String(seed), "--json", resultFile];
  // A stopped run does not delete its temporary files. In this folder, they are deleted with the copy.
  const env = { ...process.env, TMPDIR: join(folder, TEMPORARY_FOLDER) };
  // `detached` creates a process group, so that a stop also ends the processes that the row has started.
  const child = spawn(process.execPath, args, {
    cwd: join(folder, COPY_FOLDER),
    env,
    stdio: ["ignore", "ignore", "inherit"],
    detached: true,
  });
  const stop = () => {
    if (child.pid === undefined) return;
    try {
      process.kill(-child.pid, "SIGKILL");
    } catch {
      // All processes of the group have exited.
    }
  };
  const exit = once(child, "exit");
  const deadline = setTimeout(stop, RUN_MS_MAX);
  signal.addEventListener("abort", stop, { once: true });
  try {
    await exit;
  } finally {
    clearTimeout(deadline);
    signal.removeEventListener("abort", stop);
    stop();
  }
  signal.throwIfAborted();
  const text = await readFile(resultFile, "utf8");
  if (text === "") return { verdict: "ERROR", value: "the run ended without a result" };
  const { rows }: { rows: readonly RowResult[] } = JSON.parse(text);
  return rows[0] ?? { verdict: "ERROR", value: "the run has no row" };
}

/** Formats a proof as one line. */
export function formatProof({ id, defence, wasSeenToFail, reason }: Proof): string {
  return `${id.padEnd(3)}  seen to fail: ${wasSeenToFail ? "yes" : "no"} (${reason.replace(/\s+/g, " ")}), without: ${defence}`;
}
