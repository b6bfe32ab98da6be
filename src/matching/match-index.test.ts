import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { type MarketPair, type MatchableMarket, MatchIndex, type MatchUpdate } from "./index.ts";

const CLOSE = Date.UTC(2026, 11, 31);
const ALL = 1_000_000;

const market = (id: string, title: string, parts: Partial<MatchableMarket> = {}): MatchableMarket => ({
  id,
  venue: id.split("/")[0] ?? "",
  title,
  outcomeLabel: null,
  eventSlug: null,
  eventTitle: null,
  category: null,
  openAt: null,
  closeAt: CLOSE,
  expectedResolutionAt: null,
  ...parts,
});

const describePair = ({ a, b, relation }: Pick<MarketPair, "a" | "b" | "relation">): string => `${a} ${relation} ${b}`;

/** An index whose changes are applied to a map, as the service does. */
class FollowedIndex {
  readonly index: MatchIndex;
  readonly pairs = new Map<string, MarketPair>();
  readonly events = new Map<string, number>();

  constructor(confidenceMin?: number) {
    this.index = new MatchIndex(confidenceMin);
  }

  /** Updates the index, without rules for any market. */
  update(limit = ALL): MatchUpdate {
    let update = this.apply(limit);
    while (update.rulesWanted.length > 0) {
      for (const id of update.rulesWanted) this.index.setRules(id, null);
      update = this.apply(limit);
    }
    return update;
  }

  apply(limit = ALL): MatchUpdate {
    const update = this.index.update(limit);
    for (const { a, b } of update.removed) assert.ok(this.pairs.delete(`${a} ${b}`), `${a} ${b} was not a pair`);
    for (const pair of update.added) {
      assert.ok(!this.pairs.has(`${pair.a} ${pair.b}`), "a changed pair is removed first");
      this.pairs.set(`${pair.a} ${pair.b}`, pair);
    }
    for (const { a, b } of update.removedEvents) assert.ok(this.events.delete(`${a} ${b}`));
    for (const { a, b, legCount } of update.addedEvents) this.events.set(`${a} ${b}`, legCount);
    return update;
  }

  add(...markets: MatchableMarket[]): this {
    for (const added of markets) this.index.set(added);
    this.update();
    return this;
  }

  list(): string[] {
    return [...this.pairs.values()].map(describePair).sort();
  }
}

const NORWAY = market("one/norway", "Will Norway win Eurovision 2026?");
const NORWAY_TOO = market("two/7", "Norway wins Eurovision 2026?");

