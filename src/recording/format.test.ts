import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { fromMicros } from "../domain/price.ts";
import { HOUR_MS } from "../lib/durations.ts";
import { parseFact, writeFact } from "./fact-lines.ts";
import { type Fact, LineError, parseHeader, writeHeader } from "./format.ts";

const at = fc.integer({ min: Date.UTC(2000, 0), max: Date.UTC(2199, 0) });
const micros = fc.integer({ min: 1, max: 999_999 });
const price = micros.map(fromMicros);
const size = fc.integer({ min: 1, max: 1e9 }).map((hundredths) => hundredths / 100);
const text = fc.string({ unit: "grapheme", maxLength: 40 });
const id = fc.string({ unit: "grapheme", minLength: 1, maxLength: 30 });
const nullable = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: null });
const amount = nullable(fc.double({ min: 0, max: 1e12, noNaN: true }).filter((value) => !Object.is(value, -0)));
/** Bid and ask of a quote that is not crossed; either may be null. */
const bestPrices = fc.uniqueArray(micros, { minLength: 2, maxLength: 2 }).chain((pair) => {
  const [bid = 1, ask = 2] = pair.sort((a, b) => a - b).map(fromMicros);
  return fc.tuple(nullable(fc.constant(bid)), nullable(fc.constant(ask)));
});

const event = fc.record({
  eventId: id,
  title: text,
  description: nullable(text),
  category: nullable(text),
  url: nullable(text),
  mutuallyExclusive: fc.boolean(),
  exhaustive: fc.boolean(),
  children: nullable(
    fc.record({
      total: fc.nat(100),
      read: fc.nat(100),
      leftOut: fc.record({ settled_no: fc.nat(9), unreadable: fc.nat(9) }, { requiredKeys: [] }),
    }),
  ),
  featured: fc.boolean(),
  endAt: nullable(at),
});
const outcome = fc.oneof(
  fc.constantFrom({ kind: "yes" } as const, { kind: "no" } as const),
  price.map((value) => ({ kind: "partial", value }) as const),
  nullable(price).map((value) => ({ kind: "void", value }) as const),
);
const takerFee = fc.oneof(
  fc.constant({ kind: "none" } as const),
  fc.record(
    {
      kind: fc.constant("quadratic" as const),
      rate: price,
      exponent: fc.constantFrom(1, 2),
      rounding: fc.record({ feeStep: price, balanceStep: price }),
    },
    { requiredKeys: ["kind", "rate", "exponent"] },
  ),
  fc.record({
    kind: fc.constant("value_table" as const),
    buyPoints: fc.array(fc.tuple(price, price)),
    sellPoints: fc.array(fc.tuple(price, price)),
  }),
  fc.record({ kind: fc.constant("flat_value" as const), rate: price }),
);
const market = fc.record({
  marketId: id,
  eventId: nullable(id),
  title: text,
  outcomeLabel: nullable(text),
  url: nullable(text),
  category: nullable(text),
  status: fc.constantFrom("pending", "active", "closed", "determined", "finalized"),
  paused: fc.boolean(),
  outcome: nullable(outcome),
  rules: nullable(text),
  openAt: nullable(at),
  closeAt: nullable(at),
  expectedResolutionAt: nullable(at),
  resolvedAt: nullable(at),
  priceRanges: nullable(fc.array(fc.record({ from: price, to: price, step: price }), { minLength: 1, maxLength: 4 })),
  minOrderContracts: nullable(size),
  contractStep: nullable(size),
  takerDelayMs: nullable(fc.integer({ min: 0, max: HOUR_MS })),
  protocolVersion: nullable(fc.constantFrom("v1", "v2")),
  takerFee: nullable(takerFee),
  venueKeys: fc.dictionary(
    id.filter((name) => name !== "__proto__"),
    text,
    { noNullPrototype: true },
  ),
});
const quote = fc
  .tuple(bestPrices, nullable(size), nullable(size), nullable(price), nullable(price), nullable(at))
  .map(([[bid, ask], bidSize, askSize, lastPrice, indicativePrice, eventAt]) => ({
    bid,
    ask,
    bidSize,
    askSize,
    lastPrice,
    indicativePrice,
    eventAt,
  }));
