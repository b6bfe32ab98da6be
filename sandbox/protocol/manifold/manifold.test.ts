import assert from "node:assert/strict";
import { once } from "node:events";
import { after, before, test } from "node:test";
import { WebSocket } from "ws";
import { HOUR_MS, MINUTE_MS } from "../../../src/lib/durations.ts";
import { ManualFeed } from "../../../test/support/venues/manual-feed.ts";
import { serveExchanges } from "../../serve.ts";
import { createWorld } from "../../world/index.ts";
import { manifoldContractId, manifoldExchange, manifoldProbability } from "./index.ts";

/** Tests what the adapter does not use. `test/contract/manifold-truth.test.ts` tests the rest through the adapter. */
const GENESIS = Date.UTC(2026, 10, 20);
let now = GENESIS + 5 * HOUR_MS;
const world = createWorld({ seed: 4, genesis: GENESIS, speed: 20, marketCount: 900 });
const feed = new ManualFeed();
let served: Awaited<ReturnType<typeof serveExchanges>>;

before(async () => {
  const services = manifoldExchange({ world, feed, now: () => now, enforceLimits: true });
  served = await serveExchanges(services, { host: "127.0.0.1", firstPort: 0 });
});
after(async () => {
  feed.close();
  await served.close();
});

/** Unvalidated JSON. */
type Json = ReturnType<typeof JSON.parse>;
const request = (path: string, agent = "test/1.0") =>
  fetch(`${served.urls.manifold?.rest}${path}`, { headers: { "user-agent": agent } });

test("the probability of a binary market follows from `pool` and `p`", async () => {
  const market = world
    .markets("manifold", now)
    .find((candidate) => candidate.event.markets.length === 1 && world.lifecycle(candidate, now).phase === "active");
  assert.ok(market !== undefined);
  const { p, pool, probability }: Json = await (await request(`/market/${manifoldContractId(market.event)}`)).json();
  assert.equal(probability, manifoldProbability(world, market, now));
  assert.ok(Math.abs((p * pool.NO) / ((1 - p) * pool.YES + p * pool.NO) - probability) < 1e-9);
});

test("`/bet-points` returns the times and probabilities of the same bets as `/bets`, but not sorted by time", async () => {
  const [busiest] = world
    .markets("manifold", now)
    .toSorted((a, b) => world.activity(b, now).volume24hUsd - world.activity(a, now).volume24hUsd);
  assert.ok(busiest !== undefined);
  const query = `contractId=${manifoldContractId(busiest.event)}&afterTime=${now - HOUR_MS}&beforeTime=${now + 1}`;
  const points: Json = await (await request(`/bet-points?${query}`)).json();
  const bets: Json = await (await request(`/bets?${query}`)).json();
  const keyOf = ({ createdTime, answerId, probBefore, probAfter }: Json) =>
    JSON.stringify([createdTime, answerId, probBefore, probAfter]);
  assert.ok(points.length > 5);
  assert.deepEqual(points.map(keyOf).sort(), bets.map(keyOf).sort());
  const times = points.map(({ createdTime }: Json) => createdTime);
  assert.notDeepEqual(times, times.toSorted());
  assert.notDeepEqual(times, times.toSorted().reverse());
});

test("invalid requests return Manifold's status and a message", async () => {
  const cases: readonly (readonly [string, number])[] = [
    ["/search-markets?colour=red", 400],
    ["/search-markets?limit=1001", 400],
    ["/search-markets?limit=0", 400],
    ["/search-markets?filter=maybe", 400],
    ["/search-markets?offset=5000", 400],
    ["/search-markets?includeLiteAnswers=maybe", 400],
    ["/market/unknown", 404],
    ["/market/unknown/prob", 404],
    ["/bets?limit=1001", 400],
    ["/bet-points?contractId=x", 400],
    ["/nothing", 404],
  ];
  for (const [path, status] of cases) {
    const response = await request(path);
    assert.equal(response.status, status, path);
    const { message }: Json = await response.json();
    assert.equal(typeof message, "string", path);
  }
});

test("429: the 501st request of a client within a minute is rejected, and a different client is served", async () => {
  const status = async (agent: string) => (await request("/search-markets?limit=1&beforeTime=1", agent)).status;
  for (let count = 0; count < 500; count++) assert.equal(await status("limited/1.0"), 200);
  assert.equal(await status("limited/1.0"), 429);
  assert.equal(await status("other/1.0"), 200);
  now += MINUTE_MS;
  assert.equal(await status("limited/1.0"), 200);
});

test("the socket acknowledges valid commands and rejects invalid ones", async () => {
  const socket = new WebSocket(served.urls.manifold?.ws ?? "");
  await once(socket, "open");
  const send = async (text: string): Promise<Json> => {
    socket.send(text);
    const [data] = await once(socket, "message");
    return JSON.parse(String(data));
  };
  assert.deepEqual(await send(JSON.stringify({ type: "subscribe", txid: 7, topics: ["global/new-bet"] })), {
    type: "ack",
    txid: 7,
    success: true,
  });
  assert.equal((await send(JSON.stringify({ type: "ping", txid: 8 }))).success, true);
  assert.equal((await send("not JSON")).success, false);
  assert.equal((await send(JSON.stringify({ type: "subscribe", txid: 9, topics: [1] }))).success, false);
  socket.terminate();
});
