import assert from "node:assert/strict";
import { test } from "node:test";
import { openArbitrageApi, sampleBook, samplePair } from "../../../../test/support/markets/arbitrage-api.ts";
import { describeErrors } from "../../../../test/support/markets/market-api.ts";
import { SAMPLE_AT } from "../../../../test/support/markets/market-samples.ts";
import { VenueError } from "../../../domain/errors.ts";

const NOW_TEXT = new Date(SAMPLE_AT).toISOString();
const LISTS = ["/v1/arbitrage", "/v1/arbitrage/live"];
const close = (actual: number, expected: number, label = "") =>
  assert.ok(Math.abs(actual - expected) < 1e-9, `${label} ${actual}, not ${expected}`);

test("200: lists a pair with the documented fields, without scoring unless it is requested", async () => {
  const { setPair, get } = await openArbitrageApi();
  setPair("m");
  const { count, opportunities, venues, scanned_at } = (await get("/v1/arbitrage")).json();
  assert.deepEqual([count, scanned_at], [1, NOW_TEXT]);
  const { score, ...opportunity } = opportunities[0];
  assert.deepEqual(opportunity, {
    event: "Question m",
    alpha: { market_id: "m", url: null, yes_price: 0.41, updated_at: NOW_TEXT },
    beta: { market_id: "m", url: null, yes_price: 0.51, updated_at: NOW_TEXT },
    spread: 0.1,
    spread_pct: 10,
    cheaper_on: "alpha",
    match_confidence: 0.9,
    scanned_at: NOW_TEXT,
  });
  assert.ok(score > 0 && score <= 100);
  assert.deepEqual(venues, {
    alpha: { status: "ok", last_success_at: NOW_TEXT },
    beta: { status: "ok", last_success_at: NOW_TEXT },
    delta: { status: "ok", last_success_at: NOW_TEXT },
  });
});

test("200: `expand=scoring` adds the parts of the score and the legs of the best prices", async () => {
  const { setPair, get } = await openArbitrageApi();
  setPair("m");
  const [opportunity] = (await get("/v1/arbitrage?expand=scoring")).json().opportunities;
  // YES on alpha at 0.42 and NO on beta at 0.50: 100 contracts cost 92 and pay 100 after 73 days.
  close(opportunity.net_spread, 0.08, "net_spread");
  close(opportunity.executable_size_usd, 92, "size");
  close(opportunity.executable_profit_usd, 8, "profit");
  close(opportunity.annualized_return, (8 / 92) * 5, "return");
  close(opportunity.spread_score, 100);
  close(opportunity.liquidity_score, 25 * Math.log10(93));
  close(opportunity.match_confidence_score, 90);
  close(opportunity.execution_score, 80);
  close(opportunity.score, 40 + 5 * Math.log10(93) + 18 + 16, "score");
  assert.deepEqual(
    [opportunity.relation, opportunity.match_evidence, opportunity.days_to_resolution],
    ["identical", ["Both titles are equal."], 73],
  );
  const leg = { market_id: "m", title: "Question m", url: null, book: "top_of_book", book_at: NOW_TEXT };
  assert.deepEqual(opportunity.legs, [
    {
      ...leg,
      platform: "alpha",
      side: "yes",
      taker_fee: { kind: "none" },
      contracts: 100,
      average_price: 0.42,
      cost_usd: 42,
      fee_usd: 0,
      levels: [{ price: 0.42, size: 100, contracts: 100 }],
    },
    {
      ...leg,
      platform: "beta",
      side: "no",
      taker_fee: { kind: "none" },
      contracts: 100,
      average_price: 0.5,
      cost_usd: 50,
      fee_usd: 0,
      levels: [{ price: 0.5, size: 100, contracts: 100 }],
    },
  ]);
});

