import type { OutgoingHttpHeaders } from "node:http";
import { Socket } from "node:net";
import type { FastifyReply } from "fastify";

/** A response body that its owner writes to the connection itself, which costs half of what Node's response stream costs. */
export interface DirectBody {
  /** Called once the head was written, unless the client has disconnected or an error replaces the response. */
  start(socket: Socket): void;
  /** Called when the response is over, whether or not the body was started. Idempotent. */
  close(): void;
}

/** Fastify passes an object with `pipe` unchanged to the send hook, which hands the connection over. */
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

/** Whether a body is written directly to the connection, so that no other response may be written to it. */
export const hasDirectBody = (socket: object): boolean => directSockets.has(socket);

/**
 * Sends the head, and hands the connection to `body`. All hooks run before, so the response is counted, and paid if the
 * caller pays for it, before its first byte.
 */
export function sendDirect(reply: FastifyReply, body: DirectBody): FastifyReply {
  reply.raw.once("close", () => body.close());
  return reply.send(new DirectPayload(body));
}

/** Writes the head of the response and starts its body. Fastify must not send anything afterwards. */
export function handOver(reply: FastifyReply, { body }: DirectPayload): void {
  const { raw } = reply;
  const { socket } = raw;
  reply.hijack();
  // Without a length and without chunks, the body ends with the connection.
  raw.shouldKeepAlive = false;
  raw.removeHeader("transfer-encoding");
  raw.writeHead(reply.statusCode, { ...reply.getHeaders() } as OutgoingHttpHeaders);
  // An injected request of a test has no connection.
  if (!(socket instanceof Socket) || socket.destroyed) {
    body.close();
    raw.end();
    return;
  }
  directSockets.add(socket);
  socket.cork();
  raw.flushHeaders();
  body.start(socket);
  socket.uncork();
}
