import type { ListedMarket, World, WorldTrade } from "../../world/types.ts";
import { type Contract, type Contracts, manifoldProbability } from "./contracts.ts";
import { decodeBetId, encodeBetId, userIdOf } from "./ids.ts";

/** A trade results in one bet and at most one pair of redemptions. */
const BETS_PER_TRADE_MAX = 3;
/** One in five trades is followed by a redemption, one in three NO trades is a sale of YES shares. */
const REDEMPTION_EVERY = 5;
const SALE_EVERY = 3;
const FEES = { creatorFee: 0, platformFee: 0, liquidityFee: 0 } as const;
/** History is searched backwards in windows of increasing length. */
const WINDOW_MS_FIRST = 60_000;
const WINDOW_GROWTH = 6;

export interface Bet {
  readonly id: string;
  readonly createdTime: number;
  readonly isRedemption: boolean;
  readonly [field: string]: unknown;
}

/** The bets that represent a trade: the trade, optionally followed by the redemption of equal YES and NO shares. */
export function betsOf(
  world: World,
  contract: Contract,
  market: ListedMarket,
  trade: WorldTrade,
  ordinal: number,
): Bet[] {
  const probAfter = manifoldProbability(world, market, trade.at);
  const probBefore = manifoldProbability(world, market, Math.max(market.openAt, trade.at - 1));
  const isSale = trade.takerSide === "no" && trade.taker % SALE_EVERY === 0;
  const outcome = trade.takerSide === "yes" || isSale ? "YES" : "NO";
  const sign = isSale ? -1 : 1;
  const sidePrice = outcome === "YES" ? trade.yesPrice : 1 - trade.yesPrice;
  const shares = sign * trade.size;
  const amount = shares * sidePrice;
  const id = (offset: number) =>
    encodeBetId({ marketIndex: market.index, at: trade.at, ordinal: ordinal * BETS_PER_TRADE_MAX + offset });
  const shared = {
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
      ...shared,
      id: id(0),
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
  if (trade.taker % REDEMPTION_EVERY === 1) {
    const redeemed = trade.size / 2;
    for (const [index, side] of (["YES", "NO"] as const).entries()) {
      bets.push({
        ...shared,
        id: id(index + 1),
        amount: -redeemed * (side === "YES" ? probAfter : 1 - probAfter),
        outcome: side,
        shares: -redeemed,
        probBefore: probAfter,
        probAfter,
        isRedemption: true,
      });
    }
  }
  return bets;
}

/** At most `limit` bets on these markets with after < createdTime < before, newest first. */
export function listBets(
  world: World,
  contracts: Contracts,
  markets: readonly ListedMarket[],
  query: { readonly after: number; readonly before: number; readonly limit: number; accepts(bet: Bet): boolean },
): Bet[] {
  const earliest = markets.reduce((earliest, market) => Math.min(earliest, market.openAt), Number.POSITIVE_INFINITY);
  const from = Math.max(query.after + 1, earliest);
  const accepted: Bet[] = [];
  let end = query.before;
  for (let windowMs = WINDOW_MS_FIRST; end > from && accepted.length < query.limit; windowMs *= WINDOW_GROWTH) {
    const start = Math.max(from, end - windowMs);
    const bets: Bet[] = [];
    for (const market of markets) bets.push(...betsIn(world, contracts.of(market.event), market, start, end));
    bets.sort((a, b) => b.createdTime - a.createdTime);
    for (const bet of bets) if (query.accepts(bet)) accepted.push(bet);
    end = start;
  }
  return accepted.slice(0, query.limit);
}

/** Bets with from <= createdTime < to, oldest first. */
function betsIn(world: World, contract: Contract, market: ListedMarket, from: number, to: number): Bet[] {
  let ordinal = 0;
  let previousAt = Number.NaN;
  return world.trades(market, from, to).flatMap((trade) => {
    ordinal = trade.at === previousAt ? ordinal + 1 : 0;
    previousAt = trade.at;
    return betsOf(world, contract, market, trade, ordinal);
  });
}

/** Creation time of the bet with this id, or null if there is none. */
export function findBetTime(world: World, contracts: Contracts, id: string, now: number): number | null {
  const key = decodeBetId(id);
  const market = key === null ? null : contracts.findMarket(key.marketIndex);
  if (key === null || market === null || key.at > now) return null;
  const bets = betsIn(world, contracts.of(market.event), market, key.at, key.at + 1);
  return bets.some((bet) => bet.id === id) ? key.at : null;
}

/** Time of the last bet on any of these markets up to `at`, or null if there is none. */
export function lastBetTimeOf(world: World, markets: readonly ListedMarket[], at: number): number | null {
  let latest: number | null = null;
  for (const market of markets) {
    let end = at + 1;
    for (let windowMs = WINDOW_MS_FIRST; end > Math.max(market.openAt, latest ?? 0); windowMs *= WINDOW_GROWTH) {
      const start = Math.max(market.openAt, latest ?? 0, end - windowMs);
      const last = world.trades(market, start, end).at(-1);
      if (last !== undefined) {
        latest = Math.max(latest ?? 0, last.at);
        break;
      }
      end = start;
    }
  }
  return latest;
}
