/** Limitless' REST paths over recorded rows. */
import { isGroup, limitlessTimeOf } from "../expected/limitless-markets.ts";
import { collect, isObject, type JsonObject, listOf } from "../json.ts";
import { type LoopbackReply, type LoopbackRequest, NOT_FOUND, type Respond } from "./loopback.ts";

const LIST_ROWS_MAX = 25;
const TRADE_ROWS_MAX = 100;
const HOUR_MS = 3_600_000;
/** Length of the window that a value of `interval` selects. */
const WINDOWS_MS: Readonly<Record<string, number>> = {
  "1h": HOUR_MS,
  "6h": 6 * HOUR_MS,
  "1d": 24 * HOUR_MS,
  "1w": 7 * 24 * HOUR_MS,
  "1m": 30 * 24 * HOUR_MS,
  all: Number.POSITIVE_INFINITY,
};

export interface LimitlessWorld {
  readonly now: number;
  /** Rows of the listing: markets and groups. */
  readonly rows?: readonly JsonObject[];
  /** Responses by slug. */
  readonly books?: ReadonlyMap<string, unknown>;
  readonly histories?: ReadonlyMap<string, unknown>;
  /** Trades by slug or address. */
  readonly trades?: ReadonlyMap<string, readonly JsonObject[]>;
}

const BAD_REQUEST: LoopbackReply = { status: 400, json: { message: "Bad Request" } };

export function limitlessRespond(world: LimitlessWorld): Respond {
  const { rows = [] } = world;
  const active = rows.filter((row) => row.status !== "RESOLVED");
  const children = rows.flatMap((row) => listOf(row.markets).filter(isObject));
  const findRow = (id: string) =>
    [...rows, ...children].find((row) => row.slug === id || String(row.address).toLowerCase() === id.toLowerCase());
  return (_service, { path, query }: LoopbackRequest) => {
    if (path === "/markets/active") return listPage(active, query);
    if (path === "/markets/active/slugs") return { json: active.map(slugRow) };
    const [, id = "", detail = ""] =
      /^\/markets\/([^/]+)(?:\/(orderbook|events|get-feed-events|historical-price))?$/.exec(path) ?? [];
    if (id === "") return null;
    if (detail === "") return ok(findRow(id));
    if (detail === "orderbook") return ok(world.books?.get(id));
    if (detail === "historical-price") return history(world, id, query);
    return tradePage(world.trades?.get(id) ?? world.trades?.get(id.toLowerCase()) ?? [], detail, query);
  };
}

function ok(json: unknown): LoopbackReply {
  return json === undefined ? NOT_FOUND : { json };
}

function listPage(rows: readonly JsonObject[], query: URLSearchParams): LoopbackReply {
  const limit = Number(query.get("limit") ?? 10);
  if (limit > LIST_ROWS_MAX) return BAD_REQUEST;
  const start = (Number(query.get("page") ?? 1) - 1) * limit;
  return { json: { data: rows.slice(start, start + limit), totalMarketsCount: rows.length } };
}

function slugRow(row: JsonObject): JsonObject {
  const children = listOf(row.markets).filter(isObject);
  return { slug: row.slug, ...(isGroup(row) ? { markets: children.map(({ slug }) => ({ slug })) } : {}) };
}

/** Points of the window that ends now. `interval` is the length of the window, not the distance of the points. */
function history(world: LimitlessWorld, id: string, query: URLSearchParams): LoopbackReply {
  const body = world.histories?.get(id);
  if (body === undefined) return NOT_FOUND;
  const windowMs = WINDOWS_MS[query.get("interval") ?? "1d"];
  if (windowMs === undefined) return BAD_REQUEST;
  const from = Math.max(world.now - windowMs, Date.parse(query.get("from") ?? "") || Number.NEGATIVE_INFINITY);
  const to = Date.parse(query.get("to") ?? "") || Number.POSITIVE_INFINITY;
  const isInWindow = (point: unknown) => {
    const at = isObject(point) ? limitlessTimeOf(point.timestamp) : null;
    return at !== null && at >= from && at <= to;
  };
  return { json: filterPoints(body, isInWindow) };
}

/** Copies a response of any of the documented shapes and keeps only some of its points. */
function filterPoints(body: unknown, isKept: (point: unknown) => boolean): unknown {
  if (Array.isArray(body)) {
    const arePoints = body.length > 0 && body.every((item) => isObject(item) && "timestamp" in item);
    return arePoints ? body.filter(isKept) : body.map((item) => filterPoints(item, isKept));
  }
  if (!isObject(body)) return body;
  return Object.fromEntries(Object.entries(body).map(([key, value]) => [key, filterPoints(value, isKept)]));
}

function tradePage(rows: readonly JsonObject[], detail: string, query: URLSearchParams): LoopbackReply {
  const limit = Math.min(TRADE_ROWS_MAX, Number(query.get("limit") ?? 30));
  const number = Number(query.get("page") ?? 1);
  const page = rows.slice((number - 1) * limit, number * limit);
  if (detail === "get-feed-events") return { json: { data: page } };
  const totalPages = Math.ceil(rows.length / limit);
  return { json: { events: page, page: number, limit, totalPages, totalRows: rows.length } };
}

/** Finds the tokens of a market in recorded rows; null if no row has them. */
export function tokensOfSlug(payloads: readonly unknown[], slug: string): { yes: string; no: string } | null {
  const rows = payloads.flatMap((payload) => collect(payload, (row) => row.slug === slug && isObject(row.tokens)));
  const tokens = rows[0]?.tokens;
  return isObject(tokens) && typeof tokens.yes === "string" && typeof tokens.no === "string"
    ? { yes: tokens.yes, no: tokens.no }
    : null;
}
