import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { FastifyInstance } from "fastify";
import { polymarketConditionId } from "./index.ts";
import { activeMarkets, get, serve } from "./test-server.ts";

const [busiestMarket] = activeMarkets;
assert.ok(busiestMarket !== undefined);
const condition = polymarketConditionId(busiestMarket);

let data: FastifyInstance;
before(async () => {
  data = await serve("data");
});
after(() => data.close());

test("cursor pages of /v2/trades contain the same rows as one large page, newest first", async () => {
  const path = `/v2/trades?condition=${condition}`;
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

test("400: trades and resolutions reject missing conditions, bad limits and malformed cursors", async () => {
  for (const path of [
    `/v2/trades?condition=${condition}&limit=1001`,
    `/v2/trades?condition=${condition}&cursor=bm9wZQ`,
    "/v2/trades",
    "/trades",
    "/v2/resolutions",
  ]) {
    assert.equal((await get(data, path)).status, 400, path);
  }
});

test("/trades and /v2/trades return the same trades", async () => {
  const v1: { transactionHash: string }[] = (await get(data, `/trades?market=${condition}&limit=50`)).body;
  const v2: { data: { transaction_hash: string }[] } = (await get(data, `/v2/trades?condition=${condition}&limit=50`))
    .body;
  assert.equal(v1.length, 50);
  assert.deepEqual(
    v1.map((row) => row.transactionHash),
    v2.data.map((row) => row.transaction_hash),
  );
});

test("unknown conditions have no resolutions", async () => {
  assert.deepEqual((await get(data, `/v2/resolutions?condition=0x${"1".repeat(64)}`)).body, { data: [] });
});
