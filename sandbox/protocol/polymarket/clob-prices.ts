import type { FastifyInstance, FastifyReply } from "fastify";
import type { ListedMarket } from "../../world/types.ts";
import type { ExchangeContext } from "../exchange.ts";
import { bookObject } from "./clob-objects.ts";
import { integerParam, listParam, numberParam, type Query, textParam, ValidationError } from "./gamma-query.ts";
import type { TokenSide } from "./ids.ts";
import type { Listing } from "./listing.ts";
import { decimal, feeRate, isNegRisk, marketState, tokenBook } from "./market-state.ts";
import { HISTORY_INTERVALS, HISTORY_POINTS_MAX, priceHistory } from "./price-history.ts";
import { lastRow } from "./tape.ts";

const NO_BOOK = "No orderbook exists for the requested token id";
const TOKENS_PER_REQUEST_MAX = 500;
const FIDELITY_MINUTES_MAX = 43_200;
const BASE_FEE_BPS = 1_000;

interface FoundBook {
  readonly market: ListedMarket;
  readonly side: TokenSide;
}

interface Top {
  readonly bid: number | null;
  readonly ask: number | null;
}

/** BUY is the price of the best resting buy order, the bid; an empty side is "0". */
function priceOf(top: Top, side: string | null): string {
  const name = side?.toUpperCase();
  if (name !== "BUY" && name !== "SELL") throw new ValidationError("Invalid side");
  return decimal((name === "BUY" ? top.bid : top.ask) ?? 0);
}

function midOf({ bid, ask }: Top): string | null {
  return bid === null || ask === null ? null : decimal((bid + ask) / 2);
}

function spreadOf({ bid, ask }: Top): string | null {
  return bid === null || ask === null ? null : decimal(ask - bid);
}

interface Wanted {
  readonly token: string;
  readonly side: string | null;
}

/** The tokens of `?token_ids=…&sides=…`, lists with commas of which the second may be absent. */
function queryTokens(query: Query): Wanted[] {
  const tokens = listParam(query, "token_ids") ?? [];
  if (tokens.length === 0) throw new ValidationError("Invalid token ids");
  if (tokens.length > TOKENS_PER_REQUEST_MAX)
    throw new ValidationError(`Query exceeds the limit of ${TOKENS_PER_REQUEST_MAX}`);
  const sides = listParam(query, "sides") ?? [];
  return tokens.map((token, position) => ({ token, side: sides[position] ?? null }));
}

/** The tokens of a POST body `[{"token_id": "…", "side": "…"}]`. */
function bodyTokens(body: unknown): Wanted[] {
  if (!Array.isArray(body)) throw new ValidationError("Invalid payload");
  if (body.length > TOKENS_PER_REQUEST_MAX)
    throw new ValidationError(`Payload exceeds the limit of ${TOKENS_PER_REQUEST_MAX}`);
  return body.map((entry: unknown) => {
    if (typeof entry !== "object" || entry === null || !("token_id" in entry) || typeof entry.token_id !== "string") {
      throw new ValidationError("Invalid payload");
    }
    return { token: entry.token_id, side: "side" in entry && typeof entry.side === "string" ? entry.side : null };
  });
}

