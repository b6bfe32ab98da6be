import assert from "node:assert/strict";
import { eachDatabase } from "../../../../test/support/databases.ts";
import { describeDetail } from "../../../../test/support/markets/market-api.ts";
import { ASKS, BIDS, OPERATOR, openPortfolioApi, VENUE } from "../../../../test/support/trading/portfolio-harness.ts";
import { VenueError } from "../../../domain/errors.ts";
import { toIso } from "../../../lib/dates/iso-time.ts";
import { DAY_MS, HOUR_MS } from "../../../lib/durations.ts";
import { createPaperTrades, PAPER_TRADE_DATA } from "./index.ts";

eachDatabase("200: a paper trade pays the prices of the book and the taker fee of the venue", async (database) => {
  const { createAgent, clock } = await openPortfolioApi(database);
  const { enter } = await createAgent();
  const { status, json } = await enter();
  // 50 contracts at 0.40 and 20 at 0.50; 0.07 × (50 × 0.24 + 20 × 0.25) = 1.19.
  assert.equal(status, 200);
  assert.deepEqual(json, {
    trade_id: "1",
    platform: VENUE,
    market_id: "m-1",
    title: "Question m-1",
    side: "yes",
    size_usd: 30,
    contracts: 70,
    price: 0.428571428571,
    fee_usd: 1.19,
    cost_usd: 31.19,
    entered_at: toIso(clock.now()),
  });
  const { json: no } = await enter({ side: "no", size_usd: 31 });
  assert.deepEqual([no.contracts, no.price, no.fee_usd], [50, 0.62, 0.83]);
});

eachDatabase("200: the contracts of a paper trade are rounded down to the step of the market", async (database) => {
  const { createAgent, setMarket, setBook } = await openPortfolioApi(database);
  const { enter, read } = await createAgent();
  for (const [marketId, contractStep, contracts, sizeUsd] of [
    ["whole", 1, 27, 8.91],
    ["hundredths", 0.01, 27.27, 8.9991],
    ["unknown", null, 27, 8.91],
  ] as const) {
    setMarket(marketId, { contractStep, takerFee: { kind: "none" } });
    setBook(marketId, [{ price: 0.3, size: 100 }], [{ price: 0.33, size: 100 }]);
    const { json } = await enter({ market_id: marketId, size_usd: 9 });
    const { price, size_usd, cost_usd } = json;
    assert.deepEqual([json.contracts, price, size_usd, cost_usd], [contracts, 0.33, sizeUsd, sizeUsd], marketId);
    const { positions } = (await read()).json;
    assert.equal(positions[0].contracts, contracts);
  }
  const headers = { "idempotency-key": "k-1" };
  const [first, again] = [await enter({ size_usd: 9.1 }, headers), await enter({ size_usd: 9.1 }, headers)];
  assert.equal(first.json.size_usd, 8.8);
  assert.deepEqual([again.status, again.json], [200, first.json], "the key is compared with the amount that was sent");
});

eachDatabase("200: an order that is repeated with the same idempotency key is entered once", async (database) => {
  const { createAgent, clock, venue } = await openPortfolioApi(database);
  const { enter, read } = await createAgent();
  const headers = { "idempotency-key": "k-1" };
  const first = await enter({}, headers);
  await clock.advance(DAY_MS);
  venue.failing.set("getBook", new VenueError("timeout", "the venue is down", { retryable: true }));
  assert.deepEqual([(await enter({}, headers)).status, (await enter({}, headers)).json], [200, first.json]);
  assert.equal((await read()).json.positions[0].contracts, 70);
  const { status, json } = await enter({ size_usd: 31 }, headers);
  assert.deepEqual([status, describeDetail(json)], [422, ["value_error at header.idempotency-key"]]);
  venue.failing.clear();
  const other = await createAgent();
  assert.notEqual((await other.enter({}, headers)).json.trade_id, first.json.trade_id, "keys are per customer");
  await enter();
  await enter();
  assert.equal((await read()).json.positions[0].contracts, 210);
});

eachDatabase("200: concurrent orders with one idempotency key enter one trade", async (database) => {
  const { createAgent } = await openPortfolioApi(database);
  const { enter, read } = await createAgent();
  const replies = await Promise.all(Array.from({ length: 4 }, () => enter({}, { "idempotency-key": "k-1" })));
  const ids = replies.map(({ status, json }) => `${status} ${json.trade_id}`);
  assert.deepEqual(ids, new Array<string>(4).fill(`200 ${replies[0]?.json.trade_id}`));
  assert.equal((await read()).json.positions[0].contracts, 70);
});

