import type { BoardMarket, MarketBoard } from "../board/index.ts";
import { VenueError } from "../domain/errors.ts";
import type { MarketListing } from "../domain/market.ts";
import type { Trade } from "../domain/trade.ts";
import type { Clock } from "../ports/clock.ts";
import type { Log } from "../ports/log.ts";
import type { ListingPage, StreamMessage, VenueAdapter, VenueStream } from "../ports/venue.ts";
import type { Backfill } from "./backfill.ts";
import { RollingVolume } from "./rolling-volume.ts";
import type { StoreWriter } from "./store-writer.ts";
import type { VenueHealth } from "./venue-health.ts";

/** Markets of a page that the board takes over at once; everybody else has a turn in between. */
const ABSORBED_A_TURN_MAX = 200;
const REFRESH_EVERY_MS = 1_000;
const REFRESH_BATCH_MAX = 100;
const REFRESH_QUEUE_MAX = 20_000;
/** A close further ahead is scheduled by a later sweep, so that the queue holds only what is soon due. */
const SCHEDULED_AHEAD_MS = 6 * 3_600_000;
/** A settled market is looked at this soon, then ever less often, while it waits for its result. */
const AWAITING_RESULT_MS_MIN = 15_000;
const AWAITING_RESULT_MS_MAX = 3_600_000;
/** A sweep with less than this share of the rows of the one before is not believed at once. */
const SWEEP_SHARE_MIN = 0.5;
/** Smaller listings may halve by themselves. */
const SWEEP_ROWS_MIN = 20;
/** A market missing from this many complete sweeps in a row is asked for by name. */
const MISSED_SWEEPS_MAX = 2;
const TAPE_PAUSE_MS = 250;
const TAPE_LIMIT = 1_000;
const TAPE_MARKETS_MAX = 200;
/** Where volumes come from the tape; only small venues publish none. */
const TAPE_MARKETS_FOR_VOLUME_MAX = 5_000;
/** Listing the most traded is a pass over every market: whose tape is next is read off one list for this long. */
const TAPE_LISTED_FOR_MS = 5_000;
/** As many as one or two requests ask for. */
const ACTIVE_MARKETS_MAX = 200;
const FOLLOW_EVERY_MS = 5_000;
const BACKFILL_PAUSE_MS = 200;
/** A venue's time further ahead of ours than this is a mistake. */
const AHEAD_MS_MAX = 2_000;
const ERROR_PAUSE_MS_MIN = 1_000;
const ERROR_PAUSE_MS_MAX = 30_000;
/** While the venue gives no usable answers it is asked for one known market this often; an answer ends all error pauses. */
const PROBE_EVERY_MS = 1_000;
/** After trouble what is shown is confirmed by a sweep this soon, instead of after the usual pause. */
const CONFIRM_PAUSE_MS = 1_000;
/** Trouble seldom comes alone, and what is lost without a trace is lost beside it: sweeps stay this close for so long. */
const DOUBT_PAUSE_MS = 2_500;
const DOUBT_MS = 30_000;
/** A sweep is a load on the venue: it gets this many times as long a rest. */
const REST_PER_SWEEP = 2;
/** The shortest of so many whole sweeps says what one costs the venue: what hung in the others cost it nothing. */
const SWEEP_LOADS_KEPT = 5;

export interface VenueIngestOptions {
  readonly venue: VenueAdapter;
  readonly board: MarketBoard;
  readonly recorder: StoreWriter;
  readonly backfill: Backfill;
  readonly health: VenueHealth;
  /** Every venue's first sweep has ended, well or badly. */
  readonly areFirstSweepsOver: () => boolean;
  readonly clock: Clock;
  readonly log: Log;
}

/** Keeps the board true for one venue: sweeps, stream, single reads of what fell out of both, tape and past prices. */
export class VenueIngest {
  readonly #options: VenueIngestOptions;
  readonly #stop = new AbortController();
  readonly #missedSweeps = new Map<string, number>();
  /** When each market waiting for a result, or asked for by the stream, is due to be read again. */
  readonly #dueAt = new Map<string, number>();
  readonly #volumes = new Map<string, RollingVolume>();
  readonly #tapeReadAt = new Map<string, number>();
  #tapes: { readonly markets: readonly BoardMarket[]; readonly at: number } = { markets: [], at: 0 };
  #stream: VenueStream | null = null;
  #streamUp = false;
  /** Markets in the sweep before, whole or not. */
  #lastSweepMarkets = 0;
  /** How long the last whole sweep took. */
  #sweepMs = 0;
  /** How long the last sweep, whole or not, was reading pages. */
  #sweepLoadMs = 0;
  /** The same of the last whole sweeps. */
  #wholeSweepLoads: readonly number[] = [];
  /** Something failed or was lost since the last sweep began: what is shown may be old or wrong. */
  #isInDoubt = false;
  #doubtedAt = Number.NEGATIVE_INFINITY;
  /** A sweep that ends a doubt is under way: what only deepens gives way to it. */
  #isConfirming = false;
  #wasStreamUp = false;
  /** Ends the pause of a loop, by name; of those whose pause may be cut short. */
  readonly #wake = new Map<string, AbortController>();
  /** Loops whose last step failed. */
  readonly #failing = new Set<string>();
  /** Every open market's tape was read once. */
  #isTapeRoundOver = false;
  #loops: Promise<void>[] = [];

