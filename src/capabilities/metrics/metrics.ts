import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";

/** What one venue is known for at the moment of a scrape. */
interface VenueFigures {
  readonly status: "starting" | "ok" | "degraded" | "down";
  /** Milliseconds since the venue last gave a usable answer; null before the first. */
  readonly lagMs: number | null;
  /** Open markets on the board. */
  readonly markets: number;
  readonly stream: "up" | "down" | "none";
  readonly sweep: { readonly completed: number; readonly incomplete: number };
  /** What the venue sent and could not be used, by reason, since the start. */
  readonly drops: Readonly<Record<string, number>>;
  /** Words of the venue's wire that its documents do not know, needed ones that were missing; a bounded set of names. */
  readonly drift: readonly { readonly name: string; readonly kind: string; readonly count: number }[];
}

/** Rows on their way into the store: taken over since the start, given up since the start, waiting now. */
interface StoreFigures {
  readonly ticks: { readonly written: number; readonly dropped: number; readonly queued: number };
  readonly markets: { readonly queued: number };
  readonly trades: { readonly dropped: number; readonly queued: number };
  readonly statusChanges: { readonly dropped: number };
}

/** Where the figures come from; each is asked at every scrape and must be cheap. */
export interface MetricsSources {
  readonly version: string;
  readonly data: "sandbox" | "live";
  readonly venues: () => Readonly<Record<string, VenueFigures>>;
  readonly store: () => StoreFigures;
  readonly isStoreUp: () => boolean;
  /** Markets on the board, settled ones included. */
  readonly boardMarkets: () => number;
  /** Background jobs whose last run failed, by name. */
  readonly failingJobs: () => readonly string[];
  /** Moves of payments by the state they went to, and settlements in doubt; null where no payments are taken. */
  readonly payments: () => { readonly counts: Readonly<Record<string, number>>; readonly unknown: number } | null;
}

export interface Metrics {
  readonly contentType: string;
  /** Everything in Prometheus' text format. */
  text(): Promise<string>;
  /**
   * Counts an answered request. `route` is the pattern, never the path: paths are without number. `code` is the problem's,
   * null where the answer is none.
   */
  answered(request: { route: string; method: string; status: number; seconds: number; code: string | null }): void;
}

/** Seconds; the targets of the service (10 ms, 20 ms) are edges, so that they can be read off. */
const DURATION_BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const STATUSES = ["starting", "ok", "degraded", "down"] as const;
const LOOP_DELAY_RESOLUTION_MS = 10;

