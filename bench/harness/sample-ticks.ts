import type { Tick } from "../../src/storage/index.ts";

const MARKET_COUNT = 500;

/**
 * Returns a deterministic tick, different for every number. Consecutive numbers rotate over 500 markets; each market
 * has one tick per millisecond from `fromMs`.
 */
export function sampleTick(number: number, fromMs: number): Tick {
  const price = 0.2 + ((number * 7919) % 600) / 1_000;
  const at = fromMs + Math.floor(number / MARKET_COUNT);
  return {
    marketKey: (number % MARKET_COUNT) + 1,
    eventAt: at,
    receivedAt: at,
    bid: price - 0.01,
    ask: price + 0.01,
    lastPrice: price,
    yesPrice: price,
    volumeUsd: number,
  };
}
