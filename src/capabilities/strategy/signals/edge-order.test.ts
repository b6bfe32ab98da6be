import assert from "node:assert/strict";
import { test } from "node:test";
import { FakeClock } from "../../../../test/support/fake-clock.ts";
import { SAMPLE_AT, sampleMarket } from "../../../../test/support/markets/market-samples.ts";
import { quietLog } from "../../../../test/support/quiet-log.ts";
import { MarketBoard } from "../../../board/index.ts";
import type { VenueId } from "../../../domain/market.ts";
import { createEdgeOrder } from "./edge-order.ts";

function setUp() {
  const clock = new FakeClock(SAMPLE_AT);
  const board = new MarketBoard(() => clock.now());
  const probabilities = new Map<string, number>();
  const analysed = new Set<string>();
  const observers: ((venue: VenueId, marketId: string) => void)[] = [];
  let computed = 0;
  const quote = (marketId: string, price: number) =>
    board.apply(
      sampleMarket(marketId, { quote: { bid: price - 0.005, ask: price + 0.005, receivedAt: clock.now() } }),
      clock.now(),
    ).market;
  const estimate = (marketId: string, probability: number) => {
    probabilities.set(marketId, probability);
    analysed.add(marketId);
    for (const observer of observers) observer("alpha", marketId);
  };
  const createOrder = () =>
    createEdgeOrder({
      board,
      estimates: {
        find: (_, marketId) => (analysed.has(marketId) ? {} : null),
        observe: (observer) => void observers.push(observer),
      },
      probabilityOf({ listing }) {
        computed += 1;
        return probabilities.get(listing.marketId) ?? null;
      },
      clock,
      log: quietLog,
    });
  const list = (limit = 10, after: Parameters<typeof board.list>[0]["after"] = null) =>
    board.list({
      venues: ["alpha"],
      statuses: ["active"],
      category: null,
      text: null,
      sort: "edge",
      limit,
      after,
    });
  return { board, probabilities, quote, estimate, createOrder, list, computed: () => computed };
}

const idsOf = (markets: ReturnType<MarketBoard["list"]>) => markets.map(({ listing }) => listing.marketId);

test("markets are ordered by the distance of the estimate from the price, those without an estimate last", async () => {
  const { quote, estimate, createOrder, list } = setUp();
  for (const id of ["a", "b", "c", "d"]) quote(id, 0.5);
  const order = createOrder();
  estimate("b", 0.45);
  estimate("d", 0.6);
  await order.orderChanges();
  assert.deepEqual(idsOf(list()), ["d", "b", "a", "c"]);
  quote("b", 0.65);
  await order.orderChanges();
  assert.deepEqual(idsOf(list()), ["b", "d", "a", "c"], "the price has moved");
});

test("a page continues after the last market of the previous page, even if other markets have moved", async () => {
  const { board, quote, estimate, createOrder, list } = setUp();
  const order = createOrder();
  for (const [index, id] of ["a", "b", "c", "d"].entries()) {
    quote(id, 0.5);
    estimate(id, 0.5 + index / 100);
  }
  quote("e", 0.5);
  await order.orderChanges();
  const [, second] = list(2);
  assert.ok(second !== undefined);
  assert.deepEqual(idsOf(list(2)), ["d", "c"]);
  quote("d", 0.2);
  await order.orderChanges();
  assert.deepEqual(idsOf(list(10, board.position(second, "edge"))), ["b", "a", "e"]);
});

test("an estimate that expires or depends on another market is ordered again without a change of its price", async () => {
  const { quote, estimate, createOrder, list, probabilities } = setUp();
  for (const id of ["a", "b"]) quote(id, 0.5);
  const order = createOrder();
  estimate("a", 0.8);
  estimate("b", 0.7);
  await order.orderChanges();
  probabilities.set("b", 0.9);
  await order.orderChanges();
  assert.deepEqual(idsOf(list()), ["a", "b"], "nothing was reported to have changed");
  await order.orderAll();
  assert.deepEqual(idsOf(list()), ["b", "a"]);
  probabilities.delete("b");
  await order.orderAll();
  assert.deepEqual(idsOf(list()), ["a", "b"]);
});

test("only markets with an analysis are computed, also if they were analysed before they were listed", async () => {
  const { quote, estimate, createOrder, list, computed } = setUp();
  const order = createOrder();
  estimate("late", 0.9);
  await order.orderChanges();
  for (let index = 0; index < 50; index++) quote(`m${index}`, 0.5);
  quote("late", 0.5);
  await order.orderChanges();
  assert.equal(computed(), 1);
  assert.equal(idsOf(list(1))[0], "late");
});

test("a removed market leaves the order", async () => {
  const { board, quote, estimate, createOrder, list } = setUp();
  const order = createOrder();
  quote("b", 0.5);
  const market = quote("a", 0.5);
  estimate("a", 0.9);
  await order.orderChanges();
  board.remove(market);
  assert.deepEqual(idsOf(list()), ["b"]);
  quote("a", 0.5);
  await order.orderChanges();
  assert.deepEqual(idsOf(list()), ["a", "b"]);
});
