/** A server on 127.0.0.1 that takes the place of a venue: REST, WebSocket or Socket.IO. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Server as SocketIoServer } from "socket.io";
import { type WebSocket, WebSocketServer } from "ws";

const BODY_BYTES_MAX = 1_000_000;

export interface LoopbackRequest {
  readonly method: string;
  /** Path without the service, for example "/markets". */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly body: unknown;
}

export interface LoopbackReply {
  readonly status?: number;
  readonly json: unknown;
}

export const NOT_FOUND: LoopbackReply = { status: 404, json: { error: "not found" } };

/** @returns null if the venue has no such path */
export type Respond = (service: string, request: LoopbackRequest) => LoopbackReply | null;

/** Handles a text of the client. `reply` sends a text back. */
export type OnText = (text: string, reply: (text: string) => void) => void;
export type OnEvent = (event: string, payload: unknown) => void;

export interface Loopback {
  readonly httpUrl: string;
  readonly wsUrl: string;
  readonly requests: readonly { readonly service: string; readonly request: LoopbackRequest }[];
  /** Requests to paths that the venue does not document. */
  readonly unknownRequests: readonly string[];
  /** Sends a text to every WebSocket. */
  sendText(text: string): void;
  /** Emits an event to every member of the Socket.IO namespace. */
  emit(event: string, payload: unknown): void;
  close(): Promise<void>;
}

export async function openLoopback(options: {
  readonly respond: Respond;
  readonly onText?: OnText;
  readonly socketIo?: { readonly namespace: string; readonly onEvent: OnEvent };
}): Promise<Loopback> {
  const requests: { service: string; request: LoopbackRequest }[] = [];
  const unknownRequests: string[] = [];
  const server = createServer((incoming, response) => {
    void readRequest(incoming).then(({ service, request }) => {
      requests.push({ service, request });
      const reply = options.respond(service, request);
      if (reply === null) unknownRequests.push(`${request.method} ${incoming.url}`);
      sendReply(response, reply ?? NOT_FOUND);
    });
  });
  const webSockets = new WebSocketServer({ noServer: true });
  const clients = new Set<WebSocket>();
  let socketIo: SocketIoServer | null = null;
  if (options.socketIo === undefined) {
    server.on("upgrade", (request, socket, head) => {
      webSockets.handleUpgrade(request, socket, head, (client) => {
        clients.add(client);
        client.on("close", () => clients.delete(client));
        client.on("message", (data) => options.onText?.(data.toString(), (text) => client.send(text)));
      });
    });
  } else {
    const { namespace, onEvent } = options.socketIo;
    socketIo = new SocketIoServer(server, { serveClient: false });
    socketIo.of(namespace).on("connection", (socket) => socket.onAny(onEvent));
  }
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    httpUrl: `http://127.0.0.1:${port}`,
    wsUrl: `${socketIo === null ? "ws" : "http"}://127.0.0.1:${port}`,
    requests,
    unknownRequests,
    sendText: (text) => {
      for (const client of clients) client.send(text);
    },
    emit: (event, payload) => {
      if (options.socketIo !== undefined) socketIo?.of(options.socketIo.namespace).emit(event, payload);
    },
    async close() {
      for (const client of clients) client.terminate();
      webSockets.close();
      await socketIo?.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** The first segment of the path is the service: `/gamma/markets/1` asks the service "gamma" for `/markets/1`. */
async function readRequest(incoming: IncomingMessage) {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of incoming) {
    size += (chunk as Buffer).length;
    if (size <= BODY_BYTES_MAX) chunks.push(chunk as Buffer);
  }
  const url = new URL(incoming.url ?? "/", "http://loopback");
  const [, service = "", ...segments] = url.pathname.split("/");
  const text = Buffer.concat(chunks).toString("utf8");
  const request: LoopbackRequest = {
    method: incoming.method ?? "GET",
    path: `/${segments.map(decodeURIComponent).join("/")}`,
    query: url.searchParams,
    body: text === "" ? null : JSON.parse(text),
  };
  return { service, request };
}

function sendReply(response: ServerResponse, { status = 200, json }: LoopbackReply): void {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify(json));
}
