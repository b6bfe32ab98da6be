import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { Readable } from "node:stream";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { distort, halve, isDistorting, isPage } from "./distort.ts";
import type { FaultName } from "./switches.ts";
import type { VenueFaults } from "./venue-faults.ts";

export interface HttpFaultOptions {
  /** Wall-clock time, Unix milliseconds. */
  readonly now: () => number;
  /** Resolves after so many milliseconds. */
  readonly wait: (ms: number) => Promise<unknown>;
}

/** Connections held unanswered at once; further ones are closed. */
const HELD_MAX = 10_000;
const ABSURD = [String(10 ** 9), "-5", "soon"];
const HTML =
  "<!doctype html><html><head><title>Just a moment...</title></head><body>Checking your browser</body></html>";
const BINARY = Buffer.from([0x1f, 0x8b, 0x08, 0x00, 0xff, 0xfe, 0x00, 0x7b, 0xc3, 0x28, 0xed, 0xa0, 0x80]);

/** Puts the venue's faults before and behind its routes, which know nothing of it. */
export function installHttpFaults(app: FastifyInstance, faults: VenueFaults, options: HttpFaultOptions): void {
  app.addHook("onRequest", async (request, reply) => {
    if (faults.isQuiet || request.method === "OPTIONS") return;
    if (faults.draw("frozen") !== null) await thaw(faults, request.raw.socket);
    if (hasGone(request)) return;
    const latency = faults.draw("latency");
    if (latency !== null) await options.wait(Number(latency.ms) + Number(latency.jitter_ms) * faults.share("latency"));
    if (hasGone(request)) return;
    return refuse(reply, faults, options.now());
  });
  app.addHook("onSend", async (request, reply, payload) => {
    const isChanged = !faults.isQuiet && reply.statusCode === 200 && request.method !== "HEAD" && !hasGone(request);
    return isChanged && typeof payload === "string" ? spoil(payload, request, reply, faults, options.now()) : payload;
  });
  holdUpgrades(app, faults);
}

/** Whoever asked has given up: what he would have got can be spoilt no more. */
const hasGone = (request: FastifyRequest): boolean => request.raw.socket.destroyed;

/** Upgrades reach the sockets' servers past the routes: where the venue is frozen they have to wait as well. */
function holdUpgrades(app: FastifyInstance, faults: VenueFaults): void {
  const { server } = app;
  const emit = server.emit.bind(server);
  server.emit = (event: string, ...parts: unknown[]) => {
    if (event !== "upgrade" || faults.isQuiet || faults.draw("frozen") === null) return emit(event, ...parts);
    const { socket } = parts[0] as IncomingMessage;
    void thaw(faults, socket).then(() => {
      if (!socket.destroyed) emit(event, ...parts);
    });
    return true;
  };
}

const held = new WeakMap<VenueFaults, number>();

/** Resolves when the venue is no longer frozen or the client has gone. */
function thaw(faults: VenueFaults, socket: Socket): Promise<void> {
  const count = held.get(faults) ?? 0;
  if (count >= HELD_MAX) {
    socket.destroy();
    return Promise.resolve();
  }
  held.set(faults, count + 1);
  return new Promise((resolve) => {
    const done = () => {
      stop();
      socket.off("close", done);
      held.set(faults, (held.get(faults) ?? 1) - 1);
      resolve();
    };
    const stop = faults.onChange(() => {
      if (!faults.isOn("frozen")) done();
    });
    socket.once("close", done);
    if (socket.destroyed) done();
  });
}

function refuse(reply: FastifyReply, faults: VenueFaults, now: number): FastifyReply | undefined {
  const limited = (retryAfter: string | null) => {
    if (retryAfter !== null) reply.header("retry-after", retryAfter);
    return reply.code(429).send({ error: "Too Many Requests" });
  };
  if (faults.draw("rate_limit") !== null) return limited(null);
  const seconds = faults.draw("rate_limit_seconds");
  if (seconds !== null) return limited(String(seconds.seconds));
  const date = faults.draw("rate_limit_date");
  if (date !== null) return limited(new Date(now + Number(date.seconds) * 1_000).toUTCString());
  if (faults.draw("rate_limit_absurd") !== null)
    return limited(ABSURD[Math.floor(faults.share("rate_limit_absurd") * ABSURD.length)] ?? null);
  const broken = faults.draw("server_error");
  if (broken === null) return undefined;
  return reply.code(Number(faults.kindOf("server_error", broken))).send({ error: "Internal error" });
}

/** What becomes of a good answer. */
function spoil(
  body: string,
  request: FastifyRequest,
  reply: FastifyReply,
  faults: VenueFaults,
  now: number,
): string | Buffer | Readable {
  // What comes broken is not falsified, too: nobody could tell.
  const garbage = faults.draw("garbage");
  if (garbage !== null) {
    const kind = faults.kindOf("garbage", garbage);
    const withoutNumbers = body.replace(/(:|\[)-?\d+(\.\d+)?/g, "$1NaN");
    // An answer without any number would stay as good as it was.
    if (kind === "nan" && withoutNumbers !== body) return withoutNumbers;
    reply.type(kind === "html" ? "text/html; charset=utf-8" : "application/octet-stream");
    return kind === "html" ? HTML : BINARY;
  }
  const cutAt = (name: FaultName) => Math.floor(body.length * faults.share(name));
  if (faults.draw("cut_body") !== null) return body.slice(0, cutAt("cut_body"));
  if (faults.draw("cut_socket") === null) return isJson(reply) ? falsify(body, request, faults, now, reply) : body;
  reply.header("content-length", Buffer.byteLength(body));
  return cutOff(body.slice(0, cutAt("cut_socket")), request.raw.socket);
}

const isJson = (reply: FastifyReply) => String(reply.getHeader("content-type")).includes("json");

function falsify(body: string, request: FastifyRequest, faults: VenueFaults, now: number, reply: FastifyReply): string {
  if (!faults.isOn("half_page") && !isDistorting(faults)) return body;
  let value: unknown = JSON.parse(body);
  const half = isPage(value) ? faults.draw("half_page") : null;
  if (half !== null) {
    const asked = new URL(request.url, "http://sandbox").searchParams;
    value = halve(value, faults.kindOf("half_page", half), asked.get("cursor") ?? asked.get("after_cursor"));
  }
  if (faults.isOn("clock_skew")) {
    const setting = faults.settings.clock_skew;
    const minutes = Number(setting?.minutes ?? 0) * (faults.share("clock_skew") < 0.5 ? -1 : 1);
    reply.header("date", new Date(now + minutes * 60_000).toUTCString());
  }
  return JSON.stringify(isDistorting(faults) ? distort(value, faults) : value);
}

/** The beginning of a body, and then the end of the connection. */
function cutOff(beginning: string, socket: Socket): Readable {
  return Readable.from(
    (async function* () {
      yield Buffer.from(beginning);
      // What was written still goes out.
      socket.destroySoon();
      await new Promise((resolve) => socket.once("close", resolve));
    })(),
  );
}