/** Prometheus metrics of one service, with Node's own (memory, event loop delay, garbage collection). */
export function createMetrics(sources: MetricsSources): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: LOOP_DELAY_RESOLUTION_MS });
  const registers = [registry];
  const gauge = <Label extends string>(
    name: string,
    help: string,
    labelNames: readonly Label[],
    read: (set: (labels: Readonly<Record<Label, string>>, value: number) => void) => void,
  ) => {
    new Gauge({
      ...{ name, help, registers, labelNames },
      collect() {
        this.reset();
        read((labels, value) => this.set(labels, value));
      },
    });
  };
  /** The source counts; what it says is taken over whole. */
  const counter = <Label extends string>(
    name: string,
    help: string,
    labelNames: readonly Label[],
    read: (set: (labels: Readonly<Record<Label, string>>, value: number) => void) => void,
  ) => {
    new Counter({
      ...{ name, help, registers, labelNames },
      collect() {
        this.reset();
        read((labels, value) => this.inc(labels, value));
      },
    });
  };
  /** As they were when the scrape began: the same for all metrics of one answer. */
  let venues: readonly (readonly [string, VenueFigures])[] = [];
  let store = sources.store();
  const forVenues = (read: (venue: string, figures: VenueFigures) => void) => {
    for (const [venue, figures] of venues) read(venue, figures);
  };

  gauge("parallax_info", "Always 1; the labels say what runs.", ["version", "data"], (set) =>
    set({ version: sources.version, data: sources.data }, 1),
  );
  gauge("parallax_venue_status", "1 for the status that the venue has now.", ["venue", "status"], (set) =>
    forVenues((venue, figures) => {
      for (const status of STATUSES) set({ venue, status }, figures.status === status ? 1 : 0);
    }),
  );
  gauge(
    "parallax_venue_lag_seconds",
    "Seconds since the venue last gave a usable answer; absent before the first.",
    ["venue"],
    (set) =>
      forVenues((venue, { lagMs }) => {
        if (lagMs !== null) set({ venue }, lagMs / 1000);
      }),
  );
  gauge("parallax_venue_markets", "Open markets of the venue on the board.", ["venue"], (set) =>
    forVenues((venue, { markets }) => set({ venue }, markets)),
  );
  gauge("parallax_venue_stream_up", "1 while the venue's stream is up; absent where it has none.", ["venue"], (set) =>
    forVenues((venue, { stream }) => {
      if (stream !== "none") set({ venue }, stream === "up" ? 1 : 0);
    }),
  );
  counter("parallax_venue_sweeps_total", "Complete sweeps over the venue's listing.", ["venue"], (set) =>
    forVenues((venue, { sweep }) => set({ venue }, sweep.completed)),
  );
  counter("parallax_venue_sweeps_incomplete_total", "Sweeps that ended before the listing did.", ["venue"], (set) =>
    forVenues((venue, { sweep }) => set({ venue }, sweep.incomplete)),
  );
  counter("parallax_venue_drops_total", "What a venue sent and could not be used.", ["venue", "reason"], (set) =>
    forVenues((venue, { drops }) => {
      for (const [reason, count] of Object.entries(drops)) set({ venue, reason }, count);
    }),
  );
  counter(
    "parallax_venue_drift_total",
    "Unknown values, missing and new fields on the venue's wire; new ones are counted on a sample of the objects.",
    ["venue", "kind", "name"],
    (set) =>
      forVenues((venue, { drift }) => {
        for (const { kind, name, count } of drift) set({ venue, kind, name }, count);
      }),
  );
  gauge("parallax_board_markets", "Markets on the board, settled ones included.", [], (set) =>
    set({}, sources.boardMarkets()),
  );
  counter("parallax_store_ticks_written_total", "Ticks taken over by the store.", [], (set) =>
    set({}, store.ticks.written),
  );
  counter("parallax_store_rows_dropped_total", "Rows given up because the store took none.", ["rows"], (set) => {
    const { ticks, trades, statusChanges } = store;
    set({ rows: "ticks" }, ticks.dropped);
    set({ rows: "trades" }, trades.dropped);
    set({ rows: "status_changes" }, statusChanges.dropped);
  });
  gauge("parallax_store_queue_rows", "Rows that wait for the store.", ["rows"], (set) => {
    const { ticks, markets, trades } = store;
    set({ rows: "ticks" }, ticks.queued);
    set({ rows: "markets" }, markets.queued);
    set({ rows: "trades" }, trades.queued);
  });
  gauge("parallax_store_up", "1 while the store answers.", [], (set) => set({}, sources.isStoreUp() ? 1 : 0));
  gauge("parallax_job_failing", "1 for each background job whose last run failed.", ["job"], (set) => {
    for (const job of sources.failingJobs()) set({ job }, 1);
  });
  gauge("parallax_payments_unknown", "Payments of which it is not known whether they are charged.", [], (set) => {
    set({}, sources.payments()?.unknown ?? 0);
  });
  counter("parallax_payments_total", "Moves of payments into each state.", ["state"], (set) => {
    for (const [state, count] of Object.entries(sources.payments()?.counts ?? {})) set({ state }, count);
  });
  const problems = new Counter({
    ...{ name: "parallax_http_problems_total", help: "Answers that are no success, by their code.", registers },
    labelNames: ["code"],
  });
  const durations = new Histogram({
    name: "parallax_http_request_duration_seconds",
    help: "Time from the request's head until its answer is ready to go out, by route pattern.",
    labelNames: ["method", "route", "status"],
    buckets: DURATION_BUCKETS,
    registers,
  });
  return {
    contentType: registry.contentType,
    async text() {
      venues = Object.entries(sources.venues());
      store = sources.store();
      return registry.metrics();
    },
    answered({ route, method, status, seconds, code }) {
      if (code !== null) problems.inc({ code });
      durations.observe({ method, route, status: String(status) }, seconds);
    },
  };
}
