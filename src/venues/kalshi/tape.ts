import type { Trade } from "../../domain/trade.ts";
import type { KalshiPorts } from "./client.ts";
import { expectShape, type KalshiClient } from "./client.ts";
import { parseTime } from "./parse-scalars.ts";
import { parseTrade } from "./parse-tape.ts";
import { isCutoff, isTrade, isTradesPage } from "./wire.ts";

const TRADES_PER_PAGE = 1_000;
const PAGES_MAX = 50;
/** The cutoff between the tiers moves by hours, not by seconds. */
const CUTOFF_KEPT_MS = 10 * 60_000;

/** Reads the trades of a market across the live and the historical tier. */
export class TapeReader {
  readonly #client: KalshiClient;
  readonly #ports: Pick<KalshiPorts, "clock" | "drop" | "detectors">;
  #cutoff: { readonly tradesAt: number; readonly readAt: number } | null = null;

  constructor(client: KalshiClient, ports: Pick<KalshiPorts, "clock" | "drop" | "detectors">) {
    this.#client = client;
    this.#ports = ports;
  }

  /** Trades at or after `sinceMs`, newest first, at most `limit`. */
  async list(ticker: string, sinceMs: number, limit: number, signal: AbortSignal): Promise<readonly Trade[]> {
    const found = new Map<string, Trade>();
    await this.#collect("/markets/trades", ticker, sinceMs, limit, found, signal);
    // Only who reaches back past the live tier pays for asking where it ends.
    if (found.size < limit && sinceMs < (await this.#tradesCutoff(signal))) {
      await this.#collect("/historical/trades", ticker, sinceMs, limit, found, signal);
    }
    return [...found.values()].sort((a, b) => b.executedAt - a.executedAt).slice(0, limit);
  }

  /** Adds the trades of one tier, newest first, until there are `limit`. The venue counts in whole seconds. */
  async #collect(
    path: string,
    ticker: string,
    sinceMs: number,
    limit: number,
    found: Map<string, Trade>,
    signal: AbortSignal,
  ): Promise<void> {
    const query = { ticker, limit: Math.min(TRADES_PER_PAGE, limit), min_ts: Math.max(0, Math.floor(sinceMs / 1_000)) };
    const shape = {
      path,
      query,
      isEnvelope: isTradesPage,
      pagesMax: Math.min(PAGES_MAX, Math.ceil(limit / query.limit) + 1),
    };
    for await (const { rows } of this.#client.pages(
      { ...shape, rowsOf: ({ trades }) => trades, idField: "trade_id" },
      signal,
    )) {
      for (const row of rows) {
        if (!this.#ports.detectors.trade.check(row, isTrade)) {
          this.#ports.drop("bad_trade");
          continue;
        }
        const trade = parseTrade(row, this.#ports.drop);
        if (trade !== null && trade.executedAt >= sinceMs) found.set(trade.tradeId, trade);
      }
      if (found.size >= limit) return;
    }
  }

  async #tradesCutoff(signal: AbortSignal): Promise<number> {
    const now = this.#ports.clock.now();
    if (this.#cutoff === null || now - this.#cutoff.readAt > CUTOFF_KEPT_MS) {
      const path = "/historical/cutoff";
      const { json } = await this.#client.get(path, {}, signal);
      const tradesAt = parseTime(expectShape(json, isCutoff, path).trades_created_ts);
      this.#cutoff = { tradesAt: tradesAt ?? Number.NEGATIVE_INFINITY, readAt: now };
    }
    return this.#cutoff.tradesAt;
  }
}
