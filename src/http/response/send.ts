import { pipeline, Readable } from "node:stream";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Deprecation } from "../../domain/metering.ts";
import type { Lifecycle } from "../lifecycle.ts";
import { isPaid, type PaymentGate } from "../payment-gate.ts";
import {
  chooseEncoding,
  compress,
  createCompressor,
  type Encoding,
  isCompressible,
  isWorthCompressing,
} from "./compression.ts";
import { matchesEntityTag, weakEntityTag } from "./conditional.ts";
import { DirectPayload, startDirectBody } from "./direct-body.ts";
import { sliceIfLarge } from "./pieces.ts";

type Done = (error: Error | null, payload?: unknown) => void;

interface Listeners {
  /** Called before the headers are sent; may set headers. */
  readonly beforeSend: readonly ((request: FastifyRequest, reply: FastifyReply) => void)[];
  /**
   * Writes log and metrics. Called before the body is sent: an `onResponse` listener would cost every request as much
   * as routing it.
   */
  readonly onSent: (request: FastifyRequest, reply: FastifyReply) => void;
  readonly onSendError: (request: FastifyRequest, error: unknown) => void;
}

/** Pages load nothing from other origins, run no inline script and cannot be framed. */
const HTML_HEADERS: Readonly<Record<string, string>> = {
  "content-security-policy":
    "default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
  "cross-origin-opener-policy": "same-origin",
  "referrer-policy": "no-referrer",
  "x-frame-options": "DENY",
};

/**
 * Creates the `onSend` hook: cache headers, entity tag and 304, page headers, compression. A body above 1 MiB is
 * written in slices. A stream is compressed while it is sent and has no entity tag. A direct body gets the connection
 * after all other steps, including the settlement of a payment.
 *
 * @param paymentGate  settles the payment of a paid request before the response is sent
 */
export function createSendHook(
  lifecycle: Lifecycle,
  { beforeSend, onSent, onSendError }: Listeners,
  paymentGate?: PaymentGate,
) {
  /**
   * Handles errors that Fastify does not catch in asynchronous code: closes the connection instead of crashing the
   * process.
   */
  const createAbortHandler = (request: FastifyRequest, reply: FastifyReply) => (error: unknown) => {
    onSendError(request, error);
    reply.raw.destroy();
  };
  const finish = (request: FastifyRequest, reply: FastifyReply, payload: unknown, send: Done): void => {
    const done: Done = (error, body) => {
      onSent(request, reply);
      send(error, body);
    };
    if (lifecycle.state === "draining") reply.header("connection", "close");
    for (const listener of beforeSend) listener(request, reply);
    setCacheControl(request, reply);
    const { deprecation } = request.routeConfig;
    if (deprecation !== undefined) setDeprecationHeaders(reply, deprecation);
    const contentType = String(reply.getHeader("content-type") ?? "");
    if (contentType.startsWith("text/html")) setMissingHeaders(reply, HTML_HEADERS);
    if (payload instanceof DirectPayload) {
      onSent(request, reply);
      startDirectBody(reply, payload);
      return;
    }
    if (payload instanceof Readable) {
      payload.once("error", (error) => {
        // If the client has disconnected, the failed stream is expected, so nothing is logged.
        if (!reply.raw.destroyed) onSendError(request, error);
      });
      done(null, prepareStream(request, reply, payload, contentType));
      return;
    }
    if (typeof payload !== "string" && !Buffer.isBuffer(payload)) {
      done(null, payload);
      return;
    }
    const mayCompress =
      isWorthCompressing(payload) && isCompressible(contentType) && !reply.hasHeader("content-encoding");
    // A 304 response must have the same Vary header as the 200 response.
    if (mayCompress) varyByEncoding(reply);
    if (isUnchanged(request, reply, payload)) {
      reply.code(304).removeHeader("content-type").removeHeader("content-length");
      done(null, "");
    } else {
      const encoding = mayCompress ? chooseEncoding(request.headers["accept-encoding"]) : null;
      if (encoding === null) done(null, sliceIfLarge(reply, payload));
      else sendCompressed(reply, payload, encoding, done).catch(createAbortHandler(request, reply));
    }
  };
  if (paymentGate === undefined) return finish;
  return (request: FastifyRequest, reply: FastifyReply, payload: unknown, send: Done): void => {
    if (!isPaid(request)) finish(request, reply, payload, send);
    else
      paymentGate
        .complete(request, reply, payload)
        .then((settledPayload) => finish(request, reply, settledPayload, send), send)
        .catch(createAbortHandler(request, reply));
  };
}

