import { runProgram } from "../harness/program.ts";
import { createBenchRow, type Scenario } from "../harness/scenario.ts";

const MARKET_COUNT = 300_000;
const MARKET_COUNT_QUICK = 5_000;
const REQUEST_ROUNDS = 300;
const REQUEST_ROUNDS_QUICK = 20;

interface ScreenResult {
  readonly markets: number;
  readonly p99_ms: number;
  readonly compute_p99_ms: number;
}

export const screenScenario: Scenario = {
  name: "screen",
  describe: "Screens of 300,000 markets over HTTP during 2,000 changes/s.",
  async run(options) {
    const [marketCount, defaultRounds] = options.quick
      ? [MARKET_COUNT_QUICK, REQUEST_ROUNDS_QUICK]
      : [MARKET_COUNT, REQUEST_ROUNDS];
    const args = ["--markets", String(marketCount), "--rounds", String(options.rounds ?? defaultRounds)];
    const result = await runProgram<ScreenResult>("screen.ts", args);
    return [
      createBenchRow({
        figure: `screen of ${result.markets} markets, p99`,
        unit: "ms",
        samples: [result.p99_ms],
        target: { of: "median", bound: "at_most", value: 30 },
        note: `the event loop is occupied for ${result.compute_p99_ms} ms of this`,
      }),
    ];
  },
};
