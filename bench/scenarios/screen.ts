import { runProgram } from "../harness/program.ts";
import { createBenchRow, type Scenario } from "../harness/scenario.ts";
import { boardArguments } from "./board.ts";

interface ScreenResult {
  readonly markets: number;
  readonly p99_ms: number;
  readonly compute_p99_ms: number;
}

export const screenScenario: Scenario = {
  name: "screen",
  describe: "Screens of 300,000 markets over HTTP during 2,000 changes/s.",
  async run(options) {
    const result = await runProgram<ScreenResult>("screen.ts", boardArguments(options));
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
