import { type BoardMarket, eventSlugOf } from "../../../board/index.ts";
import { formatMarketRef, parseMarketRef } from "../../../domain/market-name.ts";
import { isCrossed } from "../../../domain/order-book.ts";
import type { MarketDependencies } from "../ports.ts";
import { findLogicalRelation, type LogicalRelation } from "./logical.ts";

const RELATED_MAX = 10;
const SIMILAR_MAX = 6;
/** Minimum text similarity of related markets. Below it, most markets are about another subject. */
const SIMILARITY_MIN = 0.4;
/** Minimum liquidity or volume of a market that can be used as a hedge, in USD. */
const LIQUID_USD_MIN = 1_000;

type RelatedMarketsDependencies = Pick<MarketDependencies, "board" | "clock" | "venues" | "pairsOf" | "correlatePairs">;

/** A liquid market whose outcome is correlated with the outcome of a given market. */
export interface RelatedMarket {
  readonly market: BoardMarket;
  /** Logical relation between this market (hypothesis) and the given market (question); null if none is known. */
  readonly dependence: LogicalRelation | null;
  /** Correlation of the log-odds moves over 30 days, in [-1, 1]; null with a logical relation or too few moves. */
  readonly correlation: number | null;
}

export type RelatedMarkets = ReturnType<typeof createRelatedMarkets>;

/** Finds liquid markets that are related to given markets, as possible hedges. */
export function createRelatedMarkets(ports: RelatedMarketsDependencies) {
  const { board, venues, clock } = ports;

  const partnersOf = ({ listing: { venue, marketId } }: BoardMarket): BoardMarket[] => {
    const own = formatMarketRef({ venue, marketId });
    return ports.pairsOf(venue, marketId).flatMap(({ a, b }) => {
      const partner = parseMarketRef(a === own ? b : a);
      return venues.includes(partner.venue) ? (board.find(partner.venue, partner.marketId) ?? []) : [];
    });
  };

  const siblingsOf = ({ listing }: BoardMarket): BoardMarket[] =>
    board.marketsOfEvent(eventSlugOf(listing) ?? "").sort((a, b) => volumeOf(b) - volumeOf(a));

  const similarTo = ({ listing: { title } }: BoardMarket): BoardMarket[] =>
    board
      .findByQuestion(title, { venues, status: "active", limit: SIMILAR_MAX })
      .filter(({ similarity }) => similarity >= SIMILARITY_MIN)
      .map(({ market }) => market);

  /**
   * Returns liquid markets that are related to the given markets: matched markets of other venues, markets of the same
   * event, and markets with similar texts. The given markets are left out.
   *
   * @param markets  the most important market first. Related markets are taken from each market in turn
   * @returns  at most ten
   */
  const findRelated = async (markets: readonly BoardMarket[]): Promise<BoardMarket[]> => {
    const known = new Set(markets.map(({ row }) => row));
    // Order for each market: matched markets, markets of its event by volume, markets with similar texts.
    const queues = markets.map((market) => ({
      market,
      candidates: [...partnersOf(market), ...siblingsOf(market)].values(),
      isSearched: false,
    }));
    const takeNext = async (queue: (typeof queues)[number]): Promise<BoardMarket | null> => {
      for (;;) {
        const next = queue.candidates.next();
        if (next.done !== true) {
          if (!known.has(next.value.row) && isLiquid(next.value)) return next.value;
        } else if (queue.isSearched) return null;
        else {
          queue.isSearched = true;
          // A search can read many rows of the text index, so it yields to other requests first.
          await clock.yieldToEventLoop();
          queue.candidates = similarTo(queue.market).values();
        }
      }
    };
    const found: BoardMarket[] = [];
    let open = queues;
    while (open.length > 0) {
      const exhausted = new Set<(typeof queues)[number]>();
      for (const queue of open) {
        const market = await takeNext(queue);
        if (market === null) {
          exhausted.add(queue);
          continue;
        }
        known.add(market.row);
        if (found.push(market) === RELATED_MAX) return found;
      }
      open = open.filter((queue) => !exhausted.has(queue));
    }
    return found;
  };

  return {
    findRelated,

    /**
     * Returns liquid markets whose outcome depends on the outcome of this market, by a logical relation or by
     * correlated prices.
     *
     * @returns  at most ten: logical relations first, then the largest correlations. Uncorrelated markets are left out
     * @throws AppError `store_unavailable`
     */
    async findRelatedMarkets(market: BoardMarket): Promise<RelatedMarket[]> {
      const related = await findRelated([market]);
      const dependences = related.map((other) => findLogicalRelation(market, other, ports));
      const measured = related.filter((_, index) => dependences[index] === null);
      const pairs = measured.length === 0 ? [] : await ports.correlatePairs([market, ...measured]);
      const correlationOf = (other: BoardMarket): number | null => {
        const index = 1 + measured.indexOf(other);
        return pairs.find(({ a, b }) => a === 0 && b === index && index > 0)?.correlation ?? null;
      };
      return related
        .map((other, index): RelatedMarket => {
          const dependence = dependences[index] ?? null;
          return { market: other, dependence, correlation: dependence === null ? correlationOf(other) : null };
        })
        .filter(({ dependence, correlation }) => dependence !== null || correlation !== null)
        .sort((a, b) => strengthOf(b) - strengthOf(a));
    },
  };
}

const strengthOf = ({ dependence, correlation }: RelatedMarket): number =>
  dependence === null ? Math.abs(correlation ?? 0) : 2;

const volumeOf = ({ activity }: BoardMarket): number => activity.volume24hUsd ?? 0;

/** Whether a market is liquid: open, quoted on both sides, with liquidity or volume of at least $1,000. */
function isLiquid({ listing, quote: { bid, ask }, activity }: BoardMarket): boolean {
  if (listing.status !== "active" || listing.paused || listing.takerFee === null) return false;
  if (bid === null || ask === null || isCrossed(bid, ask)) return false;
  return Math.max(activity.liquidityUsd ?? 0, activity.volume24hUsd ?? 0) >= LIQUID_USD_MIN;
}