eachDatabase("409: an order that cannot be bought completely now is not entered", async (database) => {
  const { createAgent, setMarket, setBook, clock } = await openPortfolioApi(database);
  const { enter, read } = await createAgent();
  const expect = async (detail: string, fields: object = {}) => {
    const { status, json } = await enter(fields);
    assert.deepEqual([status, json.code, json.detail], [409, "not_executable", detail]);
  };
  await expect("The order book offers only $60.00 of this side", { size_usd: 60.01 });
  await expect("The order book offers only $62.00 of this side", { side: "no", size_usd: 62.01 });
  assert.equal((await enter({ side: "no", size_usd: 62 })).status, 200);
  setMarket("large", { minOrderContracts: 50 });
  setBook("large", [{ price: 0.4, size: 100 }], [{ price: 0.47, size: 100 }]);
  await expect(
    "The smallest order in this market is 50 contracts, for which size_usd must be at least 23.50. It costs $24.38 with the fee",
    { market_id: "large", size_usd: 23.49 },
  );
  const { json: smallest } = await enter({ market_id: "large", size_usd: 23.5 });
  assert.deepEqual([smallest.price, smallest.contracts, smallest.cost_usd], [0.47, 50, 24.38]);
  await expect(
    "The smallest order in this market is 1 contract, for which size_usd must be at least 0.40. It costs $0.42 with the fee",
    { size_usd: 0.39 },
  );
  setMarket("thin", { minOrderContracts: 200 });
  setBook("thin", BIDS, ASKS);
  await expect("The smallest order in this market is 200 contracts, and the order book offers less of this side", {
    market_id: "thin",
  });
  setMarket("closed", { status: "closed" });
  await expect("The market is not open for orders", { market_id: "closed" });
  setMarket("ended", { closeAt: clock.now() }, { receivedAt: clock.now() - 1 });
  setBook("ended", BIDS, ASKS);
  await expect("The market is not open for orders", { market_id: "ended" });
  setMarket("past", { closeAt: clock.now() - DAY_MS });
  setBook("past", BIDS, ASKS);
  assert.equal(
    (await enter({ market_id: "past" })).status,
    200,
    "the venue confirmed the market after its published close",
  );
  setMarket("settled", { status: "finalized", outcome: { kind: "yes" } });
  await expect("The market is not open for orders", { market_id: "settled" });
  setMarket("paused", { paused: true });
  await expect("The venue has paused this market", { market_id: "paused" });
  setMarket("no-fee", { takerFee: null });
  await expect("The taker fee of this market is unknown", { market_id: "no-fee" });
  setMarket("no-book");
  await expect("The market has no order book", { market_id: "no-book" });
  setMarket("empty");
  setBook("empty", [], []);
  await expect("The order book offers only $0.00 of this side", { market_id: "empty" });
  setMarket("crossed");
  setBook("crossed", [{ price: 0.5, size: 100 }], [{ price: 0.5, size: 100 }]);
  await expect("The order book is inconsistent: its bid is not below its ask", { market_id: "crossed" });
  assert.equal((await read()).json.position_count, 3);
});

eachDatabase("409: an order is not executed at a price that was confirmed more than an hour ago", async (database) => {
  const { app, createAgent, clock, setMarket } = await openPortfolioApi(database);
  const { customerId } = await createAgent();
  const book = { bids: BIDS, asks: ASKS, lastPrice: null, eventAt: null, receivedAt: clock.now() };
  const paperTrades = createPaperTrades({
    database,
    clock,
    getMarket: async (venue, marketId) => {
      const market = app.board.find(venue, marketId);
      assert.ok(market !== null);
      return market;
    },
    readBook: async () => book,
  });
  const enter = () => paperTrades.enter(customerId, { venue: VENUE, marketId: "m-1", side: "yes", sizeUsd: 1 }, null);
  await clock.advance(HOUR_MS);
  assert.equal((await enter()).price, 0.4);
  await clock.advance(1);
  await assert.rejects(enter(), {
    code: "not_executable",
    message: "The price of this market is more than an hour old",
  });
  setMarket("m-1");
  assert.equal((await enter()).price, 0.4, "the quote of the market was confirmed since");
});

eachDatabase(
  "404, 422 and 502: an unknown market, invalid fields, and a venue that does not answer",
  async (database) => {
    const { createAgent, venue } = await openPortfolioApi(database);
    const { enter, read } = await createAgent();
    assert.deepEqual((await enter({ market_id: "unknown" })).json.code, "market_not_found");
    for (const [fields, error] of [
      [{ platform: "venue_z" }, "literal_error at body.platform"],
      [{ market_id: "" }, "string_too_short at body.market_id"],
      [{ market_id: "x".repeat(513) }, "string_too_long at body.market_id"],
      [{ side: "buy" }, "literal_error at body.side"],
      [{ size_usd: 0 }, "greater_than_equal at body.size_usd"],
      [{ size_usd: 1_000_000.01 }, "less_than_equal at body.size_usd"],
      [{ size_usd: "30" }, "float_type at body.size_usd"],
    ] as const) {
      const { status, json } = await enter(fields);
      assert.deepEqual([status, describeDetail(json)], [422, [error]], JSON.stringify(fields));
    }
    const longKey = await enter({}, { "idempotency-key": "x".repeat(256) });
    assert.deepEqual(describeDetail(longKey.json), ["string_too_long at header.idempotency-key"]);
    assert.deepEqual(describeDetail((await read("?mode=paper")).json), ["literal_error at query.mode"]);
    venue.failing.set("getBook", new VenueError("timeout", "the venue is down", { retryable: true }));
    const { status, json } = await enter();
    assert.deepEqual([status, json.code], [502, "venue_unavailable"]);
  },
);

