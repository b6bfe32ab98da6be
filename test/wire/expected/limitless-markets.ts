/** What Limitless' market and group rows mean. */
import { amount, containing, type Expectation, type Expected, exactly, near, oneOf, price } from "../expectation.ts";
import { isObject, isoTimeOf, type JsonObject, listOf, numberOf, objectOf, textOf } from "../json.ts";
import {
  type ExpectedMarket,
  type ExpectedStatus,
  FEE_PRICES,
  leftOutMarket,
  outcome,
  settledAt,
  takerFee,
  timeFact,
} from "./market.ts";
import { displayedPrice, isCrossed, isNarrow, tradablePrice } from "./price.ts";

const TICK_SIZE = 0.001;
/** Prices that the venue shows where there is no order. */
export const PLACEHOLDER_BID = 0.001;
export const PLACEHOLDER_ASK = 0.999;
const AMM_FEE_RATE = 0.004;
/** Share of the traded value by price of the token bought, from the venue's fee page. */
const BUY_FEE_SHARES: Readonly<Record<(typeof FEE_PRICES)[number], number>> = { 0.5: 0.03, 0.75: 0.0126, 0.95: 0.0053 };
const DOLLAR_SYMBOLS: ReadonlySet<string> = new Set(["USDC", "USDBC", "USDC.E", "USDT", "DAI", "USD"]);
const DEFAULT_DECIMALS = 6;
/** Larger numbers are milliseconds, smaller ones seconds. */
const SECONDS_MAX = 1e11;

export const isLimitlessRow = (row: JsonObject): boolean =>
  typeof row.slug === "string" && typeof row.title === "string" && typeof row.status === "string";
/** A group has children and no tokens of its own. A child may have marketType "group". */
export const isGroup = (row: JsonObject): boolean =>
  Array.isArray(row.markets) &&
  (row.markets.length > 0 || (row.marketType === "group" && !isObject(row.tokens) && textOf(row.address) === null));

/** A market with the group around it, or null. */
export interface LimitlessMarketRow {
  readonly row: JsonObject;
  readonly group: JsonObject | null;
}

export function limitlessMarketsOf(rows: readonly JsonObject[]): LimitlessMarketRow[] {
  return rows.flatMap((row): LimitlessMarketRow[] => {
    if (!isGroup(row)) return [{ row, group: null }];
    return listOf(row.markets)
      .filter(isObject)
      .map((child) => ({ row: child, group: row }));
  });
}

export function limitlessIdOf(row: JsonObject): string | null {
  return row.tradeType === "amm" ? textOf(row.address) : textOf(row.slug);
}

/** Returns a time in Unix milliseconds from ISO text, seconds or milliseconds. */
export function limitlessTimeOf(value: unknown): number | null {
  const number = numberOf(value);
  if (number !== null) return number < SECONDS_MAX ? number * 1_000 : number;
  return isoTimeOf(value);
}

export function expectedLimitlessMarket({ row, group }: LimitlessMarketRow, capturedAt: number): ExpectedMarket {
  const id = limitlessIdOf(row);
  if (id === null) return leftOutMarket(String(row.slug), row, "market_without_id");
  const isAmm = row.tradeType === "amm";
  const quote = quoteOf(row, isAmm);
  const status = statusOf(row, group, capturedAt);
  const settlement = settlementOf(row);
  const closeAt = limitlessTimeOf(row.expirationTimestamp) ?? limitlessTimeOf(group?.expirationTimestamp);
  const isOpen = status === "active";
  return {
    id,
    raw: row,
    leftOut: null,
    isListed: isOpen || status === "pending" ? true : null,
    isUnpriced: quote.yesPrice === null,
    facts: {
      event_id: exactly(group === null ? null : textOf(group.slug)),
      ...nameFacts(row, group),
      status: statusFact(row, status, settlement, capturedAt),
      outcome: status === "finalized" && settlement !== null ? settledAt(settlement) : outcome(null),
      ...quote.facts,
      volume_24h: exactly(null),
      volume_total: dollarsFact(row, group, "volume"),
      liquidity: dollarsFact(row, group, "liquidity"),
      open_interest: dollarsFact(row, group, "openInterest"),
      ...(isAmm ? {} : { price_ranges: exactly([[0, 1, TICK_SIZE]]) }),
      taker_delay_ms: exactly(numberOf(objectOf(row.settings).takerDelayMs)),
      ...feeFacts(row, isAmm),
      open_time: timeFact(limitlessTimeOf(row.createdAt)),
      close_time: timeFact(closeAt),
      ...(group === null ? {} : eventFacts(group)),
    },
  };
}

function nameFacts(row: JsonObject, group: JsonObject | null): Expected {
  const title = String(row.title);
  if (group === null) return { title: containing(title) };
  return { title: containing(String(group.title), title), label: containing(title) };
}

function statusOf(row: JsonObject, group: JsonObject | null, capturedAt: number): ExpectedStatus {
  if (row.status === "RESOLVED") return "finalized";
  if (row.status === "DRAFTED") return "pending";
  if (row.status !== "FUNDED" && row.status !== "FUNDED_FLAGGED") return "closed";
  const deadline = limitlessTimeOf(row.expirationTimestamp) ?? limitlessTimeOf(group?.expirationTimestamp);
  return row.expired === true || (deadline !== null && capturedAt >= deadline) ? "closed" : "active";
}