describe("MatchIndex", () => {
  test("pairs the same question of two venues, in either order of arrival, with evidence", () => {
    const forward = new FollowedIndex().add(NORWAY).add(NORWAY_TOO);
    const backward = new FollowedIndex().add(NORWAY_TOO).add(NORWAY);
    assert.deepEqual(forward.list(), ["one/norway identical two/7"]);
    assert.deepEqual([...forward.pairs.values()], [...backward.pairs.values()]);
    const [pair] = forward.pairs.values();
    assert.ok(pair !== undefined && pair.confidence > 0.9 && pair.source === "model");
    assert.ok(pair.evidence.includes("Both name the outcome: norway."), pair.evidence.join(" "));
    assert.ok(pair.evidence.includes("Both name the same date: 2026."), pair.evidence.join(" "));
  });

  test("never pairs two markets of one venue", () => {
    assert.deepEqual(new FollowedIndex().add(NORWAY, market("one/again", NORWAY.title)).list(), []);
  });

  test("reports which question implies the other if only the threshold or the deadline differs", () => {
    const thresholds = new FollowedIndex().add(
      market("one/a", "Will Bitcoin be above $120,000 on December 31, 2026?"),
      market("two/b", "Will Bitcoin be above $100,000 on December 31, 2026?"),
    );
    assert.deepEqual(thresholds.list(), ["one/a subset two/b"]);
    const deadlines = new FollowedIndex().add(
      market("one/a", "Will Hylo launch a token by December 31, 2026?"),
      market("two/b", "Will Hylo launch a token by September 30, 2026?"),
    );
    assert.deepEqual(deadlines.list(), ["one/a superset two/b"]);
  });

  test("a judgement never makes a match of questions with different numbers, dates or names", () => {
    const index = new FollowedIndex(0.01).add(
      market("one/number", "Will Keller Labs ship 500 robots in 2026?"),
      market("two/number", "Will Keller Labs ship 700 robots in 2026?"),
      market("one/date", "Will the Lundby bridge open in 2026?"),
      market("two/date", "Will the Lundby bridge open in 2027?"),
      market("one/name", "Will Arvid Keller publish a memoir in 2026?"),
      market("two/name", "Will Maria Keller publish a memoir in 2026?"),
    );
    const isMatch = ({ relation }: MarketPair) => relation === "identical" || relation === "inverse";
    for (const relation of ["identical", "inverse"] as const) {
      const judge = (name: string) => ({ a: `one/${name}`, b: `two/${name}`, relation, evidence: "Judged." });
      index.index.setJudgements(["number", "date", "name"].map(judge));
      index.add(market("one/number", "Will Keller Labs ship 500 robots in 2026?"));
      const matches = [...index.pairs.values()].filter(isMatch).map(describePair);
      assert.deepEqual(matches, []);
    }
  });

  test("a judgement ends when one of its markets is removed", () => {
    const memoir = market("one/memoir", "Will Arvid Keller publish a memoir in 2026?");
    const index = new FollowedIndex(0.01).add(memoir, market("two/memoir", "Arvid Keller memoir released in 2026?"));
    const confidence = () => index.pairs.get("one/memoir two/memoir")?.confidence ?? 0;
    const unjudged = confidence();
    index.index.setJudgements([{ a: "one/memoir", b: "two/memoir", relation: "identical", evidence: "Judged." }]);
    index.update();
    assert.ok(confidence() > unjudged);
    index.index.remove("one/memoir");
    index.add(memoir);
    assert.equal(confidence(), unjudged);
  });

  test("finds a team by its city, its nickname or both", () => {
    const teams = new FollowedIndex(0.1).add(
      market("one/a", "Will Miami win the 2027 Pro Basketball title?", {
        eventTitle: "Pro Basketball champion in 2027?",
      }),
      market("two/b", "Miami Heat to win NBA 2027?", { eventTitle: "NBA 2027 winner" }),
      market("three/c", "Will the Heat take the NBA championship in 2027?", { eventTitle: "NBA champion in 2027?" }),
    );
    assert.deepEqual(teams.list(), ["one/a identical three/c", "one/a identical two/b", "three/c identical two/b"]);
  });

  test("a market has at most one pair per other venue, and duplicates share the confidence", () => {
    const index = new FollowedIndex().add(NORWAY, NORWAY_TOO, market("three/1", NORWAY.title));
    assert.deepEqual(index.list(), [
      "one/norway identical three/1",
      "one/norway identical two/7",
      "three/1 identical two/7",
    ]);
    const before = index.pairs.get("one/norway two/7")?.confidence ?? 0;
    index.add(market("two/8", NORWAY_TOO.title));
    const withDuplicate = [...index.pairs.values()].filter(({ a, b }) => a === "one/norway" && b.startsWith("two/"));
    assert.ok(withDuplicate.length <= 1);
    for (const { confidence } of withDuplicate) assert.ok(confidence <= 0.5 + 1e-9 && confidence < before);
  });

  test("both markets of a pair give it the same confidence, so deciding again changes nothing", () => {
    const markets = [
      market("one/1", "Norway wins Eurovision 2026?"),
      market("one/2", "Norway wins Eurovision 2026?"),
      market("two/1", "Norway wins Eurovision 2026?"),
      market("two/2", "Norway to win the Eurovision final 2026?"),
    ];
    const index = new MatchIndex(0.05);
    for (const added of markets) index.set(added);
    index.update(ALL);
    for (const { id } of markets) index.setRules(id, null);
    assert.ok(index.update(ALL).added.length > 0);
    for (const { id } of markets) {
      index.setOverrides([{ a: id, b: "two/unknown", decision: "forbidden" }]);
      assert.deepEqual(index.update(ALL).added, []);
    }
  });

  test("a removed market has no pairs, and its former partner is paired with the next best market", () => {
    const index = new FollowedIndex().add(NORWAY, NORWAY_TOO);
    index.index.remove("two/7");
    index.update();
    assert.deepEqual(index.list(), []);
    index.add(market("two/9", "Will Norway win Eurovision 2026?"));
    assert.deepEqual(index.list(), ["one/norway identical two/9"]);
  });
});

