import { columnsOf } from "../../../lib/columns-of.ts";
import { toMillisSql, toTimestampSql } from "../../../lib/timestamp-sql.ts";
import type { Database } from "../../../ports/database.ts";
import { type CalibrationMode, HORIZONS, type SettledMarket } from "./model.ts";

/** A position in the list of settlements, which begins with the latest. */
export interface SettlementPosition {
  /** Unix milliseconds. */
  readonly listedAt: number;
  readonly settlementId: number;
}

export const BEFORE_LATEST_SETTLEMENT: SettlementPosition = { listedAt: Number.POSITIVE_INFINITY, settlementId: 0 };

interface SettlementRow extends SettledMarket, SettlementPosition {}

/**
 * Selects one page of the latest settlement of each market, newest first. Markets whose stakes were refunded have no
 * outcome and are omitted. `resolvedAt` is at most the time at which the store received the first result, even if the
 * venue reports a later time or corrects the result, because later forecasts may use that result.
 */
export function selectSettlements(
  database: Pick<Database, "query">,
  after: SettlementPosition,
  limit: number,
): Promise<SettlementRow[]> {
  return database.query<SettlementRow>(
    `select venue, market_id as "marketId", value, ${toMillisSql(`least(resolved_at, (select min(first.recorded_at)
         from market_settlements as first
         where first.venue = settlement.venue and first.market_id = settlement.market_id))`)} as "resolvedAt",
       ${toMillisSql("resolved_at")} as "listedAt", settlement_id as "settlementId"
     from market_settlements as settlement
     where value is not null
       and (resolved_at, settlement_id) < (${toTimestampSql("$1")}, $2::int8)
       and not exists (select from market_settlements as later where later.venue = settlement.venue
         and later.market_id = settlement.market_id and later.settlement_id > settlement.settlement_id)
     order by resolved_at desc, settlement_id desc limit $3::int8`,
    [after.listedAt, after.settlementId, limit],
    "request",
  );
}

export interface ForecastRow {
  readonly position: number;
  /** Index in `HORIZONS`. */
  readonly horizon: number;
  readonly probability: number;
  /** Price at the same time; null if it is unknown. */
  readonly marketPrice: number | null;
  readonly category: string | null;
}

const HORIZON_ROWS = HORIZONS.map(({ fromMs, toMs }, index) => `(${index}, ${fromMs}::float8, ${toMs}::float8)`);

/** Joins every market with every horizon. One index look-up for each pair is faster than a scan, and reads no row twice. */
const MARKETS_AND_HORIZONS = `
  unnest($1::text[], $2::text[], $3::float8[]) with ordinality as market (venue, market_id, resolved_at, ordinal)
  cross join (values ${HORIZON_ROWS.join(", ")}) as horizon (number, from_ms, to_ms)`;

const isInHorizon = (column: string) => `venue = market.venue and market_id = market.market_id
    and ${column} <= ${toTimestampSql("(market.resolved_at - horizon.from_ms)")}
    and ${column} > ${toTimestampSql("(market.resolved_at - horizon.to_ms)")}`;

/** The latest analysis of each market and horizon. */
const SELECT_ANALYSES = `
select (ordinal - 1)::int4 as position, number as horizon, probability, market_price as "marketPrice", category
from ${MARKETS_AND_HORIZONS}
cross join lateral (
  select probability, market_price, category from analyses where ${isInHorizon("analysed_at")}
  order by analysed_at desc limit 1
) as forecast`;

/** Minimum number of agents. With fewer, an agent could infer another agent's trades. */
const AGENTS_MIN = 3;

/**
 * Selects the probability that the reported trades of each market and horizon imply, weighted by USD. Reports at prices
 * far from the venue's price do not count, because reporting them involves no risk.
 */
const SELECT_REPORTED = `
select (ordinal - 1)::int4 as position, number as horizon, forecast.probability, null::float8 as "marketPrice", category
from ${MARKETS_AND_HORIZONS}
cross join lateral (
  select least(1, greatest(0, sum(size_usd * case side when 'yes' then price else 1 - price end) / sum(size_usd)))
    as probability
  from trade_reports where is_plausible and ${isInHorizon("reported_at")}
  having count(distinct agent_id) >= ${AGENTS_MIN}
) as forecast
left join lateral (
  select category from analyses where venue = market.venue and market_id = market.market_id
  order by analysed_at desc limit 1
) as analysis on true`;

const STATEMENTS: Readonly<Record<CalibrationMode, string>> = { shadow: SELECT_ANALYSES, live: SELECT_REPORTED };

/** Selects forecasts made before the resolution of their market, at most one per market and horizon. */
export function selectForecasts(
  database: Pick<Database, "query">,
  mode: CalibrationMode,
  markets: readonly SettledMarket[],
): Promise<ForecastRow[]> {
  return database.query<ForecastRow>(
    STATEMENTS[mode],
    columnsOf(markets, "venue", "marketId", "resolvedAt"),
    "request",
  );
}
