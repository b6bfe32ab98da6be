import type { MarketListing } from "../../domain/market.ts";
import type { StreamMessage, VenueStream } from "../../ports/venue.ts";
import { StreamConnection, type StreamOptions, tokensOf } from "./stream-connection.ts";

/** Token ids per connection. The venue does not publish a limit; other users report about 500. */
const TOKENS_PER_CONNECTION = 300;
const TOKENS_PER_MARKET = 2;
const MARKETS_PER_CONNECTION = TOKENS_PER_CONNECTION / TOKENS_PER_MARKET;
export const STREAM_MARKETS_MAX = 1_500;
/** Every connection announces each new market; this many ids are remembered to report each market once. */
const LISTED_IDS_MAX = 2_000;

/** Opens the market stream over as many connections as the followed markets need. */
export function openStream(options: StreamOptions): VenueStream {
  const { handlers } = options;
  const connections: StreamConnection[] = [];
  const connectionOf = new Map<string, StreamConnection>();
  const listedIds = new Set<string>();
  let isUp = false;
  let isClosed = false;

  const onMessage = (message: StreamMessage) => {
    if (message.kind === "listed") {
      if (listedIds.has(message.marketId)) return;
      if (listedIds.size >= LISTED_IDS_MAX) listedIds.clear();
      listedIds.add(message.marketId);
    }
    handlers.onMessage(message);
  };
  const onUp = () => {
    if (isUp || !connections.every((connection) => connection.isUp)) return;
    isUp = true;
    handlers.onUp();
  };
  const onDown = (reason: string) => {
    if (!isUp) return;
    isUp = false;
    handlers.onDown(reason);
  };

  /** Removes a market and closes its connection if that has no other market. */
  const remove = (marketId: string, connection: StreamConnection) => {
    connection.remove(marketId);
    connectionOf.delete(marketId);
    if (connection.size > 0) return;
    connections.splice(connections.indexOf(connection), 1);
    connection.close();
  };

  /** Moves markets from the list to a connection until it is full. */
  const fill = (connection: StreamConnection, unassigned: MarketListing[]) => {
    const markets = unassigned.splice(0, MARKETS_PER_CONNECTION - connection.size);
    for (const market of markets) connectionOf.set(market.marketId, connection);
    connection.add(markets);
  };

  return {
    follow(markets) {
      if (isClosed) return;
      const followed = new Map(markets.slice(0, STREAM_MARKETS_MAX).map((market) => [market.marketId, market]));
      for (const [marketId, connection] of [...connectionOf]) {
        if (!followed.has(marketId)) remove(marketId, connection);
      }
      const unassigned = [...followed.values()].filter(
        (market) => !connectionOf.has(market.marketId) && tokensOf(market) !== null,
      );
      for (const connection of connections) fill(connection, unassigned);
      while (unassigned.length > 0) {
        const connection = new StreamConnection({ ...options, handlers: { onMessage, onUp, onDown } });
        connections.push(connection);
        fill(connection, unassigned);
        connection.open();
      }
      onUp();
    },
    bookOf: (marketId) => connectionOf.get(marketId)?.bookOf(marketId) ?? null,
    close() {
      isClosed = true;
      for (const connection of connections) connection.close();
      connections.length = 0;
      connectionOf.clear();
    },
  };
}