describe("MatchIndex with statements about two markets", () => {
  test("a stated copy is more likely the same question, whichever market arrives first", () => {
    const original = market("one/memoir", "Will Arvid Keller publish a memoir in 2026?", { slug: "keller-memoir" });
    const copy = market("two/memoir", "Arvid Keller memoir released in 2026?", { mirroredSlug: "keller-memoir" });
    const confidenceOf = (index: FollowedIndex) => index.pairs.get("one/memoir two/memoir")?.confidence ?? 0;
    const without = confidenceOf(new FollowedIndex(0.01).add(original, { ...copy, mirroredSlug: "other" }));
    const forward = new FollowedIndex(0.01).add(original).add(copy);
    const backward = new FollowedIndex(0.01).add(copy).add(original);
    assert.ok(without < 0.5 && confidenceOf(forward) > 0.9, `${without} ${confidenceOf(forward)}`);
    assert.equal(confidenceOf(backward), confidenceOf(forward));
    const [pair] = forward.pairs.values();
    assert.equal(pair?.evidence.at(-1), "One venue states that its market copies the other one.");
    forward.index.remove("one/memoir");
    forward.update();
    assert.deepEqual(forward.list(), []);
  });

  test("a copy with few common words is a candidate, and a copy with another deadline is not the same", () => {
    const original = market("one/1", "Norway", { slug: "norway" });
    const copy = market("two/1", "ESC 2026 winning nation: the kingdom of Norway", { mirroredSlug: "norway" });
    assert.deepEqual(new FollowedIndex().add(original, copy).list(), ["one/1 identical two/1"]);
    const dates = new FollowedIndex(0.01).add(
      market("one/2", "Will the Lundby bridge open by June 30, 2026?", { slug: "bridge" }),
      market("two/2", "Will the Lundby bridge open by December 31, 2026?", { mirroredSlug: "bridge" }),
    );
    assert.deepEqual(dates.list(), ["one/2 subset two/2"]);
  });
});

const leg = (venue: string, name: string) =>
  market(`${venue}/${name}`, `Will ${name} win Group A in the 2026 World Cup?`, {
    eventSlug: `${venue}:group`,
    eventTitle: "World Cup Group A Winner 2026",
    outcomeLabel: name,
  });

describe("MatchIndex with several markets of an event", () => {
  test("other matching markets of the same two events raise the confidence, except forbidden ones", () => {
    const confidenceOf = ({ pairs }: FollowedIndex) => pairs.get("one/Mexico two/Mexico")?.confidence ?? 0;
    const alone = new FollowedIndex(0.2).add(leg("one", "Mexico"), leg("two", "Mexico"));
    const supported = new FollowedIndex(0.2).add(
      ...["Mexico", "Czechia"].flatMap((name) => [leg("one", name), leg("two", name)]),
    );
    const oddsOf = (index: FollowedIndex) => confidenceOf(index) / (1 - confidenceOf(index));
    assert.ok(Math.abs(Math.log(oddsOf(supported) / oddsOf(alone)) - 0.7) < 1e-9);
    supported.index.setOverrides([{ a: "one/Czechia", b: "two/Czechia", decision: "forbidden" }]);
    supported.update();
    assert.equal(confidenceOf(supported), confidenceOf(alone));
    supported.index.setOverrides([]);
    supported.update();
    assert.ok(confidenceOf(supported) > confidenceOf(alone));
    supported.index.remove("two/Czechia");
    supported.update();
    assert.equal(confidenceOf(supported), confidenceOf(alone));
  });

  test("an event supports its pairs as soon as it has at most 100 markets", () => {
    const others = Array.from({ length: 99 }, (_, number) =>
      market(`one/other-${number}`, `Will it rain on day ${number}?`, { eventSlug: "one:group" }),
    );
    const index = new FollowedIndex(0.2).add(
      ...others,
      ...["Mexico", "Czechia"].flatMap((name) => [leg("one", name), leg("two", name)]),
    );
    const confidenceOf = () => index.pairs.get("one/Mexico two/Mexico")?.confidence ?? 0;
    const before = confidenceOf();
    index.index.remove("one/other-0");
    index.update();
    assert.ok(confidenceOf() > before && before > 0);
    index.add(others[0] ?? NORWAY);
    assert.equal(confidenceOf(), before);
  });

  test("the other side of a game is neither preferred to the same side nor an alternative to it", () => {
    const same = market("two/same", "Lakers @ Heat: Lakers to win");
    const opposite = market("two/opposite", "Heat vs. Lakers - Heat");
    const lakers = market("one/lakers", "Lakers vs. Heat - Lakers");
    const alone = new FollowedIndex(0.2).add(lakers, same);
    const both = new FollowedIndex(0.2).add(lakers, same, opposite);
    assert.deepEqual(new FollowedIndex(0.2).add(lakers, opposite).list(), ["one/lakers inverse two/opposite"]);
    assert.deepEqual([...both.pairs.values()], [...alone.pairs.values()]);
  });
});

