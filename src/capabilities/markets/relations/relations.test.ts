import assert from "node:assert/strict";
import { test } from "node:test";
import { FakeClock } from "../../../../test/support/fake-clock.ts";
import {
  SAMPLE_AT,
  type SampleParts,
  sampleChildren,
  sampleEvent,
  sampleMarket,
} from "../../../../test/support/markets/market-samples.ts";
import { type BoardMarket, MarketBoard } from "../../../board/index.ts";
import { DAY_MS } from "../../../lib/durations.ts";
import type { MarketPair } from "../../../matching/index.ts";
import type { PairCorrelation } from "../../../quant/correlation.ts";
import { createRelatedMarkets, findLogicalConstraints } from "./index.ts";

/** Opens a board whose markets are liquid by default. */
function openBoard(pairs: readonly MarketPair[] = [], correlation: number | null = null) {
  const board = new MarketBoard(() => SAMPLE_AT);
  const pairsOf: Parameters<typeof createRelatedMarkets>[0]["pairsOf"] = (venue, marketId) =>
    pairs.filter(({ a, b }) => [a, b].includes(`${venue}/${marketId}`));
  const measured: string[][] = [];
  /** Searches of the text index and pauses for other requests, in order. */
  const steps: ("search" | "yield")[] = [];
  const clock = new FakeClock(SAMPLE_AT);
  clock.yieldToEventLoop = async () => void steps.push("yield");
  const findByQuestion = board.findByQuestion.bind(board);
  board.findByQuestion = (...query) => {
    steps.push("search");
    return findByQuestion(...query);
  };
  const related = createRelatedMarkets({
    board,
    pairsOf,
    clock,
    venues: ["alpha", "beta"],
    async correlatePairs(markets: readonly BoardMarket[]): Promise<PairCorrelation[]> {
      measured.push(markets.map(({ listing }) => listing.marketId));
      return markets.slice(1).map((_, index) => ({ a: 0, b: index + 1, correlation, dataPoints: 700 }));
    },
  });
  const add = (marketId: string, title: string, parts: SampleParts = {}): BoardMarket =>
    board.apply(
      sampleMarket(marketId, {
        listing: { title, takerFee: { kind: "none" }, ...parts.listing },
        quote: parts.quote ?? {},
        activity: { volume24hUsd: 5_000, ...parts.activity },
      }),
      SAMPLE_AT,
    ).market;
  return { board, pairsOf, related, add, measured, steps };
}
const pair = (a: string, b: string, relation: MarketPair["relation"]): MarketPair => ({
  a,
  b,
  relation,
  confidence: 0.95,
  source: "model",
  evidence: [],
});
const idsOf = (markets: readonly BoardMarket[]) => markets.map(({ listing }) => listing.marketId);

test("finds constraints from matched pairs, ladders, exclusive outcomes, and markets that match an exclusive outcome", () => {
  const { board, pairsOf, add } = openBoard([
    pair("alpha/bob", "beta/bob-b", "identical"),
    pair("alpha/low", "beta/low-b", "superset"),
  ]);
  board.applyEvent(sampleEvent("E", { mutuallyExclusive: true, exhaustive: true, children: sampleChildren(2) }));
  board.applyEvent(sampleEvent("L"));
  const markets = [
    add("ann", "Will Ann win the primary?", { listing: { eventId: "E" } }),
    add("bob", "Will Bob win the primary?", { listing: { eventId: "E" } }),
    add("bob-b", "Will Bob be the nominee?", { listing: { venue: "beta" } }),
    add("low", "Will the index close above 4000?", { listing: { eventId: "L" } }),
    add("high", "Will the index close above 5000?", { listing: { eventId: "L" } }),
    add("low-b", "Index above 4100", { listing: { venue: "beta" } }),
  ];
  assert.deepEqual(findLogicalConstraints(markets, { board, pairsOf }), [
    { kind: "exclusive", a: 0, b: 1 },
    { kind: "exclusive", a: 0, b: 2 },
    { kind: "same", a: 1, b: 2 },
    { kind: "implies", a: 4, b: 3 },
    { kind: "implies", a: 5, b: 3 },
    { kind: "exhaustive", markets: [0, 1] },
  ]);
  const withoutBob = markets.filter(({ listing }) => listing.marketId !== "bob");
  assert.ok(!findLogicalConstraints(withoutBob, { board, pairsOf }).some(({ kind }) => kind === "exhaustive"));
});

