/** `npm run evaluate:sandbox`: scores the engine on simulated worlds, whose true probabilities are known. */
import { createWorld } from "../../sandbox/world/index.ts";
import { groundTruthOf } from "../../sandbox/world/list-event.ts";
import { trueProbability } from "../../sandbox/world/truth.ts";
import { ENGINE_COEFFICIENTS, type EngineCoefficients, estimate } from "../../src/engine/index.ts";
import { DAY_MS } from "../../src/lib/durations.ts";
import { clusteredRatio } from "../../src/quant/clustered-ratio.ts";
import { parseCount, runCommand, stringOption } from "../run-command.ts";
import { viewOpenMarkets } from "./world-views.ts";

const USAGE = `Usage: npm run evaluate:sandbox -- [--seeds LIST] [--markets N] [--instants N] [--only FACTOR]

Compares the engine's probability and the price with the true probability of simulated markets. Skill is 1 minus the ratio
of their mean squared errors: above 0, the engine is better than the price. The 95% interval is bootstrapped over events. The
last line of the output is one JSON object.
  --seeds     seeds of the worlds: numbers and ranges, such as 1,5,101-110 (default 101-110)
  --markets   markets per world (default 400)
  --instants  times per world, within the 28 days before its start (default 10)
  --only      sets the weights of all other factors to 0
`;
const COUNT_MAX = 99_999;
const GENESIS = Date.UTC(2026, 9, 1);

interface Options {
  readonly seeds: readonly number[];
  readonly markets: number;
  readonly instants: number;
  readonly coefficients: EngineCoefficients;
}

await runCommand(
  {
    usage: USAGE,
    options: {
      seeds: stringOption("101-110"),
      markets: stringOption("400"),
      instants: stringOption("10"),
      only: { type: "string" },
    },
  },
  ({ seeds, markets, instants, only }) =>
    evaluate({
      seeds: parseSeeds(seeds),
      markets: parseCount("--markets", markets, COUNT_MAX),
      instants: parseCount("--instants", instants, COUNT_MAX),
      coefficients: selectFactor(only),
    }),
);

function evaluate({ seeds, markets, instants, coefficients }: Options): void {
  const results = seeds.map((seed) => {
    const world = createWorld({ seed, genesis: GENESIS, speed: 1, marketCount: markets });
    const errors = Array.from({ length: instants }, (_, index) => GENESIS - ((index + 0.5) * 28 * DAY_MS) / instants)
      .flatMap((asOf) => viewOpenMarkets(world, asOf))
      .flatMap(({ market, view }) => {
        const result = estimate(view, coefficients);
        const { process: outcome, criterion } = groundTruthOf(market);
        if (result === null) return [];
        const truth = trueProbability(outcome, criterion, view.asOf);
        return [
          {
            group: `${market.event.underlying}`,
            numerator: (result.probability - truth) ** 2,
            denominator: (result.marketPrice - truth) ** 2,
          },
        ];
      });
    const ratio = clusteredRatio(errors);
    if (ratio === null) throw new Error(`seed ${seed}: there is no estimate`);
    const groups = new Set(errors.map(({ group }) => group)).size;
    const summary = { seed, n: errors.length, groups, skill: 1 - ratio.value, ci: [1 - ratio.high, 1 - ratio.low] };
    process.stdout.write(
      `seed ${seed}: ${summary.n} estimates of ${groups} events, skill ${percent(summary.skill)} [${percent(1 - ratio.high)}, ${percent(1 - ratio.low)}]\n`,
    );
    return summary;
  });
  process.stdout.write(`${JSON.stringify({ seeds: results })}\n`);
}

const percent = (share: number): string => `${(100 * share).toFixed(1)}%`;

function parseSeeds(list: string): number[] {
  return list.split(",").flatMap((part) => {
    const [, from, to = from] = /^([0-9]{1,6})(?:-([0-9]{1,6}))?$/.exec(part) ?? [];
    if (from === undefined || Number(to) < Number(from) || Number(to) - Number(from) > 999)
      throw new Error(`--seeds must be numbers and ranges such as 1,5,101-110, not "${list}"`);
    return Array.from({ length: Number(to) - Number(from) + 1 }, (_, index) => Number(from) + index);
  });
}

function selectFactor(only: string | undefined): EngineCoefficients {
  if (only === undefined) return ENGINE_COEFFICIENTS;
  if (!Object.hasOwn(ENGINE_COEFFICIENTS.weights, only)) throw new Error(`there is no factor "${only}"`);
  const weights = Object.entries(ENGINE_COEFFICIENTS.weights).map(([name, weight]) => [
    name,
    name === only ? weight : 0,
  ]);
  return { ...ENGINE_COEFFICIENTS, weights: Object.fromEntries(weights) };
}
