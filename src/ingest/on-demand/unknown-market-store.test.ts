import assert from "node:assert/strict";
import { eachDatabase } from "../../../test/support/databases.ts";
import { HOUR_MS } from "../../lib/durations.ts";
import { createUnknownMarketStore, UNKNOWN_MARKET_ROWS_MAX } from "./unknown-market-store.ts";

eachDatabase("one of several simultaneous claims of a market succeeds", async (database) => {
  const store = createUnknownMarketStore(database);
  const claims = await Promise.all(Array.from({ length: 5 }, () => store.claim("alpha", "m", HOUR_MS)));
  assert.deepEqual(claims.map(({ kind }) => kind).sort(), [...Array(4).fill("asked_elsewhere"), "claimed"]);
  assert.equal((await store.claim("beta", "m", HOUR_MS)).kind, "claimed");
});

eachDatabase("a claim ends when it is released, when the market is unknown, and after its time", async (database) => {
  const store = createUnknownMarketStore(database);
  await store.claim("alpha", "m", HOUR_MS);
  await store.release("alpha", "m");
  assert.equal((await store.claim("alpha", "m", 0)).kind, "claimed");
  assert.equal((await store.claim("alpha", "m", HOUR_MS)).kind, "claimed", "the claim before lasted 0 ms");
  await store.recordUnknown("alpha", "m", HOUR_MS);
  await store.release("alpha", "m");
  const claim = await store.claim("alpha", "m", HOUR_MS);
  assert.ok(claim.kind === "unknown" && claim.expiresInMs > 0 && claim.expiresInMs <= HOUR_MS);
  await store.recordUnknown("alpha", "m", 0);
  assert.equal((await store.claim("alpha", "m", HOUR_MS)).kind, "claimed");
});

eachDatabase("expired rows and the oldest rows above the limit are deleted", async (database) => {
  const store = createUnknownMarketStore(database);
  for (const marketId of ["a", "b", "c", "d"]) await store.recordUnknown("alpha", marketId, HOUR_MS);
  await store.recordUnknown("alpha", "expired", 0);
  const listIds = async () => {
    const rows = await database.query<{ market_id: string }>(
      "select market_id from unknown_markets order by market_id",
    );
    return rows.map(({ market_id }) => market_id);
  };
  await store.removeOld();
  assert.deepEqual(await listIds(), ["a", "b", "c", "d"]);
  await store.removeOld(2);
  assert.deepEqual(await listIds(), ["c", "d"]);
  assert.ok(UNKNOWN_MARKET_ROWS_MAX <= 50_000);
});
