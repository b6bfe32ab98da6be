import assert from "node:assert/strict";
import { eachDatabase } from "../../../../test/support/databases.ts";
import {
  ASKS,
  BIDS,
  EMPTY_SUMMARY,
  openPortfolioApi,
  VENUE,
} from "../../../../test/support/trading/portfolio-harness.ts";
import { toIso } from "../../../lib/dates/iso-time.ts";
import { DAY_MS, HOUR_MS } from "../../../lib/durations.ts";
import { createPortfolioService } from "./index.ts";

eachDatabase("200: a position shows its cost and its current value, and the summary its profit", async (database) => {
  const { createAgent, clock, setMarket } = await openPortfolioApi(database);
  const { enter, read } = await createAgent();
  await enter({ size_usd: 20 });
  const enteredAt = clock.now();
  await clock.advance(HOUR_MS);
  setMarket("m-1", {}, { bid: 0.48, ask: 0.52 });
  const { status, json } = await read();
  assert.equal(status, 200);
  // 50 contracts at 0.40 with a fee of 0.07 × 50 × 0.24 = 0.84, and a price of 0.50.
  assert.deepEqual(json, {
    mode: "shadow",
    positions: [
      {
        platform: VENUE,
        market_id: "m-1",
        title: "Question m-1",
        side: "yes",
        contracts: 50,
        entry_price: 0.4,
        cost_usd: 20.84,
        yes_price: 0.5,
        value_usd: 25,
        unrealized_pnl_usd: 4.16,
        status: "active",
        opened_at: toIso(enteredAt),
      },
    ],
    position_count: 1,
    closed: [],
    summary: { ...EMPTY_SUMMARY, total_trades: 1, total_pnl: 4.16 },
    truncated: false,
    generated_at: toIso(clock.now()),
  });
});

eachDatabase("200: a paper trade of the other side closes the position at 1 minus its price", async (database) => {
  const { createAgent, clock, setBook } = await openPortfolioApi(database);
  const { enter, read } = await createAgent();
  await enter({ size_usd: 20 });
  const openedAt = clock.now();
  await clock.advance(DAY_MS);
  setBook("m-1", [{ price: 0.6, size: 100 }], [{ price: 0.62, size: 100 }]);
  // 50 NO contracts at 0.40 close the 50 YES contracts at 0.60; the fee is 0.84 again.
  await enter({ side: "no", size_usd: 20 });
  const { json } = await read();
  assert.deepEqual(json.positions, []);
  assert.deepEqual(json.closed, [
    {
      platform: VENUE,
      market_id: "m-1",
      title: "Question m-1",
      side: "yes",
      contracts: 50,
      entry_price: 0.4,
      cost_usd: 20.84,
      pnl_usd: 8.32,
      result: "closed",
      opened_at: toIso(openedAt),
      closed_at: toIso(clock.now()),
    },
  ]);
  const { total_trades, resolved_trades, win_rate, total_pnl, roi_pct } = json.summary;
  assert.deepEqual([total_trades, resolved_trades, win_rate, total_pnl], [1, 1, 1, 8.32]);
  assert.ok(Math.abs(roi_pct - (100 * 8.32) / 20.84) < 1e-9);
});

eachDatabase("200: reported trades are the live book: closed first in first out, without fees", async (database) => {
  const { createAgent, clock } = await openPortfolioApi(database);
  const { report, read } = await createAgent();
  await report("yes", 100, 0.4);
  await clock.advance(DAY_MS);
  await report("yes", 100, 0.3);
  await clock.advance(DAY_MS);
  const { status } = await report("no", 150, 0.55);
  assert.equal(status, 200);
  const { json } = await read("?mode=live");
  // Sold at 0.45: 100 × 0.05 of the first lot and 50 × 0.15 of the second one, whose other half is open at 0.39.
  assert.deepEqual(
    json.closed.map((lot: Record<string, unknown>) => [lot.contracts, lot.entry_price, lot.pnl_usd, lot.result]),
    [[100, 0.4, 5, "closed"]],
  );
  const [position, ...others] = json.positions;
  assert.deepEqual(others, []);
  assert.ok(Math.abs(position.contracts - 50) < 1e-9);
  assert.deepEqual([position.side, position.entry_price, position.unrealized_pnl_usd], ["yes", 0.3, 4.5]);
  const { total_trades, resolved_trades, win_rate, total_pnl, roi_pct } = json.summary;
  assert.deepEqual([total_trades, resolved_trades, win_rate, total_pnl], [2, 1, 1, 17]);
  assert.ok(Math.abs(roi_pct - 12.5) < 1e-9);
  assert.deepEqual((await read()).json.summary, EMPTY_SUMMARY, "the paper book is another one");
});

