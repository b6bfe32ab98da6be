import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { createFeed, createWorld } from "./index.ts";
import type { FeedEvent } from "./types.ts";

const GENESIS = Date.UTC(2026, 10, 20);
const STEP_MS = 500;

/** A feed over a small, lively world whose time the test moves. */
function bench(t: TestContext, speed = 60) {
  t.mock.timers.enable({ apis: ["setInterval"] });
  const world = createWorld({ seed: 11, genesis: GENESIS, speed, marketCount: 20 });
  let now = GENESIS + 1_000;
  const feed = createFeed(world, { now: () => now, intervalMs: STEP_MS });
  t.after(() => feed.close());
  return {
    world,
    feed,
    now: () => now,
    pass(ms: number) {
      for (let passed = 0; passed < ms; passed += STEP_MS) {
        now += STEP_MS;
        t.mock.timers.tick(STEP_MS);
      }
    },
  };
}

const tradeIds = (events: readonly FeedEvent[]) =>
  events.flatMap((event) => (event.kind === "trade" ? event.trade.id : [])).sort();

test("every trade is told exactly once, also those of markets that were listed meanwhile", (t) => {
  // An hour's activity a second: a market trades before the feed has looked for new ones.
  const { world, feed, now, pass } = bench(t, 3_600);
  const heard: FeedEvent[] = [];
  feed.subscribe("kalshi", (event) => heard.push(event));
  pass(STEP_MS);
  const from = now() + 1;
  heard.length = 0;
  pass(16 * 60_000);
  const until = now() - 2_000;
  const happened = world
    .markets("kalshi", now())
    .flatMap((market) => world.trades(market, from, until))
    .map(({ id }) => id);
  assert.ok(happened.length > 100, String(happened.length));
  const told = heard.filter((event) => event.kind !== "trade" || event.at < until);
  assert.deepEqual(tradeIds(told), happened.sort());
});

test("events come in order of their time, never from the future, and a trade right before the book it made", (t) => {
  const { feed, now, pass } = bench(t);
  const heard: FeedEvent[] = [];
  let latest = 0;
  feed.subscribe("polymarket", (event) => {
    assert.ok(event.at <= now());
    heard.push(event);
  });
  for (let round = 0; round < 600; round++) {
    heard.length = 0;
    pass(STEP_MS);
    for (const [number, event] of heard.entries()) {
      assert.ok(event.at >= (heard[number - 1]?.at ?? 0));
      if (event.kind !== "trade") continue;
      const next = heard[number + 1];
      assert.ok(next?.kind === "book" && next.market === event.market && next.at === event.at);
      latest = event.at;
    }
  }
  assert.ok(latest > GENESIS);
});

test("new markets are told as listed, and every step of a market's life once", (t) => {
  const { world, feed, now, pass } = bench(t);
  const heard: FeedEvent[] = [];
  feed.subscribe("limitless", (event) => heard.push(event));
  pass(STEP_MS);
  const before = new Set(world.markets("limitless", now()).map(({ index }) => index));
  assert.equal(heard.filter(({ kind }) => kind === "listed").length, 0);
  pass(70 * 60_000);
  const added = world.markets("limitless", now() - 2_000).filter(({ index }) => !before.has(index));
  const listed = heard.flatMap((event) => (event.kind === "listed" ? event.market.index : []));
  assert.ok(added.length > 0);
  for (const { index } of added) assert.equal(listed.filter((told) => told === index).length, 1);
  const steps = heard.flatMap((event) =>
    event.kind === "lifecycle" ? `${event.market.index}: ${event.from} to ${event.to}` : [],
  );
  assert.ok(
    steps.some((step) => step.endsWith("active to closed")) && steps.some((step) => step.endsWith("to finalized")),
  );
  assert.equal(new Set(steps).size, steps.length);
});

test("listeners of a venue hear the same; of another, its own; one that left hears nothing more", (t) => {
  const { feed, pass } = bench(t);
  const heard: Record<"one" | "two" | "other", FeedEvent[]> = { one: [], two: [], other: [] };
  const leave = feed.subscribe("kalshi", (event) => heard.one.push(event));
  feed.subscribe("kalshi", (event) => heard.two.push(event));
  feed.subscribe("polymarket", (event) => heard.other.push(event));
  pass(60_000);
  assert.ok(heard.one.length > 0 && heard.other.length > 0);
  assert.deepEqual(heard.one, heard.two);
  assert.ok(heard.other.every(({ market }) => market.venue === "polymarket"));
  leave();
  const before = heard.one.length;
  pass(60_000);
  assert.equal(heard.one.length, before);
  assert.ok(heard.two.length > before);
});

test("who comes back after a while hears what happens from then on, not what was missed", (t) => {
  const { feed, now, pass } = bench(t);
  feed.subscribe("kalshi", () => {})();
  pass(10 * 60_000);
  const heard: FeedEvent[] = [];
  const since = now();
  feed.subscribe("kalshi", (event) => heard.push(event));
  pass(60_000);
  assert.ok(heard.length > 0 && heard.every(({ at }) => at > since));
});

test("who follows a few markets hears of their books and trades alone, and of everybody's life, from the look before on", (t) => {
  const { world, feed, now, pass } = bench(t);
  const [one, other] = world
    .markets("kalshi", now())
    .filter((market) => world.lifecycle(market, now()).phase === "active" && market.closeAt > now() + 3_600_000);
  assert.ok(one !== undefined && other !== undefined);
  let followed = [one];
  const heard: FeedEvent[] = [];
  feed.subscribe(
    "kalshi",
    (event) => heard.push(event),
    () => followed,
  );
  pass(STEP_MS);
  const of = (market: { index: number }) =>
    tradeIds(heard.filter((event) => event.market.index === market.index && event.at < now() - STEP_MS));
  const from = now() + 1;
  pass(10 * 60_000);
  const until = now() - STEP_MS;
  assert.deepEqual(
    of(one),
    world
      .trades(one, from, until)
      .map(({ id }) => id)
      .sort(),
  );
  assert.ok(heard.every((event) => event.kind === "listed" || event.kind === "lifecycle" || event.market === one));
  followed = [other];
  const switchedAt = now();
  heard.length = 0;
  pass(10 * 60_000);
  assert.ok(heard.every((event) => event.kind === "listed" || event.kind === "lifecycle" || event.market === other));
  const told = new Set(of(other));
  const traded = world.trades(other, switchedAt + 1, now() - 2 * STEP_MS).map(({ id }) => id);
  assert.ok(traded.every((id) => told.has(id)));
  assert.ok(heard.some(({ kind }) => kind === "book"));
});

test("the next phase is announced: nothing changes before it, and at it the market is in another", () => {
  const world = createWorld({ seed: 12, genesis: GENESIS, speed: 60, marketCount: 200 });
  let steps = 0;
  for (const venue of ["kalshi", "polymarket"] as const) {
    for (const market of world.markets(venue, GENESIS)) {
      let at = market.openAt - 1;
      for (let step = 0; step < 8; step++) {
        const next = world.nextPhaseAt(market, at);
        if (next === Number.POSITIVE_INFINITY) break;
        const { phase } = world.lifecycle(market, at);
        assert.equal(world.lifecycle(market, Math.ceil(next) - 1).phase, phase);
        assert.notEqual(world.lifecycle(market, next).phase, phase);
        at = next;
        steps += 1;
      }
      assert.equal(world.lifecycle(market, at).phase, "finalized");
    }
  }
  assert.ok(steps > 500, String(steps));
});
