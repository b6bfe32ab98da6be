import type { FastifyInstance } from "fastify";
import { WebSocket, WebSocketServer } from "ws";
import { disturbSocket } from "../../faults/socket-faults.ts";
import type { FeedEvent, ListedMarket } from "../../world/types.ts";
import type { ExchangeContext, ExchangeService } from "../exchange.ts";
import { gatherWrites } from "../gather-writes.ts";
import type { TokenSide } from "./ids.ts";
import type { Listing } from "./listing.ts";
import { marketState } from "./market-state.ts";
import {
  bookMessage,
  lastTradeMessages,
  newMarketMessage,
  priceChangeMessage,
  resolvedMessage,
  topMessages,
} from "./socket-messages.ts";

const PATH = "/ws/market";
const FRAME_BYTES_MAX = 1024 * 1024;
const CLIENTS_MAX = 1_000;
/** Token ids of one connection; what lies above is not taken. */
const ASSETS_MAX = 500;
/** A client that reads so slowly that this much is waiting for it is let go. */
const WAITING_BYTES_MAX = 16 * 1024 * 1024;

interface Followed {
  readonly market: ListedMarket;
  readonly sides: Set<TokenSide>;
  /** Version and time of the book last told, to say only what changed and nothing older. */
  told: {
    readonly version: number;
    readonly at: number;
    readonly bids: readonly { price: number; size: number }[];
    readonly asks: readonly { price: number; size: number }[];
  };
  /** A trade was told: the book that it made follows whole. */
  bookIsDue: boolean;
}

interface Client {
  readonly socket: WebSocket;
  readonly followed: Map<number, Followed>;
  assetCount: number;
  hasCustomFeatures: boolean;
}

/** The stream of books, prices and trades by token id. No key, no acknowledgements, no sequence numbers. */
export function marketSocketService(context: ExchangeContext, listing: Listing): ExchangeService {
  return {
    venue: "polymarket",
    name: "ws",
    basePath: PATH,
    scheme: "ws",
    listener: "polymarket-ws",
    install(app) {
      app.get("/", async () => ({ status: "ok" }));
      attach(app, context, listing);
    },
  };
}

