import type { Trade } from "../../domain/trade.ts";
import { expectShape, type KalshiClient, type KalshiPorts } from "./client.ts";
import { parseTrade } from "./parse-trades.ts";
import { parseTime } from "./parse-values.ts";
import { isCutoff, isTrade, isTradesPage } from "./wire.ts";

const TRADES_PER_PAGE = 1_000;
const PAGES_MAX = 50;
/** How long the cutoff time between the live and the historical tier is cached. Kalshi moves it by hours. */
const CUTOFF_CACHE_MS = 10 * 60_000;

/** Reads the trades of a market from the live and the historical tier. */
export class TradeReader {
  readonly #client: KalshiClient;
  readonly #ports: Pick<KalshiPorts, "clock" | "countDrop" | "driftDetectors">;
  #cutoff: { readonly tradesAt: number; readonly readAt: number } | null = null;

  constructor(client: KalshiClient, ports: Pick<KalshiPorts, "clock" | "countDrop" | "driftDetectors">) {
    this.#client = client;
    this.#ports = ports;
  }

  /** Returns trades at or after `sinceMs`, newest first, at most `limit`. */
  async listTrades(ticker: string, sinceMs: number, limit: number, signal: AbortSignal): Promise<readonly Trade[]> {
    const tradesById = new Map<string, Trade>();
    await this.#collect("/markets/trades", ticker, sinceMs, limit, tradesById, signal);
    // The cutoff costs a request, so it is read only if the live tier may not hold all the trades.
    if (tradesById.size < limit && sinceMs < (await this.#tradesCutoff(signal))) {
      await this.#collect("/historical/trades", ticker, sinceMs, limit, tradesById, signal);
    }
    return [...tradesById.values()].sort((a, b) => b.executedAt - a.executedAt).slice(0, limit);
  }

  /**
   * Adds the trades of one tier to `tradesById`, newest first, until it has `limit` trades. The venue filters by whole
   * seconds.
   */
  async #collect(
    path: string,
    ticker: string,
    sinceMs: number,
    limit: number,
    tradesById: Map<string, Trade>,
    signal: AbortSignal,
  ): Promise<void> {
    const query = { ticker, limit: Math.min(TRADES_PER_PAGE, limit), min_ts: Math.max(0, Math.floor(sinceMs / 1_000)) };
    const pages = this.#client.pages(
      {
        path,
        query,
        isEnvelope: isTradesPage,
        rowsOf: ({ trades }) => trades,
        idField: "trade_id",
        pagesMax: Math.min(PAGES_MAX, Math.ceil(limit / query.limit) + 1),
      },
      signal,
    );
    for await (const { rows } of pages) {
      for (const row of rows) {
        if (!this.#ports.driftDetectors.trade.check(row, isTrade)) {
          this.#ports.countDrop("bad_trade");
          continue;
        }
        const trade = parseTrade(row, this.#ports.countDrop);
        if (trade !== null && trade.executedAt >= sinceMs) tradesById.set(trade.tradeId, trade);
      }
      if (tradesById.size >= limit) return;
    }
  }

  /** Returns the time (Unix milliseconds) before which trades are only in the historical tier. */
  async #tradesCutoff(signal: AbortSignal): Promise<number> {
    const now = this.#ports.clock.now();
    if (this.#cutoff === null || now - this.#cutoff.readAt > CUTOFF_CACHE_MS) {
      const path = "/historical/cutoff";
      const { json } = await this.#client.get(path, {}, signal);
      const tradesAt = parseTime(expectShape(json, isCutoff, path).trades_created_ts);
      this.#cutoff = { tradesAt: tradesAt ?? Number.NEGATIVE_INFINITY, readAt: now };
    }
    return this.#cutoff.tradesAt;
  }
}
