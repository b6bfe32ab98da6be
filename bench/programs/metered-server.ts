/**
 * Child process: three servers of one market, with the embedded store in the directory in argv. `metered` is the
 * production service. `shared` is the same with minute limits in Redis (if TEST_REDIS_URL is set). `open` serves the
 * same route without authentication, limits and quota. Prints the URLs, a key and the market's path as one JSON line.
 */
import { randomUUID } from "node:crypto";
import { openEmbeddedDatabase } from "../../src/adapters/database/embedded-database.ts";
import { migrateDatabase } from "../../src/adapters/database/migrations.ts";
import { lockJournalDir } from "../../src/adapters/metering/journal-dir.ts";
import { openQuotaJournal } from "../../src/adapters/metering/quota-journal-file.ts";
import { openRedisLimitLog } from "../../src/adapters/metering/redis-limit-log.ts";
import { systemClock } from "../../src/adapters/system/system-clock.ts";
import { systemRandom } from "../../src/adapters/system/system-random.ts";
import { buildApp } from "../../src/app/index.ts";
import { ensureDemoKeys } from "../../src/capabilities/accounts/keys/index.ts";
import { LIMIT_WINDOW_MS } from "../../src/capabilities/accounts/metering/index.ts";
import { createMarketsService, marketRoutes } from "../../src/capabilities/markets/market-data/index.ts";
import { METERING } from "../../src/domain/metering.ts";
import { createHttpServer } from "../../src/http/server.ts";
import { plainAppPorts } from "../../test/support/app-ports.ts";
import { sampleMarket } from "../../test/support/markets/market-samples.ts";
import { NO_MATCHES } from "../../test/support/matching/no-matches.ts";
import { quietLog } from "../../test/support/quiet-log.ts";
import { liftLimits } from "../../test/support/venues/lifted-limits.ts";
import { ScriptedVenue } from "../../test/support/venues/scripted-venue.ts";

const LISTEN_ON_FREE_PORT = { host: "127.0.0.1", port: 0 };
const MARKET_ID = "one";

const [dataDir = ""] = process.argv.slice(2);
const redisUrl = process.env.TEST_REDIS_URL ?? "";
const database = await openEmbeddedDatabase({ dataDir: dataDir, log: quietLog });
await migrateDatabase(database);
const keys = await ensureDemoKeys(database, dataDir, { random: systemRandom, clock: systemClock });
await liftLimits(database);

async function openMeteredApp(hasRedis: boolean) {
  const sharedLimits = hasRedis
    ? openRedisLimitLog({ url: redisUrl, windowMs: LIMIT_WINDOW_MS, prefix: `bench:${randomUUID()}:` })
    : null;
  const app = await buildApp(
    plainAppPorts({
      database,
      log: quietLog,
      sharedLimits,
      journal: openQuotaJournal(lockJournalDir(dataDir).path),
      venues: [
        { id: "alpha", referenceOnly: false, playMoney: false, create: () => new ScriptedVenue("alpha", systemClock) },
      ],
    }),
  );
  await app.metering.start();
  app.board.apply(sampleMarket(MARKET_ID), Date.now());
  return app;
}

const meteredApp = await openMeteredApp(false);
const sharedLimitsApp = redisUrl === "" ? null : await openMeteredApp(true);

const openServer = await createHttpServer({
  clock: systemClock,
  log: quietLog,
  random: systemRandom,
  data: "sandbox",
  authentication: { authenticate: () => null },
});
openServer.addHook("onRoute", (route) => {
  route.config = { ...route.config, access: "public", metering: METERING.FREE };
});
const { board } = meteredApp;
marketRoutes(openServer, {
  board,
  publicUrl: null,
  now: () => systemClock.now(),
  venues: { trading: ["alpha"], all: ["alpha"] },
  readAnalysis: async () => null,
  service: createMarketsService({
    board,
    clock: systemClock,
    venues: ["alpha"],
    pastPrices: meteredApp.ingest.pastPrices,
    fetchMarket: async () => false,
    readTrend: async () => ({ volumeUsd: null, volumeBeforeUsd: null, spread: null, spreadBefore: null }),
    books: meteredApp.ingest.books,
    trades: meteredApp.ingest.trades,
    detailsOf: (listing) => meteredApp.ingest.detailsOf(listing),
    matches: NO_MATCHES,
    estimateOf: () => null,
  }),
});
const urls = {
  metered: await meteredApp.http.listen(LISTEN_ON_FREE_PORT),
  shared: sharedLimitsApp === null ? null : await sharedLimitsApp.http.listen(LISTEN_ON_FREE_PORT),
  open: await openServer.listen(LISTEN_ON_FREE_PORT),
};
process.on("SIGINT", () => process.exit(0));
process.stdout.write(`${JSON.stringify({ urls, key: keys.enterprise, path: `/v1/markets/alpha/${MARKET_ID}` })}\n`);
