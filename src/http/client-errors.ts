import { type ServerResponse, STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import type { ErrorCode } from "../domain/errors.ts";
import type { RefusalReason } from "./connection-limits.ts";
import { DEFAULT_RETRY_AFTER_SECONDS, STATUSES } from "./problem.ts";
import { hasDirectBody } from "./response/direct-body.ts";

interface Context {
  readonly data: string;
  readonly requestId: string;
}

/** Responds to malformed HTTP, oversized headers and request timeouts. Neither returns nor logs the client's data. */
export function respondToClientError(error: { readonly code?: string }, socket: Socket, context: Context): void {
  if (error.code === "ECONNRESET" || socket.destroyed || !socket.writable || hasDirectBody(socket)) {
    socket.destroy();
    return;
  }
  const [status, detail] = describeClientError(error.code);
  endWithResponse(socket, status, { detail, code: "bad_request" }, context);
}

/** Sends 503 and ends the server's side of a connection above a connection limit. */
export function respondToRefusal(socket: Socket, reason: RefusalReason, context: Context): void {
  const detail =
    reason === "address" ? "Too many connections are open from this address" : "Too many connections are open";
  const code = "too_many_connections";
  const headers = { "retry-after": DEFAULT_RETRY_AFTER_SECONDS };
  endWithResponse(socket, STATUSES[code], { detail, code }, context, headers);
}

/** Rejects a request with an Expect header other than `100-continue`. */
export function respondToExpectation(response: ServerResponse, context: Context): void {
  const body = JSON.stringify({ detail: "The only supported expectation is 100-continue", code: "bad_request" });
  response.writeHead(417, headersOf(body, context)).end(body);
}

function endWithResponse(
  socket: Socket,
  status: number,
  problem: { readonly detail: string; readonly code: ErrorCode },
  context: Context,
  extraHeaders: Readonly<Record<string, number>> = {},
): void {
  const body = JSON.stringify(problem);
  const headers = { ...headersOf(body, context), ...extraHeaders };
  const head = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? "Bad Request"}\r\n${head.join("")}\r\n${body}`);
}

const headersOf = (body: string, { data, requestId }: Context) => ({
  "content-type": "application/json; charset=utf-8",
  "content-length": Buffer.byteLength(body),
  "cache-control": "no-store",
  "x-content-type-options": "nosniff",
  "x-parallax-data": data,
  "x-request-id": requestId,
  connection: "close",
});

function describeClientError(code: string | undefined): readonly [number, string] {
  if (code === "HPE_HEADER_OVERFLOW") return [431, "The request's headers are too large"];
  if (code === "ERR_HTTP_REQUEST_TIMEOUT") return [408, "The request did not arrive in time"];
  return [400, "The request is not valid HTTP"];
}
