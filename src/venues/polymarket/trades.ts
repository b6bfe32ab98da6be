import { VenueError } from "../../domain/errors.ts";
import type { MarketListing } from "../../domain/market.ts";
import { parseDecimal } from "../../domain/price.ts";
import type { Trade } from "../../domain/trade.ts";
import { isObject } from "../../lib/is-object.ts";
import { walkPages } from "../shared/page-walk.ts";
import { badBody, dataConditionId, type PolymarketContext, urlOf } from "./client.ts";
import { parseTrades } from "./parse-trades.ts";
import { isTradesPageV2 } from "./wire.ts";

const PAGE_V2_MAX = 1_000;
const PAGES_V2_MAX = 20;
const ROWS_V1_MAX = 10_000;
/** How long the v1 endpoint is used after the v2 endpoint refuses a request. */
const V1_FOR_MS = 10 * 60_000;
/** Statuses that mean that the v2 endpoint is missing, not accessible or does not accept the query. */
const REFUSAL_STATUSES: ReadonlySet<number | null> = new Set([400, 401, 403, 404, 405, 410, 422, 501]);

/** Reads trades by their takers only: with the makers every match would count twice. */
export class TradeReader {
  readonly #context: PolymarketContext;
  #useV1Until = Number.NEGATIVE_INFINITY;

  constructor(context: PolymarketContext) {
    this.#context = context;
  }

  /** Returns trades newest first, at most `limit`, including all trades in the second of `sinceMs`. */
  async listTrades(
    listing: MarketListing,
    sinceMs: number,
    limit: number,
    signal: AbortSignal,
  ): Promise<readonly Trade[]> {
    const { tokenYes, tokenNo } = listing.venueKeys;
    const conditionId = dataConditionId(listing.venueKeys.conditionId ?? "");
    if (conditionId === null || tokenYes === undefined || tokenNo === undefined || limit < 1) return [];
    // Times are in whole seconds, so a trade in this second may be later than `sinceMs`.
    const sinceSeconds = Math.floor(sinceMs / 1000);
    const rows = await this.#fetchRows(conditionId, sinceSeconds, limit, signal);
    return parseTrades(rows, { tokenYes, tokenNo }, this.#context.ports)
      .filter((trade) => trade.executedAt >= sinceSeconds * 1000)
      .sort((a, b) => b.executedAt - a.executedAt)
      .slice(0, limit);
  }

  async #fetchRows(
    conditionId: string,
    sinceSeconds: number,
    limit: number,
    signal: AbortSignal,
  ): Promise<readonly unknown[]> {
    const { clock, log } = this.#context.ports;
    if (clock.monotonic() >= this.#useV1Until) {
      try {
        return await this.#fetchV2(conditionId, sinceSeconds, limit, signal);
      } catch (error) {
        if (!(error instanceof VenueError) || !REFUSAL_STATUSES.has(error.status)) throw error;
        this.#useV1Until = clock.monotonic() + V1_FOR_MS;
        log.warn({ status: error.status }, "the v2 trades endpoint refused a request; using v1 for ten minutes");
      }
    }
    return this.#fetchV1(conditionId, limit, signal);
  }

  async #fetchV2(
    conditionId: string,
    sinceSeconds: number,
    limit: number,
    signal: AbortSignal,
  ): Promise<readonly unknown[]> {
    const { ports, urls, clients } = this.#context;
    const rows: unknown[] = [];
    const walk = walkPages({
      fetch: async (cursor) => {
        const url = urlOf(urls.dataUrl, "/v2/trades", {
          condition: conditionId,
          taker_only: true,
          limit: Math.min(PAGE_V2_MAX, limit - rows.length),
          cursor,
        });
        const { json } = await clients.data.fetchJson(url, { signal });
        if (!ports.driftDetectors.page.check(json, isTradesPageV2))
          throw badBody("the trade list has an unknown shape");
        return { rows: json.data, next: json.pagination?.next_cursor || null };
      },
      nextOf: ({ next }) => next,
      // Rows have no id, and equal rows are separate trades.
      idField: null,
      pagesMax: PAGES_V2_MAX,
      countDrop: ports.countDrop,
    });
    for await (const { page } of walk) {
      rows.push(...page.rows);
      if (rows.length >= limit || isBefore(page.rows.at(-1), sinceSeconds)) break;
    }
    return rows;
  }

  async #fetchV1(conditionId: string, limit: number, signal: AbortSignal): Promise<readonly unknown[]> {
    const { urls, clients } = this.#context;
    const query = { market: conditionId, takerOnly: true, limit: Math.min(ROWS_V1_MAX, limit) };
    const { json } = await clients.data.fetchJson(urlOf(urls.dataUrl, "/trades", query), { signal });
    if (!Array.isArray(json)) throw badBody("the trade list has an unknown shape");
    return json;
  }
}

function isBefore(row: unknown, seconds: number): boolean {
  if (!isObject(row)) return false;
  const timestamp = parseDecimal(row.timestamp);
  return timestamp !== null && timestamp < seconds;
}
