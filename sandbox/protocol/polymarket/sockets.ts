import type { FastifyInstance } from "fastify";
import type { WebSocket } from "ws";
import type { FeedEvent, ListedMarket } from "../../world/types.ts";
import type { ExchangeContext, ExchangeService } from "../exchange.ts";
import { serveWebSockets } from "../web-sockets.ts";
import type { Catalogue } from "./catalogue.ts";
import { computeMarketState } from "./market-state.ts";
import { Session } from "./session.ts";
import { createNewMarketMessage, createResolvedMessage } from "./socket-json.ts";

const SOCKET_PATH = "/ws/market";
const CLIENTS_MAX = 1_000;

/** The market WebSocket: books, prices and trades by token id, without keys, acknowledgements or sequence numbers. */
export function marketSocketService(context: ExchangeContext, catalogue: Catalogue): ExchangeService {
  return {
    venue: "polymarket",
    name: "ws",
    basePath: SOCKET_PATH,
    listener: "polymarket-ws",
    install: (app) => installSockets(app, context, catalogue),
  };
}

function installSockets(app: FastifyInstance, context: ExchangeContext, catalogue: Catalogue): void {
  const { world, feed, now, faults } = context;
  /** Sessions by the index of their subscribed markets. */
  const subscribers = new Map<number, Set<Session>>();

  let followed: readonly ListedMarket[] | null = null;

  const onSubscribe = (session: Session, index: number) => {
    followed = null;
    subscribers.set(index, (subscribers.get(index) ?? new Set()).add(session));
  };
  const onUnsubscribe = (session: Session, index: number) => {
    followed = null;
    const marketSessions = subscribers.get(index);
    marketSessions?.delete(session);
    if (marketSessions?.size === 0) subscribers.delete(index);
  };

  const followedMarkets = (): readonly ListedMarket[] => {
    followed ??= sessions
      .values()
      .flatMap((session) => session.followedMarkets())
      .toArray();
    return followed;
  };

  const publish = (event: FeedEvent) => {
    const { market, at } = event;
    if (event.kind === "listed") {
      const message = createNewMarketMessage(market, at);
      for (const session of sessions.values()) session.sendCustom(message);
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

  const sessions: ReadonlyMap<WebSocket, Session> = serveWebSockets<Session>(app, {
    path: SOCKET_PATH,
    faults: faults?.polymarket,
    refuse: (): string | null => (sessions.size >= CLIENTS_MAX ? "503 Service Unavailable" : null),
    connect: (socket) => new Session({ socket, world, catalogue, now, onSubscribe, onUnsubscribe }),
    receive: (session, text) => session.handleMessage(text),
    disconnect: (session) => session.close(),
    start: () => feed.subscribe("polymarket", publish, followedMarkets),
  });
}
