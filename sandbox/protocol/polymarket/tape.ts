import type { ListedMarket, World, WorldTrade } from "../../world/types.ts";
import {
  polymarketConditionId,
  polymarketEventSlug,
  polymarketMarketSlug,
  polymarketTokenIds,
  sha256Hex,
  type TokenSide,
  walletOf,
} from "./ids.ts";
import { decimal, mirrored, outcomeNames } from "./market-state.ts";

const MICROS = 1_000_000;
const HOUR_MS = 3_600_000;
const WINDOW_GROWTH = 4;
/** Equal rows of one transaction occur on the venue: so many trades are told as two equal halves. */
const HALVED_EVERY = 32;

/** One row of the public tape: what one side of a match did, told in its own token. */
export interface TapeRow {
  readonly market: ListedMarket;
  /** Milliseconds; the wire has whole seconds. */
  readonly at: number;
  readonly transactionHash: string;
  readonly wallet: string;
  readonly side: "BUY" | "SELL";
  readonly token: TokenSide;
  /** Of that token. */
  readonly price: number;
  readonly size: number;
}

/**
 * A match as the tape tells it: buying YES and selling NO are the same bet, and which of them the taker did is drawn
 * from the trade's id. With `withMakers` the other leg follows, in the same token or, when shares were minted, in the other.
 */
export function tapeRows(market: ListedMarket, trade: WorldTrade, withMakers: boolean): TapeRow[] {
  const transactionHash = `0x${sha256Hex(`transaction:${trade.id}`)}`;
  const draw = Number.parseInt(transactionHash.slice(2, 10), 16);
  const isDirect = draw % 10 < 7;
  const taken: TokenSide = (trade.takerSide === "yes") === isDirect ? 0 : 1;
  const leg = (token: TokenSide, side: "BUY" | "SELL", wallet: string, size: number): TapeRow => ({
    market,
    at: trade.at,
    transactionHash,
    wallet,
    side,
    token,
    price: token === 0 ? trade.yesPrice : mirrored(trade.yesPrice),
    size,
  });
  const half = Math.floor((trade.size * MICROS) / 2) / MICROS;
  const sizes = draw % HALVED_EVERY === 0 && half > 0 && half * 2 === trade.size ? [half, half] : [trade.size];
  return sizes.flatMap((size) => {
    const takerLeg = leg(taken, isDirect ? "BUY" : "SELL", walletOf(trade.taker), size);
    if (!withMakers) return [takerLeg];
    const isMint = (draw >>> 8) % 2 === 0;
    const maker: TokenSide = isMint ? (taken === 0 ? 1 : 0) : taken;
    const makerSide = isMint === isDirect ? "BUY" : "SELL";
    return [takerLeg, leg(maker, makerSide, walletOf(`maker:${trade.id}`), size)];
  });
}

export interface TapeSelection {
  readonly markets: readonly ListedMarket[];
  /** Rows at or before this instant. */
  readonly until: number;
  readonly count: number;
  readonly withMakers: boolean;
  readonly accepts: (row: TapeRow) => boolean;
  /** How far back to look at most. */
  readonly lookBackMs: number;
}

/** The newest rows of some markets, newest first; looks back in growing steps until there are enough. */
export function newestRows(world: World, selection: TapeSelection): TapeRow[] {
  const { markets, until, count } = selection;
  const oldest = Math.max(until - selection.lookBackMs, Math.min(...markets.map((market) => market.openAt)));
  const rows: TapeRow[] = [];
  let to = until + 1;
  for (let spanMs = HOUR_MS; to > oldest && rows.length < count; spanMs *= WINDOW_GROWTH) {
    const from = Math.max(oldest, to - spanMs);
    const found = markets.flatMap((market) =>
      world.trades(market, from, to).flatMap((trade) => tapeRows(market, trade, selection.withMakers)),
    );
    found.sort((a, b) => b.at - a.at || compare(a.transactionHash, b.transactionHash));
    for (const row of found) if (selection.accepts(row)) rows.push(row);
    to = from;
  }
  return rows.slice(0, count);
}

function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

/** The newest match of a market, or null when nothing was traded. */
export function lastRow(world: World, market: ListedMarket, now: number): TapeRow | null {
  const [row] = newestRows(world, {
    markets: [market],
    until: now,
    count: 1,
    withMakers: false,
    accepts: () => true,
    lookBackMs: Number.POSITIVE_INFINITY,
  });
  return row ?? null;
}

/** A row as the older Data API writes it. Names and pictures of traders are made up from the wallet. */
export function tradeRowV1(row: TapeRow) {
  const { market } = row;
  return {
    proxyWallet: row.wallet,
    side: row.side,
    asset: polymarketTokenIds(market)[row.token],
    conditionId: polymarketConditionId(market),
    size: row.size,
    price: row.price,
    timestamp: Math.floor(row.at / 1000),
    title: market.question,
    slug: polymarketMarketSlug(market),
    icon: "",
    eventSlug: polymarketEventSlug(market.event),
    outcome: outcomeNames(market)[row.token],
    outcomeIndex: row.token,
    name: `trader-${row.wallet.slice(2, 8)}`,
    pseudonym: `Trader ${row.wallet.slice(2, 8)}`,
    bio: "",
    profileImage: "",
    profileImageOptimized: "",
    transactionHash: row.transactionHash,
  };
}

export function tradeRowV2(row: TapeRow) {
  const old = tradeRowV1(row);
  return {
    proxy_wallet: old.proxyWallet,
    side: old.side,
    token_id: old.asset,
    condition_id: old.conditionId,
    size: old.size,
    price: old.price,
    timestamp: old.timestamp,
    title: old.title,
    slug: old.slug,
    icon: old.icon,
    event_slug: old.eventSlug,
    outcome: old.outcome,
    outcome_index: old.outcomeIndex,
    name: old.name,
    pseudonym: old.pseudonym,
    transaction_hash: old.transactionHash,
  };
}

const CLOB_ACTIVITY_ROWS = 10;

/** The latest matches as the CLOB's activity endpoint writes them. */
export function clobActivity(world: World, market: ListedMarket, now: number) {
  const rows = newestRows(world, {
    markets: [market],
    until: now,
    count: CLOB_ACTIVITY_ROWS,
    withMakers: false,
    accepts: () => true,
    lookBackMs: Number.POSITIVE_INFINITY,
  });
  return rows.map((row) => {
    const flat = tradeRowV1(row);
    return {
      event_type: "trade",
      market: { condition_id: flat.conditionId, asset_id: flat.asset, question: flat.title, icon: "", slug: flat.slug },
      user: {
        address: row.wallet,
        username: flat.name,
        profile_picture: "",
        optimized_profile_picture: "",
        pseudonym: flat.pseudonym,
      },
      side: row.side,
      size: decimal(row.size),
      fee_rate_bps: "0",
      price: decimal(row.price),
      outcome: flat.outcome,
      outcome_index: row.token,
      transaction_hash: row.transactionHash,
      timestamp: String(flat.timestamp),
    };
  });
}
