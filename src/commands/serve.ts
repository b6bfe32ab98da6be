import { type ChildProcess, spawn } from "node:child_process";
import { hash } from "node:crypto";
import { mkdir, readFile } from "node:fs/promises";
import { hostname } from "node:os";
import { resolve } from "node:path";
import { createInterface } from "node:readline";
import { createInProcessBus } from "../adapters/bus/in-process-bus.ts";
import { createAbsentDatabase } from "../adapters/database/absent-database.ts";
import { openEmbeddedDatabase } from "../adapters/database/embedded-database.ts";
import { migrateDatabase } from "../adapters/database/migrations.ts";
import { openPostgresDatabase } from "../adapters/database/postgres-database.ts";
import { ensureStoreIdentity } from "../adapters/database/store-identity.ts";
import { lockJournalDir } from "../adapters/metering/journal-dir.ts";
import { openQuotaJournal } from "../adapters/metering/quota-journal-file.ts";
import { createMemoryQuotaJournal } from "../adapters/metering/quota-journal-memory.ts";
import { openRedisLimitLog } from "../adapters/metering/redis-limit-log.ts";
import { listenOnOperatorSocket } from "../adapters/network/operator-socket.ts";
import { createSocketIoClient } from "../adapters/network/socket-io-client.ts";
import { createUndiciHttp } from "../adapters/network/undici-http.ts";
import { createWsSockets } from "../adapters/network/ws-socket.ts";
import { createPinoLog } from "../adapters/system/pino-log.ts";
import { lowerProcessPriority } from "../adapters/system/process-priority.ts";
import { systemClock } from "../adapters/system/system-clock.ts";
import { systemRandom } from "../adapters/system/system-random.ts";
import { type App, type AppPorts, buildApp } from "../app.ts";
import { ensureDemoKeys } from "../capabilities/keys/index.ts";
import { LIMIT_WINDOW_MS } from "../capabilities/metering/index.ts";
import { findMisspeltAddress } from "../capabilities/payments/index.ts";
import { type Config, hasAllVenueUrls } from "../config/config.ts";
import { drain } from "../http/lifecycle.ts";
import type { NodeSettings } from "../ingest/index.ts";
import type { Log } from "../ports/log.ts";
import { recordingFingerprint } from "../recording/index.ts";
import { loadVenue, type VenueSetting } from "../venues/registry.ts";
import { answerOperator } from "./customers/run.ts";
import { openBus } from "./open-bus.ts";
import { loadSignUpSettings } from "./sign-up-settings.ts";
import { databaseError, listenError, StartupError } from "./startup-errors.ts";

const READY_WAIT_MS = 8_000;
/** With a board from the store there is something true to show at once; a first sweep is waited for only this long. */
const READY_WAIT_RESTORED_MS = 1_500;
const READY_CHECK_MS = 20;
/** With the grace before it and the last letters after it, well below what the program is given to end. */
const DRAIN_MS = 3_000;
/** A busy machine, or a world of half a million markets, takes some ten seconds; a program that hangs is not waited for. */
const SANDBOX_START_MS = 60_000;
/** A recording is read whole before its first byte is served. */
const REPLAY_START_MS = 120_000;

/** Where processors are scarce the simulated venues give way to the service: they stand for somebody else's machines. */
const SANDBOX_NICENESS = 10;

/**
 * Room for new objects in the simulated venues' process, taken as it is needed. A page of a listing is some ten megabytes
 * of them, gone once it is sent: with the room that Node gives, too many are copied, for a fifth of the processor time.
 */
const SANDBOX_NURSERY = ["--max-semi-space-size=128", "--semi-space-growth-factor=4"];

/** Milliseconds since the process began, for the log of the start. */
const sinceStart = () => Math.round(systemClock.monotonic());

export interface RunningService {
  readonly url: string;
  /** What a person sees first: where it is, with which keys, and one call to try. */
  readonly banner: string;
  /**
   * Finishes what is under way, stores what is queued and ends.
   *
   * @param options.graceMs  how long to go on answering first, each time with `Connection: close`, so that balancers
   *   look away and no client's next request meets a connection that is just being closed; none by default
   */
  close(options?: { readonly graceMs?: number }): Promise<void>;
}

