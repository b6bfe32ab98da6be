import type { HistoryPoint } from "../../src/domain/trade.ts";
import type { Candle, Tick } from "../../src/storage/index.ts";

/** Returns a tick with bid 0.40, ask 0.42 and equal venue and receive times. `parts` overrides fields. */
export function sampleTick(marketKey: number, at: number, parts: Partial<Tick> = {}): Tick {
  return {
    marketKey,
    eventAt: at,
    receivedAt: at,
    bid: 0.4,
    ask: 0.42,
    lastPrice: 0.41,
    yesPrice: 0.41,
    volumeUsd: 100,
    ...parts,
  };
}

/** Returns a point of a stored history whose open, high and low equal its close. `parts` overrides fields. */
export function sampleCandle(startAt: number, endAt: number, close: number, parts: Partial<Candle> = {}): Candle {
  const prices = { yesPrice: close, open: close, high: close, low: close };
  return { startAt, endAt, ...prices, bid: null, ask: null, volumeUsd: null, ...parts };
}

/** Returns a history point without quote and volume. `parts` overrides fields. */
export function samplePoint(
  startAt: number,
  endAt: number,
  yesPrice: number | null,
  parts: Partial<HistoryPoint> = {},
): HistoryPoint {
  return { startAt, endAt, yesPrice, bid: null, ask: null, volumeUsd: null, ...parts };
}
