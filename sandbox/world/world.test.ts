import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { createWorld } from "./index.ts";
import { type ListedMarket, SANDBOX_VENUES, type SandboxVenue, type World } from "./types.ts";

const GENESIS = Date.UTC(2026, 10, 20);
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const MONEY_VENUES: readonly SandboxVenue[] = ["kalshi", "polymarket", "limitless"];

const options = fc.record({
  seed: fc.integer({ min: 0, max: 2 ** 32 - 1 }),
  genesis: fc.constant(GENESIS),
  speed: fc.constantFrom(1, 60),
  marketCount: fc.constantFrom(10, 40),
});
const instant = fc.integer({ min: -20 * 24, max: 10 * 24 }).map((hours) => GENESIS + hours * HOUR_MS + 12_345);

/** Everything that a venue could show of a few markets at an instant. */
function view(world: World, at: number): unknown {
  return SANDBOX_VENUES.map((venue) => {
    const markets = world.markets(venue, at);
    const some = markets.filter((_, number) => number % Math.max(1, Math.floor(markets.length / 5)) === 0);
    return [
      markets.map(({ index, question, closeAt }) => [index, question, closeAt]),
      some.map((market) => [
        ...[world.lifecycle(market, at), world.book(market, at), world.probability(market, at)],
        ...[world.activity(market, at), world.trades(market, at - 2 * MINUTE_MS, at), world.nextChangeAt(market, at)],
      ]),
    ];
  });
}

test("the same options give the same world at any instants, whatever was asked before and in which order", () => {
  fc.assert(
    fc.property(options, fc.array(instant, { minLength: 1, maxLength: 4 }), (given, instants) => {
      const one = createWorld(given);
      const other = createWorld(given);
      const forwards = instants.map((at) => view(one, at));
      const backwards = instants.toReversed().map((at) => view(other, at));
      assert.deepEqual(forwards, backwards.reverse());
    }),
    { numRuns: 10 },
  );
});

test("another seed is another world", () => {
  const worlds = [1, 2, 4_294_967_295].map((seed) =>
    createWorld({ seed, genesis: GENESIS, speed: 60, marketCount: 40 }),
  );
  const views = new Set(worlds.map((world) => JSON.stringify(view(world, GENESIS))));
  assert.equal(views.size, worlds.length);
});

test("a world and all that its venues show first are there within 3 seconds", () => {
  const startedAt = performance.now();
  const world = createWorld({ seed: 3, genesis: GENESIS, speed: 60, marketCount: 400 });
  for (const venue of SANDBOX_VENUES) {
    for (const market of world.markets(venue, GENESIS)) {
      world.book(market, GENESIS);
      world.activity(market, GENESIS);
    }
  }
  assert.ok(performance.now() - startedAt < 3_000);
});

test("at least 400 markets are open on the money venues at genesis and an hour, a day and a week later, half of them for long, some for minutes", () => {
  for (const seed of [1, 2, 3]) {
    const world = createWorld({ seed, genesis: GENESIS, speed: 60, marketCount: 400 });
    for (const at of [GENESIS, GENESIS + HOUR_MS, GENESIS + DAY_MS, GENESIS + 7 * DAY_MS]) {
      const open = MONEY_VENUES.flatMap((venue) =>
        world.markets(venue, at).filter((market) => world.lifecycle(market, at).phase === "active"),
      );
      const when = `seed ${seed}, ${(at - GENESIS) / HOUR_MS} h: ${open.length} open`;
      assert.ok(open.length >= 400, when);
      assert.ok(open.filter(({ closeAt }) => closeAt > at + 14 * DAY_MS).length >= open.length / 2, when);
      assert.ok(
        open.some(({ closeAt }) => closeAt <= at + HOUR_MS),
        when,
      );
    }
  }
});

test("every market has a number and a place of its own, and its event lists it", () => {
  const world = createWorld({ seed: 5, genesis: GENESIS, speed: 60, marketCount: 100 });
  const seen = new Map<number, ListedMarket>();
  for (const at of [GENESIS, GENESIS + HOUR_MS, GENESIS + DAY_MS]) {
    for (const venue of SANDBOX_VENUES) {
      for (const market of world.markets(venue, at)) {
        assert.equal(market.venue, venue);
        assert.ok(market.event.markets.includes(market));
        assert.ok(market.openAt <= at);
        const known = seen.get(market.index);
        if (known !== undefined) assert.deepEqual([known.question, known.venue], [market.question, venue]);
        seen.set(market.index, market);
      }
    }
  }
});

test("a settled market stays listed for a while, also for those who ask about the past later", () => {
  const world = createWorld({ seed: 6, genesis: GENESIS, speed: 60, marketCount: 100 });
  const before = world.markets("kalshi", GENESIS).map(({ index }) => index);
  world.markets("kalshi", GENESIS + 20 * DAY_MS);
  assert.deepEqual(
    world.markets("kalshi", GENESIS).map(({ index }) => index),
    before,
  );
  const settled = world
    .markets("kalshi", GENESIS)
    .filter((market) => world.lifecycle(market, GENESIS).phase === "finalized");
  assert.ok(settled.length > 0);
});

