import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { countDrops } from "../../../test/support/venues/count-drops.ts";
import { fixtureReader } from "../../../test/support/venues/fixtures.ts";
import { yesPrice } from "../../domain/market.ts";
import { HOUR_MS } from "../../lib/durations.ts";
import { type ParseContext, parseContract } from "./parse-market.ts";
import { createManifoldDriftDetectors } from "./wire.ts";

const fixture = fixtureReader(import.meta.url);
const NOW = 1_795_230_000_000;

function setUp(options: Partial<ParseContext> = {}) {
  const { drops, countDrop } = countDrops();
  const context: ParseContext = {
    id: "manifold",
    receivedAt: NOW,
    sumsToOne: null,
    cached: null,
    countDrop,
    driftDetectors: createManifoldDriftDetectors(() => {}),
    ...options,
  };
  return { drops, parse: (row: unknown) => parseContract(row, context) };
}

function parseOne(name: string, options: Partial<ParseContext> = {}) {
  const { drops, parse } = setUp(options);
  const parsed = parse(fixture(name));
  assert.ok(parsed !== null, name);
  return { drops, ...parsed };
}

function parseList(name: string, options: Partial<ParseContext> = {}) {
  const { drops, parse } = setUp(options);
  const rows = fixture(name);
  assert.ok(Array.isArray(rows));
  return { drops, parsed: rows.map(parse).filter((contract) => contract !== null) };
}

test("a binary contract is one market whose indicative price is the probability rounded to 1e-6", () => {
  const { parsed, drops } = parseList("search/binary-open");
  const [rain, bridge] = parsed.map(({ markets }) => markets[0]);
  assert.ok(rain !== undefined && bridge !== undefined);
  assert.deepEqual(rain, {
    listing: {
      venue: "manifold",
      marketId: "rainNYC12a",
      eventId: null,
      title: "Will it rain in Seattle on Dec 3?",
      outcomeLabel: null,
      url: "https://manifold.markets/SkyWatcher/will-it-rain-in-seattle-on-dec-3",
      category: null,
      status: "active",
      paused: false,
      outcome: null,
      rules: null,
      openAt: 1_794_800_000_000,
      closeAt: 1_796_187_600_000,
      expectedResolutionAt: null,
      resolvedAt: null,
      priceRanges: null,
      minOrderContracts: null,
      contractStep: null,
      takerDelayMs: null,
      protocolVersion: null,
      takerFee: { kind: "none" },
      venueKeys: { contractId: "rainNYC12a" },
    },
    quote: {
      bid: null,
      ask: null,
      bidSize: null,
      askSize: null,
      lastPrice: null,
      indicativePrice: 0.424605,
      eventAt: null,
      receivedAt: NOW,
    },
    activity: { volume24hUsd: null, volumeTotalUsd: null, liquidityUsd: null, openInterestUsd: null },
  });
  assert.equal(yesPrice(rain.quote), 0.424605);
  assert.equal(bridge.listing.closeAt, null);
  assert.equal(bridge.listing.status, "active");
  assert.deepEqual(drops, {});
});

test("a multiple-choice contract is one market per answer; mutual exclusion comes from the requested type", () => {
  const { parsed, drops } = parseList("search/multiple-lite-answers", { sumsToOne: true });
  const contract = parsed[0];
  assert.ok(contract !== undefined);
  assert.deepEqual(
    contract.markets.map(({ listing, quote }) => [listing.marketId, listing.title, quote.indicativePrice]),
    [
      ["cupFinal7Xq:ansRed1", "Who wins the cup final? — Reds", 0.41],
      ["cupFinal7Xq:ansBlue2", "Who wins the cup final? — Blues", 0.37],
      ["cupFinal7Xq:ansOther3", "Who wins the cup final? — Other", 0.22],
    ],
  );
  assert.deepEqual(
    contract.markets.map(({ listing }) => listing.eventId),
    ["cupFinal7Xq", "cupFinal7Xq", "cupFinal7Xq"],
  );
  assert.equal(contract.event?.mutuallyExclusive, true);
  assert.equal(contract.event?.exhaustive, true);
  assert.deepEqual(drops, {});
});

test("answers are not mutually exclusive unless the row or the requested type marks them as exclusive", () => {
  const { parsed } = parseList("search/multiple-lite-answers");
  assert.equal(parsed[0]?.event?.mutuallyExclusive, false);
});

