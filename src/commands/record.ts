import { startSandbox } from "../../sandbox/main.ts";
import { createPinoLog } from "../adapters/system/pino-log.ts";
import { systemClock } from "../adapters/system/system-clock.ts";
import { hasAllVenueUrls, parseConfig } from "../config/config.ts";
import type { Environment } from "../config/settings-reader.ts";
import { type RecordingProgress, recordToFile } from "./record-to-file.ts";
import { createSandboxOptions } from "./sandbox.ts";
import { onSignal, parseWholeNumber, reportFailure } from "./terminal.ts";
import { RECORDING_MEGABYTES_MAX } from "./usage.ts";

/** Interval of progress lines if standard error is not a terminal. */
const PROGRESS_INTERVAL_MS = 5_000;

/**
 * Records the venues until the duration ends, the file reaches its size limit, or the process receives SIGINT or
 * SIGTERM.
 */
export async function runRecord(
  environment: Environment,
  options: Readonly<Partial<Record<"out" | "minutes" | "venues" | "max-megabytes", string>>>,
): Promise<void> {
  const { out, minutes, venues, "max-megabytes": megabytes } = options;
  if (out === undefined || out === "") return reportFailure("Give the output file: --out FILE. Try record --help.");
  const config = parseConfig(venues === undefined ? environment : { ...environment, PARALLAX_VENUES: venues });
  const durationMs = minutes === undefined ? null : 60_000 * parseWholeNumber("--minutes", minutes, 100_000);
  const bytesMax =
    1_000_000 * parseWholeNumber("--max-megabytes", megabytes ?? String(RECORDING_MEGABYTES_MAX), 1_000_000);
  const isSimulated = config.mode === "sandbox" && !hasAllVenueUrls(config);
  const sandbox = isSimulated ? await startSandbox(createSandboxOptions(config, systemClock.now())) : null;
  const stopController = new AbortController();
  onSignal(async () => stopController.abort());
  const isTerminal = process.stderr.isTTY;
  let lastProgressAt = Number.NEGATIVE_INFINITY;
  try {
    const result = await recordToFile({
      config,
      log: createPinoLog(config.logLevel),
      file: out,
      source: config.mode === "live" ? "live venues" : isSimulated ? "simulated venues" : "venues as configured",
      durationMs,
      bytesMax,
      urls: sandbox?.urls ?? {},
      signal: stopController.signal,
      onProgress(progress) {
        const now = systemClock.monotonic();
        if (!isTerminal && now - lastProgressAt < PROGRESS_INTERVAL_MS) return;
        lastProgressAt = now;
        process.stderr.write(isTerminal ? `\r${formatProgress(progress)}` : `${formatProgress(progress)}\n`);
      },
    });
    process.stderr.write(`${isTerminal ? "\r" : ""}${formatProgress(result)}\nWritten to ${out}.\n`);
  } finally {
    await sandbox?.close();
  }
  process.exit(process.exitCode ?? 0);
}

function formatProgress({ facts, discarded, bytes, drops }: RecordingProgress): string {
  const skipped = discarded === 0 ? "" : `, ${discarded} skipped because the disk was too slow`;
  return `${facts} records, ${(bytes / 1e6).toFixed(1)} MB before compression, ${drops} dropped by adapters${skipped}`;
}
