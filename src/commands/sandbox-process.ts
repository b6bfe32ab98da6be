import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { lowerProcessPriority } from "../adapters/system/process-priority.ts";
import { systemClock } from "../adapters/system/system-clock.ts";
import type { Log } from "../ports/log.ts";
import { StartupError } from "./startup-errors.ts";

/** On a machine with few cores the service has priority over the simulated venues. */
const SANDBOX_NICENESS = 10;

/** Maximum number of markets of a world whose process has a small heap. */
const SMALL_WORLD_MARKETS_MAX = 1_000;
/**
 * A small world has 25 MB of live objects; with V8's default growth its heap takes five times as much. While the world
 * is created, V8 observes that its objects live long. It would then allocate those of every response among the old
 * objects: 220 responses with 30 days of hourly prices needed 31 collections of the whole heap and 4.3 s of CPU time,
 * instead of 3 collections and 1.6 s.
 */
const SMALL_WORLD_HEAP_OPTIONS = [
  "--max-semi-space-size=4",
  "--heap-growing-percent=40",
  "--no-allocation-site-pretenuring",
];
/**
 * Young generation of a large world. A listing page allocates about 10 MB that is garbage after the response; with V8's
 * default size, copying it costs a fifth of the CPU time.
 */
const LARGE_WORLD_HEAP_OPTIONS = ["--max-semi-space-size=128", "--semi-space-growth-factor=4"];

/** Base URLs by venue and service. */
export type SandboxUrls = Readonly<Record<string, Readonly<Record<string, string>>>>;

export interface SandboxProcess {
  /**
   * Sends the start of the simulated world (Unix milliseconds) and waits until the venues listen.
   *
   * @throws StartupError if they do not listen within the timeout
   */
  begin(genesis: number): Promise<SandboxUrls>;
  close(): Promise<void>;
}

/** Options of V8 for the process that simulates a world with this many markets. */
export const selectHeapOptions = (markets: number): readonly string[] =>
  markets <= SMALL_WORLD_MARKETS_MAX ? SMALL_WORLD_HEAP_OPTIONS : LARGE_WORLD_HEAP_OPTIONS;

/**
 * Starts the simulated venues in a child process on free ports. The child exits when this process exits.
 *
 * @param options.markets  number of markets of the world; it sets the size of the heap
 */
export function spawnSandbox(
  log: Log,
  { timeoutMs, markets }: { readonly timeoutMs: number; readonly markets: number },
): SandboxProcess {
  const program = new URL("../../bin/parallax.mjs", import.meta.url).pathname;
  const child = spawn(process.execPath, [...selectHeapOptions(markets), program, "sandbox", "--with-parent"], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  if (child.pid !== undefined) lowerProcessPriority(child.pid, SANDBOX_NICENESS);
  const urls = readFirstLine(child);
  // `begin` reports a failure. Until then it must not be an unhandled rejection.
  urls.catch(() => {});
  let isClosing = false;
  child.on("exit", (code) => {
    if (!isClosing) log.error({ code }, "simulated venues exited; the API serves their last prices as stale");
  });
  return {
    async begin(genesis) {
      child.stdin?.write(`${genesis}\n`);
      // The timeout does not start at the spawn, because the venues wait for this line while the store opens.
      const timer = new AbortController();
      const timeout = systemClock.sleep(timeoutMs, timer.signal).then(
        () =>
          Promise.reject(new StartupError("The simulated venues did not start in time. Is the machine out of memory?")),
        () => "",
      );
      return JSON.parse(await Promise.race([urls, timeout]).finally(() => timer.abort()));
    },
    async close() {
      isClosing = true;
      const exited = new Promise((resolve) => child.once("exit", resolve));
      child.stdin?.end();
      if (child.exitCode === null && child.signalCode === null) await exited;
    },
  };
}

function readFirstLine(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    const { stdout } = child;
    if (stdout === null) return reject(new StartupError("The simulated venues have no standard output."));
    child.once("exit", (code) => reject(new StartupError(`The simulated venues exited with code ${code}.`)));
    createInterface({ input: stdout }).once("line", (line) => {
      stdout.resume();
      resolve(line);
    });
  });
}
