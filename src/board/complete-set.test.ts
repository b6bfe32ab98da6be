import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { SAMPLE_AT, sampleChildren, sampleEvent, sampleMarket } from "../../test/support/markets/market-samples.ts";
import { countChildren, LEFT_OUT_REASONS } from "../domain/event-children.ts";
import { MARKET_STATUSES, type MarketListing } from "../domain/market.ts";
import { MarketBoard } from "./board.ts";
import { findIncompleteSetReason } from "./complete-set.ts";
import type { BoardMarket } from "./model.ts";

const isActive = ({ listing }: BoardMarket) => listing.status === "active";

/** Lists markets of one exclusive, exhaustive event and returns its gap. */
function gapOf(children: ReturnType<typeof sampleChildren> | null, listings: readonly Partial<MarketListing>[]) {
  const board = new MarketBoard(() => SAMPLE_AT);
  const event = sampleEvent("E", { mutuallyExclusive: true, exhaustive: true, children });
  board.applyEvent(event);
  for (const [index, listing] of listings.entries())
    board.apply(sampleMarket(`m${index}`, { listing: { eventId: "E", ...listing } }), SAMPLE_AT);
  return findIncompleteSetReason(event, board.marketsOfEvent("alpha:e"), isActive);
}

test("markets are a complete set if and only if every row of the event is open or settled NO", () => {
  const outcome = fc.constantFrom<MarketListing["outcome"]>(
    { kind: "yes" },
    { kind: "no" },
    { kind: "partial", value: 0.5 },
    { kind: "void", value: null },
    null,
  );
  const listing = fc.record({ status: fc.constantFrom(...MARKET_STATUSES), outcome });
  const mostlyOpen = fc.oneof(
    { arbitrary: fc.constant({ status: "active", outcome: null } as const), weight: 6 },
    { arbitrary: fc.constant({ status: "finalized", outcome: { kind: "no" } } as const), weight: 2 },
    { arbitrary: listing, weight: 1 },
  );
  const reasons = fc.array(
    fc.oneof({ arbitrary: fc.constant("settled_no" as const), weight: 6 }, fc.constantFrom(...LEFT_OUT_REASONS)),
    { maxLength: 3 },
  );
  const seen = new Map<boolean, number>();
  fc.assert(
    fc.property(fc.array(mostlyOpen, { minLength: 1, maxLength: 5 }), reasons, (listings, leftOut) => {
      const children = countChildren([...listings.map(() => null), ...leftOut]);
      const isSettledNo = (item: (typeof listings)[number]) =>
        item.status === "finalized" && item.outcome?.kind === "no";
      const expected =
        leftOut.every((reason) => reason === "settled_no") &&
        listings.every((item) => item.status === "active" || isSettledNo(item)) &&
        listings.some((item) => item.status === "active");
      seen.set(expected, (seen.get(expected) ?? 0) + 1);
      assert.equal(gapOf(children, listings) === null, expected);
    }),
    { numRuns: 500, seed: 5 },
  );
  assert.ok((seen.get(true) ?? 0) > 50 && (seen.get(false) ?? 0) > 50);
});

test("an incomplete set has the reason why it is incomplete", () => {
  const open = [{}, {}];
  assert.equal(gapOf(sampleChildren(2), open), null);
  assert.equal(gapOf(null, open), "children_unknown");
  for (const reason of LEFT_OUT_REASONS.filter((name) => name !== "settled_no"))
    assert.equal(gapOf(sampleChildren(2, { [reason]: 1 }), open), "children_left_out");
  assert.equal(gapOf(sampleChildren(3), open), "children_missing");
  assert.equal(gapOf(sampleChildren(1), open), "children_missing");
  assert.equal(gapOf(sampleChildren(2), [{}, { status: "closed" }]), "outcome_not_open");
  for (const flags of [{ exhaustive: false }, { mutuallyExclusive: false }]) {
    const event = sampleEvent("E", {
      mutuallyExclusive: true,
      exhaustive: true,
      children: sampleChildren(0),
      ...flags,
    });
    assert.equal(findIncompleteSetReason(event, [], isActive), "not_guaranteed");
  }
});
