import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { TakerFee } from "../domain/market.ts";
import { netSpread } from "./arbitrage.ts";
import { chooseNoContracts, findLadderViolations } from "./set-arbitrage.ts";

const NONE: TakerFee = { kind: "none" };
const FEE: TakerFee = { kind: "quadratic", rate: 0.07, exponent: 1 };
const price = fc.integer({ min: 1, max: 99 }).map((cents) => cents / 100);
const maybePrice = fc.option(price, { nil: null });

test("known values: three outcomes whose bids add up to 1.1, and a ladder whose narrower bid is above the wider ask", () => {
  assert.deepEqual(chooseNoContracts([0.3, 0.3, 0.5].map((bid) => ({ bid, fee: NONE }))), {
    markets: [0, 1, 2],
    payout: 2,
  });
  assert.deepEqual(
    findLadderViolations([
      { bid: 0.4, ask: 0.42 },
      { bid: 0.5, ask: 0.52 },
    ]),
    [{ wide: 0, narrow: 1 }],
  );
});

test("a set pays at least its stated payout, whichever market resolves YES and also if none does", () => {
  fc.assert(
    fc.property(fc.array(maybePrice, { maxLength: 8 }), (bids) => {
      const trade = chooseNoContracts(bids.map((bid) => ({ bid, fee: FEE })));
      if (trade === null) return;
      for (let winner = -1; winner < bids.length; winner++)
        assert.ok(trade.markets.filter((market) => market !== winner).length >= trade.payout);
    }),
  );
});

test("no other choice of markets has a higher net spread of NO contracts", () => {
  fc.assert(
    fc.property(fc.array(maybePrice, { minLength: 2, maxLength: 7 }), fc.nat({ max: 127 }), (bids, mask) => {
      const netOf = (indexes: readonly number[]) =>
        netSpread(
          indexes.map((index) => ({ price: 1 - (bids[index] ?? 0), fee: FEE })),
          indexes.length - 1,
        );
      const other = bids.flatMap((bid, index) => (bid !== null && (mask >> index) % 2 === 1 ? [index] : []));
      if (other.length < 2) return;
      const trade = chooseNoContracts(bids.map((bid) => ({ bid, fee: FEE })));
      assert.ok(netOf(other) <= Math.max(trade === null ? 0 : netOf(trade.markets), 0) + 1e-9);
    }),
  );
});

test("buys no set if fewer than two markets have a bid above their fee", () => {
  const market = { bid: 0.9, fee: NONE };
  const costly = { bid: 0.01, fee: { kind: "flat_value", rate: 0.1 } } as const;
  for (const markets of [[market], [market, { bid: null, fee: NONE }], [market, costly]])
    assert.equal(chooseNoContracts(markets), null);
});

test("a ladder has a violation if and only if a narrower market is bid above a wider one's ask", () => {
  const rung = fc.record({ bid: maybePrice, ask: maybePrice });
  fc.assert(
    fc.property(fc.array(rung, { maxLength: 8 }), (rungs) => {
      const found = findLadderViolations(rungs);
      for (const { wide, narrow } of found) {
        assert.ok(wide < narrow && (rungs[narrow]?.bid ?? 0) > (rungs[wide]?.ask ?? 1));
        for (let other = 0; other < narrow; other++)
          assert.ok((rungs[other]?.ask ?? 1) >= (rungs[wide]?.ask ?? 1), "the cheapest wider market is chosen");
      }
      const hasViolation = rungs.some(({ bid }, narrow) =>
        rungs.slice(0, narrow).some(({ ask }) => bid !== null && ask !== null && bid > ask),
      );
      assert.equal(found.length > 0, hasViolation);
    }),
  );
});

test("prices outside [0, 1] are refused", () => {
  for (const bad of [-0.1, 1.1, Number.NaN]) {
    assert.throws(() => chooseNoContracts([{ bid: bad, fee: NONE }]), RangeError);
    assert.throws(() => findLadderViolations([{ bid: bad, ask: null }]), RangeError);
    assert.throws(() => findLadderViolations([{ bid: null, ask: bad }]), RangeError);
  }
});
