import type { Frame } from "./frame.ts";
import type { StreamClient } from "./stream-client.ts";

/** The live clients, indexed by their filters. A live client has received all events so far. */
export class SubscriptionIndex {
  /** Clients without a market filter, by their set of event types. There are few different sets. */
  readonly #byTypes = new Map<number, Set<StreamClient>>();
  /** Clients with a market filter, by the name of each of their markets. */
  readonly #byMarket = new Map<string, Set<StreamClient>>();

  add(client: StreamClient): void {
    const { types, markets } = client.request.filter;
    if (markets === null) addTo(this.#byTypes, types, client);
    else for (const market of markets) addTo(this.#byMarket, market, client);
  }

  remove(client: StreamClient): void {
    const { types, markets } = client.request.filter;
    if (markets === null) removeFrom(this.#byTypes, types, client);
    else for (const market of markets) removeFrom(this.#byMarket, market, client);
  }

  /** Yields groups of clients without a market filter, each with the frames of a batch that match its event types. */
  *groups(batch: readonly Frame[]): Generator<readonly [Iterable<StreamClient>, readonly Frame[]], void, void> {
    for (const [types, clients] of this.#byTypes) {
      const frames = batch.filter(({ typeBit }) => (types & typeBit) !== 0);
      if (frames.length > 0) yield [clients, frames];
    }
  }

  /** Yields all clients. A client that selected several markets is yielded once for each. */
  *clients(): Generator<StreamClient, void, void> {
    for (const clients of this.#byTypes.values()) yield* clients;
    for (const clients of this.#byMarket.values()) yield* clients;
  }

  /** Yields the clients that selected both the market and the type of a frame. */
  *followersOf({ market, typeBit }: Frame): Generator<StreamClient, void, void> {
    if (market === null) return;
    for (const client of this.#byMarket.get(market) ?? [])
      if ((client.request.filter.types & typeBit) !== 0) yield client;
  }
}

function addTo<Key>(index: Map<Key, Set<StreamClient>>, key: Key, client: StreamClient): void {
  const clients = index.get(key);
  if (clients === undefined) index.set(key, new Set([client]));
  else clients.add(client);
}

function removeFrom<Key>(index: Map<Key, Set<StreamClient>>, key: Key, client: StreamClient): void {
  const clients = index.get(key);
  clients?.delete(client);
  if (clients?.size === 0) index.delete(key);
}
