import { parseTradablePrice } from "../../domain/price.ts";
import type { StreamHandlers, VenueStream } from "../../ports/venue.ts";
import { openReconnectingSocket } from "../shared/reconnecting-socket.ts";
import { StallDetector } from "../shared/stall-detector.ts";
import type { VenuePorts } from "../shared/venue-ports.ts";
import type { Rows } from "./client.ts";
import { marketIdOf } from "./ids.ts";
import { parseTrade } from "./parse-trades.ts";
import { parseTime } from "./parse-values.ts";
import { type BetWire, type ContractWire, isBet, isContract, isSocketMessage } from "./wire.ts";
import type { ManifoldWatches } from "./wire-shapes.ts";

const TOPICS = ["global/new-bet", "global/updated-contract", "global/new-contract"] as const;
/** As in the venue's own client. The server closes a connection after 60 s without a message. */
const PING_MS = 10_000;
/** Each ping is acknowledged, so a longer silence means that the connection is dead. */
const SILENCE_MS_MAX = 25_000;
const ACK_MS_MAX = 5_000;
/** Contract fields whose change requires a new read; the venue broadcasts many other changes after each bet. */
const LIFECYCLE_FIELDS = ["isResolved", "resolution", "resolutionTime", "closeTime", "question"] as const;

export interface StreamOptions {
  readonly ports: Pick<VenuePorts, "sockets" | "clock" | "random" | "log" | "drop"> & {
    readonly watch: ManifoldWatches;
  };
  readonly wsUrl: string;
  readonly handlers: StreamHandlers;
  readonly marketsMax: number;
  /** Bets since a time, newest first, to fill a gap: the socket has no replay. */
  fetchBetsSince(sinceMs: number, signal: AbortSignal): Promise<Pick<Rows, "rows" | "receivedAt">>;
}

/** One socket subscribed to the three global topics; messages about markets that are not followed are ignored. */
export function openManifoldStream(options: StreamOptions): VenueStream {
  const { ports, handlers } = options;
  const stallDetector = new StallDetector(ports.clock);
  /** Followed market ids by contract id. */
  let followed = new Map<string, Set<string>>();
  let txid = 0;
  let subscribeTxid = 0;
  let cancelAckTimer: () => void = () => {};
  let isUp = false;
  const closing = new AbortController();
  /** Time of the newest bet received, where the backfill after a reconnect starts. */
  let newestBetAt: number | null = null;

  const onBets = (rows: readonly unknown[], receivedAt: number) => {
    for (const row of rows) {
      if (!ports.watch.bet.check(row, isBet)) ports.drop("bad_bet");
      else onBet(row, receivedAt);
    }
  };

  const onBet = (bet: BetWire, receivedAt: number) => {
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

  const onUpdatedContract = (contract: unknown, receivedAt: number) => {
    if (typeof contract !== "object" || contract === null || !("id" in contract) || typeof contract.id !== "string") {
      return ports.drop("bad_update");
    }
    if (!("answers" in contract) && !LIFECYCLE_FIELDS.some((field) => field in contract)) return;
    for (const marketId of followed.get(contract.id) ?? []) {
      handlers.onMessage({ kind: "changed", marketId, receivedAt });
    }
  };

  const onNewContract = (contract: unknown, receivedAt: number) => {
    if (!ports.watch.contract.check(contract, isContract)) return ports.drop("bad_market");
    for (const marketId of marketIdsOf(contract)) handlers.onMessage({ kind: "listed", marketId, receivedAt });
  };

  const backfill = async (sinceMs: number) => {
    try {
      const { rows, receivedAt } = await options.fetchBetsSince(sinceMs, closing.signal);
      if (!closing.signal.aborted) onBets(rows.toReversed(), receivedAt);
    } catch (error) {
      if (closing.signal.aborted) return;
      // The next sweep reads the current prices; only the trades of the gap are lost.
      ports.log.warn({ error: String(error) }, "could not fetch the bets missed while disconnected");
    }
  };

  const onAck = (ack: { txid?: number | null; success: boolean; error?: string | null }) => {
    if (ack.txid !== subscribeTxid) return;
    // A rejected subscription is retried by the timer of the missing acknowledgement.
    if (!ack.success) return ports.log.warn({ error: ack.error ?? null }, "manifold rejected the subscription");
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
    isFrozen: () => stallDetector.takeAlarm(),
    onOpen(send) {
      stallDetector.restart();
      subscribe(send);
    },
    onMessage(text, receivedAt) {
      const message = parseMessage(text, ports.watch);
      if (message === null) return ports.drop("bad_message");
      if (message.type === "ack") return onAck(message);
      // All topics are global, so any broadcast proves that the subscription works.
      stallDetector.heard();
      const { data, topic } = message;
      if (topic === "global/new-bet") onBets(Array.isArray(data.bets) ? data.bets : [data.bets], receivedAt);
      else if (topic === "global/updated-contract") onUpdatedContract(data.contract, receivedAt);
      else if (topic === "global/new-contract") onNewContract(data.contract, receivedAt);
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

/** Ids of the markets of a contract; none for contracts that are not yes-or-no questions. */
function marketIdsOf(contract: ContractWire): string[] {
  if (contract.outcomeType === "BINARY") return [contract.id];
  if (contract.outcomeType !== "MULTIPLE_CHOICE") return [];
  return (contract.answers ?? []).flatMap((answer) => {
    const id = typeof answer === "object" && answer !== null && "id" in answer ? answer.id : null;
    return typeof id === "string" ? marketIdOf(contract.id, id) : [];
  });
}

function parseMessage(text: string, watch: ManifoldWatches) {
  try {
    const value: unknown = JSON.parse(text);
    return watch.stream.check(value, isSocketMessage) ? value : null;
  } catch {
    return null;
  }
}
