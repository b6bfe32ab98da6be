import { mkdir, readFile, rmdir, writeFile } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { setTimeout as pause } from "node:timers/promises";
import { temporaryFolder } from "../../test/support/service-process.ts";
import { cpuSecondsOf, peakMibOf, residentMibOf } from "../harness/process-usage.ts";
import { type BenchOptions, type BenchRow, createBenchRow, type Scenario, SkippedError } from "../harness/scenario.ts";
import { type StartedService, startAndWait } from "../support/started-service.ts";

const STARTS = 5;
const MINUTES = 10;
const MINUTE_MS = 60_000;
/** Time from readiness until the peak memory is read. The first sweeps, matching and analyses run in this time. */
const START_MS = 5_000;
const GROUP_MIB = 512;
const CGROUP_FOLDER = "/sys/fs/cgroup/memory";

const GOALS = {
  firstStartMs: 4_000,
  restartMs: 2_000,
  peakMib: 480,
  laterServiceMib: 260,
  laterSandboxMib: 120,
  /** CPU time in minutes 2 and 3, percent of one core. */
  earlyServiceCpu: 15,
  earlySandboxCpu: 10,
  /** CPU time in the last minute, percent of one core. */
  laterServiceCpu: 8,
  laterSandboxCpu: 4,
};

/** The heap of each thread: name of its program file, and the budget in ARCHITECTURE.md. */
const HEAPS = [
  { part: "main thread", program: "main", mibMax: 100 },
  { part: "ingest thread", program: "ingest-thread.ts", mibMax: 75 },
  { part: "thread of the store", program: "pglite-worker.ts", mibMax: 30 },
  { part: "thread of the matching", program: "state-thread-worker.ts", mibMax: 25 },
  { part: "thread of a worker pool", program: "worker-thread.ts", mibMax: 15 },
] as const;
const REPORT_MEMORY = new URL("../programs/report-memory.ts", import.meta.url).href;

export const smallScenario: Scenario = {
  name: "small",
  describe:
    "A small machine: starts, their peak memory, CPU and memory while nobody sends requests, and a control group of 512 MiB.\nTo measure one core: `taskset -c 0 npm run bench -- small`.",
  async run(options) {
    if (process.platform !== "linux") throw new SkippedError("it needs Linux");
    options.print(`${availableParallelism()} cores`);
    return [...(await measureStarts(options)), ...(await measureRest(options)), ...(await measureGroup(options))];
  },
};

interface Start {
  readonly readyMs: number;
  readonly serviceMib: number;
  readonly sandboxMib: number;
}

async function measureStarts(options: BenchOptions): Promise<BenchRow[]> {
  const firsts: Start[] = [];
  const restarts: Start[] = [];
  for (let round = 0; round < (options.rounds ?? (options.quick ? 1 : STARTS)); round++) {
    const folder = await temporaryFolder();
    try {
      firsts.push(await startOnce(folder.path));
      restarts.push(await startOnce(folder.path));
    } finally {
      await folder.release();
    }
  }
  return [
    ...describeStarts("first start", firsts, GOALS.firstStartMs),
    ...describeStarts("restart", restarts, GOALS.restartMs),
  ];
}

async function startOnce(dataDir: string): Promise<Start> {
  const service = await startAndWait(dataDir);
  try {
    await pause(START_MS);
    const [serviceMib, sandboxMib] = await Promise.all([peakMibOf(service.pid), peakMibOf(service.sandboxPid)]);
    return { readyMs: service.readyMs, serviceMib: serviceMib ?? 0, sandboxMib: sandboxMib ?? 0 };
  } finally {
    await service.stop();
  }
}

function describeStarts(name: string, starts: readonly Start[], readyMsMax: number): BenchRow[] {
  return [
    createBenchRow({
      figure: `${name}, time`,
      unit: "ms until ready",
      samples: starts.map(({ readyMs }) => readyMs),
      target: { of: "median", bound: "at_most", value: readyMsMax },
    }),
    createBenchRow({
      figure: `${name}, peak of service and sandbox`,
      unit: "MiB",
      samples: starts.map(({ serviceMib, sandboxMib }) => serviceMib + sandboxMib),
      target: { of: "median", bound: "at_most", value: GOALS.peakMib },
      note: "sum of the peaks of both processes",
    }),
    createBenchRow({
      figure: `${name}, peak of the service`,
      unit: "MiB",
      samples: starts.map(({ serviceMib }) => serviceMib),
    }),
  ];
}

