import { systemClock } from "../adapters/system/system-clock.ts";
import { ConfigError } from "../config/config-error.ts";

const FORCED_EXIT_MS = 10_000;
/**
 * Ctrl-C in a terminal can cause several signals: the terminal sends one to every process of the group, and npm
 * forwards its own. Further signals within this time are therefore ignored.
 */
const REPEATED_SIGNAL_MS_MAX = 2_000;

export function print(text: string): void {
  process.stdout.write(text);
}

/**
 * Prints text for people: to standard error if standard output is not a terminal and holds only the JSON lines of the
 * log.
 */
export function printForPeople(text: string): void {
  (process.stdout.isTTY ? process.stdout : process.stderr).write(text);
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

type StopSignal = "SIGTERM" | "SIGINT";

/** Replaced in tests. */
const realEnvironment = {
  on: (signal: StopSignal, listener: () => void): unknown => process.on(signal, listener),
  exit: (code: number): void => process.exit(code),
  monotonic: systemClock.monotonic,
};

/**
 * The first SIGTERM or SIGINT calls `close`, which has 10 s to finish. Further signals are ignored for 2 s. After that,
 * a signal exits immediately.
 */
export function onSignal(
  close: (signal: StopSignal) => Promise<void>,
  { on, exit, monotonic } = realEnvironment,
): void {
  let stoppingAt: number | null = null;
  for (const signal of ["SIGTERM", "SIGINT"] as const) {
    on(signal, () => {
      if (stoppingAt !== null) {
        if (monotonic() - stoppingAt > REPEATED_SIGNAL_MS_MAX) exit(1);
        return;
      }
      stoppingAt = monotonic();
      setTimeout(() => exit(1), FORCED_EXIT_MS).unref();
      close(signal).catch((error: unknown) => reportFailure(String(error)));
    });
  }
}

/** For a child process that ends with its parent: the parent receives the same signals and closes the child itself. */
export function ignoreSignals(): void {
  for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, () => {});
}

/** Whether `parseArgs` threw this error for an unknown or incomplete option. */
export function isArgumentError(error: unknown): error is Error {
  return error instanceof TypeError && "code" in error && String(error.code).startsWith("ERR_PARSE_ARGS");
}
