import type { StreamHandlers, VenueStream } from "../../ports/venue.ts";
import { openReconnectingSocket } from "../shared/reconnecting-socket.ts";
import { createStallDetector } from "../shared/stall-detector.ts";
import type { VenuePorts } from "../shared/venue-ports.ts";
import { BroadcastReader } from "./broadcast-reader.ts";
import type { RowsResponse } from "./client.ts";
import type { ManifoldDriftDetectors } from "./wire.ts";
import { isSocketMessage } from "./wire.ts";

const TOPICS = ["global/new-bet", "global/updated-contract", "global/new-contract"] as const;
/** Ping interval of the venue's own client. The server closes a connection after 60 s without a message. */
const PING_MS = 10_000;
/**
 * Maximum silence of a connection. The server acknowledges each ping, so a longer silence means that the connection is
 * dead.
 */
const SILENCE_MS_MAX = 25_000;
const ACK_MS_MAX = 5_000;

export interface StreamOptions {
  readonly ports: Pick<VenuePorts, "sockets" | "clock" | "random" | "log" | "countDrop"> & {
    readonly driftDetectors: ManifoldDriftDetectors;
  };
  readonly wsUrl: string;
  readonly handlers: StreamHandlers;
  readonly marketsMax: number;
  /** Fetches the bets since a time, newest first, because the socket does not replay missed bets. */
  fetchBetsSince(sinceMs: number, signal: AbortSignal): Promise<Pick<RowsResponse, "rows" | "receivedAt">>;
}

/** One socket subscribed to the three global topics; broadcasts about markets that are not followed are ignored. */
export function openStream(options: StreamOptions): VenueStream {
  const { ports, handlers } = options;
  const { clock, countDrop, log, driftDetectors } = ports;
  const stallDetector = createStallDetector(clock);
  const reader = new BroadcastReader({
    onMessage: (message) => handlers.onMessage(message),
    countDrop,
    driftDetectors,
  });
  const closing = new AbortController();
  let txid = 0;
  let subscribeTxid = 0;
  let cancelAckTimer: () => void = () => {};
  let isUp = false;

  const backfill = async (sinceMs: number) => {
    try {
      const { rows, receivedAt } = await options.fetchBetsSince(sinceMs, closing.signal);
      if (!closing.signal.aborted) reader.readBets(rows.toReversed(), receivedAt);
    } catch (error) {
      if (closing.signal.aborted) return;
      // Only the missed trades are lost, because the next sweep reads the current prices.
      countDrop("backfill_failed");
      log.warn({ error: String(error) }, "could not fetch the bets missed while disconnected");
    }
  };

  const onAck = (ack: { txid?: number | null; success: boolean; error?: string | null }) => {
    if (ack.txid !== subscribeTxid) return;
    // A rejected subscription is retried by the acknowledgement timer.
    if (!ack.success) return log.warn({ error: ack.error ?? null }, "manifold rejected the subscription");
    cancelAckTimer();
    if (isUp) return;
    isUp = true;
    handlers.onUp();
    if (reader.newestBetAt !== null) void backfill(reader.newestBetAt);
  };

  const subscribe = (send: (text: string) => void) => {
    subscribeTxid = ++txid;
    send(JSON.stringify({ type: "subscribe", txid: subscribeTxid, topics: TOPICS }));
    cancelAckTimer = clock.setTimeout(() => subscribe(send), ACK_MS_MAX);
  };

  const socket = openReconnectingSocket({
    sockets: ports.sockets,
    clock,
    random: ports.random,
    url: options.wsUrl,
    heartbeat: { text: () => JSON.stringify({ type: "ping", txid: ++txid }), everyMs: PING_MS },
    silenceMsMax: SILENCE_MS_MAX,
    countDrop,
    isStalled: () => stallDetector.detectStall(),
    onOpen(send) {
      stallDetector.restart();
      subscribe(send);
    },
    onMessage(text, receivedAt) {
      const message = driftDetectors.stream.parse(text, isSocketMessage);
      if (message === null) return countDrop("bad_message");
      if (message.type === "ack") return onAck(message);
      // All topics are global, so any broadcast proves that the subscription works.
      stallDetector.recordMessage();
      reader.read(message.topic, message.data, receivedAt);
    },
    onDown(reason) {
      cancelAckTimer();
      isUp = false;
      handlers.onDown(reason);
    },
  });

  return {
    follow: (markets) => reader.follow(markets.slice(0, options.marketsMax)),
    close() {
      closing.abort();
      cancelAckTimer();
      socket.close();
    },
  };
}
