import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { HOUR_MS } from "../../src/lib/durations.ts";
import { createWorld } from "./index.ts";
import { groundTruthOf } from "./list-event.ts";
import { TRAP_KINDS } from "./templates/index.ts";
import { trueProbability } from "./truth.ts";
import { type ListedMarket, type MarketPair, SANDBOX_VENUES, type SimulatedWorld } from "./types.ts";
import { TRAP_SHARE } from "./universe.ts";

const GENESIS = Date.UTC(2026, 10, 20);
const SEEDS = [1, 2, 3, 4, 5] as const;

const createTestWorld = (seed: number, marketCount = 400) =>
  createWorld({ seed, genesis: GENESIS, speed: 60, marketCount });
const worlds = SEEDS.map((seed) => createTestWorld(seed));
const allPairs = worlds.flatMap((world) => world.pairs(GENESIS));
const trapsOf = (pairs: readonly MarketPair[]) => pairs.filter(({ trap }) => trap !== null);

/** Whether the market resolves YES by its criterion; the venue may still void it. */
function resolvesYes(market: ListedMarket): boolean {
  const { process, criterion } = groundTruthOf(market);
  return trueProbability(process, criterion, process.revealAt) === 1;
}

const listEvents = (world: SimulatedWorld, at: number) =>
  SANDBOX_VENUES.flatMap((venue) => world.events(venue, at)).filter(({ isRound }) => !isRound);

test("five small worlds together have open traps of every kind, and each world has at least ten kinds", () => {
  const kinds = new Set<string | null>();
  for (const world of worlds) {
    const isOpen = (market: ListedMarket) => world.lifecycle(market, GENESIS).phase === "active";
    const open = trapsOf(world.pairs(GENESIS)).filter(({ a, b }) => isOpen(a) && isOpen(b));
    const kindsOfWorld = new Set(open.map(({ trap }) => trap));
    assert.ok(kindsOfWorld.size >= 10, [...kindsOfWorld].join());
    for (const kind of kindsOfWorld) kinds.add(kind);
  }
  assert.deepEqual([...kinds].sort(), [...TRAP_KINDS].sort());
});

test("a trap is never identical to the market that it looks like, and its relation fits its kind", () => {
  const relations: Readonly<Record<string, readonly string[]>> = {
    date: ["subset", "superset", "unrelated"],
    threshold: ["subset", "superset", "overlap"],
    candidate: ["disjoint", "unrelated"],
    stage: ["unrelated"],
    measure: ["unrelated"],
    station: ["unrelated"],
    bucket: ["subset", "superset"],
    window: ["subset", "superset", "unrelated"],
    announcement: ["subset", "superset"],
    race: ["subset", "superset"],
    polarity: ["inverse"],
    placeholder: ["subset", "superset", "disjoint", "overlap"],
  };
  assert.ok(trapsOf(allPairs).length > 200);
  for (const { trap, relation, a, b } of trapsOf(allPairs))
    assert.ok(relations[trap ?? ""]?.includes(relation), `${trap} ${relation}: ${a.question} / ${b.question}`);
});

test("the outcomes of a pair agree with its true relation, and with published outcomes that are not void or partial", () => {
  const counts = { identical: 0, inverse: 0, subset: 0, superset: 0, disjoint: 0 };
  const seed = fc.integer({ min: 0, max: 2 ** 32 - 1 });
  fc.assert(
    fc.property(seed, (value) => {
      const world = createTestWorld(value, 150);
      for (const { a, b, relation } of world.pairs(GENESIS)) {
        const [first, second] = [resolvesYes(a), resolvesYes(b)];
        const message = `${relation}: ${a.question} ${first} / ${b.question} ${second}`;
        if (relation === "identical") assert.equal(first, second, message);
        if (relation === "inverse") assert.equal(first, !second, message);
        if (relation === "subset") assert.ok(!first || second, message);
        if (relation === "superset") assert.ok(first || !second, message);
        if (relation === "disjoint") assert.ok(!first || !second, message);
        if (relation in counts) counts[relation as keyof typeof counts] += 1;
        for (const [market, outcome] of [[a, first] as const, [b, second] as const]) {
          const { kind } = world.lifecycle(market, market.finalizeAt).outcome ?? {};
          if (kind !== "void" && kind !== "partial") assert.equal(kind, outcome ? "yes" : "no", message);
        }
      }
    }),
    { numRuns: 8 },
  );
  for (const [relation, count] of Object.entries(counts)) assert.ok(count > 0, relation);
});

test("some traps resolve differently from the market that they look like, for every relation except inverse", () => {
  for (const relation of ["subset", "superset", "disjoint", "unrelated"]) {
    const pairs = trapsOf(allPairs).filter((pair) => pair.relation === relation);
    const differing = pairs.filter(({ a, b }) => resolvesYes(a) !== resolvesYes(b));
    assert.ok(differing.length > 0 && differing.length < pairs.length, `${relation}: ${differing.length}`);
  }
});

