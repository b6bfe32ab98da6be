import assert from "node:assert/strict";
import { test } from "node:test";
import { parseEvent } from "./parse-market.ts";

const row = (id: number, parts: object = {}) => ({
  id: String(id),
  question: `Will lighthouse ${id} win?`,
  conditionId: `0x${String(id).padStart(64, "0")}`,
  clobTokenIds: JSON.stringify([`${id}1`, `${id}2`]),
  outcomes: '["Yes", "No"]',
  outcomePrices: '["0.5", "0.5"]',
  active: true,
  closed: false,
  acceptingOrders: true,
  negRisk: true,
  ...parts,
});

const event = (markets: unknown, parts: object = {}) =>
  parseEvent({ id: "9", title: "Best lighthouse", negRisk: true, markets, ...parts }, "polymarket", true);

test("children of an event are counted as read or by the reason why they are left out", () => {
  const settled = { closed: true, umaResolutionStatus: "resolved" };
  const markets = [
    row(11),
    row(12, { active: false }),
    row(13, { clobTokenIds: "" }),
    row(14, { conditionId: null }),
    row(15, { negRiskOther: true }),
    row(16, { closed: true, outcomePrices: '["0.6", "0.4"]' }),
    row(17, { ...settled, outcomePrices: '["0", "1"]' }),
    row(18, { ...settled, outcomePrices: '["0", "1"]', clobTokenIds: "" }),
    row(19, { ...settled, outcomePrices: '["1", "0"]' }),
    row(20, { ...settled, outcomePrices: '["0.5", "0.5"]' }),
    row(22, { closed: true, umaResolutionStatus: "disputed", outcomePrices: '["0", "1"]' }),
    { id: "21" },
    null,
  ];
  assert.deepEqual(event(JSON.stringify(markets))?.children, event(markets)?.children);
  assert.deepEqual(event(markets)?.children, {
    total: 13,
    read: 2,
    leftOut: { unreadable: 4, placeholder: 1, closed: 2, settled_no: 2, settled: 2 },
  });
});

test("the counts of children are null if the response does not contain all children", () => {
  assert.equal(event(undefined)?.children, null);
  const short = { id: "9", title: "Best lighthouse", negRisk: true, markets: [row(11)] };
  assert.equal(parseEvent(short, "polymarket", false)?.children, null);
});

test("an event with questions outside its exclusive set, or with two sets, is not exclusive", () => {
  const flagsOf = (markets: unknown) => {
    const listing = event(markets);
    return [listing?.mutuallyExclusive, listing?.exhaustive];
  };
  assert.deepEqual(flagsOf([row(11), row(12)]), [true, true]);
  assert.deepEqual(flagsOf([row(11), row(12, { negRisk: false })]), [false, false]);
  const inSet = (id: number, negRiskMarketID: string) => row(id, { negRiskMarketID });
  assert.deepEqual(flagsOf([inSet(11, "0xa"), inSet(12, "0xa")]), [true, true]);
  assert.deepEqual(flagsOf([inSet(11, "0xa"), inSet(12, "0xb")]), [false, false]);
});