const activity = fc.record({
  volume24hUsd: amount,
  volumeTotalUsd: amount,
  liquidityUsd: amount,
  openInterestUsd: amount,
});
/** Levels with unique prices, best first. Prices below `firstAsk` are bids, the others are asks. */
const book = fc
  .record({
    levels: fc.uniqueArray(fc.tuple(micros, size), { maxLength: 30, selector: ([priceMicros]) => priceMicros }),
    firstAsk: micros,
    lastPrice: nullable(price),
    eventAt: nullable(at),
  })
  .map(({ levels, firstAsk, lastPrice, eventAt }) => {
    const sortedLevels = levels.sort(([a], [b]) => a - b);
    const levelsOfSide = (isBid: boolean) =>
      sortedLevels
        .filter(([priceMicros]) => priceMicros < firstAsk === isBid)
        .map(([priceMicros, size]) => ({ price: fromMicros(priceMicros), size }));
    return { bids: levelsOfSide(true).reverse(), asks: levelsOfSide(false), lastPrice, eventAt };
  });
const trade = fc.record({
  tradeId: id,
  executedAt: at,
  yesPrice: price,
  size,
  takerSide: nullable(fc.constantFrom("yes", "no")),
});
const commonFields = { at, venue: fc.constantFrom("kalshi", "polymarket", "a1_b") };
const fact: fc.Arbitrary<Fact> = fc.oneof(
  fc.record({ ...commonFields, kind: fc.constant("event" as const), event }),
  fc.record({ ...commonFields, kind: fc.constant("market" as const), market }),
  fc.record({ ...commonFields, kind: fc.constant("quote" as const), marketId: id, quote }),
  fc.record({ ...commonFields, kind: fc.constant("activity" as const), marketId: id, activity }),
  fc.record({ ...commonFields, kind: fc.constant("book" as const), marketId: id, book }),
  fc.record({ ...commonFields, kind: fc.constant("trade" as const), marketId: id, trade }),
);

test("reading a written fact returns the same fact", () => {
  fc.assert(
    fc.property(fact, (fact) => {
      const line = writeFact(fact);
      assert.ok(!line.includes("\n"));
      // fast-check's objects have no prototype; `structuredClone` adds it.
      assert.deepEqual(parseFact(line), structuredClone(fact));
    }),
    { numRuns: 1_000 },
  );
});

test("a written trade does not name its taker", () => {
  const trade = { tradeId: "t", executedAt: 1_783_385_870_299, yesPrice: 0.5, size: 1, takerSide: null, taker: "x" };
  const line = writeFact({ at: trade.executedAt, venue: "kalshi", kind: "trade", marketId: "m", trade });
  assert.ok(!("taker" in JSON.parse(line)), line);
});

test("a written line contains no null fields", () => {
  fc.assert(fc.property(fact, (fact) => assert.ok(!Object.values(JSON.parse(writeFact(fact))).includes(null))));
});

test("reads a written header, and rejects an unknown format or version with the reason", () => {
  const header = { startedAt: Date.UTC(2026, 6, 7, 1, 2, 3, 4), source: "live venues" };
  assert.deepEqual(parseHeader(writeHeader(header)), header);
  assert.throws(() => parseHeader('{"ts":"2026-07-07","ticker":"X"}'), /not the header of a recording/);
  assert.throws(() => parseHeader(writeHeader(header).replace('"version":1', '"version":2')), /reads version 1/);
});

test("rejects each malformed or hostile line with the reason", () => {
  const quote = { at: 1_783_385_870_299, venue: "kalshi", kind: "quote", market_id: "A" };
  const book = { ...quote, kind: "book" };
  const lines: [unknown, RegExp][] = [
    ["{", /not JSON/],
    [[], /not a fact of a known kind/],
    [{ ...quote, kind: "toString" }, /not a fact of a known kind/],
    [{ ...quote, bid: 1.7 }, /bid/],
    [{ ...quote, bid: 0 }, /bid/],
    [{ ...quote, bid: "0.5" }, /bid/],
    [{ ...quote, bid: 0.6, ask: 0.5 }, /crossed/],
    [{ ...quote, at: 12 }, /at/],
    [{ ...quote, venue: "../x" }, /venue/],
    [{ ...quote, market_id: "" }, /market_id/],
    [
      {
        ...book,
        bids: [
          [0.4, 1],
          [0.5, 1],
        ],
      },
      /best first/,
    ],
    [
      {
        ...book,
        bids: [
          [0.5, 1],
          [0.5, 1],
        ],
      },
      /best first/,
    ],
    [{ ...book, bids: [[0.5, 0]] }, /bids/],
    [{ ...book, bids: [[0.5, 1]], asks: [[0.5, 1]] }, /crossed/],
    [{ ...quote, kind: "market", title: "T", status: "open" }, /status/],
    [{ ...quote, kind: "trade", trade_id: "t", executed_at: quote.at, yes_price: 0.5, size: -1 }, /size/],
  ];
  for (const [line, reason] of lines) {
    const text = typeof line === "string" ? line : JSON.stringify(line);
    assert.throws(
      () => parseFact(text),
      (error) => error instanceof LineError && reason.test(error.message),
      text,
    );
  }
});
