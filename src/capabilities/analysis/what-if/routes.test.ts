import assert from "node:assert/strict";
import { test } from "node:test";
import { FakeClock } from "../../../../test/support/fake-clock.ts";
import { describeErrors } from "../../../../test/support/markets/market-api.ts";
import {
  SAMPLE_AT,
  type SampleParts,
  sampleEvent,
  sampleMarket,
} from "../../../../test/support/markets/market-samples.ts";
import { testServer, VALID_KEY } from "../../../../test/support/test-app.ts";
import { MarketBoard } from "../../../board/index.ts";
import { AppError } from "../../../domain/errors.ts";
import type { MarketPair } from "../../../matching/index.ts";
import { whatIfRoutes } from "./routes.ts";
import { createWhatIfService, type WhatIfPorts } from "./service.ts";

const QUESTION = "Will the Fed cut rates in March?";
const HYPOTHESIS = "Will unemployment be above 5%?";
const REQUEST = { market_query: "Fed cut rates March", hypothesis: "unemployment above 5%" };

/** Opens the route with the markets "fed" on alpha at 0.41 and "jobs" on beta at 0.25. */
async function openApi(ports: Partial<WhatIfPorts> = {}) {
  const clock = new FakeClock(SAMPLE_AT);
  const board = new MarketBoard(() => clock.now());
  const { app } = await testServer();
  const addMarket = (marketId: string, title: string, listing: SampleParts["listing"] = {}, price = 0.41) =>
    board.apply(
      sampleMarket(marketId, { listing: { title, ...listing }, quote: { bid: price - 0.01, ask: price + 0.01 } }),
      SAMPLE_AT,
    );
  addMarket("fed", QUESTION);
  addMarket("jobs", HYPOTHESIS, { venue: "beta" }, 0.25);
  const service = createWhatIfService({
    board,
    clock,
    venues: ["alpha", "beta"],
    probabilityOf: () => null,
    pairsOf: () => [],
    correlate: async () => ({ correlation: 0, dataPoints: 700 }),
    ...ports,
  });
  whatIfRoutes(app, service, ["alpha", "beta"]);
  const headers = { authorization: `Bearer ${VALID_KEY}` };
  const askInQuery = (query: Record<string, string>, payload?: object) =>
    app.inject({ method: "POST", url: "/v1/what-if", query, headers, payload });
  const ask = (body: object = REQUEST) => askInQuery({}, body);
  return { board, addMarket, ask, askInQuery };
}

test("200: a correlation gives conditional probabilities whose weighted mean is the unconditional probability", async () => {
  const { ask } = await openApi({
    correlate: async () => ({ correlation: 0.6, dataPoints: 700 }),
    probabilityOf: ({ listing }) => (listing.marketId === "fed" ? 0.5 : null),
  });
  const response = await ask();
  assert.equal(response.statusCode, 200);
  const { similarity, ...market } = response.json().market;
  assert.deepEqual(market, {
    platform: "alpha",
    market_id: "fed",
    title: QUESTION,
    yes_price: 0.41,
    probability: 0.5,
    probability_source: "model",
  });
  assert.equal(similarity, 1);
  const { hypothesis, ...answer } = response.json();
  assert.deepEqual(
    [hypothesis.market_id, hypothesis.probability, hypothesis.probability_source],
    ["jobs", 0.25, "price"],
  );
  assert.deepEqual([answer.dependence, answer.correlation, answer.data_points], ["correlation", 0.6, 700]);
  assert.ok(answer.probability_if_true > 0.7 && answer.probability_if_false < 0.5);
  assert.ok(Math.abs(0.25 * answer.probability_if_true + 0.75 * answer.probability_if_false - 0.5) < 1e-9);
  assert.deepEqual([answer.base_probability, answer.scenario_probability], [0.5, answer.probability_if_true]);
  assert.ok(Math.abs(answer.delta - (answer.probability_if_true - 0.5)) < 1e-9);
  assert.match(answer.rationale, /correlation of 0\.60 in 700 hours/);
});

const pair = (relation: MarketPair["relation"], confidence = 0.9): MarketPair => ({
  a: "alpha/fed",
  b: "beta/jobs",
  relation,
  confidence,
  source: "model",
  evidence: [],
});

