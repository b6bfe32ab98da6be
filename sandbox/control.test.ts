import assert from "node:assert/strict";
import { test } from "node:test";
import Fastify from "fastify";
import { HOUR_MS } from "../src/lib/durations.ts";
import { createControlService } from "./control.ts";
import { createFaults } from "./faults/venue-faults.ts";
import { worldCandles } from "./world/candles.ts";
import { createWorld } from "./world/index.ts";
import { uniform } from "./world/random.ts";
import { SANDBOX_VENUES } from "./world/types.ts";

const GENESIS = Date.UTC(2026, 10, 20);
const NOW = GENESIS + HOUR_MS;
const URLS = {
  kalshi: { rest: "http://127.0.0.1:1/trade-api/v2", ws: "ws://127.0.0.1:1/<ws>" },
  manifold: { rest: "http://127.0.0.1:2" },
};

function openControl() {
  const faults = createFaults((...keys) => uniform(1, 1, ...keys));
  const world = createWorld({ seed: 9, genesis: GENESIS, speed: 60, marketCount: 20 });
  const app = Fastify();
  const feed = { subscribe: () => () => {}, close: () => {} };
  createControlService({ world, feed, faults, now: () => NOW, enforceLimits: true }, URLS, "sandbox.example").install(
    app,
  );
  const request = async (method: "GET" | "PUT" | "POST" | "DELETE", url: string, payload?: object) => {
    const reply = await app.inject({ method, url, payload });
    return { status: reply.statusCode, json: reply.json() };
  };
  return { world, faults, app, request };
}

test("200: the overview page lists every venue with its escaped base URLs", async () => {
  const { app } = openControl();
  const reply = await app.inject("/");
  assert.deepEqual([reply.statusCode, reply.headers["content-type"]], [200, "text/html; charset=utf-8"]);
  for (const venue of SANDBOX_VENUES) assert.ok(reply.body.includes(`<td>${venue}</td>`));
  assert.ok(reply.body.includes("http://127.0.0.1:1/trade-api/v2"));
  assert.equal(reply.body.includes("<ws>"), false);
  assert.match(reply.body, /Seed 9, trading at 60× real activity/);
});

test("200: returns the base URLs and the parameters of the world as JSON", async () => {
  const { app } = openControl();
  assert.deepEqual((await app.inject("/urls")).json(), URLS);
  assert.deepEqual((await app.inject("/world")).json(), { seed: 9, genesis: GENESIS, speed: 60, now: NOW });
});

