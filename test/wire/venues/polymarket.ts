/** Polymarket's REST paths and market channel over recorded rows. */
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
import { type Frame, NOT_FOUND, openTimes, type Replay, rangeOf, readFixture, UNKNOWN_PATH } from "../replay.ts";

/** Tokens that no recording names. */
const SPARE_TOKEN = "999000111";
const FIRST_SAMPLE_ID = 9_000_000;
/** "0x" and 32 bytes. */
const CONDITION_CHARS = 66;
/** The final prices do not decide the outcome, so that only the stream's winning token or the oracle's feed can. */
const CLOSED = { closed: true, acceptingOrders: false, outcomePrices: '["0.97", "0.03"]' };

interface World {
  readonly markets: readonly JsonObject[];
  readonly events?: readonly JsonObject[];
  readonly resolutions?: readonly JsonObject[];
  /** Book by token. */
  readonly books?: ReadonlyMap<string, JsonObject>;
  readonly history?: readonly JsonObject[];
  readonly trades?: readonly JsonObject[];
}

const isEvent = (row: JsonObject) => Array.isArray(row.markets) && row.question === undefined;
const isMarket = (row: JsonObject) => typeof row.question === "string" && typeof row.conditionId === "string";
const isResolution = (row: JsonObject) => typeof row.condition_id === "string" && typeof row.status === "string";
/** Part of a market row in the venue's documentation. */
const isExcerpt = (row: JsonObject) => Array.isArray(row.positionIds) && row.question === undefined;
/** Row of `/clob-markets`, which lists the token of YES first. */
const isClobMarket = (row: JsonObject) => typeof row.c === "string" && Array.isArray(row.t);
const isBook = (row: JsonObject) => Array.isArray(row.bids) && typeof row.asset_id === "string";
const tokenOf = (row: JsonObject) => textOf(row.token_id) ?? textOf(row.asset);
const conditionOf = (row: JsonObject) => textOf(row.condition_id) ?? textOf(row.conditionId);

export function replayPolymarket(
  { payload, capturedAt, kind, query }: Recording,
  payloads: readonly unknown[],
): Replay[] {
  const clobMarkets = payloads.flatMap((each) => collect(each, isClobMarket));
  const sample = (index: number, conditionId: string, yes: string, no = `${SPARE_TOKEN}${index}`) => {
    const known = clobMarkets.find(({ c }) => c === conditionId);
    const tokens = known === undefined ? [yes, no] : listOf(known.t).map((token) => String(objectOf(token).t));
    const row = sampleMarket(String(FIRST_SAMPLE_ID + index), conditionId, tokens, capturedAt);
    return known?.v === "v2" ? toSecondProtocol(row) : row;
  };
  const idsOf = (rows: readonly JsonObject[]) => rows.map(({ id }) => String(id));
  if (kind === "markets") {
    // The venue's documentation has a placeholder instead of the id.
    const events = collect(payload, isEvent).map((row) =>
      /^\d+$/.test(String(row.id)) ? row : { ...row, id: String(FIRST_SAMPLE_ID) },
    );
    const excerpts = collect(payload, isExcerpt).map((row, index): JsonObject => {
      return { id: String(FIRST_SAMPLE_ID + index), question: "Question?", conditionId: "0x1", ...row };
    });
    const resolutions = payloads.flatMap((each) => collect(each, isResolution));
    return splitByRepeatedId([...collect(payload, isMarket), ...excerpts], (row) => String(row.id)).map((rows) => ({
      reply: replyOf({
        // Market endpoints return market rows with their event; event endpoints return the reverse.
        markets: events.length > 0 ? events.flatMap(marketsWithEvent) : rows,
        events: (events.length > 0 ? events : eventsAround(rows)).filter(({ closed }) => closed !== true),
        resolutions,
      }),
      ids: idsOf(rows),
    }));
  }
  if (kind === "resolutions") {
    const resolutions = collect(payload, isResolution);
    const markets = resolutions.map((row, index) => {
      const [id, tokens] = [String(FIRST_SAMPLE_ID + index), [`${SPARE_TOKEN}${index}`, String(index + 1)]];
      const market = { ...sampleMarket(id, String(row.condition_id), tokens, capturedAt), ...CLOSED };
      // Only rows of the second protocol state a type.
      return "market_type" in row ? toSecondProtocol(market) : market;
    });
    return [{ reply: replyOf({ markets, resolutions }), ids: idsOf(markets) }];
  }
  if (kind === "book") {
    const recorded = collect(payload, isBook);
    const markets = recorded.map((book, index) => sample(index, String(book.market), String(book.asset_id)));
    const books = new Map(recorded.map((book) => [String(book.asset_id), book]));
    const steps = idsOf(markets).map((id) => ({ id }));
    return [{ reply: replyOf({ markets, books }), ids: idsOf(markets), books: steps }];
  }
  if (kind === "history") {
    const history = collect(payload, (row) => "t" in row && "p" in row);
    const times = history.map(({ t }) => Number(t) * 1_000);
    const minutes = Number(query.get("fidelity") ?? Number.NaN);
    const range = rangeOf(times, Number.isNaN(minutes) ? spacingOf(times) : minutes * 60_000, true);
    const [id = ""] = idsOf([sample(0, "0x1", "1")]);
    return [
      { reply: replyOf({ markets: [sample(0, "0x1", "1")], history }), ids: [id], ranges: new Map([[id, range]]) },
    ];
  }
  if (kind === "trades") {
    const trades = collect(payload, (row) => tokenOf(row) !== null && "price" in row);
    const conditions = [...new Set(trades.map((row) => conditionOf(row) ?? ""))];
    const markets = conditions.map((condition, index) => {
      const own = trades.filter((row) => conditionOf(row) === condition);
      const tokenAt = (outcome: number) => own.find((row) => Number(row.outcome_index ?? row.outcomeIndex) === outcome);
      const [yes, no] = [tokenOf(tokenAt(0) ?? {}), tokenOf(tokenAt(1) ?? {})];
      return sample(index, condition, yes ?? `${SPARE_TOKEN}y`, no ?? undefined);
    });
    return [{ reply: replyOf({ markets, trades }), ids: idsOf(markets), hasTrades: true }];
  }
  return [replayStream(payload, capturedAt, sample)];
}

