import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { Readable } from "node:stream";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { canDistort, corruptPage, distort, hasRows } from "./distort.ts";
import type { FaultName } from "./switches.ts";
import type { VenueFaults } from "./venue-faults.ts";

export interface HttpFaultOptions {
  /** Wall-clock time, Unix milliseconds. */
  readonly now: () => number;
  /** Resolves after the given number of milliseconds. */
  readonly wait: (ms: number) => Promise<unknown>;
}

/** Maximum number of frozen connections per venue; further connections are closed. */
const FROZEN_CONNECTIONS_MAX = 10_000;
const INVALID_RETRY_AFTERS = [String(10 ** 9), "-5", "soon"];
const STRING_OR_NUMBER = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;
const GARBAGE_HTML =
  "<!doctype html><html><head><title>Just a moment...</title></head><body>Checking your browser</body></html>";
/** The header of gzip data, followed by bytes that are neither compressed data nor UTF-8. */
const GARBAGE_BYTES = Buffer.from([0x1f, 0x8b, 0x08, 0x00, 0xff, 0xfe, 0x00, 0x7b, 0xc3, 0x28, 0xed, 0xa0, 0x80]);

/** Applies the venue's faults before and after its route handlers. */
export function installHttpFaults(app: FastifyInstance, faults: VenueFaults, options: HttpFaultOptions): void {
  app.addHook("onRequest", async (request, reply) => {
    if (faults.isInactive || request.method === "OPTIONS") return;
    if (faults.draw("frozen") !== null) await waitUntilUnfrozen(faults, request.raw.socket);
    if (isDisconnected(request)) return;
    const latency = faults.draw("latency");
    if (latency !== null)
      await options.wait(Number(latency.ms) + Number(latency.jitter_ms) * faults.uniform("latency"));
    if (isDisconnected(request)) return;
    return rejectRequest(reply, faults, options.now());
  });
  app.addHook("onSend", async (request, reply, payload) => {
    const canCorrupt =
      !faults.isInactive && reply.statusCode === 200 && request.method !== "HEAD" && !isDisconnected(request);
    return canCorrupt && typeof payload === "string"
      ? corruptResponse(payload, request, reply, faults, options.now())
      : payload;
  });
  delayUpgrades(app, faults);
}

/** Returns whether the client has disconnected. Faults are not applied to its request then. */
const isDisconnected = (request: FastifyRequest): boolean => request.raw.socket.destroyed;

/** Applies the `frozen` fault to WebSocket upgrades, for which Fastify runs no hooks. */
function delayUpgrades(app: FastifyInstance, faults: VenueFaults): void {
  const { server } = app;
  const emit = server.emit.bind(server);
  server.emit = (event: string, ...parts: unknown[]) => {
    if (event !== "upgrade" || faults.isInactive || faults.draw("frozen") === null) return emit(event, ...parts);
    const { socket } = parts[0] as IncomingMessage;
    void waitUntilUnfrozen(faults, socket).then(() => {
      if (!socket.destroyed) emit(event, ...parts);
    });
    return true;
  };
}

const frozenCounts = new WeakMap<VenueFaults, number>();

/** Resolves when the venue is no longer frozen or the client has disconnected. */
function waitUntilUnfrozen(faults: VenueFaults, socket: Socket): Promise<void> {
  const count = frozenCounts.get(faults) ?? 0;
  if (count >= FROZEN_CONNECTIONS_MAX) {
    socket.destroy();
    return Promise.resolve();
  }
  frozenCounts.set(faults, count + 1);
  return new Promise((resolve) => {
    const done = () => {
      stop();
      socket.off("close", done);
      frozenCounts.set(faults, (frozenCounts.get(faults) ?? 1) - 1);
      resolve();
    };
    const stop = faults.onChange(() => {
      if (!faults.isOn("frozen")) done();
    });
    socket.once("close", done);
    if (socket.destroyed) done();
  });
}

