import type { OutgoingHttpHeaders } from "node:http";
import { Socket } from "node:net";
import type { FastifyReply } from "fastify";

/** A response body that writes to the connection directly, at half the cost of Node's response stream. */
export interface DirectBody {
  /**
   * Called once the head was written, unless the client has disconnected or an error replaces the response.
   *
   * @param acknowledgedAt  returns the monotonic time at which the client was last seen to acknowledge bytes
   */
  start(socket: Socket, acknowledgedAt: () => number): void;
  /** Called when the response ends, even if the body was not started. Idempotent. */
  close(): void;
}

/** Fastify passes an object with a method `pipe` unchanged to the send hook, which starts the direct body. */
export class DirectPayload {
  readonly body: DirectBody;

  constructor(body: DirectBody) {
    this.body = body;
  }

  pipe(): never {
    throw new Error("the send hook sends a direct body");
  }
}

const directSockets = new WeakSet<object>();

/** Returns whether a direct body writes to the connection. No other response may then be written to it. */
export const hasDirectBody = (socket: object): boolean => directSockets.has(socket);

/**
 * Sends the head and hands the connection to `body`. All hooks run first, so metering and payment are complete before
 * the first byte.
 */
export function sendDirect(reply: FastifyReply, body: DirectBody): FastifyReply {
  reply.raw.once("close", () => body.close());
  return reply.send(new DirectPayload(body));
}

/** Writes the head of the response and starts its body. Fastify must not send anything afterwards. */
export function startDirectBody(reply: FastifyReply, { body }: DirectPayload): void {
  const { raw } = reply;
  const { socket } = raw;
  reply.hijack();
  // The body has neither a length nor chunks, so the end of the connection ends it.
  raw.shouldKeepAlive = false;
  raw.removeHeader("transfer-encoding");
  raw.writeHead(reply.statusCode, { ...reply.getHeaders() } as OutgoingHttpHeaders);
  // A request that a test injects has no connection.
  if (!(socket instanceof Socket) || socket.destroyed) {
    body.close();
    raw.end();
    return;
  }
  directSockets.add(socket);
  socket.cork();
  raw.flushHeaders();
  body.start(socket, () => reply.server.connectionLimits.acknowledgedAt(socket));
  socket.uncork();
}
