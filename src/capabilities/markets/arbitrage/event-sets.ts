import { type BoardEvent, type BoardMarket, findIncompleteSetReason } from "../../../board/index.ts";
import { fromMicros, type Side, toMicros } from "../../../domain/price.ts";
import { findMarketLadders } from "../../../matching/index.ts";
import { chooseNoContracts, findLadderViolations } from "../../../quant/set-arbitrage.ts";
import { type TopOfBook, topOfBookOf } from "./compare.ts";
import type { SetOpportunity } from "./model.ts";

/** Purchases in the markets of one event that together pay at least `payout` and cost less before fees. */
export interface SetCandidate extends Pick<SetOpportunity, "kind" | "strategy" | "event" | "payout"> {
  readonly legs: readonly { readonly market: BoardMarket; readonly side: Side }[];
}

type Tradable = { readonly market: BoardMarket; readonly top: TopOfBook };

/**
 * Finds purchases within one event that cost less than their guaranteed payout at the best prices, before fees. The
 * markets of an exclusive event form a set; other events are checked for ladders.
 *
 * @param markets  all markets of the event, including markets that cannot be traded
 */
export function findSetCandidates(event: BoardEvent, markets: readonly BoardMarket[]): SetCandidate[] {
  const tradable = markets.flatMap((market): Tradable[] => {
    const top = topOfBookOf(market);
    return top === null ? [] : [{ market, top }];
  });
  if (tradable.length < 2 || hasUnlistedMarket(event, markets)) return [];
  if (!event.listing.mutuallyExclusive) return findLadderCandidates(event, tradable);
  // After a partial payout or a refund, the other outcomes may be settled in the same way, so a NO contract may pay
  // less than 1.
  if (markets.some(({ listing }) => listing.outcome?.kind === "partial" || listing.outcome?.kind === "void")) return [];
  const canTradeYes = (market: BoardMarket) => tradable.some((candidate) => candidate.market === market);
  const isComplete = findIncompleteSetReason(event.listing, markets, canTradeYes) === null;
  return [...(isComplete ? buyYes(event, tradable) : []), ...buyNo(event, tradable)];
}

/**
 * Whether the event lists fewer markets than are open on the board. One of the markets has then closed, and its last
 * quote is not an offer.
 */
const hasUnlistedMarket = ({ listing: { children } }: BoardEvent, markets: readonly BoardMarket[]): boolean =>
  children !== null &&
  markets.filter(({ listing: { status } }) => status === "active" || status === "pending").length > children.read;

function buyYes(event: BoardEvent, tradable: readonly Tradable[]): SetCandidate[] {
  // Without an offer for one of the outcomes, the set does not cover every outcome.
  const cost = tradable.reduce((sum, { top }) => sum + (top.ask === null ? Infinity : toMicros(top.ask)), 0);
  if (cost >= toMicros(1)) return [];
  const legs = tradable.map(({ market }) => ({ market, side: "yes" as const }));
  return [{ kind: "exclusive_set", strategy: "buy_all_yes", event, legs, payout: 1 }];
}

function buyNo(event: BoardEvent, tradable: readonly Tradable[]): SetCandidate[] {
  const trade = chooseNoContracts(tradable.map(({ top }) => ({ bid: top.bid, fee: top.fee })));
  if (trade === null) return [];
  const chosen = trade.markets.flatMap((index) => tradable[index] ?? []);
  const spread = fromMicros(chosen.reduce((sum, { top }) => sum + toMicros(top.bid ?? 0), -toMicros(1)));
  if (spread <= 0) return [];
  const legs = chosen.map(({ market }) => ({ market, side: "no" as const }));
  return [{ kind: "exclusive_set", strategy: "buy_all_no", event, legs, payout: trade.payout }];
}

function findLadderCandidates(event: BoardEvent, tradable: readonly Tradable[]): SetCandidate[] {
  const topsByRow = new Map(tradable.map(({ market, top }) => [market.row, top]));
  return findMarketLadders(tradable.map(({ market }) => market)).flatMap((rungs) => {
    const tops = rungs.map(({ row }) => topsByRow.get(row) ?? { bid: null, ask: null });
    return findLadderViolations(tops).flatMap((violation): SetCandidate[] => {
      const [wide, narrow] = [rungs[violation.wide], rungs[violation.narrow]];
      if (wide === undefined || narrow === undefined) return [];
      const legs = [
        { market: wide, side: "yes" as const },
        { market: narrow, side: "no" as const },
      ];
      return [{ kind: "ladder", strategy: "buy_wide_yes_narrow_no", event, legs, payout: 1 }];
    });
  });
}
