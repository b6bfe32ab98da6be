import type { MarketRef } from "../../../domain/market-name.ts";
import type { Database, Transaction } from "../../../ports/database.ts";
import { sumUsd, type TradeTotals } from "../../../trading/index.ts";
import type { StoredTrade } from "./model.ts";

/** Totals of the resolved trades in the shadow book, and the number of their markets. */
export type ResolvedTotals = Omit<TradeTotals, "totalTrades"> & { readonly markets: number };

export interface TradeOutcome {
  readonly tradeId: string;
  readonly payoutUsd: number;
  readonly pnlUsd: number;
}

interface TotalsRow {
  readonly trades: number;
  readonly won: number;
  readonly markets: number;
  readonly costMicros: number;
  readonly pnlMicros: number;
  readonly edgeMicros: number;
}

const EMPTY: TotalsRow = { trades: 0, won: 0, markets: 0, costMicros: 0, pnlMicros: 0, edgeMicros: 0 };

const toTotals = ({ trades, won, markets, costMicros, pnlMicros, edgeMicros }: TotalsRow = EMPTY): ResolvedTotals => ({
  resolvedTrades: trades,
  wonTrades: won,
  resolvedCostUsd: costMicros / 1e6,
  resolvedPnlUsd: pnlMicros / 1e6,
  averageEdge: trades === 0 ? null : edgeMicros / 1e6 / trades,
  markets,
});

/** Selects the stored totals, which `addToTotals` maintains. Summing 500,000 trades would take seconds. */
export async function selectResolvedTotals(database: Pick<Database, "query"> | Transaction): Promise<ResolvedTotals> {
  const [row] = await database.query<TotalsRow>(
    `select resolved_trades::float8 as trades, won_trades::float8 as won, resolved_markets::float8 as markets,
       resolved_cost_micros::float8 as "costMicros", resolved_pnl_micros::float8 as "pnlMicros",
       resolved_edge_micros::float8 as "edgeMicros" from shadow_book`,
  );
  return toTotals(row);
}

/** Selects the markets of the resolved trades. `isScheduled`: whether the market has one without a request. */
export function selectResolvedMarkets(
  database: Pick<Database, "query">,
): Promise<(MarketRef & { readonly isScheduled: boolean })[]> {
  return database.query<MarketRef & { readonly isScheduled: boolean }>(
    `select venue, market_id as "marketId", exists (select from shadow_trades as t where t.venue = settled.venue
       and t.market_id = settled.market_id and t.settled_at is not null and not t.is_requested) as "isScheduled"
     from (select distinct venue, market_id from market_settlements) as settled where exists (
       select from shadow_trades as t where t.venue = settled.venue and t.market_id = settled.market_id
         and t.settled_at is not null)`,
  );
}

export interface RequestedTotals extends Omit<ResolvedTotals, "markets"> {
  readonly totalTrades: number;
  /** Profit of all requested trades in USD. Open trades are valued at their last mark. */
  readonly totalPnlUsd: number;
}

/** Computes the totals of the requested trades. An open trade is valued as in `day-totals.ts`. */
export async function selectRequestedTotals(database: Pick<Database, "query">): Promise<RequestedTotals> {
  const [row] = await database.query<TotalsRow & { readonly all: number; readonly allPnlMicros: number }>(
    `select count(*)::float8 as all, count(settled_at)::float8 as trades,
       count(*) filter (where pnl_usd > 0)::float8 as won, 0::float8 as markets,
       coalesce(sum(${micros("payout_usd")} - ${micros("pnl_usd")}), 0)::float8 as "costMicros",
       coalesce(sum(${micros("pnl_usd")}), 0)::float8 as "pnlMicros",
       coalesce(sum(${micros("edge")}) filter (where settled_at is not null), 0)::float8 as "edgeMicros",
       coalesce(sum(case when settled_at is null
         then ${micros("contracts * coalesce(case side when 'yes' then yes_price else 1 - yes_price end, price)")}
           - ${micros("contracts * price")} - ${micros("fee_usd")}
         else ${micros("pnl_usd")} end), 0)::float8 as "allPnlMicros"
     from shadow_trades as t left join lateral (
       select yes_price from shadow_marks as m where m.venue = t.venue and m.market_id = t.market_id
         and (m.day + 1)::timestamp at time zone 'utc' > t.entered_at order by m.day desc limit 1
     ) as mark on t.settled_at is null
     where is_requested`,
  );
  const { markets, ...totals } = toTotals(row);
  return { ...totals, totalTrades: row?.all ?? markets, totalPnlUsd: (row?.allPnlMicros ?? 0) / 1e6 };
}

const micros = (column: string) => `round(${column}::numeric * 1000000)`;

export async function computeResolvedTotals(transaction: Transaction): Promise<ResolvedTotals> {
  const [row] = await transaction.query<TotalsRow>(
    `select count(*)::float8 as trades, count(*) filter (where pnl_usd > 0)::float8 as won,
       count(distinct (venue, market_id))::float8 as markets,
       coalesce(sum(${micros("payout_usd")} - ${micros("pnl_usd")}), 0)::float8 as "costMicros",
       coalesce(sum(${micros("pnl_usd")}), 0)::float8 as "pnlMicros",
       coalesce(sum(${micros("edge")}), 0)::float8 as "edgeMicros"
     from shadow_trades where settled_at is not null`,
  );
  return toTotals(row);
}

/**
 * Adds new or corrected results of trades to the stored totals. The transaction must hold the lock of the shadow book.
 *
 * @param trades  the trades as stored before the change, in the order of `outcomes`
 * @param markets  number of markets without resolved trades before this change
 */
export async function addToTotals(
  transaction: Transaction,
  trades: readonly StoredTrade[],
  outcomes: readonly TradeOutcome[],
  markets: number,
): Promise<void> {
  const isWon = (pnlUsd: number | null | undefined) => (pnlUsd ?? 0) > 0;
  const won = (profits: readonly (number | null)[]) => profits.filter(isWon).length;
  const newIndexes = [...trades.keys()].filter((index) => trades[index]?.settledAt === null);
  const costs = newIndexes.flatMap((index) => {
    const outcome = outcomes[index];
    return outcome === undefined ? [] : [outcome.payoutUsd, -outcome.pnlUsd];
  });
  const toMicros = (amounts: readonly number[]) => Math.round(sumUsd(amounts) * 1e6);
  await transaction.query(
    `update shadow_book set resolved_trades = resolved_trades + $1::int8, won_trades = won_trades + $2::int8,
       resolved_markets = resolved_markets + $3::int8, resolved_cost_micros = resolved_cost_micros + $4::int8,
       resolved_pnl_micros = resolved_pnl_micros + $5::int8, resolved_edge_micros = resolved_edge_micros + $6::int8`,
    [
      newIndexes.length,
      won(outcomes.map(({ pnlUsd }) => pnlUsd)) - won(trades.map(({ pnlUsd }) => pnlUsd)),
      markets,
      toMicros(costs),
      toMicros([...outcomes.map(({ pnlUsd }) => pnlUsd), ...trades.map(({ pnlUsd }) => -(pnlUsd ?? 0))]),
      toMicros(newIndexes.map((index) => trades[index]?.edge ?? 0)),
    ],
  );
}
