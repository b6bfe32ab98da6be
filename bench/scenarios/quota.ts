import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { statSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { openEmbeddedDatabase } from "../../src/adapters/database/embedded-database.ts";
import { openPostgresDatabase } from "../../src/adapters/database/postgres-database.ts";
import { sumOf } from "../../src/lib/numbers.ts";
import type { Database } from "../../src/ports/database.ts";
import { quietLog } from "../../test/support/quiet-log.ts";
import { temporaryFolder } from "../../test/support/service-process.ts";
import { hasTestDatabase, reserveSchema } from "../harness/own-database.ts";
import {
  type BenchOptions,
  type BenchRow,
  createBenchRow,
  GuaranteeError,
  type Scenario,
} from "../harness/scenario.ts";

const PROGRAM_FILE = fileURLToPath(new URL("../programs/quota-node.ts", import.meta.url));
const ROUNDS = 20;
const CALLER_COUNT = 64;
const ATTEMPTS_PER_ROUND = 100_000;
const ATTEMPTS_PER_ROUND_QUICK = 10_000;
const MONTHLY_LIMIT = 1_000;
const NODE_COUNT = 3;
/** Monthly limit in the runs with a kill; high enough for the kill to happen during the run. */
const KILL_RUN_LIMIT = 20_000;
const SERVED_BEFORE_KILL = 2_000;
const KILL_COUNT = 10;

export const quotaScenario: Scenario = {
  name: "quota",
  describe:
    "64 parallel callers, 100,000 attempts for 1,000 calls: exactly 1,000 pass, on one node and on three nodes; kill -9 of one node.",
  async run(options) {
    const folder = await temporaryFolder();
    try {
      const store = join(folder.path, "store");
      await mkdir(store);
      const embeddedSetup = { kind: "embedded", store, folder: folder.path, nodeCount: 1 } as const;
      const rows = [
        await measureRounds(embeddedSetup, options, () => openEmbeddedDatabase({ dataDir: store, log: quietLog })),
      ];
      if (!hasTestDatabase()) {
        options.print("PostgreSQL is skipped: TEST_DATABASE_URL is not set");
        return rows;
      }
      rows.push(await measureQuotaOnNodes(options));
      rows.push(...(await measureQuotaAfterKills(options)));
      return rows;
    } finally {
      await folder.release();
    }
  },
};

/**
 * Three processes on PostgreSQL share a monthly limit.
 *
 * @throws GuaranteeError if another number of calls than the limit pass in a round
 */
export const measureQuotaOnNodes = (options: BenchOptions): Promise<BenchRow> =>
  runOnPostgres((setup, open) => measureRounds(setup, options, open));

/**
 * Kills one of three processes on PostgreSQL during a round and restarts it with its journal.
 *
 * @throws GuaranteeError if more calls than the limit pass, or a call is not counted
 */
export const measureQuotaAfterKills = (options: BenchOptions): Promise<BenchRow[]> =>
  runOnPostgres((setup, open) => killOneNode(setup, options, open));

async function runOnPostgres<Result>(
  measure: (setup: NodeSetup, open: () => Promise<Database>) => Promise<Result>,
): Promise<Result> {
  const target = reserveSchema("quota");
  const folder = await temporaryFolder();
  try {
    const setup = { kind: "postgres", store: target.schema, folder: folder.path, nodeCount: NODE_COUNT } as const;
    return await measure(setup, () => openPostgresDatabase({ url: target.url, schema: target.schema, log: quietLog }));
  } finally {
    await Promise.allSettled([target.drop(), folder.release()]);
  }
}

interface NodeSetup {
  readonly kind: "embedded" | "postgres";
  readonly store: string;
  readonly folder: string;
  readonly nodeCount: number;
}

interface QuotaNode {
  readonly child: ChildProcess;
  /** Counts the calls that this node reported as served, including those before a kill. */
  readonly countServed: () => number;
  /** Runs a round; resolves when the round ends or the node exits. */
  runRound(round: { customerId: string; limit: number; callers: number; attempts: number }): Promise<void>;
  end(signal?: NodeJS.Signals): Promise<void>;
}

async function startNode({ kind, store, folder }: NodeSetup, index: number): Promise<QuotaNode> {
  const journal = join(folder, `${kind}-journal-${index}`);
  const child = spawn(process.execPath, [PROGRAM_FILE, kind, store, journal], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const exit = once(child, "exit");
  let finish: () => void = () => {};
  const readiness = Promise.withResolvers<void>();
  createInterface({ input: child.stdout as NodeJS.ReadableStream }).on("line", (line) => {
    if (line.includes("ready")) readiness.resolve();
    else finish();
  });
  await Promise.race([readiness.promise, exit.then(() => Promise.reject(new Error("a node exited")))]);
  return {
    child,
    countServed: () => statSync(join(journal, "served")).size,
    async runRound(round) {
      const roundEnd = new Promise<void>((resolve) => {
        finish = resolve;
      });
      child.stdin?.write(`${JSON.stringify(round)}\n`);
      await Promise.race([roundEnd, exit]);
    },
    async end(signal) {
      if (signal === undefined) child.stdin?.end();
      else child.kill(signal);
      await exit;
    },
  };
}

const callersOf = (node: number, nodes: number) =>
  Math.floor(CALLER_COUNT / nodes) + (node < CALLER_COUNT % nodes ? 1 : 0);

async function measureRounds(
  setup: NodeSetup,
  options: BenchOptions,
  open: () => Promise<Database>,
): Promise<BenchRow> {
  const rounds = options.rounds ?? (options.quick ? 3 : ROUNDS);
  const attempts = options.quick ? ATTEMPTS_PER_ROUND_QUICK : ATTEMPTS_PER_ROUND;
  const nodes: QuotaNode[] = [];
  // Sequential, because the first node creates the tables.
  for (let index = 0; index < setup.nodeCount; index++) nodes.push(await startNode(setup, index));
  const passedCounts: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const servedBefore = sumOf(nodes.map((node) => node.countServed()));
    await Promise.all(
      nodes.map((node, index) => {
        const callers = callersOf(index, nodes.length);
        const nodeAttempts = Math.ceil((attempts * callers) / CALLER_COUNT);
        return node.runRound({ customerId: `round-${round}`, limit: MONTHLY_LIMIT, callers, attempts: nodeAttempts });
      }),
    );
    passedCounts.push(sumOf(nodes.map((node) => node.countServed())) - servedBefore);
    options.print(
      `${setup.kind}: round ${round + 1} of ${rounds}, ${passedCounts.at(-1)} of ${attempts} attempts passed`,
    );
  }
  for (const node of nodes) await node.end();
  const database = await open();
  for (let round = 0; round < rounds; round++) await assertUsedCalls(database, `round-${round}`, MONTHLY_LIMIT);
  await database.close();
  if (passedCounts.some((count) => count !== MONTHLY_LIMIT))
    throw new GuaranteeError(`${MONTHLY_LIMIT} calls should pass per round, but ${passedCounts.join(", ")} did`);
  return createBenchRow({
    figure: `${setup.kind}, ${setup.nodeCount} node${setup.nodeCount === 1 ? "" : "s"}, passed of ${MONTHLY_LIMIT}`,
    unit: "calls",
    samples: passedCounts,
    target: { of: "worst", bound: "at_most", value: MONTHLY_LIMIT },
    note: `${CALLER_COUNT} callers, ${attempts} attempts per round; the store counts the same number`,
  });
}

/** Kills a node during a run, lets the others continue, and restarts it with its journal. */
async function killOneNode(
  setup: NodeSetup,
  options: BenchOptions,
  open: () => Promise<Database>,
): Promise<BenchRow[]> {
  const kills = options.rounds ?? (options.quick ? 1 : KILL_COUNT);
  const unreportedCounts: number[] = [];
  for (let kill = 0; kill < kills; kill++) {
    const customerId = `killed-${kill}`;
    const nodes: QuotaNode[] = [];
    for (let index = 0; index < setup.nodeCount; index++) nodes.push(await startNode(setup, index));
    const servedBefore = sumOf(nodes.map((node) => node.countServed()));
    const victimServedBefore = nodes[0]?.countServed() ?? 0;
    const [victim, ...otherNodes] = nodes as [QuotaNode, ...QuotaNode[]];
    const round = {
      customerId,
      limit: KILL_RUN_LIMIT,
      callers: callersOf(0, nodes.length),
      attempts: KILL_RUN_LIMIT * 2,
    };
    const runningRounds = nodes.map((node) => node.runRound(round));
    while (victim.countServed() < victimServedBefore + SERVED_BEFORE_KILL) await sleep(1);
    await victim.end("SIGKILL");
    await Promise.all(runningRounds);
    const restartedNode = await startNode(setup, 0);
    for (const node of [restartedNode, ...otherNodes]) await node.runRound({ ...round, attempts: KILL_RUN_LIMIT });
    for (const node of [restartedNode, ...otherNodes]) await node.end();
    const served = sumOf(nodes.map((node) => node.countServed())) - servedBefore;
    // Calls in flight at the kill were counted and may have been served, but the process could not report them.
    const inFlightCount = KILL_RUN_LIMIT - served;
    if (inFlightCount < 0 || inFlightCount > round.callers)
      throw new GuaranteeError(`${served} of ${KILL_RUN_LIMIT} were served after a kill`);
    const database = await open();
    await assertUsedCalls(database, customerId, KILL_RUN_LIMIT);
    await database.close();
    unreportedCounts.push(inFlightCount);
    options.print(`kill ${kill + 1} of ${kills}: ${served} reported as served, ${inFlightCount} in flight at the kill`);
  }
  return [
    createBenchRow({
      figure: "kill -9 of one of 3 nodes, counted but not reported",
      unit: "calls",
      samples: unreportedCounts,
      target: { of: "worst", bound: "at_most", value: callersOf(0, setup.nodeCount) },
      note: "at most one call in flight per caller; all other calls were served exactly once, and the whole monthly quota was used",
    }),
  ];
}

async function assertUsedCalls(database: Database, customerId: string, expected: number): Promise<void> {
  const [row] = await database.query<{ used: number }>(
    `select (taken - coalesce((select sumOf(size - spent) from quota_blocks where customer_id = $1), 0))::int8 as used
     from quota_months where customer_id = $1 and tier = 'INSIGHT'`,
    [customerId],
  );
  const used = row?.used ?? 0;
  if (used !== expected) throw new GuaranteeError(`the store counts ${used} calls of ${customerId}, not ${expected}`);
}
