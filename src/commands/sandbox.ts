import { once } from "node:events";
import { createInterface } from "node:readline";
import { type SandboxOptions, startSandbox } from "../../sandbox/main.ts";
import { systemClock } from "../adapters/system/system-clock.ts";
import type { Config } from "../config/config.ts";
import { ignoreSignals, onSignal, parseWholeNumber, print } from "./terminal.ts";
import { SANDBOX_PORT } from "./usage.ts";

/** Largest timestamp that a `Date` can hold, in Unix milliseconds. */
const GENESIS_MAX = 8.64e15;
const FIRST_PORT_MAX = 65_500;

/**
 * Runs the simulated venues and prints their base URLs as one JSON line.
 *
 * @param options.isChild  the service started this process and sends the start of the simulated world over standard
 *   input
 */
export async function runSandbox(
  config: Config,
  options: { readonly port?: string; readonly genesis?: string; readonly isChild: boolean },
): Promise<void> {
  const { isChild } = options;
  if (isChild) ignoreSignals();
  const genesis = isChild
    ? await readGenesisFromParent()
    : parseWholeNumber("--genesis", options.genesis ?? String(systemClock.now()), GENESIS_MAX);
  const defaultPort = config.sandbox.port || (isChild ? 0 : SANDBOX_PORT);
  const firstPort = parseWholeNumber("--port", options.port ?? String(defaultPort), FIRST_PORT_MAX);
  const sandbox = await startSandbox({ ...createSandboxOptions(config, genesis), firstPort });
  print(`${JSON.stringify(sandbox.urls)}\n`);
  if (isChild) return;
  onSignal(async () => {
    await sandbox.close();
    process.exit(0);
  });
}

/** @param genesis  start of the simulated world in Unix milliseconds */
export function createSandboxOptions({ sandbox }: Config, genesis: number): SandboxOptions {
  return {
    host: "127.0.0.1",
    firstPort: sandbox.port,
    seed: sandbox.seed,
    speed: sandbox.speed,
    marketCount: sandbox.markets,
    enforceLimits: sandbox.limits,
    faults: sandbox.faults,
    recording: sandbox.recording === null ? null : { file: sandbox.recording, pastShare: sandbox.recordingPastShare },
    genesis,
    now: () => systemClock.now(),
  };
}

/** Reads one line. This process exits with its parent: the pipe closes when the parent exits or crashes. */
async function readGenesisFromParent(): Promise<number> {
  const lines = createInterface({ input: process.stdin });
  lines.on("close", () => process.exit(0));
  const [line] = await once(lines, "line");
  return parseWholeNumber("genesis", String(line), GENESIS_MAX);
}