type Sample = (index: number, conditionId: string, yes: string, no?: string) => JsonObject;

function replayStream(payload: unknown, capturedAt: number, sample: Sample): Replay {
  const recorded = framesOf(payload);
  const messages = recorded.flatMap(({ frame }) => messagesOf(frame));
  const conditions = [...new Set(messages.flatMap((message) => textOf(message.market) ?? []))];
  const markets = conditions.map((condition, index) => {
    const own = messages.filter(({ market }) => market === condition);
    // Frames do not say which token is YES: the first of `assets_ids`, else that of the first book, else the first one.
    const listed = own.flatMap(({ assets_ids }) => listOf(assets_ids).map(String));
    const book = own.find(({ event_type }) => event_type === "book");
    const tokens = [...listed, ...[book, ...own].flatMap((message) => tokensOf(objectOf(message)))];
    const [yes = "1", no] = new Set(tokens);
    const stated = own.map(({ id }) => String(id)).find((id) => /^[1-9]\d{0,18}$/.test(id));
    return { ...sample(index, condition, yes, no), ...(stated === undefined ? {} : { id: stated }) };
  });
  const frames = recorded.map(({ frame, receivedAt }): Frame => {
    const times = messagesOf(frame).map(({ timestamp }) => Number(timestamp) || 0);
    const message = typeof frame === "string" ? frame : JSON.stringify(frame);
    return { message, at: receivedAt ?? Math.max(capturedAt, ...times) };
  });
  const [first] = messages;
  const book = first?.event_type === "price_change" ? bookBefore(first) : null;
  if (book !== null) frames.unshift({ message: JSON.stringify(book), at: frames[0]?.at ?? capturedAt });
  return {
    reply: replyOf({ markets }),
    ids: markets.map(({ id }) => String(id)),
    frames,
    answer: (text) => (text === "PING" ? ["PONG"] : []),
    closeMarkets() {
      markets.splice(0, markets.length, ...markets.map((row) => ({ ...row, ...CLOSED })));
    },
  };
}