test("200: a logical dependence of the questions is found without price history", async () => {
  const never = async () => {
    throw new Error("no correlation is needed");
  };
  const results = {
    identical: ["same", 1, 0],
    inverse: ["opposite", 0, 1],
    subset: ["implied", 1, 0],
    superset: ["implies", 1, (0.41 - 0.25) / 0.75],
  } as const;
  for (const [relation, [dependence, ifTrue, ifFalse]] of Object.entries(results)) {
    const { ask } = await openApi({ pairsOf: () => [pair(relation as MarketPair["relation"])], correlate: never });
    const answer = (await ask()).json();
    assert.equal(answer.dependence, dependence);
    assert.equal(answer.probability_if_true, ifTrue, relation);
    assert.ok(Math.abs(answer.probability_if_false - ifFalse) < 1e-12, relation);
  }
});

test("200: an uncertain pair gives no logical dependence, and probabilities that contradict a dependence are reported", async () => {
  const uncertain = await openApi({ pairsOf: () => [pair("identical", 0.89)] });
  assert.equal((await uncertain.ask()).json().dependence, "correlation");
  const certain = await openApi({ pairsOf: () => [pair("identical")] });
  assert.match((await certain.ask()).json().rationale, /contradict this by 16\.0%\. The results follow the logic/);
  const consistent = await openApi({ pairsOf: () => [pair("superset")] });
  assert.doesNotMatch((await consistent.ask()).json().rationale, /contradict/);
});

test("200: markets of one event exclude or imply each other", async () => {
  const { board, addMarket, ask } = await openApi();
  board.applyEvent(sampleEvent("E", { mutuallyExclusive: true }));
  addMarket("ann", "Will Ann win the primary?", { eventId: "E" });
  addMarket("bob", "Will Bob win the primary?", { eventId: "E" }, 0.3);
  const exclusive = (await ask({ market_query: "Ann win primary", hypothesis: "Bob win primary" })).json();
  assert.deepEqual([exclusive.dependence, exclusive.probability_if_true], ["exclusive", 0]);
  board.applyEvent(sampleEvent("L"));
  addMarket("low", "Will the index close above 4000?", { eventId: "L" }, 0.8);
  addMarket("high", "Will the index close above 5000?", { eventId: "L" }, 0.3);
  const implied = (await ask({ market_query: "index close above 4000", hypothesis: "index close above 5000" })).json();
  assert.deepEqual([implied.dependence, implied.probability_if_true], ["implies", 1]);
});

test("200: a market that matches another outcome of the question's event excludes the question", async () => {
  const { board, addMarket, ask } = await openApi({
    pairsOf: (venue, marketId) =>
      venue === "beta" && marketId === "bob-b"
        ? [{ a: "alpha/bob", b: "beta/bob-b", relation: "identical", confidence: 0.95, source: "model", evidence: [] }]
        : [],
  });
  board.applyEvent(sampleEvent("E", { mutuallyExclusive: true }));
  addMarket("ann", "Will Ann win the primary?", { eventId: "E" });
  addMarket("bob", "Robert to be the nominee", { eventId: "E" }, 0.3);
  addMarket("bob-b", "Will Bob win the primary?", { venue: "beta" }, 0.3);
  const answer = (await ask({ market_query: "Ann win primary", hypothesis: "Bob win primary" })).json();
  assert.deepEqual(
    [answer.hypothesis.market_id, answer.dependence, answer.probability_if_true],
    ["bob-b", "exclusive", 0],
  );
  const reverse = (await ask({ market_query: "Bob win primary", hypothesis: "Ann win primary" })).json();
  assert.deepEqual(
    [reverse.market.market_id, reverse.dependence, reverse.probability_if_true],
    ["bob-b", "exclusive", 0],
  );
});

test("200: a matched market of another venue gives the exact probability, with either market as the question", async () => {
  const question = { market_query: "Fed cut rates March", platform: "alpha", hypothesis: "Fed cut rates March" };
  for (const [relation, ...expected] of [
    ["identical", "same", 1, 0],
    ["inverse", "opposite", 0, 1],
  ] as const) {
    const { addMarket, ask } = await openApi({ pairsOf: () => [{ ...pair(relation), b: "beta/fed-b" }] });
    addMarket("fed-b", QUESTION, { venue: "beta" }, 0.3);
    for (const body of [question, { ...question, platform: "beta" }]) {
      const { dependence, probability_if_true, probability_if_false } = (await ask(body)).json();
      assert.deepEqual([dependence, probability_if_true, probability_if_false], expected);
    }
  }
});