  constructor(options: VenueIngestOptions) {
    this.#options = options;
  }

  start(): void {
    const { venue, board } = this.#options;
    const { profile } = venue;
    // What was restored from the store and waits for its result is in no listing of open markets.
    for (const market of board.markets()) if (market.listing.venue === venue.id) this.#schedule(market);
    this.#openStream();
    this.#loops = [
      this.#loop("sweep", profile.sweepPauseMs, () => this.#sweep()),
      this.#loop("refresh", REFRESH_EVERY_MS, () => this.#refreshDue()),
      this.#probe(),
      this.#loop("tape", TAPE_PAUSE_MS, () => this.#afterFirstSweeps(() => this.#readNextTape())),
      this.#loop("backfill", BACKFILL_PAUSE_MS, () => this.#afterFirstSweeps(() => this.#backfill())),
    ];
    if (profile.activePollMs !== null)
      this.#loops.push(this.#loop("active", profile.activePollMs, () => this.#pollActive()));
    if (this.#stream !== null) this.#loops.push(this.#loop("follow", FOLLOW_EVERY_MS, async () => this.#follow()));
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    this.#stream?.close();
    await Promise.allSettled(this.#loops);
  }

  /** Takes over one page of a listing; also used for markets that a caller asked for by name. */
  absorb(page: ListingPage): void {
    const { board, recorder } = this.#options;
    for (const event of page.events) if (board.applyEvent(event)) recorder.noteEvent(event);
    for (const snapshot of page.markets) {
      const change = board.apply(snapshot, page.requestedAt);
      recorder.note(change);
      this.#schedule(change.market);
    }
  }

  /** First sweeps have the request budgets and the machine for themselves; before them there is nothing to deepen. */
  async #afterFirstSweeps(step: () => Promise<unknown>): Promise<void> {
    if (this.#options.areFirstSweepsOver() && !this.#isConfirming) await step();
  }

  async #sweep(): Promise<void> {
    const { venue, board, clock, health, log } = this.#options;
    const isFirst = health.report(0).sweep.completed === 0;
    const seen = new Set<string>();
    const cuts = new Set<string>();
    const begunAt = clock.monotonic();
    health.sweepBegan();
    this.#isConfirming = this.#isInDoubt;
    this.#isInDoubt = false;
    this.#sweepLoadMs = 0;
    try {
      for await (const page of venue.listOpenMarkets(this.#stop.signal)) {
        for (const { listing } of page.markets) seen.add(listing.marketId);
        for (const slice of slicesOf(page)) {
          await clock.yieldToEventLoop();
          this.absorb(slice);
        }
        if (page.incompleteReason !== undefined) cuts.add(page.incompleteReason);
        health.sweepRead(page.markets.length, page.totalRows);
        health.succeeded();
        this.#sweepLoadMs = clock.monotonic() - begunAt;
        if (isFirst)
          log.info({ venue: venue.id, markets: seen.size, rows_total: page.totalRows }, "first sweep: page read");
      }
    } finally {
      this.#isConfirming = false;
    }
    const before = this.#lastSweepMarkets;
    if (before >= SWEEP_ROWS_MIN && seen.size < before * SWEEP_SHARE_MIN) {
      health.drop("sweep_shrunk");
      cuts.add("sweep_shrunk");
    }
    this.#lastSweepMarkets = seen.size;
    if (cuts.size > 0) {
      health.sweepIncomplete();
      log.warn(
        { venue: venue.id, markets: seen.size, cuts: [...cuts] },
        "sweep is not whole; what it lacks is not missed",
      );
    } else {
      health.sweepCompleted();
      this.#wholeSweepLoads = [...this.#wholeSweepLoads, this.#sweepLoadMs].slice(-SWEEP_LOADS_KEPT);
      if (isFirst) log.info({ venue: venue.id, markets: seen.size }, "first sweep completed");
      for (const market of board.markets()) {
        if (market.listing.venue === venue.id) this.#noteSeen(market, seen.has(market.listing.marketId));
      }
    }
    this.#sweepMs = clock.monotonic() - begunAt;
  }

  /** Keeps the most traded markets fresh where a sweep takes longer than they may wait. */
  async #pollActive(): Promise<void> {
    const { venue, board, health } = this.#options;
    if (this.#streamUp || this.#sweepMs <= (venue.profile.activePollMs ?? 0)) return;
    const active = board.list({
      venues: [venue.id],
      statuses: ["active"],
      category: null,
      text: null,
      sort: "volume_24h",
      limit: ACTIVE_MARKETS_MAX,
      after: null,
    });
    if (active.length === 0) return;
    this.absorb(
      await venue.getMarkets(
        active.map((market) => market.listing),
        this.#stop.signal,
      ),
    );
    health.succeeded();
  }

  #noteSeen(market: BoardMarket, isListed: boolean): void {
    const { marketId, status } = market.listing;
    if (isListed || (status !== "active" && status !== "pending")) {
      this.#missedSweeps.delete(marketId);
      return;
    }
    const missed = (this.#missedSweeps.get(marketId) ?? 0) + 1;
    this.#missedSweeps.set(marketId, missed);
    if (missed >= MISSED_SWEEPS_MAX) this.#due(marketId, this.#options.clock.now());
  }

  /** When this market has to be read by name, if ever: past its close, or waiting for a result. */
  #schedule(market: BoardMarket): void {
    const { listing } = market;
    const now = this.#options.clock.now();
    if (listing.status === "finalized") {
      this.#dueAt.delete(listing.marketId);
      this.#missedSweeps.delete(listing.marketId);
      this.#volumes.delete(listing.marketId);
      this.#tapeReadAt.delete(listing.marketId);
      return;
    }
    const { marketId, closeAt } = listing;
    const isOpen = listing.status === "active" || listing.status === "pending";
    const waitedMs = now - (closeAt ?? now);
    const againAt = now + Math.min(AWAITING_RESULT_MS_MAX, Math.max(AWAITING_RESULT_MS_MIN, waitedMs / 10));
    if (!isOpen) this.#due(marketId, againAt);
    else if (closeAt !== null && closeAt <= now + SCHEDULED_AHEAD_MS) this.#due(marketId, Math.max(closeAt, againAt));
    else this.#dueAt.delete(marketId);
  }

