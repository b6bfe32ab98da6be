import type { FastifyInstance } from "fastify";
import { type WebSocket, WebSocketServer } from "ws";
import { installSocketFaults } from "../../faults/socket-faults.ts";
import type { FeedEvent } from "../../world/types.ts";
import type { ExchangeContext } from "../exchange.ts";
import { gatherWrites } from "../gather-writes.ts";
import { betsOfTrade } from "./bets.ts";
import { type Contract, type Contracts, liquidityOf, manifoldProbability, poolOf } from "./contracts.ts";
import { presentLifecycle, presentStoredAnswer, presentStoredContract } from "./present.ts";

const SOCKET_PATH = "/ws";
/** Clients that send no message for this time are disconnected. */
const IDLE_MS_MAX = 60_000;
const IDLE_CHECK_MS = 10_000;
const TOPICS_PER_CLIENT_MAX = 10_000;
const FRAME_BYTES_MAX = 1024 * 1024;

interface Client {
  readonly topics: Set<string>;
  lastMessageAt: number;
}

/** Installs Manifold's WebSocket: topic subscriptions, one acknowledgement per client message, no replay. */
export function installSockets(app: FastifyInstance, context: ExchangeContext, contracts: Contracts): void {
  const { world, feed, now, faults } = context;
  const server = new WebSocketServer({ noServer: true, maxPayload: FRAME_BYTES_MAX });
  const clients = new Map<WebSocket, Client>();
  let unsubscribeFromFeed: (() => void) | null = null;
  let idleTimer: NodeJS.Timeout | null = null;

  /** Sends data to the subscribers of each topic. The data is built only if a topic has a subscriber. */
  const broadcast = (topics: readonly string[], buildData: () => unknown) => {
    const subscribedTopics = topics.filter((topic) => clients.values().some((client) => client.topics.has(topic)));
    if (subscribedTopics.length === 0) return;
    const data = buildData();
    for (const topic of subscribedTopics) {
      const text = JSON.stringify({ type: "broadcast", topic, data });
      for (const [socket, client] of clients) if (client.topics.has(topic)) socket.send(text);
    }
  };

  const onFeedEvent = (event: FeedEvent) => {
    const contract = contracts.getOrCreate(event.market.event);
    if (event.kind === "trade") broadcastBet(contract, event);
    else if (event.kind === "lifecycle") broadcastLifecycle(contract, event);
    else if (event.kind === "book") broadcastPool(contract, event);
    else broadcastNewContract(contract, event);
  };

  const broadcastBet = (contract: Contract, { market, trade }: FeedEvent & { kind: "trade" }) =>
    broadcast(["global", "global/new-bet", `contract/${contract.id}/new-bet`], () => ({
      bets: betsOfTrade(world, contract, market, trade),
    }));

  const broadcastPool = (contract: Contract, { market, at }: FeedEvent) => {
    broadcast(["global", "global/updated-contract", `contract/${contract.id}`], () => {
      const { traderCount, volumeUsd } = world.activity(market, at);
      const update = { id: contract.id, volume: volumeUsd, lastUpdatedTime: at };
      if (contract.isMultiple) return { contract: update };
      const prob = manifoldProbability(world, market, at);
      return { contract: { ...update, pool: poolOf(prob, liquidityOf(traderCount)), p: 0.5, prob } };
    });
    if (!contract.isMultiple) return;
    const answerId = contract.answerIds.get(market) ?? "";
    const presentUpdate = () => {
      const { id, poolYes, poolNo, prob, volume } = presentStoredAnswer(world, contract, market, at);
      return { id, poolYes, poolNo, prob, volume };
    };
    broadcast([`contract/${contract.id}/updated-answers`], () => ({ answers: [presentUpdate()] }));
    broadcast([`answer/${answerId}/update`], () => ({ answer: presentUpdate() }));
  };

  const broadcastNewContract = (contract: Contract, { market, at }: FeedEvent) => {
    // All answers of a contract are listed simultaneously. The contract is sent once, for its first answer.
    if (market.position !== 0) return;
    broadcast(["global", "global/new-contract"], () => {
      const storedContract = presentStoredContract(world, contract, at);
      const { creatorId: id, creatorUsername: username, creatorName: name } = storedContract;
      return { contract: storedContract, creator: { id, username, name } };
    });
  };

  const broadcastLifecycle = (contract: Contract, event: FeedEvent & { readonly kind: "lifecycle" }) => {
    const update = presentLifecycle(world, contract, event);
    if (update === null) return;
    broadcast(["global", "global/updated-contract", `contract/${contract.id}`], () => ({ contract: update }));
    if ("answers" in update && update.answers !== undefined) {
      const topic = `contract/${contract.id}/updated-answers`;
      broadcast([topic], () => ({ answers: [presentStoredAnswer(world, contract, event.market, event.at)] }));
    }
  };

  const removeClient = (socket: WebSocket) => {
    clients.delete(socket);
    if (clients.size > 0) return;
    unsubscribeFromFeed?.();
    unsubscribeFromFeed = null;
    if (idleTimer !== null) clearInterval(idleTimer);
    idleTimer = null;
  };

  server.on("connection", (socket) => {
    installSocketFaults(socket, faults?.manifold);
    const client: Client = { topics: new Set(), lastMessageAt: now() };
    clients.set(socket, client);
    unsubscribeFromFeed ??= feed.subscribe("manifold", onFeedEvent);
    idleTimer ??= setInterval(() => {
      for (const [otherSocket, { lastMessageAt }] of clients)
        if (lastMessageAt < now() - IDLE_MS_MAX) otherSocket.terminate();
    }, IDLE_CHECK_MS);
    socket.on("message", (data) => {
      client.lastMessageAt = now();
      socket.send(JSON.stringify(handleMessage(client, data.toString())));
    });
    socket.on("error", () => socket.terminate());
    socket.on("close", () => removeClient(socket));
  });

  app.server.on("upgrade", (request, socket, head) => {
    if (new URL(request.url ?? "/", "http://sandbox").pathname !== SOCKET_PATH) return socket.destroy();
    gatherWrites(socket);
    server.handleUpgrade(request, socket, head, (client) => server.emit("connection", client, request));
  });
  app.addHook("preClose", async () => {
    for (const socket of server.clients) socket.terminate();
    server.close();
  });
}

/** Executes a client message and returns its acknowledgement. */
function handleMessage(client: Client, text: string): object {
  const message = parseMessage(text);
  if (message === null) return { type: "ack", success: false, error: "Message was not valid UTF-8 encoded JSON." };
  const { type, txid, topics } = message;
  const isKnownType = type === "identify" || type === "subscribe" || type === "unsubscribe" || type === "ping";
  const needsTopics = type === "subscribe" || type === "unsubscribe";
  const areTopics = Array.isArray(topics) && topics.every((topic) => typeof topic === "string");
  if (!isKnownType || typeof txid !== "number" || (needsTopics && !areTopics)) {
    return { type: "ack", success: false, error: "Error parsing message." };
  }
  if (areTopics && type === "subscribe") {
    if (client.topics.size + topics.length > TOPICS_PER_CLIENT_MAX) {
      return { type: "ack", txid, success: false, error: "Too many topics." };
    }
    for (const topic of topics) client.topics.add(topic);
  }
  if (areTopics && type === "unsubscribe") for (const topic of topics) client.topics.delete(topic);
  return { type: "ack", txid, success: true };
}

function parseMessage(text: string): { type?: unknown; txid?: unknown; topics?: unknown } | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? value : null;
  } catch {
    return null;
  }
}
