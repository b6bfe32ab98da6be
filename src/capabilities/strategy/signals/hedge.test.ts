import assert from "node:assert/strict";
import { test } from "node:test";
import { SAMPLE_AT, sampleMarket } from "../../../../test/support/markets/market-samples.ts";
import { MarketBoard } from "../../../board/index.ts";
import type { RelatedMarket } from "../../markets/relations/index.ts";
import { describeHedge } from "./hedge.ts";

const board = new MarketBoard(() => SAMPLE_AT);
/** A market at 0.40 to 0.42 that is related to the market of the signal. */
const constraint = (
  title: string,
  dependence: RelatedMarket["dependence"],
  correlation: number | null = null,
): RelatedMarket => ({
  dependence,
  correlation,
  market: board.apply(sampleMarket(title, { listing: { title } }), SAMPLE_AT).market,
});
const hedge = (recommendation: "BUY_YES" | "BUY_NO" | "NO_TRADE", ...related: RelatedMarket[]) =>
  describeHedge({ recommendation, probability: 0.5 }, related, ({ yesPrice }) => yesPrice);

test("the hedge is the side of a related market that pays when the trade loses", () => {
  assert.equal(hedge("BUY_YES", constraint("A", "same")), 'Buy NO of "A" on alpha at 60¢: it asks the same question.');
  assert.equal(hedge("BUY_NO", constraint("A", "same")), 'Buy YES of "A" on alpha at 42¢: it asks the same question.');
  assert.match(hedge("BUY_YES", constraint("A", "opposite")) ?? "", /^Buy YES .* opposite question/);
  assert.match(hedge("BUY_YES", constraint("A", "exclusive")) ?? "", /^Buy YES .* at most one/);
  assert.match(hedge("BUY_YES", constraint("A", "implies")) ?? "", /^Buy NO .* its YES implies this one's YES/);
  assert.match(hedge("BUY_NO", constraint("A", "implied")) ?? "", /^Buy YES .* this one's YES implies its YES/);
  assert.match(
    hedge("BUY_YES", constraint("A", null, -0.8)) ?? "",
    /^Buy YES .* correlation of the answers is -0\.58, from/,
  );
});

test("the hedge is the trade whose payout has the most negative correlation", () => {
  assert.match(hedge("BUY_YES", constraint("weak", null, -0.6), constraint("strong", "same")) ?? "", /"strong"/);
  const { market } = board.apply(sampleMarket("far", { listing: { title: "far" }, quote: { bid: 0.1, ask: 0.12 } }), 0);
  const far = { market, dependence: "same", correlation: null } as const;
  assert.match(
    hedge("BUY_YES", constraint("near", "exclusive"), far) ?? "",
    /"far"/,
    "the same question is a full hedge",
  );
});

test("there is no hedge without a trade, or with a correlation weaker than -0.3", () => {
  assert.equal(hedge("NO_TRADE", constraint("A", "same")), null);
  assert.equal(hedge("BUY_YES", constraint("A", null, 0.3), constraint("B", null)), null);
  assert.equal(hedge("BUY_YES"), null);
});

test("a side without an offer is no hedge", () => {
  const { market } = board.apply(sampleMarket("C", { quote: { ask: null } }), SAMPLE_AT);
  const related = { market, dependence: "opposite", correlation: null } as const;
  assert.equal(
    describeHedge({ recommendation: "BUY_YES", probability: 0.5 }, [related], () => 0.5),
    null,
  );
});
