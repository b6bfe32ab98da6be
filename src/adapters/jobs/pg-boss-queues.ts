import type { PgBoss } from "pg-boss";
import { AppError } from "../../domain/errors.ts";
import type { Bus } from "../../ports/bus.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Database } from "../../ports/database.ts";
import type { Job, JobQueue, JobQueues } from "../../ports/job-queue.ts";
import type { Log } from "../../ports/log.ts";
import { createBossStore, createTransactionStore } from "./pg-boss-store.ts";

/** Time without renewal after which other workers may fetch a job. This is the minimum that pg-boss accepts. */
const HEARTBEAT_SECONDS = 10;
/** Maximum time from fetching a job to its end. */
const RUN_SECONDS_MAX = 3_600;
/** Time after which a job that no worker has fetched is deleted. */
const WAIT_SECONDS_MAX = 86_400;
const ENDED_JOB_SECONDS = 600;
/** Practically unlimited: callers limit the attempts, because only they know why an attempt failed. */
const RETRIES_MAX = 1_000;
const SCHEMA_OF_PUBLIC = "parallax_jobs";
const INSUFFICIENT_PRIVILEGE = "42501";

/** A clock whose timers never fire. Callers run pg-boss's periodic work with `reclaim`, on the service's clock. */
function createTimerlessClock(clock: Pick<Clock, "now">) {
  const none = () => null;
  return { now: () => clock.now(), setTimeout: none, clearTimeout: none, setInterval: none, clearInterval: none };
}

/**
 * Job queues of pg-boss in the store, embedded or on a server, in a separate schema. The schema
 * is created at the first use. An administrator can create it beforehand if the database user lacks that privilege.
 */
export function createPgBossQueues(ports: {
  readonly database: Database;
  readonly bus: Bus;
  readonly clock: Pick<Clock, "now">;
  readonly log: Log;
}): JobQueues {
  const { database, bus, clock, log } = ports;
  let isClosed = false;
  let hasLoggedRefusal = false;

  /** Logs a missing privilege once, with its fix. Clients must not see these details. */
  const describeRefusal = (schema: string, error: unknown): unknown => {
    if ((error as { readonly code?: unknown }).code !== INSUFFICIENT_PRIVILEGE) return error;
    if (!hasLoggedRefusal)
      log.error(
        { schema, err: error },
        `the job queue cannot start: the database user may not create the schema ${schema} and its tables. Grant the user CREATE on the database, or run as an administrator: create schema ${schema} authorization <user>`,
      );
    hasLoggedRefusal = true;
    return new AppError("store_unavailable", "The job queue is not available at the moment.", { cause: error });
  };

  const start = async (): Promise<PgBoss> => {
    const [row] = await database.query<{ schema: string; exists: boolean }>(
      `select name as schema, exists (select from pg_namespace where nspname = name)
       from (
         select case current_schema() when 'public' then '${SCHEMA_OF_PUBLIC}' else current_schema() || '_jobs' end as name
       ) as wanted`,
    );
    const { schema = SCHEMA_OF_PUBLIC, exists = false } = row ?? {};
    const pgBoss = await import("pg-boss");
    const boss = new pgBoss.PgBoss({
      db: createBossStore(database),
      schema,
      // "create schema if not exists" requires the privilege to create schemas even if this one exists.
      createSchema: !exists,
      clock: createTimerlessClock(clock),
      supervise: false,
      schedule: false,
      registerInstance: false,
      openTelemetry: { enabled: false },
      monitorIntervalSeconds: 1,
      maintenanceIntervalSeconds: ENDED_JOB_SECONDS,
    });
    // Without a listener an error event would end the process.
    boss.on("error", (error: unknown) => log.warn({ err: error }, "the job queue could not use the store"));
    await boss.start().catch((error: unknown) => {
      throw describeRefusal(schema, error);
    });
    return boss;
  };
  const started = createLazily(start);
  const requireBoss = async (): Promise<PgBoss> => {
    if (isClosed) throw new AppError("draining", "The service is shutting down");
    return started.get();
  };

  return {
    open: (name) => openQueue(name, { bus, requireBoss }),
    async close() {
      isClosed = true;
      const boss = await started.current()?.catch(() => null);
      await boss?.stop({ graceful: false, close: false });
    },
  };
}

/** Creates a value at the first use, and again at the next use after a failure. */
function createLazily<Value>(create: () => Promise<Value>) {
  let created: Promise<Value> | null = null;
  return {
    current: () => created,
    get(): Promise<Value> {
      if (created === null) {
        created = create();
        created.catch(() => {
          created = null;
        });
      }
      return created;
    },
  };
}

const toAttempt = ({ id, attempt }: Job) => ({ id, retryCount: attempt });

function openQueue(
  name: string,
  { bus, requireBoss }: { readonly bus: Bus; readonly requireBoss: () => Promise<PgBoss> },
): JobQueue {
  const topic = `jobs.${name}`;
  const { get: requireQueue } = createLazily(async () => {
    const boss = await requireBoss();
    await boss.createQueue(name, {
      heartbeatSeconds: HEARTBEAT_SECONDS,
      expireInSeconds: RUN_SECONDS_MAX,
      retentionSeconds: WAIT_SECONDS_MAX,
      deleteAfterSeconds: ENDED_JOB_SECONDS,
      retryLimit: RETRIES_MAX,
      retryDelay: 1,
    });
    return boss;
  });
  return {
    prepare: async () => void (await requireQueue()),
    async enqueue(transaction, { data, priority }) {
      await (await requireQueue()).send(name, data, { priority, db: createTransactionStore(transaction) });
    },
    announce: () => bus.publish(topic),
    onAnnounced: (wake) => bus.subscribe(topic, () => wake()),
    async fetch(countMax) {
      const jobs = await (await requireQueue()).fetch<unknown>(name, { batchSize: countMax, includeMetadata: true });
      return jobs.map(({ id, retryCount, data }) => ({ id, attempt: retryCount, data }));
    },
    async renew(jobs) {
      if (jobs.length > 0) await (await requireQueue()).touch(name, jobs.map(toAttempt));
    },
    async complete(transaction, job) {
      await (await requireQueue()).complete(name, toAttempt(job), undefined, {
        db: createTransactionStore(transaction),
      });
    },
    async giveBack(job) {
      await (await requireQueue()).fail(name, toAttempt(job));
    },
    async reclaim() {
      await (await requireQueue()).supervise(name);
    },
  };
}
