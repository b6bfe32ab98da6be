/** Helpers of the research commands: options, error messages and output files. */
import { writeFile } from "node:fs/promises";
import { type ParseArgsOptionsConfig, parseArgs } from "node:util";

const PROJECT = new URL("../", import.meta.url);

export const stringOption = <const Default extends string>(value: Default) =>
  ({ type: "string", default: value }) as const;

/**
 * Parses the command line and calls `run`, or prints `usage` for `--help`. If parsing or `run` throws, prints the error
 * message and sets the exit code to 1.
 *
 * @param isOfFile  whether the command accepts files as positional arguments
 */
export async function runCommand<const Options extends ParseArgsOptionsConfig>(
  {
    usage,
    options,
    isOfFile = false,
  }: { readonly usage: string; readonly options: Options; readonly isOfFile?: boolean },
  run: (
    values: ReturnType<typeof parseArgs<{ options: Options }>>["values"],
    files: readonly string[],
  ) => void | Promise<void>,
): Promise<void> {
  try {
    const help = { type: "boolean", short: "h", default: false } as const;
    const { values, positionals } = parseArgs({ allowPositionals: isOfFile, options: { ...options, help } });
    if ((values as { readonly help?: boolean }).help === true) process.stdout.write(usage);
    else await run(values as Parameters<typeof run>[0], positionals);
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = 1;
  }
}

/** @throws Error with the option's name, unless `count` is a whole number from 1 to `max` */
export function parseCount(option: string, count: string, max: number): number {
  if (!/^[0-9]{1,9}$/.test(count) || Number(count) < 1 || Number(count) > max)
    throw new Error(`${option} must be a whole number from 1 to ${max}; it is "${count}".`);
  return Number(count);
}

/** @param path  relative to the project root */
export const writeProjectFile = (path: string, content: string): Promise<void> =>
  writeFile(new URL(path, PROJECT), content);
