import type { FastifyReply, FastifyRequest } from "fastify";
import type { Deprecation } from "../../domain/metering.ts";
import type { Lifecycle } from "../lifecycle.ts";
import { isPaid, type PaymentGate } from "../payment-gate.ts";
import { COMPRESS_FROM_BYTES, chooseEncoding, compress, type Encoding, isCompressible } from "./compression.ts";
import { matchesEntityTag, weakEntityTag } from "./conditional.ts";

type Done = (error: Error | null, payload?: unknown) => void;

/** Who is told of each answer before it goes out. */
interface Listeners {
  /** They may still write headers. */
  readonly beforeSend: readonly ((request: FastifyRequest, reply: FastifyReply) => void)[];
  /**
   * The log and the metrics. They are told here and not when the last byte is out: listening for that would cost every
   * request as much as finding its route does.
   */
  readonly note: (request: FastifyRequest, reply: FastifyReply) => void;
  /** An answer could not be sent. */
  readonly failed: (request: FastifyRequest, error: unknown) => void;
}

/** Pages may load nothing from elsewhere, run no inline script and be framed by nobody. */
const HTML_HEADERS: Readonly<Record<string, string>> = {
  "content-security-policy":
    "default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
  "cross-origin-opener-policy": "same-origin",
  "referrer-policy": "no-referrer",
  "x-frame-options": "DENY",
};

/**
 * The last look at an answer: caching rules, entity tag and 304, page headers, compression. Streams pass untouched.
 *
 * @param till  decides first what a paid request gets
 */
export function sendHook(lifecycle: Lifecycle, { beforeSend, note, failed }: Listeners, till?: PaymentGate) {
  /** Nobody waits for what is thrown after a wait: the connection ends, and the process does not. */
  const cutOff = (request: FastifyRequest, reply: FastifyReply) => (error: unknown) => {
    failed(request, error);
    reply.raw.destroy();
  };
  const finish = (request: FastifyRequest, reply: FastifyReply, payload: unknown, send: Done): void => {
    const done: Done = (error, body) => {
      note(request, reply);
      send(error, body);
    };
    if (lifecycle.state === "draining") reply.header("connection", "close");
    for (const tell of beforeSend) tell(request, reply);
    setCacheControl(request, reply);
    const { deprecation } = request.routeConfig;
    if (deprecation !== undefined) announceDeprecation(reply, deprecation);
    const type = String(reply.getHeader("content-type") ?? "");
    if (type.startsWith("text/html")) setMissing(reply, HTML_HEADERS);
    if (typeof payload !== "string" && !Buffer.isBuffer(payload)) {
      done(null, payload);
      return;
    }
    const mayShrink = isLarge(payload) && isCompressible(type) && !reply.hasHeader("content-encoding");
    // Also on a 304, which has to say the same of the cached answer as the 200 did.
    if (mayShrink) reply.header("vary", "accept-encoding");
    if (isUnchanged(request, reply, payload)) {
      reply.code(304).removeHeader("content-type").removeHeader("content-length");
      done(null, "");
    } else {
      const encoding = mayShrink ? chooseEncoding(request.headers["accept-encoding"]) : null;
      if (encoding === null) done(null, payload);
      else encodeInto(reply, payload, encoding, done).catch(cutOff(request, reply));
    }
  };
  if (till === undefined) return finish;
  return (request: FastifyRequest, reply: FastifyReply, payload: unknown, send: Done): void => {
    if (!isPaid(request)) finish(request, reply, payload, send);
    else
      till
        .complete(request, reply, payload)
        .then((answer) => finish(request, reply, answer, send), send)
        .catch(cutOff(request, reply));
  };
}

/** Gives a read its entity tag, and says whether the caller has this very answer already. */
function isUnchanged(request: FastifyRequest, reply: FastifyReply, payload: string | Buffer): boolean {
  if (!isRead(request) || reply.statusCode !== 200 || reply.hasHeader("set-cookie")) return false;
  if (!reply.hasHeader("etag")) reply.header("etag", weakEntityTag(payload));
  const asked = request.headers["if-none-match"];
  return asked !== undefined && matchesEntityTag(asked, String(reply.getHeader("etag")));
}

function encodeInto(reply: FastifyReply, payload: string | Buffer, encoding: Encoding, done: Done): Promise<void> {
  return compress(typeof payload === "string" ? Buffer.from(payload) : payload, encoding).then(
    (compressed) => {
      reply.header("content-encoding", encoding).removeHeader("content-length");
      done(null, compressed);
    },
    () => done(null, payload),
  );
}

function isLarge(payload: string | Buffer): boolean {
  // A string has at most three bytes a unit, so most need no counting.
  if (payload.length >= COMPRESS_FROM_BYTES) return true;
  return payload.length * 3 >= COMPRESS_FROM_BYTES && Buffer.byteLength(payload) >= COMPRESS_FROM_BYTES;
}

function setCacheControl(request: FastifyRequest, reply: FastifyReply): void {
  if (reply.hasHeader("cache-control")) return;
  const { access, cacheControl } = request.routeConfig;
  const isFresh = isRead(request) && reply.statusCode < 400;
  if (!isFresh) reply.header("cache-control", "no-store");
  // "no-cache" lets a client keep the answer and ask with its entity tag whether it still holds.
  else reply.header("cache-control", cacheControl ?? (access === "key" ? "private, no-cache" : "no-cache"));
}

/** RFC 9745 (seconds as a structured field) and RFC 8594 (an HTTP date), beside whatever links the route gives itself. */
function announceDeprecation(reply: FastifyReply, { since, sunset, link }: Deprecation): void {
  reply.header("deprecation", `@${Math.floor(since.getTime() / 1000)}`).header("sunset", sunset.toUTCString());
  if (link === undefined) return;
  const links = [reply.getHeader("link") ?? [], `<${link}>; rel="deprecation"; type="text/html"`].flat();
  reply.header("link", links.join(", "));
}

function isRead(request: FastifyRequest): boolean {
  return request.method === "GET" || request.method === "HEAD";
}

function setMissing(reply: FastifyReply, headers: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(headers)) if (!reply.hasHeader(name)) reply.header(name, value);
}
