import { setTimeout as sleep } from "node:timers/promises";
import { eventually } from "../../test/support/service-process.ts";
import { startBareServer } from "../harness/bare-server.ts";
import { type HostileCounts, type HostileKind, prepareHostileClients } from "../harness/hostile-clients.ts";
import { type LoadTarget, sendAtFixedRate } from "../harness/load.ts";
import { cpuSecondsOf, descriptorsOf, residentMibOf } from "../harness/process-usage.ts";
import { interleave } from "../harness/rounds.ts";
import { type BenchOptions, type BenchRow, createBenchRow, type Scenario, SkippedError } from "../harness/scenario.ts";
import { type BenchService, openService, QUIET_WORLD_SETTINGS } from "../harness/service.ts";

const HOSTILE_CONNECTIONS = 2_000;
/** 100 connections per address, so that the limit per address (256) refuses none of them. */
const HOSTILE_ADDRESSES = 20;
/** The service's limit per address, and its limit of refused connections that are still open. */
const ONE_ADDRESS_CONNECTIONS_MAX = 256 + 256;
const ROUNDS = 3;
const ROUND_SECONDS = 12;
const WARM_UP_SECONDS = 5;
/** Time in which the hostile clients open their connections, 1,000 per second; reported without a target. */
const OPENING_SECONDS = 3;
const REQUESTS_PER_SECOND = 300;
const HEALTHY_CONNECTIONS = 16;
const P99_RATIO_MAX = 1.25;
/** Descriptors beside those of hostile connections: the healthy client's, venues, store. */
const OTHER_DESCRIPTORS_MAX = 100;
const ADDITIONAL_MIB_MAX = 150;
const SAMPLE_INTERVAL_MS = 250;
/** A stalled connection is closed after at most 24 s. */
const RECOVERY_MS_MAX = 40_000;

const ATTACKS: readonly { readonly name: string; readonly kind: HostileKind; readonly addresses: number }[] = [
  { name: "pipelining without reading", kind: "pipelining", addresses: HOSTILE_ADDRESSES },
  { name: "idle keep-alive", kind: "idle", addresses: HOSTILE_ADDRESSES },
  { name: "idle keep-alive, one address", kind: "idle", addresses: 1 },
  { name: "slow headers", kind: "slow_headers", addresses: HOSTILE_ADDRESSES },
  { name: "slow body", kind: "slow_body", addresses: HOSTILE_ADDRESSES },
];

export const hostileScenario: Scenario = {
  name: "hostile",
  describe: `p99 latency of a healthy client at ${REQUESTS_PER_SECOND} requests/s, without and during ${HOSTILE_CONNECTIONS} hostile connections of each kind, compared with a bare node:http server; file descriptors and memory.`,
  async run(options) {
    if ((await descriptorsOf(process.pid)) === null) throw new SkippedError("it needs Linux");
    const rows: BenchRow[] = [];
    for (const attack of ATTACKS) {
      // A new service for each kind, so that its memory is not that of the kind before.
      const service = await openService(QUIET_WORLD_SETTINGS);
      try {
        rows.push(...(await measureAttack(service, attack, options)));
      } finally {
        await service.close();
      }
    }
    return rows;
  },
};

interface Usage {
  readonly descriptors: number;
  readonly residentMib: number;
}

interface MeasuredServer {
  readonly pid: number;
  readonly target: LoadTarget;
}

interface Sample {
  readonly p99Ms: number;
  /** CPU time of the server's process per second. */
  readonly cpuMsPerSecond: number;
}