type SandboxUrls = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** Starts the service as configured: store, simulated venues where wanted, HTTP, ingest. */
export async function startService(options: { config: Config; log: Log; version: string }): Promise<RunningService> {
  const { config, log, version } = options;
  const closers: (() => Promise<unknown> | unknown)[] = [];
  const closeAll = async () => {
    for (const close of closers.reverse()) await close();
  };
  try {
    await mkdir(config.dataDir, { recursive: true, mode: 0o700 });
    const isSandbox = config.mode === "sandbox";
    // Begun before the store is open: loading its program takes as long as opening the store.
    const startMs = config.sandbox.recording === null ? SANDBOX_START_MS : REPLAY_START_MS;
    const sandbox = isSandbox && !hasAllVenueUrls(config) ? spawnSandbox(log, startMs) : null;
    if (sandbox !== null) closers.push(() => sandbox.close());
    const database =
      config.databaseUrl === null
        ? await openEmbeddedDatabase({ dataDir: config.dataDir, reserveBytes: config.diskReserveMib * 2 ** 20, log })
        : await openPostgresDatabase({ url: config.databaseUrl, log }).catch((error: unknown) => {
            throw new StartupError(databaseError(config.databaseUrl ?? "", error));
          });
    closers.push(() => database.close());
    await migrateDatabase(database);
    const claim = await ensureStoreIdentity(database, {
      data: config.mode,
      seed: isSandbox ? await worldSeed(config) : null,
      genesisAt: isSandbox ? systemClock.now() : null,
    });
    log.info({ ms: sinceStart() }, "store is open");
    const sandboxUrls = (await sandbox?.begin(claim.genesisAt ?? systemClock.now())) ?? {};
    if (sandbox !== null) log.info({ ms: sinceStart() }, "simulated venues are up");
    const keys = isSandbox
      ? await ensureDemoKeys(database, config.dataDir, {
          ...{ random: systemRandom, clock: systemClock },
          ...(config.databaseUrl === null ? {} : { name: `demo ${placeOf(config.dataDir)}` }),
        })
      : null;

    const bus = openBus(config, log);
    closers.push(() => bus.close());
    const place = lockJournalDir(config.dataDir);
    closers.push(() => place.release());
    const sharedLimits =
      config.redisUrl === null ? null : openRedisLimitLog({ url: config.redisUrl, windowMs: LIMIT_WINDOW_MS });
    closers.push(() => sharedLimits?.close());
    const journal = openQuotaJournal(place.path);
    const parts = { database, bus, journal, sharedLimits, log, version, sandboxUrls };
    const app = await buildServiceApp(config, parts, closers);
    await app.metering.start();
    const restored = await app.ingest.restore();
    if (restored > 0) log.info({ markets: restored }, "markets restored from the store");
    if (config.databaseUrl === null) {
      const answer = (request: unknown) => answerOperator(request, app.customers);
      closers.push(await listenOnOperatorSocket(config.dataDir, answer, log));
    }
    const { metricsHttp } = app;
    if (metricsHttp !== null) {
      const address = { host: config.host, port: config.metrics?.port ?? 0 };
      closers.push(() => metricsHttp.close());
      const metricsUrl = await metricsHttp.listen(address).catch((error: unknown) => {
        throw new StartupError(listenError(address, error, "PARALLAX_METRICS_PORT"));
      });
      log.info({ url: `${metricsUrl}/metrics` }, "metrics are served");
    }
    const url = await app.http.listen({ host: config.host, port: config.port }).catch((error: unknown) => {
      throw new StartupError(listenError(config, error));
    });
    app.start();
    void becomeReady(app, restored > 0 ? READY_WAIT_RESTORED_MS : READY_WAIT_MS, log);
    return {
      url,
      banner: banner({ url, data: config.mode, keys, sandboxUrl: sandboxUrls.control?.rest ?? null }),
      async close({ graceMs = 0 } = {}) {
        log.info({}, "shutting down");
        await drain(app.http, { clock: systemClock, deadlineMs: DRAIN_MS, graceMs });
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

/** The interface description that this configuration serves, without starting anything. */
export async function describeInterface(config: Config): Promise<unknown> {
  const log = createPinoLog("error");
  const closers: (() => Promise<unknown> | unknown)[] = [];
  const database = createAbsentDatabase();
  const parts = { bus: createInProcessBus(log), journal: createMemoryQuotaJournal(), sharedLimits: null };
  const app = await buildServiceApp(config, { ...parts, database, log, version: "", sandboxUrls: {} }, closers);
  await app.http.ready();
  const reply = await app.http.inject("/openapi.json");
  await app.http.close();
  for (const close of closers) await close();
  return reply.json();
}

async function buildServiceApp(
  config: Config,
  parts: Pick<AppPorts, "database" | "bus" | "journal" | "sharedLimits" | "log" | "version"> & {
    readonly sandboxUrls: SandboxUrls;
  },
  closers: (() => Promise<unknown> | unknown)[],
): Promise<App> {
  const { sandboxUrls, ...ports } = parts;
  const { log } = ports;
  const http = createUndiciHttp(systemClock);
  closers.push(() => http.close());
  const sockets = createWsSockets(systemClock);
  const socketIo = createSocketIoClient(systemClock);
  const venueKeys = new Map(
    await Promise.all(
      Object.entries(config.venueKeys).map(
        async ([adapter, { keyId, privateKeyFile }]) =>
          [adapter, { keyId, privateKeyPem: await readFile(privateKeyFile, "utf8") }] as const,
      ),
    ),
  );
  const misspelt = config.payments === null ? null : await findMisspeltAddress(config.payments.asset);
  if (misspelt !== null)
    throw new StartupError(`${misspelt.setting}: ${misspelt.address} is misspelt: its capital letters do not fit it`);
  const urlsOf = ({ adapter }: VenueSetting) => ({ ...sandboxUrls[adapter], ...config.venueUrls[adapter] });
  /** Never towards an address that the operator has given: it may be a real venue's. */
  const areLimitsLifted = ({ adapter }: VenueSetting) =>
    !config.sandbox.limits &&
    sandboxUrls[adapter] !== undefined &&
    Object.keys(config.venueUrls[adapter] ?? {}).length === 0;
  return buildApp({
    clock: systemClock,
    random: systemRandom,
    ...ports,
    data: config.mode,
    publicUrl: config.publicUrl,
    ...(config.payments === null ? {} : { payments: { ...config.payments, http } }),
    trustProxy: config.trustProxy,
    marketplaceSecrets: config.marketplaceSecrets,
    eventDays: config.eventDays,
    ...(await loadSignUpSettings(config, { http, log, closers })),
    auditDays: config.auditDays,
    retention: {
      tickDays: config.rawTickDays,
      tradeDays: config.tradeDays,
      fiveMinuteBarDays: config.fiveMinuteBarDays,
      settledMarketDays: config.settledMarketDays,
    },
    // The embedded store is locked by this process: nobody shares it.
    ...(config.databaseUrl === null ? {} : { node: nodeOf(config.roles) }),
    metrics: config.metrics === null ? null : { hasOwnPort: config.metrics.port !== null, token: config.metrics.token },
    venues: await Promise.all(
      config.venues.map(async (setting) => {
        const createVenue = await loadVenue(setting);
        return {
          id: setting.id,
          referenceOnly: setting.referenceOnly,
          create: (drop, drift) =>
            createVenue(
              {
                ...{ http, sockets, socketIo, clock: systemClock, random: systemRandom, log, drop, drift },
                areLimitsLifted: areLimitsLifted(setting),
              },
              urlsOf(setting),
              venueKeys.get(setting.adapter) ?? null,
            ),
        };
      }),
    ),
  });
}

const nodeOf = (roles: Config["roles"]): NodeSettings => ({
  id: `${process.pid}-${Buffer.from(systemRandom.bytes(9)).toString("base64url")}`,
  serves: roles.has("api"),
  ingests: roles.has("ingest"),
  maintains: roles.has("worker"),
});

/** Tells this machine's folder from others, in few characters and without showing either. */
const placeOf = (dataDir: string) => hash("sha256", `${hostname()} ${resolve(dataDir)}`, "hex").slice(0, 8);

/** Ready once every venue's first sweep has ended, well or badly; a venue that does not answer holds up nobody for long. */
async function becomeReady(app: App, waitMs: number, log: Log): Promise<void> {
  const startedAt = systemClock.monotonic();
  while (!app.ingest.isSettled && systemClock.monotonic() - startedAt < waitMs) await systemClock.sleep(READY_CHECK_MS);
  app.http.lifecycle.markReady();
  log.info({ ms: sinceStart(), markets: app.board.size }, "ready");
}

interface SandboxChild {
  /** Tells when the simulated world began; resolves with the base URLs once the venues listen. */
  begin(genesis: number): Promise<SandboxUrls>;
  close(): Promise<void>;
}

/** What tells one sandbox world from another: its seed, or the recording that it replays. */
function worldSeed({ sandbox }: Config): Promise<number> | number {
  return sandbox.recording === null ? sandbox.seed : recordingFingerprint(sandbox.recording);
}

/** The simulated venues as a process of their own, on free ports; it ends with this one, however this one ends. */
function spawnSandbox(log: Log, startMs: number): SandboxChild {
  const program = new URL("../../bin/parallax.mjs", import.meta.url).pathname;
  const child = spawn(process.execPath, [...SANDBOX_NURSERY, program, "sandbox", "--with-parent"], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  if (child.pid !== undefined) lowerProcessPriority(child.pid, SANDBOX_NICENESS);
  const urls = firstLine(child);
  // Whoever waits for it sees the failure; before that, while the store opens, it must not end the process.
  urls.catch(() => {});
  let isClosing = false;
  child.on("exit", (code) => {
    if (!isClosing) log.error({ code }, "the simulated venues ended; their last prices stay, with their true age");
  });
  return {
    async begin(genesis) {
      child.stdin?.write(`${genesis}\n`);
      // Counted from here: the venues wait for this line, and a store that opens slowly is not their delay.
      const timeout = new AbortController();
      const late = systemClock.sleep(startMs, timeout.signal).then(
        () =>
          Promise.reject(new StartupError("The simulated venues did not start in time: is the machine out of memory?")),
        () => "",
      );
      return JSON.parse(await Promise.race([urls, late]).finally(() => timeout.abort()));
    },
    async close() {
      isClosing = true;
      const ended = new Promise((resolve) => child.once("exit", resolve));
      child.stdin?.end();
      if (child.exitCode === null && child.signalCode === null) await ended;
    },
  };
}

function firstLine(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    const { stdout } = child;
    if (stdout === null) return reject(new StartupError("The simulated venues have no output."));
    child.once("exit", (code) => reject(new StartupError(`The simulated venues ended at once (exit code ${code}).`)));
    createInterface({ input: stdout }).once("line", (line) => {
      stdout.resume();
      resolve(line);
    });
  });
}

function banner(facts: {
  url: string;
  data: "sandbox" | "live";
  keys: { free: string; pro: string; enterprise: string } | null;
  sandboxUrl: string | null;
}): string {
  const { url, data, keys, sandboxUrl } = facts;
  const lines = [
    "",
    `  Parallax  ${url}   (${data === "sandbox" ? "simulated data" : "live data"})`,
    `  Docs      ${url}/docs`,
    `  Account   ${url}/account`,
    ...(sandboxUrl === null ? [] : [`  Venues    ${sandboxUrl}   (simulated, on this machine)`]),
    ...(keys === null
      ? []
      : [
          "",
          `  Demo keys  free        ${keys.free}`,
          `             pro         ${keys.pro}`,
          `             enterprise  ${keys.enterprise}`,
          "",
          `  Try: curl -H "Authorization: Bearer ${keys.enterprise}" "${url}/v1/markets?limit=3"`,
        ]),
    "",
  ];
  return `${lines.join("\n")}\n`;
}
