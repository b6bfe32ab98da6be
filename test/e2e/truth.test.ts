import assert from "node:assert/strict";
import { after, before, test } from "node:test";
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
