import { once } from "node:events";
import { connect, type Socket } from "node:net";
import autocannon from "autocannon";
import { quantile } from "./statistics.ts";

export interface LoadTarget {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * Requests a second that a server answers when 64 connections each ask again at once. Throws where an answer is no 2xx:
 * a refusal is quick and would flatter.
 */
export async function saturate(target: LoadTarget, seconds: number, connections = 64): Promise<number> {
  const result = await autocannon({
    url: target.url,
    headers: { ...target.headers },
    connections,
    duration: seconds,
    excludeErrorStats: true,
  });
  if (result.errors + result.non2xx > 0) {
    throw new Error(`${target.url}: ${result.errors} errors and ${result.non2xx} answers other than 2xx`);
  }
  return result["2xx"] / result.duration;
}

export interface PacedResult {
  readonly sent: number;
  readonly failed: number;
  /** Milliseconds from the instant a request was due until its answer was read whole. */
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly p999Ms: number;
  readonly maxMs: number;
}

const PACE_MS = 1;
const ANSWER_MS_MAX = 10_000;
const HEAD_END = "\r\n\r\n";

/**
 * Asks at a fixed rate whatever the answers do, and counts each from the instant it was due: a server that stalls is
 * charged for every request that would have come meanwhile, and so is this client when it is late itself.
 *
 * Own code, because autocannon's fixed rate sends a second's share in one burst at the second's start, and its
 * correction for coordinated omission takes the expected interval for one millisecond whatever the rate.
 */
export async function askAtFixedRate(
  target: LoadTarget,
  options: { readonly perSecond: number; readonly seconds: number; readonly connections?: number },
): Promise<PacedResult> {
  const { perSecond, seconds, connections = 64 } = options;
  const { hostname, port, pathname, search, host } = new URL(target.url);
  const lines = Object.entries({ host, ...target.headers }).map(([name, value]) => `${name}: ${value}`);
  const bytes = Buffer.from(`GET ${pathname}${search} HTTP/1.1\r\n${lines.join("\r\n")}${HEAD_END}`);
  const lanes = await Promise.all(Array.from({ length: connections }, () => openLane(Number(port), hostname, bytes)));
  const total = Math.round(perSecond * seconds);
  const latencies: number[] = [];
  let failed = 0;
  let due = 0;
  /** Due but without a free connection; a server that keeps up leaves it empty. */
  const waiting: number[] = [];
  /** Used in turn: a connection that has not asked for anything for long is closed by the server, and rightly. */
  const idle = [...lanes];
  const startedAt = performance.now();
  const dueAt = (index: number) => startedAt + (index * 1_000) / perSecond;
  const serve = (lane: Lane, index: number) => {
    lane.ask((isOk) => {
      if (isOk) latencies.push(performance.now() - dueAt(index));
      else failed += 1;
      const next = waiting.shift();
      if (next === undefined) idle.push(lane);
      else serve(lane, next);
    });
  };
  while (due < total) {
    const now = performance.now();
    for (; due < total && dueAt(due) <= now; due++) {
      const lane = idle.shift();
      if (lane === undefined) waiting.push(due);
      else serve(lane, due);
    }
    await new Promise((resolve) => setTimeout(resolve, PACE_MS));
  }
  const giveUpAt = performance.now() + ANSWER_MS_MAX;
  while (latencies.length + failed < total && performance.now() < giveUpAt) {
    await new Promise((resolve) => setTimeout(resolve, PACE_MS));
  }
  for (const lane of lanes) lane.close();
  const sorted = latencies.toSorted((a, b) => a - b);
  return {
    sent: total,
    failed: total - latencies.length,
    p50Ms: quantile(sorted, 0.5),
    p99Ms: quantile(sorted, 0.99),
    p999Ms: quantile(sorted, 0.999),
    maxMs: sorted.at(-1) ?? Number.NaN,
  };
}

interface Lane {
  ask(done: (isOk: boolean) => void): void;
  close(): void;
}

/** One connection that carries one request at a time and reads no more of an answer than its status and its end. */
async function openLane(port: number, host: string, bytes: Buffer): Promise<Lane> {
  const socket: Socket = connect({ port, host, noDelay: true });
  await once(socket, "connect");
  let done: ((isOk: boolean) => void) | null = null;
  let head = "";
  let remaining = -1;
  let isOk = false;
  const finish = (result: boolean) => {
    const told = done;
    done = null;
    head = "";
    remaining = -1;
    told?.(result);
  };
  socket.on("data", (chunk) => {
    if (remaining < 0) {
      head += chunk.toString("latin1");
      const end = head.indexOf(HEAD_END);
      if (end < 0) return;
      isOk = /^HTTP\/1\.1 2/.test(head);
      remaining = Number(/^content-length: (\d+)$/im.exec(head)?.[1] ?? 0) - (head.length - end - HEAD_END.length);
    } else remaining -= chunk.length;
    if (remaining <= 0) finish(isOk);
  });
  // Asked again on a closed connection it fails again, and every failure is told.
  socket.on("error", () => {});
  socket.on("close", () => finish(false));
  return {
    ask(told) {
      if (socket.destroyed) return told(false);
      done = told;
      socket.write(bytes);
    },
    close: () => socket.destroy(),
  };
}