eachDatabase("200: paper trades cost no quota", async (database) => {
  const { enter, read } = await (await openPortfolioApi(database)).createAgent();
  assert.doesNotMatch(String((await enter()).headers["ratelimit-policy"]), /listing/);
  assert.match(String((await read()).headers["ratelimit-policy"]), /"listing";q=10000/);
});

eachDatabase(
  "409: an account has at most 10,000 paper trades, and a portfolio reads the newest 10,000 trades",
  async (database) => {
    const { createAgent, clock } = await openPortfolioApi(database);
    const { customerId, enter, read } = await createAgent();
    await database.query(
      `insert into paper_trades (customer_id, venue, market_id, title, side, size_usd, contracts, price, fee_usd, entered_at)
     select $1, $2, 'm-' || n % 700, 'Title', 'yes', 4, 10, 0.4, 0, to_timestamp($3::float8 / 1000)
     from generate_series(1, 9999) as n`,
      [customerId, VENUE, clock.now()],
    );
    assert.equal((await enter({ side: "no", size_usd: 31 })).status, 200);
    const { status, json } = await enter();
    assert.deepEqual([status, json.code], [409, "trade_limit_reached"]);
    const portfolio = (await read()).json;
    assert.deepEqual([portfolio.positions.length, portfolio.position_count, portfolio.truncated], [500, 700, false]);
    assert.deepEqual([portfolio.closed.length, portfolio.summary.total_trades], [5, 9_999]);
    await database.query(
      `insert into trade_reports
       (agent_id, venue, market_id, side, price, size_usd, client_ref, is_plausible, reported_at)
     select $1, $2, 'm-' || n, case when n % 2 = 0 then 'no' else 'yes' end, 0.4, 4, n::text, true,
       to_timestamp($3::float8 / 1000 + n / 1000.0)
     from generate_series(0, 10000) as n`,
      [customerId, VENUE, clock.now()],
    );
    const live = (await read("?mode=live")).json;
    assert.deepEqual(
      [live.truncated, live.summary.total_trades, live.positions[0].market_id],
      [true, 10_000, "m-10000"],
    );
    await database.query("delete from trade_reports where market_id = 'm-0'");
    assert.equal((await read("?mode=live")).json.truncated, false);
  },
);

eachDatabase("401: an order of a customer that is deleted during the call is not entered", async (database) => {
  const { app, createAgent, clock } = await openPortfolioApi(database);
  const { customerId } = await createAgent();
  const market = app.board.find(VENUE, "m-1");
  assert.ok(market !== null);
  const paperTrades = createPaperTrades({
    database,
    clock,
    getMarket: async () => market,
    async readBook() {
      await app.customers.delete(customerId, OPERATOR);
      return { bids: BIDS, asks: ASKS, lastPrice: null, eventAt: null, receivedAt: clock.now() };
    },
  });
  const order = { venue: VENUE, marketId: "m-1", side: "yes", sizeUsd: 1 } as const;
  await assert.rejects(paperTrades.enter(customerId, order, null), { code: "unauthorized" });
  assert.deepEqual(await database.query("select 1 from paper_trades"), []);
});

eachDatabase("deleting a customer deletes its paper trades and keeps its trade reports", async (database) => {
  const { app, createAgent } = await openPortfolioApi(database);
  const deleted = await createAgent();
  const remaining = await createAgent();
  for (const { enter, report } of [deleted, remaining]) {
    await enter({}, { "idempotency-key": "secret key" });
    await report("yes", 100, 0.4);
  }
  await app.customers.delete(deleted.customerId, OPERATOR);
  const rows = await database.query<{ customer_id: string }>("select customer_id from paper_trades");
  assert.deepEqual(rows, [{ customer_id: remaining.customerId }]);
  assert.equal((await database.query("select 1 from trade_reports")).length, 2);
  assert.equal((await remaining.read()).json.position_count, 1);
});

eachDatabase("paper trades are deleted 731 days after their entry, by the hourly cleanup", async (database) => {
  const { app, createAgent, clock } = await openPortfolioApi(database);
  const { customerId } = await createAgent();
  const insert = (ageMs: number) =>
    database.query(
      `insert into paper_trades (customer_id, venue, market_id, title, side, size_usd, contracts, price, fee_usd, entered_at)
       values ($1, 'v', 'm', 't', 'yes', 1, 2, 0.5, 0, to_timestamp($2::float8 / 1000))`,
      [customerId, clock.now() - ageMs],
    );
  await insert(731 * DAY_MS + 1);
  await insert(731 * DAY_MS - HOUR_MS);
  const count = async () => (await database.query("select 1 from paper_trades")).length;
  await PAPER_TRADE_DATA.deleteExpired?.(database, clock.now(), () => true);
  assert.equal(await count(), 2);
  app.customers.start();
  await clock.advance(60_000);
  while ((await count()) > 1) await clock.settle();
  await app.customers.stop();
  assert.equal(await count(), 1);
});
