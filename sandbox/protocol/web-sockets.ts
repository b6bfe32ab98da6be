import type { IncomingMessage } from "node:http";
import type { FastifyInstance } from "fastify";
import { type WebSocket, WebSocketServer } from "ws";
import { installSocketFaults } from "../faults/socket-faults.ts";
import type { VenueFaults } from "../faults/venue-faults.ts";
import { gatherWrites } from "./gather-writes.ts";

const FRAME_BYTES_MAX = 1024 * 1024;

/** Serves the WebSockets of one path. Returns the connected clients by socket. */
export function serveWebSockets<Client>(
  app: FastifyInstance,
  options: {
    readonly path: string;
    readonly faults: VenueFaults | undefined;
    /** Returns the status line with which an upgrade is rejected, or null if it is accepted. */
    readonly refuse?: (request: IncomingMessage) => string | null;
    readonly connect: (socket: WebSocket) => Client;
    readonly receive: (client: Client, text: string, socket: WebSocket) => void;
    readonly disconnect?: (client: Client) => void;
    /** Called when the first client connects. Returns a function to call when the last client has left. */
    readonly start: () => () => void;
  },
): ReadonlyMap<WebSocket, Client> {
  const { path, faults, connect, receive, disconnect, start } = options;
  const server = new WebSocketServer({ noServer: true, maxPayload: FRAME_BYTES_MAX });
  const clients = new Map<WebSocket, Client>();
  let stop: (() => void) | null = null;

  const addClient = (socket: WebSocket) => {
    installSocketFaults(socket, faults);
    const client = connect(socket);
    clients.set(socket, client);
    stop ??= start();
    socket.on("message", (data) => receive(client, data.toString(), socket));
    socket.on("error", () => socket.terminate());
    socket.on("close", () => {
      clients.delete(socket);
      disconnect?.(client);
      if (clients.size > 0) return;
      stop?.();
      stop = null;
    });
  };

  app.server.on("upgrade", (request, socket, head) => {
    const { pathname } = new URL(request.url ?? "/", "http://sandbox");
    const isFound = pathname === path || pathname === `${path}/`;
    const refusal = isFound ? (options.refuse?.(request) ?? null) : "404 Not Found";
    if (refusal !== null) {
      socket.end(`HTTP/1.1 ${refusal}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
      return;
    }
    gatherWrites(socket);
    server.handleUpgrade(request, socket, head, addClient);
  });
  app.addHook("preClose", async () => {
    for (const socket of server.clients) socket.terminate();
    server.close();
  });
  return clients;
}