function rejectRequest(reply: FastifyReply, faults: VenueFaults, now: number): FastifyReply | undefined {
  const sendRateLimit = (retryAfter: string | null) => {
    if (retryAfter !== null) reply.header("retry-after", retryAfter);
    return reply.code(429).send({ error: "Too Many Requests" });
  };
  if (faults.draw("rate_limit") !== null) return sendRateLimit(null);
  const seconds = faults.draw("rate_limit_seconds");
  if (seconds !== null) return sendRateLimit(String(seconds.seconds));
  const date = faults.draw("rate_limit_date");
  if (date !== null) return sendRateLimit(new Date(now + Number(date.seconds) * 1_000).toUTCString());
  if (faults.draw("rate_limit_absurd") !== null)
    return sendRateLimit(
      INVALID_RETRY_AFTERS[Math.floor(faults.uniform("rate_limit_absurd") * INVALID_RETRY_AFTERS.length)] ?? null,
    );
  const serverError = faults.draw("server_error");
  if (serverError === null) return undefined;
  return reply.code(Number(faults.pickKind("server_error", serverError))).send({ error: "Internal error" });
}

/** Applies at most one of `garbage`, `cut_body` and `cut_socket`. If none occurs, distorts a JSON response. */
function corruptResponse(
  body: string,
  request: FastifyRequest,
  reply: FastifyReply,
  faults: VenueFaults,
  now: number,
): string | Buffer | Readable {
  const garbage = faults.draw("garbage");
  if (garbage !== null) {
    const kind = faults.pickKind("garbage", garbage);
    const jsonWithNaN = body.replace(STRING_OR_NUMBER, (token) => (token.startsWith('"') ? token : "NaN"));
    // A body without numbers cannot contain NaN, so binary data is sent instead.
    if (kind === "nan" && jsonWithNaN !== body) return jsonWithNaN;
    if (kind === "gzip") reply.header("content-encoding", "gzip");
    reply.type(kind === "html" ? "text/html; charset=utf-8" : "application/octet-stream");
    return kind === "html" ? GARBAGE_HTML : GARBAGE_BYTES;
  }
  const cutAt = (name: FaultName) => Math.floor(body.length * faults.uniform(name));
  if (faults.draw("cut_body") !== null) return body.slice(0, cutAt("cut_body"));
  if (faults.draw("cut_socket") === null) return isJson(reply) ? distortJson(body, request, faults, now, reply) : body;
  reply.header("content-length", Buffer.byteLength(body));
  return createTruncatedStream(body.slice(0, cutAt("cut_socket")), request.raw.socket);
}

const isJson = (reply: FastifyReply) => String(reply.getHeader("content-type")).includes("json");

function distortJson(
  body: string,
  request: FastifyRequest,
  faults: VenueFaults,
  now: number,
  reply: FastifyReply,
): string {
  if (!faults.isOn("half_page") && !canDistort(faults)) return body;
  let value: unknown = JSON.parse(body);
  const halfPage = hasRows(value) ? faults.draw("half_page") : null;
  if (halfPage !== null) {
    const params = new URL(request.url, "http://sandbox").searchParams;
    value = corruptPage(
      value,
      faults.pickKind("half_page", halfPage),
      params.get("cursor") ?? params.get("after_cursor"),
    );
  }
  if (faults.isOn("clock_skew")) {
    const setting = faults.settings.clock_skew;
    const minutes = Number(setting?.minutes ?? 0) * (faults.uniform("clock_skew") < 0.5 ? -1 : 1);
    reply.header("date", new Date(now + minutes * 60_000).toUTCString());
  }
  return JSON.stringify(canDistort(faults) ? distort(value, faults) : value);
}

/** Sends `beginning` and then closes the connection. */
function createTruncatedStream(beginning: string, socket: Socket): Readable {
  return Readable.from(
    (async function* () {
      yield Buffer.from(beginning);
      // `destroySoon` closes the connection after the written data is sent.
      socket.destroySoon();
      await new Promise((resolve) => socket.once("close", resolve));
    })(),
  );
}
