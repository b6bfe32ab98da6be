import type { MarketView } from "./model.ts";

/**
 * Returns the view of a market at a time, without data that was observed later. Lists keep their order.
 *
 * @param asOf  Unix milliseconds
 */
export function viewAt(view: MarketView, asOf: number): MarketView {
  const isKnown = ({ at }: { readonly at: number }): boolean => at <= asOf;
  const known = <Dated extends { readonly at: number }>(dated: Dated | null): Dated | null =>
    dated !== null && isKnown(dated) ? dated : null;
  const { event } = view;
  return {
    ...view,
    asOf,
    quote: known(view.quote),
    prices: view.prices.filter(isKnown),
    book: known(view.book),
    trades: view.trades.filter(isKnown),
    activity: known(view.activity),
    peers: view.peers.filter(isKnown),
    event: event === null ? null : { ...event, legs: event.legs.filter(isKnown) },
    consensus: known(view.consensus),
    research: known(view.research),
  };
}
