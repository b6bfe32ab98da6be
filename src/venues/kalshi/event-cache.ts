import { VenueError } from "../../domain/errors.ts";
import type { KalshiPorts } from "./client.ts";
import { expectShape, type KalshiClient } from "./client.ts";
import { type EventFacts, parseEvent } from "./parse-event.ts";
import { type EventWire, isEvent, isEventsPage, isOneSeries, isSeries, isSeriesList, type SeriesWire } from "./wire.ts";

const EVENTS_MAX = 200_000;
const SERIES_MAX = 100_000;
const TICKERS_PER_REQUEST = 100;
const EVENTS_PER_PAGE = 200;
/** More unknown series than this are cheaper to read as the whole list, though it is large. */
const SINGLE_SERIES_MAX = 5;
const SINGLE_EVENTS_MAX = 20;
/** What the venue did not tell is not asked for again before this has passed. */
const MISSING_MS = 5 * 60_000;
const REFRESH_MS = 5 * 60_000;
const REFRESH_PAGES_MAX = 200;
/** Clocks differ: changes are asked for from a little before the last refresh. */
const REFRESH_OVERLAP_MS = 60_000;

interface Entry {
  readonly wire: EventWire;
  readonly series: SeriesWire | null;
  readonly facts: EventFacts;
}

/**
 * Titles, categories and fees of events, which market rows do not carry. Events are fetched when a market of theirs is
 * first seen, and those that changed every few minutes.
 */
export class EventCache {
  readonly #client: KalshiClient;
  readonly #ports: Pick<KalshiPorts, "id" | "clock" | "log" | "drop" | "detectors">;
  readonly #events = new Map<string, Entry>();
  readonly #series = new Map<string, SeriesWire>();
  /** Until when a ticker is not asked for again. */
  readonly #missing = new Map<string, number>();
  #refreshedAt: number | null = null;

  constructor(client: KalshiClient, ports: Pick<KalshiPorts, "id" | "clock" | "log" | "drop" | "detectors">) {
    this.#client = client;
    this.#ports = ports;
  }

  find(eventTicker: string): EventFacts | null {
    const entry = this.#events.get(eventTicker);
    if (entry === undefined) return null;
    const series = this.#series.get(entry.wire.series_ticker) ?? null;
    return series === entry.series ? entry.facts : this.#put(entry.wire).facts;
  }

