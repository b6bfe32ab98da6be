import { isListed, type ListedMarket, type World, type WorldTrade } from "../../world/types.ts";
import { type Contract, manifoldProbability } from "./contracts.ts";
import { BETS_PER_TRADE_MAX, encodeBetId } from "./ids.ts";

/** Number of trades per trade that is followed by a redemption. */
const TRADES_PER_REDEMPTION = 5;
/** Number of NO trades per NO trade that is a sale of YES shares. */
const NO_TRADES_PER_SALE = 3;
/** Length of the first window of a search for trades, from newest to oldest. The window length increases. */
const WINDOW_MS_FIRST = 60_000;
const WINDOW_GROWTH_FACTOR = 6;

interface BetFields {
  readonly amount: number;
  readonly shares: number;
  readonly probBefore: number;
  readonly probAfter: number;
  readonly isRedemption: boolean;
  readonly [field: string]: unknown;
}

export interface Bet extends BetFields {
  readonly id: string;
  readonly answerId: string | undefined;
  readonly createdTime: number;
}

/** Markets whose probabilities depend on each other: all exclusive answers of a contract, or a single market. */
export interface LinkedMarkets {
  readonly contract: Contract;
  readonly markets: readonly ListedMarket[];
}

/** Selects the rows to create, because most requests need only some of them. */
export interface BetSelection {
  /** Null for the rows of all answers. */
  readonly answerId: string | null;
  /** True to include the rows with zero shares. */
  readonly withMoves: boolean;
}

const ALL_BETS: BetSelection = { answerId: null, withMoves: true };

export function linkedMarketsOf(contract: Contract, market: ListedMarket): LinkedMarkets {
  return { contract, markets: contract.sumsToOne ? contract.event.markets : [market] };
}

/** Returns the rows that one trade creates, as the venue broadcasts them. */
export function betsOfTrade(world: World, contract: Contract, market: ListedMarket, trade: WorldTrade): Bet[] {
  const linked = linkedMarketsOf(contract, market);
  const groups = groupBetsIn(world, linked, { from: trade.at, to: trade.at + 1 }, ALL_BETS);
  return groups.find(({ tradeId }) => tradeId === trade.id)?.bets ?? [];
}

/** Returns at most `limit` accepted rows with afterTime < createdTime < beforeTime, newest first. */
export function listBets(
  world: World,
  groups: readonly LinkedMarkets[],
  query: {
    readonly afterTime: number;
    readonly beforeTime: number;
    readonly limit: number;
    readonly selection: BetSelection;
    accepts(bet: Bet): boolean;
  },
): Bet[] {
  const { selection } = query;
  const openTimes = groups.flatMap(({ markets }) => markets.map(({ openAt }) => openAt));
  const earliestOpenAt = openTimes.reduce((earliest, openAt) => Math.min(earliest, openAt), Number.POSITIVE_INFINITY);
  const from = Math.max(query.afterTime + 1, earliestOpenAt);
  const acceptedBets: Bet[] = [];
  let end = query.beforeTime;
  for (
    let windowMs = WINDOW_MS_FIRST;
    end > from && acceptedBets.length < query.limit;
    windowMs *= WINDOW_GROWTH_FACTOR
  ) {
    const period = { from: Math.max(from, end - windowMs), to: end };
    const bets = groups.flatMap((linked) => groupBetsIn(world, linked, period, selection).flatMap(({ bets }) => bets));
    bets.sort((a, b) => b.createdTime - a.createdTime);
    for (const bet of bets) if (query.accepts(bet)) acceptedBets.push(bet);
    end = period.from;
  }
  return acceptedBets.slice(0, query.limit);
}

/** Returns the selected rows with from <= createdTime < to by trade, oldest first. */
function groupBetsIn(
  world: World,
  linked: LinkedMarkets,
  { from, to }: { readonly from: number; readonly to: number },
  selection: BetSelection,
): { readonly tradeId: string; readonly bets: Bet[] }[] {
  const trades = linked.markets
    .flatMap((market) => world.trades(market, from, to).map((trade) => ({ market, trade })))
    .sort((a, b) => a.trade.at - b.trade.at);
  const [first] = trades;
  if (first === undefined) return [];
  let previousAt = lastBetTimeOf(world, linked.markets, first.trade.at - 1);
  /** Number of earlier trades of the same market in the same millisecond. */
  const ordinals = new Map<string, number>();
  return trades.map(({ market, trade }) => {
    const ordinalKey = `${market.index} ${trade.at}`;
    const ordinal = ordinals.get(ordinalKey) ?? 0;
    ordinals.set(ordinalKey, ordinal + 1);
    const bets = createBets(world, linked, { market, trade, ordinal, previousAt }, selection);
    previousAt = trade.at;
    return { tradeId: trade.id, bets };
  });
}