test("a tenth of the events of a large world have a trap, usually on a venue that does not list the event", () => {
  const world = createTestWorld(11, 6_000);
  const events = listEvents(world, GENESIS);
  const venuesByOriginal = new Map<number, Set<string>>();
  const trapEvents = [];
  for (const event of events) {
    const [market] = event.markets;
    assert.ok(market !== undefined);
    const { trap } = groundTruthOf(market);
    if (trap !== null) trapEvents.push({ event, original: trap.original });
    else venuesByOriginal.set(event.underlying, (venuesByOriginal.get(event.underlying) ?? new Set()).add(event.venue));
  }
  const share = trapEvents.length / venuesByOriginal.size;
  assert.ok(Math.abs(share - TRAP_SHARE) < 0.03, String(share));
  const elsewhere = trapEvents.filter(({ event, original }) => !venuesByOriginal.get(original)?.has(event.venue));
  assert.ok(elsewhere.length > trapEvents.length / 2 && elsewhere.length < trapEvents.length);
});

test("at most a third of the events of a small world have a trap", () => {
  for (const world of worlds) {
    const events = listEvents(world, GENESIS);
    const isTrap = ({ markets: [market] }: (typeof events)[number]) =>
      market !== undefined && groundTruthOf(market).trap !== null;
    const originals = new Set(events.filter((event) => !isTrap(event)).map(({ underlying }) => underlying));
    assert.ok(events.filter(isTrap).length < originals.size / 3);
  }
});

test("venues word identical questions differently, in the question, in the rules and in the title of the event", () => {
  let compared = 0;
  for (const { a, b, relation } of allPairs) {
    if (relation !== "identical" || a.event.isRound) continue;
    compared += 1;
    assert.notEqual(a.question, b.question);
    assert.notEqual(a.rules, b.rules);
    assert.notEqual(a.event.title, b.event.title);
  }
  assert.ok(compared > 1_000, String(compared));
});

test("a venue never lists the same texts for two processes in a world of up to 1,000 markets", () => {
  for (const world of [...worlds, createTestWorld(12, 1_000)]) {
    const processes = new Map<string, number>();
    for (const at of [GENESIS, GENESIS + 48 * HOUR_MS]) {
      for (const market of SANDBOX_VENUES.flatMap((venue) => world.markets(venue, at))) {
        const key = `${market.venue} ${market.question} ${market.rules}`;
        const { underlying } = groundTruthOf(market).process;
        assert.equal(processes.get(key) ?? underlying, underlying, key);
        processes.set(key, underlying);
      }
    }
  }
});

test("a placeholder market has the placeholder in its question and rules, and publishes no threshold", () => {
  const markets = trapsOf(allPairs)
    .filter(({ trap }) => trap === "placeholder")
    .flatMap(({ a, b }) => [a, b])
    .filter((market) => groundTruthOf(market).trap !== null);
  assert.ok(markets.length > 0);
  for (const { question, rules, strike } of markets) {
    assert.match(question, /___|Person B/);
    assert.match(rules, /\{\w+\}|Person B/);
    assert.equal(strike, null);
  }
});

test("the pairs at a time do not depend on earlier reads", () => {
  const summarise = (world: SimulatedWorld, at: number) =>
    world.pairs(at).map(({ a, b, relation, trap }) => [a.index, b.index, relation, trap]);
  const times = [GENESIS, GENESIS + 30 * HOUR_MS, GENESIS + 200 * HOUR_MS];
  const [forwards, backwards] = [createTestWorld(13, 60), createTestWorld(13, 60)];
  const expected = times.map((at) => summarise(forwards, at));
  assert.deepEqual(
    times.toReversed().map((at) => summarise(backwards, at)),
    expected.toReversed(),
  );
  assert.equal(forwards.pairs(GENESIS), forwards.pairs(GENESIS));
});

test("prices of exclusive sets and of ladders sometimes contradict each other for a short time", () => {
  let contradictions = 0;
  let longestMs = 0;
  let checks = 0;
  const stepMs = 30_000;
  for (const world of worlds.slice(0, 3)) {
    for (const event of world.events("polymarket", GENESIS)) {
      if (!event.ladder || event.markets.some((market) => market.strike?.type !== "greater")) continue;
      let lastedMs = 0;
      for (let at = GENESIS; at < GENESIS + 2 * HOUR_MS; at += stepMs) {
        const books = event.markets.map((market) => world.book(market, at));
        const isContradiction = books.some(({ asks }, index) => {
          const higherBid = books[index + 1]?.bids[0]?.price ?? 0;
          return higherBid > (asks[0]?.price ?? 1);
        });
        checks += 1;
        if (isContradiction) contradictions += 1;
        lastedMs = isContradiction ? lastedMs + stepMs : 0;
        longestMs = Math.max(longestMs, lastedMs);
      }
    }
  }
  assert.ok(contradictions > 0 && contradictions < checks / 100, `${contradictions} of ${checks}`);
  assert.ok(longestMs < 10 * 60_000, String(longestMs));
});
