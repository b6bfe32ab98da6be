import { once } from "node:events";
import { connect, type Socket } from "node:net";
import autocannon from "autocannon";
import { quantile } from "./statistics.ts";

export interface LoadTarget {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * Requests per second of a server when 64 connections send their next request immediately. Throws if a response is not 2xx,
 * because errors are fast and would inflate the figure.
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
    throw new Error(`${target.url}: ${result.errors} errors and ${result.non2xx} responses other than 2xx`);
  }
  return result["2xx"] / result.duration;
}

export interface PacedResult {
  readonly sent: number;
  readonly failed: number;
  /** Milliseconds from the scheduled time of a request until its response was read completely. */
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly p999Ms: number;
  readonly maxMs: number;
}

const POLL_MS = 1;
const RESPONSE_MS_MAX = 10_000;
const HEADER_END = "\r\n\r\n";

/**
 * Sends requests at a fixed rate and measures each from its scheduled time, so that a stall of the server (or of this
 * client) counts for every request scheduled during it.
 *
 * autocannon is not used here: its fixed rate sends a second's requests in one burst, and its correction for coordinated
 * omission always assumes an interval of one millisecond.
 */
export async function sendAtFixedRate(
  target: LoadTarget,
  options: { readonly perSecond: number; readonly seconds: number; readonly connections?: number },
): Promise<PacedResult> {
  const { perSecond, seconds, connections = 64 } = options;
  const { hostname, port, pathname, search, host } = new URL(target.url);
  const lines = Object.entries({ host, ...target.headers }).map(([name, value]) => `${name}: ${value}`);
  const bytes = Buffer.from(`GET ${pathname}${search} HTTP/1.1\r\n${lines.join("\r\n")}${HEADER_END}`);
  const connectionPool = await Promise.all(
    Array.from({ length: connections }, () => openConnection(Number(port), hostname, bytes)),
  );
  const total = Math.round(perSecond * seconds);
  const latencies: number[] = [];
  let failed = 0;
  let scheduled = 0;
  /** Scheduled requests without a free connection; empty if the server keeps up. */
  const waiting: number[] = [];
  /** Used in rotation, because the server closes idle connections. */
  const idle = [...connectionPool];
  const startedAt = performance.now();
  const scheduledAt = (index: number) => startedAt + (index * 1_000) / perSecond;
  const sendRequest = (connection: LoadConnection, index: number) => {
    connection.send((isOk) => {
      if (isOk) latencies.push(performance.now() - scheduledAt(index));
      else failed += 1;
      const next = waiting.shift();
      if (next === undefined) idle.push(connection);
      else sendRequest(connection, next);
    });
  };
  while (scheduled < total) {
    const now = performance.now();
    for (; scheduled < total && scheduledAt(scheduled) <= now; scheduled++) {
      const connection = idle.shift();
      if (connection === undefined) waiting.push(scheduled);
      else sendRequest(connection, scheduled);
    }
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
  const deadline = performance.now() + RESPONSE_MS_MAX;
  while (latencies.length + failed < total && performance.now() < deadline) {
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
  for (const connection of connectionPool) connection.close();
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

interface LoadConnection {
  send(done: (isOk: boolean) => void): void;
  close(): void;
}

/** A connection with one request at a time. It reads only the status and the end of a response. */
async function openConnection(port: number, host: string, bytes: Buffer): Promise<LoadConnection> {
  const socket: Socket = connect({ port, host, noDelay: true });
  await once(socket, "connect");
  let done: ((isOk: boolean) => void) | null = null;
  let header = "";
  let remaining = -1;
  let isOk = false;
  const finish = (result: boolean) => {
    const callback = done;
    done = null;
    header = "";
    remaining = -1;
    callback?.(result);
  };
  socket.on("data", (chunk) => {
    if (remaining < 0) {
      header += chunk.toString("latin1");
      const end = header.indexOf(HEADER_END);
      if (end < 0) return;
      isOk = /^HTTP\/1\.1 2/.test(header);
      remaining =
        Number(/^content-length: (\d+)$/im.exec(header)?.[1] ?? 0) - (header.length - end - HEADER_END.length);
    } else remaining -= chunk.length;
    if (remaining <= 0) finish(isOk);
  });
  // The close event reports every failure.
  socket.on("error", () => {});
  socket.on("close", () => finish(false));
  return {
    send(callback) {
      if (socket.destroyed) return callback(false);
      done = callback;
      socket.write(bytes);
    },
    close: () => socket.destroy(),
  };
}
