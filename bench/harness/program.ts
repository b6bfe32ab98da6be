import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
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

/**
 * Runs a program of the folder `bench` and returns all JSON lines of its output. Its standard error is printed.
 *
 * @param exitCodeMax  1 for a program that exits with 1 if it measured a miss
 * @throws Error if the program fails or prints no JSON line
 */
export async function runProgramForRows<Row>(
  program: string,
  args: readonly (string | number)[],
  exitCodeMax: 0 | 1 = 0,
): Promise<Row[]> {
  const file = new URL(`../${program}`, import.meta.url).pathname;
  const child = spawn(process.execPath, [file, ...args.map(String)], { stdio: ["ignore", "pipe", "inherit"] });
  const exited = once(child, "exit");
  const rows: Row[] = [];
  for await (const line of createInterface({ input: child.stdout }))
    if (line.startsWith("{")) rows.push(JSON.parse(line) as Row);
  const [code] = await exited;
  if (code === null || code > exitCodeMax) throw new Error(`${program} exited with ${code}`);
  if (rows.length === 0) throw new Error(`${program} printed no result`);
  return rows;
}
