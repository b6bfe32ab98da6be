import { parseTradablePrice } from "../../domain/price.ts";
import type { StreamHandlers, VenueStream } from "../../ports/venue.ts";
import { openReconnectingSocket } from "../shared/reconnecting-socket.ts";
import { StallDetector } from "../shared/stall-detector.ts";
import type { VenuePorts } from "../shared/venue-ports.ts";
import { marketIdOf } from "./ids.ts";
import { parseTime } from "./parse-market.ts";
import { parseTrade } from "./parse-trades.ts";
import { type BetWire, isBet, isContract, isSocketMessage } from "./wire.ts";
import type { ManifoldWatches } from "./wire-shapes.ts";

const TOPICS = ["global/new-bet", "global/updated-contract", "global/new-contract"] as const;
/** As the venue's own client does; the server drops whoever is silent for 60 s. */
const PING_MS = 10_000;
/** Each ping is acknowledged, so silence past one missed answer is a dead socket. */
const SILENCE_MS_MAX = 25_000;
const ACK_MS_MAX = 5_000;
/** Changes of a contract that matter to its life; the venue broadcasts many others after each bet. */
const LIFE_FIELDS = ["isResolved", "resolution", "resolutionTime", "closeTime", "question"] as const;

export interface StreamOptions {
  readonly ports: Pick<VenuePorts, "sockets" | "clock" | "random" | "log" | "drop"> & {
    readonly watch: ManifoldWatches;
  };
  readonly wsUrl: string;
  readonly handlers: StreamHandlers;
  readonly marketsMax: number;
  /** Bets made after an instant, newest first: what the socket cannot repeat. */
  fetchBetsSince(
    sinceMs: number,
    signal: AbortSignal,
  ): Promise<{ readonly rows: readonly unknown[]; readonly receivedAt: number }>;
}

