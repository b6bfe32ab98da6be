import { VenueError } from "../../domain/errors.ts";
import { chunksOf } from "../../lib/chunks.ts";
import { deleteOldest } from "../../lib/delete-oldest.ts";
import { isObject } from "../../lib/is-object.ts";
import { expectShape, type KalshiContext, listPages } from "./client.ts";
import { type ParsedEvent, parseEvent } from "./parse-event.ts";
import {
  type EventWire,
  isEvent,
  isEventsPage,
  isSeries,
  isSeriesList,
  isSeriesResponse,
  type SeriesWire,
} from "./wire.ts";

const EVENTS_MAX = 200_000;
const SERIES_MAX = 100_000;
const TICKERS_PER_REQUEST = 100;
const EVENTS_PER_PAGE = 200;
/** Maximum number of unknown series that are read one by one. If there are more, the list of all series is read. */
const SINGLE_SERIES_MAX = 5;
const SINGLE_EVENTS_MAX = 20;
/** Time after which an event or series that the venue did not return is requested again. */
const MISSING_RETRY_MS = 5 * 60_000;
const REFRESH_MS = 5 * 60_000;
const REFRESH_PAGES_MAX = 200;
/** Overlap between refreshes, because the venue's clock may differ from this node's clock. */
const REFRESH_OVERLAP_MS = 60_000;

interface Entry {
  readonly wire: EventWire;
  readonly series: SeriesWire | null;
  readonly event: ParsedEvent;
}

/**
 * Caches titles, categories and fees of events, which market rows do not include. An event is fetched with the first of
 * its markets; changed events are fetched every few minutes.
 */
export class EventCache {
  readonly #context: KalshiContext;
  readonly #events = new Map<string, Entry>();
  readonly #series = new Map<string, SeriesWire>();
  /** Time from which a ticker that the venue did not return may be requested again, Unix milliseconds. */
  readonly #retryAt = new Map<string, number>();
  #refreshedAt: number | null = null;

  constructor(context: KalshiContext) {
    this.#context = context;
  }

  find(eventTicker: string): ParsedEvent | null {
    const entry = this.#events.get(eventTicker);
    if (entry === undefined) return null;
    const series = this.#series.get(entry.wire.series_ticker) ?? null;
    return series === entry.series ? entry.event : this.#put(entry.wire).event;
  }

