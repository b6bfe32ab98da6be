import assert from "node:assert/strict";
import { test } from "node:test";
import { eachDatabase, onEmbedded } from "../../../../test/support/databases.ts";
import { FakeClock } from "../../../../test/support/fake-clock.ts";
import { interruptible } from "../../../../test/support/interruptible-database.ts";
import { SAMPLE_AT, type SampleParts, sampleMarket } from "../../../../test/support/markets/market-samples.ts";
import { quietLog } from "../../../../test/support/quiet-log.ts";
import { createInProcessBus } from "../../../adapters/bus/in-process-bus.ts";
import { type BoardMarket, MarketBoard } from "../../../board/index.ts";
import type { Trade } from "../../../domain/trade.ts";
import { createEventLog } from "../../../event-log/index.ts";
import { HOUR_MS, MINUTE_MS, SECOND_MS } from "../../../lib/durations.ts";
import type { Database } from "../../../ports/database.ts";
import { createMarketStore } from "../../../storage/index.ts";
import { createMarketAlerts, DEFAULT_ALERT_LIMITS } from "./index.ts";
import { PriceShiftDetector } from "./price-shift-detector.ts";

/** Creates detectors on a real database with one market at 0.41, whose log-odds moved by 0.04 every hour for a week. */
async function openAlerts(database: Database, parts: SampleParts = {}) {
  const clock = new FakeClock(SAMPLE_AT + 30 * MINUTE_MS);
  const board = new MarketBoard(() => clock.now());
  const store = createMarketStore(database);
  const eventLog = createEventLog({ database, bus: createInProcessBus(quietLog) });
  const snapshot = sampleMarket("m", { ...parts, quote: { receivedAt: clock.now(), ...parts.quote } });
  const [storeKey] = await store.upsertMarkets([snapshot]);
  assert.ok(typeof storeKey === "number");
  let market: BoardMarket = board.annotate(board.apply(snapshot, clock.now()).market, { storeKey });
  await database.query("delete from bars_1h");
  await database.query(
    `insert into bars_1h (market_key, start_at, yes_close, source)
     select $1::int4, to_timestamp($2::float8 / 1000) - hour * interval '1 hour', case hour % 2 when 0 then 410000 else 419730 end, 'ticks'
     from generate_series(1, 168) as hour`,
    [storeKey, SAMPLE_AT],
  );
  const events = async () => (await eventLog.readAfter(0, { limit: 1_000 })).events;
  const start = (limits = DEFAULT_ALERT_LIMITS) => {
    const alerts = createMarketAlerts({
      database,
      eventLog,
      clock,
      log: quietLog,
      venues: ["alpha"],
      limits,
      requestTakers() {},
    });
    alerts.observer.onStart("alpha");
    alerts.start();
    return alerts;
  };
  return {
    clock,
    store,
    storeKey,
    start,
    market: () => market,
    /** Observes a price, and again a second later if the detector asks for a confirmation. */
    async observe(alerts: ReturnType<typeof start>, price: number, isConfirmed = true) {
      const set = (mid: number) => {
        const previous = market;
        const changes = { bid: mid - 0.01, ask: mid + 0.01, eventAt: null };
        const change = board.applyQuote("alpha", "m", changes, clock.now());
        assert.ok(typeof change !== "string");
        market = change.market;
        return alerts.observer.onPrice(market, previous, market.updatedAt);
      };
      await clock.advance(SECOND_MS);
      const mustConfirm = set(price);
      await clock.advance(SECOND_MS);
      if (mustConfirm && isConfirmed) set(price);
      await settle(clock, alerts);
      return mustConfirm;
    },
    events,
    async shifts() {
      return (await events()).map(({ payload }) => `${payload.old_yes} to ${payload.new_yes}`);
    },
  };
}

/** Fires the timers and waits until the database has answered. */
async function settle(clock: FakeClock, alerts: { stop(): Promise<void>; start(): void }) {
  await clock.advance(200);
  await alerts.stop();
  alerts.start();
}

const tradeOf = (clock: FakeClock, usd: number, tradeId = "big"): Trade => ({
  tradeId,
  executedAt: clock.now(),
  yesPrice: 0.4,
  size: usd / 0.6,
  takerSide: "no",
});

eachDatabase("logs a price shift that a second observation confirms, with all fields", async (database) => {
  const { start, observe, events, clock } = await openAlerts(database);
  const alerts = start();
  assert.equal(await observe(alerts, 0.41), false);
  assert.equal(await observe(alerts, 0.5), true);
  const [event, ...others] = await events();
  assert.deepEqual(others, []);
  assert.equal(event?.occurredAt, clock.now() - 200);
  assert.deepEqual(event?.payload, {
    platform: "alpha",
    market_id: "m",
    title: "Question m",
    old_yes: 0.41,
    new_yes: 0.5,
    change_pct: 21.95,
    window_seconds: 3,
    z_score: 9.08,
  });
  await alerts.stop();
});

