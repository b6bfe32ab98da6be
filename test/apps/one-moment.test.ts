import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { createInProcessBus } from "../../src/adapters/bus/in-process-bus.ts";
import { systemClock } from "../../src/adapters/system/system-clock.ts";
import type { BookLevel } from "../../src/domain/order-book.ts";
import { createEventLog, formatEvent } from "../../src/event-log/index.ts";
import { logit, sigmoid } from "../../src/lib/numbers.ts";
import type { Database } from "../../src/ports/database.ts";
import { openHarness, VENUE } from "../support/analyses/analysis-harness.ts";
import { ScriptedResearch, sampleOutcome } from "../support/analyses/scripted-research.ts";
import { embeddedDatabase } from "../support/databases.ts";
import { sampleEvent } from "../support/markets/market-samples.ts";
import { quietLog } from "../support/quiet-log.ts";
import { eventually } from "../support/service-process.ts";
import { ScriptedVenue } from "../support/venues/scripted-venue.ts";

/**
 * A market is analysed at 0.41, and its price then moves to 0.45 on the board and to 0.47 in its order book. An estimate adds
 * the same log-odds to whatever price it is shown with. A reader that showed the old probability, or its edge against a new
 * price, would show another sum.
 */
const MARKET = { platform: VENUE, market_id: "m" };
const TITLES: Readonly<Record<string, string>> = {
  m: "Will the Fed cut rates in March?",
  other: "Will unemployment be above 5%?",
};
const BOARD_PRICE = 0.45;
const BOOK_PRICE = 0.47;
const CHANGE_TOLERANCE = 1e-6;

// biome-ignore lint/suspicious/noExplicitAny: untyped JSON
type Json = any;
const bookAt = (price: number): { bids: BookLevel[]; asks: BookLevel[] } => ({
  bids: [{ price: price - 0.01, size: 100 }],
  asks: [{ price: price + 0.01, size: 100 }],
});

const venue = new ScriptedVenue(VENUE, systemClock);
let harness: Awaited<ReturnType<typeof openHarness>>;
let caller: Awaited<ReturnType<typeof harness.createCaller>>;
/** Called after each read of a stored analysis, during which a price can move. */
let onAnalysisRead = () => {};
/** What the analysis adds to the price, in log-odds. */
let change = 0;

function quote(marketId: string, price: number): void {
  harness.listMarket(marketId, {
    listing: { eventId: "E", title: TITLES[marketId] ?? marketId, outcomeLabel: marketId, takerFee: { kind: "none" } },
    quote: { bid: price - 0.01, ask: price + 0.01, bidSize: 100, askSize: 100 },
    activity: { volume24hUsd: 5_000, liquidityUsd: 5_000 },
  });
}

async function openAnalysedMarket(): Promise<void> {
  const stored = await embeddedDatabase();
  const query: Database["query"] = async <Row extends object>(...statement: Parameters<typeof stored.query>) => {
    const rows = await stored.query<Row>(...statement);
    if (statement[0].includes("latest_analyses as latest")) onAnalysisRead();
    return rows;
  };
  const database: Database = { query, transaction: (run) => stored.transaction(run), close: async () => {} };
  harness = await openHarness(database, {
    venues: [{ id: VENUE, referenceOnly: false, playMoney: false, create: () => venue }],
    analyses: { researchRunner: new ScriptedResearch(async ({ asOf }) => sampleOutcome(asOf)) },
  });
  const { app, createCaller, ended } = harness;
  caller = await createCaller("enterprise");
  app.board.applyEvent(sampleEvent("E", { venue: VENUE }));
  quote("m", 0.41);
  quote("other", 0.3);
  // Set before the analysis, at whose end the service reads the book for its own signal and keeps it for two seconds.
  venue.books.set("m", { ...bookAt(BOOK_PRICE), lastPrice: null, eventAt: null, receivedAt: Date.now() });
  app.analyses.start();
  app.trading.start();
  const { analysis_id } = (await caller.analyze("m")).json;
  assert.equal((await ended(analysis_id)).status, "complete");
  const { probability, market_price } = (await caller.get(`/v1/markets/${VENUE}/m/analysis`)).json;
  change = logit(probability) - logit(market_price);
  assert.ok(Math.abs(change) > 0.05, `the research changes the estimate: ${change}`);
  quote("m", BOARD_PRICE);
}

