import type { FastifyInstance } from "fastify";
import { isObject } from "../../../src/lib/is-object.ts";
import type { ListedMarket } from "../../world/types.ts";
import { VenueError } from "../errors.ts";
import type { ExchangeContext } from "../exchange.ts";
import { parseTextParam, type Query } from "../query.ts";
import type { Catalogue } from "./catalogue.ts";
import { presentBook } from "./clob-json.ts";
import type { TokenSide } from "./ids.ts";
import { computeMarketState, feeRateOf, formatDecimal, isNegRisk, toTokenBook } from "./market-state.ts";
import { computePriceHistory, HISTORY_INTERVALS, HISTORY_POINTS_MAX } from "./price-history.ts";
import { createInvalidError, parseIntegerParam, parseNumberParam } from "./query.ts";
import { findNewestTrades } from "./trades.ts";

const NO_BOOK_MESSAGE = "No orderbook exists for the requested token id";
const TOKENS_PER_REQUEST_MAX = 500;
const FIDELITY_MINUTES_MAX = 43_200;
const BASE_FEE_BPS = 1_000;

interface TokenBookKey {
  readonly market: ListedMarket;
  readonly side: TokenSide;
}

interface BestPrices {
  readonly bid: number | null;
  readonly ask: number | null;
}

/** Returns the best bid for BUY and the best ask for SELL, or "0" if that side is empty. */
function priceOf(top: BestPrices, side: string | null): string {
  const name = side?.toUpperCase();
  if (name !== "BUY" && name !== "SELL") throw createInvalidError("Invalid side");
  return formatDecimal((name === "BUY" ? top.bid : top.ask) ?? 0);
}

function midOf({ bid, ask }: BestPrices): string | null {
  return bid === null || ask === null ? null : formatDecimal((bid + ask) / 2);
}

function spreadOf({ bid, ask }: BestPrices): string | null {
  return bid === null || ask === null ? null : formatDecimal(ask - bid);
}

interface TokenRequest {
  readonly token: string;
  readonly side: string | null;
}

/** Parses a POST body `[{"token_id": "…", "side": "…"}]`. */
function parseTokenRequests(body: unknown): TokenRequest[] {
  if (!Array.isArray(body)) throw createInvalidError("Invalid payload");
  if (body.length > TOKENS_PER_REQUEST_MAX)
    throw createInvalidError(`Payload exceeds the limit of ${TOKENS_PER_REQUEST_MAX}`);
  return body.map((entry: unknown) => {
    if (!isObject(entry) || typeof entry.token_id !== "string") throw createInvalidError("Invalid payload");
    return { token: entry.token_id, side: typeof entry.side === "string" ? entry.side : null };
  });
}