eachDatabase(
  "no shift is logged for an unconfirmed move, a small move, or a move that is usual for a volatile market",
  async (database) => {
    const { start, observe, shifts, storeKey } = await openAlerts(database);
    const alerts = start();
    await observe(alerts, 0.41);
    await observe(alerts, 0.6, false);
    await observe(alerts, 0.41);
    assert.equal(await observe(alerts, 0.45), false);
    assert.deepEqual(await shifts(), []);
    await database.query("update bars_1h set yes_close = 300000 where market_key = $1 and yes_close = 410000", [
      storeKey,
    ]);
    assert.equal(await observe(alerts, 0.5), true, "the deviation is not known yet");
    assert.deepEqual(await shifts(), []);
    assert.equal(await observe(alerts, 0.52), false, "the deviation is known in this hour");
    await alerts.stop();
  },
);

eachDatabase("a repeated message does not confirm a shift", async (database) => {
  const { start, market, shifts, clock } = await openAlerts(database);
  const alerts = start();
  const shifted = { ...market(), yesPrice: 0.6 };
  const at = clock.now() + SECOND_MS;
  assert.equal(alerts.observer.onPrice(shifted, market(), at), true);
  assert.equal(alerts.observer.onPrice(shifted, shifted, at), true, "still awaited");
  await settle(clock, alerts);
  assert.deepEqual(await shifts(), []);
  assert.equal(alerts.observer.onPrice(shifted, shifted, at + 1), false);
  await settle(clock, alerts);
  assert.deepEqual(await shifts(), ["0.41 to 0.6"]);
  await alerts.stop();
});

eachDatabase("a market with too few hours of history has no shifts", async (database) => {
  const { start, observe, shifts } = await openAlerts(database);
  await database.query("delete from bars_1h where start_at < to_timestamp($1::float8 / 1000) - interval '20 hours'", [
    SAMPLE_AT,
  ]);
  const alerts = start();
  await observe(alerts, 0.41);
  await observe(alerts, 0.6);
  assert.deepEqual(await shifts(), []);
  await alerts.stop();
});

eachDatabase("the threshold of a move is based on the standard deviation of the hours before it", async (database) => {
  const { start, observe, shifts } = await openAlerts(database);
  await database.query(
    `update bars_1h set yes_close = 900000 where start_at = to_timestamp($1::float8 / 1000) - interval '1 hour'`,
    [SAMPLE_AT],
  );
  const alerts = start();
  await observe(alerts, 0.41);
  await observe(alerts, 0.5);
  assert.deepEqual(await shifts(), ["0.41 to 0.5"]);
  await alerts.stop();
});

eachDatabase(
  "within an hour of a shift, only a move of at least its size is logged, also after a restart",
  async (database) => {
    const { start, observe, shifts } = await openAlerts(database);
    const first = start();
    await observe(first, 0.41);
    await observe(first, 0.5);
    await observe(first, 0.57);
    assert.deepEqual(await shifts(), ["0.41 to 0.5"]);
    await first.stop();
    const second = start();
    await observe(second, 0.57);
    await observe(second, 0.5);
    await observe(second, 0.56);
    assert.deepEqual(await shifts(), ["0.41 to 0.5"]);
    await observe(second, 0.6);
    assert.deepEqual(await shifts(), ["0.41 to 0.5", "0.5 to 0.6"]);
    await second.stop();
  },
);

eachDatabase("a shift and a trade that two nodes observe are logged once each", async (database) => {
  const { start, market, events, clock } = await openAlerts(database, { activity: { volume24hUsd: 10_000 } });
  const nodes = [start(), start()];
  const trade = tradeOf(clock, 4_000);
  for (const { observer } of nodes) {
    const shifted = { ...market(), yesPrice: 0.6 };
    observer.onPrice(shifted, market(), clock.now() + 1);
    observer.onPrice(shifted, shifted, clock.now() + 2);
    observer.onTrade(market(), trade, false);
  }
  await clock.advance(200);
  await Promise.all(nodes.map((alerts) => alerts.stop()));
  assert.deepEqual((await events()).map(({ type }) => type).sort(), ["price_shift", "whale_alert"]);
  assert.equal(
    nodes.reduce((sum, { figures }) => sum + figures.logged, 0),
    2,
  );
});