describe("MatchIndex with rules and decisions", () => {
  test("pairs no markets before their rules are read, asks for them once, and drops a pair that they contradict", () => {
    const index = new FollowedIndex();
    const title = "Will it rain in Chicago on December 3, 2026?";
    index.index.set(market("one/rain", title));
    index.index.set(market("two/rain", title));
    const { rulesWanted } = index.apply();
    assert.deepEqual(rulesWanted.toSorted(), ["one/rain", "two/rain"]);
    assert.deepEqual(index.list(), [], "a pair waits for the rules of both markets");
    index.index.setRules("one/rain", "Rain as measured at O'Hare (KORD) by the weather service.");
    index.index.setRules("two/rain", null);
    assert.deepEqual(index.apply().rulesWanted, []);
    assert.deepEqual(index.list(), ["one/rain identical two/rain"]);
    index.index.setRules("two/rain", "Rain as measured at Midway (KMDW) by the weather service.");
    index.apply();
    assert.deepEqual(index.list(), []);
    index.index.setRules("two/rain", null);
    index.apply();
    assert.deepEqual(index.list(), ["one/rain identical two/rain"]);
  });

  test("the operator's decisions replace the model's, in either order of arrival", () => {
    const other = market("two/other", "Will Sweden win Eurovision 2026?");
    const index = new FollowedIndex();
    index.index.setOverrides([{ a: "one/norway", b: "two/other", decision: "inverse" }]);
    index.add(NORWAY, NORWAY_TOO, other);
    assert.deepEqual(index.list(), ["one/norway inverse two/other"]);
    assert.deepEqual(index.pairs.get("one/norway two/other")?.source, "operator");
    index.index.setOverrides([{ a: "two/7", b: "one/norway", decision: "forbidden" }]);
    index.update();
    assert.deepEqual(index.list(), []);
    index.index.setOverrides([]);
    index.update();
    assert.deepEqual(index.list(), ["one/norway identical two/7"]);
  });

  test("a market keeps at most 64 possible matches, and further ones do not lower its confidence", () => {
    const followed = new FollowedIndex(0.005);
    followed.add(NORWAY, ...Array.from({ length: 200 }, (_, number) => market(`two/${number}`, NORWAY.title)));
    const confidences = [...followed.pairs.values()].map(({ confidence }) => confidence);
    assert.equal(confidences.length, 1);
    // 64 equal candidates have 1/64 each, 200 would have 1/200.
    assert.ok((confidences[0] ?? 0) > 1 / 100, `${confidences[0]}`);
  });

  test("matches at most the requested number of markets per update", () => {
    const index = new MatchIndex();
    for (const added of [NORWAY, NORWAY_TOO, market("three/1", "Will it rain?")]) index.set(added);
    assert.equal(index.update(2).pendingCount, 1);
    assert.equal(index.update(2).pendingCount, 0);
  });

  test("pairs two events once their markets match one to one, with the number of matching markets", () => {
    const index = new FollowedIndex().add(
      ...["Mexico", "Czechia", "South Africa"].map((name) => leg("one", name)),
      ...["Mexico", "Czechia"].map((name) => leg("two", name)),
    );
    assert.deepEqual([...index.events], [["one:group two:group", 2]]);
    index.index.remove("two/Mexico");
    index.index.remove("two/Czechia");
    index.update();
    assert.deepEqual([...index.events], []);
  });

  test("any sequence of changes ends with the pairs of an index that was filled at once", () => {
    const titles = ["Norway", "Sweden", "Norway and Sweden", "Israel"].flatMap((name) => [
      `Will ${name} win Eurovision 2026?`,
      `Will ${name} win Eurovision 2027?`,
    ]);
    const change = fc.record({
      id: fc.constantFrom("one/1", "one/2", "two/1", "two/2", "three/1"),
      title: fc.option(fc.constantFrom(...titles)),
      eventTitle: fc.constantFrom(null, "Which country's song will receive the most points at the contest in Vienna?"),
      isUpdated: fc.boolean(),
    });
    const describeChoice = (pair: MarketPair) => `${describePair(pair)} ${pair.confidence.toFixed(9)}`;
    fc.assert(
      fc.property(fc.array(change, { maxLength: 20 }), (changes) => {
        const followed = new FollowedIndex();
        const current = new Map<string, MatchableMarket>();
        for (const { id, title, eventTitle, isUpdated } of changes) {
          if (title === null) {
            current.delete(id);
            followed.index.remove(id);
          } else {
            const eventSlug = `${id.split("/")[0]}:song`;
            current.set(id, market(id, title, { eventSlug, eventTitle }));
            followed.index.set(market(id, title, { eventSlug, eventTitle }));
          }
          if (isUpdated) followed.update(2);
        }
        followed.update();
        for (const id of current.keys()) followed.index.setRules(id, null);
        followed.update();
        const fresh = new FollowedIndex().add(...current.values());
        assert.deepEqual(
          [...followed.pairs.values()].map(describeChoice).sort(),
          [...fresh.pairs.values()].map(describeChoice).sort(),
        );
      }),
      { numRuns: 200 },
    );
  });
});
