import type { BoardMarket } from "../../../board/index.ts";
import { acceptsOrders } from "../../../domain/close-time.ts";
import { AppError, idempotencyKeyReused } from "../../../domain/errors.ts";
import { type BookLevel, isCrossed, type OrderBook, offersOf } from "../../../domain/order-book.ts";
import { smallestOrder } from "../../../domain/order-rules.ts";
import { toCents } from "../../../domain/usd.ts";
import { HOUR_MS } from "../../../lib/durations.ts";
import { type Fill, fillPaperOrder } from "../../../trading/index.ts";
import { lockCustomerRow } from "../../accounts/customers/index.ts";
import type { MarketDependencies } from "../../markets/ports.ts";
import { PAPER_TRADES_MAX, type PaperOrder, type PaperTrade } from "./model.ts";
import { countPaperTrades, insertPaperTrade, selectPaperTradeByKey } from "./queries.ts";

/** Maximum time since the last confirmation of an executable price. */
const PRICE_AGE_MS_MAX = HOUR_MS;

type PaperTradeDependencies = Pick<MarketDependencies, "database" | "clock" | "getMarket" | "readBook">;

/** Executes paper trades of customers at the current prices of the order book. */
export function createPaperTrades({ database, clock, getMarket, readBook }: PaperTradeDependencies) {
  const checkEqual = (earlier: PaperTrade, order: PaperOrder, key: string | null): PaperTrade => {
    const isEqual = (["venue", "marketId", "side", "sizeUsd"] as const).every((name) => earlier[name] === order[name]);
    if (!isEqual) throw idempotencyKeyReused(key, "trade");
    return earlier;
  };
  return {
    /**
     * Buys the whole order from the order book and stores the trade durably. The contracts are rounded down to the step
     * of the market. If an equal order with the same idempotency key exists, returns its trade.
     *
     * @throws AppError `market_not_found`; `not_executable` if the whole order cannot be bought, or if it is below the
     *   smallest order, whose size and cost are in the message; `trade_limit_reached`; `unauthorized` if the customer
     *   was deleted; InvalidRequestError if the idempotency key belongs to a different order; VenueError
     */
    async enter(customerId: string, order: PaperOrder, idempotencyKey: string | null): Promise<PaperTrade> {
      const findEarlier = async (reader: Parameters<typeof selectPaperTradeByKey>[0]) =>
        idempotencyKey === null ? null : selectPaperTradeByKey(reader, customerId, idempotencyKey);
      const known = await findEarlier(database);
      if (known !== null) return checkEqual(known, order, idempotencyKey);
      const market = await getMarket(order.venue, order.marketId);
      checkOpen(market, clock.now());
      const fill = fillOrder(market, await readBook(market), order, clock.now());
      return database.transaction(async (transaction) => {
        // The lock serialises the orders of a customer. A deletion of the customer waits for it.
        if (!(await lockCustomerRow(transaction, customerId)))
          throw new AppError("unauthorized", "Invalid or expired API key");
        const earlier = await findEarlier(transaction);
        if (earlier !== null) return checkEqual(earlier, order, idempotencyKey);
        if ((await countPaperTrades(transaction, customerId)) >= PAPER_TRADES_MAX)
          throw new AppError("trade_limit_reached", `An account has at most ${PAPER_TRADES_MAX} paper trades`);
        const { contracts, averagePrice: price, feeUsd } = fill;
        const { title } = market.listing;
        const trade = { ...order, title, contracts, price, feeUsd, enteredAt: clock.now() };
        return insertPaperTrade(transaction, customerId, trade, idempotencyKey);
      }, "request");
    },
  };
}

const notExecutable = (reason: string) => new AppError("not_executable", reason);

function checkOpen({ listing, updatedAt }: BoardMarket, now: number): void {
  if (!acceptsOrders({ ...listing, paused: false }, updatedAt, now))
    throw notExecutable("The market is not open for orders");
  if (listing.paused) throw notExecutable("The venue has paused this market");
  if (listing.takerFee === null) throw notExecutable("The taker fee of this market is unknown");
}

function fillOrder(market: BoardMarket, book: OrderBook | null, order: PaperOrder, now: number): Fill {
  const { takerFee } = market.listing;
  if (book === null) throw notExecutable("The market has no order book");
  if (takerFee === null) throw notExecutable("The taker fee of this market is unknown");
  // A tracked order book has the timestamp of its last change, but the market's quote may have been confirmed later.
  if (now - Math.max(book.receivedAt, market.updatedAt) > PRICE_AGE_MS_MAX)
    throw notExecutable("The price of this market is more than an hour old");
  if (isCrossed(book.bids[0]?.price ?? null, book.asks[0]?.price ?? null))
    throw notExecutable("The order book is inconsistent: its bid is not below its ask");
  const offers = offersOf(book, order.side);
  const result = fillPaperOrder(offers, takerFee, order.sizeUsd, market.listing);
  switch (result.kind) {
    case "filled":
      return result.fill;
    case "unavailable":
      throw notExecutable(`The order book offers only $${worthOf(offers).toFixed(2)} of this side`);
    case "too_small":
      throw notExecutable(describeSmallest(smallestOrder(market.listing), result.smallest));
  }
}

function describeSmallest(contracts: number, smallest: Fill | null): string {
  const order = `The smallest order in this market is ${contracts} ${contracts === 1 ? "contract" : "contracts"}`;
  if (smallest === null) return `${order}, and the order book offers less of this side`;
  const { costUsd, feeUsd } = smallest;
  // Rounds up, so that an order of this amount can be filled.
  const valueUsd = Math.ceil(100 * (costUsd - feeUsd) - 1e-6) / 100;
  return `${order}, for which size_usd must be at least ${valueUsd.toFixed(2)}. It costs $${formatUsd(costUsd)} with the fee`;
}

/** Formats USD with two to six decimals, because not every venue rounds fees to cents. */
const formatUsd = (usd: number): string => usd.toFixed(6).replace(/(\.\d\d\d*?)0+$/, "$1");

/** Returns the total value of the offers in USD, rounded down so that an order of this amount can be filled. */
const worthOf = (offers: readonly BookLevel[]): number =>
  toCents(Math.floor(100 * offers.reduce((sum, { price, size }) => sum + price * size, 0)) / 100);