test("an answer with probability 0 or 1 has no price and is not counted as invalid", () => {
  const { parsed, drops } = parseList("search/independent-answer-settled", { sumsToOne: false });
  assert.deepEqual(
    parsed[0]?.markets.map(({ quote }) => quote.indicativePrice),
    [null, 0.3, null],
  );
  assert.deepEqual(drops, {});
});

test("polls, bounties, stocks and scales are counted as `not_binary` and not listed", () => {
  const { parsed, drops } = parseList("search/other-types");
  assert.deepEqual(parsed, []);
  assert.deepEqual(drops, { not_binary: 4 });
});

test("a sweepstakes contract, which repeats a contract in mana, is counted as `cash_contract` and not listed", () => {
  const { drops, parse } = setUp();
  const rows = fixture("search/binary-open");
  assert.ok(Array.isArray(rows));
  const [mana] = rows;
  const cash = { ...mana, id: "cashTwin12", token: "CASH", siblingContractId: mana.id };
  const ids = [mana, cash].flatMap((row) => parse(row)?.markets.map(({ listing }) => listing.marketId) ?? []);
  assert.deepEqual(ids, [mana.id]);
  assert.deepEqual(drops, { cash_contract: 1 });
});

test("a multiple-choice row without answers is counted as `not_binary` and not listed", () => {
  const { drops, parse } = setUp();
  const [row] = fixture("search/multiple-lite-answers") as object[];
  assert.equal(parse({ ...row, answers: undefined }), null);
  assert.deepEqual(drops, { not_binary: 1 });
});

test("the buckets of a number and the thresholds of a date are one market each", () => {
  const read = (name: string) => {
    const { markets, event, drops } = parseOne(name);
    assert.deepEqual(drops, {});
    assert.equal(event?.exhaustive, event?.mutuallyExclusive);
    const prices = markets.map(({ listing, quote }) => [listing.marketId, listing.outcomeLabel, quote.indicativePrice]);
    return { prices, isExclusive: event?.mutuallyExclusive };
  };
  assert.deepEqual(read("market/number-buckets"), {
    prices: [
      ["snowDepth8:cm0to9", "0 - 9", 0.2],
      ["snowDepth8:cm10to19", "10 - 19", 0.5],
      ["snowDepth8:cm20up", "20 - 60", 0.3],
    ],
    isExclusive: true,
  });
  assert.deepEqual(read("market/date-thresholds"), {
    prices: [
      ["bridgeOpen4:byJune", "Before Jun 2027", 0.35],
      ["bridgeOpen4:byDec", "Before Dec 2027", 0.7],
    ],
    isExclusive: false,
  });
});

test("the buckets of a listing row are mutually exclusive only if the cached contract is marked as summing to 1", () => {
  const isExclusive = (sumsToOne: boolean | null) => {
    const cached = { rules: null, category: null, settledAnswerIds: [], sumsToOne };
    return parseList("search/number-buckets", { cached }).parsed[0]?.event?.mutuallyExclusive;
  };
  assert.deepEqual([isExclusive(null), isExclusive(false), isExclusive(true)], [false, false, true]);
});

test("drops and counts invalid rows and prices outside (0, 1), and keeps valid rows", () => {
  const { parsed, drops } = parseList("search/invalid-rows");
  assert.deepEqual(
    parsed.map(({ contractId }) => contractId),
    ["rainNYC12a", "probHigh", "badUrl"],
  );
  const [, high, badUrl] = parsed.flatMap(({ markets }) => markets);
  assert.equal(high?.quote.indicativePrice, null);
  assert.equal(badUrl?.listing.url, null);
  assert.equal(badUrl?.listing.closeAt, null);
  assert.deepEqual(drops, { bad_market: 5, price_out_of_range: 1 });
});

test("a FullMarket has the rules and a category", () => {
  const { markets, cacheEntry } = parseOne("market/binary-full");
  assert.equal(markets[0]?.listing.rules, "Resolves YES if the station reports at least 0.1 mm.");
  assert.equal(markets[0]?.listing.category, "Weather");
  assert.deepEqual(cacheEntry, {
    rules: markets[0]?.listing.rules,
    category: "Weather",
    settledAnswerIds: [],
    sumsToOne: null,
  });
});

