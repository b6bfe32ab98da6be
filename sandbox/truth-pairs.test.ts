import assert from "node:assert/strict";
import { test } from "node:test";
import Fastify from "fastify";
import { HOUR_MS } from "../src/lib/durations.ts";
import { createControlService } from "./control.ts";
import { createWorld } from "./world/index.ts";
import type { World } from "./world/types.ts";

const GENESIS = Date.UTC(2026, 10, 20);
const NOW = GENESIS + HOUR_MS;

function openControl(change: (world: World) => World = (world) => world) {
  const world = createWorld({ seed: 9, genesis: GENESIS, speed: 60, marketCount: 100 });
  const app = Fastify();
  const feed = { subscribe: () => () => {}, close: () => {} };
  createControlService({ world: change(world), feed, now: () => NOW, enforceLimits: true }, {}, "127.0.0.1").install(
    app,
  );
  const get = async (url: string) => {
    const reply = await app.inject(url);
    return { status: reply.statusCode, json: reply.json() };
  };
  return { world, get };
}

test("200: the pages contain every pair of the world at the given time once", async () => {
  const { world, get } = openControl();
  const expected = world.pairs(GENESIS);
  const pairs = [];
  let cursor: string | null = "0";
  let pages = 0;
  while (cursor !== null) {
    const { status, json } = await get(`/truth/pairs?at=${GENESIS}&limit=100&cursor=${cursor}`);
    assert.equal(status, 200);
    assert.deepEqual([json.at, json.total], [GENESIS, expected.length]);
    pairs.push(...json.pairs);
    cursor = json.next_cursor;
    pages += 1;
  }
  assert.equal(pages, Math.ceil(expected.length / 100));
  assert.deepEqual(
    pairs.map(({ a, b, relation, trap }) => [a.index, b.index, relation, trap]),
    expected.map(({ a, b, relation, trap }) => [a.index, b.index, relation, trap]),
  );
});

test("200: a pair has the venue ids of both markets, and `/truth/{venue}` returns the same markets", async () => {
  const { get } = openControl();
  const { json } = await get("/truth/pairs?limit=3");
  assert.equal(json.at, NOW);
  for (const pair of json.pairs) {
    for (const side of [pair.a, pair.b]) {
      const { json: truth } = await get(`/truth/${side.venue}?market_id=${encodeURIComponent(side.market_id)}`);
      const [market] = truth.markets;
      assert.deepEqual(
        [market.index, market.question, market.label, market.event, market.lifecycle.phase],
        [side.index, side.question, side.label, side.event, side.phase],
      );
    }
  }
});

test("200: `traps=true` selects the pairs that look alike but are not identical", async () => {
  const { world, get } = openControl();
  const { json } = await get("/truth/pairs?traps=true&limit=2000");
  const traps = world.pairs(NOW).filter(({ trap }) => trap !== null);
  assert.ok(traps.length > 0);
  assert.equal(json.total, traps.length);
  for (const pair of json.pairs) assert.ok(pair.trap !== null && pair.relation !== "identical");
});

test("400: rejects a time in the future, a page size outside 1 to 2000, and malformed values", async () => {
  const { get } = openControl();
  const queries = [
    `at=${NOW + 1}`,
    "at=soon",
    "limit=0",
    "limit=2001",
    "limit=1.5",
    "cursor=-1",
    "cursor=x",
    "traps=1",
  ];
  for (const query of queries) {
    const { status, json } = await get(`/truth/pairs?${query}`);
    assert.equal(status, 400, query);
    assert.ok(json.error.length > 10);
  }
});

test("404: a recording has no true relations", async () => {
  const { get } = openControl(({ pairs: _, ...recording }) => recording);
  assert.equal((await get("/truth/pairs")).status, 404);
});
