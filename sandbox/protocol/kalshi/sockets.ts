import type { FastifyInstance } from "fastify";
import type { FeedEvent, ListedMarket } from "../../world/types.ts";
import { serveWebSockets } from "../web-sockets.ts";
import { identifyClient } from "./auth.ts";
import type { RestOptions } from "./rest-types.ts";
import { Session } from "./session.ts";

export const SOCKET_PATH = "/trade-api/ws/v2";
const PING_INTERVAL_MS = 10_000;
/** Maximum unsent data per client, in bytes. A client above it is disconnected. */
const UNSENT_BYTES_MAX = 64 * 1024 * 1024;

/** Installs Kalshi's WebSocket. The handshake must be signed even for public channels. The server sends the pings. */
export function installSockets(
  app: FastifyInstance,
  { context, catalogue, keys }: Omit<RestOptions, "orderbookNeedsKey">,
): void {
  const { world, feed, now, faults } = context;

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

  const sessions = serveWebSockets<Session>(app, {
    path: SOCKET_PATH,
    faults: faults?.kalshi,
    refuse: ({ headers }) =>
      identifyClient(keys, headers, "GET", SOCKET_PATH).kind === "key" ? null : "401 Unauthorized",
    connect: (socket) => {
      const send = (message: object) => {
        if (socket.bufferedAmount > UNSENT_BYTES_MAX) socket.terminate();
        else socket.send(JSON.stringify(message));
      };
      return new Session({ world, catalogue, now, send });
    },
    receive: (session, text) => session.handleMessage(text),
    start: () => {
      const stopFeed = feed.subscribe("kalshi", publish, followedMarkets);
      const pingTimer = setInterval(() => {
        for (const client of sessions.keys()) client.ping("heartbeat");
      }, PING_INTERVAL_MS);
      return () => {
        stopFeed();
        clearInterval(pingTimer);
      };
    },
  });
}