/** Books, best prices and price history by token id. Settled markets have no book any more. */
export function installPrices(app: FastifyInstance, context: ExchangeContext, listing: Listing): void {
  const { world } = context;

  const findBook = (token: string): FoundBook | null => {
    const found = listing.marketByToken(token);
    return found === null || world.lifecycle(found.market, context.now()).phase === "finalized" ? null : found;
  };
  const topOf = ({ market, side }: FoundBook): Top => {
    const book = tokenBook(world.book(market, context.now()), side);
    return { bid: book.bids[0]?.price ?? null, ask: book.asks[0]?.price ?? null };
  };
  const lastTradeOf = ({ market, side }: FoundBook) => {
    const row = lastRow(world, market, context.now());
    if (row === null) return { price: "0.5", side: "" };
    if (row.token === side) return { price: decimal(row.price), side: row.side };
    return { price: decimal(1 - row.price), side: row.side === "BUY" ? "SELL" : "BUY" };
  };

  /** Answers for the book named by `token_id`, or last in the path; 404 where there is none or it has nothing to show. */
  const forToken = (url: string, show: (book: FoundBook, query: Query) => object | null) => {
    app.get<{ Params: { token?: string }; Querystring: Query }>(url, async ({ params, query }, reply: FastifyReply) => {
      const token = params.token ?? textParam(query, "token_id");
      if (token === null || !/^\d{1,80}$/.test(token)) throw new ValidationError("Invalid token id");
      const found = findBook(token);
      const shown = found === null ? null : show(found, query);
      return shown ?? reply.code(404).send({ error: NO_BOOK });
    });
  };
  /** Answers for the wanted tokens, which may be told in a body or, as `token_ids`, in the query. */
  const forWanted = (url: string, answer: (wanted: readonly Wanted[]) => unknown) => {
    app.post(url, async ({ body }) => answer(bodyTokens(body)));
    app.get<{ Querystring: Query }>(url, async ({ query }) => answer(queryTokens(query)));
  };
  /** As a map by token id; tokens without a book are left out. */
  const forTokens = (url: string, show: (book: FoundBook) => string | null) => {
    forWanted(url, (wanted) => {
      const shown: Record<string, string> = {};
      for (const { token } of wanted) {
        const found = findBook(token);
        const value = found === null ? null : show(found);
        if (value !== null) shown[token] = value;
      }
      return shown;
    });
  };

  forToken("/book", ({ market, side }) => bookObject(marketState(world, market, context.now()), side));
  forToken("/price", (found, query) => ({ price: priceOf(topOf(found), textParam(query, "side")) }));
  forToken("/midpoint", (found) => {
    const mid = midOf(topOf(found));
    return mid === null ? null : { mid };
  });
  forToken("/spread", (found) => {
    const spread = spreadOf(topOf(found));
    return spread === null ? null : { spread };
  });
  forToken("/last-trade-price", lastTradeOf);
  for (const place of ["", "/:token"]) {
    forToken(`/tick-size${place}`, ({ market }) => ({ minimum_tick_size: market.tick }));
    forToken(`/neg-risk${place}`, ({ market }) => ({ neg_risk: isNegRisk(market.event) }));
    forToken(`/fee-rate${place}`, ({ market }) => ({ base_fee: feeRate(market.event) > 0 ? BASE_FEE_BPS : 0 }));
  }

  forTokens("/midpoints", (found) => midOf(topOf(found)));
  forTokens("/spreads", (found) => spreadOf(topOf(found)));
  forWanted("/books", (wanted) =>
    wanted.flatMap(({ token }) => {
      const found = findBook(token);
      return found === null ? [] : [bookObject(marketState(world, found.market, context.now()), found.side)];
    }),
  );
  forWanted("/prices", (wanted) => {
    const prices: Record<string, Record<string, string>> = {};
    for (const { token, side } of wanted) {
      const found = findBook(token);
      if (found === null) continue;
      const top = topOf(found);
      const sides = side === null ? ["BUY", "SELL"] : [side.toUpperCase()];
      prices[token] = { ...prices[token], ...Object.fromEntries(sides.map((name) => [name, priceOf(top, name)])) };
    }
    return prices;
  });
  forWanted("/last-trades-prices", (wanted) =>
    wanted.flatMap(({ token }) => {
      const found = findBook(token);
      return found === null ? [] : [{ ...lastTradeOf(found), token_id: token }];
    }),
  );
  installHistory(app, context, listing);
}

/** The parameter is called `market` and takes a token id; points are told in seconds. */
function installHistory(app: FastifyInstance, context: ExchangeContext, listing: Listing): void {
  app.get<{ Querystring: Query }>("/prices-history", async ({ query }) => {
    const token = textParam(query, "market");
    if (token === null) throw new ValidationError("invalid filters: 'market' is required");
    const interval = textParam(query, "interval");
    const startTs = numberParam(query, "startTs");
    const endTs = numberParam(query, "endTs");
    if (interval === null && startTs === null)
      throw new ValidationError("invalid filters: 'startTs' or 'interval' is required");
    const named =
      interval === null ? null : Object.hasOwn(HISTORY_INTERVALS, interval) ? HISTORY_INTERVALS[interval] : undefined;
    if (named === undefined) throw new ValidationError("invalid filters: 'interval' is unknown");
    const asked = integerParam(query, "fidelity") ?? named?.fidelity ?? 1;
    if (named !== null && asked < named.fidelity) {
      throw new ValidationError(`invalid filters: minimum 'fidelity' for '${interval}' range is ${named.fidelity}`);
    }
    const now = context.now();
    const found = listing.marketByToken(token);
    if (found === null) return { history: [] };
    const to = Math.min(now, endTs === null ? now : endTs * 1000);
    const stepMinutes = Math.min(FIDELITY_MINUTES_MAX, Math.max(1, asked));
    // Instants count more than the name of a range, which only says how fine the points may be.
    const since = startTs === null ? now - (named?.spanMs ?? 0) : startTs * 1000;
    const isWhole = startTs === null && named?.spanMs === Number.POSITIVE_INFINITY;
    const from = isWhole ? to - HISTORY_POINTS_MAX * stepMinutes * 60_000 : since;
    return { history: priceHistory(context.world, found.market, found.side, { from, to, stepMinutes }) };
  });
}
