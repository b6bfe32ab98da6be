import { hash } from "node:crypto";
import { existsSync } from "node:fs";
import { hostname } from "node:os";
import { join, resolve } from "node:path";
import { STORE_FOLDER } from "../adapters/database/embedded-database.ts";
import { type AppliedMigration, findVersionFault, migrateDatabase } from "../adapters/database/migrations.ts";
import { ensureStoreIdentity } from "../adapters/database/store-identity.ts";
import { identifyStoreInstance, recordStoreInstance } from "../adapters/database/store-location.ts";
import { lockJournalDir } from "../adapters/metering/journal-dir.ts";
import { openQuotaJournal } from "../adapters/metering/quota-journal-file.ts";
import { createMemoryQuotaJournal } from "../adapters/metering/quota-journal-memory.ts";
import { listenOnOperatorSocket } from "../adapters/network/operator-socket.ts";
import { ensurePrivateDir } from "../adapters/system/private-dir.ts";
import { systemClock } from "../adapters/system/system-clock.ts";
import { systemRandom } from "../adapters/system/system-random.ts";
import type { App } from "../app/index.ts";
import { type DemoKeys, ensureDemoKeys } from "../capabilities/accounts/keys/index.ts";
import { LIMIT_WINDOW_MS } from "../capabilities/accounts/metering/index.ts";
import { cancelWaitingDeliveries } from "../capabilities/events/webhooks/index.ts";
import { type Config, hasAllVenueUrls } from "../config/config.ts";
import { startEpoch } from "../event-log/index.ts";
import { drain } from "../http/lifecycle.ts";
import type { Database } from "../ports/database.ts";
import type { Log } from "../ports/log.ts";
import { renderBanner, renderRolesBanner } from "./banner.ts";
import { buildServiceApp, type Closers } from "./build-service-app.ts";
import { assertPortsFree, metricsHost } from "./check-ports.ts";
import { createCommandHandler } from "./command-handler.ts";
import { openSecretBox } from "./open-secret-box.ts";
import { openBus, openDatabase } from "./open-store.ts";
import { type SandboxProcess, spawnSandbox } from "./sandbox-process.ts";
import { prepareIngest } from "./spawn-ingest.ts";
import type { BeginStep } from "./startup/progress.ts";
import { createStartTimeline, finishStart } from "./startup/timeline.ts";
import { describeListenError, StartupError } from "./startup-errors.ts";

/**
 * Time limit for open requests at shutdown. Together with the grace period, the last e-mails and the ingest thread (4 s), it
 * must stay below the 10 s of `onSignal`.
 */
const DRAIN_TIMEOUT_MS = 3_000;
/** Start timeout of the simulated venues; 500,000 markets need about 10 s. */
const SANDBOX_START_TIMEOUT_MS = 60_000;
/** Start timeout of a replay, because the sandbox reads the whole recording before it listens. */
const REPLAY_START_TIMEOUT_MS = 120_000;

