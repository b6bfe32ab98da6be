import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { FastifyInstance } from "fastify";
import { activeMarkets, get, NOW, startHost, world } from "../../../test/support/sandbox/polymarket-server.ts";
import { dataConditionId } from "./ids.ts";
import { polymarketConditionId, polymarketMarketId, polymarketTokenIds } from "./index.ts";

let clob: FastifyInstance;
let data: FastifyInstance;
before(async () => {
  clob = await startHost("clob");
  data = await startHost("data");
});
after(() => Promise.all([clob.close(), data.close()]));

test("ids are unique, and the condition id and both token ids of a market return this market", async () => {
  const markets = world.markets("polymarket", NOW);
  const ids = markets.flatMap((market) => [
    polymarketMarketId(market),
    polymarketConditionId(market),
    ...polymarketTokenIds(market),
  ]);
  assert.equal(new Set(ids).size, ids.length);
  for (const market of markets.slice(0, 50)) {
    const conditionId = dataConditionId(market);
    const { body } = await get(data, `/v2/resolutions?condition=${conditionId}`);
    assert.equal(Object(body).data[0].condition_id, conditionId);
  }
  for (const market of activeMarkets.slice(0, 50)) {
    for (const token of polymarketTokenIds(market)) {
      const { body } = await get(clob, `/book?token_id=${token}`);
      assert.equal(Object(body).market, polymarketConditionId(market));
    }
  }
  assert.ok(
    markets.some((market) => polymarketConditionId(market).length === 64),
    "some condition ids have 62 digits",
  );
});

test("400: rejects a book request without a token id", async () => {
  assert.equal((await get(clob, "/book")).status, 400);
});

test("price history has one point for each step of the range", async () => {
  const [market] = activeMarkets;
  assert.ok(market !== undefined);
  const nowSeconds = Math.floor(NOW / 1_000);
  const range = `startTs=${nowSeconds - 3_600}&endTs=${nowSeconds}&fidelity=10`;
  const { body } = await get(clob, `/prices-history?market=${polymarketTokenIds(market)[0]}&${range}`);
  assert.equal(Object(body).history.length, 6);
});

test("400: rejects price history without a market or a start", async () => {
  assert.equal((await get(clob, "/prices-history?market=1&endTs=1")).status, 400);
  assert.equal((await get(clob, "/prices-history?startTs=1")).status, 400);
});