/** One socket with the three global topics; what is not followed is passed over. */
export function openManifoldStream(options: StreamOptions): VenueStream {
  const { ports, handlers } = options;
  const pace = new StallDetector(ports.clock);
  /** Followed market ids by contract. */
  let followed = new Map<string, Set<string>>();
  let txid = 0;
  let subscribeTxid = 0;
  let cancelAckTimer: () => void = () => {};
  let isUp = false;
  const closing = new AbortController();
  /** Time of the newest bet seen, to ask for what was missed while the socket was down. */
  let newestBetAt: number | null = null;

  const takeBets = (rows: readonly unknown[], receivedAt: number) => {
    for (const row of rows) {
      if (!ports.watch.bet.check(row, isBet)) ports.drop("bad_bet");
      else takeBet(row, receivedAt);
    }
  };

  const takeBet = (bet: BetWire, receivedAt: number) => {
    const at = parseTime(bet.createdTime);
    const marketId = marketIdOf(bet.contractId, bet.answerId);
    if (at === null) return ports.drop("bad_bet");
    newestBetAt = Math.max(newestBetAt ?? 0, at);
    if (followed.get(bet.contractId)?.has(marketId) !== true || bet.isRedemption === true) return;
    const trade = parseTrade(bet, ports.drop);
    if (trade !== null) handlers.onMessage({ kind: "trade", marketId, trade, receivedAt });
    const indicativePrice = parseTradablePrice(bet.probAfter);
    if (indicativePrice === null) return ports.drop("price_out_of_range");
    handlers.onMessage({ kind: "quote", marketId, quote: { indicativePrice, eventAt: at }, receivedAt });
  };

  const takeUpdate = (contract: unknown, receivedAt: number) => {
    if (typeof contract !== "object" || contract === null || !("id" in contract) || typeof contract.id !== "string") {
      return ports.drop("bad_update");
    }
    const hasAnswers = "answers" in contract;
    if (!hasAnswers && !LIFE_FIELDS.some((field) => field in contract)) return;
    for (const marketId of followed.get(contract.id) ?? [])
      handlers.onMessage({ kind: "changed", marketId, receivedAt });
  };

  const takeListed = (contract: unknown, receivedAt: number) => {
    if (!ports.watch.contract.check(contract, isContract)) return ports.drop("bad_market");
    if (contract.outcomeType === "BINARY") {
      handlers.onMessage({ kind: "listed", marketId: contract.id, receivedAt });
    } else if (contract.outcomeType === "MULTIPLE_CHOICE") {
      for (const answer of contract.answers ?? []) {
        const id = typeof answer === "object" && answer !== null && "id" in answer ? answer.id : null;
        if (typeof id === "string")
          handlers.onMessage({ kind: "listed", marketId: marketIdOf(contract.id, id), receivedAt });
      }
    }
  };

  const backfill = async (sinceMs: number) => {
    try {
      const { rows, receivedAt } = await options.fetchBetsSince(sinceMs, closing.signal);
      if (!closing.signal.aborted) takeBets(rows.toReversed(), receivedAt);
    } catch (error) {
      if (closing.signal.aborted) return;
      // The next sweep brings the prices; only trades of the gap stay unseen.
      ports.log.warn({ error: String(error) }, "bets of the gap could not be fetched");
    }
  };

  const takeAck = (ack: { txid?: number | null; success: boolean; error?: string | null }) => {
    if (ack.txid !== subscribeTxid) return;
    // A refusal is tried again when the timer of the missing acknowledgement runs out.
    if (!ack.success) return ports.log.warn({ error: ack.error ?? null }, "subscription was refused");
    cancelAckTimer();
    if (isUp) return;
    isUp = true;
    handlers.onUp();
    if (newestBetAt !== null) void backfill(newestBetAt);
  };

  const subscribe = (send: (text: string) => void) => {
    subscribeTxid = ++txid;
    send(JSON.stringify({ type: "subscribe", txid: subscribeTxid, topics: TOPICS }));
    cancelAckTimer = ports.clock.setTimeout(() => subscribe(send), ACK_MS_MAX);
  };

  const socket = openReconnectingSocket({
    sockets: ports.sockets,
    clock: ports.clock,
    random: ports.random,
    url: options.wsUrl,
    heartbeat: { text: () => JSON.stringify({ type: "ping", txid: ++txid }), everyMs: PING_MS },
    silenceMsMax: SILENCE_MS_MAX,
    drop: ports.drop,
    isFrozen: () => pace.takeAlarm(),
    onOpen(send) {
      pace.restart();
      subscribe(send);
    },
    onMessage(text, receivedAt) {
      const message = parseMessage(text, ports.watch);
      if (message === null) return ports.drop("bad_message");
      if (message.type === "ack") return takeAck(message);
      // All topics are global: whatever they bring shows that the subscription lives.
      pace.heard();
      const { data } = message;
      if (message.topic === "global/new-bet") takeBets(Array.isArray(data.bets) ? data.bets : [data.bets], receivedAt);
      else if (message.topic === "global/updated-contract") takeUpdate(data.contract, receivedAt);
      else if (message.topic === "global/new-contract") takeListed(data.contract, receivedAt);
    },
    onDown(reason) {
      cancelAckTimer();
      isUp = false;
      handlers.onDown(reason);
    },
  });

  return {
    follow(markets) {
      followed = new Map();
      for (const { marketId, venueKeys } of markets.slice(0, options.marketsMax)) {
        const contractId = venueKeys.contractId ?? marketId;
        const ids = followed.get(contractId) ?? new Set<string>();
        followed.set(contractId, ids.add(marketId));
      }
    },
    close() {
      closing.abort();
      cancelAckTimer();
      socket.close();
    },
  };
}

function parseMessage(text: string, watch: ManifoldWatches) {
  try {
    const value: unknown = JSON.parse(text);
    return watch.stream.check(value, isSocketMessage) ? value : null;
  } catch {
    return null;
  }
}
