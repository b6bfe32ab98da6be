import { openPostgresDatabase } from "../../src/adapters/database/postgres-database.ts";
import { quietLog } from "../../test/support/quiet-log.ts";
import { eventually } from "../../test/support/service-process.ts";
import { startTcpProxy } from "../../test/support/tcp-proxy.ts";
import { ownDatabase } from "../harness/own-database.ts";
import { benchRow, type Scenario } from "../harness/scenario.ts";
import { openService } from "../harness/service.ts";

const AWAY_MS = 30_000;
const AWAY_MS_QUICK = 5_000;
/** A key's owner is remembered for a second, and a look-up under way may end well just after the cut. */
const REMEMBERED_MS = 2_500;
const READY_AGAIN_MS_MAX = 3_000;
const POLL_MS = 50;

export const postgresAwayScenario: Scenario = {
  name: "postgres-away",
  describe:
    "PostgreSQL refuses connections, then swallows all packets, each for 30 s: the service says so, claims no success,\nlives on and is ready again within 3 s of its return.",
  async run(options) {
    const own = await ownDatabase("away");
    const proxy = await startTcpProxy({ host: own.url.hostname, port: Number(own.url.port || 5432) });
    const direct = await openPostgresDatabase({ url: own.url.href, log: quietLog });
    const url = new URL(own.url);
    url.hostname = "127.0.0.1";
    url.port = String(proxy.port);
    try {
      const service = await openService({ DATABASE_URL: url.href });
      try {
        const awayMs = options.quick ? AWAY_MS_QUICK : AWAY_MS;
        const rows = [];
        for (const way of ["refuse", "blackhole"] as const) {
          const before = await countTicks(direct);
          const answers = { right: 0, refused: 0, silent: 0 };
          proxy[way]();
          const cutAt = performance.now();
          const watch = async () => {
            while (performance.now() - cutAt < awayMs) {
              const askedAt = performance.now();
              const left = awayMs - (askedAt - cutAt);
              const status = await statusOf(`${service.url}${service.marketPath}`, service.headers, left);
              if (status === null) answers.silent += 1;
              else if (status === 503) answers.refused += 1;
              else if (status === 200 && askedAt - cutAt < REMEMBERED_MS) answers.right += 1;
              else throw new Error(`${status} while the store was away (${way})`);
              await pause(POLL_MS);
            }
          };
          const readiness: number[] = [];
          const watchReadiness = async () => {
            while (performance.now() - cutAt < awayMs) {
              readiness.push((await statusOf(`${service.url}/readyz`, {}, awayMs)) ?? 0);
              await pause(POLL_MS);
            }
          };
          await Promise.all([watch(), watchReadiness()]);
          if (readiness.at(-1) !== 503)
            throw new Error(`/readyz was ${readiness.at(-1)} at the end of the cut (${way})`);
          proxy.restore();
          const returnedAt = performance.now();
          await eventually(
            async () => ((await statusOf(`${service.url}/readyz`, {}, awayMs)) === 200 ? true : null),
            "readiness",
          );
          const readyMs = performance.now() - returnedAt;
          await eventually(async () => ((await countTicks(direct)) > before ? true : null), "ticks to be stored again");
          process.kill(service.pid, 0);
          options.say(`${way}: ready again after ${Math.round(readyMs)} ms`);
          rows.push(
            benchRow({
              figure: `ready again (${way})`,
              unit: "ms",
              samples: [readyMs],
              target: { of: "worst", bound: "at_most", value: READY_AGAIN_MS_MAX },
              note: `away for ${awayMs / 1_000} s: ${answers.refused} keyed requests refused with 503, ${answers.silent} left waiting, ${answers.right} answered from what was known in the first moments; ingest stores again`,
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

/** Status of a GET; null where no answer came in time. Anything else that goes wrong is thrown: the process is gone. */
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
