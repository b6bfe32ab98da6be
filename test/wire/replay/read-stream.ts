/** Plays recorded frames to an adapter's stream and compares its messages with the expected ones, frame by frame. */
import type { MarketListing, Quote } from "../../../src/domain/market.ts";
import type { Trade } from "../../../src/domain/trade.ts";
import type { StreamMessage } from "../../../src/ports/venue.ts";
import { type Expected, showValue } from "../expectation.ts";
import type { ExpectedFrame, ExpectedStream, ExpectedStreamTrade } from "../expected/stream.ts";
import type { Findings } from "../findings.ts";
import type { AdapterSession } from "./adapter-session.ts";
import { compareItems } from "./compare-data.ts";
import { quoteFacts, tradeFacts } from "./facts.ts";

const UP_MS_MAX = 20_000;
/** Time that passes after the last frame. */
const SETTLE_MS = 1_000;
const NO_QUOTE = { bid: null, ask: null, bidSize: null, askSize: null, lastPrice: null, indicativePrice: null };
/** Drops that mean that messages were lost. The recording must justify each of them. */
const LOST_MESSAGE_REASONS = ["book_mismatch", "sequence_gap"] as const;

export interface OpenStream {
  /** Removes and returns the messages received since the last call. */
  takeMessages(): StreamMessage[];
}

/** Opens the stream, follows the markets and waits until the subscriptions are sent. */
export async function openFollowedStream(
  { adapter, onClose }: AdapterSession,
  markets: readonly MarketListing[],
): Promise<OpenStream> {
  let messages: StreamMessage[] = [];
  let markUp: () => void = () => {};
  const up = new Promise<void>((resolve) => {
    markUp = resolve;
  });
  const stream = adapter.openStream({
    onMessage: (message) => void messages.push(message),
    onUp: () => markUp(),
    onDown: () => {},
  });
  if (stream === null) throw new Error("the adapter has no stream");
  onClose(() => stream.close());
  stream.follow(markets);
  const timeout = AbortSignal.timeout(UP_MS_MAX);
  const timedOut = new Promise<never>((_, reject) => {
    timeout.addEventListener("abort", () => reject(new Error("the stream did not come up")), { once: true });
  });
  await Promise.race([up, timedOut]);
  return {
    takeMessages() {
      const taken = messages;
      messages = [];
      return taken;
    },
  };
}

export interface StreamPlay {
  readonly session: AdapterSession;
  readonly open: OpenStream;
  readonly expected: ExpectedStream;
  /** Sends a frame. Returns the key by which the adapter's processing of it is recognised, and the action. */
  readonly transmission: (frame: unknown) => { readonly key: string; readonly send: () => void };
  /** Reasons for which a frame is not sent, because the venue would not send it to this adapter. */
  readonly unsentReasons: ReadonlySet<string>;
  /** Number of subscriptions that the server has received. */
  readonly subscriptions: () => number;
}

export async function playStream(play: StreamPlay, findings: Findings): Promise<void> {
  const { session, open, expected } = play;
  const player = new FrameComparison(findings);
  const subscriptionsBefore = play.subscriptions();
  let number = 0;
  for (const frame of expected.frames) {
    const row = frame.isRecorded ? `frame ${++number}` : `book before frame ${number + 1}`;
    if (frame.isRecorded) findings.addRow(row);
    const isSent = frame.ignoredBecause === null || !play.unsentReasons.has(frame.ignoredBecause);
    if (isSent) {
      session.clock.set(frame.receivedAt);
      const { key, send } = play.transmission(frame.frame);
      await session.deliver(send, key);
    }
    player.compare(row, frame, open.takeMessages());
    if (frame.isRecorded && frame.ignoredBecause !== null) findings.leaveOut(row, frame.ignoredBecause);
  }
  // An adapter may wait for further messages about the same match.
  session.clock.advance(SETTLE_MS);
  player.end(open.takeMessages());
  const resubscriptions = play.subscriptions() - subscriptionsBefore;
  if (resubscriptions > expected.resubscriptionsMax) {
    const allowed = `at most ${expected.resubscriptionsMax} subscriptions after the first`;
    findings.differ("subscriptions", "openStream", allowed, String(resubscriptions), undefined);
  }
  const lost = LOST_MESSAGE_REASONS.reduce((sum, reason) => sum + (session.drops[reason] ?? 0), 0);
  if (lost > expected.resubscriptionsMax) {
    const allowed = `at most ${expected.resubscriptionsMax} lost messages`;
    findings.differ("lost messages", "openStream", allowed, JSON.stringify(session.drops), undefined);
  }
}