test("200: a live scan walks both books and marks them as read", async () => {
  const { setPair, setBooks, get } = await openArbitrageApi();
  setPair("m");
  setBooks("m");
  const { opportunities, venues } = (await get("/v1/arbitrage/live?expand=scoring")).json();
  const [{ alpha, beta, legs, executable_size_usd, executable_profit_usd }] = opportunities;
  assert.deepEqual([alpha.refreshed, beta.refreshed, "refresh_failure" in alpha], [true, true, false]);
  // 100 at 0.42 + 0.50, 50 at 0.45 + 0.50, 150 at 0.45 + 0.53.
  close(executable_size_usd, 92 + 47.5 + 147, "size");
  close(executable_profit_usd, 8 + 2.5 + 3, "profit");
  assert.deepEqual(legs[0].levels, [
    { price: 0.42, size: 100, contracts: 100 },
    { price: 0.45, size: 200, contracts: 200 },
  ]);
  assert.deepEqual(legs[1].levels, [
    { price: 0.5, size: 150, contracts: 150 },
    { price: 0.53, size: 500, contracts: 150 },
  ]);
  assert.deepEqual([legs[0].book, legs[1].book], ["order_book", "order_book"]);
  assert.deepEqual(venues.alpha, {
    status: "ok",
    last_success_at: NOW_TEXT,
    books_refreshed: 1,
    books_failed: 0,
  });
});

test("200: for an inverse pair, the second market is shown with 1 - yes_price, and both legs buy YES", async () => {
  const { setMarket, setPair, get } = await openArbitrageApi();
  setPair("m", { relation: "inverse" });
  setMarket("beta", "m", { quote: { bid: 0.44, ask: 0.46 } });
  const [opportunity] = (await get("/v1/arbitrage?expand=scoring")).json().opportunities;
  assert.deepEqual(
    [opportunity.alpha.yes_price, opportunity.beta.yes_price, opportunity.spread, opportunity.cheaper_on],
    [0.41, 0.55, 0.14, "alpha"],
  );
  assert.deepEqual(
    opportunity.legs.map((leg: { platform: string; side: string }) => [leg.platform, leg.side]),
    [
      ["alpha", "yes"],
      ["beta", "yes"],
    ],
  );
  close(opportunity.net_spread, 1 - 0.42 - 0.46);
  setMarket("beta", "m", { quote: { bid: 0.7, ask: 0.72 } });
  const [reverse] = (await get("/v1/arbitrage?expand=scoring")).json().opportunities;
  assert.deepEqual(
    reverse.legs.map((leg: { side: string }) => leg.side),
    ["no", "no"],
  );
  close(reverse.net_spread, 1 - 0.6 - 0.3);
});

test("200: computes the exact taker fees of both venues, and a difference without profit after fees has the score 0", async () => {
  const { setMarket, setPair, get } = await openArbitrageApi();
  setPair("m");
  const rounded = {
    kind: "quadratic",
    rate: 0.07,
    exponent: 1,
    rounding: { feeStep: 0.0001, balanceStep: 0.01 },
  } as const;
  setMarket("alpha", "m", { listing: { takerFee: rounded } });
  const [opportunity] = (await get("/v1/arbitrage?expand=scoring")).json().opportunities;
  const [leg] = opportunity.legs;
  assert.deepEqual(leg.taker_fee, {
    kind: "quadratic",
    rate: 0.07,
    exponent: 1,
    rounds_up_to: 0.01,
    fee_rounds_up_to: 0.0001,
  });
  // 100 × 0.07 × 0.42 × 0.58 = 1.7052, rounded up to the next cent.
  assert.equal(leg.fee_usd, 1.71);
  close(opportunity.net_spread, 0.08 - 0.017052);
  close(opportunity.executable_profit_usd, 8 - 1.71);
  setMarket("alpha", "m", { listing: { takerFee: { kind: "flat_value", rate: 0.3 } } });
  const [costly] = (await get("/v1/arbitrage?expand=scoring")).json().opportunities;
  close(costly.net_spread, 0.08 - 0.126);
  assert.deepEqual(
    [costly.score, costly.executable_size_usd, costly.executable_profit_usd, costly.annualized_return],
    [0, 0, 0, null],
  );
  assert.equal((await get("/v1/arbitrage?min_net_spread=0")).json().count, 0);
  assert.equal((await get("/v1/arbitrage?min_net_spread=-0.05")).json().count, 1);
});

