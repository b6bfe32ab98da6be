import type { FastifyInstance, FastifyReply } from "fastify";
import { DAY_MS } from "../src/lib/durations.ts";
import { VenueError } from "./protocol/errors.ts";
import type { ExchangeContext } from "./protocol/exchange.ts";
import { kalshiTicker } from "./protocol/kalshi/index.ts";
import { limitlessMarketId } from "./protocol/limitless/index.ts";
import { manifoldMarketId } from "./protocol/manifold/index.ts";
import { polymarketMarketId } from "./protocol/polymarket/index.ts";
import { worldCandles } from "./world/candles.ts";
import { type ListedMarket, SANDBOX_VENUES, type SandboxVenue } from "./world/types.ts";

const CANDLES_MAX = 2_000;
const INTERVAL_MS_MIN = 1_000;

/** Functions that return a market's id in the format of its venue. */
const MARKET_IDS: Readonly<Record<SandboxVenue, (market: ListedMarket) => string>> = {
  kalshi: kalshiTicker,
  polymarket: polymarketMarketId,
  limitless: limitlessMarketId,
  manifold: manifoldMarketId,
};

/** Returns a market's id in the format of its venue. */
export const marketIdOf = (market: ListedMarket): string => MARKET_IDS[market.venue](market);

export const presentMarket = (market: ListedMarket) => ({
  venue: market.venue,
  market_id: marketIdOf(market),
  index: market.index,
  question: market.question,
  label: market.label,
  event: market.event.title,
});

interface TruthQuery {
  readonly at?: string;
  readonly market_id?: string;
  readonly from?: string;
  readonly to?: string;
  readonly interval?: string;
}

const isVenue = (text: string): text is SandboxVenue => (SANDBOX_VENUES as readonly string[]).includes(text);

/**
 * Registers `/truth/{venue}`, `/truth/{venue}/trades` and `/truth/{venue}/candles`: the state of the markets, their
 * trades and candles. They are computed directly from the world, independently of the venues' responses. Times are Unix
 * milliseconds.
 */
export function installTruthRoutes(app: FastifyInstance, { world, now }: ExchangeContext): void {
  const parseTime = (query: TruthQuery, name: "at" | "from" | "to", fallback: number): number => {
    const text = query[name];
    const time = text === undefined ? fallback : Number(text);
    if (!Number.isSafeInteger(time) || time > now())
      throw new VenueError(400, `${name} must be a time in Unix milliseconds that is not in the future`);
    return time;
  };
  const findMarket = (venue: SandboxVenue, at: number, { market_id: marketId }: TruthQuery): ListedMarket => {
    const market = world.markets(venue, at).find((candidate) => marketIdOf(candidate) === marketId);
    if (market === undefined) throw new VenueError(404, "market_id must be the id of a listed market");
    return market;
  };
  const presentState = (market: ListedMarket, at: number) => ({
    ...presentMarket(market),
    mechanism: market.mechanism,
    lifecycle: world.lifecycle(market, at),
    book: world.book(market, at),
    probability: world.probability(market, at),
    activity: world.activity(market, at),
  });
  const install = (path: string, answer: (venue: SandboxVenue, query: TruthQuery) => unknown) => {
    const url = `/truth/:venue${path}`;
    app.get<{ Params: { venue: string }; Querystring: TruthQuery }>(url, ({ params, query }, reply: FastifyReply) => {
      try {
        if (!isVenue(params.venue)) throw new VenueError(404, `unknown venue ${params.venue}`);
        return answer(params.venue, query);
      } catch (error) {
        if (error instanceof VenueError) return reply.code(error.status).send({ error: error.message });
        throw error;
      }
    });
  };

  install("", (venue, query) => {
    const at = parseTime(query, "at", now());
    const markets = world
      .markets(venue, at)
      .filter((market) => query.market_id === undefined || marketIdOf(market) === query.market_id);
    return { at, markets: markets.map((market) => presentState(market, at)) };
  });
  install("/trades", (venue, query) => {
    const to = parseTime(query, "to", now());
    const market = findMarket(venue, to, query);
    const from = parseTime(query, "from", market.openAt);
    return { from, to, trades: world.trades(market, from, to + 1) };
  });
  install("/candles", (venue, query) => {
    const to = parseTime(query, "to", now());
    const from = parseTime(query, "from", to - DAY_MS);
    const intervalMs = Number(query.interval);
    if (!Number.isSafeInteger(intervalMs) || intervalMs < INTERVAL_MS_MIN || (to - from) / intervalMs > CANDLES_MAX)
      throw new VenueError(400, `interval must be in milliseconds and give at most ${CANDLES_MAX} candles`);
    return { from, to, candles: worldCandles(world, findMarket(venue, to, query), { from, to, intervalMs }) };
  });
}
