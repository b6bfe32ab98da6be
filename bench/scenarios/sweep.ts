import { runProgram } from "../harness/program.ts";
import { createBenchRow, type Scenario } from "../harness/scenario.ts";

const MARKET_COUNT = 300_000;
const MARKET_COUNT_QUICK = 2_000;

interface SweepResult {
  readonly markets: number;
  readonly marketsPerSecond: number;
  readonly venues: readonly {
    readonly venue: string;
    readonly markets: number;
    readonly seconds: number;
    readonly traffic: { readonly requests: number; readonly receivedBytes: number; readonly decodedBytes: number };
  }[];
  readonly cpuSeconds: { readonly service: number; readonly sandbox: number };
  readonly rssMib: { readonly serviceLater: number };
}

export const sweepScenario: Scenario = {
  name: "sweep",
  describe:
    "The first sweep of 300,000 simulated markets through the real adapters, without rate limits in the adapters and in the simulated venues.",
  async run(options) {
    options.print("the sweep takes a few minutes");
    const marketCount = options.quick ? MARKET_COUNT_QUICK : MARKET_COUNT;
    const { markets, ...result } = await runProgram<SweepResult>("sweep.ts", ["--markets", String(marketCount)]);
    return [
      createBenchRow({
        figure: "first sweep",
        unit: "markets/s",
        samples: [result.marketsPerSecond],
        target: { of: "median", bound: "at_least", value: 5_000 },
        note: result.venues.map((venue) => `${venue.venue} ${Math.round(venue.markets / venue.seconds)}`).join(", "),
      }),
      createBenchRow({
        figure: "bytes received by the first sweep",
        unit: "bytes/market",
        samples: [result.venues.reduce((sum, { traffic }) => sum + traffic.receivedBytes, 0) / markets],
        note: `decoded ${Math.round(result.venues.reduce((sum, { traffic }) => sum + traffic.decodedBytes, 0) / markets)}`,
      }),
      createBenchRow({
        figure: "CPU time, service with its store",
        unit: "µs/market",
        samples: [(result.cpuSeconds.service / markets) * 1e6],
      }),
      createBenchRow({
        figure: "CPU time, simulated venues",
        unit: "µs/market",
        samples: [(result.cpuSeconds.sandbox / markets) * 1e6],
      }),
      createBenchRow({
        figure: `service with ${markets} markets`,
        unit: "MiB resident",
        samples: [result.rssMib.serviceLater],
        target: { of: "median", bound: "at_most", value: 2_048 },
      }),
    ];
  },
};
