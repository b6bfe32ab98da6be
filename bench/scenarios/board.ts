import { runProgram } from "../harness/program.ts";
import { createBenchRow, type Scenario } from "../harness/scenario.ts";

const MARKET_COUNT = 300_000;
const MARKET_COUNT_QUICK = 5_000;
const REQUEST_ROUNDS = 300;
const REQUEST_ROUNDS_QUICK = 20;

interface BoardResult {
  readonly markets: number;
  readonly restore_s: number;
  readonly ready_s: number;
  readonly rss_end_mb: number;
  readonly p99_ms: number;
}

export const boardScenario: Scenario = {
  name: "board",
  describe: "Start with 300,000 stored markets, then lists and searches during 2,000 changes/s.",
  async run(options) {
    const [marketCount, defaultRounds] = options.quick
      ? [MARKET_COUNT_QUICK, REQUEST_ROUNDS_QUICK]
      : [MARKET_COUNT, REQUEST_ROUNDS];
    const args = ["--markets", String(marketCount), "--rounds", String(options.rounds ?? defaultRounds)];
    options.print("filling the store takes a few minutes");
    const result = await runProgram<BoardResult>("board.ts", args);
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