/** Starts the configured service: store, simulated venues, HTTP server, ingest. */
export async function startService(options: {
  config: Config;
  log: Log;
  version: string;
  /** Receives a sentence at the start of each step that takes seconds. */
  onProgress: BeginStep;
}) {
  const { config, log, version, onProgress } = options;
  const timeline = createStartTimeline(systemClock);
  timeline.end("imports");
  const closers: Closers = [];
  const closeAll = async () => {
    for (const close of closers.reverse()) await close();
  };
  try {
    await assertPortsFree(config);
    onProgress(describeStoreStep(config));
    await ensurePrivateDir(config.dataDir, log);
    const isSandbox = config.mode === "sandbox";
    const { isReadOnly } = config;
    // Spawned before the store opens: loading the sandbox takes about as long.
    const sandbox = isSandbox && !isReadOnly && !hasAllVenueUrls(config) ? startSimulatedVenues(config, log) : null;
    if (sandbox !== null) closers.push(() => sandbox.close());
    const preparedIngest = needsIngestThread(config) ? prepareIngest() : null;
    closers.push(() => preparedIngest?.terminate());
    const database = await openDatabase(config, log);
    closers.push(() => database.close());
    timeline.end("store");
    if (isReadOnly) await assertMigrated(database);
    else logMigrations(await migrateDatabase(database), log);
    timeline.end("migrations");
    const identity = await ensureStoreIdentity(database, {
      data: config.mode,
      seed: isSandbox ? await readWorldSeed(config) : null,
      genesisAt: isSandbox ? systemClock.now() : null,
    });
    if (!isReadOnly) await continueStore(config, database, log);
    const secretBox = await openSecretBox(config, database);
    if (sandbox !== null) onProgress("Starting the simulated venues");
    const sandboxUrls = (await sandbox?.begin(identity.genesisAt ?? systemClock.now())) ?? {};
    if (sandbox !== null) timeline.end("venues");
    const keys = isSandbox && !isReadOnly ? await openDemoKeys(config, database) : null;
    onProgress("Loading the stored markets");

    const bus = await openBus(config, log);
    closers.push(() => bus.close());
    const journalDir = isReadOnly ? null : lockJournalDir(config.dataDir);
    closers.push(() => journalDir?.release());
    const sharedLimits = config.redisUrl === null || isReadOnly ? null : await openSharedLimits(config.redisUrl);
    closers.push(() => sharedLimits?.close());
    const journal = journalDir === null ? createMemoryQuotaJournal() : openQuotaJournal(journalDir.path);
    const app = await buildServiceApp(
      config,
      // The enterprise demo key, because a sandbox does not reach its limits.
      {
        database,
        bus,
        journal,
        sharedLimits,
        secretBox,
        log,
        version,
        demoKey: keys?.enterprise ?? null,
        sandboxUrls,
        preparedIngest,
        startTimeline: timeline.ends,
      },
      closers,
    );
    // Stops the ingest thread if a later step of the start fails. After a normal stop it does nothing.
    closers.push(() => (app.ingest.thread === null ? undefined : app.ingest.stop()));
    if (!isReadOnly) await app.metering.start();
    timeline.end("app");
    const restoredMarkets = await app.ingest.restore();
    timeline.end("restore");
    if (restoredMarkets > 0) log.info({ markets: restoredMarkets }, "markets restored from the store");
    // On a database server, several processes may share the data directory, and each has a journal directory of its
    // own.
    const socketDir = config.databaseUrl === null ? config.dataDir : journalDir?.path;
    if (socketDir !== undefined) closers.push(await listenOnOperatorSocket(socketDir, createCommandHandler(app), log));
    await listenForMetrics(app, config, closers, log);
    const url = await app.http.listen({ host: config.host, port: config.port }).catch((error: unknown) => {
      throw new StartupError(describeListenError(config, error));
    });
    timeline.end("listen");
    app.start();
    const { ready } = finishStart({
      clock: systemClock,
      log,
      timeline,
      hasMarkets: restoredMarkets > 0,
      isSwept: () => app.ingest.isSettled,
      isMatched: () => app.matching === null || (app.matching.isComplete && app.matching.report.pendingCount === 0),
      markReady: () => app.http.lifecycle.markReady(),
    });
    return {
      /** Resolves with the number of markets when the service is ready. */
      ready: ready.then(() => app.board.size),
      venues: () => app.ingest.health(),
      /** URLs, demo keys and an example request. */
      banner: config.roles.has("api")
        ? renderBanner({ url, data: config.mode, keys, sandboxUrl: sandboxUrls.control?.rest ?? null })
        : renderRolesBanner({ url, data: config.mode, roles: [...config.roles] }),
      /**
       * Finishes open requests, writes queued data to the store and releases all resources.
       *
       * @param graceMs  time to serve requests first, with `Connection: close`, so that load balancers stop routing and
       *   clients do not reuse a closing connection
       */
      async close(graceMs: number): Promise<void> {
        log.info({}, "shutting down");
        await drain(app.http, { clock: systemClock, deadlineMs: DRAIN_TIMEOUT_MS, graceMs });
        await app.stop();
        await closeAll();
        log.info({}, "stopped");
      },
    };
  } catch (error) {
    await closeAll();
    throw error;
  }
}

