import type { FastifyInstance } from "fastify";
import { type WebSocket, WebSocketServer } from "ws";
import { disturbSocket } from "../../faults/socket-faults.ts";
import type { FeedEvent } from "../../world/types.ts";
import type { ExchangeContext } from "../exchange.ts";
import { gatherWrites } from "../gather-writes.ts";
import { betsOf } from "./bets.ts";
import { type Contract, type Contracts, liquidityOf, manifoldProbability, poolOf } from "./contracts.ts";
import { presentAnswer, presentFull, stateOf } from "./present.ts";

const PATH = "/ws";
/** A client that has sent nothing for this long is dropped. */
const SILENCE_MS_MAX = 60_000;
const SWEEP_MS = 10_000;
const TOPICS_PER_CLIENT_MAX = 10_000;
const FRAME_BYTES_MAX = 1024 * 1024;

interface Client {
  readonly topics: Set<string>;
  lastSeenAt: number;
}

/** Manifold's WebSocket: subscriptions by topic, every message of a client acknowledged, no replay. */
export function installSockets(app: FastifyInstance, context: ExchangeContext, contracts: Contracts): void {
  const { world, feed, now, faults } = context;
  const server = new WebSocketServer({ noServer: true, maxPayload: FRAME_BYTES_MAX });
  const clients = new Map<WebSocket, Client>();
  let stopFeed: (() => void) | null = null;
  let sweeper: NodeJS.Timeout | null = null;

  const wanted = (topic: string) => clients.values().some((client) => client.topics.has(topic));

  /** The message is only made when somebody listens. */
  const broadcast = (topics: readonly string[], makeData: () => unknown) => {
    const heard = topics.filter(wanted);
    if (heard.length === 0) return;
    const data = makeData();
    for (const topic of heard) {
      const text = JSON.stringify({ type: "broadcast", topic, data });
      for (const [socket, client] of clients) if (client.topics.has(topic)) socket.send(text);
    }
  };

  const onFeed = (event: FeedEvent) => {
    const contract = contracts.of(event.market.event);
    if (event.kind === "trade") tellBet(contract, event);
    else if (event.kind === "book") tellPool(contract, event);
    else if (event.kind === "listed") tellListed(contract, event);
    else tellLife(contract, event);
  };

  const tellBet = (contract: Contract, { market, trade }: FeedEvent & { kind: "trade" }) =>
    broadcast(["global", "global/new-bet", `contract/${contract.id}/new-bet`], () => {
      const sameInstant = world.trades(market, trade.at, trade.at + 1);
      const ordinal = Math.max(
        0,
        sameInstant.findIndex(({ id }) => id === trade.id),
      );
      return { bets: betsOf(world, contract, market, trade, ordinal) };
    });

  const tellPool = (contract: Contract, { market, at }: FeedEvent & { kind: "book" }) => {
    if (!contract.isMultiple) {
      broadcast(["global", "global/updated-contract", `contract/${contract.id}`], () => {
        const { traderCount, volumeUsd } = world.activity(market, at);
        const prob = manifoldProbability(world, market, at);
        const pool = poolOf(prob, liquidityOf(traderCount));
        return { contract: { id: contract.id, pool, p: 0.5, prob, volume: volumeUsd, lastUpdatedTime: at } };
      });
      return;
    }
    const answerId = contract.answerIds.get(market) ?? "";
    const present = () => {
      const { id, pool, probability, volume } = presentAnswer(world, contract, market, at);
      return { id, poolYes: pool.YES, poolNo: pool.NO, prob: probability, volume };
    };
    broadcast([`contract/${contract.id}/updated-answers`], () => ({ answers: [present()] }));
    broadcast([`answer/${answerId}/update`], () => ({ answer: present() }));
  };

  const tellListed = (contract: Contract, { market, at }: FeedEvent & { kind: "listed" }) => {
    // A group is listed whole; its first market speaks for all.
    if (market.position !== 0) return;
    broadcast(["global", "global/new-contract"], () => {
      const full = presentFull(world, contract, at);
      const { creatorId: id, creatorUsername: username, creatorName: name } = full;
      return { contract: full, creator: { id, username, name } };
    });
  };

  const tellLife = (contract: Contract, { market, at }: FeedEvent & { kind: "lifecycle" }) => {
    broadcast(["global", "global/updated-contract", `contract/${contract.id}`], () => {
      const { closeTime, isResolved, resolution, resolutionTime, resolutionProbability } = stateOf(world, contract, at);
      const answers = contract.isMultiple
        ? { answers: contract.event.markets.map((one) => presentAnswer(world, contract, one, at)) }
        : {};
      // What is taken back is told as null.
      const taken = { resolution: resolution ?? null, resolutionTime: resolutionTime ?? null };
      const life = { closeTime, isResolved, ...taken, resolutionProbability: resolutionProbability ?? null };
      return { contract: { id: contract.id, ...life, ...answers, lastUpdatedTime: at } };
    });
    if (contract.isMultiple) {
      const topic = `contract/${contract.id}/updated-answers`;
      broadcast([topic], () => ({ answers: [presentAnswer(world, contract, market, at)] }));
    }
  };

  const drop = (socket: WebSocket) => {
    clients.delete(socket);
    if (clients.size > 0) return;
    stopFeed?.();
    stopFeed = null;
    if (sweeper !== null) clearInterval(sweeper);
    sweeper = null;
  };

  server.on("connection", (socket) => {
    disturbSocket(socket, faults?.manifold);
    const client: Client = { topics: new Set(), lastSeenAt: now() };
    clients.set(socket, client);
    stopFeed ??= feed.subscribe("manifold", onFeed);
    sweeper ??= setInterval(() => {
      for (const [other, { lastSeenAt }] of clients) if (lastSeenAt < now() - SILENCE_MS_MAX) other.terminate();
    }, SWEEP_MS);
    socket.on("message", (data) => {
      client.lastSeenAt = now();
      socket.send(JSON.stringify(obey(client, data.toString())));
    });
    socket.on("error", () => socket.terminate());
    socket.on("close", () => drop(socket));
  });

  app.server.on("upgrade", (request, socket, head) => {
    if (new URL(request.url ?? "/", "http://sandbox").pathname !== PATH) return socket.destroy();
    gatherWrites(socket);
    server.handleUpgrade(request, socket, head, (opened) => server.emit("connection", opened, request));
  });
  app.addHook("preClose", async () => {
    for (const socket of server.clients) socket.terminate();
    server.close();
  });
}

/** Does what a client's message asks for and says so. */
function obey(client: Client, text: string): object {
  const message = parse(text);
  if (message === null) return { type: "ack", success: false, error: "Message was not valid UTF-8 encoded JSON." };
  const { type, txid, topics } = message;
  const isKnown = type === "identify" || type === "subscribe" || type === "unsubscribe" || type === "ping";
  const needsTopics = type === "subscribe" || type === "unsubscribe";
  const areTopics = Array.isArray(topics) && topics.every((topic) => typeof topic === "string");
  if (!isKnown || typeof txid !== "number" || (needsTopics && !areTopics)) {
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

function parse(text: string): { type?: unknown; txid?: unknown; topics?: unknown } | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? value : null;
  } catch {
    return null;
  }
}