  #due(marketId: string, at: number): void {
    if (this.#dueAt.size < REFRESH_QUEUE_MAX || this.#dueAt.has(marketId)) this.#dueAt.set(marketId, at);
    else this.#options.health.drop("refresh_queue_full");
  }

  async #refreshDue(): Promise<void> {
    const { venue, board, clock, health } = this.#options;
    const now = clock.now();
    const listings: MarketListing[] = [];
    for (const [marketId, dueAt] of this.#dueAt) {
      if (listings.length >= REFRESH_BATCH_MAX) break;
      if (dueAt > now) continue;
      const market = board.find(venue.id, marketId);
      if (market === null) this.#dueAt.delete(marketId);
      else {
        listings.push(market.listing);
        this.#dueAt.set(marketId, now + AWAITING_RESULT_MS_MIN);
      }
    }
    if (listings.length === 0) return;
    const page = await venue.getMarkets(listings, this.#stop.signal);
    this.absorb(page);
    health.succeeded();
    const answered = new Set(page.markets.map(({ listing }) => listing.marketId));
    // One that the venue no longer knows is asked for ever less often, as one that waits.
    for (const { marketId } of listings) {
      const market = answered.has(marketId) ? null : board.find(venue.id, marketId);
      if (market !== null) this.#schedule(market);
    }
  }

