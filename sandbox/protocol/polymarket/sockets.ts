import type { FastifyInstance } from "fastify";
import { type WebSocket, WebSocketServer } from "ws";
import { installSocketFaults } from "../../faults/socket-faults.ts";
import type { FeedEvent, ListedMarket } from "../../world/types.ts";
import type { ExchangeContext, ExchangeService } from "../exchange.ts";
import { gatherWrites } from "../gather-writes.ts";
import type { Catalogue } from "./catalogue.ts";
import { computeMarketState } from "./market-state.ts";
import { Session } from "./session.ts";
import { createNewMarketMessage, createResolvedMessage } from "./socket-json.ts";

const SOCKET_PATH = "/ws/market";
const FRAME_BYTES_MAX = 1024 * 1024;
const CLIENTS_MAX = 1_000;

/** The market WebSocket: books, prices and trades by token id, without keys, acknowledgements or sequence numbers. */
export function marketSocketService(context: ExchangeContext, catalogue: Catalogue): ExchangeService {
  return {
    venue: "polymarket",
    name: "ws",
    basePath: SOCKET_PATH,
    scheme: "ws",
    listener: "polymarket-ws",
    install: (app) => installSockets(app, context, catalogue),
  };
}

function installSockets(app: FastifyInstance, context: ExchangeContext, catalogue: Catalogue): void {
  const { world, feed, now } = context;
  const server = new WebSocketServer({ noServer: true, maxPayload: FRAME_BYTES_MAX, perMessageDeflate: false });
  const sessions = new Set<Session>();
  /** Sessions by the index of their subscribed markets. */
  const subscribers = new Map<number, Set<Session>>();
  let stopFeed: (() => void) | null = null;

  const onSubscribe = (session: Session, index: number) => {
    subscribers.set(index, (subscribers.get(index) ?? new Set()).add(session));
  };
  const onUnsubscribe = (session: Session, index: number) => {
    const marketSessions = subscribers.get(index);
    marketSessions?.delete(session);
    if (marketSessions?.size === 0) subscribers.delete(index);
  };

  function* followedMarkets(): Generator<ListedMarket> {
    for (const session of sessions) yield* session.followedMarkets();
  }

  const publish = (event: FeedEvent) => {
    const { market, at } = event;
    if (event.kind === "listed") {
      const message = createNewMarketMessage(market, at);
      for (const session of sessions) session.sendCustom(message);
      return;
    }
    const isResolved = event.kind === "lifecycle" && event.to === "finalized";
    const resolved = isResolved ? createResolvedMessage(computeMarketState(world, market, at), at) : null;
    for (const session of subscribers.get(market.index) ?? []) {
      if (resolved !== null) session.sendCustom(resolved);
      else if (event.kind === "trade") session.onTrade(event);
      else session.onBook(market, at);
    }
  };

  const addSession = (socket: WebSocket) => {
    installSocketFaults(socket, context.faults?.polymarket);
    const session = new Session({ socket, world, catalogue, now, onSubscribe, onUnsubscribe });
    sessions.add(session);
    stopFeed ??= feed.subscribe("polymarket", publish, followedMarkets);
    socket.on("message", (data) => session.handleMessage(data.toString()));
    socket.on("error", () => socket.terminate());
    socket.on("close", () => {
      sessions.delete(session);
      session.close();
      if (sessions.size > 0) return;
      stopFeed?.();
      stopFeed = null;
    });
  };

  app.server.on("upgrade", (request, socket, head) => {
    const path = (request.url ?? "").split("?", 1)[0];
    const reject = (status: string) => socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\n\r\n`);
    if (path !== SOCKET_PATH && path !== `${SOCKET_PATH}/`) return reject("404 Not Found");
    if (sessions.size >= CLIENTS_MAX) return reject("503 Service Unavailable");
    gatherWrites(socket);
    server.handleUpgrade(request, socket, head, addSession);
  });
  app.addHook("preClose", async () => {
    stopFeed?.();
    for (const socket of server.clients) socket.terminate();
    server.close();
  });
}
