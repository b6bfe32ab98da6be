import assert from "node:assert/strict";
import { after, before, type TestContext, test } from "node:test";
import type { RunningSandbox } from "../../sandbox/main.ts";
import { createInProcessBus } from "../../src/adapters/bus/in-process-bus.ts";
import type { BoardMarket } from "../../src/board/index.ts";
import { createEventLog, type EventType } from "../../src/event-log/index.ts";
import { DAY_MS } from "../../src/lib/durations.ts";
import type { Database } from "../../src/ports/database.ts";
import { hourlySigma, shiftSigmas } from "../../src/quant/alerts/price-shift.ts";
import { readHourlyCloses } from "../../src/storage/index.ts";
import { embeddedDatabase } from "../support/databases.ts";
import { ScriptedPairs } from "../support/markets/arbitrage-api.ts";
import { quietLog } from "../support/quiet-log.ts";
import { eventually } from "../support/service-process.ts";
import { testSandbox } from "../support/venues/sandbox.ts";
import { buildSandboxApp } from "../support/venues/sandbox-app.ts";

const VENUES = ["kalshi", "polymarket", "limitless"] as const;
const MARKETS_PER_VENUE = 5;
/** Planted move of a price, and its minimum size in standard deviations. The detector needs 5. */
const MOVE = 0.2;
const SIGMAS_MIN = 6;
/** Generous, because the machine may be ten times slower. A test ends after 120 seconds. */
const WAIT_MS_MAX = 100_000;
/** Pause between two selections, each of which reads the history of all markets. */
const SELECT_EVERY_MS = 2_000;

let sandbox: RunningSandbox;
let service: Awaited<ReturnType<typeof buildSandboxApp>>;
let database: Database;
let markets: readonly BoardMarket[];

/** Selects the most traded markets of each venue that have a stored history and in which the planted move is large. */
async function selectMarkets(): Promise<BoardMarket[] | null> {
  const open = [...service.app.board.markets()].filter(
    ({ listing, yesPrice, storeKey }) =>
      listing.status === "active" && storeKey !== null && yesPrice !== null && yesPrice > 0.2 && yesPrice < 0.6,
  );
  const range = { fromMs: Date.now() - 7 * DAY_MS, toMs: Date.now() - 3_600_000 };
  const closes = await readHourlyCloses(
    database,
    open.flatMap(({ storeKey }) => storeKey ?? []),
    range,
  );
  const ready = open
    .filter(({ storeKey, yesPrice }) => {
      const sigma = hourlySigma(closes.get(storeKey ?? -1) ?? [], 48, 24);
      return sigma !== null && yesPrice !== null && shiftSigmas(yesPrice, yesPrice + MOVE, sigma, 0.04) >= SIGMAS_MIN;
    })
    .sort((a, b) => (b.activity.volume24hUsd ?? 0) - (a.activity.volume24hUsd ?? 0));
  const selected = VENUES.flatMap((venue) =>
    ready.filter(({ listing }) => listing.venue === venue).slice(0, MARKETS_PER_VENUE),
  );
  return selected.length === VENUES.length * MARKETS_PER_VENUE ? selected : null;
}

before(async () => {
  // At real speed, so that the simulated prices hardly move by themselves.
  sandbox = await testSandbox({ marketCount: 200, speed: 1 });
  database = await embeddedDatabase();
  service = await buildSandboxApp({ sandbox, database, areLimitsLifted: true, matchedPairs: new ScriptedPairs() });
  await service.app.metering.start();
  await service.app.http.ready();
  service.app.start();
  markets = await eventually(selectMarkets, "markets with a history", WAIT_MS_MAX, SELECT_EVERY_MS);
});
after(async () => {
  await service.close();
  await sandbox.close();
});

/** Parts of a split order, and the share of the 24-hour volume that each has. The detector needs a tenth. */
const PARTS = 4;
const SHARE_OF_PART = 0.04;
/** Markets with these 24-hour volumes, USD: the parts together are above 1,000, and each part is below 5,000. */
const SPLIT_VOLUMES = { min: 8_000, max: 100_000 };

async function plant(kind: "shift" | "trade", { listing }: BoardMarket, body: Record<string, unknown>) {
  const init = {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ market_id: listing.marketId, ...body }),
  };
  const response = await fetch(`${sandbox.urls.control?.rest}/plants/${listing.venue}/${kind}`, init);
  assert.equal(response.status, 200, await response.text());
}

const openLog = () => createEventLog({ database, bus: createInProcessBus(quietLog) });
const lastEventId = async () => (await openLog().readAfter(0, { limit: 1_000 })).events.at(-1)?.id ?? 0;