test("200: without enough price moves the conditional probabilities are null", async () => {
  const { ask } = await openApi({ correlate: async () => ({ correlation: null, dataPoints: 12 }) });
  const { dependence, probability_if_true, probability_if_false, rationale, ...answer } = (await ask()).json();
  assert.deepEqual([answer.base_probability, answer.scenario_probability, answer.delta], [0.41, null, null]);
  assert.deepEqual([dependence, probability_if_true, probability_if_false], ["unknown", null, null]);
  assert.match(rationale, /too few of 12 hours/);
});

test("200: the inputs are read from the query string, and those of the body take precedence", async () => {
  const { askInQuery } = await openApi();
  const wanted = ["fed", "jobs"];
  const wrong = { market_query: "purple elephants", hypothesis: "purple elephants", platform: "beta" };
  const responses = await Promise.all([
    askInQuery(REQUEST),
    askInQuery({ ...REQUEST, platform: "alpha" }, {}),
    askInQuery({ hypothesis: REQUEST.hypothesis }, { market_query: REQUEST.market_query }),
    askInQuery(wrong, { ...REQUEST, platform: "alpha" }),
  ]);
  for (const response of responses) {
    assert.equal(response.statusCode, 200, response.body);
    assert.deepEqual([response.json().market.market_id, response.json().hypothesis.market_id], wanted);
  }
  assert.equal((await askInQuery({ ...REQUEST, platform: "beta" })).statusCode, 404);
});

test("409: if a question or hypothesis matches several markets, the error names them", async () => {
  const { ask, addMarket } = await openApi();
  addMarket("fed-june", "Will the Fed cut rates in June?");
  for (const body of [
    { ...REQUEST, market_query: "Fed cut rates" },
    { market_query: "unemployment above 5%", hypothesis: "Fed cut rates" },
  ]) {
    const response = await ask(body);
    assert.deepEqual([response.statusCode, response.json().code], [409, "ambiguous_query"]);
    assert.deepEqual(
      response.json().candidates.map(({ market_id }: { market_id: string }) => market_id),
      ["fed", "fed-june"],
    );
  }
});

test("404: the error quotes a text that matches no open market; the hypothesis never matches the question's market", async () => {
  const { ask } = await openApi();
  for (const body of [
    { ...REQUEST, market_query: "purple elephants" },
    { ...REQUEST, hypothesis: "purple elephants" },
    { ...REQUEST, hypothesis: REQUEST.market_query },
    { ...REQUEST, platform: "beta" },
  ]) {
    const response = await ask(body);
    assert.equal(response.statusCode, 404, JSON.stringify(body));
    assert.match(response.json().detail, /No open market matches "(?:purple elephants|Fed cut rates March)"/);
  }
});

test("503: the correlation cannot be computed while the store is unavailable", async () => {
  const { ask } = await openApi({
    correlate: async () => {
      throw new AppError("store_unavailable", "The store is unavailable");
    },
  });
  assert.equal((await ask()).statusCode, 503);
});

test("422: rejects missing, empty and too long texts, and an unknown venue", async () => {
  const { ask } = await openApi();
  assert.deepEqual(describeErrors(await ask({ market_query: "", hypothesis: "x".repeat(501), platform: "gamma" })), [
    "string_too_short at body.market_query",
    "string_too_long at body.hypothesis",
    "literal_error at body.platform",
  ]);
  assert.deepEqual(describeErrors(await ask({})), ["missing at body.market_query", "missing at body.hypothesis"]);
});

test("422: rejects invalid texts in the query string, and a text that is missing in query string and body", async () => {
  const { askInQuery } = await openApi();
  assert.deepEqual(describeErrors(await askInQuery({ market_query: "", platform: "gamma" })), [
    "string_too_short at query.market_query",
    "literal_error at query.platform",
  ]);
  assert.deepEqual(describeErrors(await askInQuery({ market_query: REQUEST.market_query })), [
    "missing at body.hypothesis",
  ]);
});