test("a listing row gets its rules and category from the cache", () => {
  const cached = { rules: "The rules.", category: "Weather", settledAnswerIds: [], sumsToOne: null };
  const { parsed } = parseList("search/binary-open", { cached });
  assert.equal(parsed[0]?.markets[0]?.listing.rules, "The rules.");
  assert.equal(parsed[0]?.markets[0]?.listing.category, "Weather");
});

for (const [name, expected, expectedDrops] of [
  ["market/binary-closed", [[null, "closed", null]], {}],
  ["market/binary-resolved-yes", [[null, "finalized", { kind: "yes" }]], {}],
  ["market/binary-resolved-no", [[null, "finalized", { kind: "no" }]], {}],
  ["market/binary-resolved-mkt", [[null, "finalized", { kind: "partial", value: 0.35 }]], {}],
  ["market/binary-resolved-cancel", [[null, "finalized", { kind: "void", value: null }]], {}],
  ["market/binary-resolved-unknown-value", [[null, "finalized", null]], { unknown_resolution: 1 }],
  [
    "market/multiple-resolved-one",
    [
      ["Reds", "finalized", { kind: "no" }],
      ["Blues", "finalized", { kind: "yes" }],
      ["Other", "finalized", { kind: "no" }],
    ],
    {},
  ],
  [
    "market/multiple-resolved-cancel",
    ["Reds", "Blues", "Other"].map((label) => [label, "finalized", { kind: "void", value: null }]),
    {},
  ],
  [
    "market/multiple-resolved-shares-2022",
    [
      ["Apple", "finalized", { kind: "partial", value: 0.75 }],
      ["Cherry", "finalized", { kind: "no" }],
      ["Lemon", "finalized", { kind: "partial", value: 0.25 }],
    ],
    {},
  ],
  [
    "market/independent-partly-settled",
    [
      ["Phone", "finalized", { kind: "yes" }],
      ["Car", "active", null],
      ["Boat", "finalized", { kind: "partial", value: 0.25 }],
      ["Plane", "finalized", { kind: "void", value: null }],
    ],
    {},
  ],
] as const) {
  test(`the answers of ${name} have the outcomes of their resolutions`, () => {
    const { markets, drops } = parseOne(name);
    const outcomes = markets.map(({ listing }) => [listing.outcomeLabel, listing.status, listing.outcome]);
    assert.deepEqual(outcomes, expected);
    assert.deepEqual(drops, expectedDrops);
  });
}

test("reads the resolution time, the settled answers, and the mutual exclusion of answers in a response of 2022", () => {
  assert.equal(parseOne("market/binary-resolved-yes").markets[0]?.listing.resolvedAt, NOW - HOUR_MS);
  assert.deepEqual(parseOne("market/independent-partly-settled").cacheEntry.settledAnswerIds, ["ansA", "ansC", "ansD"]);
  assert.equal(parseOne("market/multiple-resolved-shares-2022").event?.mutuallyExclusive, true);
});

test("a contract is active again after its resolution was undone", () => {
  const { markets } = parseOne("market/binary-reopened");
  assert.deepEqual(
    [markets[0]?.listing.status, markets[0]?.listing.outcome, markets[0]?.listing.resolvedAt],
    ["active", null, null],
  );
});

test("whether answers exclude each other is read from the row, not from the contract type of the request", () => {
  const { event, markets } = parseOne("market/multiple-sum-to-one", { sumsToOne: false });
  assert.equal(event?.mutuallyExclusive, true);
  assert.equal(event?.description, "The side that lifts the cup.");
  assert.equal(markets[0]?.listing.category, "Sports");
});

test("CHOOSE_MULTIPLE pays each answer the probability that the venue stored at the resolution", () => {
  const { answerProbs: probabilities } = fixture("market/multiple-resolved-choose-multiple-prob") as {
    answerProbs: Record<string, number>;
  };
  const { markets, drops } = parseOne("market/multiple-resolved-choose-multiple", { probabilities });
  assert.deepEqual(
    markets.map(({ listing }) => listing.outcome),
    [{ kind: "partial", value: 0.75 }, { kind: "partial", value: 0.25 }, { kind: "no" }],
  );
  assert.deepEqual(drops, {});
});

