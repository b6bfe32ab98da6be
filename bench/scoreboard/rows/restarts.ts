import { setTimeout as pause } from "node:timers/promises";
import { openPostgresDatabase } from "../../../src/adapters/database/postgres-database.ts";
import { VENUE_SERVICES } from "../../../src/venues/registry.ts";
import { quietLog } from "../../../test/support/quiet-log.ts";
import {
  eventually,
  firstLineOf,
  run,
  type ServiceProcess,
  startServiceProcess,
  temporaryFolder,
} from "../../../test/support/service-process.ts";
import { liftLimits } from "../../../test/support/venues/lifted-limits.ts";
import { startBalancer } from "../../harness/balancer.ts";
import { type FixedRateResult, sendAtFixedRate } from "../../harness/load.ts";
import { createOwnDatabase } from "../../harness/own-database.ts";
import { runProgramForRows } from "../../harness/program.ts";
import type { ScoreboardRow } from "../row.ts";

const NODE_COUNT = 3;
const PER_SECOND = 300;
const PER_SECOND_QUICK = 100;
const EXIT_MS_MAX = 10_000;
const STREAMS = 1_000;
const STREAMS_QUICK = 100;
/** Requests are sent in spans of this length until all nodes have restarted. */
const SPAN_SECONDS = 2;
const SETTLE_MS = 2_000;

interface ResumeFigures {
  readonly expected: number;
  readonly received: number;
  readonly gaps: number;
  readonly duplicates: number;
}

export const rollingRestartRow: ScoreboardRow = {
  id: "S21",
  figure: `failed requests and missed events while ${NODE_COUNT} nodes restart one after the other behind a balancer, and time of their exits`,
  target: `${PER_SECOND} requests/s and ${STREAMS.toLocaleString("en-US")} streams: 0 failed, 0 missed, exit <= ${EXIT_MS_MAX / 1_000} s each`,
  mutations: [
    {
      defence: "a stopping node is not ready before it stops to accept connections",
      file: "src/http/lifecycle.ts",
      find: "  if (graceMs > 0) await clock.sleep(graceMs);\n",
      replace: "",
    },
  ],
  async measure({ quick, print }) {
    const perSecond = quick ? PER_SECOND_QUICK : PER_SECOND;
    const { requests, exitsMs, answeredBy } = await restartNodes(perSecond, print);
    const failed = requests.reduce((sum, result) => sum + result.failed, 0);
    const sent = requests.reduce((sum, result) => sum + result.sent, 0);
    // The stream has a program of its own, because a key of the service may open few streams.
    const streams = quick ? STREAMS_QUICK : STREAMS;
    const args = ["resume", "--clients", streams, "--seconds", quick ? 10 : 60, "--drops", 1, "--restarts", NODE_COUNT];
    const [events] = await runProgramForRows<ResumeFigures>("stream.ts", args);
    if (events === undefined) throw new Error("the program printed no figures");
    if (answeredBy <= NODE_COUNT) throw new Error(`only ${answeredBy} processes answered requests`);
    const exitMs = Math.max(...exitsMs);
    const missed = events.expected - events.received + events.duplicates;
    return {
      isMet: failed === 0 && events.received === events.expected && events.gaps === 0 && exitMs <= EXIT_MS_MAX,
      value: `${failed} of ${sent} requests failed; ${missed} of ${events.expected} events missed on ${streams} streams, ${events.gaps} gaps; ${exitsMs.length} exits, the longest ${Math.round(exitMs)} ms`,
    };
  },
};

/** Restarts all nodes one after the other under load. */
async function restartNodes(perSecond: number, print: (line: string) => void) {
  await using closers = new AsyncDisposableStack();
  const folder = await temporaryFolder();
  closers.defer(folder.release);
  const store = await createOwnDatabase("restart");
  closers.defer(store.drop);
  const sandbox = run(process.execPath, ["bin/parallax.mjs", "sandbox", "--port", "0"], {
    PARALLAX_SANDBOX_MARKETS: "10",
    PARALLAX_SANDBOX_LIMITS: "off",
  });
  closers.defer(async () => {
    sandbox.child.kill("SIGTERM");
    await sandbox.ended;
  });
  const urls: Record<string, Record<string, string>> = JSON.parse(await firstLineOf(sandbox.child));
  const venueUrls = Object.entries(VENUE_SERVICES).flatMap(([venue, services]) =>
    services.map((name) => [`PARALLAX_${venue}_${name}_URL`.toUpperCase(), urls[venue]?.[name] ?? "none"]),
  );
  const env = { DATABASE_URL: store.url.href, ...Object.fromEntries(venueUrls) };
  const balancer = await startBalancer();
  closers.defer(() => balancer[Symbol.asyncDispose]());
  const nodes: ServiceProcess[] = [];
  closers.defer(async () => {
    await Promise.all(nodes.map((node) => node.end("SIGKILL")));
  });
  const start = async () => {
    const node = await startServiceProcess({ dataDir: folder.path, env });
    nodes.push(node);
    await balancer.add(node.url);
    return node;
  };
  const first = await start();
  for (let count = 1; count < NODE_COUNT; count++) await start();
  const database = await openPostgresDatabase({ url: store.url.href, log: quietLog });
  await liftLimits(database).finally(() => database.close());
  const headers = { authorization: `Bearer ${first.keys.enterprise}` };
  const market = await eventually(async () => {
    const { status, json } = await first.get("/v1/markets?limit=1", headers);
    return status === 200 ? (json[0] ?? null) : null;
  }, "a market");
  const url = `${balancer.url}/v1/markets/${market.platform}/${encodeURIComponent(market.market_id)}`;
  await pause(SETTLE_MS);

  const requests: FixedRateResult[] = [];
  let isRestarting = true;
  const load = (async () => {
    while (isRestarting) requests.push(await sendAtFixedRate({ url, headers }, { perSecond, seconds: SPAN_SECONDS }));
  })();
  const exitsMs: number[] = [];
  try {
    for (const node of nodes.slice(0, NODE_COUNT)) {
      const stoppedAt = performance.now();
      const code = await node.end("SIGTERM");
      exitsMs.push(performance.now() - stoppedAt);
      balancer.remove(node.url);
      if (code !== 0) throw new Error(`a node exited with ${code}`);
      print(`a node exited after ${Math.round(exitsMs.at(-1) ?? 0)} ms`);
      await start();
      await pause(SETTLE_MS);
    }
  } finally {
    isRestarting = false;
    await load;
  }
  return { requests, exitsMs, answeredBy: balancer.counts.size };
}
