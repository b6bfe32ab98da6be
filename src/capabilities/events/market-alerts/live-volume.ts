import type { BoardMarket } from "../../../board/index.ts";
import { marketKeyOf } from "./recent-trades.ts";

/** Limit of markets, about 0.2 kB each; those whose last trade is the oldest are removed first. */
const MARKETS_MAX = 10_000;

interface TradedSince {
  /** The 24-hour volume that the venue published, USD; null if unknown. */
  readonly volume24hUsd: number | null;
  /** USD of the trades since it changed. */
  usd: number;
}

/** The 24-hour volume of markets between two publications of the venue, which can be half an hour apart. */
export class LiveVolume {
  /** By market, the oldest last trade first. */
  readonly #markets = new Map<string, TradedSince>();

  get size(): number {
    return this.#markets.size;
  }

  /** @param usd  amount of a new trade, or of the further fills of a known one, USD */
  add(market: BoardMarket, usd: number): void {
    const key = marketKeyOf(market);
    const { volume24hUsd } = market.activity;
    const known = this.#markets.get(key);
    const since = known?.volume24hUsd === volume24hUsd ? known : { volume24hUsd, usd: 0 };
    since.usd += usd;
    this.#markets.delete(key);
    this.#markets.set(key, since);
    for (const oldest of this.#markets.keys()) {
      if (this.#markets.size <= MARKETS_MAX) break;
      this.#markets.delete(oldest);
    }
  }

  /**
   * Returns the volume that the venue published last plus the trades since, without `usd` of them; null if unknown. It is
   * not below the published volume.
   */
  before(market: BoardMarket, usd: number): number | null {
    const { volume24hUsd } = market.activity;
    if (volume24hUsd === null) return null;
    const since = this.#markets.get(marketKeyOf(market));
    return volume24hUsd + (since?.volume24hUsd === volume24hUsd ? Math.max(0, since.usd - usd) : 0);
  }
}
