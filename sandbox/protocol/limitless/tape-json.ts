import type { ListedMarket, WorldTrade } from "../../world/types.ts";
import { limitlessAddress, limitlessTokens, transactionHash } from "./ids.ts";
import { rawUnits } from "./market-json.ts";

function round6(value: number): number {
  return Math.round(value * 1e6) / 1e6;
}

/** Half of the trades change hands in the NO token, where price and side are told from the other end. */
function isToldInNo(hash: string): boolean {
  return Number.parseInt(hash.slice(-1), 16) % 2 === 1;
}

/** Which token the taker traded and whether he bought it. */
function legOf(trade: WorldTrade, hash: string): { isNo: boolean; isBuy: boolean; price: number } {
  const isNo = isToldInNo(hash);
  return {
    isNo,
    isBuy: (trade.takerSide === "no") === isNo,
    price: isNo ? round6(1 - trade.yesPrice) : trade.yesPrice,
  };
}

/** Row of `/events`: sizes as integers with six implied decimals, side 0 = BUY, 1 = SELL. */
export function presentTapeEvent(market: ListedMarket, trade: WorldTrade): Record<string, unknown> {
  const txHash = transactionHash(trade.id);
  const { isNo, isBuy, price } = legOf(trade, txHash);
  const tokens = limitlessTokens(market);
  const contracts = rawUnits(trade.size);
  const dollars = rawUnits(trade.size * price);
  return {
    createdAt: new Date(trade.at).toISOString(),
    price,
    side: isBuy ? 0 : 1,
    matchedSize: contracts,
    makerAmount: isBuy ? dollars : contracts,
    takerAmount: isBuy ? contracts : dollars,
    tokenId: isNo ? tokens.no : tokens.yes,
    txHash,
    title: market.question,
    profile: { id: trade.taker, displayName: `trader-${trade.taker}`, pfpUrl: null },
  };
}

/** Row of `/get-feed-events`: amounts as decimal strings. */
export function presentFeedEvent(market: ListedMarket, trade: WorldTrade): Record<string, unknown> {
  const txHash = transactionHash(trade.id);
  const { isNo, isBuy, price } = legOf(trade, txHash);
  const amount = (Number(rawUnits(trade.size * price)) / 1e6).toFixed(6);
  return {
    id: Number.parseInt(txHash.slice(2, 12), 16),
    eventType: "NEW_TRADE",
    createdAt: new Date(trade.at).toISOString(),
    bodyHash: txHash,
    data: {
      symbol: "USDC",
      txHash,
      address: limitlessAddress(market),
      outcome: isNo ? "NO" : "YES",
      strategy: isBuy ? "Buy" : "Sell",
      contracts: (Number(rawUnits(trade.size)) / 1e6).toFixed(6),
      marketTitle: market.question,
      tradeAmount: amount,
      tradeAmountUSD: amount,
    },
    user: { name: `trader-${trade.taker}` },
  };
}