type QuoteState = Omit<Quote, "receivedAt" | "eventAt">;

/** Compares the messages of an adapter with the expected ones: quotes and signals per frame, trades at the end. */
class FrameComparison {
  readonly #findings: Findings;
  readonly #quotes = new Map<string, QuoteState>();
  readonly #expectedQuotes = new Map<string, Expected>();
  readonly #expectedTrades: { readonly row: string; readonly trade: ExpectedStreamTrade }[] = [];
  /** Trades by market and id. A trade may be reported again with a larger size. */
  readonly #trades = new Map<string, { readonly marketId: string; readonly trade: Trade }>();

  constructor(findings: Findings) {
    this.#findings = findings;
  }

  /** Compares the quotes that the frame or the adapter states. A wrong quote is not repeated with later frames. */
  compare(row: string, frame: ExpectedFrame, messages: readonly StreamMessage[]): void {
    this.#read(messages);
    for (const trade of frame.trades) this.#expectedTrades.push({ row, trade });
    for (const [marketId, expected] of frame.quotes) this.#expectedQuotes.set(marketId, expected);
    const emittedIds = messages.flatMap(({ kind, marketId }) => (kind === "quote" ? [marketId] : []));
    for (const marketId of new Set([...frame.quotes.keys(), ...emittedIds])) {
      this.#compareQuote(row, marketId, frame.frame);
    }
    this.#compareSignals(row, frame, messages);
  }

  /** Compares what the adapter reports after it has waited for further messages. */
  end(messages: readonly StreamMessage[]): void {
    this.#read(messages);
    for (const marketId of this.#expectedQuotes.keys()) {
      this.#compareQuote("after the last frame", marketId, undefined);
    }
    const marketIds = new Set([
      ...this.#expectedTrades.map(({ trade }) => trade.marketId),
      ...[...this.#trades.values()].map(({ marketId }) => marketId),
    ]);
    for (const marketId of marketIds) {
      const expected = this.#expectedTrades.filter(({ trade }) => trade.marketId === marketId);
      const actual = [...this.#trades.values()].filter((each) => each.marketId === marketId);
      compareItems(
        `openStream trade of ${marketId}`,
        (index) => expected[index]?.row ?? "",
        expected.map(({ trade }) => trade.item),
        actual.map(({ trade }) => tradeFacts(trade)),
        this.#findings,
      );
    }
  }

  #compareQuote(row: string, marketId: string, raw: unknown): void {
    const expected = this.#expectedQuotes.get(marketId);
    const actual = quoteFacts(this.#quotes.get(marketId) ?? NO_QUOTE);
    const method = `openStream quote of ${marketId}`;
    if (expected === undefined) this.#findings.differ(row, method, "no quote", showValue(actual), raw);
    else this.#findings.compare(row, method, expected, actual, raw);
  }

  #read(messages: readonly StreamMessage[]): void {
    for (const message of messages) {
      const { marketId } = message;
      if (message.kind === "quote") {
        this.#quotes.set(marketId, { ...(this.#quotes.get(marketId) ?? NO_QUOTE), ...message.quote });
      } else if (message.kind === "trade") {
        const { trade } = message;
        this.#trades.set(`${marketId} ${trade.tradeId}`, { marketId, trade });
      }
    }
  }

  #compareSignals(row: string, { signals, frame }: ExpectedFrame, messages: readonly StreamMessage[]): void {
    const actual = messages
      .filter(({ kind }) => kind === "changed" || kind === "listed")
      .map(({ kind, marketId }) => `${kind} ${marketId}`);
    for (const { text, isRequired } of signals) {
      const index = actual.indexOf(text);
      if (index >= 0) actual.splice(index, 1);
      else if (isRequired) this.#findings.differ(row, "openStream", `signal "${text}"`, "none", frame);
    }
    for (const text of actual) this.#findings.differ(row, "openStream", "no signal", `"${text}"`, frame);
  }
}
