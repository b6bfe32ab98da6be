import { seededUniform } from "./seeded-uniform.ts";

/** Squared errors of one estimate. */
export interface SquaredErrors {
  /** Errors of one group are not independent. */
  readonly group: number;
  readonly ours: number;
  readonly price: number;
}

export interface Skill {
  readonly groups: number;
  /** 1 - sum of our squared errors / sum of the price's. */
  readonly skill: number;
  /** 95% interval: percentile bootstrap over groups. */
  readonly ci: readonly [low: number, high: number];
}

const RESAMPLES = 1_000;

/** Skill against the price, with an interval from resampled groups. */
export function skillInterval(errors: readonly SquaredErrors[], seed: number): Skill {
  const sums = new Map<number, { ours: number; price: number }>();
  for (const { group, ours, price } of errors) {
    const sum = sums.get(group) ?? { ours: 0, price: 0 };
    sums.set(group, { ours: sum.ours + ours, price: sum.price + price });
  }
  const groups = [...sums.values()];
  const skillOf = (sample: readonly { readonly ours: number; readonly price: number }[]) =>
    1 - sample.reduce((sum, { ours }) => sum + ours, 0) / sample.reduce((sum, { price }) => sum + price, 0);
  const uniform = seededUniform(seed);
  const resampled = Array.from({ length: RESAMPLES }, () =>
    skillOf(groups.map(() => groups[Math.floor(uniform() * groups.length)] ?? { ours: 0, price: 0 })),
  ).sort((a, b) => a - b);
  const quantile = (share: number) => resampled[Math.floor(share * (RESAMPLES - 1))] ?? Number.NaN;
  return { groups: groups.length, skill: skillOf(groups), ci: [quantile(0.025), quantile(0.975)] };
}
