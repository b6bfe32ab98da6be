import { ConfigError } from "../config/config.ts";

const FORCED_EXIT_MS = 10_000;

export function print(text: string): void {
  process.stdout.write(text);
}

/** Prints the message to standard error and makes the process exit with 1. */
export function reportFailure(message: string): undefined {
  process.stderr.write(`${message}\n`);
  process.exitCode = 1;
}

/** @throws ConfigError unless `text` is a whole number from 0 to `max` */
export function parseWholeNumber(name: string, text: string, max: number): number {
  const value = Number(text);
  if (!/^\d+$/.test(text) || value > max) throw new ConfigError([`${name} ${text}: give a whole number up to ${max}`]);
  return value;
}

/** The first SIGTERM or SIGINT calls `close`, which has 10 s to finish. The second signal exits immediately. */
export function onSignal(close: (signal: "SIGTERM" | "SIGINT") => Promise<void>): void {
  let isStopping = false;
  for (const signal of ["SIGTERM", "SIGINT"] as const) {
    process.on(signal, () => {
      if (isStopping) process.exit(1);
      isStopping = true;
      setTimeout(() => process.exit(1), FORCED_EXIT_MS).unref();
      close(signal).catch((error: unknown) => reportFailure(String(error)));
    });
  }
}

/** Whether `parseArgs` threw this error for an unknown or incomplete option. */
export function isArgumentError(error: unknown): error is Error {
  return error instanceof TypeError && "code" in error && String(error.code).startsWith("ERR_PARSE_ARGS");
}
