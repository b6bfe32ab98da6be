import { VenueError } from "../../domain/errors.ts";
import type { MarketListing } from "../../domain/market.ts";
import type { Trade } from "../../domain/trade.ts";
import { walkPages } from "../shared/page-walk.ts";
import { urlOf } from "./client.ts";
import type { PolymarketContext } from "./context.ts";
import { parseTape } from "./parse-trades.ts";
import { isTradesPageV2 } from "./wire.ts";

const PAGE_V2_MAX = 1_000;
const PAGES_V2_MAX = 20;
const ROWS_V1_MAX = 10_000;
/** After the newer tape refused us, the older one is asked for this long before trying again. */
const V1_FOR_MS = 10 * 60_000;
/** The newer tape is not there, not open to us or does not take our question. */
const REFUSALS: ReadonlySet<number | null> = new Set([400, 401, 403, 404, 405, 410, 422, 501]);

export interface TapeReader {
  listTrades(listing: MarketListing, sinceMs: number, limit: number, signal: AbortSignal): Promise<readonly Trade[]>;
}

/** Takers' legs only: with the makers' every match would count twice. */
export function createTapeReader({ ports, urls, clients }: PolymarketContext): TapeReader {
  let v1Until = Number.NEGATIVE_INFINITY;

  const readV2 = async (
    conditionId: string,
    sinceSeconds: number,
    limit: number,
    signal: AbortSignal,
  ): Promise<unknown[]> => {
    const rows: unknown[] = [];
    const walk = walkPages({
      fetch: async (cursor) => {
        const url = urlOf(urls.dataUrl, "/v2/trades", {
          condition: conditionId,
          taker_only: true,
          limit: Math.min(PAGE_V2_MAX, limit - rows.length),
          ...(cursor === null ? {} : { cursor }),
        });
        const { json } = await clients.data.fetchJson(url, { signal });
        if (!ports.detectors.page.check(json, isTradesPageV2))
          throw new VenueError("bad_body", "the tape is not of the known shape", { retryable: false });
        return json;
      },
      nextOf: ({ pagination }) => pagination?.next_cursor || null,
      // Rows have no id, and equal ones are separate trades.
      idsOf: () => [],
      rowsOf: ({ data }) => data.length,
      pagesMax: PAGES_V2_MAX,
      drop: ports.drop,
    });
    for await (const { page } of walk) {
      rows.push(...page.data);
      if (rows.length >= limit || isBefore(page.data.at(-1), sinceSeconds)) break;
    }
    return rows;
  };

  const readV1 = async (conditionId: string, limit: number, signal: AbortSignal): Promise<readonly unknown[]> => {
    const url = urlOf(urls.dataUrl, "/trades", {
      market: conditionId,
      takerOnly: true,
      limit: Math.min(ROWS_V1_MAX, limit),
    });
    const { json } = await clients.data.fetchJson(url, { signal });
    if (!Array.isArray(json))
      throw new VenueError("bad_body", "the tape is not of the known shape", { retryable: false });
    return json;
  };

  const read = async (
    conditionId: string,
    sinceSeconds: number,
    limit: number,
    signal: AbortSignal,
  ): Promise<readonly unknown[]> => {
    if (ports.clock.monotonic() >= v1Until) {
      try {
        return await readV2(conditionId, sinceSeconds, limit, signal);
      } catch (error) {
        if (!(error instanceof VenueError) || !REFUSALS.has(error.status)) throw error;
        v1Until = ports.clock.monotonic() + V1_FOR_MS;
        ports.log.warn({ status: error.status }, "the newer trade tape refused; reading the older one for a while");
      }
    }
    return readV1(conditionId, limit, signal);
  };

  return {
    async listTrades(listing, sinceMs, limit, signal) {
      const { conditionId, tokenYes, tokenNo } = listing.venueKeys;
      if (conditionId === undefined || tokenYes === undefined || tokenNo === undefined || limit < 1) return [];
      // The tape has whole seconds: a trade of the same second may have come after `sinceMs`.
      const sinceSeconds = Math.floor(sinceMs / 1000);
      const trades = parseTape(await read(conditionId, sinceSeconds, limit, signal), { tokenYes, tokenNo }, ports);
      const wanted = trades.filter((trade) => trade.executedAt >= sinceSeconds * 1000);
      return wanted.sort((a, b) => b.executedAt - a.executedAt).slice(0, limit);
    },
  };
}

function isBefore(row: unknown, seconds: number): boolean {
  return (
    typeof row === "object" &&
    row !== null &&
    "timestamp" in row &&
    typeof row.timestamp === "number" &&
    row.timestamp < seconds
  );
}