  #openStream(): void {
    const { venue, health, log } = this.#options;
    this.#stream = venue.openStream({
      onMessage: (message) => this.#onStream(message),
      onUp: () => {
        // What was told while it was away has to be read.
        if (this.#wasStreamUp && !this.#streamUp) this.#doubt();
        this.#streamUp = true;
        this.#wasStreamUp = true;
        health.streamIs("up");
        log.info({ venue: venue.id }, "stream is up");
      },
      onDown: (reason) => {
        if (this.#streamUp) {
          log.warn({ venue: venue.id, reason }, "stream is down and will reconnect");
          health.drop("stream_down");
          this.#doubt();
        }
        this.#streamUp = false;
        health.streamIs("down");
      },
    });
    if (this.#stream !== null) health.streamIs("down");
  }

  /** The most traded open markets that the stream can carry. */
  #follow(): void {
    const { venue, board } = this.#options;
    const listings = board
      .list({
        venues: [venue.id],
        statuses: ["active"],
        category: null,
        text: null,
        sort: "volume_24h",
        limit: venue.profile.streamMarketsMax,
        after: null,
      })
      .map((market) => market.listing);
    this.#stream?.follow(listings);
  }

  #onStream(message: StreamMessage): void {
    const { venue, board, recorder, health, clock } = this.#options;
    const { marketId } = message;
    health.succeeded();
    if (message.kind === "changed") {
      this.#due(marketId, clock.now());
    } else if (message.kind === "listed") {
      this.#findNew(marketId);
    } else if (message.kind === "quote") {
      const isAhead = (message.quote.eventAt ?? 0) > message.receivedAt + AHEAD_MS_MAX;
      if (isAhead) health.drop("time_ahead");
      // A time that has yet to come would make all that follows look old.
      const quote = isAhead ? { ...message.quote, eventAt: null } : message.quote;
      const change = board.applyQuote(venue.id, marketId, quote, message.receivedAt);
      if (change === "crossed_book") this.#doubt();
      if (typeof change === "string") health.drop(change);
      else recorder.note(change);
    } else {
      const market = board.find(venue.id, marketId);
      if (market === null) {
        health.drop("unknown_market");
        return;
      }
      recorder.noteTrades(market, [message.trade]);
      const change = board.applyTrade(market, message.trade);
      if (change !== null) recorder.note(change);
    }
  }

  #findNew(marketId: string): void {
    const { venue, board, health } = this.#options;
    if (board.find(venue.id, marketId) !== null) return;
    venue.findMarket(marketId, this.#stop.signal).then(
      (page) => {
        if (page !== null) this.absorb(page);
      },
      () => health.drop("new_market_unread"),
    );
  }

  /** Reads the tape of the market whose turn it is: those without a published volume first, then the most traded. */
  async #readNextTape(): Promise<void> {
    const { venue, board, recorder, clock, health } = this.#options;
    if (venue.playMoney) return;
    const market = this.#nextTape(this.#tapeCandidates());
    if (market === null) return;
    const { marketId } = market.listing;
    const volume = this.#volumes.get(marketId) ?? new RollingVolume();
    this.#volumes.set(marketId, volume);
    this.#tapeReadAt.set(marketId, clock.now());
    const sinceMs = volume.nextReadFrom(clock.now());
    const trades: readonly Trade[] = await venue.listTrades(market.listing, sinceMs, TAPE_LIMIT, this.#stop.signal);
    health.succeeded();
    volume.add(trades, sinceMs, trades.length < TAPE_LIMIT, clock.now());
    recorder.noteTrades(market, trades);
    if (venue.profile.volumeFromTrades) {
      recorder.noteFigures(board.annotate(market, { volume24hUsd: volume.total(clock.now()) }));
    }
  }

  #tapeCandidates(): readonly BoardMarket[] {
    const { venue, board, clock } = this.#options;
    const now = clock.monotonic();
    if (this.#tapes.markets.length > 0 && now - this.#tapes.at < TAPE_LISTED_FOR_MS) return this.#tapes.markets;
    const markets = board.list({
      venues: [venue.id],
      statuses: ["active"],
      category: null,
      text: null,
      sort: "volume_24h",
      limit: venue.profile.volumeFromTrades ? TAPE_MARKETS_FOR_VOLUME_MAX : TAPE_MARKETS_MAX,
      after: null,
    });
    this.#tapes = { markets, at: now };
    return markets;
  }

  /** Brings in the past of the next market; where volumes come from the tape, those come first: lists are sorted by them. */
  async #backfill(): Promise<void> {
    if (this.#options.venue.profile.volumeFromTrades && !this.#isTapeRoundOver) return;
    await this.#options.backfill.next(this.#stop.signal);
  }

  #nextTape(candidates: readonly BoardMarket[]): BoardMarket | null {
    let next: BoardMarket | null = null;
    let oldest = Number.POSITIVE_INFINITY;
    for (const market of candidates) {
      const readAt = this.#tapeReadAt.get(market.listing.marketId) ?? 0;
      if (readAt < oldest) {
        oldest = readAt;
        next = market;
      }
    }
    if (oldest > 0) this.#isTapeRoundOver = true;
    return next;
  }

  /** What is shown may no longer be true: the next sweep comes soon. */
  #doubt(): void {
    this.#isInDoubt = true;
    this.#doubtedAt = this.#options.clock.monotonic();
    this.#wake.get("sweep")?.abort();
  }

  /**
   * While the sweeps pause after a failure, asks for one market that is known. An answer ends the pauses, however long
   * they have grown: a venue that is back is read at once, and one that is not is asked no more than this.
   */
  async #probe(): Promise<void> {
    const { venue, board, clock, health } = this.#options;
    while (!this.#stop.signal.aborted) {
      await clock.sleep(PROBE_EVERY_MS, this.#stop.signal).catch(() => {});
      if (!this.#failing.has("sweep") || this.#stop.signal.aborted) continue;
      const known = firstOf(board.markets(), (market) => market.listing.venue === venue.id);
      if (known === null) continue;
      try {
        const page = await venue.findMarket(known.listing.marketId, this.#stop.signal);
        if (page !== null) this.absorb(page);
        for (const name of this.#failing) this.#wake.get(name)?.abort();
      } catch (error) {
        // The loops tell of the trouble; this only looks whether it is over.
        if (error instanceof VenueError) health.drop(`failed_${error.failure}`);
      }
    }
  }

  /** Runs `step` until stopped; a failure is counted and followed by a growing pause, never by an end. */
  async #loop(name: string, pauseMs: number, step: () => Promise<unknown>): Promise<void> {
    const { clock, venue, health, log } = this.#options;
    let failures = 0;
    while (!this.#stop.signal.aborted) {
      try {
        await step();
        // What was told while others failed may be as wrong as what they were told.
        if (failures > 0 && name !== "sweep") this.#doubt();
        failures = 0;
        this.#failing.delete(name);
      } catch (error) {
        if (this.#stop.signal.aborted) return;
        failures += 1;
        this.#failing.add(name);
        // Only the change is news: what fails for hours must not keep the sweeps running.
        if (failures === 1) this.#doubt();
        if (error instanceof VenueError) {
          health.failed();
          health.drop(`failed_${error.failure}`);
          if (failures <= 3 || failures % 20 === 0)
            log.warn(
              { venue: venue.id, loop: name, failure: error.failure, reason: error.message },
              "the venue gave no usable answer",
            );
        } else {
          log.error({ venue: venue.id, loop: name, err: error }, "ingest step failed");
        }
      }
      const restMs = name === "sweep" ? REST_PER_SWEEP * Math.min(this.#sweepLoadMs, ...this.#wholeSweepLoads) : 0;
      if (failures > 0) {
        const growing = Math.min(ERROR_PAUSE_MS_MAX, ERROR_PAUSE_MS_MIN * 2 ** Math.min(failures - 1, 5));
        await this.#pause(name, Math.max(ERROR_PAUSE_MS_MIN, restMs), Math.max(pauseMs, restMs, growing));
      } else if (name === "sweep") {
        const usualMs = Math.max(pauseMs, restMs);
        const soonMs = Math.min(usualMs, Math.max(CONFIRM_PAUSE_MS, restMs));
        const isDoubtRecent = clock.monotonic() - this.#doubtedAt < DOUBT_MS;
        const nextMs = isDoubtRecent ? Math.min(usualMs, Math.max(DOUBT_PAUSE_MS, restMs)) : usualMs;
        await this.#pause(name, soonMs, this.#isInDoubt ? soonMs : nextMs);
      } else await this.#pause(name, pauseMs, pauseMs);
    }
  }

  /** Sleeps for `pauseMs`, of which all after the first `restMs` may be cut short. */
  async #pause(name: string, restMs: number, pauseMs: number): Promise<void> {
    const { clock } = this.#options;
    const { signal } = this.#stop;
    const wake = new AbortController();
    this.#wake.set(name, wake);
    await clock.sleep(Math.min(restMs, pauseMs), signal).catch(() => {});
    if (pauseMs <= restMs || signal.aborted) return;
    await clock.sleep(pauseMs - restMs, AbortSignal.any([signal, wake.signal])).catch(() => {});
    this.#wake.delete(name);
  }
}

function firstOf<Item>(items: Iterable<Item>, fits: (item: Item) => boolean): Item | null {
  for (const item of items) if (fits(item)) return item;
  return null;
}

/** A page in parts that are taken over in a turn each; the events with the first. */
function* slicesOf(page: ListingPage): Generator<ListingPage> {
  yield { ...page, markets: page.markets.slice(0, ABSORBED_A_TURN_MAX) };
  for (let from = ABSORBED_A_TURN_MAX; from < page.markets.length; from += ABSORBED_A_TURN_MAX)
    yield { ...page, events: [], markets: page.markets.slice(from, from + ABSORBED_A_TURN_MAX) };
}
