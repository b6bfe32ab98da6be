import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { FastifyInstance } from "fastify";
import { activeMarkets, get, startHost } from "../../../test/support/sandbox/polymarket-server.ts";
import type { ListedMarket } from "../../world/types.ts";
import { polymarketConditionId } from "./index.ts";

let data: FastifyInstance;
before(async () => {
  data = await startHost("data");
});
after(() => data.close());

function busiestMarket(): ListedMarket {
  const [market] = activeMarkets;
  assert.ok(market !== undefined);
  return market;
}

test("cursor pages of /v2/trades contain the same rows as one large page, newest first", async () => {
  const path = `/v2/trades?condition=${polymarketConditionId(busiestMarket())}`;
  interface Page {
    readonly data: readonly { readonly timestamp: number }[];
    readonly pagination: { readonly next_cursor: string | null };
  }
  const largePage: Page = (await get(data, `${path}&limit=100`)).body;
  const rows: { timestamp: number }[] = [];
  let cursor: string | null = "";
  while (cursor !== null && rows.length < largePage.data.length) {
    const page: Page = (await get(data, `${path}&limit=7${cursor === "" ? "" : `&cursor=${cursor}`}`)).body;
    rows.push(...page.data);
    cursor = page.pagination.next_cursor;
  }
  assert.ok(largePage.data.length > 20);
  assert.deepEqual(rows.slice(0, largePage.data.length), largePage.data);
  assert.ok(rows.every((row, index) => row.timestamp <= (rows[index - 1]?.timestamp ?? row.timestamp)));
});

test("400: /v2/trades rejects an offset, a limit over 1,000 and a forged cursor; /trades rejects an offset over 10,000", async () => {
  const condition = polymarketConditionId(busiestMarket());
  for (const query of ["offset=5", "limit=1001", "cursor=bm9wZQ"]) {
    assert.equal((await get(data, `/v2/trades?condition=${condition}&${query}`)).status, 400, query);
  }
  assert.equal((await get(data, `/trades?market=${condition}&offset=10001`)).status, 400);
});

test("a trade that takes several levels is one row with the average price", async () => {
  const url = `/v2/trades?condition=${polymarketConditionId(busiestMarket())}&limit=200`;
  const { data: rows }: { data: { price: number }[] } = (await get(data, url)).body;
  const averages = rows.filter(({ price }) => Math.abs(price / 0.001 - Math.round(price / 0.001)) > 1e-6);
  assert.ok(averages.length > 5 && averages.length < rows.length / 2, `${averages.length} of ${rows.length}`);
  assert.ok(rows.every(({ price }) => price === Number(price.toFixed(10))));
});

test("takerOnly=false returns both sides of every match at the same YES price", async () => {
  const url = `/trades?market=${polymarketConditionId(busiestMarket())}&limit=50&takerOnly=false`;
  const rows: { transactionHash: string; price: number; outcomeIndex: number }[] = (await get(data, url)).body;
  const match = rows.filter((row) => row.transactionHash === rows[0]?.transactionHash);
  assert.equal(match.length % 2, 0);
  const yesPrices = match.map((row) => Math.round((row.outcomeIndex === 0 ? row.price : 1 - row.price) * 1e6));
  assert.equal(new Set(yesPrices).size, 1);
});

test("/trades filters by wallet", async () => {
  const [latest]: { proxyWallet: string }[] = (await get(data, "/trades?limit=1")).body;
  const rows: { proxyWallet: string }[] = (await get(data, `/trades?user=${latest?.proxyWallet}&takerOnly=false`)).body;
  assert.ok(rows.length > 0 && rows.every((row) => row.proxyWallet === latest?.proxyWallet));
});

test("/v2/resolutions requires exactly one kind of id and returns an empty list for unknown ids", async () => {
  assert.equal((await get(data, "/v2/resolutions")).status, 400);
  assert.equal((await get(data, "/v2/resolutions?condition=0x1&event_id=2")).status, 400);
  assert.deepEqual((await get(data, `/v2/resolutions?condition=0x${"1".repeat(64)}`)).body, { data: [] });
});
