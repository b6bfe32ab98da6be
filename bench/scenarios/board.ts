import { runProgram } from "../harness/program.ts";
import { type BenchOptions, createBenchRow, type Scenario } from "../harness/scenario.ts";

interface BoardResult {
  readonly markets: number;
  readonly restore_s: number;
  readonly ready_s: number;
  readonly rss_end_mb: number;
  readonly p99_ms: number;
}

/** Returns the arguments of a program that sends requests to a board of 300,000 markets, or of 5,000 in a short run. */
export function boardArguments({ quick, rounds }: BenchOptions): string[] {
  const [marketCount, defaultRounds] = quick ? [5_000, 20] : [300_000, 300];
  return ["--markets", String(marketCount), "--rounds", String(rounds ?? defaultRounds)];
}

export const boardScenario: Scenario = {
  name: "board",
  describe: "Start with 300,000 stored markets, then lists and searches during 2,000 changes/s.",
  async run(options) {
    options.print("filling the store takes a few minutes");
    const result = await runProgram<BoardResult>("board.ts", boardArguments(options));
    return [
      createBenchRow({
        figure: `start with ${result.markets} markets`,
        unit: "s until ready",
        samples: [result.ready_s],
        target: { of: "median", bound: "at_most", value: 15 },
        note: `${result.restore_s} s of this after the store was opened`,
      }),
      createBenchRow({
        figure: "lists and searches, p99",
        unit: "ms",
        samples: [result.p99_ms],
        target: { of: "median", bound: "at_most", value: 20 },
      }),
      createBenchRow({
        figure: "service",
        unit: "MB resident",
        samples: [result.rss_end_mb],
        target: { of: "median", bound: "at_most", value: 2_048 },
      }),
    ];
  },
};
