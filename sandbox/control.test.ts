import assert from "node:assert/strict";
import { test } from "node:test";
import Fastify from "fastify";
import { createControl } from "./control.ts";
import { createFaults } from "./faults/venue-faults.ts";
import { createWorld } from "./world/index.ts";
import { uniform } from "./world/random.ts";
import { SANDBOX_VENUES } from "./world/types.ts";

const GENESIS = Date.UTC(2026, 10, 20);
const NOW = GENESIS + 3_600_000;
const URLS = {
  kalshi: { rest: "http://127.0.0.1:1/trade-api/v2", ws: "ws://127.0.0.1:1/<ws>" },
  manifold: { rest: "http://127.0.0.1:2" },
};

function openControl() {
  const world = createWorld({ seed: 9, genesis: GENESIS, speed: 60, marketCount: 20 });
  const app = Fastify();
  const feed = { subscribe: () => () => {}, close: () => {} };
  createControl({ world, feed, now: () => NOW, enforceLimits: true }, URLS).install(app);
  return { world, app };
}

test("200: the page names every venue with its base URLs, as text and not as markup", async () => {
  const { app } = openControl();
  const reply = await app.inject("/");
  assert.deepEqual([reply.statusCode, reply.headers["content-type"]], [200, "text/html; charset=utf-8"]);
  for (const venue of SANDBOX_VENUES) assert.ok(reply.body.includes(`<td>${venue}</td>`));
  assert.ok(reply.body.includes("http://127.0.0.1:1/trade-api/v2"));
  assert.equal(reply.body.includes("<ws>"), false);
  assert.match(reply.body, /Seed 9, trading 60 times/);
});

test("200: base URLs and the world's figures as JSON", async () => {
  const { app } = openControl();
  assert.deepEqual((await app.inject("/urls")).json(), URLS);
  assert.deepEqual((await app.inject("/world")).json(), { seed: 9, genesis: GENESIS, speed: 60, now: NOW });
});

test("200: the truth of a venue at an instant, of all markets or of one", async () => {
  const { world, app } = openControl();
  const all = (await app.inject(`/truth/kalshi?at=${GENESIS}`)).json();
  assert.equal(all.at, GENESIS);
  const [market] = world.markets("kalshi", GENESIS);
  const [{ market_id: id }] = all.markets;
  assert.ok(market);
  assert.equal(all.markets.length, world.markets("kalshi", GENESIS).length);
  const { at, markets } = (await app.inject(`/truth/kalshi?market_id=${encodeURIComponent(id)}`)).json();
  assert.deepEqual([at, markets.length, markets[0].market_id], [NOW, 1, id]);
  assert.deepEqual(markets[0].book, JSON.parse(JSON.stringify(world.book(market, NOW))));
  assert.deepEqual(markets[0].activity, world.activity(market, NOW));
  assert.deepEqual((await app.inject("/truth/kalshi?market_id=none")).json().markets, []);
});

test("400: nobody is told the future, nor the truth at no time at all", async () => {
  const { app } = openControl();
  assert.equal((await app.inject(`/truth/kalshi?at=${NOW}`)).statusCode, 200);
  for (const at of [NOW + 1, "Infinity", "soon", "NaN"]) {
    assert.equal((await app.inject(`/truth/kalshi?at=${at}`)).statusCode, 400, String(at));
  }
});

test("404: there are only the simulated venues", async () => {
  const { app } = openControl();
  for (const venue of ["nowhere", "constructor", ""])
    assert.equal((await app.inject(`/truth/${venue}`)).statusCode, 404);
});

function openFaults() {
  const faults = createFaults((...keys) => uniform(1, 1, ...keys));
  const world = createWorld({ seed: 9, genesis: GENESIS, speed: 60, marketCount: 20 });
  const app = Fastify();
  const feed = { subscribe: () => () => {}, close: () => {} };
  createControl({ world, feed, faults, now: () => NOW, enforceLimits: true }, URLS).install(app);
  const ask = async (method: "GET" | "PUT" | "POST" | "DELETE", url: string, body?: object) => {
    const reply = await app.inject({ method, url, ...(body === undefined ? {} : { payload: body }) });
    return { status: reply.statusCode, json: reply.json() };
  };
  return { faults, app, ask };
}

test("200: switches are shown, replaced, changed and cleared, for one venue or for all", async () => {
  const { faults, app, ask } = openFaults();
  const { json } = await ask("GET", "/faults");
  assert.deepEqual(Object.keys(json.venues), [...SANDBOX_VENUES]);
  assert.deepEqual(json.venues.kalshi, { on: {}, happened: {} });
  assert.deepEqual(json.switches.latency.parameters.ms, { fallback: 300, min: 0, max: 600_000 });
  await ask("PUT", "/faults/kalshi", { server_error: 0.25, frozen: 1 });
  const changed = await ask("POST", "/faults/kalshi", { frozen: 0, latency: { rate: 0.5, ms: 10 } });
  assert.deepEqual(changed.json.venues.kalshi.on, {
    server_error: { rate: 0.25, kind: "any" },
    latency: { rate: 0.5, ms: 10, jitter_ms: 300 },
  });
  assert.match((await app.inject("/")).body, /server_error 0.25, latency 0.5/);
  await ask("PUT", "/faults/all", { rate_limit: 1 });
  assert.ok(SANDBOX_VENUES.every((venue) => Object.keys(faults[venue].settings).join() === "rate_limit"));
  await ask("DELETE", "/faults/kalshi");
  assert.deepEqual([faults.kalshi.isQuiet, faults.manifold.isQuiet], [true, false]);
  await ask("DELETE", "/faults");
  assert.ok(SANDBOX_VENUES.every((venue) => faults[venue].isQuiet));
});

test("200: what happened is told until the switches are cleared, and not forgotten when they are only changed", async () => {
  const { faults, ask } = openFaults();
  await ask("PUT", "/faults/all", { server_error: 1 });
  for (const venue of SANDBOX_VENUES) faults[venue].draw("server_error");
  await ask("POST", "/faults/kalshi", { server_error: 0 });
  const { json } = await ask("PUT", "/faults/manifold", {});
  assert.deepEqual(json.venues.kalshi.happened, { server_error: 1 });
  assert.deepEqual(json.venues.manifold.happened, { server_error: 1 });
  const cleared = await ask("DELETE", "/faults/kalshi");
  assert.deepEqual(cleared.json.venues.kalshi.happened, {});
  assert.deepEqual(cleared.json.venues.manifold.happened, { server_error: 1 });
  const { json: all } = await ask("DELETE", "/faults");
  assert.ok(SANDBOX_VENUES.every((venue) => Object.keys(all.venues[venue].happened).length === 0));
});

test("404 and 400: an unknown venue, switch or value changes nothing and says what there is", async () => {
  const { faults, ask } = openFaults();
  for (const method of ["PUT", "POST", "DELETE"] as const) {
    const { status, json } = await ask(method, "/faults/nowhere", method === "DELETE" ? undefined : {});
    assert.deepEqual([status, /venues: kalshi, .*all/.test(json.error)], [404, true]);
  }
  for (const body of [{ frost: 1 }, { frozen: 2 }, { frozen: { ms: 1 } }, []]) {
    const { status, json } = await ask("PUT", "/faults/all", body);
    assert.equal(status, 400);
    assert.ok(json.error.length > 10);
  }
  assert.ok(SANDBOX_VENUES.every((venue) => faults[venue].isQuiet));
});
