import { VenueError } from "../../domain/errors.ts";
import { parseDecimal } from "../../domain/price.ts";
import { isObject } from "../../lib/is-object.ts";
import type { VenueAdapter } from "../../ports/venue.ts";
import { walkPages } from "../shared/page-walk.ts";
import { createBadBodyError, type PolymarketContext, toDataApiConditionId } from "./client.ts";
import { parseTrades } from "./parse-trades.ts";
import { isTradesPageV2 } from "./wire.ts";

const PAGE_V2_MAX = 1_000;
/** Rows of the first page of a read since a time. Few markets have more trades between two reads of the service. */
const FIRST_PAGE_V2_MAX = 50;
const PAGES_V2_MAX = 20;
const ROWS_V1_MAX = 10_000;
/** Time for which the v1 endpoint is used after the v2 endpoint has rejected a request. */
const V1_FOR_MS = 10 * 60_000;
/** Statuses that mean that the v2 endpoint is missing, not accessible or does not accept the query. */
const REFUSAL_STATUSES: ReadonlySet<number | null> = new Set([400, 401, 403, 404, 405, 410, 422, 501]);

/** Selects the trades of one market since a time in whole seconds. */
interface TradeQuery {
  readonly conditionId: string;
  readonly sinceSeconds: number;
  readonly limit: number;
  readonly signal: AbortSignal;
}

/**
 * Returns a function that reads trades newest first, at most `limit`, including all trades in the second of `sinceMs`.
 * It requests only the takers' rows; with the makers' rows, every match would count twice.
 */
export function createTradeReader(context: PolymarketContext): VenueAdapter["listTrades"] {
  const { clock, log } = context;
  let useV1Until = Number.NEGATIVE_INFINITY;
  const fetchRows = async (query: TradeQuery): Promise<readonly unknown[]> => {
    if (clock.monotonic() >= useV1Until) {
      try {
        return await fetchV2(context, query);
      } catch (error) {
        if (!(error instanceof VenueError) || !REFUSAL_STATUSES.has(error.status)) throw error;
        useV1Until = clock.monotonic() + V1_FOR_MS;
        log.warn({ status: error.status }, "the v2 trades endpoint refused a request; using v1 for ten minutes");
      }
    }
    return fetchV1(context, query);
  };
  return async ({ venueKeys }, sinceMs, limit, signal) => {
    const { tokenYes, tokenNo } = venueKeys;
    const conditionId = toDataApiConditionId(venueKeys.conditionId ?? "");
    if (conditionId === null || tokenYes === undefined || tokenNo === undefined || limit < 1) return [];
    // Times are in whole seconds, so a trade in this second may be later than `sinceMs`.
    const sinceSeconds = Math.floor(sinceMs / 1000);
    const rows = await fetchRows({ conditionId, sinceSeconds, limit, signal });
    // Older rows are removed before they are parsed, because a poll reads mostly rows that earlier polls have read.
    const newRows = rows.filter((row) => !isBefore(row, sinceSeconds));
    return parseTrades(newRows, { tokenYes, tokenNo }, context)
      .sort((a, b) => b.executedAt - a.executedAt)
      .slice(0, limit);
  };
}

async function fetchV2(
  { data, driftDetectors, countDrop }: PolymarketContext,
  { conditionId, sinceSeconds, limit, signal }: TradeQuery,
): Promise<readonly unknown[]> {
  const rows: unknown[] = [];
  const walk = walkPages({
    fetch: async (cursor) => {
      const isShort = cursor === null && sinceSeconds > 0;
      const pageLimit = Math.min(isShort ? FIRST_PAGE_V2_MAX : PAGE_V2_MAX, limit - rows.length);
      const query = { condition: conditionId, taker_only: true, limit: pageLimit, cursor };
      const { json } = await data.fetchJson("/v2/trades", { query, signal });
      if (!driftDetectors.page.check(json, isTradesPageV2))
        throw createBadBodyError("the trade list has an unknown shape");
      return { rows: json.data, next: json.pagination?.next_cursor || null };
    },
    nextOf: ({ next }) => next,
    // Rows have no id, and equal rows are separate trades.
    idField: null,
    pagesMax: PAGES_V2_MAX,
    countDrop,
  });
  for await (const { page } of walk) {
    rows.push(...page.rows);
    if (rows.length >= limit || isBefore(page.rows.at(-1), sinceSeconds)) break;
  }
  return rows;
}

async function fetchV1(
  { data }: PolymarketContext,
  { conditionId, limit, signal }: TradeQuery,
): Promise<readonly unknown[]> {
  const query = { market: conditionId, takerOnly: true, limit: Math.min(ROWS_V1_MAX, limit) };
  const { json } = await data.fetchJson("/trades", { query, signal });
  if (!Array.isArray(json)) throw createBadBodyError("the trade list has an unknown shape");
  return json;
}

function isBefore(row: unknown, seconds: number): boolean {
  if (!isObject(row)) return false;
  const timestamp = parseDecimal(row.timestamp);
  return timestamp !== null && timestamp < seconds;
}
