import type { FastifyRequest } from "fastify";
import { deleteOldest } from "../../src/lib/delete-oldest.ts";

/** Maximum number of clients whose requests are counted. The least recently used client is evicted. */
const CLIENTS_MAX = 10_000;

/** Identifies a client for rate limits by IP address, as at the venues, and by User-Agent, as tests share one. */
export const anonymousClientOf = ({ headers, ip }: FastifyRequest): string => `${headers["user-agent"] ?? ""} at ${ip}`;

/** Returns a function that returns the state of a client, and creates it if necessary. */
export function createClientStates<State>(create: () => State): (client: string) => State {
  const states = new Map<string, State>();
  return (client) => {
    const state = states.get(client) ?? create();
    states.delete(client);
    states.set(client, state);
    deleteOldest(states, CLIENTS_MAX);
    return state;
  };
}
