import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import fc from "fast-check";
import { yesPrice } from "../../domain/market.ts";
import { type ParseContext, parseContract } from "./parse-market.ts";
import { watchManifold } from "./wire-shapes.ts";

const NOW = 1_795_230_000_000;
const fixture = (name: string): unknown =>
  JSON.parse(readFileSync(new URL(`fixtures/${name}.json`, import.meta.url), "utf8"));

function setUp(options: Partial<ParseContext> = {}) {
  const drops: string[] = [];
  const drop = (reason: string) => {
    drops.push(reason);
  };
  const context: ParseContext = {
    venue: "manifold",
    receivedAt: NOW,
    sumsToOne: null,
    note: null,
    drop,
    watch: watchManifold(() => {}),
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

const endings = (name: string) => {
  const { markets, drops } = parseOne(name);
  const outcomes = markets.map(({ listing }) => [listing.outcomeLabel, listing.status, listing.outcome] as const);
  return { outcomes, drops };
};

test("search/binary-open: a binary contract is one market whose indication is the probability on the micro grid", () => {
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
      tickSize: null,
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
  assert.deepEqual(drops, []);
});

test("search/multiple-lite-answers: probability stands per answer, and the request says that answers exclude each other", () => {
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
  assert.deepEqual(drops, []);
});

test("where nothing says that answers exclude each other they are not said to", () => {
  const { parsed } = parseList("search/multiple-lite-answers");
  assert.equal(parsed[0]?.event?.mutuallyExclusive, false);
});

test("search/independent-answer-settled: a resolved answer shown at 0 or 1 has no price, and counts as no bad one", () => {
  const { parsed, drops } = parseList("search/independent-answer-settled", { sumsToOne: false });
  assert.deepEqual(
    parsed[0]?.markets.map(({ quote }) => quote.indicativePrice),
    [null, 0.3, null],
  );
  assert.deepEqual(drops, []);
});

test("search/other-types: polls, bounties, stocks and numbers are no yes-or-no questions and no garbage", () => {
  const { parsed, drops } = parseList("search/other-types");
  assert.deepEqual(parsed, []);
  assert.deepEqual(drops, []);
});

test("search/invalid-rows: bad rows are dropped and counted, good ones stay, no price is outside (0, 1)", () => {
  const { parsed, drops } = parseList("search/invalid-rows");
  assert.deepEqual(
    parsed.map(({ contractId }) => contractId),
    ["rainNYC12a", "probHigh", "badUrl"],
  );
  const [, high, badUrl] = parsed.flatMap(({ markets }) => markets);
  assert.equal(high?.quote.indicativePrice, null);
  assert.equal(badUrl?.listing.url, null);
  assert.equal(badUrl?.listing.closeAt, null);
  assert.deepEqual(drops.sort(), [...Array(5).fill("bad_market"), "price_out_of_range"]);
});

test("market/binary-full: a full read tells the rules and a category", () => {
  const { markets, note } = parseOne("market/binary-full");
  assert.equal(markets[0]?.listing.rules, "Resolves YES if the station reports at least 0.1 mm.");
  assert.equal(markets[0]?.listing.category, "Weather");
  assert.deepEqual(note, { rules: markets[0]?.listing.rules, category: "Weather", settledAnswerIds: [] });
});

test("a later list does not forget what a full read told", () => {
  const note = { rules: "The rules.", category: "Weather", settledAnswerIds: [] };
  const { parsed } = parseList("search/binary-open", { note });
  assert.equal(parsed[0]?.markets[0]?.listing.rules, "The rules.");
  assert.equal(parsed[0]?.markets[0]?.listing.category, "Weather");
});

test("market/binary-closed: past its close and not resolved is closed", () => {
  assert.deepEqual(endings("market/binary-closed").outcomes, [[null, "closed", null]]);
});

test("resolutions of binary contracts: YES, NO, a share by MKT, and CANCEL as void", () => {
  const outcome = (name: string) => endings(`market-binary-resolved-${name}`).outcomes[0]?.[2];
  assert.deepEqual(outcome("yes"), { kind: "yes" });
  assert.deepEqual(outcome("no"), { kind: "no" });
  assert.deepEqual(outcome("mkt"), { kind: "partial", value: 0.35 });
  assert.deepEqual(outcome("cancel"), { kind: "void", value: null });
  assert.equal(parseOne("market/binary-resolved-yes").markets[0]?.listing.resolvedAt, NOW - 3_600_000);
});

test("market/binary-resolved-unknown-value: settled, with an outcome nobody can read, counted", () => {
  const { outcomes, drops } = endings("market/binary-resolved-unknown-value");
  assert.deepEqual(outcomes, [[null, "finalized", null]]);
  assert.deepEqual(drops, ["unknown_resolution"]);
});

test("market/binary-reopened: a resolution that was taken back makes it active once more", () => {
  const { markets } = parseOne("market/binary-reopened");
  assert.deepEqual(
    [markets[0]?.listing.status, markets[0]?.listing.outcome, markets[0]?.listing.resolvedAt],
    ["active", null, null],
  );
});

test("market/multiple-sum-to-one: the contract itself says that its answers exclude each other", () => {
  const { event, markets } = parseOne("market/multiple-sum-to-one", { sumsToOne: false });
  assert.equal(event?.mutuallyExclusive, true);
  assert.equal(event?.description, "The side that lifts the cup.");
  assert.equal(markets[0]?.listing.category, "Sports");
});

test("market/multiple-resolved-one: the winner's id is yes for it and no for the others", () => {
  assert.deepEqual(endings("market/multiple-resolved-one").outcomes, [
    ["Reds", "finalized", { kind: "no" }],
    ["Blues", "finalized", { kind: "yes" }],
    ["Other", "finalized", { kind: "no" }],
  ]);
});

test("market/multiple-resolved-choose-multiple: shares are parts of their sum, what was not chosen is no", () => {
  assert.deepEqual(endings("market/multiple-resolved-choose-multiple").outcomes, [
    ["Reds", "finalized", { kind: "partial", value: 0.75 }],
    ["Blues", "finalized", { kind: "partial", value: 0.25 }],
    ["Other", "finalized", { kind: "no" }],
  ]);
});

test("market/multiple-resolved-without-shares: what each pays is unknown, and never the probability of before", () => {
  const { outcomes } = endings("market/multiple-resolved-without-shares");
  assert.deepEqual(
    outcomes.map(([, status, outcome]) => [status, outcome]),
    Array(3).fill(["finalized", null]),
  );
});

test("market/multiple-resolved-cancel: every answer is void", () => {
  for (const [, , outcome] of endings("market/multiple-resolved-cancel").outcomes) {
    assert.deepEqual(outcome, { kind: "void", value: null });
  }
});

test("market/independent-partly-settled: each answer has its own end while the contract stays open", () => {
  const { outcomes } = endings("market/independent-partly-settled");
  assert.deepEqual(outcomes, [
    ["Phone", "finalized", { kind: "yes" }],
    ["Car", "active", null],
    ["Boat", "finalized", { kind: "partial", value: 0.25 }],
    ["Plane", "finalized", { kind: "void", value: null }],
  ]);
  assert.deepEqual(parseOne("market/independent-partly-settled").note.settledAnswerIds, ["ansA", "ansC", "ansD"]);
});

test("mana never stands in a field of dollars", () => {
  for (const name of ["search/binary-open", "search/multiple-lite-answers"]) {
    for (const { markets } of parseList(name).parsed) {
      for (const { activity } of markets) assert.deepEqual(Object.values(activity), [null, null, null, null]);
    }
  }
});

test("no names of people come through", () => {
  const { parsed } = parseList("search/binary-open");
  const text = JSON.stringify(parsed.map(({ markets }) => markets.map(({ listing }) => ({ ...listing, url: null }))));
  assert.doesNotMatch(text, /SkyWatcher|Sky Watcher|u7Kc2LmQ/);
});

test("whatever is sent, prices are null or inside (0, 1) and nothing is thrown", () => {
  const row = fc.record(
    {
      id: fc.oneof(fc.constant("abc"), fc.string()),
      question: fc.oneof(fc.constant("Q?"), fc.anything()),
      outcomeType: fc.constantFrom("BINARY", "MULTIPLE_CHOICE", "POLL"),
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
