import type { FastifyInstance } from "fastify";
import { type WebSocket, WebSocketServer } from "ws";
import { disturbSocket } from "../../faults/socket-faults.ts";
import type { FeedEvent, ListedMarket } from "../../world/types.ts";
import type { ExchangeContext } from "../exchange.ts";
import { gatherWrites } from "../gather-writes.ts";
import { identify, type KeyRing } from "./auth.ts";
import type { Catalogue } from "./catalogue.ts";
import { Session } from "./session.ts";

export const SOCKET_PATH = "/trade-api/ws/v2";
const PING_MS = 10_000;
const FRAME_BYTES_MAX = 1024 * 1024;
/** A client that lets more than this pile up unread is cut off. */
const UNREAD_BYTES_MAX = 64 * 1024 * 1024;

export interface SocketOptions {
  readonly context: ExchangeContext;
  readonly catalogue: Catalogue;
  readonly keys: KeyRing;
}

/** Kalshi's WebSocket: a signed handshake even for public channels, pings from the server, numbered messages. */
export function installSockets(app: FastifyInstance, { context, catalogue, keys }: SocketOptions): void {
  const { world, feed, now, faults } = context;
  const server = new WebSocketServer({ noServer: true, maxPayload: FRAME_BYTES_MAX });
  const sessions = new Map<WebSocket, Session>();
  let stopFeed: (() => void) | null = null;
  let pinger: NodeJS.Timeout | null = null;

  const leave = (socket: WebSocket) => {
    sessions.delete(socket);
    if (sessions.size > 0) return;
    stopFeed?.();
    stopFeed = null;
    if (pinger !== null) clearInterval(pinger);
    pinger = null;
  };

  /** What all clients together follow; null means all markets. */
  const follows = (): readonly ListedMarket[] | null => {
    const followed: ListedMarket[] = [];
    for (const session of sessions.values()) {
      const own = session.follows();
      if (own === null) return null;
      followed.push(...own);
    }
    return followed;
  };

  server.on("connection", (socket) => {
    disturbSocket(socket, faults?.kalshi);
    const send = (message: object) => {
      if (socket.bufferedAmount > UNREAD_BYTES_MAX) socket.terminate();
      else socket.send(JSON.stringify(message));
    };
    const session = new Session({ world, catalogue, now, send });
    sessions.set(socket, session);
    const tell = (event: FeedEvent) => {
      for (const listening of sessions.values()) listening.onFeed(event);
    };
    stopFeed ??= feed.subscribe("kalshi", tell, follows);
    pinger ??= setInterval(() => {
      for (const open of sessions.keys()) open.ping("heartbeat");
    }, PING_MS);
    socket.on("message", (data) => session.obey(data.toString()));
    socket.on("error", () => socket.terminate());
    socket.on("close", () => leave(socket));
  });

  app.server.on("upgrade", (request, socket, head) => {
    const { pathname } = new URL(request.url ?? "/", "http://sandbox");
    const refuse = (line: string) => socket.end(`HTTP/1.1 ${line}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
    if (pathname !== SOCKET_PATH) return refuse("404 Not Found");
    if (identify(keys, request.headers, "GET", pathname).kind !== "key") return refuse("401 Unauthorized");
    gatherWrites(socket);
    server.handleUpgrade(request, socket, head, (opened) => server.emit("connection", opened, request));
  });
  app.addHook("preClose", async () => {
    for (const socket of server.clients) socket.terminate();
    server.close();
  });
}
