import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { HOUR_MS } from "../../src/lib/durations.ts";
import { createFeed, createWorld } from "./index.ts";
import type { FeedEvent } from "./types.ts";

const GENESIS = Date.UTC(2026, 10, 20);
const STEP_MS = 500;

/** A feed over a small, active world with a manual clock. */
function startFeed(t: TestContext, speed = 60) {
  t.mock.timers.enable({ apis: ["setInterval"] });
  const world = createWorld({ seed: 11, genesis: GENESIS, speed, marketCount: 20 });
  let now = GENESIS + 1_000;
  const feed = createFeed(world, { now: () => now, intervalMs: STEP_MS });
  t.after(() => feed.close());
  return {
    world,
    feed,
    now: () => now,
    advance(ms: number) {
      for (let elapsed = 0; elapsed < ms; elapsed += STEP_MS) {
        now += STEP_MS;
        t.mock.timers.tick(STEP_MS);
      }
    },
  };
}

const tradeIds = (events: readonly FeedEvent[]) =>
  events.flatMap((event) => (event.kind === "trade" ? event.trade.id : [])).sort();

test("publishes every trade exactly once, including trades of newly listed markets", (t) => {
  // One second contains an hour of activity, so new markets have trades before the feed checks the listing.
  const { world, feed, now, advance } = startFeed(t, 3_600);
  const received: FeedEvent[] = [];
  feed.subscribe("kalshi", (event) => received.push(event));
  advance(STEP_MS);
  const from = now() + 1;
  received.length = 0;
  advance(16 * 60_000);
  const until = now() - 2_000;
  const expected = world
    .markets("kalshi", now())
    .flatMap((market) => world.trades(market, from, until))
    .map(({ id }) => id);
  assert.ok(expected.length > 100, String(expected.length));
  const published = received.filter((event) => event.kind !== "trade" || event.at < until);
  assert.deepEqual(tradeIds(published), expected.sort());
});

test("publishes events in time order and not before they occur, and each trade directly before its book change", (t) => {
  const { feed, now, advance } = startFeed(t);
  const received: FeedEvent[] = [];
  let latest = 0;
  feed.subscribe("polymarket", (event) => {
    assert.ok(event.at <= now());
    received.push(event);
  });
  for (let round = 0; round < 600; round++) {
    received.length = 0;
    advance(STEP_MS);
    for (const [number, event] of received.entries()) {
      assert.ok(event.at >= (received[number - 1]?.at ?? 0));
      if (event.kind !== "trade") continue;
      const next = received[number + 1];
      assert.ok(next?.kind === "book" && next.market === event.market && next.at === event.at);
      latest = event.at;
    }
  }
  assert.ok(latest > GENESIS);
});

test("publishes each new market and each lifecycle change once", (t) => {
  const { world, feed, now, advance } = startFeed(t);
  const received: FeedEvent[] = [];
  feed.subscribe("limitless", (event) => received.push(event));
  advance(STEP_MS);
  const before = new Set(world.markets("limitless", now()).map(({ index }) => index));
  assert.equal(received.filter(({ kind }) => kind === "listed").length, 0);
  advance(70 * 60_000);
  const added = world.markets("limitless", now() - 2_000).filter(({ index }) => !before.has(index));
  const listed = received.flatMap((event) => (event.kind === "listed" ? event.market.index : []));
  assert.ok(added.length > 0);
  for (const { index } of added) assert.equal(listed.filter((other) => other === index).length, 1);
  const changes = received.flatMap((event) =>
    event.kind === "lifecycle" ? `${event.market.index}: ${event.from} to ${event.to}` : [],
  );
  assert.ok(
    changes.some((change) => change.endsWith("active to closed")) &&
      changes.some((change) => change.endsWith("to finalized")),
  );
  assert.equal(new Set(changes).size, changes.length);
});

test("a listener receives the events of its venue until it unsubscribes", (t) => {
  const { feed, advance } = startFeed(t);
  const received: Record<"one" | "two" | "other", FeedEvent[]> = { one: [], two: [], other: [] };
  const unsubscribe = feed.subscribe("kalshi", (event) => received.one.push(event));
  feed.subscribe("kalshi", (event) => received.two.push(event));
  feed.subscribe("polymarket", (event) => received.other.push(event));
  advance(60_000);
  assert.ok(received.one.length > 0 && received.other.length > 0);
  assert.deepEqual(received.one, received.two);
  assert.ok(received.other.every(({ market }) => market.venue === "polymarket"));
  unsubscribe();
  const before = received.one.length;
  advance(60_000);
  assert.equal(received.one.length, before);
  assert.ok(received.two.length > before);
});

test("a listener receives no events from before its subscription", (t) => {
  const { feed, now, advance } = startFeed(t);
  feed.subscribe("kalshi", () => {})();
  advance(10 * 60_000);
  const received: FeedEvent[] = [];
  const since = now();
  feed.subscribe("kalshi", (event) => received.push(event));
  advance(60_000);
  assert.ok(received.length > 0 && received.every(({ at }) => at > since));
});

test("a listener receives books and trades of followed markets and lifecycle events of all markets", (t) => {
  const { world, feed, now, advance } = startFeed(t);
  const [one, other] = world
    .markets("kalshi", now())
    .filter((market) => world.lifecycle(market, now()).phase === "active" && market.closeAt > now() + HOUR_MS);
  assert.ok(one !== undefined && other !== undefined);
  let followed = [one];
  const received: FeedEvent[] = [];
  feed.subscribe(
    "kalshi",
    (event) => received.push(event),
    () => followed,
  );
  advance(STEP_MS);
  const publishedTradesOf = (market: { index: number }) =>
    tradeIds(received.filter((event) => event.market.index === market.index && event.at < now() - STEP_MS));
  const from = now() + 1;
  advance(10 * 60_000);
  const until = now() - STEP_MS;
  assert.deepEqual(
    publishedTradesOf(one),
    world
      .trades(one, from, until)
      .map(({ id }) => id)
      .sort(),
  );
  assert.ok(received.every((event) => event.kind === "listed" || event.kind === "lifecycle" || event.market === one));
  followed = [other];
  const switchedAt = now();
  received.length = 0;
  advance(10 * 60_000);
  assert.ok(received.every((event) => event.kind === "listed" || event.kind === "lifecycle" || event.market === other));
  const published = new Set(publishedTradesOf(other));
  const traded = world.trades(other, switchedAt + 1, now() - 2 * STEP_MS).map(({ id }) => id);
  assert.ok(traded.every((id) => published.has(id)));
  assert.ok(received.some(({ kind }) => kind === "book"));
});

test("nextPhaseAt returns the time of the next phase change", () => {
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