function attach(app: FastifyInstance, context: ExchangeContext, listing: Listing): void {
  const server = new WebSocketServer({ noServer: true, maxPayload: FRAME_BYTES_MAX, perMessageDeflate: false });
  const clients = new Set<Client>();
  /** Who follows which market, so that the many events of the others cost one look. */
  const audience = new Map<number, Set<Client>>();
  let unsubscribe: (() => void) | null = null;

  app.server.on("upgrade", (request, socket, head) => {
    const path = (request.url ?? "").split("?", 1)[0];
    if (path !== PATH && path !== `${PATH}/`) return socket.end("HTTP/1.1 404 Not Found\r\nConnection: close\r\n\r\n");
    if (clients.size >= CLIENTS_MAX) return socket.end("HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\n\r\n");
    gatherWrites(socket);
    server.handleUpgrade(request, socket, head, (open) => join(open));
  });
  app.addHook("preClose", async () => {
    unsubscribe?.();
    for (const { socket } of clients) socket.terminate();
    server.close();
  });

  const join = (socket: WebSocket) => {
    disturbSocket(socket, context.faults?.polymarket);
    const client: Client = { socket, followed: new Map(), assetCount: 0, hasCustomFeatures: false };
    clients.add(client);
    unsubscribe ??= context.feed.subscribe("polymarket", tell, followed);
    socket.on("message", (data) => receive(client, data.toString()));
    socket.on("error", () => socket.terminate());
    socket.on("close", () => {
      clients.delete(client);
      for (const index of client.followed.keys()) leave(client, index);
      if (clients.size === 0) {
        unsubscribe?.();
        unsubscribe = null;
      }
    });
  };

  function* followed(): Generator<ListedMarket> {
    for (const client of clients) for (const { market } of client.followed.values()) yield market;
  }

  const leave = (client: Client, index: number) => {
    const others = audience.get(index);
    others?.delete(client);
    if (others?.size === 0) audience.delete(index);
  };

  const send = (client: Client, payload: object) => {
    if (client.socket.readyState !== WebSocket.OPEN) return;
    if (client.socket.bufferedAmount > WAITING_BYTES_MAX) return client.socket.terminate();
    client.socket.send(JSON.stringify(payload));
  };

  const receive = (client: Client, text: string) => {
    if (text === "PING") return client.socket.send("PONG");
    const request = parseRequest(text);
    if (request === null) return client.socket.send("INVALID OPERATION");
    if (request.hasCustomFeatures) client.hasCustomFeatures = true;
    if (request.operation === "unsubscribe") return drop(client, request.assets);
    add(client, request.assets);
  };

  const add = (client: Client, assets: readonly string[]) => {
    const books: object[] = [];
    let fresh = 0;
    for (const asset of assets) {
      const found = listing.marketByToken(asset);
      if (found === null || client.assetCount >= ASSETS_MAX) continue;
      const { market, side } = found;
      const known = client.followed.get(market.index);
      if (known?.sides.has(side)) continue;
      const state = marketState(context.world, market, context.now());
      const told = {
        version: state.book.version,
        at: state.book.changedAt,
        bids: state.book.bids,
        asks: state.book.asks,
      };
      const followed = known ?? { market, sides: new Set<TokenSide>(), told, bookIsDue: false };
      followed.told = told;
      followed.sides.add(side);
      client.followed.set(market.index, followed);
      client.assetCount += 1;
      fresh += 1;
      const others = audience.get(market.index) ?? new Set();
      audience.set(market.index, others.add(client));
      if (state.isClosed) continue;
      // A token already followed gets its book again: both must start from the same instant.
      for (const each of followed.sides) books.push(bookMessage(state, each));
    }
    if (fresh === 0 && assets.length > 0) return client.socket.send("NO NEW ASSETS");
    if (books.length > 0) send(client, books);
  };

  const drop = (client: Client, assets: readonly string[]) => {
    for (const asset of assets) {
      const found = listing.marketByToken(asset);
      const followed = found === null ? undefined : client.followed.get(found.market.index);
      if (found === null || followed === undefined || !followed.sides.delete(found.side)) continue;
      client.assetCount -= 1;
      if (followed.sides.size > 0) continue;
      client.followed.delete(found.market.index);
      leave(client, found.market.index);
    }
  };

  const tell = (event: FeedEvent) => {
    if (event.kind === "listed") return tellAll(newMarketMessage(event.market, event.at));
    const interested = audience.get(event.market.index);
    if (event.kind === "lifecycle" && event.to === "finalized") {
      const state = marketState(context.world, event.market, event.at);
      for (const client of interested ?? [])
        if (client.hasCustomFeatures) send(client, resolvedMessage(state, event.at));
      return;
    }
    for (const client of interested ?? []) tellClient(client, event);
  };

  const tellAll = (payload: object) => {
    for (const client of clients) if (client.hasCustomFeatures) send(client, payload);
  };

  const tellClient = (client: Client, event: FeedEvent) => {
    const followed = client.followed.get(event.market.index);
    if (followed === undefined) return;
    if (event.kind === "trade") {
      if (event.at < followed.told.at) return;
      for (const { message, side } of lastTradeMessages(event.market, event.trade)) {
        if (followed.sides.has(side)) send(client, message);
      }
      followed.bookIsDue = true;
      return;
    }
    const state = marketState(context.world, event.market, event.at);
    const { book } = state;
    if (event.at < followed.told.at || book.version === followed.told.version) return;
    const sides = [...followed.sides];
    if (followed.bookIsDue)
      send(
        client,
        sides.map((side) => bookMessage(state, side, event.at)),
      );
    else send(client, priceChangeMessage(state, followed.told, sides, event.at));
    if (client.hasCustomFeatures && topOf(book) !== topOf(followed.told)) {
      for (const message of topMessages(state, sides, event.at)) send(client, message);
    }
    followed.bookIsDue = false;
    followed.told = { version: book.version, at: event.at, bids: book.bids, asks: book.asks };
  };
}

function topOf(book: {
  readonly bids: readonly { price: number }[];
  readonly asks: readonly { price: number }[];
}): string {
  return `${book.bids[0]?.price}/${book.asks[0]?.price}`;
}

interface SocketRequest {
  readonly operation: "subscribe" | "unsubscribe";
  readonly assets: readonly string[];
  readonly hasCustomFeatures: boolean;
}

/** The first message has a `type`, later ones an `operation`. */
function parseRequest(text: string): SocketRequest | null {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    return null;
  }
  if (typeof parsed !== "object" || parsed === null) return null;
  const fields = new Map<string, unknown>(Object.entries(parsed));
  const operation =
    fields.get("operation") ?? (String(fields.get("type")).toLowerCase() === "market" ? "subscribe" : null);
  const assets = fields.get("assets_ids") ?? [];
  if ((operation !== "subscribe" && operation !== "unsubscribe") || !Array.isArray(assets)) return null;
  return {
    operation,
    assets: assets.filter((asset): asset is string => typeof asset === "string"),
    hasCustomFeatures: fields.get("custom_feature_enabled") === true,
  };
}
