/**
 * Measures how much attackers slow down the requests and webhooks of another customer.
 *
 *   node bench/attacks.ts floods[=10] slow[=80] unknown[=16] [--rounds 2] [--seconds 10] [--checkouts DIR,...]
 *
 * Each argument adds an attack, with its size:
 * - `floods`: webhook receivers that answer without end with interim responses, trailers, chunk extensions, chunks of
 *   one byte, or headers.
 * - `slow`: webhook receivers that answer 200 after 9.5 s, ten per customer.
 * - `unknown`: loops of requests for unknown ids of all venues, with one key.
 *
 * The service runs as `npm start` does, with simulated venues. The other customer requests one market, a list of 30
 * markets, one order book of each venue and `/livez` at a fixed rate, and receives webhooks. Each round measures this load
 * without and with the attack, in alternating order. The response time of a request starts at its scheduled time. The delay of
 * a delivery starts when the same event arrives on the event stream. The results are medians over the rounds. The p99 of a
 * bare server under the same load shows the noise of the machine. Prints one JSON line per checkout.
 */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createInterface } from "node:readline";
import { Readable } from "node:stream";
import type { ReadableStream as WebReadableStream } from "node:stream/web";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { roundTo } from "../src/lib/numbers.ts";
import { eventually } from "../test/support/service-process.ts";
import { type AttackedService, startAttackedService } from "./harness/attacked-service.ts";
import { type Attack, type AttackCounts, attackersOf, openAttackers } from "./harness/attackers.ts";
import { startBareServer } from "./harness/bare-server.ts";
import { type LoadTarget, sendAtFixedRate } from "./harness/load.ts";
import { cpuSecondsOf } from "./harness/process-usage.ts";
import { interleave } from "./harness/rounds.ts";
import { quantiles, spreadOf } from "./harness/statistics.ts";

/** Venues that are accepted in paths with the default settings. */
const VENUES = ["polymarket", "kalshi", "limitless"];
const REQUESTS_PER_SECOND = 20;
const BOOKS_PER_SECOND = 1;
const CONNECTIONS = 8;
/** Time between the start of an attack and the measurement, so that the attack has its full effect. */
const SETTLE_MS = 3_000;
const FIRST_SWEEP_MS_MAX = 120_000;

interface Measured {
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly count: number;
  readonly failed: number;
}
type Load = ReadonlyMap<string, { readonly target: LoadTarget; readonly perSecond: number }>;

const { values: flags, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: "string", default: "2" },
    seconds: { type: "string", default: "10" },
    checkouts: { type: "string", default: fileURLToPath(new URL("..", import.meta.url)) },
  },
});
const attack = parseAttack(positionals);
const seconds = Number(flags.seconds);
for (const checkout of flags.checkouts.split(","))
  process.stdout.write(`${JSON.stringify({ checkout, attack, ...(await measureCheckout(checkout, attack)) })}\n`);

/** Parses arguments such as `floods` and `slow=120`. */
function parseAttack(args: readonly string[]): Attack {
  const parsed = { floods: 0, slow: 0, unknown: 0 };
  const defaults = { floods: 10, slow: 80, unknown: 16 };
  for (const arg of args) {
    const [, name, size] = /^(floods|slow|unknown)(?:=(\d+))?$/.exec(arg) ?? [];
    if (name === undefined)
      throw new RangeError(`"${arg}" is none of floods, slow and unknown, with or without =number`);
    const key = name as keyof Attack;
    parsed[key] = size === undefined ? defaults[key] : Number(size);
  }
  if (args.length === 0) throw new RangeError("Give at least one of floods, slow and unknown");
  return parsed;
}

/**
 * Receives the other customer's events, by webhook and by event stream. `takeDelaysMs` returns how much later the first
 * attempt of each webhook delivery since the last call arrived than the same event on the stream.
 */
