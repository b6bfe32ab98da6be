import type { FastifyInstance } from "fastify";
import { Server, type Socket } from "socket.io";
import { installTransportFaults } from "../../faults/socket-faults.ts";
import type { ExchangeContext } from "../exchange.ts";
import type { Catalogue } from "./catalogue.ts";
import { createPublisher, LIFECYCLE_ROOM, marketRoomOf, type Publisher } from "./publisher.ts";

const NAMESPACE = "/markets";
const FRAME_BYTES_MAX = 1_000_000;
const MARKETS_PER_SUBSCRIPTION_MAX = 5_000;

const PING_TIMEOUT_MS = 60_000;

/** Installs Socket.IO at /socket.io, namespace /markets, with the library's default ping interval of 25 s. */
export function installSockets(app: FastifyInstance, context: ExchangeContext, catalogue: Catalogue): void {
  const socketServer = new Server(app.server, {
    path: "/socket.io",
    maxHttpBufferSize: FRAME_BYTES_MAX,
    pingTimeout: PING_TIMEOUT_MS,
    serveClient: false,
  });
  const namespace = socketServer.of(NAMESPACE);
  const publisher = createPublisher(context, namespace);
  const unsubscribe = context.feed.subscribe("limitless", (event) => {
    if (namespace.sockets.size > 0) publisher.receive(event);
  });
  namespace.on("connection", (socket) => {
    installTransportFaults(socket.conn.transport, context.faults?.limitless);
    serveSocket(socket, catalogue, publisher);
  });
  // Open WebSocket connections would prevent the HTTP server from closing.
  app.addHook("preClose", async () => {
    unsubscribe();
    socketServer.disconnectSockets(true);
    socketServer.engine.close();
  });
}

function serveSocket(socket: Socket, catalogue: Catalogue, publisher: Publisher): void {
  socket.on("subscribe_market_prices", (payload: unknown) => subscribePrices(socket, catalogue, publisher, payload));
  socket.on("subscribe_market_lifecycle", () => {
    void socket.join(LIFECYCLE_ROOM);
    socket.emit("system", { message: "Successfully subscribed to market lifecycle" });
  });
}

/** Replaces all previous market subscriptions and sends a snapshot of each order-book market. */
function subscribePrices(socket: Socket, catalogue: Catalogue, publisher: Publisher, payload: unknown): void {
  const requestedMarkets = parseSubscription(payload);
  if (requestedMarkets === null) {
    rejectRequest(socket, "marketSlugs and marketAddresses must be arrays of strings");
    return;
  }
  if (requestedMarkets.slugs.length + requestedMarkets.addresses.length > MARKETS_PER_SUBSCRIPTION_MAX) {
    rejectRequest(socket, `at most ${MARKETS_PER_SUBSCRIPTION_MAX} markets may be subscribed to`);
    return;
  }
  for (const room of socket.rooms) if (room.startsWith("market:")) void socket.leave(room);
  const acceptedMarkets = new Set<string>();
  const orderBookMarkets = new Set<Parameters<Publisher["sendSnapshot"]>[1]>();
  for (const slug of requestedMarkets.slugs) {
    const market = catalogue.findMarket(slug);
    if (market?.mechanism !== "clob") continue;
    acceptedMarkets.add(slug);
    orderBookMarkets.add(market);
    void socket.join(marketRoomOf(market));
  }
  for (const address of requestedMarkets.addresses) {
    const market = catalogue.findMarket(address);
    if (market?.mechanism !== "amm") continue;
    acceptedMarkets.add(address);
    void socket.join(marketRoomOf(market));
  }
  socket.emit("system", {
    message: "Successfully subscribed to market price updates",
    markets: [...acceptedMarkets],
  });
  for (const market of orderBookMarkets) publisher.sendSnapshot(socket, market);
}

function parseSubscription(payload: unknown): { slugs: string[]; addresses: string[] } | null {
  if (typeof payload !== "object" || payload === null) return null;
  const { marketSlugs = [], marketAddresses = [] } = payload as Record<string, unknown>;
  const isStringArray = (value: unknown): value is string[] =>
    Array.isArray(value) && value.every((item) => typeof item === "string");
  if (!isStringArray(marketSlugs) || !isStringArray(marketAddresses)) return null;
  return { slugs: marketSlugs, addresses: marketAddresses };
}

function rejectRequest(socket: Socket, message: string): void {
  socket.emit("exception", { status: "error", message });
}
