import type { FastifyInstance } from "fastify";
import { MINUTE_MS } from "../../../src/lib/durations.ts";
import type { ListedMarket, World } from "../../world/types.ts";
import { VenueError } from "../errors.ts";
import type { ExchangeContext, ExchangeService } from "../exchange.ts";
import { parseTextParam, type Query } from "../query.ts";
import type { Catalogue } from "./catalogue.ts";
import { presentBook } from "./clob-json.ts";
import type { TokenSide } from "./ids.ts";
import type { RequestLimits } from "./limits.ts";
import { computeDisplayedPrice, computeMarketState, toOppositePrice } from "./market-state.ts";
import { createInvalidError, parseIntegerParam, parseNumberParam } from "./query.ts";
import { createRestHost } from "./rest-host.ts";

const NO_BOOK_MESSAGE = "No orderbook exists for the requested token id";
const FIDELITY_MINUTES_MAX = 43_200;

const REQUEST_LIMITS: RequestLimits = {
  host: 9_000,
  paths: [
    [/^\/book$/, 1_500],
    [/^\/prices-history$/, 1_000],
  ],
};

/** The CLOB's public read interface: order books and price history by token id. */
export const clobService = (context: ExchangeContext, catalogue: Catalogue): ExchangeService =>
  createRestHost("clob", context, REQUEST_LIMITS, (app) => {
    installBook(app, context, catalogue);
    installHistory(app, context, catalogue);
  });

/** Settled markets have no book. */
function installBook(app: FastifyInstance, { world, now }: ExchangeContext, catalogue: Catalogue): void {
  app.get<{ Querystring: Query }>("/book", async ({ query }) => {
    const token = parseTextParam(query, "token_id");
    if (token === null || !/^\d{1,80}$/.test(token)) throw createInvalidError("Invalid token id");
    const found = catalogue.findMarketByToken(token);
    if (found === null || world.lifecycle(found.market, now()).phase === "finalized")
      throw new VenueError(404, NO_BOOK_MESSAGE);
    return presentBook(computeMarketState(world, found.market, now()), found.side);
  });
}

/** The parameter `market` is a token id. Times in the response are Unix seconds. */
function installHistory(app: FastifyInstance, context: ExchangeContext, catalogue: Catalogue): void {
  app.get<{ Querystring: Query }>("/prices-history", async ({ query }) => {
    const token = parseTextParam(query, "market");
    if (token === null) throw createInvalidError("invalid filters: 'market' is required");
    const startTs = parseNumberParam(query, "startTs");
    const endTs = parseNumberParam(query, "endTs");
    if (startTs === null) throw createInvalidError("invalid filters: 'startTs' is required");
    const fidelity = parseIntegerParam(query, "fidelity") ?? 1;
    const now = context.now();
    const found = catalogue.findMarketByToken(token);
    if (found === null) return { history: [] };
    const to = Math.min(now, endTs === null ? now : endTs * 1000);
    const stepMinutes = Math.min(FIDELITY_MINUTES_MAX, Math.max(1, fidelity));
    const range = { from: startTs * 1000, to, stepMinutes };
    return { history: computePriceHistory(context.world, found.market, found.side, range) };
  });
}

interface HistoryRow {
  /** Unix seconds. */
  readonly t: number;
  /** Price in [0, 1]. */
  readonly p: number;
}

/** Prices of one token at every multiple of the step in (from, to], oldest first. Steps without a price are omitted. */
function computePriceHistory(
  world: World,
  market: ListedMarket,
  side: TokenSide,
  range: { readonly from: number; readonly to: number; readonly stepMinutes: number },
): HistoryRow[] {
  const from = Math.max(range.from, market.openAt);
  if (range.to <= from) return [];
  const rows: HistoryRow[] = [];
  for (const point of world.priceHistory(market, from, range.to, range.stepMinutes * MINUTE_MS)) {
    const price = computeDisplayedPrice(point.bid, point.ask, point.lastPrice);
    if (price === null) continue;
    rows.push({ t: Math.floor(point.at / 1000), p: side === 0 ? price : toOppositePrice(price) });
  }
  return rows;
}