/** CPU time and memory of service and sandbox while nobody sends requests. */
async function measureRest(options: BenchOptions): Promise<BenchRow[]> {
  const minutes = options.minutes ?? (options.quick ? 3 : MINUTES);
  const folder = await temporaryFolder();
  const memoryFile = `${folder.path}/heaps.jsonl`;
  const service = await startAndWait(`${folder.path}/data`, {
    env: { NODE_OPTIONS: `--import ${REPORT_MEMORY}`, BENCH_MEMORY_FILE: memoryFile },
  });
  try {
    const readCpu = async () => ({
      at: performance.now(),
      service: (await cpuSecondsOf(service.pid)) ?? 0,
      sandbox: (await cpuSecondsOf(service.sandboxPid)) ?? 0,
    });
    const shares = async (ms: number) => {
      const from = await readCpu();
      await pause(ms);
      const to = await readCpu();
      const shareOf = (program: "service" | "sandbox") => (100_000 * (to[program] - from[program])) / (to.at - from.at);
      return { service: shareOf("service"), sandbox: shareOf("sandbox") };
    };
    await pause(MINUTE_MS);
    const early = await shares(Math.min(2, minutes - 1) * MINUTE_MS);
    if (minutes > 4) await pause((minutes - 4) * MINUTE_MS);
    const later = minutes > 3 ? await shares(MINUTE_MS) : null;
    const rowOf = (figure: string, unit: string, value: number, goal: number) =>
      createBenchRow({
        figure,
        unit,
        samples: [value],
        target: { of: "median", bound: "at_most", value: goal },
      });
    const [serviceMib, sandboxMib] = await readMemory(service);
    const heaps = await readHeaps(memoryFile);
    return [
      rowOf("CPU in minutes 2 and 3, service", "% of a core", early.service, GOALS.earlyServiceCpu),
      rowOf("CPU in minutes 2 and 3, sandbox", "% of a core", early.sandbox, GOALS.earlySandboxCpu),
      ...(later === null
        ? []
        : [
            rowOf(`CPU in minute ${minutes}, service`, "% of a core", later.service, GOALS.laterServiceCpu),
            rowOf(`CPU in minute ${minutes}, sandbox`, "% of a core", later.sandbox, GOALS.laterSandboxCpu),
          ]),
      rowOf(`memory after ${minutes} minutes, service`, "MiB", serviceMib, GOALS.laterServiceMib),
      rowOf(`memory after ${minutes} minutes, sandbox`, "MiB", sandboxMib, GOALS.laterSandboxMib),
      ...HEAPS.flatMap(({ part, program, mibMax }) => {
        const mib = heaps.get(program);
        return mib === undefined ? [] : [rowOf(`heap after ${minutes} minutes, ${part}`, "MiB", mib, mibMax)];
      }),
    ];
  } finally {
    await service.stop();
    await folder.release();
  }
}

async function readMemory({ pid, sandboxPid }: StartedService): Promise<[number, number]> {
  return [(await residentMibOf(pid)) ?? 0, (await residentMibOf(sandboxPid)) ?? 0];
}

/** Returns the last size that each thread has reported. */
async function readHeaps(file: string): Promise<ReadonlyMap<string, number>> {
  const lines = (await readFile(file, "utf8")).trimEnd().split("\n");
  return new Map(
    lines.map((line): [string, number] => {
      const { thread, heapMib }: { thread: string; heapMib: number } = JSON.parse(line);
      return [thread, heapMib];
    }),
  );
}

async function createGroup(group: string): Promise<boolean> {
  await mkdir(group);
  await writeFile(`${group}/memory.limit_in_bytes`, String(GROUP_MIB * 2 ** 20));
  return true;
}

/** A first start of service and sandbox in a control group with a memory limit, which then answers requests. */
async function measureGroup(options: BenchOptions): Promise<BenchRow[]> {
  const minutes = options.minutes ?? (options.quick ? 1 : MINUTES);
  const group = `${CGROUP_FOLDER}/parallax-bench-${process.pid}`;
  const isCreated = await createGroup(group).catch((error: unknown) => {
    options.print(`no control group, which needs root and version 1 of control groups: ${String(error)}`);
    return false;
  });
  if (!isCreated) return [];
  const folder = await temporaryFolder();
  try {
    const service = await startAndWait(folder.path, { group });
    try {
      const endAt = performance.now() + minutes * MINUTE_MS;
      let responses = 0;
      while (performance.now() < endAt) {
        const { status } = await fetch(`${service.url}/v1/health`);
        if (status !== 200) throw new Error(`the service answers ${status}`);
        responses += 1;
        await pause(1_000);
      }
      const peakBytes = Number(await readFile(`${group}/memory.max_usage_in_bytes`, "utf8"));
      const anonymousBytes = Number(/^total_rss (\d+)$/m.exec(await readFile(`${group}/memory.stat`, "utf8"))?.[1]);
      const note = `${responses} requests answered in ${minutes} minutes; with the file cache, which is limited too`;
      return [
        createBenchRow({
          figure: `first start in a group of ${GROUP_MIB} MiB, time`,
          unit: "ms until ready",
          samples: [service.readyMs],
        }),
        createBenchRow({
          figure: `peak of a group of ${GROUP_MIB} MiB`,
          unit: "MiB",
          samples: [peakBytes / 2 ** 20],
          note,
        }),
        createBenchRow({
          figure: "anonymous memory of the group at the end",
          unit: "MiB",
          samples: [anonymousBytes / 2 ** 20],
        }),
      ];
    } finally {
      await service.stop();
    }
  } finally {
    await folder.release();
    await rmdir(group);
  }
}
