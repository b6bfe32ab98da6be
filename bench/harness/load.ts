import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import autocannon from "autocannon";
import { quantiles } from "./statistics.ts";

export interface LoadTarget {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * Measures requests per second. Each connection sends its next request as soon as the previous response has arrived.
 * Throws if a response is not 2xx, because errors are fast and would inflate the figure.
 */
export async function measureThroughput(target: LoadTarget, seconds: number, connections = 64): Promise<number> {
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

export interface FixedRateResult {
  readonly sent: number;
  readonly failed: number;
  /** Milliseconds from the scheduled time of a request until its response was read completely. */
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly p999Ms: number;
}

const POLL_MS = 1;
const RESPONSE_MS_MAX = 10_000;
const HEADER_TERMINATOR = "\r\n\r\n";

/**
 * Sends requests at a fixed rate and measures each response time from the scheduled time of the request, so that a
 * stall of the server (or of this client) counts for every request scheduled during the stall.
 *
 * autocannon is not used here: its fixed rate sends a second's requests in one burst, and its correction for
 * coordinated omission always assumes an interval of one millisecond.
 */
export async function sendAtFixedRate(
  target: LoadTarget,
  options: { readonly perSecond: number; readonly seconds: number; readonly connections?: number },
): Promise<FixedRateResult> {
  const { perSecond, seconds, connections = 64 } = options;
  const { hostname, port, pathname, search, host } = new URL(target.url);
  const headerLines = Object.entries({ host, ...target.headers }).map(([name, value]) => `${name}: ${value}`);
  const requestBytes = Buffer.from(
    `GET ${pathname}${search} HTTP/1.1\r\n${headerLines.join("\r\n")}${HEADER_TERMINATOR}`,
  );
  const connectionPool = await Promise.all(
    Array.from({ length: connections }, () => openConnection(Number(port), hostname, requestBytes)),
  );
  const total = Math.round(perSecond * seconds);
  const latencies: number[] = [];
  let failed = 0;
  let scheduledCount = 0;
  /** Indexes of scheduled requests that wait for a connection. */
  const waitingIndexes: number[] = [];
  /** Connections without a request. They are used in rotation, because the server closes unused connections. */
  const idleConnections = [...connectionPool];
  const startedAt = performance.now();
  const scheduledAt = (index: number) => startedAt + (index * 1_000) / perSecond;
  const sendRequest = (connection: LoadConnection, index: number) => {
    connection.send((isOk) => {
      if (isOk) latencies.push(performance.now() - scheduledAt(index));
      else failed += 1;
      const next = waitingIndexes.shift();
      if (next === undefined) idleConnections.push(connection);
      else sendRequest(connection, next);
    });
  };
  while (scheduledCount < total) {
    const now = performance.now();
    for (; scheduledCount < total && scheduledAt(scheduledCount) <= now; scheduledCount++) {
      const connection = idleConnections.shift();
      if (connection === undefined) waitingIndexes.push(scheduledCount);
      else sendRequest(connection, scheduledCount);
    }
    await sleep(POLL_MS);
  }
  const deadline = performance.now() + RESPONSE_MS_MAX;
  while (latencies.length + failed < total && performance.now() < deadline) {
    await sleep(POLL_MS);
  }
  for (const connection of connectionPool) connection.close();
  const [p50Ms, p99Ms, p999Ms] = quantiles(latencies, [0.5, 0.99, 0.999]);
  return { sent: total, failed: total - latencies.length, p50Ms, p99Ms, p999Ms };
}

interface LoadConnection {
  send(done: (isOk: boolean) => void): void;
  close(): void;
}

/** Opens a connection that sends one request at a time. It parses only the status and the length of a response. */
async function openConnection(port: number, host: string, requestBytes: Buffer): Promise<LoadConnection> {
  const socket: Socket = connect({ port, host, noDelay: true });
  await once(socket, "connect");
  let done: ((isOk: boolean) => void) | null = null;
  let header = "";
  let remainingBytes = -1;
  let isOk = false;
  const finish = (result: boolean) => {
    const callback = done;
    done = null;
    header = "";
    remainingBytes = -1;
    callback?.(result);
  };
  socket.on("data", (chunk) => {
    if (remainingBytes < 0) {
      header += chunk.toString("latin1");
      const headerEnd = header.indexOf(HEADER_TERMINATOR);
      if (headerEnd < 0) return;
      isOk = /^HTTP\/1\.1 2/.test(header);
      remainingBytes =
        Number(/^content-length: (\d+)$/im.exec(header)?.[1] ?? 0) -
        (header.length - headerEnd - HEADER_TERMINATOR.length);
    } else remainingBytes -= chunk.length;
    if (remainingBytes <= 0) finish(isOk);
  });
  // The close event reports every failure.
  socket.on("error", () => {});
  socket.on("close", () => finish(false));
  return {
    send(callback) {
      if (socket.destroyed) return callback(false);
      done = callback;
      socket.write(requestBytes);
    },
    close: () => socket.destroy(),
  };
}
