import { isSettledNo } from "../domain/event-children.ts";
import type { EventListing } from "../domain/market.ts";
import type { BoardMarket } from "./model.ts";

/**
 * Why the markets of an event may not cover every possibility. not_guaranteed: the venue does not guarantee that they
 * do. children_unknown: the venue does not report the number of markets of the event. children_left_out: a market of
 * the event was not read and is not settled NO. children_missing: the board has fewer or more markets than were read.
 * outcome_not_open: a market is neither usable nor settled NO.
 */
export const INCOMPLETE_SET_REASONS = [
  "not_guaranteed",
  "children_unknown",
  "children_left_out",
  "children_missing",
  "outcome_not_open",
] as const;
export type IncompleteSetReason = (typeof INCOMPLETE_SET_REASONS)[number];

/**
 * Returns why the usable markets of an event may not cover every possibility. Null if exactly one of them resolves YES,
 * apart from a cancelled event.
 *
 * @param markets  all markets of the event on the board
 * @param isUsable  whether a market that is not settled NO can be used as an outcome
 */
export function findIncompleteSetReason(
  { mutuallyExclusive, exhaustive, children }: EventListing,
  markets: readonly BoardMarket[],
  isUsable: (market: BoardMarket) => boolean,
): IncompleteSetReason | null {
  if (!mutuallyExclusive || !exhaustive) return "not_guaranteed";
  if (children === null) return "children_unknown";
  if (children.total !== children.read + (children.leftOut.settled_no ?? 0)) return "children_left_out";
  const unsettled = markets.filter(({ listing }) => !isSettledNo(listing));
  // Since the read, a market may have been settled, so there may be fewer unsettled markets. A market that is no longer
  // listed is missing.
  if (unsettled.length > children.read || markets.length < children.read) return "children_missing";
  return unsettled.length > 0 && unsettled.every(isUsable) ? null : "outcome_not_open";
}