interface PlacedTrade {
  readonly market: ListedMarket;
  readonly trade: WorldTrade;
  /** Number of earlier trades of the same market in the same millisecond. */
  readonly ordinal: number;
  /** Time of the previous bet on the linked markets; null if there is none. */
  readonly previousAt: number | null;
}

/**
 * Returns the bet of a trade, one row with zero shares for each other exclusive answer whose probability changed, and
 * for some trades a redemption, which converts equal numbers of YES and NO shares.
 */
function createBets(world: World, linked: LinkedMarkets, placed: PlacedTrade, selection: BetSelection): Bet[] {
  const { contract, markets } = linked;
  const { market, trade, ordinal, previousAt } = placed;
  const isSelected = (answer: ListedMarket) =>
    selection.answerId === null || contract.answerIds.get(answer) === selection.answerId;
  const createBet = (answer: ListedMarket, row: number, fields: BetFields): Bet => ({
    id: encodeBetId({ marketIndex: market.index, at: trade.at, ordinal: ordinal * BETS_PER_TRADE_MAX + row }),
    contractId: contract.id,
    answerId: contract.isMultiple ? contract.answerIds.get(answer) : undefined,
    createdTime: trade.at,
    ...fields,
  });
  const probabilitiesOf = (answer: ListedMarket) => ({
    probBefore: manifoldProbability(world, answer, Math.max(listedAtOf(answer), previousAt ?? 0)),
    probAfter: manifoldProbability(world, answer, trade.at),
  });
  const isSale = trade.takerSide === "no" && trade.taker % NO_TRADES_PER_SALE === 0;
  const outcome = trade.takerSide === "yes" || isSale ? "YES" : "NO";
  const shares = isSale ? -trade.size : trade.size;
  const amount = shares * (outcome === "YES" ? trade.yesPrice : 1 - trade.yesPrice);
  const fill = { matchedBetId: null, amount, shares, timestamp: trade.at };
  const bets: Bet[] = [];
  if (isSelected(market)) {
    const fields = { ...probabilitiesOf(market), amount, outcome, shares };
    bets.push(createBet(market, 0, { ...fields, isRedemption: false, fills: [fill] }));
  }
  for (const [index, answer] of (selection.withMoves ? markets : []).entries()) {
    if (answer === market || !isSelected(answer) || !isListed(answer, trade.at)) continue;
    const { probBefore, probAfter } = probabilitiesOf(answer);
    if (probBefore === probAfter) continue;
    // The fills belong to the venue's own trade, which keeps the sum of the answers at 1.
    const arbitrage = { ...fill, amount: Math.abs(shares) * probAfter, shares: Math.abs(shares) };
    const fields = { probBefore, probAfter, amount: 0, shares: 0 };
    const side = probAfter > probBefore ? "YES" : "NO";
    bets.push(createBet(answer, 1 + index, { ...fields, outcome: side, isRedemption: true, fills: [arbitrage] }));
  }
  if (trade.taker % TRADES_PER_REDEMPTION === 1 && isSelected(market)) {
    const { probAfter } = probabilitiesOf(market);
    for (const [index, side] of (["YES", "NO"] as const).entries()) {
      const redeemed = {
        shares: -trade.size / 2,
        amount: (-trade.size / 2) * (side === "YES" ? probAfter : 1 - probAfter),
      };
      const fields = { ...redeemed, probBefore: probAfter, probAfter, outcome: side, isRedemption: true };
      bets.push(createBet(market, 1 + markets.length + index, fields));
    }
  }
  return bets;
}

const listedAtOf = (market: ListedMarket): number => Math.max(market.openAt, market.recorded?.listedAt ?? 0);

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
