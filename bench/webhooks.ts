/**
 * Benchmark of webhooks. PostgreSQL in `TEST_DATABASE_URL`.
 *
 *   node bench/webhooks.ts rate [--store postgres|embedded] [--endpoints 50] [--rate 1000] [--seconds 15]
 *   node bench/webhooks.ts dead [--store postgres] [--endpoints 50] [--dead 10] [--rate 500] [--rounds 7] [--seconds 5] [--deadline 10000]
 *   node bench/webhooks.ts kills [--events 10000] [--endpoints 5] [--kills 5]
 *
 * The receiver is a process of its own. The lag of an event is the time from just before its append until its first
 * attempt arrives. Rates are deliveries per second.
 *
 * - `rate`: deliveries per second and lag on one node.
 * - `dead`: compares the lag of healthy endpoints in rounds with and without endpoints that never answer. An attempt ends
 *   after `--deadline` milliseconds.
 * - `kills`: kills and replaces the processes of two nodes while 30% of the requests fail. Every endpoint must accept
 *   every event.
 */
import { setTimeout as pause } from "node:timers/promises";
import { parseArgs } from "node:util";
import { createInProcessBus } from "../src/adapters/bus/in-process-bus.ts";
import { openPostgresBus } from "../src/adapters/bus/postgres-bus.ts";
import { openEmbeddedDatabase } from "../src/adapters/database/embedded-database.ts";
import { migrateDatabase } from "../src/adapters/database/migrations.ts";
import { openPostgresDatabase } from "../src/adapters/database/postgres-database.ts";
import { systemClock } from "../src/adapters/system/system-clock.ts";
import { systemRandom } from "../src/adapters/system/system-random.ts";
import { createWebhookService, Dispatcher } from "../src/capabilities/events/webhooks/index.ts";
import { appendEvents, createEventLog } from "../src/event-log/index.ts";
import { roundTo } from "../src/lib/numbers.ts";
import { quietLog } from "../test/support/quiet-log.ts";
import { temporaryFolder } from "../test/support/service-process.ts";
import { fakeSeal } from "../test/support/webhooks/fake-webhook-ports.ts";
import { createLoopbackWebhookOut } from "../test/support/webhooks/loopback-webhook-out.ts";
import { createProgramStarter, endProcess, receiveMessage, requestMessage } from "./harness/child-process.ts";
import { reserveSchema } from "./harness/own-database.ts";
import { interleave } from "./harness/rounds.ts";
import { quantile, quantiles } from "./harness/statistics.ts";

const SECRET = `whsec_${Buffer.alloc(32, 5).toString("base64")}`;
const SETTLE_MS = 2_000;
/** Time without a new delivery after which the rest counts as lost. */
const STALL_MS_MAX = 60_000;
const WEBHOOKS_PER_CUSTOMER = 10;
/** At higher rates, a transaction contains several events. */
const TRANSACTIONS_PER_SECOND_MAX = 50;
const RETRY_DELAY_MS = 500;
const DEADLINE_MS = 1_000;

const { values: flags, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    store: { type: "string", default: "postgres" },
    endpoints: { type: "string" },
    rate: { type: "string" },
    seconds: { type: "string" },
    dead: { type: "string", default: "10" },
    rounds: { type: "string", default: "7" },
    events: { type: "string", default: "10000" },
    kills: { type: "string", default: "5" },
    deadline: { type: "string" },
  },
});

interface Collected {
  /** Requests to endpoints that never answer. */
  readonly unanswered: number;
  readonly requests: number;
  readonly invalid: number;
  readonly changedBodies: number;
  readonly disordered: number;
  readonly faults: number;
  readonly lags: readonly number[];
  readonly accepted: readonly (readonly [path: string, events: number])[];
}

const channel = `bench_${process.pid}`;
const schema = flags.store === "embedded" ? null : reserveSchema("webhooks");
const folder = await temporaryFolder();
const database =
  schema === null
    ? await openEmbeddedDatabase({ dataDir: folder.path, log: quietLog })
    : await openPostgresDatabase({ url: schema.url, schema: schema.schema, log: quietLog });
