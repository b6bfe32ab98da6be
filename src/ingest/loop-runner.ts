import { VenueError } from "../domain/errors.ts";
import type { VenueContext } from "./context.ts";

const ERROR_PAUSE_MS_MIN = 1_000;
const ERROR_PAUSE_MS_MAX = 30_000;
const DOUBLINGS_MAX = 5;
/** Number of consecutive failures that are all logged. Of further failures, every `LOGGED_FAILURE_STEP`th is logged. */
const LOGGED_FAILURES_MAX = 3;
const LOGGED_FAILURE_STEP = 20;

/** Pause of a loop between two steps. `wake` can end the pause after `minMs`. */
export interface Pause {
  readonly minMs: number;
  readonly ms: number;
}

export interface Loop {
  readonly name: string;
  readonly pauseMs: number;
  readonly step: () => Promise<unknown>;
  /** Returns the shortest pause after the last step, whether it succeeded or failed; 0 by default. */
  readonly restMs?: () => number;
  /** Returns the pause after a successful step. By default: `pauseMs`, which `wake` cannot end. */
  readonly nextPause?: () => Pause;
}

export type LoopRunner = ReturnType<typeof createLoopRunner>;

/**
 * Runs the loops of one venue until its signal aborts. A failed step is counted and followed by a growing pause.
 *
 * @param onChange  called when a loop starts to fail or recovers
 */
export function createLoopRunner(context: VenueContext, onChange: (loop: string, hasRecovered: boolean) => void) {
  const { venue, health, log, clock, signal } = context;
  /** Controllers that end the pauses of loops, by the loop's name. */
  const pauses = new Map<string, AbortController>();
  /** Names of the loops whose last step failed. */
  const failing = new Set<string>();

  const report = (name: string, error: unknown, failures: number): void => {
    if (!(error instanceof VenueError)) {
      log.error({ venue: venue.id, loop: name, err: error }, "ingest step failed");
      return;
    }
    health.failed();
    health.drop(`failed_${error.failure}`);
    if (failures <= LOGGED_FAILURES_MAX || failures % LOGGED_FAILURE_STEP === 0)
      log.warn(
        { venue: venue.id, loop: name, failure: error.failure, reason: error.message },
        "request to the venue failed",
      );
  };

  const pause = async (name: string, { minMs, ms }: Pause): Promise<void> => {
    const wake = new AbortController();
    pauses.set(name, wake);
    await clock.sleep(Math.min(minMs, ms), signal).catch(() => {});
    if (ms <= minMs || signal.aborted) return;
    await clock.sleep(ms - minMs, AbortSignal.any([signal, wake.signal])).catch(() => {});
    pauses.delete(name);
  };

  return {
    isFailing: (name: string) => failing.has(name),
    wake: (name: string) => pauses.get(name)?.abort(),
    wakeFailing(): void {
      for (const name of failing) pauses.get(name)?.abort();
    },
    async run({ name, pauseMs, step, restMs = () => 0, nextPause }: Loop): Promise<void> {
      let failures = 0;
      while (!signal.aborted) {
        try {
          await step();
          if (failures > 0) onChange(name, true);
          failures = 0;
          failing.delete(name);
        } catch (error) {
          if (signal.aborted) return;
          failures += 1;
          failing.add(name);
          if (failures === 1) onChange(name, false);
          report(name, error, failures);
        }
        if (failures > 0) {
          const backoffMs = Math.min(
            ERROR_PAUSE_MS_MAX,
            ERROR_PAUSE_MS_MIN * 2 ** Math.min(failures - 1, DOUBLINGS_MAX),
          );
          const minMs = Math.max(ERROR_PAUSE_MS_MIN, restMs());
          await pause(name, { minMs, ms: Math.max(pauseMs, minMs, backoffMs) });
        } else await pause(name, nextPause?.() ?? { minMs: pauseMs, ms: pauseMs });
      }
    },
  };
}
