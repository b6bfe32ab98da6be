import type { Tick } from "../../src/storage/index.ts";

const MARKETS = 500;

/**
 * The tick of a number: always the same, and no two alike. 500 markets in turn, each moving once a millisecond of the
 * simulated time that begins at `fromMs`.
 */
export function sampleTick(number: number, fromMs: number): Tick {
  const price = 0.2 + ((number * 7919) % 600) / 1_000;
  const at = fromMs + Math.floor(number / MARKETS);
  return {
    marketKey: (number % MARKETS) + 1,
    eventAt: at,
    receivedAt: at,
    bid: price - 0.01,
    ask: price + 0.01,
    lastPrice: price,
    yesPrice: price,
    volumeUsd: number,
  };
}