/** Only a process that both answers requests and reads venues needs a separate thread for the venues. */
const needsIngestThread = ({ hasIngestThread, isReadOnly, roles }: Config): boolean =>
  hasIngestThread && !isReadOnly && roles.has("api") && roles.has("ingest");

function describeStoreStep({ databaseUrl, dataDir }: Config): string {
  if (databaseUrl !== null) return "Opening the database";
  return existsSync(join(dataDir, STORE_FOLDER))
    ? `Opening the store in ${dataDir}`
    : `Creating the store in ${dataDir} (first start only)`;
}

function logMigrations(applied: readonly AppliedMigration[], log: Log): void {
  const [first] = applied;
  if (first === undefined) return;
  const ms = applied.reduce((sum, migration) => sum + migration.ms, 0);
  const count = `${applied.length} ${applied.length === 1 ? "migration" : "migrations"}`;
  log.info({ first: first.name, last: applied.at(-1)?.name, ms }, `${count} applied`);
}

/** @throws StartupError if the tables are not those of this version, because a read-only start does not migrate them */
async function assertMigrated(database: Database): Promise<void> {
  const fault = await findVersionFault(database);
  if (fault !== null)
    throw new StartupError(
      `The tables of the store are ${fault === "missing" ? "missing" : `of ${fault === "older" ? "an older" : "a newer"} version`}, and a read-only start does not change them: check the backup with the version that wrote it.`,
    );
}

/** Starts the ids of events above all ids that were ever sent, and handles a restore from a backup. */
async function continueStore(
  { dataDir, databaseUrl, isRestored }: Config,
  database: Database,
  log: Log,
): Promise<void> {
  const lastId = await startEpoch(database, systemClock.now());
  const location = await identifyStoreInstance(database, databaseUrl === null ? dataDir : null);
  await recordStoreInstance(database, location, {
    isRestored,
    async onRestored(transaction) {
      const canceled = await cancelWaitingDeliveries(transaction, lastId);
      log.warn(
        { event_ids_above: lastId, canceled_retries: canceled },
        "the store was restored from a backup or copied: webhook deliveries that waited are canceled, and event ids continue above all that were sent",
      );
    },
  });
}

function startSimulatedVenues({ sandbox }: Config, log: Log): SandboxProcess {
  const isReplay = sandbox.recording !== null;
  return spawnSandbox(log, {
    timeoutMs: isReplay ? REPLAY_START_TIMEOUT_MS : SANDBOX_START_TIMEOUT_MS,
    // A recording may be of any size.
    markets: isReplay ? Number.POSITIVE_INFINITY : sandbox.markets,
  });
}

/** Identifies a simulated world: its seed, or the fingerprint of the replayed recording. */
async function readWorldSeed({ sandbox }: Config): Promise<number> {
  if (sandbox.recording === null) return sandbox.seed;
  const { recordingFingerprint } = await import("../recording/index.ts");
  return recordingFingerprint(sandbox.recording);
}

async function openSharedLimits(url: string) {
  const { openRedisLimitLog } = await import("../adapters/metering/redis-limit-log.ts");
  return openRedisLimitLog({ url, windowMs: LIMIT_WINDOW_MS });
}

/**
 * On a shared database the key names contain a hash of host and directory, because every machine creates its own keys.
 */
function openDemoKeys({ dataDir, databaseUrl }: Config, database: Database): Promise<DemoKeys> {
  const machineHash = hash("sha256", `${hostname()} ${resolve(dataDir)}`, "hex").slice(0, 8);
  return ensureDemoKeys(database, dataDir, {
    random: systemRandom,
    clock: systemClock,
    name: databaseUrl === null ? undefined : `demo ${machineHash}`,
  });
}

async function listenForMetrics({ metricsHttp }: App, config: Config, closers: Closers, log: Log): Promise<void> {
  if (metricsHttp === null) return;
  const address = { host: metricsHost(config), port: config.metrics?.port ?? 0 };
  closers.push(() => metricsHttp.close());
  const url = await metricsHttp.listen(address).catch((error: unknown) => {
    throw new StartupError(describeListenError(address, error, "PARALLAX_METRICS_PORT"));
  });
  log.info({ url: `${url}/metrics` }, "metrics server started");
}
