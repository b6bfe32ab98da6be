/** Polymarket's REST paths and market channel over recorded rows. */
import { conditionOf, historyPointsOf, tokenOf } from "../expected/polymarket-data.ts";
import { type JsonObject, listOf, numberOf, objectOf } from "../json.ts";
import { type LoopbackReply, NOT_FOUND, type Respond } from "./loopback.ts";

/** Rows per page; smaller than the venue's, so that recordings have several pages. */
const PAGE_ROWS_MAX = 20;

export interface PolymarketWorld {
  /** Open events with their markets, as the event listing contains them. */
  readonly events?: readonly JsonObject[];
  /** Whether `GET /events/{id}` knows the events. False if only short events are recorded. */
  readonly areEventsComplete?: boolean;
  readonly markets?: readonly JsonObject[];
  readonly resolutions?: readonly JsonObject[];
  /** Books by token. */
  readonly books?: ReadonlyMap<string, JsonObject>;
  /** History responses by token. */
  readonly histories?: ReadonlyMap<string, unknown>;
  /** Trades of the first or second version of the tape. The other version is missing. */
  readonly trades?: { readonly version: 1 | 2; readonly rows: readonly JsonObject[] };
}

export function polymarketRespond(world: PolymarketWorld): Respond {
  return (service, { path, query }) => {
    if (service === "gamma") return respondGamma(world, path, query);
    if (service === "clob") return respondClob(world, path, query);
    return service === "data" ? respondData(world, path, query) : null;
  };
}

function respondGamma(world: PolymarketWorld, path: string, query: URLSearchParams): LoopbackReply | null {
  const { events = [], markets = [], areEventsComplete = false } = world;
  // The listing parameters of the older paths are refused.
  if (query.has("offset") || query.has("cursor")) return { status: 422, json: { error: "invalid parameter" } };
  if (path === "/events/keyset") return page("events", events, query);
  if (path === "/markets/keyset") {
    const ids = new Set(query.getAll("id"));
    const isClosed = query.get("closed") === "true";
    const isWanted = (row: JsonObject) => ids.has(String(row.id)) && (row.closed === true) === isClosed;
    return page("markets", markets.filter(isWanted), query);
  }
  const [, kind, id] = /^\/(markets|events)\/([^/]+)$/.exec(path) ?? [];
  if (kind === undefined) return null;
  const rows = kind === "markets" ? markets : areEventsComplete ? events : [];
  const found = rows.find((row) => String(row.id) === id);
  return found === undefined ? NOT_FOUND : { json: found };
}

function page(field: string, rows: readonly JsonObject[], query: URLSearchParams): LoopbackReply {
  const start = Number(query.get("after_cursor") ?? 0);
  const limit = Math.min(PAGE_ROWS_MAX, numberOf(query.get("limit")) ?? PAGE_ROWS_MAX);
  const end = start + limit;
  // A listing of single ids has one page.
  const isWhole = query.has("id");
  const next = !isWhole && end < rows.length ? { next_cursor: String(end) } : {};
  return { json: { [field]: isWhole ? rows : rows.slice(start, end), ...next } };
}

function respondClob(world: PolymarketWorld, path: string, query: URLSearchParams): LoopbackReply | null {
  if (path === "/book") {
    const book = world.books?.get(query.get("token_id") ?? "");
    return book === undefined
      ? { status: 404, json: { error: "No orderbook exists for the requested token id" } }
      : { json: book };
  }
  if (path !== "/prices-history") return null;
  const recorded = world.histories?.get(query.get("market") ?? "");
  const [start, end] = [Number(query.get("startTs") ?? 0), Number(query.get("endTs") ?? Number.MAX_SAFE_INTEGER)];
  const isInWindow = (point: JsonObject) => {
    const at = numberOf(point.t) ?? 0;
    return at >= start && at <= end;
  };
  return { json: { history: historyPointsOf(recorded).filter(isInWindow) } };
}

function respondData(world: PolymarketWorld, path: string, query: URLSearchParams): LoopbackReply | null {
  if (path === "/v2/resolutions") {
    const conditions = new Set(query.getAll("condition").flatMap((value) => value.split(",")));
    const rows = (world.resolutions ?? []).filter((row) => conditions.has(String(row.condition_id)));
    return { json: { data: rows } };
  }
  const { version, rows = [] } = world.trades ?? { version: null };
  const ofCondition = (name: string) =>
    rows.filter((row) => conditionOf(row) === null || conditionOf(row) === query.get(name));
  if (path === "/v2/trades") {
    if (version === 1) return NOT_FOUND;
    const start = Number(query.get("cursor") ?? 0);
    const end = start + (numberOf(query.get("limit")) ?? 100);
    const all = ofCondition("condition");
    const next = end < all.length ? String(end) : null;
    return { json: { data: all.slice(start, end), pagination: { has_more: next !== null, next_cursor: next } } };
  }
  return path === "/trades" ? { json: version === 2 ? [] : ofCondition("market") } : null;
}

/** Builds the event listing's rows from market rows, each of which contains its event without the markets. */
export function eventsAround(
  markets: readonly JsonObject[],
  shortEventOf: (row: JsonObject) => JsonObject | null,
): JsonObject[] {
  const marketsByEvent = new Map<string, JsonObject[]>();
  const events = new Map<string, JsonObject>();
  for (const market of markets) {
    const event = shortEventOf(market);
    if (event === null) continue;
    const id = String(event.id);
    events.set(id, event);
    marketsByEvent.set(id, [...(marketsByEvent.get(id) ?? []), market]);
  }
  return [...events].map(([id, event]) => ({ ...event, markets: marketsByEvent.get(id) ?? [] }));
}

/** The server side of the market channel: counts subscriptions. */
export class PolymarketSocket {
  #subscriptions = 0;

  get subscriptions(): number {
    return this.#subscriptions;
  }

  readonly onText = (text: string, reply: (text: string) => void): void => {
    if (text === "PING") {
      reply("PONG");
      return;
    }
    const message = objectOf(JSON.parse(text));
    const isSubscription = message.type === "market" || message.operation === "subscribe";
    if (isSubscription && listOf(message.assets_ids).length > 0) this.#subscriptions += 1;
  };
}

export function tradeVersionOf(rows: readonly JsonObject[]): 1 | 2 {
  return rows.some((row) => "asset" in row && tokenOf(row) !== null) ? 1 : 2;
}
