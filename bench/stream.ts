/**
 * Benchmark of the event stream. Needs PostgreSQL in `TEST_DATABASE_URL`.
 *
 *   node bench/stream.ts fan-out [--clients 10000] [--seconds 20]
 *   node bench/stream.ts resume [--clients 1000] [--seconds 60] [--drops 1000] [--restarts 10]
 *   node bench/stream.ts stalled [--clients 2000] [--stalled 500] [--rounds 7] [--seconds 10] [--rate 10]
 *
 * Three processes run on one machine: the server, the clients, and this process, which appends the events. Lag is the
 * time from the start of an append until a client has received the event.
 *
 * - `fan-out`: sends one event per second to all clients. Memory is the server's memory with clients minus without clients.
 * - `resume`: connections are reset and the server is stopped and started, half of the times with SIGKILL. Every client
 *   must receive every event once.
 * - `stalled`: rounds with and without clients that never read. Compares the lag of the others.
 */
import type { ChildProcess } from "node:child_process";
import { setTimeout as pause } from "node:timers/promises";
import { parseArgs } from "node:util";
import { openPostgresBus } from "../src/adapters/bus/postgres-bus.ts";
import { migrateDatabase } from "../src/adapters/database/migrations.ts";
import { openPostgresDatabase } from "../src/adapters/database/postgres-database.ts";
import { systemClock } from "../src/adapters/system/system-clock.ts";
import { systemRandom } from "../src/adapters/system/system-random.ts";
import { appendEvents, createEventLog } from "../src/event-log/index.ts";
import { quietLog } from "../test/support/quiet-log.ts";
import { createProgramStarter, endProcess, receiveMessage, requestMessage } from "./harness/child-process.ts";
import { reserveSchema } from "./harness/own-database.ts";
import { residentMibOf } from "./harness/process-usage.ts";
import { interleave } from "./harness/rounds.ts";
import { quantile } from "./harness/statistics.ts";

const { values: flags, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    clients: { type: "string" },
    seconds: { type: "string" },
    drops: { type: "string", default: "1000" },
    restarts: { type: "string", default: "10" },
    stalled: { type: "string", default: "500" },
    rounds: { type: "string", default: "7" },
    rate: { type: "string", default: "10" },
  },
});
const SETTLE_MS = 3_000;
/** Longest time from the last append until all clients have received the last event. */
const DELIVERY_MS_MAX = 60_000;
const STALLED_TITLE_BYTES = 15_000;

interface Collected {
  readonly received: number;
  readonly gaps: number;
  readonly duplicates: number;
  readonly resets: number;
  readonly reconnects: number;
  readonly closedStalled: number;
  /** Smallest last event id among the clients that read. */
  readonly lastId: number;
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
}

const schema = reserveSchema("stream");
const channel = `bench_${process.pid}`;
const database = await openPostgresDatabase({ url: schema.url, schema: schema.schema, log: quietLog });
await migrateDatabase(database);
const bus = openPostgresBus({ url: schema.url, channel, clock: systemClock, random: systemRandom, log: quietLog });
const log = createEventLog({ database, bus });
const programs = createProgramStarter();
let appended = 0;

async function append(title = "Will it rain in Lisbon tomorrow?"): Promise<void> {
  appended += 1;
  const sentAt = performance.timeOrigin + performance.now();
  const payload = { platform: "alpha", market_id: "m1", title, old_yes: 0.4, new_yes: 0.5, sent_at: sentAt };
  const event = { type: "price_shift", occurredAt: sentAt, venue: "alpha", marketId: "m1", payload } as const;
  await database.transaction((transaction) => appendEvents(transaction, [{ ...event, key: `e${appended}` }]));
  log.announce();
}

/** Appends events at a fixed rate. */
async function appendFor(seconds: number, perSecond: number, title?: string): Promise<void> {
  const startedAt = performance.now();
  for (let index = 0; index < seconds * perSecond; index++) {
    await pause(Math.max(0, startedAt + (index * 1_000) / perSecond - performance.now()));
    await append(title);
  }
}

async function startServer(port = 0): Promise<{ readonly server: ChildProcess; readonly port: number }> {
  const server = programs.start("stream-server", [schema.url, schema.schema, channel, port]);
  const { port: openPort } = await receiveMessage<{ port: number }>(server);
  return { server, port: openPort };
}

async function startClients(port: number, count: number, stalled = 0): Promise<ChildProcess> {
  const clients = programs.start("stream-clients", [port, count, stalled]);
  await receiveMessage(clients);
  return clients;
}

const collect = (clients: ChildProcess) => requestMessage<Collected>(clients, { kind: "collect" });