async function openReceiver(service: AttackedService): Promise<{ takeDelaysMs(): number[]; close(): void }> {
  const streamedAt = new Map<string, number>();
  const deliveredAt = new Map<string, number>();
  const server = createServer((request, response) => {
    const at = performance.now();
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      response.end();
      const { id } = JSON.parse(Buffer.concat(chunks).toString()) as { readonly id: string };
      if (!deliveredAt.has(id)) deliveredAt.set(id, at);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const headers = { authorization: `Bearer ${service.otherKey}`, "content-type": "application/json" };
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const body = JSON.stringify({ url, events: ["whale_alert"] });
  const registration = await fetch(`${service.url}/v1/webhooks`, { method: "POST", headers, body });
  if (!registration.ok) throw new Error(`registering a webhook returned ${registration.status}`);
  const abort = new AbortController();
  const stream = await fetch(`${service.url}/v1/stream?events=whale_alert`, { headers, signal: abort.signal });
  if (!stream.ok || stream.body === null) throw new Error(`the event stream returned ${stream.status}`);
  const input = Readable.fromWeb(stream.body as WebReadableStream);
  const lines = createInterface({ input });
  // Both emit an error when the request is aborted.
  input.on("error", () => {});
  lines.on("error", () => {});
  lines.on("line", (line) => {
    const id = /^id: (\d+)$/.exec(line)?.[1];
    if (id !== undefined) streamedAt.set(id, performance.now());
  });
  return {
    takeDelaysMs() {
      const ids = [...deliveredAt.keys()].filter((id) => streamedAt.has(id));
      const delaysMs = ids.map((id) => Math.max(0, (deliveredAt.get(id) ?? 0) - (streamedAt.get(id) ?? 0)));
      for (const id of ids) streamedAt.delete(id);
      return delaysMs;
    },
    close() {
      abort.abort();
      server.closeAllConnections();
      server.close();
    },
  };
}

async function loadOf(service: AttackedService): Promise<Load> {
  const headers = { authorization: `Bearer ${service.otherKey}` };
  const target = (path: string) => ({ url: `${service.url}${path}`, headers });
  const markets = await Promise.all(
    VENUES.map((venue) =>
      eventually(
        async () => {
          const { status, json } = await service.get(`/v1/markets?limit=1&platform=${venue}`, headers);
          return status === 200 ? ((json[0] as { market_id: string } | undefined) ?? null) : null;
        },
        `a market of ${venue}`,
        FIRST_SWEEP_MS_MAX,
      ),
    ),
  );
  const pathOf = (index: number) =>
    `/v1/markets/${VENUES[index]}/${encodeURIComponent(markets[index]?.market_id ?? "")}`;
  return new Map([
    ["livez", { target: { url: `${service.url}/livez`, headers: {} }, perSecond: REQUESTS_PER_SECOND }],
    ["market", { target: target(pathOf(0)), perSecond: REQUESTS_PER_SECOND }],
    ["list", { target: target("/v1/markets?limit=30"), perSecond: REQUESTS_PER_SECOND }],
    ...VENUES.map(
      (venue, index) =>
        [`${venue} book`, { target: target(`${pathOf(index)}/orderbook`), perSecond: BOOKS_PER_SECOND }] as const,
    ),
  ]);
}

async function measureLoad(load: Load): Promise<Record<string, Measured>> {
  const results = await Promise.all(
    [...load].map(async ([kind, { target, perSecond }]) => {
      const result = await sendAtFixedRate(target, { perSecond, seconds, connections: CONNECTIONS });
      return [kind, { p50Ms: result.p50Ms, p99Ms: result.p99Ms, count: result.sent, failed: result.failed }] as const;
    }),
  );
  return Object.fromEntries(results);
}

async function measureCheckout(checkout: string, size: Attack): Promise<object> {
  const service = await startAttackedService(checkout, attackersOf(size).count);
  const receiver = await openReceiver(service);
  const attackers = await openAttackers(service.url, service.attackerKeys);
  try {
    const load = await loadOf(service);
    const bare = await startBareServer(load.get("market")?.target ?? { url: "", headers: {} });
    const loadWithBare: Load = new Map([
      ...load,
      ["bare server", { target: { url: bare.url, headers: {} }, perSecond: REQUESTS_PER_SECOND }],
    ]);
    const cpuShares: Record<"alone" | "attacked", number[]> = { alone: [], attacked: [] };
    let attackCounts: AttackCounts | null = null;
    const measure = async (kind: "alone" | "attacked") => {
      if (kind === "attacked") await attackers.start(size);
      await sleep(SETTLE_MS);
      receiver.takeDelaysMs();
      const [cpuBefore, startedAt] = [await cpuSecondsOf(service.pid), performance.now()];
      const measured = await measureLoad(loadWithBare);
      const cpuAfter = await cpuSecondsOf(service.pid);
      if (cpuBefore !== null && cpuAfter !== null)
        cpuShares[kind].push(((cpuAfter - cpuBefore) * 1_000) / (performance.now() - startedAt));
      const delaysMs = receiver.takeDelaysMs();
      if (delaysMs.length > 0) {
        const [p50Ms, p99Ms] = quantiles(delaysMs, [0.5, 0.99]);
        measured.delivery = { p50Ms, p99Ms, count: delaysMs.length, failed: 0 };
      }
      if (kind === "attacked") attackCounts = await attackers.stop();
      return measured;
    };
    const samples = await interleave(Number(flags.rounds), {
      alone: () => measure("alone"),
      attacked: () => measure("attacked"),
    });
    await bare.close();
    return {
      alone: summarize(samples.alone),
      attacked: summarize(samples.attacked),
      cpuShareAlone: roundedMedianOf(cpuShares.alone),
      cpuShareAttacked: roundedMedianOf(cpuShares.attacked),
      lastAttack: attackCounts,
    };
  } finally {
    await attackers.close();
    receiver.close();
    await service.close();
  }
}

/** Returns the median with one decimal place, or null without values. */
function roundedMedianOf(values: readonly number[]): number | null {
  return values.length === 0 ? null : roundTo(spreadOf(values).median, 1);
}

/** Returns the medians of p50 and p99 over the rounds, and the total of requests and failures, by kind of request. */
function summarize(rounds: readonly Readonly<Record<string, Measured>>[]): object {
  const kinds = new Set(rounds.flatMap((round) => Object.keys(round)));
  return Object.fromEntries(
    [...kinds].map((kind) => {
      const measured = rounds.flatMap((round) => round[kind] ?? []);
      const sum = (field: "count" | "failed") => measured.reduce((total, each) => total + each[field], 0);
      return [
        kind,
        {
          p50Ms: roundedMedianOf(measured.map((each) => each.p50Ms)),
          p99Ms: roundedMedianOf(measured.map((each) => each.p99Ms)),
          count: sum("count"),
          failed: sum("failed"),
        },
      ];
    }),
  );
}