/**
 * Waits until each of the markets has an event of the type after the event `since`, and reports the delays. Returns the
 * payloads by market.
 */
async function awaitEvents(context: TestContext, type: EventType, since: number, expected = markets) {
  const log = openLog();
  const plantedAt = performance.now();
  const found = new Map<string, { readonly payload: Readonly<Record<string, unknown>>; count: number }>();
  const delays = new Map<string, number>();
  const read = async () => {
    const { events } = await log.readAfter(since, { limit: 1_000, filter: { types: [type] } });
    found.clear();
    for (const { venue, marketId, payload } of events) {
      const key = `${venue}/${marketId}`;
      found.set(key, { payload, count: (found.get(key)?.count ?? 0) + 1 });
    }
    for (const key of found.keys()) if (!delays.has(key)) delays.set(key, performance.now() - plantedAt);
    return expected.every(({ listing }) => found.has(`${listing.venue}/${listing.marketId}`)) ? true : null;
  };
  await eventually(read, `the ${type} events (${type})`, WAIT_MS_MAX).catch((error: unknown) => {
    const missing = expected.filter(({ listing }) => !found.has(`${listing.venue}/${listing.marketId}`));
    throw new Error(`missing: ${missing.map(({ listing }) => `${listing.venue}/${listing.marketId}`).join(", ")}`, {
      cause: error,
    });
  });
  for (const venue of VENUES) {
    const ofVenue = expected
      .filter(({ listing }) => listing.venue === venue)
      .map(({ listing: { marketId } }) => Math.round(delays.get(`${venue}/${marketId}`) ?? Number.NaN));
    if (ofVenue.length > 0)
      context.diagnostic(`${venue}: ${type} after ${ofVenue.sort((a, b) => a - b).join(", ")} ms`);
  }
  return found;
}

test("every planted price shift is logged once", async (context) => {
  const since = await lastEventId();
  await Promise.all(markets.map((market) => plant("shift", market, { move: MOVE })));
  const found = await awaitEvents(context, "price_shift", since);
  for (const { listing } of markets) {
    const { payload, count } = found.get(`${listing.venue}/${listing.marketId}`) ?? {};
    assert.equal(count, 1);
    assert.ok(Number(payload?.new_yes) - Number(payload?.old_yes) > 0.05, JSON.stringify(payload));
    assert.ok(Number(payload?.z_score) >= 5);
  }
});

test("every planted whale is logged once", async (context) => {
  const since = await lastEventId();
  await Promise.all(markets.map((market) => plant("trade", market, { side: "yes", usd: 200_000 })));
  const found = await awaitEvents(context, "whale_alert", since);
  for (const { listing } of markets) {
    const { payload, count } = found.get(`${listing.venue}/${listing.marketId}`) ?? {};
    assert.equal(count, 1);
    assert.equal(payload?.side, "yes");
    assert.ok(Math.abs(Number(payload?.flow) - 200_000) < 2_000, JSON.stringify(payload));
  }
});

test("an order that one taker splits into small trades is logged once, on the venues that name takers", async (context) => {
  const used = new Set(markets.map(({ row }) => row));
  const split = (["polymarket", "limitless"] as const).flatMap((venue) =>
    [...service.app.board.markets()]
      .filter(({ listing, row, yesPrice, activity: { volume24hUsd } }) => {
        const isSmall = volume24hUsd !== null && volume24hUsd >= SPLIT_VOLUMES.min && volume24hUsd <= SPLIT_VOLUMES.max;
        return listing.venue === venue && listing.status === "active" && yesPrice !== null && isSmall && !used.has(row);
      })
      .slice(0, MARKETS_PER_VENUE),
  );
  assert.ok(split.length > MARKETS_PER_VENUE, "markets of both venues");
  const partOf = ({ activity }: BoardMarket) => Math.round(SHARE_OF_PART * (activity.volume24hUsd ?? 0));
  const since = await lastEventId();
  await Promise.all(
    split.map(async (market) => {
      for (let part = 0; part < PARTS; part++)
        await plant("trade", market, { side: "yes", usd: partOf(market), taker: 1_000_000 + market.row });
    }),
  );
  const found = await awaitEvents(context, "whale_alert", since, split);
  for (const market of split) {
    const { payload, count } = found.get(`${market.listing.venue}/${market.listing.marketId}`) ?? {};
    assert.equal(count, 1);
    assert.ok(Number(payload?.flow) > 2.4 * partOf(market), JSON.stringify(payload));
  }
});