/** Books, best prices and price history by token id. Settled markets have no book. */
export function installPrices(app: FastifyInstance, context: ExchangeContext, catalogue: Catalogue): void {
  const { world } = context;

  const findBook = (token: string): TokenBookKey | null => {
    const found = catalogue.findMarketByToken(token);
    return found === null || world.lifecycle(found.market, context.now()).phase === "finalized" ? null : found;
  };
  const topOf = ({ market, side }: TokenBookKey): BestPrices => {
    const book = toTokenBook(world.book(market, context.now()), side);
    return { bid: book.bids[0]?.price ?? null, ask: book.asks[0]?.price ?? null };
  };
  const lastTradeOf = ({ market, side }: TokenBookKey) => {
    const [row] = findNewestTrades(world, market, context.now(), 1);
    if (row === undefined) return { price: "0.5", side: "" };
    if (row.token === side) return { price: formatDecimal(row.lastPrice), side: row.side };
    return { price: formatDecimal(1 - row.lastPrice), side: row.side === "BUY" ? "SELL" : "BUY" };
  };

  /** Registers a GET for one token. The response is 404 if the token has no book or `present` returns null. */
  const getByToken = (url: string, present: (book: TokenBookKey, query: Query) => object | null) => {
    app.get<{ Querystring: Query }>(url, async ({ query }) => {
      const token = parseTextParam(query, "token_id");
      if (token === null || !/^\d{1,80}$/.test(token)) throw createInvalidError("Invalid token id");
      const found = findBook(token);
      const body = found === null ? null : present(found, query);
      if (body === null) throw new VenueError(404, NO_BOOK_MESSAGE);
      return body;
    });
  };
  const postTokens = (url: string, present: (requests: readonly TokenRequest[]) => unknown) => {
    app.post(url, async ({ body }) => present(parseTokenRequests(body)));
  };
  /** Registers a POST that returns values by token id; tokens without a value are omitted. */
  const postTokenMap = (url: string, present: (book: TokenBookKey) => string | null) => {
    postTokens(url, (requests) => {
      const values: Record<string, string> = {};
      for (const { token } of requests) {
        const found = findBook(token);
        const value = found === null ? null : present(found);
        if (value !== null) values[token] = value;
      }
      return values;
    });
  };

  getByToken("/book", ({ market, side }) => presentBook(computeMarketState(world, market, context.now()), side));
  getByToken("/price", (found, query) => ({ price: priceOf(topOf(found), parseTextParam(query, "side")) }));
  getByToken("/midpoint", (found) => {
    const mid = midOf(topOf(found));
    return mid === null ? null : { mid };
  });
  getByToken("/spread", (found) => {
    const spread = spreadOf(topOf(found));
    return spread === null ? null : { spread };
  });
  getByToken("/last-trade-price", lastTradeOf);
  getByToken("/neg-risk", ({ market }) => ({ neg_risk: isNegRisk(market.event) }));
  getByToken("/fee-rate", ({ market }) => ({ base_fee: feeRateOf(market.event) > 0 ? BASE_FEE_BPS : 0 }));

  postTokenMap("/midpoints", (found) => midOf(topOf(found)));
  postTokenMap("/spreads", (found) => spreadOf(topOf(found)));
  postTokens("/books", (requests) =>
    requests.flatMap(({ token }) => {
      const found = findBook(token);
      return found === null ? [] : [presentBook(computeMarketState(world, found.market, context.now()), found.side)];
    }),
  );
  postTokens("/prices", (requests) => {
    const prices: Record<string, Record<string, string>> = {};
    for (const { token, side } of requests) {
      const found = findBook(token);
      if (found === null) continue;
      const top = topOf(found);
      const sides = side === null ? ["BUY", "SELL"] : [side.toUpperCase()];
      prices[token] = { ...prices[token], ...Object.fromEntries(sides.map((name) => [name, priceOf(top, name)])) };
    }
    return prices;
  });
  postTokens("/last-trades-prices", (requests) =>
    requests.flatMap(({ token }) => {
      const found = findBook(token);
      return found === null ? [] : [{ ...lastTradeOf(found), token_id: token }];
    }),
  );
  installHistory(app, context, catalogue);
}

/** The parameter `market` is a token id. Times in the response are Unix seconds. */
function installHistory(app: FastifyInstance, context: ExchangeContext, catalogue: Catalogue): void {
  app.get<{ Querystring: Query }>("/prices-history", async ({ query }) => {
    const token = parseTextParam(query, "market");
    if (token === null) throw createInvalidError("invalid filters: 'market' is required");
    const interval = parseTextParam(query, "interval");
    const startTs = parseNumberParam(query, "startTs");
    const endTs = parseNumberParam(query, "endTs");
    if (interval === null && startTs === null)
      throw createInvalidError("invalid filters: 'startTs' or 'interval' is required");
    const preset =
      interval === null ? null : Object.hasOwn(HISTORY_INTERVALS, interval) ? HISTORY_INTERVALS[interval] : undefined;
    if (preset === undefined) throw createInvalidError("invalid filters: 'interval' is unknown");
    const fidelity = parseIntegerParam(query, "fidelity") ?? preset?.fidelity ?? 1;
    if (preset !== null && fidelity < preset.fidelity) {
      throw createInvalidError(`invalid filters: minimum 'fidelity' for '${interval}' range is ${preset.fidelity}`);
    }
    const now = context.now();
    const found = catalogue.findMarketByToken(token);
    if (found === null) return { history: [] };
    const to = Math.min(now, endTs === null ? now : endTs * 1000);
    const stepMinutes = Math.min(FIDELITY_MINUTES_MAX, Math.max(1, fidelity));
    // If both are set, `startTs` determines the range and `interval` determines the minimum fidelity.
    const since = startTs === null ? now - (preset?.spanMs ?? 0) : startTs * 1000;
    const isFullHistory = startTs === null && preset?.spanMs === Number.POSITIVE_INFINITY;
    const from = isFullHistory ? to - HISTORY_POINTS_MAX * stepMinutes * 60_000 : since;
    return { history: computePriceHistory(context.world, found.market, found.side, { from, to, stepMinutes }) };
  });
}