/** Asserts that an estimate and its edge are those of a price. */
function assertOneMoment(
  shown: { readonly probability: number; readonly price: number; readonly edge?: number },
  price: number,
): void {
  assert.ok(Math.abs(shown.price - price) < 1e-9, `the price ${shown.price} is not ${price}`);
  const sum = logit(shown.price) + change;
  assert.ok(Math.abs(logit(shown.probability) - sum) < CHANGE_TOLERANCE, `${shown.probability} at ${shown.price}`);
  if (shown.edge !== undefined) assert.ok(Math.abs(shown.edge - (shown.probability - shown.price)) < 1e-9);
}

const get = async (path: string): Promise<Json> => {
  const { status, json, text } = await caller.get(path);
  assert.equal(status, 200, text);
  return json;
};
const post = async (path: string, body: object): Promise<Json> => {
  const { status, json, text } = await harness.call("POST", path, { key: caller.apiKey, body });
  assert.equal(status, 200, text);
  return json;
};
const assertMarket = ({ model_probability: probability, yes_price: price }: Json) =>
  assertOneMoment({ probability, price }, BOARD_PRICE);
const ofMarket = (items: readonly Json[]): Json => items.find((item) => item.market_id === "m");

test("no reader compares an old probability with a new price", async (t: TestContext) => {
  await openAnalysedMarket();
  try {
    await testReaders(t);
  } finally {
    await harness.app.trading.stop();
    await harness.app.analyses.stop();
  }
});

