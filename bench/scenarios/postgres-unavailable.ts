import { openPostgresDatabase } from "../../src/adapters/database/postgres-database.ts";
import { quietLog } from "../../test/support/quiet-log.ts";
import { eventually } from "../../test/support/service-process.ts";
import { startTcpProxy } from "../../test/support/tcp-proxy.ts";
import { ownDatabase } from "../harness/own-database.ts";
import { benchRow, type Scenario } from "../harness/scenario.ts";
import { openService } from "../harness/service.ts";

const OUTAGE_MS = 30_000;
const OUTAGE_MS_QUICK = 5_000;
/** A key's owner is cached for a second, and a look-up may still succeed just after the cut. */
const REMEMBERED_MS = 2_500;
const READY_AGAIN_MS_MAX = 3_000;
const POLL_MS = 50;

export const postgresUnavailableScenario: Scenario = {
  name: "postgres-unavailable",
  describe:
    "PostgreSQL refuses connections, then drops all packets, each for 30 s: the service reports it, claims no success,\nkeeps running and is ready within 3 s after recovery.",
  async run(options) {
    const own = await ownDatabase("unavailable");
    const proxy = await startTcpProxy({ host: own.url.hostname, port: Number(own.url.port || 5432) });
    const direct = await openPostgresDatabase({ url: own.url.href, log: quietLog });
    const url = new URL(own.url);
    url.hostname = "127.0.0.1";
    url.port = String(proxy.port);
    try {
      const service = await openService({ DATABASE_URL: url.href });
      try {
        const outageMs = options.quick ? OUTAGE_MS_QUICK : OUTAGE_MS;
        const rows = [];
        for (const way of ["refuse", "blackhole"] as const) {
          const before = await countTicks(direct);
          const answers = { right: 0, refused: 0, silent: 0 };
          proxy[way]();
          const cutAt = performance.now();
          const watch = async () => {
            while (performance.now() - cutAt < outageMs) {
              const sentAt = performance.now();
              const left = outageMs - (sentAt - cutAt);
              const status = await statusOf(`${service.url}${service.marketPath}`, service.headers, left);
              if (status === null) answers.silent += 1;
              else if (status === 503) answers.refused += 1;
              else if (status === 200 && sentAt - cutAt < REMEMBERED_MS) answers.right += 1;
              else throw new Error(`${status} while the store was unavailable (${way})`);
              await pause(POLL_MS);
            }
          };
          const readiness: number[] = [];
          const watchReadiness = async () => {
            while (performance.now() - cutAt < outageMs) {
              readiness.push((await statusOf(`${service.url}/readyz`, {}, outageMs)) ?? 0);
              await pause(POLL_MS);
            }
          };
          await Promise.all([watch(), watchReadiness()]);
          if (readiness.at(-1) !== 503)
            throw new Error(`/readyz was ${readiness.at(-1)} at the end of the cut (${way})`);
          proxy.restore();
          const returnedAt = performance.now();
          await eventually(
            async () => ((await statusOf(`${service.url}/readyz`, {}, outageMs)) === 200 ? true : null),
            "readiness",
          );
          const readyMs = performance.now() - returnedAt;
          await eventually(async () => ((await countTicks(direct)) > before ? true : null), "ticks to be stored again");
          process.kill(service.pid, 0);
          options.print(`${way}: ready again after ${Math.round(readyMs)} ms`);
          rows.push(
            benchRow({
              figure: `ready again (${way})`,
              unit: "ms",
              samples: [readyMs],
              target: { of: "worst", bound: "at_most", value: READY_AGAIN_MS_MAX },
              note: `unavailable for ${outageMs / 1_000} s: ${answers.refused} keyed requests got 503, ${answers.silent} timed out, ${answers.right} were answered from the cache at first; ingest writes again`,
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
      await own.drop();
    }
  },
};

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Status of a GET; null after a timeout. Other errors are thrown: the process has exited. */
async function statusOf(
  url: string,
  headers: Readonly<Record<string, string>>,
  withinMs: number,
): Promise<number | null> {
  try {
    const reply = await fetch(url, { headers, signal: AbortSignal.timeout(Math.max(1, Math.round(withinMs))) });
    await reply.arrayBuffer();
    return reply.status;
  } catch (error) {
    if (error instanceof DOMException && error.name === "TimeoutError") return null;
    throw error;
  }
}

const countTicks = async (database: Awaited<ReturnType<typeof openPostgresDatabase>>) =>
  (await database.query<{ count: number }>("select count(*) as count from ticks"))[0]?.count ?? 0;
