/** Plays recorded frames to an adapter's stream and compares its messages with the expected ones, frame by frame. */
import type { MarketListing, Quote } from "../../../src/domain/market.ts";
import type { StreamMessage } from "../../../src/ports/venue.ts";
import { type Expected, type Facts, isMatching, showValue } from "../expectation.ts";
import type { ExpectedFrame, ExpectedStream, ExpectedStreamTrade } from "../expected/stream.ts";
import type { Findings } from "../findings.ts";
import type { AdapterSession } from "./adapter-session.ts";
import { quoteFacts, tradeFacts } from "./facts.ts";

const UP_MS_MAX = 20_000;
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
  const quotes = new Map<string, Omit<Quote, "receivedAt" | "eventAt">>();
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
    compareFrame(row, frame, open.takeMessages(), quotes, findings);
    if (frame.isRecorded && frame.ignoredBecause !== null) findings.leaveOut(row, frame.ignoredBecause);
  }
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

function compareFrame(
  row: string,
  frame: ExpectedFrame,
  messages: readonly StreamMessage[],
  quotes: Map<string, Omit<Quote, "receivedAt" | "eventAt">>,
  findings: Findings,
): void {
  for (const message of messages) {
    if (message.kind !== "quote") continue;
    quotes.set(message.marketId, { ...(quotes.get(message.marketId) ?? NO_QUOTE), ...message.quote });
  }
  for (const [marketId, expected] of frame.quotes) {
    const actual = quoteFacts(quotes.get(marketId) ?? NO_QUOTE);
    compareQuote(row, marketId, expected, actual, frame.frame, findings);
  }
  for (const message of messages) {
    if (message.kind === "quote" && !frame.quotes.has(message.marketId)) {
      findings.differ(row, "openStream", `no quote of ${message.marketId}`, showValue(message.quote), frame.frame);
    }
  }
  compareTrades(row, frame.trades, messages, frame.frame, findings);
  compareSignals(row, frame, messages, findings);
}

function compareQuote(
  row: string,
  marketId: string,
  expected: Expected,
  actual: Facts,
  raw: unknown,
  findings: Findings,
): void {
  findings.compare(row, `openStream quote of ${marketId}`, expected, actual, raw);
}

function compareTrades(
  row: string,
  expected: readonly ExpectedStreamTrade[],
  messages: readonly StreamMessage[],
  raw: unknown,
  findings: Findings,
): void {
  const remaining = messages.flatMap((message) =>
    message.kind === "trade" ? [{ marketId: message.marketId, facts: tradeFacts(message.trade) }] : [],
  );
  for (const { marketId, facts } of expected) {
    const exact = remaining.findIndex((trade) => trade.marketId === marketId && isMatching(facts, trade.facts));
    const index = exact >= 0 ? exact : remaining.findIndex((trade) => trade.marketId === marketId);
    const [found] = index < 0 ? [] : remaining.splice(index, 1);
    if (found === undefined) findings.differ(row, "openStream", `a trade of ${marketId}`, "none", raw);
    else findings.compare(row, `openStream trade of ${marketId}`, facts, found.facts, raw);
  }
  for (const { marketId, facts } of remaining) {
    findings.differ(row, "openStream", `no trade of ${marketId}`, showValue(facts), raw);
  }
}

function compareSignals(
  row: string,
  { signals, frame }: ExpectedFrame,
  messages: readonly StreamMessage[],
  findings: Findings,
): void {
  const actual = messages
    .filter(({ kind }) => kind === "changed" || kind === "listed")
    .map(({ kind, marketId }) => `${kind} ${marketId}`);
  for (const { text, isRequired } of signals) {
    const index = actual.indexOf(text);
    if (index >= 0) actual.splice(index, 1);
    else if (isRequired) findings.differ(row, "openStream", `signal "${text}"`, "none", frame);
  }
  for (const text of actual) findings.differ(row, "openStream", "no signal", `"${text}"`, frame);
}