/** Messages of a frame, which is one message or a list of messages, or the text of either. */
function messagesOf(frame: unknown): JsonObject[] {
  if (typeof frame === "string") return /^[[{]/.test(frame) ? messagesOf(JSON.parse(frame)) : [];
  return (Array.isArray(frame) ? frame : [frame]).filter(isObject);
}

function tokensOf({ asset_id, price_changes }: JsonObject): string[] {
  return [asset_id, ...listOf(price_changes).map((change) => objectOf(change).asset_id)].flatMap(
    (id) => textOf(id) ?? [],
  );
}

/**
 * A subscription returns the book of each token. If the recording starts with a change, an invented book is sent first.
 * The other side still has the changed level, as after a match that a later message removes.
 */
function bookBefore({ market, timestamp, price_changes }: JsonObject): JsonObject {
  const { asset_id, price, side, best_bid, best_ask } = objectOf(listOf(price_changes)[0]);
  const levels = (...prices: unknown[]) => prices.map((each) => ({ price: String(each), size: "100" }));
  const isBid = side === "BUY";
  return {
    event_type: "book",
    market,
    asset_id,
    timestamp: String(Number(timestamp) - 1_000),
    hash: "",
    bids: isBid ? [] : levels(best_bid, price),
    asks: isBid ? levels(price, best_ask) : [],
  };
}

function replyOf(world: World): Replay["reply"] {
  const { markets, events = [], resolutions = [], books, history = [], trades = [] } = world;
  const isOfCondition = (name: string, query: URLSearchParams) => (row: JsonObject) =>
    conditionOf(row) === null ||
    query
      .getAll(name)
      .join(",")
      .split(",")
      .includes(String(conditionOf(row)));
  const isFirstVersion = trades.some((row) => "asset" in row);
  return ({ service, path, query }) => {
    const [, kind = "", id = ""] = /^\/(markets|events)\/([^/]+)$/.exec(path) ?? [];
    if (service === "gamma" && id === "keyset") {
      const wanted = query.getAll("id");
      if (kind === "events") return { events };
      const isWanted = (row: JsonObject) =>
        wanted.includes(String(row.id)) && (row.closed === true) === (query.get("closed") === "true");
      return { markets: markets.filter(isWanted) };
    }
    if (service === "gamma" && kind !== "") {
      return (kind === "markets" ? markets : events).find((row) => String(row.id) === id) ?? NOT_FOUND;
    }
    if (service === "clob" && path === "/book") return books?.get(query.get("token_id") ?? "") ?? NOT_FOUND;
    if (service === "clob" && path === "/prices-history") return { history };
    if (service !== "data") return UNKNOWN_PATH;
    const conditions = query.getAll("condition").join(",").split(",");
    // The Data API refuses a request with an id of another length.
    if (path === "/v2/resolutions" && conditions.some((id) => id.length !== CONDITION_CHARS)) return NOT_FOUND;
    if (path === "/v2/resolutions") return { data: resolutions.filter(isOfCondition("condition", query)) };
    if (path === "/v2/trades" && !isFirstVersion) {
      const data = trades.filter(isOfCondition("condition", query));
      return { data, pagination: { has_more: false, next_cursor: null } };
    }
    if (path === "/v2/trades") return NOT_FOUND;
    return path === "/trades" ? trades.filter(isOfCondition("market", query)) : UNKNOWN_PATH;
  };
}

/** Returns the markets of an event as the market endpoint returns them. */
function marketsWithEvent({ markets, ...event }: JsonObject): JsonObject[] {
  return collect(markets, isMarket).map((row) => ({ ...row, events: [event] }));
}

/** Builds the event listing's rows from market rows, each of which contains its event without the markets. */
function eventsAround(rows: readonly JsonObject[]): JsonObject[] {
  const events = rows.flatMap((row) => listOf(row.events).slice(0, 1).filter(isObject));
  const isOf = (event: JsonObject) => (row: JsonObject) => objectOf(listOf(row.events)[0]).id === event.id;
  return [...new Map(events.map((event) => [event.id, event])).values()].map((event) => ({
    ...event,
    markets: rows.filter(isOf(event)),
  }));
}

/** Position ids instead of token ids, and a condition id of 31 bytes, which the Data API extends with a zero byte. */
function toSecondProtocol({ clobTokenIds, conditionId, ...row }: JsonObject): JsonObject {
  const shortId = String(conditionId).slice(0, CONDITION_CHARS - 2);
  return { ...row, version: "v2", conditionId: shortId, clobTokenIds: null, positionIds: clobTokenIds };
}

function sampleMarket(id: string, conditionId: string, tokens: readonly string[], now: number): JsonObject {
  const { openAt, closeAt } = openTimes(now);
  return {
    ...readFixture("polymarket/fixtures/market/no-quotes"),
    id,
    conditionId,
    clobTokenIds: JSON.stringify(tokens),
    startDate: openAt,
    acceptingOrdersTimestamp: openAt,
    endDate: closeAt,
    orderPriceMinTickSize: 0.001,
  };
}