eachDatabase("200: a result with a time in the future settles the open trades now", async (database) => {
  const { createAgent, clock, setMarket } = await openPortfolioApi(database);
  const { enter, read } = await createAgent();
  await enter({ size_usd: 20 });
  await clock.advance(HOUR_MS);
  setMarket("m-1", { status: "finalized", outcome: { kind: "yes" }, resolvedAt: clock.now() + 3 * DAY_MS });
  const { closed, positions, summary } = (await read()).json;
  assert.deepEqual([closed.length, closed[0]?.closed_at, positions], [1, toIso(clock.now()), []]);
  assert.equal(summary.total_pnl, 29.16);
});

eachDatabase(
  "200: the result of a market on the board settles its open trades; a refund returns the stake",
  async (database) => {
    const { createAgent, clock, setMarket, setBook } = await openPortfolioApi(database);
    const { enter, report, read } = await createAgent();
    setMarket("m-2");
    setBook("m-2", BIDS, ASKS);
    await enter({ size_usd: 20 });
    await enter({ market_id: "m-2", size_usd: 20 });
    await report("no", 10, 0.6);
    await clock.advance(DAY_MS);
    const resolvedAt = clock.now() - HOUR_MS;
    setMarket("m-1", { status: "finalized", outcome: { kind: "yes" }, resolvedAt });
    setMarket("m-2", { status: "finalized", outcome: { kind: "void", value: null }, resolvedAt: resolvedAt - HOUR_MS });
    const shadow = (await read()).json;
    assert.deepEqual(
      shadow.closed.map((lot: Record<string, unknown>) => [lot.market_id, lot.pnl_usd, lot.result, lot.closed_at]),
      [
        ["m-1", 29.16, "settled", toIso(resolvedAt)],
        ["m-2", 0, "settled", toIso(resolvedAt - HOUR_MS)],
      ],
    );
    assert.deepEqual([shadow.positions, shadow.summary.total_pnl, shadow.summary.win_rate], [[], 29.16, 0.5]);
    const live = (await read("?mode=live")).json;
    assert.deepEqual([live.closed.length, live.summary.total_pnl, live.summary.roi_pct], [1, -6, -100]);
  },
);

eachDatabase(
  "200: a recorded settlement takes precedence over the board, and the latest one of a market counts",
  async (database) => {
    const { createAgent, clock, setMarket } = await openPortfolioApi(database);
    const { enter, read } = await createAgent();
    await enter({ size_usd: 20 });
    await clock.advance(DAY_MS);
    setMarket("m-1", { status: "finalized", outcome: { kind: "no" }, resolvedAt: clock.now() });
    const record = (outcome: string, value: number, recordedAt: number) =>
      database.query(
        `insert into market_settlements (venue, market_id, outcome, value, resolved_at, recorded_at)
       values ($1, 'm-1', $2, $3::float8, to_timestamp($4::float8 / 1000), to_timestamp($4::float8 / 1000))`,
        [VENUE, outcome, value, recordedAt],
      );
    await record("no", 0, clock.now() - HOUR_MS);
    assert.equal((await read()).json.summary.total_pnl, -20.84);
    await record("partial", 0.5, clock.now());
    const { closed, summary } = (await read()).json;
    assert.deepEqual(
      [closed[0].pnl_usd, closed[0].closed_at, summary.total_pnl],
      [4.16, toIso(clock.now() - HOUR_MS), 4.16],
    );
  },
);

eachDatabase("200: open trades are valued daily at stored prices", async (database) => {
  const { app, createAgent, clock, setMarket } = await openPortfolioApi(database);
  const { report, read, customerId } = await createAgent();
  await report("yes", 100, 0.4);
  const midnight = Date.UTC(2026, 10, 22);
  const [row] = await database.query<{ key: number }>(
    `insert into markets (venue, market_id, title, status, updated_at, snapshot)
     values ($1, 'm-1', 'Stored title', 'active', now(), '{}') returning key`,
    [VENUE],
  );
  for (const [day, price] of [0.6, 0.1, 0.3].entries())
    await database.query(
      `insert into bars_1h (market_key, start_at, yes_close, source)
       values ($1, to_timestamp($2::float8 / 1000), $3::int4, 'ticks')`,
      [row?.key, midnight + day * DAY_MS - HOUR_MS, price * 1e6],
    );
  await clock.advance(3 * DAY_MS);
  setMarket("m-1", {}, { bid: 0.34, ask: 0.36 });
  // The days end at 0.60, 0.10, 0.30 and now 0.35.
  const { summary } = (await read("?mode=live")).json;
  assert.deepEqual([summary.total_pnl, summary.max_drawdown], [-5, -50]);
  const live = await createPortfolioService({ database, board: app.board, clock }).livePerformance(customerId);
  assert.deepEqual(
    live.days.map(({ date, pnlUsd, enteredTrades }) => [date, pnlUsd, enteredTrades]),
    [
      ["2026-11-21", 20, 1],
      ["2026-11-22", -50, 0],
      ["2026-11-23", 20, 0],
      ["2026-11-24", 5, 0],
    ],
  );
  assert.deepEqual([live.performance.totalPnlUsd, live.isTruncated], [-5, false]);
  assert.equal(live.firstTradeAt, midnight - DAY_MS / 2);
});

