import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../src/lib/durations.ts";
import { createWorld } from "./index.ts";
import { cpiReleaseTimes, fedDecisionTimes, jobsReportTimes } from "./templates/calendar.ts";
import { type ListedMarket, SANDBOX_VENUES, type SandboxVenue, type World } from "./types.ts";

const GENESIS = Date.UTC(2026, 10, 20);
const REAL_MONEY_VENUES: readonly SandboxVenue[] = ["kalshi", "polymarket", "limitless"];

const options = fc.record({
  seed: fc.integer({ min: 0, max: 2 ** 32 - 1 }),
  genesis: fc.constant(GENESIS),
  speed: fc.constantFrom(1, 60),
  marketCount: fc.constantFrom(10, 40),
});
const time = fc.integer({ min: -20 * 24, max: 10 * 24 }).map((hours) => GENESIS + hours * HOUR_MS + 12_345);

/** Returns all data that venues publish at one time about a sample of markets. */
function snapshot(world: World, at: number): unknown {
  return SANDBOX_VENUES.map((venue) => {
    const markets = world.markets(venue, at);
    const sample = markets.filter((_, number) => number % Math.max(1, Math.floor(markets.length / 5)) === 0);
    return [
      markets.map(({ index, question, closeAt }) => [index, question, closeAt]),
      sample.map((market) => [
        ...[world.lifecycle(market, at), world.book(market, at), world.probability(market, at)],
        ...[world.activity(market, at), world.trades(market, at - 2 * MINUTE_MS, at), world.nextChangeAt(market, at)],
      ]),
    ];
  });
}

test("worlds with equal options are equal, even if they are queried in different orders", () => {
  fc.assert(
    fc.property(options, fc.array(time, { minLength: 1, maxLength: 4 }), (worldOptions, times) => {
      const one = createWorld(worldOptions);
      const other = createWorld(worldOptions);
      const forwards = times.map((at) => snapshot(one, at));
      const backwards = times.toReversed().map((at) => snapshot(other, at));
      assert.deepEqual(forwards, backwards.reverse());
    }),
    { numRuns: 10 },
  );
});

test("worlds with different seeds are different", () => {
  const worlds = [1, 2, 4_294_967_295].map((seed) =>
    createWorld({ seed, genesis: GENESIS, speed: 60, marketCount: 40 }),
  );
  const snapshots = new Set(worlds.map((world) => JSON.stringify(snapshot(world, GENESIS))));
  assert.equal(snapshots.size, worlds.length);
});