/** Waits until all clients have received the last event. Returns the sum of the collected counts. */
async function collectAll(clients: ChildProcess): Promise<Collected> {
  const deadline = performance.now() + DELIVERY_MS_MAX;
  const first = await collect(clients);
  let sum = first;
  while (sum.lastId < appended && performance.now() < deadline) {
    await pause(500);
    const next = await collect(clients);
    const added = (["received", "gaps", "duplicates", "resets", "reconnects", "closedStalled"] as const).map(
      (name) => [name, sum[name] + next[name]] as const,
    );
    sum = { ...sum, ...Object.fromEntries(added), lastId: next.lastId, max: Math.max(sum.max, next.max ?? 0) };
  }
  return sum;
}

async function measureFanOut(clientCount: number, seconds: number): Promise<void> {
  const { server, port } = await startServer();
  await append();
  await pause(SETTLE_MS);
  const idleMib = (await residentMibOf(server.pid ?? 0)) ?? Number.NaN;
  const connectedAt = performance.now();
  const clients = await startClients(port, clientCount);
  const connectSeconds = (performance.now() - connectedAt) / 1_000;
  await pause(SETTLE_MS);
  await collect(clients);
  await appendFor(seconds, 1);
  await pause(SETTLE_MS);
  const { received, ...collected } = await collectAll(clients);
  const { figures } = await requestMessage<{ figures: { readonly fanOutMs: number } }>(server, "figures");
  const mib = ((await residentMibOf(server.pid ?? 0)) ?? Number.NaN) - idleMib;
  print({
    ...collected,
    clients: clientCount,
    expected: clientCount * seconds,
    received,
    connectSeconds,
    idleMib,
    mib,
    fanOutMs: figures.fanOutMs,
  });
  await endProcess(clients, "SIGKILL");
  await endProcess(server);
}

async function measureResume(clientCount: number, seconds: number, drops: number, restarts: number): Promise<void> {
  let { server, port } = await startServer();
  const clients = await startClients(port, clientCount);
  // Until a client has its first event, it has no position to resume from.
  await append();
  await pause(SETTLE_MS);
  const { received: first } = await collect(clients);
  const appendedBefore = appended;
  const appending = appendFor(seconds, 10);
  const stepMs = (seconds * 1_000) / restarts;
  for (let restart = 0; restart < restarts; restart++) {
    clients.send({ kind: "drop", count: Math.ceil(drops / restarts) });
    await pause(stepMs / 2);
    await endProcess(server, restart % 2 === 0 ? "SIGTERM" : "SIGKILL");
    ({ server } = await startServer(port));
    await pause(stepMs / 2);
  }
  await appending;
  await pause(SETTLE_MS);
  const collected = await collectAll(clients);
  print({ clients: clientCount, first, expected: clientCount * (appended - appendedBefore), ...collected });
  await endProcess(clients, "SIGKILL");
  await endProcess(server);
}

async function measureStalled(clientCount: number, stalled: number, rounds: number, seconds: number, rate: number) {
  const measureRound = async (kind: "healthy" | "stalled", round: number): Promise<number> => {
    const { server, port } = await startServer();
    const clients = await startClients(port, clientCount, kind === "stalled" ? stalled : 0);
    await append();
    await pause(SETTLE_MS);
    await collect(clients);
    const idleMib = (await residentMibOf(server.pid ?? 0)) ?? Number.NaN;
    await appendFor(seconds, rate, "x".repeat(STALLED_TITLE_BYTES));
    const mib = ((await residentMibOf(server.pid ?? 0)) ?? Number.NaN) - idleMib;
    const { figures } = await requestMessage<{ figures: object }>(server, "figures");
    const collected = await collectAll(clients);
    print({ round, kind, ...collected, mib, ...figures });
    await endProcess(clients, "SIGKILL");
    await endProcess(server);
    return collected.p99;
  };
  const p99s = await interleave(rounds, {
    healthy: (round) => measureRound("healthy", round),
    stalled: (round) => measureRound("stalled", round),
  });
  const healthyP99 = quantile(p99s.healthy, 0.5);
  const withStalledP99 = quantile(p99s.stalled, 0.5);
  print({ healthyP99, withStalledP99, ratio: withStalledP99 / healthyP99 });
}

function print(row: object): void {
  const round = (_name: string, value: unknown) => (typeof value === "number" ? Number(value.toFixed(2)) : value);
  process.stdout.write(`${JSON.stringify(row, round)}\n`);
}

const number = (text: string | undefined, fallback: number): number => (text === undefined ? fallback : Number(text));
try {
  const [scenario = "fan-out"] = positionals;
  const { clients, seconds, drops, restarts, stalled, rounds, rate } = flags;
  if (scenario === "fan-out") await measureFanOut(number(clients, 10_000), number(seconds, 20));
  else if (scenario === "resume")
    await measureResume(number(clients, 1_000), number(seconds, 60), Number(drops), Number(restarts));
  else if (scenario === "stalled")
    await measureStalled(number(clients, 2_000), Number(stalled), Number(rounds), number(seconds, 10), Number(rate));
  else throw new Error(`unknown scenario ${scenario}`);
} finally {
  programs.killAll();
  await bus.close();
  await database.close();
  await schema.drop();
}
