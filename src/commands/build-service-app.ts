import { createPgBossQueues } from "../adapters/jobs/pg-boss-queues.ts";
import { createLanguageModel } from "../adapters/language-model/language-model.ts";
import { createMessageQueue } from "../adapters/network/message-queue.ts";
import { createOfflineHttp } from "../adapters/network/offline-http.ts";
import { createSocketIoClient } from "../adapters/network/socket-io-client.ts";
import { createUndiciHttp } from "../adapters/network/undici-http.ts";
import { createWebhookHttp } from "../adapters/network/webhook-http.ts";
import { createCheckWebhookUrl } from "../adapters/network/webhook-url.ts";
import { createWsSockets } from "../adapters/network/ws-socket.ts";
import { openStateThread } from "../adapters/system/state-thread.ts";
import { systemClock } from "../adapters/system/system-clock.ts";
import { systemRandom } from "../adapters/system/system-random.ts";
import { openWorkerPool } from "../adapters/system/worker-pool.ts";
import { type App, type AppPorts, buildApp } from "../app/index.ts";
import { findInvalidChecksum } from "../capabilities/accounts/payments/index.ts";
import type { Config } from "../config/config.ts";
import type { NodeSettings } from "../ingest/index.ts";
import { buildResearch } from "./build-research.ts";
import { ingestSettings } from "./ingest-settings.ts";
import { loadVenues } from "./load-venues.ts";
import type { SandboxUrls } from "./sandbox-process.ts";
import { loadSignUpSettings } from "./sign-up-settings.ts";
import { createIngestSpawner, type PreparedIngest } from "./spawn-ingest.ts";
import { StartupError } from "./startup-errors.ts";

/** Share of the open connections that event streams may use, so that other requests can still connect. */
const STREAM_SHARE = 0.75;

/** Functions that release resources, called in reverse order at shutdown. */
export type Closers = (() => Promise<unknown> | unknown)[];

/**
 * Builds the app with the real network adapters and the configured venues. Adds the closing functions of the opened
 * resources to `closers`.
 */
export async function buildServiceApp(
  config: Config,
  dependencies: Pick<
    AppPorts,
    "database" | "bus" | "journal" | "sharedLimits" | "log" | "version" | "demoKey" | "secretBox" | "startTimeline"
  > & {
    readonly sandboxUrls: SandboxUrls;
    /** The thread that reads the venues; null if this thread reads them. */
    readonly preparedIngest: PreparedIngest | null;
  },
  closers: Closers,
): Promise<App> {
  const { sandboxUrls, preparedIngest, ...ports } = dependencies;
  // The embedded store is locked by this process, so there are no other nodes.
  const node = config.databaseUrl === null && !config.isReadOnly ? undefined : createNodeSettings(config);
  const { log } = ports;
  const http = config.isReadOnly ? createOfflineHttp() : createUndiciHttp(systemClock);
  closers.push(() => http.close());
  const messageQueue = createMessageQueue(systemClock);
  // Only a sandbox that other machines cannot reach may send webhooks to its own machine.
  const allowsLoopback = config.mode === "sandbox" && !config.sandbox.isPublic;
  const webhookOut = createWebhookHttp(systemClock, { allowsLoopback, hostRate: config.webhookHostRate });
  closers.push(() => webhookOut.close());
  await assertAddressChecksums(config);
  const openPool: AppPorts["openWorkerPool"] = (module) => openWorkerPool(module, systemClock);
  const { research } = config;
  const languageModel = research === null ? null : createLanguageModel(research.model);
  return buildApp({
    clock: systemClock,
    random: systemRandom,
    openWorkerPool: openPool,
    openStateThread: (module, options) => openStateThread(module, options, systemClock),
    ...ports,
    jobs: createPgBossQueues({ ...ports, clock: systemClock }),
    data: config.mode,
    publicUrl: config.publicUrl,
    isReadOnly: config.isReadOnly,
    payments: config.payments === null || config.isReadOnly ? undefined : { ...config.payments, http },
    trustProxy: config.trustProxy,
    corsOrigins: config.corsOrigins,
    connections: config.connections,
    streams: { total: Math.floor(STREAM_SHARE * config.connections.total) },
    marketplaceSecrets: config.marketplaceSecrets,
    ...ingestSettings(config),
    webhookOut,
    checkWebhookUrl: createCheckWebhookUrl({ allowsLoopback }),
    analyses: {
      concurrency: config.analysisConcurrency,
      researchRunner:
        languageModel === null || research === null
          ? null
          : buildResearch(
              research,
              languageModel,
              { clock: systemClock, random: systemRandom, log, http, openWorkerPool: openPool },
              closers,
            ),
    },
    matchJudge:
      languageModel === null || research === null || research.matchBudgetUsd === 0
        ? null
        : { model: languageModel, dailyBudgetUsd: research.matchBudgetUsd },
    ...(await loadSignUpSettings(config, { http, log, closers })),
    auditDays: config.auditDays,
    quotaRetryAfter: config.quotaRetryAfter,
    node,
    spawnIngest:
      preparedIngest === null
        ? undefined
        : createIngestSpawner(config, { ...ports, sandboxUrls, node, prepared: preparedIngest }),
    metrics: config.metrics === null ? null : { hasOwnPort: config.metrics.port !== null, token: config.metrics.token },
    venues: await loadVenues(config, sandboxUrls, {
      http,
      sockets: createWsSockets(systemClock, messageQueue),
      socketIo: createSocketIoClient(systemClock, messageQueue),
      clock: systemClock,
      random: systemRandom,
      log,
    }),
  });
}

const createNodeSettings = ({ roles, isReadOnly }: Config): NodeSettings => ({
  id: `${process.pid}-${Buffer.from(systemRandom.bytes(9)).toString("base64url")}`,
  serves: isReadOnly || roles.has("api"),
  ingests: !isReadOnly && roles.has("ingest"),
  maintains: !isReadOnly && roles.has("worker"),
});

async function assertAddressChecksums({ payments }: Config): Promise<void> {
  const invalidAddress = payments === null ? null : await findInvalidChecksum(payments.asset);
  if (invalidAddress !== null)
    throw new StartupError(
      `${invalidAddress.setting}: ${invalidAddress.address} has an invalid checksum; copy it again with its upper and lower case`,
    );
}
