import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { isDeepStrictEqual } from "node:util";
import type { RunningSandbox } from "../../sandbox/main.ts";
import {
  eventually,
  everyMarket,
  type ServiceProcess,
  startServiceProcess,
  temporaryFolder,
} from "../support/service-process.ts";
import { testSandbox, venueSettings } from "../support/venues/sandbox.ts";

/**
 * Maximum time from the venue reading a book to the arrival of the response headers, which sets `updated_at` of a
 * polled quote. A streamed quote has the venue's timestamp and needs no tolerance.
 */
const BOOK_AGE_MS_MAX = 1_000;

let sandbox: RunningSandbox;
let folder: { path: string; release(): Promise<void> };
let service: ServiceProcess;

before(async () => {
  sandbox = await testSandbox({ marketCount: 150, enforceLimits: true });
  folder = await temporaryFolder();
  service = await startServiceProcess({ dataDir: folder.path, env: venueSettings(sandbox) });
});
after(async () => {
  await service.end();
  await sandbox.close();
  await folder.release();
});

/** Fetches the simulated state of a market at a timestamp. */
async function fetchStateAt(venue: string, marketId: string, at: number) {
  const response = await fetch(
    `${sandbox.urls.control?.rest}/truth/${venue}?at=${at}&market_id=${encodeURIComponent(marketId)}`,
  );
  // biome-ignore lint/suspicious/noExplicitAny: untyped JSON of the sandbox
  const { markets } = (await response.json()) as { markets: any[] };
  return markets[0];
}

test("every served quote equals the sandbox's book at its `updated_at`, on every venue, streamed or polled", async () => {
  // After the streams have connected, the service serves both streamed and polled quotes.
  await eventually(async () => {
    const { venues } = (await service.get("/v1/health", {})).json.checks;
    return venues.polymarket.stream === "up" && venues.limitless.stream === "up" ? true : null;
  }, "the streams");
  const markets = await everyMarket(service);
  assert.ok(markets.length >= 150);
  const wrong: string[] = [];
  let exactCount = 0;
  for (const market of markets) {
    const at = Date.parse(market.updated_at);
    let isEqual = false;
    for (let back = 0; back <= BOOK_AGE_MS_MAX && !isEqual; back += back === 0 ? 1 : 25) {
      const expected = await fetchStateAt(market.platform, market.market_id, at - back);
      if (expected === undefined || expected.lifecycle.phase !== "active")
        isEqual = expected !== undefined && market.bid === undefined;
      else
        isEqual =
          (expected.book.bids[0]?.price ?? undefined) === market.bid &&
          (expected.book.asks[0]?.price ?? undefined) === market.ask;
      if (isEqual && back === 0) exactCount += 1;
    }
    if (!isEqual)
      wrong.push(`${market.platform}/${market.market_id} bid ${market.bid} ask ${market.ask} at ${market.updated_at}`);
  }
  assert.deepEqual(wrong, []);
  assert.ok(exactCount >= markets.length * 0.9, `${exactCount} of ${markets.length} are equal at exactly updated_at`);
});

test("every level of a served order book equals the sandbox's book at its `updated_at`, on every venue", async () => {
  const markets = await everyMarket(service);
  const wrong: string[] = [];
  const exactCounts = new Map<string, number>();
  const counts = new Map<string, number>();
  for (const { platform, market_id } of markets) {
    if ((counts.get(platform) ?? 0) >= 25) continue;
    const path = `/v1/markets/${platform}/${encodeURIComponent(market_id)}/orderbook?depth=200`;
    const { json: book } = await service.get(path);
    if (book.book_type === "amm") continue;
    counts.set(platform, (counts.get(platform) ?? 0) + 1);
    const at = Date.parse(book.updated_at);
    let isEqual = false;
    for (let back = 0; back <= BOOK_AGE_MS_MAX && !isEqual; back += back === 0 ? 1 : 25) {
      const expected = await fetchStateAt(platform, market_id, at - back);
      const sides = expected?.lifecycle.phase === "active" ? expected.book : { bids: [], asks: [] };
      isEqual = isDeepStrictEqual([book.bids, book.asks], [sides.bids, sides.asks]);
      if (isEqual && back === 0) exactCounts.set(platform, (exactCounts.get(platform) ?? 0) + 1);
    }
    if (!isEqual) wrong.push(`${platform}/${market_id} at ${book.updated_at}`);
  }
  assert.deepEqual(wrong, []);
  for (const [platform, count] of counts) {
    const exactCount = exactCounts.get(platform) ?? 0;
    assert.ok(
      count >= 20 && exactCount >= count * 0.8,
      `${platform}: ${exactCount} of ${count} are equal at updated_at`,
    );
  }
});

test("the trades of a market continue in pages without gaps, and show what the taker paid", async () => {
  const markets = await everyMarket(service);
  for (const venue of new Set(markets.map(({ platform }) => platform))) {
    const market = markets.find(({ platform, volume_24h }) => platform === venue && (volume_24h ?? 0) > 0);
    assert.ok(market !== undefined);
    const path = `/v1/markets/${venue}/${encodeURIComponent(market.market_id)}/trades`;
    const { json: trades } = await service.get(`${path}?limit=500`);
    const first = await service.get(`${path}?limit=20`);
    const link = /^<([^>]+)>/.exec(first.headers.get("link") ?? "")?.[1];
    const pages = [...first.json, ...(link === undefined ? [] : (await service.get(link)).json)];
    const ids = (list: readonly { trade_id: string }[]) => list.map(({ trade_id }) => trade_id);
    const start = ids(trades).indexOf(ids(pages)[0] ?? "");
    assert.deepEqual(ids(pages), ids(trades).slice(Math.max(start, 0), Math.max(start, 0) + pages.length));
    for (const { side, yes_price, size, size_usd } of trades) {
      const paid = (side === "no" ? 1 - yes_price : yes_price) * size;
      assert.ok(side === null ? size_usd === null : Math.abs(size_usd - paid) < 1e-6);
    }
  }
});
