import type { BoardEvent, BoardMarket, MarketBoard } from "../../board/index.ts";
import type { EventListing, MarketListing } from "../../domain/market.ts";
import type { Clock } from "../../ports/clock.ts";
import type { BoardBatch } from "./messages.ts";
import { quoteBuffer, writeQuote } from "./quote-columns.ts";

/** Time for which changes are collected into one batch. */
const COLLECT_MS = 50;
/** Maximum numbers per batch. They limit the time for which the other thread applies one batch. */
const MARKETS_MAX = 100;
const EVENTS_MAX = 100;
const QUOTES_MAX = 500;

/**
 * Sends the changes of a board to another thread. Of several changes of a market, only the last is sent. The next batch
 * is sent after the previous was acknowledged, so a slow receiver gets fewer batches, and the queue has at most one
 * entry per market and event. Create it before the board is filled.
 *
 * @param send  sends a batch; `batch.quotes` must be transferred
 */
export function createBoardFeed(board: MarketBoard, clock: Clock, send: (batch: BoardBatch) => void) {
  /** Rows of markets that are new or whose listing changed. */
  const relisted = new Set<number>();
  /** Rows of markets whose listing is unchanged but whose figures changed. */
  const requoted = new Set<number>();
  const removed = new Set<number>();
  /** Slugs of events that are new or changed. */
  const events = new Set<string>();
  /** The listing that was sent for each row. */
  const sentListings: (MarketListing | undefined)[] = [];
  let reusable = new Float64Array(0);
  let isUnacknowledged = false;
  let hasUnacknowledgedListings = false;
  let isStopped = false;
  let cancelTimer: (() => void) | null = null;
  let drained: PromiseWithResolvers<void> | null = null;

  const hasChanges = () => relisted.size + requoted.size + removed.size + events.size > 0;
  const isDrained = () => !isUnacknowledged && !hasChanges();
  const schedule = (delayMs: number) => {
    if (isStopped || isUnacknowledged || cancelTimer !== null) return;
    cancelTimer = clock.setTimeout(sendNext, delayMs);
  };

  const sendNext = () => {
    cancelTimer = null;
    const markets = [...board.rows(take(relisted, MARKETS_MAX))];
    for (const { row, listing } of markets) sentListings[row] = listing;
    const sentEvents = new Map<string, EventListing>();
    const addEvent = (event: BoardEvent | null) => event !== null && sentEvents.set(event.slug, event.listing);
    // Both boards drop an event with its last market. Each market is therefore sent with its event, and an event is sent
    // alone only if the receiver has one of its markets: the receiver would never drop an event that it has no market of.
    for (const market of markets) addEvent(board.eventOf(market));
    for (const slug of take(events, EVENTS_MAX))
      if (board.marketsOfEvent(slug).some(({ row, listing }) => sentListings[row] === listing))
        addEvent(board.findEvent(slug));
    hasUnacknowledgedListings = markets.length + sentEvents.size > 0;
    const quotes = [...board.rows(take(requoted, QUOTES_MAX))];
    const buffer = quoteBuffer(quotes.length, reusable);
    for (const [index, market] of quotes.entries()) writeQuote(buffer, index, market);
    reusable = new Float64Array(0);
    isUnacknowledged = true;
    send({
      removed: take(removed, Number.POSITIVE_INFINITY),
      events: [...sentEvents.values()],
      markets: markets.map(withoutPrice),
      quotes: buffer,
      quoteCount: quotes.length,
      mustAcknowledge: true,
    });
  };

  board.observe({
    onSet({ row, listing }) {
      if (sentListings[row] === listing) requoted.add(row);
      else {
        relisted.add(row);
        requoted.delete(row);
      }
      schedule(COLLECT_MS);
    },
    onRemove(row) {
      relisted.delete(row);
      requoted.delete(row);
      if (sentListings[row] !== undefined) removed.add(row);
      sentListings[row] = undefined;
      schedule(COLLECT_MS);
    },
    onEvent({ slug }) {
      events.add(slug);
      schedule(COLLECT_MS);
    },
  });

  return {
    /** The receiver has applied the last batch. */
    acknowledge(buffer: Float64Array<ArrayBuffer>): void {
      reusable = buffer;
      isUnacknowledged = false;
      if (isDrained()) {
        drained?.resolve();
        drained = null;
      } else schedule(relisted.size + events.size > 0 || requoted.size >= QUOTES_MAX ? 0 : COLLECT_MS);
    },
    /** Sends a market that the receiver waits for, with its event, before the changes of other markets. */
    sendNow(market: BoardMarket): void {
      const event = board.eventOf(market);
      relisted.delete(market.row);
      requoted.delete(market.row);
      sentListings[market.row] = market.listing;
      send({
        removed: take(removed, Number.POSITIVE_INFINITY),
        events: event === null ? [] : [event.listing],
        markets: [withoutPrice(market)],
        quotes: new Float64Array(0),
        quoteCount: 0,
        mustAcknowledge: false,
      });
    },
    /** True if the receiver has applied every listing. Quotes may wait. */
    get hasSentListings(): boolean {
      return relisted.size + events.size === 0 && !(isUnacknowledged && hasUnacknowledgedListings);
    },
    /** True if the receiver has applied every change. */
    get isDrained(): boolean {
      return isDrained();
    },
    /** Resolves when the receiver has applied every change, or when the feed stops. */
    async drain(): Promise<void> {
      if (isStopped || isDrained()) return;
      drained ??= Promise.withResolvers();
      await drained.promise;
    },
    /** Sends nothing more. */
    stop(): void {
      isStopped = true;
      cancelTimer?.();
      drained?.resolve();
    },
  };
}

const withoutPrice = ({ yesPrice, ...market }: BoardMarket) => market;

/** Removes the first elements of a set and returns them. */
function take<Value>(values: Set<Value>, limit: number): Value[] {
  const taken = [...values.values().take(limit)];
  for (const value of taken) values.delete(value);
  return taken;
}