test("200: sizes that the venue does not publish are null, not 0", async () => {
  const { setMarket, setPair, get } = await openArbitrageApi();
  setPair("m");
  setMarket("alpha", "m", { quote: { askSize: null } });
  const [opportunity] = (await get("/v1/arbitrage?expand=scoring")).json().opportunities;
  assert.deepEqual(
    [opportunity.executable_size_usd, opportunity.executable_profit_usd, opportunity.annualized_return],
    [null, null, null],
  );
  assert.deepEqual(opportunity.legs[0].levels, [{ price: 0.42, size: null, contracts: 0 }]);
  assert.equal(opportunity.legs[0].contracts, null);
  assert.equal(opportunity.liquidity_score, 0);
  close(opportunity.net_spread, 0.08);
});

test("200: filters by smallest spread and venue, limits the number, and lists the best score first", async () => {
  const { setMarket, setPair, setBooks, pairs, get } = await openArbitrageApi();
  for (const [index, bid] of [0.44, 0.46, 0.45].entries()) {
    setPair(`m${index}`);
    setMarket("beta", `m${index}`, { quote: { bid, ask: bid + 0.02 } });
    setBooks(`m${index}`, undefined, sampleBook([[bid, 100]], [[bid + 0.02, 100]]));
  }
  setMarket("delta", "m0", { quote: { bid: 0.43, ask: 0.44 } });
  pairs.set({
    a: "alpha/m0",
    b: "delta/m0",
    relation: "identical",
    confidence: 0.8,
    evidence: [],
    source: "operator",
  });
  for (const url of LISTS) {
    const list = async (query = "") =>
      (await get(`${url}${query}`))
        .json()
        .opportunities.map((item: Record<string, { market_id: string }>) => [
          item.alpha?.market_id,
          item.beta === undefined ? "delta" : "beta",
        ]);
    const all = await list();
    assert.deepEqual(all.length, url === "/v1/arbitrage" ? 4 : 3, "delta has no book in the live scan");
    assert.deepEqual(all.slice(0, 2), [
      ["m1", "beta"],
      ["m2", "beta"],
    ]);
    assert.deepEqual(await list("?min_spread=0.05"), [
      ["m1", "beta"],
      ["m2", "beta"],
    ]);
    assert.deepEqual(await list("?limit=1"), [["m1", "beta"]]);
    assert.deepEqual(await list("?platform=beta&min_spread=0.06"), [["m1", "beta"]]);
    assert.equal((await list("?platform=&min_spread=0.04")).length, 3);
  }
  assert.equal((await get("/v1/arbitrage?platform=delta")).json().count, 1);
});

test("200: a market that cannot be a leg is not listed: play money, paused, closed, unknown fee, weak or other relations", async () => {
  const { setMarket, setPair, setBooks, pairs, get } = await openArbitrageApi();
  setPair("good");
  setPair("paused");
  setMarket("beta", "paused", { listing: { paused: true }, quote: { bid: 0.5, ask: 0.52 } });
  setPair("closed");
  setMarket("alpha", "closed", { listing: { status: "closed" } });
  setPair("fee");
  setMarket("alpha", "fee", { listing: { takerFee: null } });
  setPair("weak", { confidence: 0.49 });
  setPair("subset", { relation: "subset" });
  setMarket("gamma", "play", { quote: { bid: 0.9, ask: 0.91 } });
  setMarket("alpha", "play");
  pairs.set({
    a: "alpha/play",
    b: "gamma/play",
    relation: "identical",
    confidence: 0.99,
    evidence: [],
    source: "model",
  });
  for (const id of ["good", "paused", "closed", "fee", "weak", "subset"]) setBooks(id);
  for (const url of LISTS) {
    const ids = (await get(url))
      .json()
      .opportunities.map((item: { alpha: { market_id: string } }) => item.alpha.market_id);
    assert.deepEqual(ids, ["good"], url);
  }
});

