/** Limitless' REST paths and Socket.IO namespace over recorded rows. */
import {
  collect,
  framesOf,
  isObject,
  type JsonObject,
  listOf,
  objectOf,
  spacingOf,
  splitByRepeatedId,
  textOf,
} from "../json.ts";
import type { Recording } from "../recording.ts";
import { NOT_FOUND, openTimes, type Replay, rangeOf, readFixture, UNKNOWN_PATH } from "../replay.ts";

const SPARE_TOKENS = { yes: "999000111", no: "999000222" };

const isRow = (row: JsonObject) =>
  typeof row.slug === "string" && (isObject(row.collateralToken) || "tradeType" in row);
const isPoint = (row: JsonObject) => "timestamp" in row && "price" in row;
const timeOf = (value: unknown) =>
  typeof value === "number" ? (value < 1e11 ? value * 1_000 : value) : Date.parse(String(value));

export function replayLimitless({ payload, capturedAt, kind }: Recording, payloads: readonly unknown[]): Replay[] {
  const sample = (slug: string, firstToken?: unknown) => {
    const isKnown = (row: JsonObject) => row.slug === slug && isObject(row.tokens);
    const [known] = payloads.flatMap((each) => collect(each, isKnown));
    const tokens = known?.tokens ?? { ...SPARE_TOKENS, yes: textOf(firstToken) ?? SPARE_TOKENS.yes };
    return sampleMarket(slug, { tokens }, capturedAt);
  };
  const sampleAmm = (address: string) =>
    sampleMarket(`amm-${address.toLowerCase()}`, { tradeType: "amm", address, tokens: null }, capturedAt);
  if (kind === "markets") {
    // A document on the venue quotes an open market without its status, and later values of the same market.
    const versions = collect(payload, isRow).flatMap(({ _later, ...row }): JsonObject[] => {
      const { resolved } = objectOf(_later);
      return [{ status: "FUNDED", ...row }, ...(isObject(resolved) ? [{ ...row, ...resolved }] : [])];
    });
    return splitByRepeatedId(versions, (row) => String(row.slug)).map((rows) => ({
      reply: replyOf(rows),
      ids: rows.flatMap((row) => (Array.isArray(row.markets) ? collect(row.markets, isRow) : [row]).map(idOf)),
    }));
  }
  if (kind === "stream") {
    const frames = framesOf(payload).map(({ frame, receivedAt }) => {
      const [event, body] = Array.isArray(frame) ? frame : [objectOf(frame).event, objectOf(frame).payload];
      const at = receivedAt ?? Math.max(capturedAt, timeOf(objectOf(body).timestamp) || 0);
      return { message: [String(event), body] as const, at };
    });
    const bodies = frames.map(({ message }) => objectOf(message[1]));
    const slugs = new Set(bodies.flatMap(({ marketSlug }) => textOf(marketSlug) ?? []));
    const prices = bodies.filter(({ updatedPrices }) => updatedPrices !== undefined);
    const addresses = new Set(prices.map(({ marketAddress }) => String(marketAddress)));
    const rows = [...[...slugs].map((slug) => sample(slug)), ...[...addresses].map(sampleAmm)];
    return [{ reply: replyOf(rows), ids: rows.map(idOf), frames }];
  }
  // A recorder may have stored the slug beside the response: `{slug, body}` or `{slug, book}`.
  const stored = objectOf(payload);
  const slug = textOf(stored.slug) ?? "recorded-market";
  const body = stored.body ?? stored.book ?? payload;
  if (kind === "book") {
    const row = sample(slug, objectOf(body).tokenId);
    return [{ reply: replyOf([row], body), ids: [slug], books: [{ id: slug }] }];
  }
  if (kind === "history") {
    const times = collect(body, isPoint).map(({ timestamp }) => timeOf(timestamp));
    const ranges = new Map([[slug, rangeOf(times, spacingOf(times))]]);
    return [{ reply: replyOf([sample(slug)], body), ids: [slug], ranges }];
  }
  const trades = collect(body, (row) => "matchedSize" in row);
  return [{ reply: replyOf([sample(slug, trades[0]?.tokenId)], trades), ids: [slug], hasTrades: true }];
}

/** A market of a market maker is identified by its address. */
const idOf = (row: JsonObject) => String(row.tradeType === "amm" ? row.address : row.slug);

/** @param body book, history or trades of the only market */
function replyOf(rows: readonly JsonObject[], body: unknown = NOT_FOUND): Replay["reply"] {
  const active = rows.filter(({ status }) => status !== "RESOLVED");
  const all = rows.flatMap((row) => [row, ...listOf(row.markets).filter(isObject)]);
  return ({ path, query }) => {
    const [, id = "", detail = ""] = /^\/markets\/([^/]+)(?:\/([^/]+))?$/.exec(path) ?? [];
    const isFirstPage = query.get("page") === "1";
    if (path === "/markets/active/slugs") {
      return active.map(({ slug, markets }) => ({
        slug,
        markets: collect(markets, isRow).map((row) => ({ slug: row.slug })),
      }));
    }
    if (path === "/markets/active") return { data: isFirstPage ? active : [], totalMarketsCount: active.length };
    if (detail === "orderbook") return body;
    if (detail === "historical-price") return pointsBetween(body, timeOf(query.get("from")), timeOf(query.get("to")));
    if (detail === "events") {
      const events = isFirstPage ? listOf(body) : [];
      return { events, page: 1, limit: 100, totalPages: 1, totalRows: listOf(body).length };
    }
    if (id === "" || detail !== "") return UNKNOWN_PATH;
    return all.find((row) => row.slug === id || idOf(row).toLowerCase() === id.toLowerCase()) ?? NOT_FOUND;
  };
}

/** Copies a response of any documented shape without its points outside of the range. */
function pointsBetween(body: unknown, from: number, to: number): unknown {
  const isKept = (item: unknown) =>
    !isObject(item) || !isPoint(item) || !(timeOf(item.timestamp) < from || timeOf(item.timestamp) > to);
  if (Array.isArray(body)) return body.filter(isKept).map((item) => pointsBetween(item, from, to));
  if (!isObject(body)) return body;
  return Object.fromEntries(Object.entries(body).map(([key, value]) => [key, pointsBetween(value, from, to)]));
}

function sampleMarket(slug: string, fields: JsonObject, now: number): JsonObject {
  const { openAt, closeAt } = openTimes(now);
  const fixture = readFixture("limitless/fixtures/market/no-orders-or-trades");
  return { ...fixture, slug, createdAt: openAt, expirationTimestamp: Date.parse(closeAt), ...fields };
}
