import { isSettledNo } from "../domain/event-children.ts";
import type { EventListing } from "../domain/market.ts";
import type { BoardMarket } from "./model.ts";

/**
 * Why markets do not cover every possibility of their event. not_guaranteed: the venue does not guarantee that its
 * markets do. children_unknown: the venue does not say how many markets the event has. children_left_out: a market of
 * the event was not read and is not settled NO. children_missing: the markets are fewer or more than those that were
 * read. outcome_not_open: a market is neither usable nor settled NO.
 */
export const SET_GAPS = [
  "not_guaranteed",
  "children_unknown",
  "children_left_out",
  "children_missing",
  "outcome_not_open",
] as const;
export type SetGap = (typeof SET_GAPS)[number];

/**
 * Returns why the usable markets of an event do not cover every possibility; null if exactly one of them resolves YES,
 * unless the venue cancels the event.
 *
 * @param markets  all markets of the event on the board
 * @param isUsable  whether a market that is not settled NO can be used as an outcome
 */
export function findSetGap(
  { mutuallyExclusive, exhaustive, children }: EventListing,
  markets: readonly BoardMarket[],
  isUsable: (market: BoardMarket) => boolean,
): SetGap | null {
  if (!mutuallyExclusive || !exhaustive) return "not_guaranteed";
  if (children === null) return "children_unknown";
  if (children.total !== children.read + (children.leftOut.settled_no ?? 0)) return "children_left_out";
  const unsettled = markets.filter(({ listing }) => !isSettledNo(listing));
  // A market that was read may have been settled since, so fewer may be unsettled. If one is no longer listed, it is
  // missing.
  if (unsettled.length > children.read || markets.length < children.read) return "children_missing";
  return unsettled.length > 0 && unsettled.every(isUsable) ? null : "outcome_not_open";
}
