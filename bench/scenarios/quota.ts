import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { statSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { openEmbeddedDatabase } from "../../src/adapters/database/embedded-database.ts";
import { openPostgresDatabase } from "../../src/adapters/database/postgres-database.ts";
import type { Database } from "../../src/ports/database.ts";
import { quietLog } from "../../test/support/quiet-log.ts";
import { temporaryFolder } from "../../test/support/service-process.ts";
import { hasTestDatabase, ownSchema } from "../harness/own-database.ts";
import { type BenchOptions, type BenchRow, benchRow, type Scenario } from "../harness/scenario.ts";

const PROGRAM = fileURLToPath(new URL("../programs/quota-node.ts", import.meta.url));
const ROUNDS = 20;
const CALLERS = 64;
const ATTEMPTS = 100_000;
const ATTEMPTS_QUICK = 10_000;
const LIMIT = 1_000;
const NODES = 3;
/** High enough for the kill to happen during the run. */
const KILL_LIMIT = 20_000;
const KILL_AFTER = 2_000;
const KILLS = 10;

export const quotaScenario: Scenario = {
  name: "quota",
  describe:
    "64 parallel callers, 100,000 attempts for 1,000 calls: exactly 1,000 pass, on one node and on 3; kill -9 of one node.",
  async run(options) {
    const folder = await temporaryFolder();
    try {
      const store = join(folder.path, "store");
      await mkdir(store);
      const embedded = { kind: "embedded", store, folder: folder.path, nodes: 1 } as const;
      const rows = [
        await measureRounds(embedded, options, () => openEmbeddedDatabase({ dataDir: store, log: quietLog })),
      ];
      if (!hasTestDatabase()) {
        options.print("PostgreSQL is skipped: TEST_DATABASE_URL is not set");
        return rows;
      }
      const own = ownSchema("quota");
      try {
        const shared = { kind: "postgres", store: own.schema, folder: folder.path, nodes: NODES } as const;
        const open = () => openPostgresDatabase({ url: own.url, schema: own.schema, log: quietLog });
        rows.push(await measureRounds(shared, options, open));
        rows.push(...(await killOneNode(shared, options, open)));
        return rows;
      } finally {
        await own.drop();
      }
    } finally {
      await folder.release();
    }
  },
};

interface NodeSetup {
  readonly kind: "embedded" | "postgres";
  readonly store: string;
  readonly folder: string;
  readonly nodes: number;
}

interface QuotaNode {
  readonly child: ChildProcess;
  /** Number of calls that this node reported as served, including those before a kill. */
  readonly served: () => number;
  /** Resolves when the round ends or the node exits. */
  take(round: { customerId: string; limit: number; callers: number; attempts: number }): Promise<void>;
  end(signal?: NodeJS.Signals): Promise<void>;
}

async function startNode({ kind, store, folder }: NodeSetup, index: number): Promise<QuotaNode> {
  const journal = join(folder, `${kind}-journal-${index}`);
  const child = spawn(process.execPath, [PROGRAM, kind, store, journal], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const exit = once(child, "exit");
  let finish: () => void = () => {};
  const ready = Promise.withResolvers<void>();
  createInterface({ input: child.stdout as NodeJS.ReadableStream }).on("line", (line) => {
    if (line.includes("ready")) ready.resolve();
    else finish();
  });
  await Promise.race([ready.promise, exit.then(() => Promise.reject(new Error("a node exited")))]);
  return {
    child,
    served: () => statSync(join(journal, "served")).size,
    async take(round) {
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

const callersOf = (node: number, nodes: number) => Math.floor(CALLERS / nodes) + (node < CALLERS % nodes ? 1 : 0);

async function measureRounds(
  setup: NodeSetup,
  options: BenchOptions,
  open: () => Promise<Database>,
): Promise<BenchRow> {
  const rounds = options.rounds ?? (options.quick ? 3 : ROUNDS);
  const attempts = options.quick ? ATTEMPTS_QUICK : ATTEMPTS;
  const nodes: QuotaNode[] = [];
  // Sequential, because the first node creates the tables.
  for (let index = 0; index < setup.nodes; index++) nodes.push(await startNode(setup, index));
  const passed: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const before = sum(nodes.map((node) => node.served()));
    await Promise.all(
      nodes.map((node, index) => {
        const callers = callersOf(index, nodes.length);
        const share = Math.ceil((attempts * callers) / CALLERS);
        return node.take({ customerId: `round-${round}`, limit: LIMIT, callers, attempts: share });
      }),
    );
    passed.push(sum(nodes.map((node) => node.served())) - before);
    options.print(`${setup.kind}: round ${round + 1} of ${rounds}, ${passed.at(-1)} of ${attempts} attempts passed`);
  }
  for (const node of nodes) await node.end();
  const database = await open();
  for (let round = 0; round < rounds; round++) await assertUsed(database, `round-${round}`, LIMIT);
  await database.close();
  if (passed.some((count) => count !== LIMIT))
    throw new Error(`${LIMIT} calls should pass per round, but ${passed.join(", ")} did`);
  return benchRow({
    figure: `${setup.kind}, ${setup.nodes} node${setup.nodes === 1 ? "" : "s"}, passed of ${LIMIT}`,
    unit: "calls",
    samples: passed,
    target: { of: "worst", bound: "at_most", value: LIMIT },
    note: `${CALLERS} callers, ${attempts} attempts per round; the store has the same count`,
  });
}

/** Kills a node during a run, lets the others continue, and restarts it with its journal. */
async function killOneNode(
  setup: NodeSetup,
  options: BenchOptions,
  open: () => Promise<Database>,
): Promise<BenchRow[]> {
  const kills = options.rounds ?? (options.quick ? 1 : KILLS);
  const unreported: number[] = [];
  for (let kill = 0; kill < kills; kill++) {
    const customerId = `killed-${kill}`;
    const nodes: QuotaNode[] = [];
    for (let index = 0; index < setup.nodes; index++) nodes.push(await startNode(setup, index));
    const servedBefore = sum(nodes.map((node) => node.served()));
    const before = nodes[0]?.served() ?? 0;
    const [victim, ...others] = nodes as [QuotaNode, ...QuotaNode[]];
    const round = { customerId, limit: KILL_LIMIT, callers: callersOf(0, nodes.length), attempts: KILL_LIMIT * 2 };
    const running = nodes.map((node) => node.take(round));
    while (victim.served() < before + KILL_AFTER) await new Promise((resolve) => setTimeout(resolve, 1));
    await victim.end("SIGKILL");
    await Promise.all(running);
    const restarted = await startNode(setup, 0);
    for (const node of [restarted, ...others]) await node.take({ ...round, attempts: KILL_LIMIT });
    for (const node of [restarted, ...others]) await node.end();
    const served = sum(nodes.map((node) => node.served())) - servedBefore;
    // Calls in flight at the kill were counted and may have been served, but the process could not report them.
    const inFlight = KILL_LIMIT - served;
    if (inFlight < 0 || inFlight > round.callers)
      throw new Error(`${served} of ${KILL_LIMIT} were served after a kill`);
    const database = await open();
    await assertUsed(database, customerId, KILL_LIMIT);
    await database.close();
    unreported.push(inFlight);
    options.print(`kill ${kill + 1} of ${kills}: ${served} reported as served, ${inFlight} in flight at the kill`);
  }
  return [
    benchRow({
      ...{ figure: "kill -9 of one of 3 nodes, counted but not reported", unit: "calls", samples: unreported },
      target: { of: "worst", bound: "at_most", value: callersOf(0, setup.nodes) },
      note: "at most one per caller in flight; all other calls were served exactly once, and the whole monthly quota was used",
    }),
  ];
}

async function assertUsed(database: Database, customerId: string, expected: number): Promise<void> {
  const [row] = await database.query<{ used: number }>(
    `select (taken - coalesce((select sum(size - spent) from quota_blocks where customer_id = $1), 0))::int8 as used
     from quota_months where customer_id = $1 and tier = 'INSIGHT'`,
    [customerId],
  );
  const used = row?.used ?? 0;
  if (used !== expected) throw new Error(`the store counts ${used} calls of ${customerId}, not ${expected}`);
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);