test("200: returns the true state of all markets of a venue, or of one market, at a given time", async () => {
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

test("200: returns the true trades and candles of a market, up to now by default", async () => {
  const { world, app } = openControl();
  const [market] = world.markets("kalshi", NOW);
  assert.ok(market);
  const id = encodeURIComponent((await app.inject("/truth/kalshi")).json().markets[0].market_id);
  const { trades } = (await app.inject(`/truth/kalshi/trades?market_id=${id}`)).json();
  assert.deepEqual(trades, world.trades(market, market.openAt, NOW + 1));
  const [first] = trades;
  assert.ok(first !== undefined);
  const { trades: firstTrades } = (
    await app.inject(`/truth/kalshi/trades?market_id=${id}&from=${first.at}&to=${first.at}`)
  ).json();
  assert.deepEqual(firstTrades, world.trades(market, first.at, first.at + 1));
  const range = { from: NOW - HOUR_MS, to: NOW, intervalMs: 300_000 };
  const { candles } = (
    await app.inject(`/truth/kalshi/candles?market_id=${id}&from=${range.from}&interval=300000`)
  ).json();
  assert.deepEqual(candles, worldCandles(world, market, range));
});

test("400 and 404: the true state needs a venue, a listed market, a past time and at most 2,000 intervals", async () => {
  const { app } = openControl();
  const id = encodeURIComponent((await app.inject("/truth/kalshi")).json().markets[0].market_id);
  const day = 24 * HOUR_MS;
  for (const [path, status] of [
    [`kalshi?at=${NOW + 1}`, 400],
    ["kalshi?at=soon", 400],
    ["nowhere", 404],
    ["constructor", 404],
    ["kalshi/trades", 404],
    ["kalshi/trades?market_id=none", 404],
    ["nowhere/trades?market_id=none", 404],
    [`kalshi/trades?market_id=${id}&to=${NOW + 1}`, 400],
    [`kalshi/trades?market_id=${id}&from=yesterday`, 400],
    [`kalshi/candles?market_id=${id}`, 400],
    [`kalshi/candles?market_id=${id}&interval=999`, 400],
    [`kalshi/candles?market_id=${id}&interval=1000.5`, 400],
    [`kalshi/candles?market_id=${id}&from=${NOW - day}&interval=${day / 2_001}`, 400],
    [`kalshi/candles?market_id=${id}&from=${NOW - 2_001_000}&interval=1000`, 400],
    [`kalshi/candles?market_id=none&interval=60000`, 404],
  ] as const)
    assert.equal((await app.inject(`/truth/${path}`)).statusCode, status, path);
});

test("200: lists, replaces, changes and clears the fault switches of one venue or of all venues", async () => {
  const { faults, app, request } = openControl();
  const { json } = await request("GET", "/faults");
  assert.deepEqual(Object.keys(json.venues), [...SANDBOX_VENUES]);
  assert.deepEqual(json.venues.kalshi, { on: {}, happened: {} });
  assert.deepEqual(json.switches.latency.parameters.ms, { fallback: 300, min: 0, max: 600_000 });
  await request("PUT", "/faults/kalshi", { server_error: 0.25, frozen: 1 });
  const changed = await request("POST", "/faults/kalshi", { frozen: 0, latency: { rate: 0.5, ms: 10 } });
  assert.deepEqual(changed.json.venues.kalshi.on, {
    server_error: { rate: 0.25, kind: "any" },
    latency: { rate: 0.5, ms: 10, jitter_ms: 300 },
  });
  assert.match((await app.inject("/")).body, /server_error 0.25, latency 0.5/);
  await request("PUT", "/faults/all", { rate_limit: 1 });
  assert.ok(SANDBOX_VENUES.every((venue) => Object.keys(faults[venue].settings).join() === "rate_limit"));
  await request("DELETE", "/faults/kalshi");
  assert.deepEqual([faults.kalshi.isInactive, faults.manifold.isInactive], [true, false]);
  await request("DELETE", "/faults");
  assert.ok(SANDBOX_VENUES.every((venue) => faults[venue].isInactive));
});

test("200: keeps the fault counts when switches change and resets them when switches are cleared", async () => {
  const { faults, request } = openControl();
  await request("PUT", "/faults/all", { server_error: 1 });
  for (const venue of SANDBOX_VENUES) faults[venue].draw("server_error");
  await request("POST", "/faults/kalshi", { server_error: 0 });
  const { json } = await request("PUT", "/faults/manifold", {});
  assert.deepEqual(json.venues.kalshi.happened, { server_error: 1 });
  assert.deepEqual(json.venues.manifold.happened, { server_error: 1 });
  const cleared = await request("DELETE", "/faults/kalshi");
  assert.deepEqual(cleared.json.venues.kalshi.happened, {});
  assert.deepEqual(cleared.json.venues.manifold.happened, { server_error: 1 });
  const { json: all } = await request("DELETE", "/faults");
  assert.ok(SANDBOX_VENUES.every((venue) => Object.keys(all.venues[venue].happened).length === 0));
});

test("404 and 400: rejects unknown venues, switches and values, and changes no fault switch", async () => {
  const { faults, request } = openControl();
  for (const method of ["PUT", "POST", "DELETE"] as const) {
    const { status, json } = await request(method, "/faults/nowhere", method === "DELETE" ? undefined : {});
    assert.deepEqual([status, /venues: kalshi, .*all/.test(json.error)], [404, true]);
  }
  for (const body of [{ frost: 1 }, { frozen: 2 }, { frozen: { ms: 1 } }, []]) {
    const { status, json } = await request("PUT", "/faults/all", body);
    assert.equal(status, 400);
    assert.ok(json.error.length > 10);
  }
  assert.ok(SANDBOX_VENUES.every((venue) => faults[venue].isInactive));
});

test("403: a request with the `Host` or `Origin` of another site reads and changes nothing", async () => {
  const { app, faults } = openControl();
  const LOCAL = "127.0.0.1:8790";
  const foreignHeaders: readonly Readonly<Record<string, string>>[] = [
    { host: "evil.example" },
    { host: "evil.example:8790", origin: "http://evil.example:8790" },
    { host: "127.0.0.1.evil.example:8790" },
    { host: "localhost.evil.example" },
    { host: "192.0.2.7:8790" },
    { host: "0.0.0.0:8790" },
    { host: LOCAL, origin: "https://evil.example" },
    { host: LOCAL, origin: "null" },
    { host: LOCAL, origin: "http://127.0.0.1:3000" },
    { host: LOCAL, origin: `https://${LOCAL}` },
    { host: LOCAL, origin: `http://${LOCAL}, http://evil.example` },
  ];
  const requests = [
    ...(["/", "/urls", "/faults", "/world", "/truth/kalshi", "/unknown"] as const).map((url) => ["GET", url] as const),
    ...[["PUT", "/faults/all"] as const, ["POST", "/faults/all"] as const, ["DELETE", "/faults"] as const],
  ];
  for (const headers of foreignHeaders)
    for (const [method, url] of requests) {
      const payload = method === "GET" || method === "DELETE" ? undefined : { server_error: 1 };
      const reply = await app.inject({ method, url, headers, payload });
      assert.equal(reply.statusCode, 403, `${method} ${url} ${JSON.stringify(headers)}`);
      assert.deepEqual(Object.keys(reply.json()), ["error"]);
    }
  assert.deepEqual(faults.kalshi.settings, {});
  for (const host of [LOCAL, "localhost:8790", "LOCALHOST", "[::1]:8790", "127.1.2.3", "sandbox.example:8790"])
    for (const headers of [{ host }, { host, origin: `http://${host}` }])
      assert.equal((await app.inject({ url: "/faults", headers })).statusCode, 200, host);
});
