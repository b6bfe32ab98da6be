import type { ListedMarket, World, WorldTrade } from "../../world/types.ts";
import { type Contract, type Contracts, manifoldProbability } from "./contracts.ts";
import { decodeBetId, encodeBetId, userIdOf } from "./ids.ts";

/** A trade produces one bet and at most one pair of redemptions. */
const BETS_PER_TRADE_MAX = 3;
/** One in this many trades is followed by a redemption. */
const TRADES_PER_REDEMPTION = 5;
/** One in this many NO trades is a sale of YES shares. */
const NO_TRADES_PER_SALE = 3;
const FEES = { creatorFee: 0, platformFee: 0, liquidityFee: 0 } as const;
/** Trades are searched from newest to oldest in windows of increasing length. This is the length of the first. */
const WINDOW_MS_FIRST = 60_000;
const WINDOW_GROWTH_FACTOR = 6;

export interface Bet {
  readonly id: string;
  readonly createdTime: number;
  readonly isRedemption: boolean;
  readonly [field: string]: unknown;
}

/** Returns the bet of a trade, for some trades followed by a redemption: the sale of equal YES and NO shares. */
export function betsOf(
  world: World,
  contract: Contract,
  market: ListedMarket,
  trade: WorldTrade,
  ordinal: number,
): Bet[] {
  const probAfter = manifoldProbability(world, market, trade.at);
  const probBefore = manifoldProbability(world, market, Math.max(market.openAt, trade.at - 1));
  const isSale = trade.takerSide === "no" && trade.taker % NO_TRADES_PER_SALE === 0;
  const outcome = trade.takerSide === "yes" || isSale ? "YES" : "NO";
  const sign = isSale ? -1 : 1;
  const sidePrice = outcome === "YES" ? trade.yesPrice : 1 - trade.yesPrice;
  const shares = sign * trade.size;
  const amount = shares * sidePrice;
  const createId = (offset: number) =>
    encodeBetId({ marketIndex: market.index, at: trade.at, ordinal: ordinal * BETS_PER_TRADE_MAX + offset });
  const sharedFields = {
    userId: userIdOf(trade.taker),
    contractId: contract.id,
    answerId: contract.isMultiple ? contract.answerIds.get(market) : undefined,
    createdTime: trade.at,
    updatedTime: trade.at,
    fees: FEES,
    isApi: trade.taker % 4 === 0,
  };
  const bets: Bet[] = [
    {
      ...sharedFields,
      id: createId(0),
      amount,
      outcome,
      shares,
      probBefore,
      probAfter,
      isRedemption: false,
      isFilled: true,
      isCancelled: false,
      fills: [{ matchedBetId: null, amount, shares, timestamp: trade.at }],
    },
  ];
  if (trade.taker % TRADES_PER_REDEMPTION === 1) {
    const redeemedShares = trade.size / 2;
    for (const [index, side] of (["YES", "NO"] as const).entries()) {
      bets.push({
        ...sharedFields,
        id: createId(index + 1),
        amount: -redeemedShares * (side === "YES" ? probAfter : 1 - probAfter),
        outcome: side,
        shares: -redeemedShares,
        probBefore: probAfter,
        probAfter,
        isRedemption: true,
      });
    }
  }
  return bets;
}

/** Returns at most `limit` bets on these markets with afterTime < createdTime < beforeTime, newest first. */
export function listBets(
  world: World,
  contracts: Contracts,
  markets: readonly ListedMarket[],
  query: {
    readonly afterTime: number;
    readonly beforeTime: number;
    readonly limit: number;
    accepts(bet: Bet): boolean;
  },
): Bet[] {
  const earliestOpenAt = markets.reduce(
    (earliestOpenAt, market) => Math.min(earliestOpenAt, market.openAt),
    Number.POSITIVE_INFINITY,
  );
  const from = Math.max(query.afterTime + 1, earliestOpenAt);
  const acceptedBets: Bet[] = [];
  let end = query.beforeTime;
  for (
    let windowMs = WINDOW_MS_FIRST;
    end > from && acceptedBets.length < query.limit;
    windowMs *= WINDOW_GROWTH_FACTOR
  ) {
    const start = Math.max(from, end - windowMs);
    const bets: Bet[] = [];
    for (const market of markets) bets.push(...betsIn(world, contracts.getOrCreate(market.event), market, start, end));
    bets.sort((a, b) => b.createdTime - a.createdTime);
    for (const bet of bets) if (query.accepts(bet)) acceptedBets.push(bet);
    end = start;
  }
  return acceptedBets.slice(0, query.limit);
}

/** Returns the bets with from <= createdTime < to, oldest first. */
function betsIn(world: World, contract: Contract, market: ListedMarket, from: number, to: number): Bet[] {
  let ordinal = 0;
  let previousAt = Number.NaN;
  return world.trades(market, from, to).flatMap((trade) => {
    ordinal = trade.at === previousAt ? ordinal + 1 : 0;
    previousAt = trade.at;
    return betsOf(world, contract, market, trade, ordinal);
  });
}

/** Returns the creation time of the bet with this id, or null if the bet does not exist. */
export function findBetTime(world: World, contracts: Contracts, betId: string, now: number): number | null {
  const betKey = decodeBetId(betId);
  const market = betKey === null ? null : contracts.findMarket(betKey.marketIndex);
  if (betKey === null || market === null || betKey.at > now) return null;
  const bets = betsIn(world, contracts.getOrCreate(market.event), market, betKey.at, betKey.at + 1);
  return bets.some((bet) => bet.id === betId) ? betKey.at : null;
}

/** Returns the time of the last bet on any of these markets up to `at`, or null if there is no bet. */
export function lastBetTimeOf(world: World, markets: readonly ListedMarket[], at: number): number | null {
  let latestBetAt: number | null = null;
  for (const market of markets) {
    let end = at + 1;
    for (
      let windowMs = WINDOW_MS_FIRST;
      end > Math.max(market.openAt, latestBetAt ?? 0);
      windowMs *= WINDOW_GROWTH_FACTOR
    ) {
      const start = Math.max(market.openAt, latestBetAt ?? 0, end - windowMs);
      const lastTrade = world.trades(market, start, end).at(-1);
      if (lastTrade !== undefined) {
        latestBetAt = Math.max(latestBetAt ?? 0, lastTrade.at);
        break;
      }
      end = start;
    }
  }
  return latestBetAt;
}