await migrateDatabase(database);
const common = { clock: systemClock, random: systemRandom, log: quietLog };
const bus = schema === null ? createInProcessBus(quietLog) : openPostgresBus({ url: schema.url, channel, ...common });
const eventLog = createEventLog({ database, bus });
const out = createLoopbackWebhookOut(flags.deadline === undefined ? {} : { deadlineMs: Number(flags.deadline) });
const service = createWebhookService({
  ...common,
  database,
  bus,
  out,
  seal: fakeSeal,
  checkUrl: (url) => ({ kind: "valid", url }),
});
const programs = createProgramStarter();
const webhookIds: (readonly [customerId: string, webhookId: string])[] = [];
let appended = 0;

const receiver = programs.start("webhook-receiver", [SECRET]);
const { port } = await receiveMessage<{ port: number }>(receiver);
const collect = () => requestMessage<Collected>(receiver, "collect");

async function register(path: string, count: number): Promise<void> {
  for (let index = 0; index < count; index++) {
    const customerId = `cus-${Math.floor(webhookIds.length / WEBHOOKS_PER_CUSTOMER)}`;
    await database.query(
      `insert into customers (customer_id, plan, status, created_at) values ($1, 'pro', 'active', now())
       on conflict do nothing`,
      [customerId],
    );
    const url = `http://127.0.0.1:${port}/${path}/${index}`;
    const webhook = await service.register(customerId, { url, events: ["price_shift"], secret: SECRET });
    webhookIds.push([customerId, webhook.webhookId]);
  }
}

async function append(count = 1): Promise<void> {
  const sentAt = performance.timeOrigin + performance.now();
  const events = Array.from({ length: count }, () => {
    appended += 1;
    const payload = { platform: "alpha", market_id: "m1", title: "Will it rain?", sent_at: sentAt };
    const event = { type: "price_shift", occurredAt: sentAt, venue: "alpha", marketId: "m1", payload } as const;
    return { ...event, key: `e${appended}` };
  });
  await database.transaction((transaction) => appendEvents(transaction, events));
  eventLog.announce();
}

async function appendFor(seconds: number, perSecond: number): Promise<void> {
  const startedAt = performance.now();
  const batch = Math.ceil(perSecond / TRANSACTIONS_PER_SECOND_MAX);
  for (let index = 0; index < seconds * perSecond; index += batch) {
    await pause(Math.max(0, startedAt + (index * 1_000) / perSecond - performance.now()));
    await append(batch);
  }
}

/** Waits until `isComplete`, or until no request has arrived for a minute. Returns what the receiver got. */
async function collectAll(isComplete: (collected: Collected) => boolean): Promise<Collected> {
  const lags: number[] = [];
  let lastRequests = -1;
  let lastChangeAt = performance.now();
  for (;;) {
    const collected = await collect();
    for (const lag of collected.lags) lags.push(lag);
    if (collected.requests !== lastRequests) lastChangeAt = performance.now();
    lastRequests = collected.requests;
    if (isComplete(collected) || performance.now() - lastChangeAt > STALL_MS_MAX) return { ...collected, lags };
    await pause(200);
  }
}

const round = (value: number) => roundTo(value, 1);
const acceptedOn = ({ accepted }: Collected) => accepted.reduce((sum, [, count]) => sum + count, 0);

function startDispatcher(): Dispatcher {
  const dispatcher = new Dispatcher({
    ...common,
    database,
    bus,
    eventLog,
    out,
    seal: fakeSeal,
    nodeId: `n${appended}`,
  });
  dispatcher.start();
  return dispatcher;
}

async function measureRate(endpoints: number, rate: number, seconds: number): Promise<void> {
  await register("ok", endpoints);
  const dispatcher = startDispatcher();
  await append();
  await pause(SETTLE_MS);
  await collect();
  const startedAt = performance.now();
  await appendFor(seconds, rate / endpoints);
  const collected = await collectAll((each) => acceptedOn(each) >= appended * endpoints);
  const tookSeconds = (performance.now() - startedAt) / 1_000;
  const [p50Ms, p99Ms] = quantiles(collected.lags, [0.5, 0.99]);
  print({
    store: flags.store,
    endpoints,
    rate,
    deliveriesPerSecond: round(collected.lags.length / tookSeconds),
    p50Ms: round(p50Ms),
    p99Ms: round(p99Ms),
    lost: appended * endpoints - acceptedOn(collected),
    duplicates: collected.requests - acceptedOn(collected),
    ...problems(collected),
  });
  await dispatcher.stop();
}

