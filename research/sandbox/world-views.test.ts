import assert from "node:assert/strict";
import { test } from "node:test";
import { createWorld } from "../../sandbox/world/index.ts";
import { groundTruthOf } from "../../sandbox/world/list-event.ts";
import { trueProbability } from "../../sandbox/world/truth.ts";
import { ENGINE_COEFFICIENTS, estimate } from "../../src/engine/index.ts";
import { DAY_MS } from "../../src/lib/durations.ts";
import { viewOpenMarkets } from "./world-views.ts";

const GENESIS = Date.UTC(2026, 9, 1);

test("on an unseen world, the shipped engine's probabilities are closer to the true ones than the prices are", () => {
  const world = createWorld({ seed: 2_611, genesis: GENESIS, speed: 1, marketCount: 200 });
  let ours = 0;
  let price = 0;
  for (const { market, view } of viewOpenMarkets(world, GENESIS - 3 * DAY_MS)) {
    const result = estimate(view, ENGINE_COEFFICIENTS);
    const { process: outcome, criterion } = groundTruthOf(market);
    const truth = trueProbability(outcome, criterion, view.asOf);
    ours += ((result?.probability ?? 0) - truth) ** 2;
    price += ((result?.marketPrice ?? 0) - truth) ** 2;
  }
  assert.ok(price > 0);
  assert.ok(ours < 0.97 * price, `squared errors ${ours} and ${price}`);
});

test("views of a simulated world have peers, events and ladders, and no data newer than the view", () => {
  const world = createWorld({ seed: 5, genesis: GENESIS, speed: 1, marketCount: 200 });
  const asOf = GENESIS - 2 * DAY_MS;
  const views = viewOpenMarkets(world, asOf).map(({ view }) => view);
  assert.ok(views.length > 50);
  assert.ok(views.some(({ peers }) => peers.length > 0));
  assert.ok(views.some(({ event }) => event?.isExclusive === true));
  assert.ok(views.some(({ event }) => (event?.ladder?.length ?? 0) > 1));
  for (const { prices, trades, peers } of views)
    for (const { at } of [...prices, ...trades, ...peers]) assert.ok(at <= asOf);
});
