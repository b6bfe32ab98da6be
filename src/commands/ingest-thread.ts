import { once } from "node:events";
import { type MessagePort, parentPort, workerData } from "node:worker_threads";
import { openPortBus } from "../adapters/bus/port-bus.ts";
import { openPortDatabase } from "../adapters/database/port-database.ts";
import { createMessageQueue } from "../adapters/network/message-queue.ts";
import { createSocketIoClient } from "../adapters/network/socket-io-client.ts";
import { createUndiciHttp } from "../adapters/network/undici-http.ts";
import { createWsSockets } from "../adapters/network/ws-socket.ts";
import { openPortLog } from "../adapters/system/port-log.ts";
import { lowerThreadPriority } from "../adapters/system/process-priority.ts";
import { systemClock } from "../adapters/system/system-clock.ts";
import { systemRandom } from "../adapters/system/system-random.ts";
import { buildLocalPipeline } from "../app/pipeline.ts";
import { createLeaseStore, serveIngest } from "../ingest/index.ts";
import type { Database } from "../ports/database.ts";
import { loadVenues } from "./load-venues.ts";
import type { IngestThreadData } from "./spawn-ingest.ts";

// The thread that reads the venues, so that no request waits for the parsing of their data.

/** Processing time of messages per iteration of the event loop. This thread answers no requests, so it can be long. */
const SLICE_MS_MAX = 10;

lowerThreadPriority();

if (parentPort === null) throw new Error("This file runs as a worker thread only.");
// `workerData` is untyped; only `spawn-ingest.ts` starts this file.
const [data] = await once(workerData as MessagePort, "message");
const { config, settings, sandboxUrls, node, previousNodeIds, storePort, busPort, logPort } = data as IngestThreadData;
const log = openPortLog(logPort, config.logLevel);
const database = await openDatabase();
const bus = openPortBus(busPort, log);
const http = createUndiciHttp(systemClock);
const ports = {
  clock: systemClock,
  random: systemRandom,
  log,
};
const messageQueue = createMessageQueue(systemClock, { sliceMsMax: SLICE_MS_MAX });
const venues = await loadVenues(config, sandboxUrls, {
  ...ports,
  http,
  sockets: createWsSockets(systemClock, messageQueue),
  socketIo: createSocketIoClient(systemClock, messageQueue),
});
const { board, ingest, alerts } = buildLocalPipeline(
  { ...ports, ...settings, database, bus, node, venues },
  { isServedElsewhere: true },
);
if (previousNodeIds !== null) await createLeaseStore(database).releaseAll(previousNodeIds);
await serveIngest({ port: parentPort, board, ingest, clock: systemClock, observer: alerts });
process.exit(0);

async function openDatabase(): Promise<Database> {
  const { databaseUrl } = config;
  if (databaseUrl === null) return openPortDatabase(storePort);
  const { openPostgresDatabase } = await import("../adapters/database/postgres-database.ts");
  return openPostgresDatabase({ url: databaseUrl, log });
}