const problems = ({ invalid, changedBodies, disordered }: Collected) => ({ invalid, changedBodies, disordered });

/** Enables or disables the endpoints that never answer. They were registered after the first `healthy` ones. */
async function enableDead(isEnabled: boolean, healthy: number): Promise<void> {
  for (const [customerId, webhookId] of webhookIds.slice(healthy))
    await service.change(customerId, webhookId, { enabled: isEnabled });
}

async function measureDead(options: Readonly<Record<"endpoints" | "dead" | "rate" | "rounds" | "seconds", number>>) {
  const healthy = options.endpoints - options.dead;
  await register("ok", healthy);
  await register("dead", options.dead);
  const dispatcher = startDispatcher();
  await append();
  await pause(SETTLE_MS);
  const measureRound = async (kind: "healthy" | "dead") => {
    await enableDead(kind === "dead", healthy);
    const { unanswered } = await collect();
    await appendFor(options.seconds, options.rate / healthy);
    const collected = await collectAll((each) => acceptedOn(each) >= appended * healthy);
    return { p99Ms: quantile(collected.lags, 0.99), unanswered: collected.unanswered - unanswered };
  };
  const samples = await interleave(options.rounds, {
    healthy: () => measureRound("healthy"),
    dead: () => measureRound("dead"),
  });
  const ratios = samples.dead.map(({ p99Ms, unanswered }, index) => {
    const without = samples.healthy[index]?.p99Ms ?? Number.NaN;
    print({ round: index + 1, p99WithoutDeadMs: round(without), p99WithDeadMs: round(p99Ms), unanswered });
    return p99Ms / without;
  });
  print({ medianRatio: roundTo(quantile(ratios, 0.5), 2), ratios: ratios.map(round) });
  await dispatcher.stop();
}

async function measureKills(events: number, endpoints: number, kills: number): Promise<void> {
  if (schema === null) throw new Error("The embedded store has one process");
  await register("faulty", endpoints);
  const start = async () => {
    const { url } = schema;
    const args = [url, schema.schema, channel, RETRY_DELAY_MS, DEADLINE_MS];
    const child = programs.start("webhook-dispatcher", args);
    await receiveMessage(child);
    return child;
  };
  const nodes = [await start(), await start()];
  const startedAt = performance.now();
  let killed = 0;
  for (let sent = 0; sent < events; sent += 50) {
    await append(Math.min(50, events - sent));
    await pause(100);
    if (killed >= kills || sent < (events * killed) / kills) continue;
    killed += 1;
    const node = nodes.shift();
    if (node !== undefined) await endProcess(node, "SIGKILL");
    nodes.push(await start());
  }
  const collected = await collectAll((each) => acceptedOn(each) >= appended * endpoints);
  print({
    events,
    endpoints,
    kills: killed,
    seconds: round((performance.now() - startedAt) / 1_000),
    lost: appended * endpoints - acceptedOn(collected),
    requests: collected.requests,
    faults: collected.faults,
    repeatedAfterSuccess: collected.requests - collected.faults - acceptedOn(collected),
    invalid: collected.invalid,
    changedBodies: collected.changedBodies,
  });
}

const print = (figures: object) => process.stdout.write(`${JSON.stringify(figures)}\n`);
const numberOf = (name: "endpoints" | "rate" | "seconds", otherwise: number) => Number(flags[name] ?? otherwise);

try {
  const [scenario] = positionals;
  if (scenario === "rate")
    await measureRate(numberOf("endpoints", 50), numberOf("rate", 1_000), numberOf("seconds", 15));
  else if (scenario === "dead")
    await measureDead({
      endpoints: numberOf("endpoints", 50),
      rate: numberOf("rate", 500),
      seconds: numberOf("seconds", 5),
      dead: Number(flags.dead),
      rounds: Number(flags.rounds),
    });
  else if (scenario === "kills")
    await measureKills(Number(flags.events), numberOf("endpoints", 5), Number(flags.kills));
  else throw new RangeError("Choose rate, dead or kills");
} finally {
  programs.killAll();
  await out.close();
  await bus.close();
  if (schema !== null) await database.query(`drop schema ${schema.schema} cascade`);
  await database.close();
  await folder.release();
}
