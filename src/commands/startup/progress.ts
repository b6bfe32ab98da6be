import type { VenueStatusReport } from "../../ingest/index.ts";
import type { Clock } from "../../ports/clock.ts";

/** Time after which the line of a step is printed again. */
const PROGRESS_INTERVAL_MS = 2_000;

/** Begins a step of the start. @param describe returns the progress of the step; empty if it is unknown */
export type BeginStep = (step: string, describe?: () => string) => void;

/** Prints the steps of the start: each one when it begins, and again every two seconds while it lasts. */
export function createStartupProgress(options: {
  readonly clock: Pick<Clock, "monotonic" | "setTimeout">;
  readonly print: (text: string) => void;
}): { readonly begin: BeginStep; end(): void } {
  const { clock, print } = options;
  let cancel = () => {};
  return {
    begin(step, describe = () => "") {
      cancel();
      const startedAt = clock.monotonic();
      const repeat = () => {
        const seconds = Math.round((clock.monotonic() - startedAt) / 1_000);
        const done = describe();
        print(`  ${step} … ${seconds} s${done === "" ? "" : ` (${done})`}\n`);
        cancel = clock.setTimeout(repeat, PROGRESS_INTERVAL_MS);
      };
      print(`  ${step} …\n`);
      cancel = clock.setTimeout(repeat, PROGRESS_INTERVAL_MS);
    },
    end: () => cancel(),
  };
}

/** Formats how many rows of each venue's listing the first sweep has read. */
export function describeFirstSweeps(
  venues: Readonly<Record<string, Pick<VenueStatusReport, "markets" | "sweep">>>,
): string {
  return Object.entries(venues)
    .map(([venue, { markets, sweep }]) => {
      const { rows, total, completed } = sweep;
      if (completed > 0) return `${venue} ${markets} markets`;
      return total === null ? `${venue} ${rows} rows` : `${venue} ${rows} of ${total} rows`;
    })
    .join(", ");
}
