import { MessageChannel, type MessagePort } from "node:worker_threads";
import { serveBus } from "../adapters/bus/port-bus.ts";
import { serveDatabase } from "../adapters/database/port-database.ts";
import { serveLog } from "../adapters/system/port-log.ts";
import { startSmallHeapWorker } from "../adapters/system/small-heap-worker.ts";
import type { Config } from "../config/config.ts";
import type { IngestThread, NodeSettings } from "../ingest/index.ts";
import type { Bus } from "../ports/bus.ts";
import type { Database } from "../ports/database.ts";
import type { Log } from "../ports/log.ts";
import { type IngestSettings, ingestSettings } from "./ingest-settings.ts";
import type { VenueConfig } from "./load-venues.ts";
import type { SandboxUrls } from "./sandbox-process.ts";

/** The first message that `ingest-thread.ts` receives, on the port that is its `workerData`. */
export interface IngestThreadData {
  readonly config: VenueConfig & Pick<Config, "databaseUrl" | "logLevel">;
  readonly settings: IngestSettings;
  readonly sandboxUrls: SandboxUrls;
  readonly node: NodeSettings | undefined;
  /** Prefix of the ids under which the threads that this one replaces held their leases; null if there are none. */
  readonly previousNodeIds: string | null;
  /** Serves the embedded store; unused with a database server. */
  readonly storePort: MessagePort;
  readonly busPort: MessagePort;
  readonly logPort: MessagePort;
}

/** A thread that loads its modules and waits for its data. */
export type PreparedIngest = ReturnType<typeof prepareIngest>;

/** Starts a thread that will read the venues. It loads its modules while this thread opens the store. */
export function prepareIngest() {
  const { port1: dataPort, port2: workerData } = new MessageChannel();
  const worker = startSmallHeapWorker(new URL("./ingest-thread.ts", import.meta.url), {
    workerData,
    transferList: [workerData],
  });
  const ended = Promise.withResolvers<unknown>();
  let failure: unknown = null;
  worker.on("error", (error) => {
    failure = error;
  });
  worker.on("exit", (code) => ended.resolve(failure ?? new Error(`The ingest thread ended with code ${code}.`)));
  return {
    begin(data: IngestThreadData): IngestThread {
      dataPort.postMessage(data, [data.storePort, data.busPort, data.logPort]);
      dataPort.close();
      return { port: worker, ended: ended.promise, terminate };
    },
    terminate,
  };

  async function terminate(): Promise<void> {
    await worker.terminate();
  }
}

/** Returns a function that starts the thread that reads the venues (`ingest-thread.ts`). */
export function createIngestSpawner(
  config: Config,
  options: {
    readonly sandboxUrls: SandboxUrls;
    readonly node: NodeSettings | undefined;
    /** The embedded store, which the thread uses; with a database server, the thread has connections of its own. */
    readonly database: Database;
    readonly bus: Bus;
    readonly log: Log;
    /** The first thread. */
    readonly prepared: PreparedIngest;
  },
): () => IngestThread {
  // Some of the other settings cannot be sent to another thread.
  const { venues, venueKeys, venueUrls, venueMembers, sandbox, databaseUrl, logLevel } = config;
  const { sandboxUrls, node, database, bus, log, prepared } = options;
  let generation = 0;
  return () => {
    const storeChannel = new MessageChannel();
    const busChannel = new MessageChannel();
    const logChannel = new MessageChannel();
    serveDatabase(storeChannel.port1, database);
    serveBus(busChannel.port1, bus);
    serveLog(logChannel.port1, log);
    const data: IngestThreadData = {
      config: { venues, venueKeys, venueUrls, venueMembers, sandbox, databaseUrl, logLevel },
      settings: ingestSettings(config),
      sandboxUrls,
      // Each thread has leases of its own, so that the store rejects late writes of the previous thread.
      node: node === undefined ? undefined : { ...node, id: `${node.id}-${generation}` },
      previousNodeIds: node === undefined || generation === 0 ? null : `${node.id}-`,
      storePort: storeChannel.port2,
      busPort: busChannel.port2,
      logPort: logChannel.port2,
    };
    generation += 1;
    return (generation === 1 ? prepared : prepareIngest()).begin(data);
  };
}