/** Sets the entity tag of a GET or HEAD response. Returns whether it matches the caller's If-None-Match. */
function isUnchanged(request: FastifyRequest, reply: FastifyReply, payload: string | Buffer): boolean {
  if (!isRead(request) || reply.statusCode !== 200 || reply.hasHeader("set-cookie")) return false;
  if (!reply.hasHeader("etag")) reply.header("etag", weakEntityTag(payload));
  const ifNoneMatch = request.headers["if-none-match"];
  return ifNoneMatch !== undefined && matchesEntityTag(ifNoneMatch, String(reply.getHeader("etag")));
}

function sendCompressed(reply: FastifyReply, payload: string | Buffer, encoding: Encoding, done: Done): Promise<void> {
  return compress(typeof payload === "string" ? Buffer.from(payload) : payload, encoding).then(
    (compressed) => {
      reply.header("content-encoding", encoding).removeHeader("content-length");
      done(null, sliceIfLarge(reply, compressed));
    },
    () => done(null, sliceIfLarge(reply, payload)),
  );
}

/** Returns the stream, or its compressed form if the client accepts one; null for HEAD. */
function prepareStream(
  request: FastifyRequest,
  reply: FastifyReply,
  body: Readable,
  contentType: string,
): Readable | null {
  const mayCompress = isCompressible(contentType) && !reply.hasHeader("content-encoding");
  if (mayCompress) varyByEncoding(reply);
  const encoding = mayCompress ? chooseEncoding(request.headers["accept-encoding"]) : null;
  if (encoding !== null) reply.header("content-encoding", encoding).removeHeader("content-length");
  if (request.method === "HEAD") {
    body.destroy();
    return null;
  }
  // Errors are reported by the listener of `body`, and Fastify closes the connection.
  return encoding === null ? body : pipeline(body, createCompressor(encoding), () => {});
}

function varyByEncoding(reply: FastifyReply): void {
  const existing = reply.getHeader("vary");
  reply.header("vary", existing === undefined ? "accept-encoding" : [existing, "accept-encoding"].flat().join(", "));
}

function setCacheControl(request: FastifyRequest, reply: FastifyReply): void {
  if (reply.hasHeader("cache-control")) return;
  const { access, cacheControl } = request.routeConfig;
  const isCacheable = isRead(request) && reply.statusCode < 400;
  if (!isCacheable) reply.header("cache-control", "no-store");
  // "no-cache": clients may store the response and revalidate it with its entity tag.
  else reply.header("cache-control", cacheControl ?? (access === "key" ? "private, no-cache" : "no-cache"));
}

/** RFC 9745 (seconds as a structured field) and RFC 8594 (an HTTP date). Keeps the links that the route has set. */
function setDeprecationHeaders(reply: FastifyReply, { since, sunset, link }: Deprecation): void {
  reply.header("deprecation", `@${Math.floor(since.getTime() / 1000)}`).header("sunset", sunset.toUTCString());
  if (link === undefined) return;
  const links = [reply.getHeader("link") ?? [], `<${link}>; rel="deprecation"; type="text/html"`].flat();
  reply.header("link", links.join(", "));
}

function isRead(request: FastifyRequest): boolean {
  return request.method === "GET" || request.method === "HEAD";
}

function setMissingHeaders(reply: FastifyReply, headers: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(headers)) if (!reply.hasHeader(name)) reply.header(name, value);
}
