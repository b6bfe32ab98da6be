import type { FastifyInstance } from "fastify";
import { type WebSocket, WebSocketServer } from "ws";
import { installSocketFaults } from "../../faults/socket-faults.ts";
import type { FeedEvent, ListedMarket } from "../../world/types.ts";
import type { ExchangeContext } from "../exchange.ts";
import { gatherWrites } from "../gather-writes.ts";
import { identifyClient, type KeyRing } from "./auth.ts";
import type { Catalogue } from "./catalogue.ts";
import { Session } from "./session.ts";

export const SOCKET_PATH = "/trade-api/ws/v2";
const PING_INTERVAL_MS = 10_000;
const FRAME_BYTES_MAX = 1024 * 1024;
/** Maximum unsent data per client, in bytes. A client above it is disconnected. */
const UNSENT_BYTES_MAX = 64 * 1024 * 1024;

export interface SocketOptions {
  readonly context: ExchangeContext;
  readonly catalogue: Catalogue;
  readonly keys: KeyRing;
}

/** Kalshi's WebSocket. The handshake must be signed even for public channels, and the server sends the pings. */
export function installSockets(app: FastifyInstance, { context, catalogue, keys }: SocketOptions): void {
  const { world, feed, now, faults } = context;
  const server = new WebSocketServer({ noServer: true, maxPayload: FRAME_BYTES_MAX });
  const sessions = new Map<WebSocket, Session>();
  let stopFeed: (() => void) | null = null;
  let pingTimer: NodeJS.Timeout | null = null;

  const removeSession = (socket: WebSocket) => {
    sessions.delete(socket);
    if (sessions.size > 0) return;
    stopFeed?.();
    stopFeed = null;
    if (pingTimer !== null) clearInterval(pingTimer);
    pingTimer = null;
  };

  /** Returns the markets that at least one client follows, or null for all markets. */
  const followedMarkets = (): readonly ListedMarket[] | null => {
    const followed: ListedMarket[] = [];
    for (const session of sessions.values()) {
      const markets = session.followedMarkets();
      if (markets === null) return null;
      followed.push(...markets);
    }
    return followed;
  };

  const publish = (event: FeedEvent) => {
    for (const session of sessions.values()) session.onFeed(event);
  };

  server.on("connection", (socket) => {
    installSocketFaults(socket, faults?.kalshi);
    const send = (message: object) => {
      if (socket.bufferedAmount > UNSENT_BYTES_MAX) socket.terminate();
      else socket.send(JSON.stringify(message));
    };
    const session = new Session({ world, catalogue, now, send });
    sessions.set(socket, session);
    stopFeed ??= feed.subscribe("kalshi", publish, followedMarkets);
    pingTimer ??= setInterval(() => {
      for (const client of sessions.keys()) client.ping("heartbeat");
    }, PING_INTERVAL_MS);
    socket.on("message", (data) => session.handleMessage(data.toString()));
    socket.on("error", () => socket.terminate());
    socket.on("close", () => removeSession(socket));
  });

  app.server.on("upgrade", (request, socket, head) => {
    const { pathname } = new URL(request.url ?? "/", "http://sandbox");
    const reject = (status: string) =>
      socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
    if (pathname !== SOCKET_PATH) return reject("404 Not Found");
    if (identifyClient(keys, request.headers, "GET", pathname).kind !== "key") return reject("401 Unauthorized");
    gatherWrites(socket);
    server.handleUpgrade(request, socket, head, (webSocket) => server.emit("connection", webSocket, request));
  });
  app.addHook("preClose", async () => {
    for (const socket of server.clients) socket.terminate();
    server.close();
  });
}
