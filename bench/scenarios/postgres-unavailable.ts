import { setTimeout as pause } from "node:timers/promises";
import { openPostgresDatabase } from "../../src/adapters/database/postgres-database.ts";
import { quietLog } from "../../test/support/quiet-log.ts";
import { eventually } from "../../test/support/service-process.ts";
import { startTcpProxy } from "../../test/support/tcp-proxy.ts";
import { createOwnDatabase } from "../harness/own-database.ts";
import { createBenchRow, GuaranteeError, type Scenario } from "../harness/scenario.ts";
import { type BenchService, openService } from "../harness/service.ts";

const OUTAGE_MS = 30_000;
const OUTAGE_MS_QUICK = 5_000;
/** Requests may succeed this long after the outage starts: key owners are cached for 1 s, and a look-up may be in flight. */
const CACHED_MS = 2_500;
const RECOVERY_MS_MAX = 3_000;
const POLL_MS = 50;
const WRITE_PAUSE_MS = 500;

export const postgresUnavailableScenario: Scenario = {
  name: "postgres-unavailable",
  describe:
    "PostgreSQL refuses connections, then drops all packets, each for 30 s: the service returns 503 and no false\nsuccess, keeps running and is ready within 3 s after recovery.",
  async run(options) {
    const serviceDatabase = await createOwnDatabase("unavailable");
    const proxy = await startTcpProxy(serviceDatabase.url.href);
    const directDatabase = await openPostgresDatabase({ url: serviceDatabase.url.href, log: quietLog });
    try {
      const service = await openService({ DATABASE_URL: proxy.url });
      try {
        const outageMs = options.quick ? OUTAGE_MS_QUICK : OUTAGE_MS;
        const written = await createKey(service, outageMs);
        if (written === null || written >= 400) throw new Error(`a write returned ${written} before the outage`);
        const rows = [];
        for (const outage of ["refuse", "blackhole"] as const) {
          const ticksBefore = await countTicks(directDatabase);
          const responseCounts = { cached: 0, unavailable: 0, timedOut: 0 };
          proxy[outage]();
          const outageStartedAt = performance.now();
          const checkResponses = async () => {
            while (performance.now() - outageStartedAt < outageMs) {
              const sentAt = performance.now();
              const remainingMs = outageMs - (sentAt - outageStartedAt);
              const status = await fetchStatus(`${service.url}${service.marketPath}`, service.headers, remainingMs);
              if (status === null) responseCounts.timedOut += 1;
              else if (status === 503) responseCounts.unavailable += 1;
              else if (status === 200 && sentAt - outageStartedAt < CACHED_MS) responseCounts.cached += 1;
              else throw new GuaranteeError(`${status} while the store was unavailable (${outage})`);
              await pause(POLL_MS);
            }
          };
          const writeCounts = { refused: 0, timedOut: 0 };
          const checkWrites = async () => {
            while (performance.now() - outageStartedAt < outageMs) {
              const remainingMs = outageMs - (performance.now() - outageStartedAt);
              const status = await createKey(service, remainingMs);
              if (status === null) writeCounts.timedOut += 1;
              else if (status >= 400) writeCounts.refused += 1;
              else throw new GuaranteeError(`a write returned ${status} while the store was unavailable (${outage})`);
              await pause(WRITE_PAUSE_MS);
            }
          };
          const readinessStatuses: number[] = [];
          let notReadyMs = Number.POSITIVE_INFINITY;
          const checkReadiness = async () => {
            while (performance.now() - outageStartedAt < outageMs) {
              const status = (await fetchStatus(`${service.url}/readyz`, {}, outageMs)) ?? 0;
              readinessStatuses.push(status);
              if (status === 503) notReadyMs = Math.min(notReadyMs, performance.now() - outageStartedAt);
              await pause(POLL_MS);
            }
          };
          await Promise.all([checkResponses(), checkReadiness(), checkWrites()]);
          if (readinessStatuses.at(-1) !== 503)
            throw new GuaranteeError(
              `/readyz returned ${readinessStatuses.at(-1)} at the end of the outage (${outage})`,
            );
          proxy.restore();
          const restoredAt = performance.now();
          await eventually(
            async () => ((await fetchStatus(`${service.url}/readyz`, {}, outageMs)) === 200 ? true : null),
            "readiness",
          );
          const readyMs = performance.now() - restoredAt;
          await eventually(
            async () => ((await countTicks(directDatabase)) > ticksBefore ? true : null),
            "new ticks in the store",
          );
          process.kill(service.pid, 0);
          options.print(`${outage}: ready again after ${Math.round(readyMs)} ms`);
          rows.push(
            createBenchRow({
              figure: `not ready (${outage})`,
              unit: "ms",
              samples: [notReadyMs],
              note: `${writeCounts.refused} writes were refused, ${writeCounts.timedOut} timed out, none succeeded`,
            }),
            createBenchRow({
              figure: `ready again (${outage})`,
              unit: "ms",
              samples: [readyMs],
              target: { of: "worst", bound: "at_most", value: RECOVERY_MS_MAX },
              note: `unavailable for ${outageMs / 1_000} s: ${responseCounts.unavailable} keyed requests got 503, ${responseCounts.timedOut} timed out, ${responseCounts.cached} got a cached response at the start; ingest writes again after the outage`,
            }),
          );
        }
        return rows;
      } finally {
        await service.close();
      }
    } finally {
      await directDatabase.close();
      await proxy.close();
      await serviceDatabase.drop();
    }
  },
};

/** Creates a key, and returns the status, or null after a timeout. */
function createKey(service: BenchService, withinMs: number): Promise<number | null> {
  return fetchStatus(`${service.url}/v1/customers/me/keys`, service.headers, withinMs, {
    method: "POST",
    body: JSON.stringify({ name: `key-${Math.round(performance.now() * 1_000)}` }),
    headers: { ...service.headers, "content-type": "application/json" },
  });
}

/**
 * Sends a request, by default a GET, and returns its status, or null after a timeout.
 *
 * @throws other errors, because they mean that the process has exited
 */
async function fetchStatus(
  url: string,
  headers: Readonly<Record<string, string>>,
  withinMs: number,
  init: RequestInit = {},
): Promise<number | null> {
  try {
    const signal = AbortSignal.timeout(Math.max(1, Math.round(withinMs)));
    const response = await fetch(url, { headers, ...init, signal });
    await response.arrayBuffer();
    return response.status;
  } catch (error) {
    if (error instanceof DOMException && error.name === "TimeoutError") return null;
    throw error;
  }
}

const countTicks = async (database: Awaited<ReturnType<typeof openPostgresDatabase>>) =>
  (await database.query<{ count: number }>("select count(*) as count from ticks"))[0]?.count ?? 0;