test("200: a crossed, empty, one-sided or missing book is not a leg of a live scan", async () => {
  const { setPair, setBooks, venues, get } = await openArbitrageApi();
  const books = {
    good: undefined,
    crossed: { ...sampleBook([[0.55, 100]], [[0.42, 100]]), lastPrice: 0.42 },
    empty: sampleBook([], []),
    bids: sampleBook([[0.4, 100]], []),
  };
  for (const [id, book] of Object.entries(books)) {
    setPair(id);
    setBooks(id, book);
  }
  setPair("amm");
  setBooks("amm");
  venues.alpha.books.delete("amm");
  const { opportunities } = (await get("/v1/arbitrage/live?expand=scoring")).json();
  const ids = opportunities.map((item: { alpha: { market_id: string } }) => item.alpha.market_id);
  // Without asks, only the other combination is possible: NO on alpha and YES on beta, which has no profit.
  assert.deepEqual(ids, ["good"]);
});

test("200: a stale quote is not a leg of the list, and a live scan reads its book again", async () => {
  const { clock, setMarket, setPair, setBooks, get } = await openArbitrageApi();
  setPair("m");
  setBooks("m");
  await clock.advance(10 * 60_000);
  assert.equal((await get("/v1/arbitrage")).json().count, 1);
  await clock.advance(1);
  assert.equal((await get("/v1/arbitrage")).json().count, 0);
  assert.equal((await get("/v1/arbitrage/live")).json().count, 1);
  setMarket("alpha", "m");
  assert.equal((await get("/v1/arbitrage")).json().count, 0, "the other market is still stale");
  setMarket("beta", "m", { quote: { bid: 0.5, ask: 0.52 } });
  assert.equal((await get("/v1/arbitrage")).json().count, 1);
});

test("200: a venue that is down is reported, and the pairs of the others stay", async () => {
  const { health, setMarket, setPair, setBooks, pairs, get } = await openArbitrageApi();
  setPair("m");
  setBooks("m");
  setMarket("delta", "m", { quote: { bid: 0.3, ask: 0.31 } });
  pairs.set({
    a: "alpha/m",
    b: "delta/m",
    relation: "identical",
    confidence: 0.9,
    evidence: [],
    source: "model",
  });
  Object.assign(health.delta ?? {}, { status: "down", lastSuccessAt: null });
  for (const url of LISTS) {
    const { opportunities, venues } = (await get(url)).json();
    assert.deepEqual(
      opportunities.map((item: object) => "beta" in item),
      [true],
    );
    assert.deepEqual([venues.delta.status, venues.delta.last_success_at, venues.alpha.status], ["down", null, "ok"]);
  }
});

test("200: if a venue does not answer a live scan, its legs have the quotes of the list and are flagged", async () => {
  const { venues, setPair, setBooks, get } = await openArbitrageApi();
  setPair("m");
  setBooks("m");
  venues.beta.failing.set("getBook", new VenueError("timeout", "inner-host did not answer", { retryable: true }));
  const response = await get("/v1/arbitrage/live?expand=scoring");
  const { opportunities, venues: states } = response.json();
  const [{ alpha, beta, legs }] = opportunities;
  assert.equal(alpha.refreshed, true);
  assert.deepEqual([beta.refreshed, beta.refresh_failure], [false, "venue_unavailable"]);
  assert.deepEqual([legs[0].book, legs[1].book], ["order_book", "top_of_book"]);
  assert.deepEqual([states.beta.books_refreshed, states.beta.books_failed], [0, 1]);
  assert.doesNotMatch(response.body, /inner-host/);
});

