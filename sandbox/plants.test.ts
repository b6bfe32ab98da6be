import assert from "node:assert/strict";
import { test } from "node:test";
import { HOUR_MS } from "../src/lib/durations.ts";
import { testSandbox } from "../test/support/venues/sandbox.ts";
import { createWorld } from "./world/index.ts";
import { createPlantedWorld, PlantError } from "./world/plants.ts";
import type { NotTradableReason } from "./world/types.ts";

const GENESIS = Date.UTC(2026, 10, 21);
const AT = GENESIS + HOUR_MS;

function openWorld() {
  const world = createWorld({ seed: 7, genesis: GENESIS, speed: 1, marketCount: 60 });
  const market = world.markets("polymarket", AT).find((candidate) => {
    const bid = world.book(candidate, AT).bids[0]?.price ?? 0;
    return world.lifecycle(candidate, AT).phase === "active" && bid > 0.3 && bid < 0.6;
  });
  assert.ok(market !== undefined);
  return { world, planted: createPlantedWorld(world), market };
}

test("a world without planted changes is unchanged, and a planted change has no effect before its time", () => {
  const { world, planted, market } = openWorld();
  assert.deepEqual(planted.book(market, AT), world.book(market, AT));
  planted.plantShift(market, AT, 0.2);
  planted.plantTrade(market, AT, { side: "yes", usd: 1_000 });
  assert.deepEqual(planted.book(market, AT - 1), world.book(market, AT - 1));
  assert.deepEqual(planted.trades(market, GENESIS, AT), world.trades(market, GENESIS, AT));
  assert.equal(planted.nextChangeAt(market, AT - 1), AT);
});

test("a shift moves the whole book by the same amount, and the book stays uncrossed within the price range", () => {
  const { world, planted, market } = openWorld();
  planted.plantShift(market, AT, 0.2);
  const [before, after] = [world.book(market, AT), planted.book(market, AT)];
  const move = (after.bids[0]?.price ?? 0) - (before.bids[0]?.price ?? 0);
  assert.ok(Math.abs(move - 0.2) < 1e-9);
  assert.ok(after.version > before.version && after.changedAt === AT);
  planted.plantShift(market, AT, 0.9);
  const { bids, asks } = planted.book(market, AT);
  for (const { price } of [...bids, ...asks]) assert.ok(price > 0 && price < 1);
});

test("a planted trade is listed, is the last price and counts towards the volume", () => {
  const { world, planted, market } = openWorld();
  const trade = planted.plantTrade(market, AT, { side: "no", usd: 10_000, taker: 7 });
  assert.equal(trade.taker, 7);
  assert.deepEqual(planted.trades(market, AT, AT + 1).at(-1), trade);
  assert.equal(planted.book(market, AT).lastPrice, trade.yesPrice);
  assert.ok(Math.abs(trade.size * (1 - trade.yesPrice) - 10_000) < 1);
  const volume =
    (planted.activity(market, AT).volumeContracts ?? 0) - (world.activity(market, AT).volumeContracts ?? 0);
  assert.ok(Math.abs(volume - trade.size) < 0.01);
});

function openSets() {
  const world = createWorld({ seed: 7, genesis: GENESIS, speed: 1, marketCount: 500 });
  return { world, planted: createPlantedWorld(world) };
}

test("a planted set costs less than 1 after fees, and its omitted outcome has no book", () => {
  const { world, planted } = openSets();
  const events = world.events("polymarket", AT);
  const complete = planted.plantSet(events, AT, null);
  const incomplete = planted.plantSet(events, AT, "placeholder");
  assert.notEqual(incomplete.event, complete.event);
  assert.deepEqual([complete.complete, complete.leftOut, incomplete.complete], [true, null, false]);
  for (const { outcomes } of [complete, incomplete]) {
    const asks = outcomes.map(({ market, ask }) => {
      assert.ok(Math.abs((planted.book(market, AT).asks[0]?.price ?? 1) - ask) < 1e-9);
      return ask;
    });
    const cost = asks.reduce((sum, ask) => sum + ask + 0.07 * ask * (1 - ask), 0);
    assert.ok(cost > 0.7 && cost < 0.9, `${cost}`);
  }
  const { market, row } = incomplete.leftOut ?? assert.fail("an outcome is left out");
  assert.equal(incomplete.outcomes.length, incomplete.event.markets.length - 1);
  assert.deepEqual([row, planted.plantedRow?.(market, AT), planted.plantedRow?.(market, AT - 1)], [row, row, null]);
  assert.deepEqual([planted.book(market, AT).bids, planted.book(market, AT).asks], [[], []]);
  assert.equal(planted.lifecycle(market, AT).phase, "pending");
  assert.deepEqual(planted.book(market, AT - 1), world.book(market, AT - 1));
});

test("a set is incomplete if its omitted outcome is closed without a result, and complete if it is settled NO", () => {
  const { world, planted } = openSets();
  const phaseOf = (row: NotTradableReason) => {
    const { complete, leftOut } = planted.plantSet(world.events("polymarket", AT), AT, row);
    return [complete, leftOut && planted.lifecycle(leftOut.market, AT).phase];
  };
  assert.deepEqual(phaseOf("closed"), [false, "disputed"]);
  assert.deepEqual(phaseOf("settled_no"), [true, "finalized"]);
  assert.throws(() => planted.plantSet([], AT, null), PlantError);
});

test("the control server accepts planted changes of active markets and rejects invalid requests", async () => {
  const sandbox = await testSandbox({ marketCount: 300 });
  try {
    const control = sandbox.urls.control?.rest ?? "";
    const state = (await (await fetch(`${control}/truth/kalshi`)).json()) as {
      markets: { market_id: string; lifecycle: { phase: string } }[];
    };
    const marketId = state.markets.find(({ lifecycle }) => lifecycle.phase === "active")?.market_id;
    const closedId = state.markets.find(({ lifecycle }) => lifecycle.phase === "finalized")?.market_id;
    const plant = async (path: string, body: unknown) => {
      const init = { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
      return (await fetch(`${control}/plants/${path}`, init)).status;
    };
    assert.equal(await plant("kalshi/shift", { market_id: marketId, move: 0.1 }), 200);
    assert.equal(await plant("kalshi/trade", { market_id: marketId, side: "yes", usd: 5_000 }), 200);
    assert.equal(await plant("kalshi/shift", { market_id: marketId, move: 2 }), 400);
    assert.equal(await plant("kalshi/trade", { market_id: marketId, side: "yes", usd: 5_000, taker: 7 }), 200);
    assert.equal(await plant("kalshi/trade", { market_id: marketId, side: "yes", usd: 5_000, taker: "a" }), 400);
    assert.equal(await plant("kalshi/trade", { market_id: marketId, side: "both", usd: 5_000 }), 400);
    assert.equal(await plant("kalshi/trade", { market_id: marketId, side: "no", usd: 1e12 }), 400);
    assert.equal(await plant("kalshi/shift", { market_id: closedId, move: 0.1 }), 400);
    assert.equal(await plant("kalshi/shift", { market_id: "unknown", move: 0.1 }), 404);
    assert.equal(await plant("nasdaq/shift", { market_id: marketId, move: 0.1 }), 404);
    assert.equal(await plant("kalshi/shift", null), 404);
    assert.equal(await plant("polymarket/set", null), 200);
    assert.equal(await plant("polymarket/set", { left_out: "closed" }), 200);
    assert.equal(await plant("polymarket/set", { left_out: "all" }), 400);
    assert.equal(await plant("polymarket/set", { event_id: "unknown" }), 400);
  } finally {
    await sandbox.close();
  }
});
