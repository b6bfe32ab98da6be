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

test("400: /v2/trades rejects an offset, a limit over 1,000, an invalid cursor and a missing condition", async () => {
  const condition = `condition=${polymarketConditionId(busiestMarket())}`;
  for (const query of [`${condition}&offset=5`, `${condition}&limit=1001`, `${condition}&cursor=bm9wZQ`, "limit=5"]) {
    assert.equal((await get(data, `/v2/trades?${query}`)).status, 400, query);
  }
});

test("a trade that takes several levels is one row with the average price", async () => {
  const url = `/v2/trades?condition=${polymarketConditionId(busiestMarket())}&limit=200`;
  const { data: rows }: { data: { price: number }[] } = (await get(data, url)).body;
  const averages = rows.filter(({ price }) => Math.abs(price / 0.001 - Math.round(price / 0.001)) > 1e-6);
  assert.ok(averages.length > 5 && averages.length < rows.length / 2, `${averages.length} of ${rows.length}`);
  assert.ok(rows.every(({ price }) => price === Number(price.toFixed(10))));
});

test("/v2/resolutions requires condition ids and returns an empty list for unknown ids", async () => {
  assert.equal((await get(data, "/v2/resolutions")).status, 400);
  assert.equal((await get(data, "/v2/resolutions?condition=0x1")).status, 400);
  assert.deepEqual((await get(data, `/v2/resolutions?condition=0x${"1".repeat(64)}`)).body, { data: [] });
});