  /** Fetches the events that are not cached, and their series. */
  async ensure(eventTickers: readonly string[], signal: AbortSignal): Promise<void> {
    const now = this.#context.clock.now();
    const shouldFetch = (ticker: string) =>
      !this.#events.has(ticker) && now >= (this.#retryAt.get(`event ${ticker}`) ?? 0);
    const uncached = [...new Set(eventTickers)].filter(shouldFetch);
    const fetches: Promise<void>[] = [];
    for (const tickers of chunksOf(uncached, TICKERS_PER_REQUEST)) {
      const query = { tickers: tickers.join(",") };
      fetches.push(this.#orSkip("events", signal, () => this.#fetchEvents(query, 1, signal)));
    }
    // Concurrent, because the first sweep needs many requests. The client enforces the venue's limits.
    await Promise.all(fetches);
    // Old events may be missing from the list but can still be read by ticker.
    for (const ticker of uncached.filter((each) => !this.#events.has(each)).slice(0, SINGLE_EVENTS_MAX)) {
      await this.#orSkip("events", signal, () => this.#fetchEvent(ticker, signal));
    }
    for (const ticker of uncached) if (!this.#events.has(ticker)) this.#setMissing(`event ${ticker}`);
    await this.#ensureSeries(eventTickers, signal);
  }

  /** Fetches the changes since the last refresh if `REFRESH_MS` has passed. */
  async refresh(signal: AbortSignal): Promise<void> {
    const now = this.#context.clock.now();
    if (this.#refreshedAt !== null && now - this.#refreshedAt < REFRESH_MS) return;
    const since = this.#refreshedAt;
    this.#refreshedAt = now;
    // On the first call the cache is empty, so there is nothing to refresh.
    if (since === null) return;
    const query = { min_updated_ts: Math.floor((since - REFRESH_OVERLAP_MS) / 1_000) };
    await this.#orSkip("events", signal, () => this.#fetchEvents(query, REFRESH_PAGES_MAX, signal));
    await this.#orSkip("series", signal, () => this.#fetchSeriesList(query, signal));
  }

  async #ensureSeries(eventTickers: readonly string[], signal: AbortSignal): Promise<void> {
    const now = this.#context.clock.now();
    const uncached = new Set<string>();
    for (const eventTicker of eventTickers) {
      const ticker = this.#events.get(eventTicker)?.wire.series_ticker;
      if (ticker === undefined || this.#series.has(ticker)) continue;
      if (now >= (this.#retryAt.get(`series ${ticker}`) ?? 0)) uncached.add(ticker);
    }
    if (uncached.size > SINGLE_SERIES_MAX) {
      await this.#orSkip("series", signal, () => this.#fetchSeriesList({}, signal));
    }
    const remaining = [...uncached].filter((ticker) => !this.#series.has(ticker));
    for (const ticker of remaining.slice(0, SINGLE_SERIES_MAX)) {
      await this.#orSkip("series", signal, () => this.#fetchSeries(ticker, signal));
    }
    for (const ticker of remaining) if (!this.#series.has(ticker)) this.#setMissing(`series ${ticker}`);
  }

  async #fetchEvents(query: Readonly<Record<string, string | number>>, pagesMax: number, signal: AbortSignal) {
    const request = {
      path: "/events",
      query: { ...query, limit: EVENTS_PER_PAGE },
      isEnvelope: isEventsPage,
      idField: "event_ticker",
      pagesMax,
    };
    const pages = listPages(this.#context, { ...request, rowsOf: ({ events }) => events }, signal);
    for await (const { rows } of pages) for (const row of rows) this.#storeEvent(row);
  }

  async #fetchEvent(ticker: string, signal: AbortSignal): Promise<void> {
    const path = `/events/${encodeURIComponent(ticker)}`;
    const { status, json } = await this.#context.client.fetchJson(path, { signal, accept: [404] });
    if (status === 404) return;
    this.#storeEvent(isObject(json) ? (json.event ?? null) : null);
  }

  async #fetchSeriesList(query: Readonly<Record<string, number>>, signal: AbortSignal): Promise<void> {
    const { json } = await this.#context.client.fetchJson("/series", { query, signal });
    for (const row of expectShape(json, isSeriesList, "/series").series) this.#storeSeries(row);
  }

  async #fetchSeries(ticker: string, signal: AbortSignal): Promise<void> {
    const path = `/series/${encodeURIComponent(ticker)}`;
    const { status, json } = await this.#context.client.fetchJson(path, { signal, accept: [404] });
    if (status !== 404) this.#storeSeries(expectShape(json, isSeriesResponse, path).series);
  }

  #storeEvent(row: unknown): void {
    if (this.#context.driftDetectors.event.check(row, isEvent)) this.#put(row);
    else this.#context.countDrop("bad_event");
  }

  #storeSeries(row: unknown): void {
    if (this.#context.driftDetectors.series.check(row, isSeries)) {
      this.#series.set(row.ticker, row);
      deleteOldest(this.#series, SERIES_MAX);
    } else this.#context.countDrop("bad_series");
  }

  #put(wire: EventWire): Entry {
    const series = this.#series.get(wire.series_ticker) ?? null;
    const entry: Entry = { wire, series, event: parseEvent(wire, series, this.#context.id) };
    this.#events.set(wire.event_ticker, entry);
    deleteOldest(this.#events, EVENTS_MAX);
    return entry;
  }

  #setMissing(key: string): void {
    this.#retryAt.set(key, this.#context.clock.now() + MISSING_RETRY_MS);
    deleteOldest(this.#retryAt, EVENTS_MAX);
  }

  /**
   * Runs `fetch`. A rejected request is only counted and logged, because markets can be used without their events. An
   * outage is thrown.
   */
  async #orSkip(resource: string, signal: AbortSignal, fetch: () => Promise<void>): Promise<void> {
    try {
      await fetch();
    } catch (error) {
      const isRefusal =
        error instanceof VenueError && (error.failure === "client_error" || error.failure === "bad_body");
      if (!isRefusal || signal.aborted) throw error;
      this.#context.countDrop(`${resource}_unavailable`);
      this.#context.log.warn({ error: error.message }, `${resource} could not be read`);
    }
  }
}
