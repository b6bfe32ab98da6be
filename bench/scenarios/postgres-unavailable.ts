import { openPostgresDatabase } from "../../src/adapters/database/postgres-database.ts";
import { quietLog } from "../../test/support/quiet-log.ts";
import { eventually } from "../../test/support/service-process.ts";
import { startTcpProxy } from "../../test/support/tcp-proxy.ts";
import { ownDatabase } from "../harness/own-database.ts";
import { benchRow, type Scenario } from "../harness/scenario.ts";
import { openService } from "../harness/service.ts";

const OUTAGE_MS = 30_000;
const OUTAGE_MS_QUICK = 5_000;
/** Requests succeed this long after the cut: a key's owner is cached for a second, and a look-up may still be in flight. */
const CACHED_MS = 2_500;
const RECOVERY_MS_MAX = 3_000;
const POLL_MS = 50;

export const postgresUnavailableScenario: Scenario = {
  name: "postgres-unavailable",
  describe:
    "PostgreSQL refuses connections, then drops all packets, each for 30 s: the service reports the outage,\nreports no false success, keeps running and is ready within 3 s after recovery.",
  async run(options) {
    const ownedDatabase = await ownDatabase("unavailable");
    const proxy = await startTcpProxy({
      host: ownedDatabase.url.hostname,
      port: Number(ownedDatabase.url.port || 5432),
    });
    const direct = await openPostgresDatabase({ url: ownedDatabase.url.href, log: quietLog });
    const url = new URL(ownedDatabase.url);
    url.hostname = "127.0.0.1";
    url.port = String(proxy.port);
    try {
      const service = await openService({ DATABASE_URL: url.href });
      try {
        const outageMs = options.quick ? OUTAGE_MS_QUICK : OUTAGE_MS;
        const rows = [];
        for (const outage of ["refuse", "blackhole"] as const) {
          const before = await countTicks(direct);
          const responses = { cached: 0, unavailable: 0, timedOut: 0 };
          proxy[outage]();
          const cutAt = performance.now();
          const checkResponses = async () => {
            while (performance.now() - cutAt < outageMs) {
              const sentAt = performance.now();
              const remainingMs = outageMs - (sentAt - cutAt);
              const status = await statusOf(`${service.url}${service.marketPath}`, service.headers, remainingMs);
              if (status === null) responses.timedOut += 1;
              else if (status === 503) responses.unavailable += 1;
              else if (status === 200 && sentAt - cutAt < CACHED_MS) responses.cached += 1;
              else throw new Error(`${status} while the store was unavailable (${outage})`);
              await pause(POLL_MS);
            }
          };
          const readiness: number[] = [];
          const checkReadiness = async () => {
            while (performance.now() - cutAt < outageMs) {
              readiness.push((await statusOf(`${service.url}/readyz`, {}, outageMs)) ?? 0);
              await pause(POLL_MS);
            }
          };
          await Promise.all([checkResponses(), checkReadiness()]);
          if (readiness.at(-1) !== 503)
            throw new Error(`/readyz returned ${readiness.at(-1)} at the end of the outage (${outage})`);
          proxy.restore();
          const restoredAt = performance.now();
          await eventually(
            async () => ((await statusOf(`${service.url}/readyz`, {}, outageMs)) === 200 ? true : null),
            "readiness",
          );
          const readyMs = performance.now() - restoredAt;
          await eventually(async () => ((await countTicks(direct)) > before ? true : null), "new ticks in the store");
          process.kill(service.pid, 0);
          options.print(`${outage}: ready again after ${Math.round(readyMs)} ms`);
          rows.push(
            benchRow({
              figure: `ready again (${outage})`,
              unit: "ms",
              samples: [readyMs],
              target: { of: "worst", bound: "at_most", value: RECOVERY_MS_MAX },
              note: `unavailable for ${outageMs / 1_000} s: ${responses.unavailable} keyed requests got 503, ${responses.timedOut} timed out, ${responses.cached} got a cached response at first; ingest writes again`,
            }),
          );
        }
        return rows;
      } finally {
        await service.close();
      }
    } finally {
      await direct.close();
      await proxy.close();
      await ownedDatabase.drop();
    }
  },
};

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Status of a GET; null after a timeout. Throws other errors, because they mean that the process exited. */
async function statusOf(
  url: string,
  headers: Readonly<Record<string, string>>,
  withinMs: number,
): Promise<number | null> {
  try {
    const response = await fetch(url, { headers, signal: AbortSignal.timeout(Math.max(1, Math.round(withinMs))) });
    await response.arrayBuffer();
    return response.status;
  } catch (error) {
    if (error instanceof DOMException && error.name === "TimeoutError") return null;
    throw error;
  }
}

const countTicks = async (database: Awaited<ReturnType<typeof openPostgresDatabase>>) =>
  (await database.query<{ count: number }>("select count(*) as count from ticks"))[0]?.count ?? 0;
