import type { BenchOptions } from "./scenario.ts";

/** Returns the arguments of a program that sends requests to a board of 300,000 markets, or of 5,000 in a short run. */
export function boardArguments({ quick, rounds }: BenchOptions): string[] {
  const [marketCount, defaultRounds] = quick ? [5_000, 20] : [300_000, 300];
  return ["--markets", String(marketCount), "--rounds", String(rounds ?? defaultRounds)];
}