  /** Fetches those of the events, and their series, that are not known yet. */
  async ensure(eventTickers: readonly string[], signal: AbortSignal): Promise<void> {
    const now = this.#ports.clock.now();
    const isWanted = (ticker: string) =>
      !this.#events.has(ticker) && now >= (this.#missing.get(`event ${ticker}`) ?? 0);
    const wanted = [...new Set(eventTickers)].filter(isWanted);
    const fetches: Promise<void>[] = [];
    for (let start = 0; start < wanted.length; start += TICKERS_PER_REQUEST) {
      const tickers = wanted.slice(start, start + TICKERS_PER_REQUEST).join(",");
      fetches.push(this.#orSkip("events", signal, () => this.#fetchEvents({ tickers }, 1, signal)));
    }
    // One after the other, a first sweep of 85,000 markets would mostly wait; the client keeps to the venue's limits.
    await Promise.all(fetches);
    // Old events may have left the list, yet each can still be read by its name.
    for (const ticker of wanted.filter((one) => !this.#events.has(one)).slice(0, SINGLE_EVENTS_MAX)) {
      await this.#orSkip("events", signal, () => this.#fetchEvent(ticker, signal));
    }
    for (const ticker of wanted) if (!this.#events.has(ticker)) this.#setMissing(`event ${ticker}`);
    await this.#ensureSeries(eventTickers, signal);
  }

  /** Reads what changed since the last refresh, when one is due. */
  async refresh(signal: AbortSignal): Promise<void> {
    const now = this.#ports.clock.now();
    if (this.#refreshedAt !== null && now - this.#refreshedAt < REFRESH_MS) return;
    const since = this.#refreshedAt;
    this.#refreshedAt = now;
    // At the first time nothing is known that could have changed.
    if (since === null) return;
    const query = { min_updated_ts: Math.floor((since - REFRESH_OVERLAP_MS) / 1_000) };
    await this.#orSkip("events", signal, () => this.#fetchEvents(query, REFRESH_PAGES_MAX, signal));
    await this.#orSkip("series", signal, () => this.#fetchSeriesList(query, signal));
  }

  async #ensureSeries(eventTickers: readonly string[], signal: AbortSignal): Promise<void> {
    const now = this.#ports.clock.now();
    const wanted = new Set<string>();
    for (const eventTicker of eventTickers) {
      const ticker = this.#events.get(eventTicker)?.wire.series_ticker;
      if (ticker === undefined || this.#series.has(ticker)) continue;
      if (now >= (this.#missing.get(`series ${ticker}`) ?? 0)) wanted.add(ticker);
    }
    if (wanted.size > SINGLE_SERIES_MAX) {
      await this.#orSkip("series", signal, () => this.#fetchSeriesList({}, signal));
    }
    const rest = [...wanted].filter((ticker) => !this.#series.has(ticker));
    for (const ticker of rest.slice(0, SINGLE_SERIES_MAX)) {
      await this.#orSkip("series", signal, () => this.#fetchSeries(ticker, signal));
    }
    for (const ticker of rest) if (!this.#series.has(ticker)) this.#setMissing(`series ${ticker}`);
  }

  async #fetchEvents(query: Readonly<Record<string, string | number>>, pagesMax: number, signal: AbortSignal) {
    const path = "/events";
    const shape = { path, query: { ...query, limit: EVENTS_PER_PAGE }, isEnvelope: isEventsPage, pagesMax };
    for await (const { rows } of this.#client.pages(
      { ...shape, rowsOf: ({ events }) => events, idField: "event_ticker" },
      signal,
    )) {
      for (const row of rows) this.#takeEvent(row);
    }
  }

  async #fetchEvent(ticker: string, signal: AbortSignal): Promise<void> {
    const answer = await this.#client.get(`/events/${encodeURIComponent(ticker)}`, {}, signal, [404]);
    if (answer.status === 404) return;
    const { json } = answer;
    this.#takeEvent(typeof json === "object" && json !== null && "event" in json ? json.event : null);
  }

  async #fetchSeriesList(query: Readonly<Record<string, number>>, signal: AbortSignal): Promise<void> {
    const answer = await this.#client.get("/series", query, signal);
    for (const row of expectShape(answer.json, isSeriesList, "/series").series) this.#takeSeries(row);
  }

  async #fetchSeries(ticker: string, signal: AbortSignal): Promise<void> {
    const path = `/series/${encodeURIComponent(ticker)}`;
    const answer = await this.#client.get(path, {}, signal, [404]);
    if (answer.status !== 404) this.#takeSeries(expectShape(answer.json, isOneSeries, path).series);
  }

  #takeEvent(row: unknown): void {
    if (this.#ports.detectors.event.check(row, isEvent)) this.#put(row);
    else this.#ports.drop("bad_event");
  }

  #takeSeries(row: unknown): void {
    if (this.#ports.detectors.series.check(row, isSeries)) {
      this.#series.set(row.ticker, row);
      evictOldest(this.#series, SERIES_MAX);
    } else this.#ports.drop("bad_series");
  }

  #put(wire: EventWire): Entry {
    const series = this.#series.get(wire.series_ticker) ?? null;
    const entry: Entry = { wire, series, facts: parseEvent(wire, series, this.#ports.id) };
    this.#events.set(wire.event_ticker, entry);
    evictOldest(this.#events, EVENTS_MAX);
    return entry;
  }

  #setMissing(key: string): void {
    this.#missing.set(key, this.#ports.clock.now() + MISSING_MS);
    evictOldest(this.#missing, EVENTS_MAX);
  }

  /** Markets are worth having without their events: a refusal is noted and the sweep goes on; an outage is not hidden. */
  async #orSkip(what: string, signal: AbortSignal, fetch: () => Promise<void>): Promise<void> {
    try {
      await fetch();
    } catch (error) {
      const isRefusal =
        error instanceof VenueError && (error.failure === "client_error" || error.failure === "bad_body");
      if (!isRefusal || signal.aborted) throw error;
      this.#ports.drop(`${what}_unavailable`);
      this.#ports.log.warn({ error: error.message }, `${what} could not be read`);
    }
  }
}

function evictOldest(map: Map<string, unknown>, max: number): void {
  if (map.size <= max) return;
  const oldest = map.keys().next();
  if (oldest.done !== true) map.delete(oldest.value);
}