eachDatabase("logs a trade above the percentile of the stored trades, with all fields", async (database) => {
  const { start, market, events, clock, store, storeKey } = await openAlerts(database, {
    activity: { volume24hUsd: 200_000 },
  });
  const trade = (index: number, usd: number) => ({
    marketKey: storeKey,
    trade: { ...tradeOf(clock, usd, `t${index}`), executedAt: clock.now() - index * MINUTE_MS },
  });
  await store.insertTrades(Array.from({ length: 1_000 }, (_, index) => trade(index + 1, index < 4 ? 20_000 : 50)));
  const alerts = start();
  alerts.observer.onTrade(market(), tradeOf(clock, 4_999, "small"), false);
  alerts.observer.onTrade(market(), tradeOf(clock, 6_000), false);
  await settle(clock, alerts);
  const [event, ...others] = await events();
  assert.deepEqual(others, []);
  assert.deepEqual(event?.payload, {
    platform: "alpha",
    market_id: "m",
    title: "Question m",
    side: "no",
    price: 0.6,
    flow: 6_000,
    size_percentile: 99.6,
    share_of_volume_24h: 0.0293,
  });
  await alerts.stop();
});

eachDatabase(
  "a trade is logged once, when its fills reach the limit, and not again after a restart",
  async (database) => {
    const { start, market, events, clock } = await openAlerts(database, { activity: { volume24hUsd: 20_000 } });
    const alerts = start();
    alerts.observer.onTrade(market(), tradeOf(clock, 1_500), false);
    await settle(clock, alerts);
    assert.deepEqual(await events(), []);
    for (const usd of [2_500, 3_500]) {
      alerts.observer.onTrade(market(), tradeOf(clock, usd), true);
      await settle(clock, alerts);
    }
    await alerts.stop();
    const next = start();
    next.observer.onTrade(market(), tradeOf(clock, 3_500), false);
    await next.stop();
    assert.deepEqual(
      (await events()).map(({ payload }) => payload.flow),
      [2_500],
    );
  },
);

onEmbedded("while the store is unavailable, alerts are queued, and are then logged once", async (real) => {
  const { database, state } = interruptible(real);
  const { start, market, events, clock } = await openAlerts(database, { activity: { volume24hUsd: 10_000 } });
  const alerts = start();
  state.isUp = false;
  alerts.observer.onTrade(market(), tradeOf(clock, 4_000), false);
  const shifted = { ...market(), yesPrice: 0.6 };
  alerts.observer.onPrice(shifted, market(), clock.now() + 1);
  alerts.observer.onPrice(shifted, shifted, clock.now() + 2);
  await clock.advance(5 * SECOND_MS);
  state.isUp = true;
  await clock.advance(2 * SECOND_MS);
  await alerts.stop();
  assert.equal((await events()).length, 2);
});

onEmbedded(
  "no alert is logged for other venues, for markets that do not trade, and for ids that are too long",
  async (database) => {
    const { start, market, clock } = await openAlerts(database);
    const alerts = start();
    const { listing } = market();
    for (const parts of [{ venue: "manifold" }, { status: "closed" }, { marketId: "m".repeat(513) }] as const) {
      const other = { ...market(), yesPrice: 0.9, listing: { ...listing, ...parts } };
      assert.equal(alerts.observer.onPrice(other, market(), clock.now() + 1), false);
      alerts.observer.onTrade(other, tradeOf(clock, 1e6), false);
    }
    assert.equal(alerts.figures.watchedMarkets, 0);
    await alerts.stop();
  },
);

const boardMarket = (marketId: string) =>
  new MarketBoard(() => SAMPLE_AT).apply(sampleMarket(marketId), SAMPLE_AT).market;

test("tracks a bounded number of markets, queues a bounded number of moves and removes markets without recent prices", () => {
  const watch = new PriceShiftDetector(DEFAULT_ALERT_LIMITS.priceShift);
  const market = boardMarket("m");
  const marketOf = (index: number, yesPrice: number) => ({
    ...market,
    yesPrice,
    listing: { ...market.listing, marketId: `m${index}` },
  });
  for (let index = 0; index < 100_001; index++) watch.add(marketOf(index, 0.6), null, SAMPLE_AT);
  assert.deepEqual([watch.size, watch.dropped], [100_000, 1]);
  for (let index = 0; index < 5_001; index++) {
    assert.ok(watch.add(marketOf(index, 0.8), null, SAMPLE_AT + 1));
    watch.add(marketOf(index, 0.8), null, SAMPLE_AT + 2);
  }
  assert.deepEqual([watch.candidateCount, watch.dropped], [5_000, 2]);
  watch.settle(watch.peek(5_000).map(() => ({ sigma: null, lastShift: null })));
  watch.prune(SAMPLE_AT + HOUR_MS + 1);
  assert.equal(watch.size, 0);
});
