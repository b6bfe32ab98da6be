import type { MarketId } from "../../../domain/market-name.ts";
import { deleteInBatches } from "../../../lib/delete-in-batches.ts";
import type { Database, Transaction } from "../../../ports/database.ts";
import type { Settlement } from "../../../trading/index.ts";
import type { CustomerData } from "../../accounts/customers/index.ts";
import { REPORT_RETENTION_MS } from "../../markets/consensus/index.ts";
import type { PaperTrade } from "./model.ts";

type Reader = Pick<Database, "query"> | Transaction;

const COLUMNS = `trade_id::text as "tradeId", venue, market_id as "marketId", title, side, size_usd as "sizeUsd",
  contracts, price, fee_usd as "feeUsd", entered_at as "enteredAt"`;

type PaperTradeRow = Omit<PaperTrade, "enteredAt"> & { readonly enteredAt: Date };
const toPaperTrade = ({ enteredAt, ...trade }: PaperTradeRow): PaperTrade => ({
  ...trade,
  enteredAt: enteredAt.getTime(),
});

/** Selects the trade that was entered with this idempotency key. */
export async function selectPaperTradeByKey(
  database: Reader,
  customerId: string,
  idempotencyKey: string,
): Promise<PaperTrade | null> {
  const [row] = await database.query<PaperTradeRow>(
    `select ${COLUMNS} from paper_trades where customer_id = $1 and idempotency_key = $2`,
    [customerId, idempotencyKey],
  );
  return row === undefined ? null : toPaperTrade(row);
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
  const [row] = await transaction.query<PaperTradeRow>(
    `insert into paper_trades
       (customer_id, venue, market_id, title, side, size_usd, contracts, price, fee_usd, idempotency_key, entered_at)
     values ($1, $2, $3, $4, $5, $6::float8, $7::float8, $8::float8, $9::float8, $10::text,
       to_timestamp($11::float8 / 1000))
     returning ${COLUMNS}`,
    [
      customerId,
      trade.venue,
      trade.marketId,
      trade.title,
      trade.side,
      trade.sizeUsd,
      trade.contracts,
      trade.price,
      trade.feeUsd,
      idempotencyKey,
      trade.enteredAt,
    ],
  );
  if (row === undefined) throw new Error("The insertion of a paper trade returned no row");
  return toPaperTrade(row);
}

/** Selects the newest paper trades of a customer, newest first. */
export async function selectPaperTrades(
  database: Pick<Database, "query">,
  customerId: string,
  limit: number,
): Promise<PaperTrade[]> {
  const rows = await database.query<PaperTradeRow>(
    `select ${COLUMNS} from paper_trades as trade where customer_id = $1
     order by entered_at desc, trade.trade_id desc limit $2::int4`,
    [customerId, limit],
    "request",
  );
  return rows.map(toPaperTrade);
}

const namesOf = (markets: readonly MarketId[]) => [
  markets.map(({ venue }) => venue),
  markets.map(({ marketId }) => marketId),
];

/** Selects all settlements of markets, including corrections, oldest first. */
export async function selectSettlements(
  database: Pick<Database, "query">,
  markets: readonly MarketId[],
): Promise<Settlement[]> {
  const rows = await database.query<Omit<Settlement, "at"> & { readonly recordedAt: Date }>(
    `select settled.venue, settled.market_id as "marketId", settled.value, settled.recorded_at as "recordedAt"
     from unnest($1::text[], $2::text[]) as wanted (venue, market_id)
     join market_settlements as settled on settled.venue = wanted.venue and settled.market_id = wanted.market_id
     order by settled.settlement_id`,
    namesOf(markets),
    "request",
  );
  return rows.map(({ recordedAt, ...settlement }) => ({ ...settlement, at: recordedAt.getTime() }));
}

/** Selects the titles of stored markets. */
export function selectTitles(
  database: Pick<Database, "query">,
  markets: readonly MarketId[],
): Promise<(MarketId & { readonly title: string })[]> {
  return database.query(
    `select markets.venue, markets.market_id as "marketId", markets.title
     from unnest($1::text[], $2::text[]) as wanted (venue, market_id)
     join markets on markets.venue = wanted.venue and markets.market_id = wanted.market_id`,
    namesOf(markets),
    "request",
  );
}

/** Deletes the paper trades of a customer who is deleted. */
async function deletePaperTrades(transaction: Transaction, customerId: string): Promise<void> {
  await transaction.query("delete from paper_trades where customer_id = $1", [customerId]);
}

const DELETE_ROWS_MAX = 5_000;
/** Per run. The next run deletes the remaining trades. */
const DELETE_BATCHES_MAX = 100;

/**
 * Deletes paper trades that were entered before a time. Idempotent.
 *
 * @param beforeMs  Unix milliseconds
 * @param shouldStop  ends the run after the current batch
 */
async function deletePaperTradesBefore(
  database: Pick<Database, "query">,
  beforeMs: number,
  shouldStop: () => boolean,
): Promise<void> {
  await deleteInBatches(DELETE_ROWS_MAX, DELETE_BATCHES_MAX, async () => {
    if (shouldStop()) return 0;
    const rows = await database.query(
      `delete from paper_trades where ctid = any(array(
         select ctid from paper_trades where entered_at < to_timestamp($1::float8 / 1000) limit ${DELETE_ROWS_MAX}))
       returning 1`,
      [beforeMs],
    );
    return rows.length;
  });
}

/** Paper trades are kept as long as reported trades. */
export const PAPER_TRADE_DATA: CustomerData = {
  deleteOf: deletePaperTrades,
  deleteExpired: (database, now, shouldStop) =>
    deletePaperTradesBefore(database, now - REPORT_RETENTION_MS, shouldStop),
};
