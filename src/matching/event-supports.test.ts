import assert from "node:assert/strict";
import { test } from "node:test";
import { EventSupports } from "./event-supports.ts";
import type { MatchRelation } from "./model.ts";

interface Market {
  readonly eventSlug: string | null;
  links: { other: Market; relation: MatchRelation; probability: number }[];
}

const marketsOf = (eventSlug: string | null, count: number): Market[] =>
  Array.from({ length: count }, () => ({ eventSlug, links: [] }));

function link(a: Market | undefined, b: Market | undefined, probability = 0.9, relation: MatchRelation = "identical") {
  assert.ok(a !== undefined && b !== undefined);
  a.links.push({ other: b, relation, probability });
  b.links.push({ other: a, relation, probability });
}

function index(...events: readonly Market[][]) {
  const supports = new EventSupports<Market>();
  for (const market of events.flat()) supports.add(market);
  return (a: Market | undefined, b: Market | undefined) => {
    assert.ok(a !== undefined && b !== undefined);
    assert.equal(supports.count(a, b), supports.count(b, a));
    return supports.count(a, b);
  };
}

test("each other linked market of the same two events is a support, at most four", () => {
  for (const [linked, expected] of [
    [1, 0],
    [3, 2],
    [9, 4],
  ] as const) {
    const [a, b] = [marketsOf("a", 10), marketsOf("b", 10)];
    for (let row = 0; row < linked; row++) link(a[row], b[row]);
    assert.equal(index(a, b)(a[0], b[0]), expected);
  }
});

test("several markets that are linked with one market of the other event are one support", () => {
  const [a, b] = [marketsOf("a", 4), marketsOf("b", 2)];
  link(a[0], b[0]);
  for (const row of [1, 2, 3]) link(a[row], b[1]);
  assert.equal(index(a, b)(a[0], b[0]), 1);
});

test("an improbable link, a link to another event, and a link that does not ask the same question are no supports", () => {
  const [a, b, c] = [marketsOf("a", 4), marketsOf("b", 4), marketsOf("c", 1)];
  link(a[0], b[0]);
  link(a[1], b[1], 0.29);
  link(a[2], c[0]);
  link(a[3], b[3], 0.9, "subset");
  assert.equal(index(a, b, c)(a[0], b[0]), 0);
  link(a[1], b[2], 0.3, "inverse");
  assert.equal(index(a, b, c)(a[0], b[0]), 1);
});

test("markets without an event and markets of events with more than 100 markets have no supports", () => {
  const [a, b] = [marketsOf(null, 2), marketsOf(null, 2)];
  link(a[0], b[0]);
  link(a[1], b[1]);
  assert.equal(index(a, b)(a[0], b[0]), 0);
  const [c, d] = [marketsOf("c", 101), marketsOf("d", 2)];
  link(c[0], d[0]);
  link(c[1], d[1]);
  assert.equal(index(c, d)(c[0], d[0]), 0);
  assert.equal(index(c.slice(0, 100), d)(c[0], d[0]), 1);
});

test("the markets of an event are reported when it becomes too large, and when it no longer is", () => {
  const supports = new EventSupports<Market>();
  const markets = marketsOf("a", 101);
  assert.deepEqual(
    markets.map((market) => supports.add(market).size),
    [...Array.from({ length: 100 }, () => 0), 101],
  );
  const [first, second] = markets;
  assert.ok(first !== undefined && second !== undefined);
  assert.equal(supports.remove(first).size, 100);
  assert.equal(supports.remove(second).size, 0);
});
