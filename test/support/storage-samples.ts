import type { HistoryPoint } from "../../src/domain/trade.ts";
import type { Tick } from "../../src/storage/index.ts";

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

/** Returns a history point without quote and volume. `parts` overrides fields. */
export function samplePoint(
  startAt: number,
  endAt: number,
  yesPrice: number | null,
  parts: Partial<HistoryPoint> = {},
): HistoryPoint {
  return { startAt, endAt, yesPrice, bid: null, ask: null, volumeUsd: null, ...parts };
}
