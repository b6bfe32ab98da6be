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
 * A polled response gets the time at which its headers arrive. The venue read the book at most this much earlier. Streamed
 * quotes carry the venue's own timestamp and need no tolerance.
 */
const READ_TO_ARRIVAL_MS_MAX = 1_000;

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

/** The simulator's book of a market at a timestamp. */
async function truthAt(venue: string, marketId: string, at: number) {
  const reply = await fetch(
    `${sandbox.urls.control?.rest}/truth/${venue}?at=${at}&market_id=${encodeURIComponent(marketId)}`,
  );
  // biome-ignore lint/suspicious/noExplicitAny: the sandbox's own JSON
  const { markets } = (await reply.json()) as { markets: any[] };
  return markets[0];
}

test("every served price equals the sandbox's book at its updated_at, on every venue, streamed or polled", async () => {
  // Once the streams are up, the service serves both streamed and polled quotes.
  await eventually(async () => {
    const { venues } = (await service.get("/v1/health", {})).json.checks;
    return venues.polymarket.stream === "up" && venues.limitless.stream === "up" ? true : null;
  }, "the streams");
  const markets = await everyMarket(service);
  assert.ok(markets.length >= 150);
  const wrong: string[] = [];
  let exact = 0;
  for (const market of markets) {
    const at = Date.parse(market.updated_at);
    let isTrue = false;
    for (let back = 0; back <= READ_TO_ARRIVAL_MS_MAX && !isTrue; back += back === 0 ? 1 : 25) {
      const truth = await truthAt(market.platform, market.market_id, at - back);
      if (truth === undefined || truth.lifecycle.phase !== "active")
        isTrue = truth !== undefined && market.bid === undefined;
      else
        isTrue =
          (truth.book.bids[0]?.price ?? undefined) === market.bid &&
          (truth.book.asks[0]?.price ?? undefined) === market.ask;
      if (isTrue && back === 0) exact += 1;
    }
    if (!isTrue)
      wrong.push(`${market.platform}/${market.market_id} bid ${market.bid} ask ${market.ask} at ${market.updated_at}`);
  }
  assert.deepEqual(wrong, []);
  assert.ok(exact >= markets.length * 0.9, `${exact} of ${markets.length} are equal to the millisecond`);
});