/** A resolved market without a result is still being determined. A round may be quoted before it starts. */
function statusFact(
  row: JsonObject,
  status: ExpectedStatus,
  settlement: number | null,
  capturedAt: number,
): Expectation {
  if (status === "finalized" && settlement === null) return exactly("determined");
  const startsLater = (limitlessTimeOf(row.startAt) ?? 0) > capturedAt;
  return status === "active" && startsLater ? oneOf(exactly("active"), exactly("pending")) : exactly(status);
}

/** Value of the YES contract: the payout numerators, else the winning index (0 is YES). */
function settlementOf(row: JsonObject): number | null {
  const [yes, no] = listOf(row.payoutNumerators).map(numberOf);
  if (typeof yes === "number" && typeof no === "number" && yes + no > 0) return yes / (yes + no);
  const index = numberOf(row.winningOutcomeIndex);
  return index === 0 ? 1 : index === 1 ? 0 : null;
}

/** The YES price of a pair. Some rows are in percent. */
function pairPrice(pair: unknown): number | null {
  const [yes, no] = listOf(pair).map(numberOf);
  if (typeof yes !== "number") return null;
  const isPercent = yes > 1 || (typeof no === "number" && no > 1);
  return tradablePrice(isPercent ? yes / 100 : yes);
}

/**
 * The quotes of an order-book market. In a market that was never traded, 0.001 with 0.999 are placeholders. 0.001 or
 * 0.999 alone, and a wide quote of a market that was never traded, may be shown or not; neither gives a price. `prices`
 * is the mid of the quotes, so it is no price. A market maker's price is `prices`.
 */
function quoteOf(row: JsonObject, isAmm: boolean): { facts: Expected; yesPrice: number | null } {
  if (isAmm) {
    const indicative = pairPrice(row.prices);
    const facts = { bid: exactly(null), ask: exactly(null), last_price: exactly(null), yes_price: price(indicative) };
    return { facts, yesPrice: indicative };
  }
  const rawBid = pairPrice(objectOf(objectOf(row.tradePrices).sell).market);
  const rawAsk = pairPrice(objectOf(objectOf(row.tradePrices).buy).market);
  const crossed = isCrossed({ bid: rawBid, ask: rawAsk });
  const isUntraded = numberOf(row.volumeFormatted) === 0 || numberOf(row.volume) === 0;
  if (crossed) return { facts: quoteFactsOf(null, null), yesPrice: null };
  if (isUntraded && rawBid === PLACEHOLDER_BID && rawAsk === PLACEHOLDER_ASK) {
    return { facts: quoteFactsOf(null, null), yesPrice: null };
  }
  const isDoubtful = isUntraded && !isNarrow({ bid: rawBid, ask: rawAsk });
  const bids = isDoubtful || rawBid === PLACEHOLDER_BID ? [rawBid, null] : [rawBid];
  const asks = isDoubtful || rawAsk === PLACEHOLDER_ASK ? [rawAsk, null] : [rawAsk];
  return { facts: alternativeQuotes(bids, asks), yesPrice: displayedPrice({ bid: rawBid, ask: rawAsk }) };
}

function quoteFactsOf(bid: number | null, ask: number | null): Expected {
  return alternativeQuotes([bid], [ask]);
}

/** Facts of a quote whose sides may each have several values. */
export function alternativeQuotes(bids: readonly (number | null)[], asks: readonly (number | null)[]): Expected {
  const yesPrices = bids.flatMap((bid) => asks.map((ask) => displayedPrice({ bid, ask })));
  return {
    bid: oneOf(...bids.map(price)),
    ask: oneOf(...asks.map(price)),
    last_price: exactly(null),
    yes_price: oneOf(...yesPrices.map(price)),
  };
}

/** One object contains raw integers with implied decimals (`volume`) and decimal text (`volumeFormatted`). */
function dollarsFact(row: JsonObject, group: JsonObject | null, name: string): Expectation {
  const token = isObject(row.collateralToken) ? row.collateralToken : objectOf(group?.collateralToken);
  if (!DOLLAR_SYMBOLS.has(String(token.symbol).toUpperCase())) return exactly(null);
  const formatted = numberOf(row[`${name}Formatted`]);
  if (formatted !== null) return amount(formatted);
  const raw = numberOf(row[name]);
  return amount(raw === null ? null : raw / 10 ** (numberOf(token.decimals) ?? DEFAULT_DECIMALS));
}

/** The fee is withheld from the shares bought: buying one net share at p costs p / (1 - share). */
function feeFacts(row: JsonObject, isAmm: boolean): Expected {
  if (objectOf(row.metadata).fee === false) return takerFee(() => 0);
  if (isAmm) return takerFee((at) => AMM_FEE_RATE * at);
  return Object.fromEntries(
    FEE_PRICES.map((at) => {
      const share = BUY_FEE_SHARES[at];
      return [`taker_fee_at_${at}`, near((at * share) / (1 - share), 1e-9)];
    }),
  );
}

function eventFacts(group: JsonObject): Expected {
  return {
    event_title: containing(String(group.title)),
    mutually_exclusive: exactly(textOf(group.negRiskMarketId) !== null),
    exhaustive: exactly(false),
  };
}