test("CHOOSE_MULTIPLE outcomes are unknown and counted if payouts are incomplete or equal the earlier prices", () => {
  const cases: readonly (Record<string, number> | null)[] = [
    null,
    { ansRed1: 0.41, ansBlue2: 0.37, ansOther3: 0.22 },
    { ansRed1: 0.75, ansBlue2: 0.25 },
    { ansRed1: 0.75, ansBlue2: 0.75, ansOther3: 0 },
  ];
  for (const probabilities of cases) {
    const { markets, drops } = parseOne("market/multiple-resolved-choose-multiple", { probabilities });
    assert.deepEqual(
      markets.map(({ listing }) => [listing.status, listing.outcome]),
      Array(3).fill(["finalized", null]),
    );
    assert.deepEqual(drops, { unknown_resolution: 3 });
  }
});

test("a payout outside [0, 1] is counted and gives no outcome", () => {
  const { drops, parse } = setUp();
  const binary = { ...(fixture("market/binary-resolved-mkt") as object), resolutionProbability: 1.2 };
  assert.equal(parse(binary)?.markets[0]?.listing.outcome, null);
  assert.deepEqual(drops, { payout_out_of_range: 1 });
  const shares = {
    ...(fixture("market/multiple-resolved-shares-2022") as object),
    resolutions: { "0": 300, "2": -100 },
  };
  const outcomes = parse(shares)?.markets.map(({ listing }) => listing.outcome);
  assert.deepEqual(outcomes, [null, { kind: "no" }, null]);
  assert.deepEqual(drops, { payout_out_of_range: 3 });
});

test("an independent answer without its own resolution has no outcome, regardless of the payouts of other answers", () => {
  const row = fixture("market/independent-partly-settled") as { answers: object[] };
  const resolved = { ...row, isResolved: true, resolution: "MKT", resolutions: undefined };
  const { drops, parse } = setUp({ probabilities: { ansA: 1, ansB: 0, ansC: 0, ansD: 0 } });
  const car = parse(resolved)?.markets.find(({ listing }) => listing.outcomeLabel === "Car");
  assert.deepEqual([car?.listing.status, car?.listing.outcome], ["finalized", null]);
  assert.deepEqual(drops, { unknown_resolution: 1 });
});

test("mana amounts never appear as USD", () => {
  for (const name of ["search/binary-open", "search/multiple-lite-answers"]) {
    for (const { markets } of parseList(name).parsed) {
      for (const { activity } of markets) assert.deepEqual(Object.values(activity), [null, null, null, null]);
    }
  }
});

test("stores no user names", () => {
  const { parsed } = parseList("search/binary-open");
  const text = JSON.stringify(parsed.map(({ markets }) => markets.map(({ listing }) => ({ ...listing, url: null }))));
  assert.doesNotMatch(text, /SkyWatcher|Sky Watcher|u7Kc2LmQ/);
});

test("arbitrary rows never throw or produce a price outside (0, 1)", () => {
  const row = fc.record(
    {
      id: fc.oneof(fc.constant("abc"), fc.string()),
      question: fc.oneof(fc.constant("Q?"), fc.anything()),
      outcomeType: fc.constantFrom("BINARY", "MULTIPLE_CHOICE", "DATE", "POLL"),
      isResolved: fc.boolean(),
      probability: fc.oneof(fc.double(), fc.string()),
      closeTime: fc.double(),
      resolution: fc.oneof(fc.constantFrom("YES", "MKT", "CHOOSE_MULTIPLE", "CANCEL", "a"), fc.string()),
      resolutionProbability: fc.double(),
      resolutions: fc.dictionary(fc.string(), fc.double()),
      answers: fc.array(
        fc.oneof(
          fc.anything(),
          fc.record({ id: fc.constantFrom("a", "b"), text: fc.string(), probability: fc.double() }),
        ),
      ),
    },
    { requiredKeys: [] },
  );
  fc.assert(
    fc.property(row, (value) => {
      for (const { listing, quote } of setUp().parse(value)?.markets ?? []) {
        const price = quote.indicativePrice;
        assert.ok(price === null || (price > 0 && price < 1));
        const { outcome } = listing;
        if (outcome?.kind === "partial") assert.ok(outcome.value > 0 && outcome.value < 1);
        for (const at of [listing.openAt, listing.closeAt, listing.resolvedAt])
          assert.ok(at === null || Number.isFinite(at));
      }
    }),
  );
});
