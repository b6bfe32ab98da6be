import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { FastifyInstance } from "fastify";
import { activeMarkets, get, NOW, startHost, world } from "../../../test/support/sandbox/polymarket-server.ts";
import { polymarketConditionId, polymarketMarketId, polymarketTokenIds } from "./index.ts";

let clob: FastifyInstance;
before(async () => {
  clob = await startHost("clob");
});
after(() => clob.close());

test("ids are unique, and the condition id and both token ids of a market return this market", async () => {
  const markets = world.markets("polymarket", NOW);
  const ids = markets.flatMap((market) => [
    polymarketMarketId(market),
    polymarketConditionId(market),
    ...polymarketTokenIds(market),
  ]);
  assert.equal(new Set(ids).size, ids.length);
  for (const market of markets.slice(0, 50)) {
    const { body } = await get(clob, `/markets/${polymarketConditionId(market)}`);
    assert.equal(Object(body).question, market.question);
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

test("price history accepts an interval, a time range, or both", async () => {
  const [market] = activeMarkets;
  assert.ok(market !== undefined);
  const path = `/prices-history?market=${polymarketTokenIds(market)[0]}`;
  const nowSeconds = Math.floor(NOW / 1_000);
  const range = `&startTs=${nowSeconds - 3_600}&endTs=${nowSeconds}&fidelity=10`;
  const byRange = await get(clob, `${path}${range}`);
  const byBoth = await get(clob, `${path}${range}&interval=1d`);
  assert.deepEqual(byBoth.body, byRange.body);
  assert.equal(Object(byBoth.body).history.length, 6);
  const full: { t: number }[] = Object((await get(clob, `${path}&interval=max`)).body).history;
  assert.ok(full.length > 60 && full.length <= 4_300, `${full.length} points`);
  assert.ok(full.every((point, position) => position === 0 || point.t > (full[position - 1]?.t ?? 0)));
});

test("400: rejects price history without a market or range, or with a fidelity below the interval's minimum", async () => {
  const [market] = activeMarkets;
  assert.ok(market !== undefined);
  for (const query of ["", "&endTs=1", "&interval=2y", "&interval=1w&fidelity=1", "&interval=1m&fidelity=9"]) {
    const { status } = await get(clob, `/prices-history?market=${polymarketTokenIds(market)[0]}${query}`);
    assert.equal(status, 400, query);
  }
  assert.equal((await get(clob, "/prices-history?interval=1d")).status, 400);
});