test("200: if a venue does not answer a live scan, a stale quote does not replace its book", async () => {
  const { clock, venues, setPair, setBooks, setMarket, get } = await openArbitrageApi();
  setPair("m");
  setBooks("m");
  venues.beta.failing.set("getBook", new VenueError("timeout", "no answer", { retryable: true }));
  await clock.advance(10 * 60_000 + 1);
  assert.equal((await get("/v1/arbitrage/live")).json().count, 0);
  await clock.advance(2_000);
  setMarket("beta", "m", { quote: { bid: 0.5, ask: 0.52 } });
  assert.equal((await get("/v1/arbitrage/live")).json().count, 1);
});

test("422: rejects each value outside its limits or of the wrong type", async () => {
  const { get } = await openArbitrageApi();
  const cases: Readonly<Record<string, string>> = {
    "min_spread=-0.01": "greater_than_equal at query.min_spread",
    "min_spread=0.51": "less_than_equal at query.min_spread",
    "min_spread=all": "float_parsing at query.min_spread",
    "min_net_spread=-1.1": "greater_than_equal at query.min_net_spread",
    "min_net_spread=1.1": "less_than_equal at query.min_net_spread",
    "platform=gamma": "literal_error at query.platform",
    "limit=0": "greater_than_equal at query.limit",
    "limit=201": "less_than_equal at query.limit",
    "expand=legs": "literal_error at query.expand",
  };
  for (const url of LISTS) {
    for (const [query, expected] of Object.entries(cases))
      assert.deepEqual(describeErrors(await get(`${url}?${query}`)), [expected], query);
    for (const query of ["min_spread=0", "min_spread=0.5", "limit=200", "expand=", "expand=scoring"])
      assert.equal((await get(`${url}?${query}`)).statusCode, 200, query);
  }
});

test("a list with a limit has the first opportunities of the unlimited list", async () => {
  const { setMarket, pairs, service } = await openArbitrageApi();
  let seed = 1;
  const draw = (count: number) => {
    seed = (seed * 16_807) % 2_147_483_647;
    return seed % count;
  };
  for (let index = 0; index < 300; index++) {
    for (const venue of ["alpha", "beta"]) {
      const bid = (30 + draw(12)) / 100;
      const [bidSize, askSize] = [draw(5) === 0 ? null : draw(10_000), draw(5) === 0 ? null : draw(10_000)];
      setMarket(venue, `m${index}`, { quote: { bid, ask: bid + (1 + draw(4)) / 100, bidSize, askSize } });
    }
    pairs.set(samplePair(`m${index}`, { confidence: 0.5 + draw(50) / 100 }));
  }
  const list = (limit: number) =>
    service
      .list({ minSpread: 0, minNetSpread: null, venue: null, limit })
      .opportunities.map(({ pair, score, netSpread }) => [pair.a, score.score, netSpread]);
  const all = list(1_000);
  assert.equal(all.length, 300);
  for (const limit of [1, 7, 50, 299]) assert.deepEqual(list(limit), all.slice(0, limit));
});

test("if no candidate is profitable, a list with a limit of 3 evaluates only the 3 with the highest net spread", async () => {
  const { setMarket, pairs, service } = await openArbitrageApi();
  let walks = 0;
  for (let index = 0; index < 100; index++) {
    setMarket("alpha", `m${index}`, { quote: { bid: 0.4, ask: 0.5 } });
    setMarket("beta", `m${index}`, { quote: { bid: 0.4 + index / 1_000, ask: 0.5 } });
    const { relation, ...pair } = samplePair(`m${index}`);
    pairs.set({
      ...pair,
      get relation() {
        walks += 1;
        return relation;
      },
    });
  }
  walks = 0;
  const { opportunities } = service.list({ minSpread: 0, minNetSpread: null, venue: null, limit: 3 });
  assert.deepEqual(
    opportunities.map(({ pair, score }) => [pair.a, score.score]),
    [
      ["alpha/m99", 0],
      ["alpha/m98", 0],
      ["alpha/m97", 0],
    ],
  );
  assert.equal(walks, 3);
});
