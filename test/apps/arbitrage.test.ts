import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { RunningSandbox } from "../../sandbox/main.ts";
import { systemClock } from "../../src/adapters/system/system-clock.ts";
import { systemRandom } from "../../src/adapters/system/system-random.ts";
import { ensureDemoKeys } from "../../src/capabilities/accounts/keys/index.ts";
import { embeddedDatabase } from "../support/databases.ts";
import { ScriptedPairs } from "../support/markets/arbitrage-api.ts";
import { eventually, temporaryFolder } from "../support/service-process.ts";
import { testSandbox } from "../support/venues/sandbox.ts";
import { buildSandboxApp } from "../support/venues/sandbox-app.ts";
import { readTruePairs } from "../support/venues/true-pairs.ts";

let sandbox: RunningSandbox;
let service: Awaited<ReturnType<typeof buildSandboxApp>>;
let headers: Record<string, string>;
const pairs = new ScriptedPairs();

before(async () => {
  sandbox = await testSandbox({ marketCount: 200 });
  for (const pair of await readTruePairs(sandbox)) pairs.set(pair);
  const database = await embeddedDatabase();
  const folder = await temporaryFolder();
  const keys = await ensureDemoKeys(database, folder.path, { random: systemRandom, clock: systemClock });
  await folder.release();
  headers = { authorization: `Bearer ${keys.enterprise}` };
  service = await buildSandboxApp({ sandbox, database, areLimitsLifted: true, matchedPairs: pairs });
  await service.app.metering.start();
  await service.app.http.ready();
  service.app.start();
  service.app.http.lifecycle.markReady();
  await eventually(() => (service.app.ingest.isSettled ? true : null), "the first sweeps");
});
after(async () => {
  await service.close();
  await sandbox.close();
});

async function get(url: string) {
  const response = await service.app.http.inject({ url, headers });
  assert.equal(response.statusCode, 200, response.body);
  return response.json();
}

interface Leg {
  readonly platform: string;
  readonly market_id: string;
  readonly side: "yes" | "no";
  readonly book: string;
  readonly book_at: string;
  readonly contracts: number;
  readonly cost_usd: number;
  readonly fee_usd: number;
  readonly levels: readonly { readonly price: number; readonly size: number; readonly contracts: number }[];
}

test("every listed pair is the same question on two trading venues", async () => {
  const { opportunities } = await get("/v1/arbitrage?min_spread=0&limit=200");
  assert.ok(opportunities.length >= 20, `${opportunities.length} opportunities`);
  const known = new Set([...pairs.pairs()].map(({ a, b }) => `${a} ${b}`));
  for (const opportunity of opportunities) {
    const ids = ["kalshi", "limitless", "polymarket"].flatMap((venue) =>
      opportunity[venue] === undefined ? [] : `${venue}/${opportunity[venue].market_id}`,
    );
    assert.ok(known.has(ids.join(" ")), ids.join(" "));
    assert.ok(!("manifold" in opportunity), "play money");
  }
});

test("a live scan reads every book, returns the sandbox's price levels, and its capital and profit are the sums over its legs", async () => {
  const { opportunities, venues } = await get("/v1/arbitrage/live?min_spread=0&limit=200&expand=scoring");
  assert.ok(opportunities.length >= 20, `${opportunities.length} opportunities`);
  for (const venue of ["kalshi", "polymarket", "limitless"]) {
    assert.equal(venues[venue].status, "ok");
    assert.equal(venues[venue].books_failed, 0);
  }
  let checkedCount = 0;
  for (const { legs, executable_size_usd: capital, executable_profit_usd: profit } of opportunities) {
    const list = legs as readonly Leg[];
    assert.ok(list.every(({ book }) => book === "order_book"));
    const paid = list.reduce((sum, { cost_usd, fee_usd }) => sum + cost_usd + fee_usd, 0);
    // Two amounts of each leg and the result are each rounded to the nearest 1e-6.
    const roundingMax = (2 * list.length + 1) * 0.5e-6 + 1e-9;
    assert.ok(Math.abs(capital - paid) <= roundingMax, `${capital} is not ${paid}`);
    assert.ok(Math.abs(profit - ((list[0]?.contracts ?? 0) - paid)) <= roundingMax);
    for (const { levels, contracts, cost_usd } of list) {
      const sumOf = (value: (level: Leg["levels"][number]) => number) =>
        levels.reduce((sum, level) => sum + value(level), 0);
      assert.ok(Math.abs(sumOf((level) => level.contracts) - contracts) < 1e-6);
      assert.ok(Math.abs(sumOf((level) => level.contracts * level.price) - cost_usd) < 1e-6);
    }
    if (checkedCount >= 20) continue;
    for (const { platform, market_id, side, levels, book_at } of list) {
      const at = Date.parse(book_at);
      // A polled book was read up to a second before its response arrived.
      let isEqual = false;
      for (let back = 0; back <= 1_000 && !isEqual; back += 25) {
        const url = `${sandbox.urls.control?.rest}/truth/${platform}?at=${at - back}&market_id=${encodeURIComponent(market_id)}`;
        const [market] = ((await (await fetch(url)).json()) as { markets: { book: Record<string, Leg["levels"]> }[] })
          .markets;
        const offers = side === "yes" ? market?.book.asks : market?.book.bids;
        isEqual = levels.every(({ price, size }, index) => {
          const offer = offers?.[index];
          const offerPrice = side === "yes" ? offer?.price : 1 - (offer?.price ?? Number.NaN);
          return offer?.size === size && Math.abs((offerPrice ?? Number.NaN) - price) < 1e-9;
        });
      }
      assert.ok(isEqual, `${platform}/${market_id} ${side} at ${book_at}`);
    }
    checkedCount += 1;
  }
});

test("when one venue fails, its status is not ok, and pairs of the other venues are still returned and refreshed", async () => {
  const faults = `${sandbox.urls.control?.rest}/faults/limitless`;
  const response = await fetch(faults, {
    method: "PUT",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ server_error: 1 }),
  });
  assert.equal(response.status, 200, await response.text());
  const before = await get("/v1/arbitrage?min_spread=0&limit=200");
  const between = (item: object) => "kalshi" in item && "polymarket" in item;
  await eventually(async () => {
    const { venues } = await get("/v1/arbitrage");
    return venues.limitless.status === "ok" ? null : true;
  }, "the failure of the venue");
  const { opportunities } = await get("/v1/arbitrage/live?min_spread=0&limit=200");
  assert.ok(opportunities.filter(between).length >= before.opportunities.filter(between).length / 2);
  for (const item of opportunities.filter(between))
    assert.deepEqual([item.kalshi.refreshed, item.polymarket.refreshed], [true, true]);
});

test("the spread of an exclusive set or a ladder is its payout minus the best prices of its legs", async () => {
  for (const kind of ["exclusive_set", "ladder"]) {
    const { opportunities } = await get(`/v1/arbitrage?kind=${kind}&min_spread=0&expand=scoring`);
    for (const { legs, payout, spread } of opportunities) {
      const best = (legs as readonly Leg[]).reduce((sum, { levels }) => sum + (levels[0]?.price ?? Number.NaN), 0);
      assert.ok(Math.abs(payout - best - spread) < 1e-9);
    }
  }
});
