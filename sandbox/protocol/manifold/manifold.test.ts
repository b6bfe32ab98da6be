import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import Fastify, { type FastifyInstance } from "fastify";
import { HOUR_MS } from "../../../src/lib/durations.ts";
import { createWorld } from "../../world/index.ts";
import { manifoldExchange } from "./index.ts";

const GENESIS = Date.UTC(2026, 10, 20);
const NOW = GENESIS + 5 * HOUR_MS;
const world = createWorld({ seed: 3, genesis: GENESIS, speed: 20, marketCount: 300 });

interface Row {
  readonly id: string;
  readonly creatorId: string;
  readonly userId: string;
}

let app: FastifyInstance;
before(() => {
  app = Fastify();
  const feed = { subscribe: () => () => {}, close() {} };
  manifoldExchange({ world, feed, now: () => NOW, enforceLimits: false })[0]?.install(app);
});
after(() => app.close());

async function getRows(path: string): Promise<Row[]> {
  const response = await app.inject({ url: `/v0${path}` });
  assert.equal(response.statusCode, 200, `${path}: ${response.body}`);
  return response.json();
}

test("returns only markets of the requested creator and only bets of the requested user", async () => {
  const markets = await getRows("/markets?limit=1000");
  const creatorId = markets[0]?.creatorId;
  assert.deepEqual(
    (await getRows(`/markets?userId=${creatorId}`)).map(({ id }) => id),
    markets.filter((market) => market.creatorId === creatorId).map(({ id }) => id),
  );
  const [bet] = await getRows("/bets?limit=1");
  const bets = await getRows(`/bets?userId=${bet?.userId}&limit=5`);
  assert.ok(bets.length > 0 && bets.every(({ userId }) => userId === bet?.userId));
});

test("returns at most `limit` topics", async () => {
  assert.equal((await getRows("/groups?limit=1")).length, 1);
});

test("404: an unsupported route returns the venue's message", async () => {
  const response = await app.inject({ method: "POST", url: "/v0/bet", payload: { contractId: "x", amount: 1 } });
  assert.equal(response.statusCode, 404);
  assert.deepEqual(response.json(), { message: "Requested route was not found." });
});

test("allows cross-origin requests and responds to a CORS preflight request with 204", async () => {
  const response = await app.inject({ url: "/v0/markets?limit=1" });
  assert.equal(response.headers["access-control-allow-origin"], "*");
  const preflight = await app.inject({ method: "OPTIONS", url: "/v0/markets" });
  assert.equal(preflight.statusCode, 204);
});