async function testReaders(t: TestContext): Promise<void> {
  await t.test(
    "markets: the list by edge, one market with its analysis, the markets of an event, and the top movers",
    async () => {
      const list = () => get("/v1/markets?sort=edge");
      const [first] = await eventually(async () => {
        const markets = await list();
        return markets[0]?.market_id === "m" ? markets : null;
      }, "the order by edge");
      assertMarket(first);
      const market = await get(`/v1/markets/${VENUE}/m?expand=analysis`);
      assertMarket(market);
      const { probability, market_price: price, edge } = market.analysis;
      assertOneMoment({ probability, price, edge }, BOARD_PRICE);
      assertMarket(ofMarket(await get(`/v1/events/${VENUE}:e/markets`)));
      const movers: Json[] = (await get("/v1/sentiment")).top_movers;
      for (const mover of movers.filter(({ market_id }) => market_id === "m")) assertMarket(mover);
    },
  );

  await t.test("screens, what-if and consensus", async () => {
    const screened = ofMarket(await post("/v1/screen", { market_ids: [`${VENUE}/m`] }));
    const { model_probability: probability, yes_price: price, cached_edge: edge } = screened;
    assertOneMoment({ probability, price, edge }, BOARD_PRICE);
    const whatIf = await post("/v1/what-if", {
      market_query: "Fed cut rates March",
      hypothesis: "unemployment above 5%",
    });
    assertOneMoment({ probability: whatIf.market.probability, price: whatIf.market.yes_price }, BOARD_PRICE);
    const consensus = await get(`/v1/markets/${VENUE}/m/consensus`);
    assertOneMoment({ probability: consensus.model_probability, price: BOARD_PRICE }, BOARD_PRICE);
  });

  await t.test("analyses: the latest one with its factors and scenarios, and the caller's own list", async () => {
    const latest = await get(`/v1/markets/${VENUE}/m/analysis?expand=causal,scenarios,meta`);
    for (const analysis of [latest, ofMarket(await get("/v1/analyses"))]) {
      const { probability, market_price: price, edge } = analysis;
      assertOneMoment({ probability, price, edge }, BOARD_PRICE);
    }
    assertOneMoment(
      { probability: latest.causal.overall_probability, price: latest.causal.factors[0].prior },
      BOARD_PRICE,
    );
    const total = latest.scenarios.reduce(
      (sum: number, scenario: Json) => sum + scenario.probability * scenario.conditional_probability,
      0,
    );
    assertOneMoment({ probability: total, price: BOARD_PRICE }, BOARD_PRICE);
    assert.equal(latest.meta.market_price_at_analysis, 0.41, "meta keeps the values of the analysis' own moment");
  });

  await t.test("events: the analysis of all markets, and the probability map", async () => {
    const analysed = ofMarket((await get(`/v1/events/${VENUE}:e/analysis`)).markets);
    const { model_probability: probability, market_price: price, edge } = analysed;
    assertOneMoment({ probability, price, edge }, BOARD_PRICE);
    const outcome = ofMarket((await get(`/v1/events/${VENUE}:e/probability-map`)).outcomes);
    assertOneMoment(
      { probability: outcome.estimated_probability, price: outcome.market_price, edge: outcome.edge },
      BOARD_PRICE,
    );
  });

  await t.test("signals: one at the prices of the order book that it trades, and the best ones", async () => {
    const signal = await post("/v1/signals", MARKET);
    const { model_probability: probability, yes_price: price, edge } = signal;
    assertOneMoment({ probability, price, edge }, BOOK_PRICE);
    const sideWins = signal.recommendation === "BUY_NO" ? 1 - probability : probability;
    assert.notEqual(signal.recommendation, "NO_TRADE");
    assert.ok(Math.abs(signal.executable_edge - (sideWins - signal.average_cost)) < 1e-9);
    const best = await eventually(async () => ofMarket(await get("/v1/signals/best")) ?? null, "the best signals");
    assertOneMoment(
      { probability: best.model_probability, price: best.yes_price, edge: best.edge },
      best.price_source === "book" ? BOOK_PRICE : BOARD_PRICE,
    );
  });

  await t.test(
    "portfolios: a signal, and the advice on a position at the prices of the order book at which it can be sold",
    async () => {
      const position = { ...MARKET, side: "yes", size_usd: 20, entry_price: 0.4 };
      const signal = await post("/v1/signals/portfolio", { ...MARKET, portfolio: [position] });
      assertOneMoment({ probability: signal.edge + BOOK_PRICE, price: BOOK_PRICE, edge: signal.edge }, BOOK_PRICE);
      const advise = async () => (await post("/v1/signals/portfolio", { portfolio: [position] })).positions[0];
      const assertAdvice = ({ model_probability: probability, mark_price: price }: Json, expected: number) =>
        assertOneMoment({ probability, price }, expected);
      const quoted = await advise();
      assertAdvice(quoted, quoted.price_source === "book" ? BOOK_PRICE : BOARD_PRICE);
    },
  );

  await t.test(
    "pages: the price and the estimate of a market are of one moment, also if the price moves meanwhile",
    async () => {
      onAnalysisRead = () => quote("m", BOARD_PRICE + 0.02);
      const { status, text } = await harness.call("GET", `/markets/${VENUE}/m`, { headers: { accept: "text/html" } });
      assert.equal(status, 200);
      const [, headline] = /<p class="headline"><strong>([\d.]+)¢<\/strong> Yes/.exec(text) ?? [];
      const [, estimate, price] =
        /<strong>([\d.]+)%<\/strong> Yes <span class="faint">80% interval [^<]*, price ([\d.]+)%/.exec(text) ?? [];
      assert.deepEqual([Number(headline), Number(price)], [100 * BOARD_PRICE, 100 * BOARD_PRICE]);
      const expected = sigmoid(logit(BOARD_PRICE) + change);
      assert.equal(estimate, (100 * expected).toFixed(1));
    },
  );

  await t.test(
    "events that are sent: the estimate of a finished analysis comes with the price and the edge of its moment",
    async () => {
      const log = createEventLog({ database: await embeddedDatabase(), bus: createInProcessBus(quietLog) });
      const { events } = await log.readAfter(0, { limit: 10, filter: { types: ["analysis_complete"] } });
      assert.equal(events.length, 1);
      const [sent = "{}"] = events.map(formatEvent);
      const { model_probability: probability, market_price: price, edge } = JSON.parse(sent);
      assertOneMoment({ probability, price, edge }, 0.41);
    },
  );
}