const ORDER = ["pending", "active", "closed", "determined", "disputed", "finalized"];

test("a market's life runs in one direction; only a pause comes and goes; the result stands once it is told", () => {
  const world = createWorld({ seed: 7, genesis: GENESIS, speed: 60, marketCount: 300 });
  const phases = new Set<string>();
  for (const venue of SANDBOX_VENUES) {
    for (const market of world.markets(venue, GENESIS)) {
      const life = market.finalizeAt - market.openAt;
      const instants = Array.from(
        { length: 60 },
        (_, number) => market.openAt - MINUTE_MS + Math.round((life * number) / 57),
      );
      const ends = [market.closeAt, market.determineAt, market.finalizeAt].flatMap((at) => [at - 1, at]);
      let reached = 0;
      let result: string | null = null;
      for (const at of [...instants, ...ends].sort((a, b) => a - b)) {
        const { phase, outcome, since } = world.lifecycle(market, at);
        phases.add(phase);
        assert.ok(since <= at);
        const place = ORDER.indexOf(phase === "paused" ? "active" : phase);
        assert.ok(place >= reached, `${phase} after ${ORDER[reached]}`);
        reached = place;
        assert.equal(outcome !== null, place >= ORDER.indexOf("determined"));
        if (result !== null) assert.equal(JSON.stringify(outcome), result);
        if (outcome !== null) result = JSON.stringify(outcome);
      }
      assert.equal(world.lifecycle(market, market.finalizeAt).phase, "finalized");
      if (market.disputed) assert.equal(world.lifecycle(market, market.finalizeAt - 1).phase, "disputed");
    }
  }
  phases.delete("paused");
  assert.deepEqual([...phases].sort(), ORDER.toSorted());
});

test("of exclusive questions at most one resolves YES, of those that are also exhaustive exactly one, unless called off", () => {
  let exhaustive = 0;
  for (const seed of [1, 2, 3, 4, 5, 6]) {
    const world = createWorld({ seed, genesis: GENESIS, speed: 60, marketCount: 300 });
    for (const venue of SANDBOX_VENUES) {
      for (const event of world.events(venue, GENESIS)) {
        if (!event.mutuallyExclusive) continue;
        const kinds = event.markets.map((market) => world.lifecycle(market, market.finalizeAt).outcome?.kind);
        if (kinds.includes("void")) assert.ok(kinds.every((kind) => kind === "void"));
        else {
          const yes = kinds.filter((kind) => kind === "yes").length;
          assert.ok(event.exhaustive ? yes === 1 : yes <= 1, `${event.title}: ${kinds}`);
          if (event.exhaustive) exhaustive += 1;
        }
      }
    }
  }
  assert.ok(exhaustive > 50, String(exhaustive));
});

test("venues that list the same event agree on how it ends, unless one of them calls it off", () => {
  const world = createWorld({ seed: 8, genesis: GENESIS, speed: 60, marketCount: 300 });
  const results = new Map<string, string>();
  let agreed = 0;
  for (const venue of SANDBOX_VENUES) {
    for (const market of world.markets(venue, GENESIS)) {
      const kind = world.lifecycle(market, market.finalizeAt).outcome?.kind;
      if (kind !== "yes" && kind !== "no") continue;
      const key = `${market.event.underlying} ${market.label} ${market.closeAt}`;
      const known = results.get(key);
      if (known !== undefined) {
        assert.equal(kind, known, market.question);
        agreed += 1;
      }
      results.set(key, kind);
    }
  }
  assert.ok(agreed > 50, String(agreed));
});

test("a list stays the same one until something is added or taken away, and never holds what it should not", () => {
  const world = createWorld({ seed: 9, genesis: GENESIS, speed: 60, marketCount: 200 });
  let changes = 0;
  let kept = 0;
  let before = world.markets("kalshi", GENESIS);
  for (let at = GENESIS; at < GENESIS + HOUR_MS; at += 10_000) {
    const markets = world.markets("kalshi", at);
    if (markets === before) kept += 1;
    else changes += 1;
    before = markets;
    if (at % 600_000 !== 0) continue;
    const fresh = createWorld({ seed: 9, genesis: GENESIS, speed: 60, marketCount: 200 }).markets("kalshi", at);
    assert.deepEqual(
      markets.map(({ index }) => index),
      fresh.map(({ index }) => index),
    );
  }
  assert.ok(changes >= 3 && kept > 3 * changes, `${changes} changes, ${kept} kept`);
});

test("a large world is mostly Polymarket's and Kalshi's, in the proportion of their real sizes", () => {
  const world = createWorld({ seed: 10, genesis: GENESIS, speed: 60, marketCount: 30_000 });
  const count = (venue: SandboxVenue) => world.markets(venue, GENESIS).length;
  const ratio = count("polymarket") / count("kalshi");
  assert.ok(ratio > 1.7 && ratio < 2.7, String(ratio));
  assert.ok(count("limitless") < 5_000 && count("limitless") > 1_000);
});
