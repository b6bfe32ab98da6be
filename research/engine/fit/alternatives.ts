/** Alternatives to the shipped calibration, fitted and tested in the same way. */
import { toLogOdds } from "../../../src/engine/log-odds.ts";
import { DAY_MS } from "../../../src/lib/durations.ts";
import { squaredError } from "../../../src/quant/calibration.ts";
import { clusteredRatio, type Interval } from "../../../src/quant/clustered-ratio.ts";
import type { Sample } from "../samples.ts";
import { type Split, splitByGroup, splitByTime } from "./folds.ts";
import { type Example, fitRidge, predict, RIDGE } from "./ridge.ts";

interface Row extends Example {
  readonly group: string;
  readonly asOf: number;
  readonly resolvedAt: number;
  readonly market: number;
}

export interface Alternative {
  readonly name: string;
  /** Weights fitted to all rows; empty if there are more than two. */
  readonly weights: readonly number[];
  /** Brier score minus that of the price, out of fold; below 0 is better. */
  readonly byGroup: Interval | null;
  readonly byTime: Interval | null;
}

type Features = (sample: Sample) => readonly number[];

export function tryAlternatives(samples: readonly Sample[]): Alternative[] {
  const venues = [...new Set(samples.map(({ venue }) => venue))];
  const categories = [...new Set(samples.map(categoryOf))];
  const alternatives: readonly (readonly [string, Features])[] = [
    ["Platt: a + b L", (sample) => [1, logOddsOf(sample)]],
    ["separate Platt for money, play money and forecasts", byKind],
    ["slope by venue", (sample) => venues.map((venue) => (venue === sample.venue ? logOddsOf(sample) : 0))],
    ["slope by category", (sample) => categories.map((name) => (name === categoryOf(sample) ? logOddsOf(sample) : 0))],
    ["slope that grows with the time left, up to 30 days", (sample) => [logOddsOf(sample) * timeLeft(sample, 30)]],
    ...[1.5, 2, 2.5].map(
      (from) => [`tails beyond ${from}, money, growing with the time left`, gatedTail(from, "money")] as const,
    ),
    ["tails beyond 2, all kinds, growing with the time left", gatedTail(2, null)],
    ["tails beyond 2, money, at any time", (sample) => [sample.kind === "money" ? tailOf(sample, 2) : 0]],
  ];
  return alternatives.map(([name, features]) => test(name, samples, features, RIDGE));
}

/** The shipped calibration with other penalties. */
export function tryPenalties(samples: readonly Sample[]): Alternative[] {
  return [1, 2, 3, 5, 10, 30].map((ridge) => test(`penalty ${ridge}`, samples, gatedTail(2, "money"), ridge));
}

function test(name: string, samples: readonly Sample[], features: Features, ridge: number): Alternative {
  const rows = samples.map((sample) => toRow(sample, features(sample)));
  const weights = fitRidge(rows, ridge);
  return {
    name,
    weights: weights.length > 2 ? [] : weights,
    byGroup: testOn(splitByGroup(rows), ridge),
    byTime: testOn(splitByTime(rows), ridge),
  };
}

const logOddsOf = ({ market }: Sample): number => toLogOdds(market);
const categoryOf = ({ history }: Sample): string => history.row.category ?? "none";
const byKind: Features = (sample) =>
  ["money", "play_money", "forecast"].flatMap((kind) => (kind === sample.kind ? [1, logOddsOf(sample)] : [0, 0]));
const gatedTail =
  (from: number, kind: string | null): Features =>
  (sample) => [kind === null || kind === sample.kind ? tailOf(sample, from) * timeLeft(sample, 7) : 0];

function tailOf(sample: Sample, from: number): number {
  const logOdds = logOddsOf(sample);
  return Math.min(3, Math.max(0, Math.abs(logOdds) - from)) * Math.sign(logOdds);
}

/** Time to the close divided by `days`, limited to [0, 1]; 0 if the close is unknown. */
function timeLeft({ view: { asOf, closeAt } }: Sample, days: number): number {
  return closeAt === null ? 0 : Math.max(0, Math.min(1, (closeAt - asOf) / (days * DAY_MS)));
}

const toRow = (sample: Sample, features: readonly number[]): Row => ({
  features,
  offset: logOddsOf(sample),
  outcome: sample.outcome,
  group: sample.group,
  asOf: sample.view.asOf,
  resolvedAt: sample.history.resolvedAt,
  market: sample.market,
});

function testOn(splits: readonly Split<Row>[], ridge: number): Interval | null {
  return clusteredRatio(
    splits.flatMap(({ train, test }) => {
      const weights = fitRidge(train, ridge);
      return test.map((row) => ({
        group: row.group,
        numerator: squaredError(predict(row, weights), row.outcome) - squaredError(row.market, row.outcome),
        denominator: 1,
      }));
    }),
  );
}