eachDatabase(
  "200: a market without a board entry and a price is shown with null for the unknown fields",
  async (database) => {
    const { app, createAgent } = await openPortfolioApi(database);
    const { report, read } = await createAgent();
    await report("yes", 100, 0.4);
    const market = app.board.find(VENUE, "m-1");
    assert.ok(market !== null);
    app.board.remove(market);
    const positionOf = async () => {
      const { title, yes_price, value_usd, unrealized_pnl_usd, status } = (await read("?mode=live")).json.positions[0];
      return [title, yes_price, value_usd, unrealized_pnl_usd, status];
    };
    assert.deepEqual(await positionOf(), [null, null, null, null, null]);
    await database.query(
      `insert into markets (venue, market_id, title, status, updated_at, snapshot)
     values ($1, 'm-1', 'Stored title', 'finalized', now(), '{}')`,
      [VENUE],
    );
    assert.deepEqual(await positionOf(), ["Stored title", null, null, null, null]);
    assert.equal((await read("?mode=live")).json.summary.total_pnl, 0);
  },
);

eachDatabase(
  "200: a portfolio reads at most 5,000 stored prices, and those of the newest trades first",
  async (database) => {
    const { createAgent, clock } = await openPortfolioApi(database);
    const { customerId, read } = await createAgent();
    await database.query(
      `with stored as (
       insert into markets (venue, market_id, title, status, updated_at, snapshot)
       values ($1, 'old', 'Title', 'active', now(), '{}') returning key)
     insert into bars_1h (market_key, start_at, yes_close, source)
     select key, to_timestamp($2::float8 / 1000), 900000, 'ticks' from stored`,
      [VENUE, Math.floor(clock.now() / DAY_MS) * DAY_MS - 100 * DAY_MS - HOUR_MS],
    );
    const enter = (marketId: string, ageDays: number) =>
      database.query(
        `insert into paper_trades (customer_id, venue, market_id, title, side, size_usd, contracts, price, fee_usd, entered_at)
       values ($1, $2, $3, 'Title', 'yes', 4, 10, 0.4, 0, to_timestamp($4::float8 / 1000))`,
        [customerId, VENUE, marketId, clock.now() - ageDays * DAY_MS],
      );
    await enter("old", 300);
    for (let index = 0; index < 25; index++) await enter(`new-${index}`, 200);
    const readProfit = async () => (await read()).json.summary.total_pnl;
    assert.equal(await readProfit(), 0, "25 markets of 200 days leave no price for the oldest one");
    await database.query("delete from paper_trades where market_id = 'new-0'");
    assert.equal(await readProfit(), 5);
  },
);

eachDatabase("200: a payout outside [0, 1] does not settle a trade", async (database) => {
  const { createAgent, setMarket } = await openPortfolioApi(database);
  const { report, read } = await createAgent();
  await report("yes", 100, 0.4);
  setMarket("m-1", { status: "finalized", outcome: { kind: "partial", value: 40 } });
  const { status, json } = await read("?mode=live");
  assert.deepEqual([status, json.position_count, json.positions[0].status], [200, 1, "finalized"]);
});

eachDatabase("200: a customer sees only its own trades, and without trades all lists are empty", async (database) => {
  const { createAgent } = await openPortfolioApi(database);
  const owner = await createAgent();
  const other = await createAgent("free");
  await owner.enter();
  await owner.report("yes", 100, 0.4);
  for (const mode of ["shadow", "live"]) {
    assert.equal((await owner.read(`?mode=${mode}`)).json.positions.length, 1);
    const { positions, position_count, closed, summary, truncated } = (await other.read(`?mode=${mode}`)).json;
    assert.deepEqual([positions, position_count, closed, summary, truncated], [[], 0, [], EMPTY_SUMMARY, false]);
  }
});

eachDatabase("reports at a price of 0 are not part of the live book", async (database) => {
  const { createAgent } = await openPortfolioApi(database);
  const { report, read } = await createAgent();
  assert.equal((await report("yes", 100, 0, { size_usd: 5 })).status, 200);
  assert.equal((await report("yes", 5, 1)).status, 200);
  const { positions } = (await read("?mode=live")).json;
  assert.deepEqual(
    positions.map((position: Record<string, unknown>) => [position.contracts, position.entry_price]),
    [[5, 1]],
  );
});

eachDatabase(
  "200: the Sharpe ratio needs 30 days that are over, so the current day does not count",
  async (database) => {
    const { createAgent, clock } = await openPortfolioApi(database);
    const { report, read } = await createAgent();
    assert.equal((await report("yes", 10, 0.4)).status, 200);
    await clock.advance(1_000);
    assert.equal((await report("no", 10, 0.5)).status, 200);
    await clock.advance(29 * DAY_MS);
    assert.equal((await read("?mode=live")).json.summary.sharpe_ratio, null);
    await clock.advance(DAY_MS);
    assert.ok((await read("?mode=live")).json.summary.sharpe_ratio > 0);
  },
);
