import type { FastifyInstance } from "fastify";
import { isObject } from "../../../src/lib/is-object.ts";
import type { FeedEvent } from "../../world/types.ts";
import type { ExchangeContext } from "../exchange.ts";
import { serveWebSockets } from "../web-sockets.ts";
import { betsOfTrade } from "./bets.ts";
import type { Contract, Contracts } from "./contracts.ts";
import { presentLifecycle, presentStoredContract } from "./present.ts";

const SOCKET_PATH = "/ws";
/** Time without a message after which a client is disconnected. */
const IDLE_MS_MAX = 60_000;
const IDLE_CHECK_MS = 10_000;
const TOPICS_PER_CLIENT_MAX = 10_000;

interface Client {
  readonly topics: Set<string>;
  lastMessageAt: number;
}

/** Installs Manifold's WebSocket: topic subscriptions, one acknowledgement per client message, no replay. */
export function installSockets(app: FastifyInstance, context: ExchangeContext, contracts: Contracts): void {
  const { world, feed, now, faults } = context;

  /** Sends data to the subscribers of a topic. The data is built only if the topic has a subscriber. */
  const broadcast = (topic: string, buildData: () => unknown) => {
    const subscribers = [...clients].filter(([, client]) => client.topics.has(topic));
    if (subscribers.length === 0) return;
    const text = JSON.stringify({ type: "broadcast", topic, data: buildData() });
    for (const [socket] of subscribers) socket.send(text);
  };

  const onFeedEvent = (event: FeedEvent) => {
    const contract = contracts.getOrCreate(event.market.event);
    if (event.kind === "trade") broadcastBet(contract, event);
    else if (event.kind === "lifecycle") broadcastLifecycle(contract, event);
    else if (event.kind === "book") broadcastPool(contract, event);
    else broadcastNewContract(contract, event);
  };

  const broadcastBet = (contract: Contract, { market, trade }: FeedEvent & { kind: "trade" }) =>
    broadcast("global/new-bet", () => ({ bets: betsOfTrade(world, contract, market, trade) }));

  const broadcastPool = ({ id }: Contract, { at }: FeedEvent) =>
    broadcast("global/updated-contract", () => ({ contract: { id, lastUpdatedTime: at } }));

  const broadcastNewContract = (contract: Contract, { market, at }: FeedEvent) => {
    // All answers of a contract are listed simultaneously. The contract is sent once, for its first answer.
    if (market.position !== 0) return;
    broadcast("global/new-contract", () => ({ contract: presentStoredContract(world, contract, at) }));
  };

  const broadcastLifecycle = (contract: Contract, event: FeedEvent & { readonly kind: "lifecycle" }) => {
    const update = presentLifecycle(world, contract, event);
    if (update !== null) broadcast("global/updated-contract", () => ({ contract: update }));
  };

  const clients = serveWebSockets<Client>(app, {
    path: SOCKET_PATH,
    faults: faults?.manifold,
    connect: () => ({ topics: new Set(), lastMessageAt: now() }),
    receive(client, text, socket) {
      client.lastMessageAt = now();
      socket.send(JSON.stringify(handleMessage(client, text)));
    },
    start: () => {
      const unsubscribeFromFeed = feed.subscribe("manifold", onFeedEvent);
      const idleTimer = setInterval(() => {
        for (const [socket, { lastMessageAt }] of clients) if (lastMessageAt < now() - IDLE_MS_MAX) socket.terminate();
      }, IDLE_CHECK_MS);
      return () => {
        unsubscribeFromFeed();
        clearInterval(idleTimer);
      };
    },
  });
}

/** Executes a client message and returns its acknowledgement. */
function handleMessage(client: Client, text: string): object {
  const message = parseMessage(text);
  if (message === null) return { type: "ack", success: false, error: "Message was not valid UTF-8 encoded JSON." };
  const { type, txid, topics } = message;
  const areTopics = Array.isArray(topics) && topics.every((topic) => typeof topic === "string");
  const isValid = type === "ping" || (type === "subscribe" && areTopics);
  if (!isValid || typeof txid !== "number") return { type: "ack", success: false, error: "Error parsing message." };
  if (type === "subscribe" && areTopics) {
    if (client.topics.size + topics.length > TOPICS_PER_CLIENT_MAX) {
      return { type: "ack", txid, success: false, error: "Too many topics." };
    }
    for (const topic of topics) client.topics.add(topic);
  }
  return { type: "ack", txid, success: true };
}

function parseMessage(text: string): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}
