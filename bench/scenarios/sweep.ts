import { resultOf } from "../harness/program.ts";
import { benchRow, type Scenario } from "../harness/scenario.ts";

const MARKET_COUNT = 300_000;
const MARKET_COUNT_QUICK = 2_000;

interface SweepResult {
  readonly markets: number;
  readonly marketsPerSecond: number;
  readonly venues: readonly { readonly venue: string; readonly markets: number; readonly seconds: number }[];
  readonly cpuSeconds: { readonly service: number; readonly sandbox: number };
  readonly rssMib: { readonly serviceLater: number };
}

export const sweepScenario: Scenario = {
  name: "sweep",
  describe:
    "The first sweep of 300,000 simulated markets through the real adapters, without rate limits on either side.",
  async run(options) {
    options.print("this takes a few minutes");
    const requested = options.quick ? MARKET_COUNT_QUICK : MARKET_COUNT;
    const { markets, ...result } = await resultOf<SweepResult>("sweep.ts", ["--markets", String(requested)]);
    return [
      benchRow({
        figure: "first sweep",
        unit: "markets/s",
        samples: [result.marketsPerSecond],
        target: { of: "median", bound: "at_least", value: 5_000 },
        note: result.venues.map((venue) => `${venue.venue} ${Math.round(venue.markets / venue.seconds)}`).join(", "),
      }),
      benchRow({
        figure: "CPU time, service with its store",
        unit: "µs/market",
        samples: [(result.cpuSeconds.service / markets) * 1e6],
      }),
      benchRow({
        figure: "CPU time, simulated venues",
        unit: "µs/market",
        samples: [(result.cpuSeconds.sandbox / markets) * 1e6],
      }),
      benchRow({
        figure: `service with ${markets} markets`,
        unit: "MiB resident",
        samples: [result.rssMib.serviceLater],
        target: { of: "median", bound: "at_most", value: 2_048 },
      }),
    ];
  },
};