test("ladders constrain markets with labels in different case, deadlines without a year, and separate events", () => {
  const { board, pairsOf, add } = openBoard([]);
  const closeAt = Date.parse("2027-01-31T23:59Z");
  board.applyEvent(sampleEvent("L"));
  const markets = [
    add("low", "Will the index close ABOVE 4,000?", { listing: { eventId: "L", outcomeLabel: "above 4,000" } }),
    add("high", "Will the index close above 5000?", { listing: { eventId: "L", outcomeLabel: "Above 5000" } }),
    add("late", "Will the bridge open by January 31?", { listing: { eventId: "A", closeAt } }),
    add("early", "Will the bridge open by Dec 31, 2026?", {
      listing: { eventId: "B", closeAt: closeAt - 31 * DAY_MS },
    }),
    add("other", "Will the tunnel open by Dec 31, 2026?", { listing: { eventId: "C" } }),
  ];
  assert.deepEqual(findLogicalConstraints(markets, { board, pairsOf }), [
    { kind: "implies", a: 1, b: 0 },
    { kind: "implies", a: 3, b: 2 },
  ]);
});

test("returns at most ten liquid related markets, from each given market in turn, without the given ones", async () => {
  const { board, related, add } = openBoard([pair("alpha/fed", "beta/fed-b", "identical")]);
  board.applyEvent(sampleEvent("E"));
  const fed = add("fed", "Fed cuts in March", { listing: { eventId: "E" } });
  const oil = add("oil", "Oil above 90 dollars in June");
  add("fed-b", "Rate decision", { listing: { venue: "beta" } });
  add("small", "Fed cuts by 50", { listing: { eventId: "E" }, activity: { volume24hUsd: 999 } });
  add("one-sided", "Fed hikes", { listing: { eventId: "E" }, quote: { bid: null } });
  add("paused", "Fed waits", { listing: { eventId: "E", paused: true } });
  add("closed", "Fed moves", { listing: { eventId: "E", status: "closed" } });
  add("feeless", "Fed speaks", { listing: { eventId: "E", takerFee: null } });
  add("liquid", "Fed cuts by 25", { listing: { eventId: "E" }, activity: { volume24hUsd: 0, liquidityUsd: 1_000 } });
  add("oil-2", "Oil above 95 dollars in June");
  assert.deepEqual(idsOf(await related.findRelated([fed, oil])), ["fed-b", "oil-2", "liquid"]);
  for (let number = 0; number < 20; number++)
    add(`more-${number}`, `Fed cuts in March ${number}`, { listing: { eventId: "E" } });
  const many = await related.findRelated([fed, oil]);
  assert.deepEqual([many.length, new Set(many).size], [10, 10]);
});

test("the text search runs only if pairs and events give too few markets, and first yields to other requests", async () => {
  const { board, related, add, steps } = openBoard();
  board.applyEvent(sampleEvent("E"));
  const fed = add("fed", "Fed cuts in March", { listing: { eventId: "E" } });
  const alone = ["Oil above 90 dollars", "Snow in Paris", "Rain in Rome"].map((title) => add(title, title));
  await related.findRelated([fed, ...alone]);
  assert.deepEqual(steps, Array(4).fill(["yield", "search"]).flat());
  for (let number = 0; number < 10; number++) add(`more-${number}`, `Outcome ${number}`, { listing: { eventId: "E" } });
  steps.length = 0;
  await related.findRelated([fed]);
  assert.deepEqual(steps, []);
});

test("related markets with a logical dependence come before those with a measured correlation", async () => {
  const { related, add, measured } = openBoard([pair("alpha/fed", "beta/fed-b", "inverse")], -0.6);
  const fed = add("fed", "Fed cuts rates in March");
  add("similar", "Fed cuts rates in April");
  add("fed-b", "No cut", { listing: { venue: "beta" } });
  const found = await related.findRelatedMarkets(fed);
  assert.deepEqual(
    found.map(({ market, dependence, correlation }) => [market.listing.marketId, dependence, correlation]),
    [
      ["fed-b", "opposite", null],
      ["similar", null, -0.6],
    ],
  );
  assert.deepEqual(measured, [["fed", "similar"]]);
});

test("a market with too few price moves is not related, and no correlation is measured without candidates", async () => {
  const { related, add, measured } = openBoard();
  const fed = add("fed", "Fed cuts rates in March");
  assert.deepEqual(await related.findRelatedMarkets(fed), []);
  assert.deepEqual(measured, []);
  add("similar", "Fed cuts rates in April");
  assert.deepEqual(await related.findRelatedMarkets(fed), []);
  assert.equal(measured.length, 1);
});