test("creates a world with the first book and volume of every market within 3 seconds", () => {
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

test("keeps at least 400 real-money markets open during the first week, half of them for more than 14 days and some for at most an hour", () => {
  for (const seed of [1, 2, 3]) {
    const world = createWorld({ seed, genesis: GENESIS, speed: 60, marketCount: 400 });
    for (const at of [GENESIS, GENESIS + HOUR_MS, GENESIS + DAY_MS, GENESIS + 7 * DAY_MS]) {
      const open = REAL_MONEY_VENUES.flatMap((venue) =>
        world.markets(venue, at).filter((market) => world.lifecycle(market, at).phase === "active"),
      );
      const message = `seed ${seed}, ${(at - GENESIS) / HOUR_MS} h: ${open.length} open`;
      assert.ok(open.length >= 400, message);
      assert.ok(open.filter(({ closeAt }) => closeAt > at + 14 * DAY_MS).length >= open.length / 2, message);
      assert.ok(
        open.some(({ closeAt }) => closeAt <= at + HOUR_MS),
        message,
      );
    }
  }
});

test("every market index is unique, and every market is in the market list of its event", () => {
  const world = createWorld({ seed: 5, genesis: GENESIS, speed: 60, marketCount: 100 });
  const seen = new Map<number, ListedMarket>();
  for (const at of [GENESIS, GENESIS + HOUR_MS, GENESIS + DAY_MS]) {
    for (const venue of SANDBOX_VENUES) {
      for (const market of world.markets(venue, at)) {
        assert.equal(market.venue, venue);
        assert.ok(market.event.markets.includes(market));
        assert.ok(market.openAt <= at);
        const earlier = seen.get(market.index);
        if (earlier !== undefined) assert.deepEqual([earlier.question, earlier.venue], [market.question, venue]);
        seen.set(market.index, market);
      }
    }
  }
});

test("the listing at genesis includes finalized markets", () => {
  const world = createWorld({ seed: 6, genesis: GENESIS, speed: 60, marketCount: 100 });
  const settled = world
    .markets("kalshi", GENESIS)
    .filter((market) => world.lifecycle(market, GENESIS).phase === "finalized");
  assert.ok(settled.length > 0);
});

const PHASE_ORDER = ["pending", "active", "closed", "determined", "disputed", "finalized"];

test("a market never returns to a previous phase, except after a pause, and a published outcome never changes", () => {
  const world = createWorld({ seed: 7, genesis: GENESIS, speed: 60, marketCount: 300 });
  const phases = new Set<string>();
  for (const venue of SANDBOX_VENUES) {
    for (const market of world.markets(venue, GENESIS)) {
      const lifeMs = market.finalizeAt - market.openAt;
      const times = Array.from(
        { length: 60 },
        (_, number) => market.openAt - MINUTE_MS + Math.round((lifeMs * number) / 57),
      );
      const transitions = [market.closeAt, market.determineAt, market.finalizeAt].flatMap((at) => [at - 1, at]);
      let reached = 0;
      let previousOutcome: string | null = null;
      for (const at of [...times, ...transitions].sort((a, b) => a - b)) {
        const { phase, outcome, since } = world.lifecycle(market, at);
        phases.add(phase);
        assert.ok(since <= at);
        const position = PHASE_ORDER.indexOf(phase === "paused" ? "active" : phase);
        assert.ok(position >= reached, `${phase} after ${PHASE_ORDER[reached]}`);
        reached = position;
        assert.equal(outcome !== null, position >= PHASE_ORDER.indexOf("determined"));
        if (previousOutcome !== null) assert.equal(JSON.stringify(outcome), previousOutcome);
        if (outcome !== null) previousOutcome = JSON.stringify(outcome);
      }
      assert.equal(world.lifecycle(market, market.finalizeAt).phase, "finalized");
      if (market.disputed) assert.equal(world.lifecycle(market, market.finalizeAt - 1).phase, "disputed");
    }
  }
  phases.delete("paused");
  assert.deepEqual([...phases].sort(), PHASE_ORDER.toSorted());
});

test("at most one market of a mutually exclusive event resolves YES, and exactly one if the event is exhaustive and not void", () => {
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

test("an event has the same outcome on all venues that do not void it", () => {
  const world = createWorld({ seed: 8, genesis: GENESIS, speed: 60, marketCount: 300 });
  const results = new Map<string, string>();
  let agreed = 0;
  for (const venue of SANDBOX_VENUES) {
    for (const market of world.markets(venue, GENESIS)) {
      const kind = world.lifecycle(market, market.finalizeAt).outcome?.kind;
      if (kind !== "yes" && kind !== "no") continue;
      const key = `${market.event.underlying} ${market.label} ${market.closeAt}`;
      const otherVenueKind = results.get(key);
      if (otherVenueKind !== undefined) {
        assert.equal(kind, otherVenueKind, market.question);
        agreed += 1;
      }
      results.set(key, kind);
    }
  }
  assert.ok(agreed > 50, String(agreed));
});

test("`markets` returns the same array until the listing changes", () => {
  const world = createWorld({ seed: 9, genesis: GENESIS, speed: 60, marketCount: 200 });
  let changes = 0;
  let unchanged = 0;
  let before = world.markets("kalshi", GENESIS);
  for (let at = GENESIS; at < GENESIS + HOUR_MS; at += 10_000) {
    const markets = world.markets("kalshi", at);
    if (markets === before) unchanged += 1;
    else changes += 1;
    before = markets;
  }
  assert.ok(changes >= 3 && unchanged > 3 * changes, `${changes} changes, ${unchanged} unchanged`);
});

test("data releases and Fed decisions close at the times of their calendars, and a venue lists each of them once", () => {
  const years = [2026, 2027];
  const times = {
    FED: years.flatMap(fedDecisionTimes),
    CPIYOY: years.flatMap(cpiReleaseTimes),
    PAYROLLS: years.flatMap(jobsReportTimes),
  };
  const world = createWorld({ seed: 1, genesis: GENESIS, speed: 60, marketCount: 1_000 });
  for (const venue of SANDBOX_VENUES) {
    for (const at of [GENESIS, GENESIS + 45 * DAY_MS]) {
      for (const [series, calendar] of Object.entries(times)) {
        const closes = world.events(venue, at).filter((event) => event.series === series);
        assert.ok(closes.every(({ closeAt }) => calendar.includes(closeAt)));
        assert.equal(new Set(closes.map(({ closeAt }) => closeAt)).size, closes.length, `${venue} ${series}`);
      }
    }
  }
  assert.ok(world.events("polymarket", GENESIS + 45 * DAY_MS).some(({ openAt }) => openAt > GENESIS));
});

test("a rate increase and a large decrease are never both likely at one Fed meeting", () => {
  let meetings = 0;
  for (const seed of [1, 2, 3, 4]) {
    const world = createWorld({ seed, genesis: GENESIS, speed: 60, marketCount: 400 });
    for (const event of world.events("polymarket", GENESIS).filter(({ series }) => series === "FED")) {
      meetings += 1;
      for (let step = 0; step < 20; step++) {
        const at = event.openAt + ((event.closeAt - event.openAt) * step) / 20;
        const probabilityOf = (label: string) => {
          const market = event.markets.find((candidate) => candidate.label.startsWith(label));
          return market === undefined ? 0 : (world.probability(market, at) ?? 0);
        };
        assert.ok(Math.min(probabilityOf("50+ bps decrease"), probabilityOf("25+ bps increase")) < 0.05);
      }
    }
  }
  assert.ok(meetings > 10, String(meetings));
});

test("the events at a time, and their order, do not depend on earlier reads", () => {
  const options = { seed: 12, genesis: GENESIS, speed: 60, marketCount: 10 };
  const listAt = (world: World, at: number) => world.events("kalshi", at).map(({ index }) => index);
  const times = Array.from({ length: 60 }, (_, day) => GENESIS + day * DAY_MS + HOUR_MS);
  const [forwards, backwards] = [createWorld(options), createWorld(options)];
  const lists = times.map((at) => listAt(forwards, at));
  assert.deepEqual(
    times.toReversed().map((at) => listAt(backwards, at)),
    lists.toReversed(),
  );
  for (const [day, at] of times.entries()) assert.deepEqual(listAt(createWorld(options), at), lists[day]);
});

test("a large world lists about twice as many Polymarket markets as Kalshi markets, and few Limitless markets", () => {
  const world = createWorld({ seed: 10, genesis: GENESIS, speed: 60, marketCount: 30_000 });
  const count = (venue: SandboxVenue) => world.markets(venue, GENESIS).length;
  const ratio = count("polymarket") / count("kalshi");
  assert.ok(ratio > 1.7 && ratio < 2.7, String(ratio));
  assert.ok(count("limitless") < 5_000 && count("limitless") > 1_000);
});
