import { execFile } from "node:child_process";
import { promisify } from "node:util";

const OUTPUT_BYTES_MAX = 1 << 20;

/**
 * Runs a program of the folder `bench` and returns the first JSON line of its output.
 *
 * @throws Error with the program's standard error if the program fails
 */
export async function runProgram<Result>(program: string, args: readonly string[]): Promise<Result> {
  const file = new URL(`../${program}`, import.meta.url).pathname;
  const { stdout } = await promisify(execFile)(process.execPath, [file, ...args], { maxBuffer: OUTPUT_BYTES_MAX });
  const line = stdout.split("\n").find((candidate) => candidate.startsWith("{"));
  if (line === undefined) throw new Error(`${program} printed no result`);
  return JSON.parse(line) as Result;
}