async function measureAttack(
  service: BenchService,
  { name, kind, addresses }: (typeof ATTACKS)[number],
  options: BenchOptions,
): Promise<BenchRow[]> {
  const target: LoadTarget = { url: `${service.url}${service.marketPath}`, headers: service.headers };
  const seconds = options.quick ? 3 : ROUND_SECONDS;
  const rounds = options.rounds ?? (options.quick ? 1 : ROUNDS);
  const measureHealthy = async (server: MeasuredServer, forSeconds: number): Promise<Sample> => {
    const load = { perSecond: REQUESTS_PER_SECOND, seconds: forSeconds, connections: HEALTHY_CONNECTIONS };
    const cpuSecondsBefore = await readCpuSeconds(server.pid);
    const result = await sendAtFixedRate(server.target, load);
    if (result.failed > 0) throw new Error(`${name}: ${result.failed} of ${result.sent} healthy requests failed`);
    const cpuSeconds = (await readCpuSeconds(server.pid)) - cpuSecondsBefore;
    return { p99Ms: result.p99Ms, cpuMsPerSecond: (cpuSeconds * 1_000) / forSeconds };
  };
  const attackOn = async (url: string) => {
    const clients = await prepareHostileClients({ url, kind, connections: HOSTILE_CONNECTIONS, addresses });
    clients.start();
    return clients;
  };
  const bareServer = await startBareServer(target);
  const ours: MeasuredServer = { pid: service.pid, target };
  const bare: MeasuredServer = {
    pid: bareServer.pid,
    target: { ...target, url: `${bareServer.url}${service.marketPath}` },
  };
  await measureHealthy(ours, options.quick ? 1 : WARM_UP_SECONDS);
  await measureHealthy(bare, 1);
  const calmUsage = await readUsage(service.pid);
  const maxima: Usage[] = [];
  const openingP99s: number[] = [];
  const counts: HostileCounts[] = [];
  options.print(
    `${name}: ${rounds} rounds of ${seconds} s without and with the attack, on the service and a bare server`,
  );
  const measureRounds = () =>
    interleave(rounds, {
      calm: () => measureHealthy(ours, seconds),
      attacked: async () => {
        const clients = await attackOn(service.url);
        const sampler = sampleUsage(service.pid);
        openingP99s.push((await measureHealthy(ours, OPENING_SECONDS)).p99Ms);
        const sample = await measureHealthy(ours, seconds);
        maxima.push(await sampler.stop());
        counts.push(await clients.stop());
        await eventually(
          async () => ((await readUsage(service.pid)).descriptors < calmUsage.descriptors + 50 ? true : null),
          "the hostile connections to be closed",
          RECOVERY_MS_MAX,
        );
        return sample;
      },
      bareCalm: () => measureHealthy(bare, seconds),
      bareAttacked: async () => {
        const clients = await attackOn(bareServer.url);
        await measureHealthy(bare, OPENING_SECONDS);
        const sample = await measureHealthy(bare, seconds);
        await clients.stop();
        return sample;
      },
    });
  const samples = await measureRounds().finally(() => bareServer.close());
  const [lastCounts] = counts.slice(-1);
  const hostileMax = addresses === 1 ? ONE_ADDRESS_CONNECTIONS_MAX : HOSTILE_CONNECTIONS;
  return [
    createBenchRow({
      figure: `${name}: p99`,
      unit: "ms",
      samples: p99sOf(samples.attacked),
      baseline: { name: "without attack", samples: p99sOf(samples.calm) },
      target: { of: "ratio", bound: "at_most", value: P99_RATIO_MAX },
      note: `from ${addresses} ${addresses === 1 ? "address" : "addresses"}; in the last round ${JSON.stringify(lastCounts)}`,
    }),
    createBenchRow({
      figure: `${name}: p99 of bare node:http`,
      unit: "ms",
      samples: p99sOf(samples.bareAttacked),
      baseline: { name: "without attack", samples: p99sOf(samples.bareCalm) },
      note: "the part of the ratio that is due to the attackers' own use of the machine and to Node",
    }),
    createBenchRow({
      figure: `${name}: CPU time of the attack`,
      unit: "ms/s",
      samples: additionalCpu(samples.attacked, samples.calm),
      baseline: { name: "bare node:http", samples: additionalCpu(samples.bareAttacked, samples.bareCalm) },
    }),
    createBenchRow({ figure: `${name}: p99 while they are opened`, unit: "ms", samples: openingP99s }),
    createBenchRow({
      figure: `${name}: descriptors`,
      unit: "more",
      samples: maxima.map(({ descriptors }) => descriptors - calmUsage.descriptors),
      target: { of: "worst", bound: "at_most", value: hostileMax + OTHER_DESCRIPTORS_MAX },
    }),
    createBenchRow({
      figure: `${name}: resident memory`,
      unit: "MiB more",
      samples: maxima.map(({ residentMib }) => residentMib - calmUsage.residentMib),
      target: { of: "worst", bound: "at_most", value: ADDITIONAL_MIB_MAX },
      note: `${Math.round(calmUsage.residentMib)} MiB before`,
    }),
  ];
}

const p99sOf = (samples: readonly Sample[]): number[] => samples.map(({ p99Ms }) => p99Ms);

/** CPU time per second during the attack, minus that of the same round without it. */
const additionalCpu = (attacked: readonly Sample[], calm: readonly Sample[]): number[] =>
  attacked.map(({ cpuMsPerSecond }, round) => cpuMsPerSecond - (calm[round]?.cpuMsPerSecond ?? 0));

async function readCpuSeconds(pid: number): Promise<number> {
  const seconds = await cpuSecondsOf(pid);
  if (seconds === null) throw new Error("the server has exited");
  return seconds;
}

async function readUsage(pid: number): Promise<Usage> {
  const [descriptors, residentMib] = await Promise.all([descriptorsOf(pid), residentMibOf(pid)]);
  if (descriptors === null || residentMib === null) throw new Error("the service has exited");
  return { descriptors, residentMib };
}

/** Samples the descriptors and memory of a process until `stop`, which returns the maxima. */
function sampleUsage(pid: number): { stop(): Promise<Usage> } {
  let maxima: Usage = { descriptors: 0, residentMib: 0 };
  let isStopped = false;
  const sampling = (async () => {
    while (!isStopped) {
      const usage = await readUsage(pid);
      maxima = {
        descriptors: Math.max(maxima.descriptors, usage.descriptors),
        residentMib: Math.max(maxima.residentMib, usage.residentMib),
      };
      await sleep(SAMPLE_INTERVAL_MS);
    }
  })();
  return {
    async stop() {
      isStopped = true;
      await sampling;
      return maxima;
    },
  };
}
