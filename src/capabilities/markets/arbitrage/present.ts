import type { TakerFee } from "../../../domain/market.ts";
import { toIso } from "../../../lib/dates/iso-time.ts";
import type { LegFill } from "../../../quant/arbitrage.ts";
import type {
  CrossVenueOpportunity,
  MarketQuotes,
  OpportunityFigures,
  OpportunityLeg,
  OpportunityList,
  SetOpportunity,
  VenueState,
} from "./model.ts";

const toPercent = (spread: number): number => Math.round(spread * 1e8) / 1e6;

export interface PresentOptions {
  /** Whether the response includes the parts of the score and the legs. */
  readonly hasScoring: boolean;
  /** Whether a live scan read the books. */
  readonly isLive: boolean;
}

export const presentCrossVenueList = (list: OpportunityList<CrossVenueOpportunity>, options: PresentOptions) =>
  presentList(list, (opportunity) => presentOpportunity(opportunity, list.scannedAt, options));

/** Creates the body of a list of opportunities within one event. */
export const presentSetList = (list: OpportunityList<SetOpportunity>, hasScoring: boolean) =>
  presentList(list, (opportunity) => presentSet(opportunity, list.scannedAt, hasScoring));

const presentList = <Opportunity, Presented>(
  { opportunities, venues, scannedAt }: OpportunityList<Opportunity>,
  present: (opportunity: Opportunity) => Presented,
) => ({
  count: opportunities.length,
  opportunities: opportunities.map(present),
  venues: presentVenues(venues),
  scanned_at: toIso(scannedAt),
});

function presentSet(opportunity: SetOpportunity, scannedAt: number, hasScoring: boolean) {
  const { kind, strategy, event, payout, spread, score } = opportunity;
  const { legs, net_spread, ...scoring } = presentScoring(opportunity);
  return {
    kind,
    strategy,
    platform: event.listing.venue,
    event_slug: event.slug,
    event: event.listing.title,
    payout,
    spread,
    spread_pct: toPercent(spread),
    net_spread,
    score: score.score,
    legs,
    scanned_at: toIso(scannedAt),
    ...(hasScoring ? scoring : null),
  };
}

function presentOpportunity(opportunity: CrossVenueOpportunity, scannedAt: number, options: PresentOptions) {
  const { pair, markets, spread, cheaperOn, score } = opportunity;
  return {
    event: markets[0].quotes.market.listing.title,
    ...Object.fromEntries(
      markets.map(({ quotes, yesPrice }) => [
        quotes.market.listing.venue,
        presentMarket(quotes, yesPrice, options.isLive),
      ]),
    ),
    spread,
    spread_pct: toPercent(spread),
    cheaper_on: cheaperOn,
    match_confidence: pair.confidence,
    score: score.score,
    scanned_at: toIso(scannedAt),
    ...(options.hasScoring
      ? { ...presentScoring(opportunity), relation: pair.relation, match_evidence: pair.evidence }
      : null),
  };
}

function presentMarket({ market, at, refreshFailure }: MarketQuotes, yesPrice: number, isLive: boolean) {
  return {
    market_id: market.listing.marketId,
    url: market.listing.url,
    yes_price: yesPrice,
    updated_at: toIso(at),
    ...(isLive ? { refreshed: refreshFailure === null } : null),
    ...(isLive && refreshFailure !== null ? { refresh_failure: refreshFailure } : null),
  };
}

function presentScoring({ score, netSpread, walk, daysToResolution, annualizedReturn, legs }: OpportunityFigures) {
  return {
    spread_score: score.spread,
    liquidity_score: score.liquidity,
    match_confidence_score: score.match,
    execution_score: score.execution,
    net_spread: netSpread,
    executable_size_usd: walk?.capitalUsd ?? null,
    executable_profit_usd: walk?.profitUsd ?? null,
    days_to_resolution: daysToResolution,
    annualized_return: annualizedReturn,
    legs: legs.map((leg, index) => presentLeg(leg, walk?.legs[index] ?? null, walk?.contracts ?? null)),
  };
}

function presentLeg({ quotes, fee, side, offers }: OpportunityLeg, fill: LegFill | null, contracts: number | null) {
  const { listing } = quotes.market;
  const taken = fill?.contracts ?? [];
  return {
    platform: listing.venue,
    market_id: listing.marketId,
    title: listing.title,
    url: listing.url,
    side,
    book: quotes.depth,
    book_at: toIso(quotes.at),
    taker_fee: presentTakerFee(fee),
    contracts,
    average_price: fill?.averagePrice ?? null,
    cost_usd: fill?.costUsd ?? null,
    fee_usd: fill?.feeUsd ?? null,
    levels: offers
      .slice(0, taken.length + 1)
      .map(({ price, size }, index) => ({ price, size, contracts: taken[index] ?? 0 })),
  };
}

function presentTakerFee(fee: TakerFee) {
  switch (fee.kind) {
    case "none":
      return { kind: fee.kind };
    case "quadratic":
      return {
        kind: fee.kind,
        rate: fee.rate,
        exponent: fee.exponent,
        rounds_up_to: fee.rounding?.balanceStep,
        fee_rounds_up_to: fee.rounding?.feeStep,
      };
    case "value_table":
      return { kind: fee.kind, points: fee.buyPoints.map((point) => [...point]) };
    case "flat_value":
      return { kind: fee.kind, rate: fee.rate };
  }
}

function presentVenues(venues: Readonly<Record<string, VenueState>>) {
  return Object.fromEntries(
    Object.entries(venues).map(([venue, { status, lastSuccessAt, booksRefreshed, booksFailed }]) => [
      venue,
      {
        status,
        last_success_at: lastSuccessAt === null ? null : toIso(lastSuccessAt),
        ...(booksRefreshed === undefined ? null : { books_refreshed: booksRefreshed, books_failed: booksFailed }),
      },
    ]),
  );
}
