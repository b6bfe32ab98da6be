import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { lowerProcessPriority } from "../adapters/system/process-priority.ts";
import { systemClock } from "../adapters/system/system-clock.ts";
import type { Log } from "../ports/log.ts";
import { StartupError } from "./startup-errors.ts";

/** On a machine with few cores the service has priority over the simulated venues. */
const SANDBOX_NICENESS = 10;

/**
 * Young generation of the simulated venues' process. A listing page allocates about 10 MB that is garbage after the
 * response; with V8's default size, copying it costs a fifth of the CPU time.
 */
const SANDBOX_HEAP_OPTIONS = ["--max-semi-space-size=128", "--semi-space-growth-factor=4"];

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

/** Starts the simulated venues in a child process on free ports. The child exits when this process exits. */
export function spawnSandbox(log: Log, timeoutMs: number): SandboxProcess {
  const program = new URL("../../bin/parallax.mjs", import.meta.url).pathname;
  const child = spawn(process.execPath, [...SANDBOX_HEAP_OPTIONS, program, "sandbox", "--with-parent"], {
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
