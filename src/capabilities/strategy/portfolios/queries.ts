import type { MarketRef } from "../../../domain/market-name.ts";
import { deleteRows } from "../../../lib/delete-in-batches.ts";
import { toMillisSql, toTimestampSql } from "../../../lib/timestamp-sql.ts";
import type { Database, Transaction } from "../../../ports/database.ts";
import type { Settlement } from "../../../trading/index.ts";
import type { CustomerData } from "../../accounts/customers/index.ts";
import { REPORT_RETENTION_MS } from "../../markets/consensus/index.ts";
import { marketColumns } from "../track-record/index.ts";
import type { PaperTrade } from "./model.ts";

type Reader = Pick<Database, "query"> | Transaction;

const COLUMNS = `trade_id::text as "tradeId", venue, market_id as "marketId", title, side, size_usd as "sizeUsd",
  contracts, price, fee_usd as "feeUsd", ${toMillisSql("entered_at")} as "enteredAt"`;

export async function selectPaperTradeByKey(
  database: Reader,
  customerId: string,
  idempotencyKey: string,
): Promise<PaperTrade | null> {
  const [row] = await database.query<PaperTrade>(
    `select ${COLUMNS} from paper_trades where customer_id = $1 and idempotency_key = $2`,
    [customerId, idempotencyKey],
  );
  return row ?? null;
}

export async function countPaperTrades(transaction: Transaction, customerId: string): Promise<number> {
  const [row] = await transaction.query<{ count: number }>(
    "select count(*)::int4 as count from paper_trades where customer_id = $1",
    [customerId],
  );
  return row?.count ?? 0;
}

export async function insertPaperTrade(
  transaction: Transaction,
  customerId: string,
  trade: Omit<PaperTrade, "tradeId">,
  idempotencyKey: string | null,
): Promise<PaperTrade> {
  const [row] = await transaction.query<PaperTrade>(
    `insert into paper_trades
       (customer_id, venue, market_id, title, side, size_usd, contracts, price, fee_usd, idempotency_key, entered_at)
     values ($1, $2, $3, $4, $5, $6::float8, $7::float8, $8::float8, $9::float8, $10::text,
       to_timestamp($11::float8 / 1000))
     returning ${COLUMNS}`,
    [
      ...[customerId, trade.venue, trade.marketId, trade.title, trade.side, trade.sizeUsd, trade.contracts],
      ...[trade.price, trade.feeUsd, idempotencyKey, trade.enteredAt],
    ],
  );
  if (row === undefined) throw new Error("The insertion of a paper trade returned no row");
  return row;
}

/** Selects the newest paper trades of a customer, newest first. */
export function selectPaperTrades(
  database: Pick<Database, "query">,
  customerId: string,
  limit: number,
): Promise<PaperTrade[]> {
  return database.query<PaperTrade>(
    `select ${COLUMNS} from paper_trades as trade where customer_id = $1
     order by entered_at desc, trade.trade_id desc limit $2::int4`,
    [customerId, limit],
    "request",
  );
}

/** Selects all settlements of markets, including corrections, oldest first. */
export function selectSettlements(
  database: Pick<Database, "query">,
  markets: readonly MarketRef[],
): Promise<Settlement[]> {
  return database.query<Settlement>(
    `select venue, market_id as "marketId", value, ${toMillisSql("recorded_at")} as at
     from unnest($1::text[], $2::text[]) as wanted (venue, market_id) join market_settlements using (venue, market_id)
     order by settlement_id`,
    marketColumns(markets),
    "request",
  );
}

export function selectTitles(
  database: Pick<Database, "query">,
  markets: readonly MarketRef[],
): Promise<(MarketRef & { readonly title: string })[]> {
  return database.query(
    `select venue, market_id as "marketId", title
     from unnest($1::text[], $2::text[]) as wanted (venue, market_id) join markets using (venue, market_id)`,
    marketColumns(markets),
    "request",
  );
}

async function deletePaperTrades(transaction: Transaction, customerId: string): Promise<void> {
  await transaction.query("delete from paper_trades where customer_id = $1", [customerId]);
}

/** Paper trades are kept as long as reported trades. */
export const PAPER_TRADE_DATA: CustomerData = {
  deleteOf: deletePaperTrades,
  async deleteExpired(database, now, shouldStop) {
    const condition = `entered_at < ${toTimestampSql("$1")}`;
    await deleteRows(database, "paper_trades", condition, now - REPORT_RETENTION_MS, { shouldStop });
  },
};
