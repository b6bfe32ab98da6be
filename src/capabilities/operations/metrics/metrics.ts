import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";
import type { Tier } from "../../../domain/plan.ts";
import type { Ingest, VenueStatusReport } from "../../../ingest/index.ts";
import type { AlertFigures } from "../../events/market-alerts/index.ts";
import type { StreamFigures } from "../../events/streaming/index.ts";
import type { WebhookFigures } from "../../events/webhooks/index.ts";
import type { MatchingReport } from "../../markets/matching/index.ts";
import { createWorkMetrics, type RunQueue } from "./work-metrics.ts";

/** The sources of the metrics; each is called at every scrape and must be cheap. */
export interface MetricsSources {
  /** Reads the queue of analyses from the store; null on a node that runs no analyses. */
  readonly runQueue: () => Promise<RunQueue | null>;
  readonly version: string;
  readonly data: "sandbox" | "live";
  readonly venues: () => Readonly<Record<string, VenueStatusReport>>;
  readonly store: () => Ingest["counters"];
  readonly isStoreUp: () => boolean;
  /** Number of markets on the board, including settled markets. */
  readonly boardMarkets: () => number;
  /** Names of the background jobs whose last run failed. */
  readonly failingJobs: () => readonly string[];
  /** State of the matching; null on a node that does not match markets. */
  readonly matching: () => MatchingReport | null;
  /** Number of open connections to the API, and of refused and closed connections by reason. */
  readonly connections: () => { readonly open: number; readonly rejected: Readonly<Record<string, number>> };
  /** Detectors of price shifts and large trades. */
  readonly alerts: () => AlertFigures;
  /** Open event streams; null on a node without the API. */
  readonly streams: () => StreamFigures | null;
  /** Deliveries of webhooks; null on a node that sends none. */
  readonly webhooks: () => WebhookFigures | null;
  /** Number of payments that changed to each state, and of settlements with unknown result; null if payments are off. */
  readonly payments: () => { readonly counts: Readonly<Record<string, number>>; readonly unknown: number } | null;
}

export interface Metrics extends Pick<ReturnType<typeof createWorkMetrics>, "observeRun" | "observeSignal"> {
  readonly contentType: string;
  /** Returns all metrics in the Prometheus text format. */
  text(): Promise<string>;
  /**
   * Counts a response. `route` is the route pattern, because the number of paths is unlimited. `code` is the problem's
   * code, or null for a success. The request contains the monthly quota that counts the call.
   */
  observeResponse(request: {
    route: string;
    method: string;
    status: number;
    seconds: number;
    code: string | null;
    request: {
      readonly metered: { readonly counted: { readonly tier: Tier } | null } | null;
      readonly routeConfig: { readonly metering?: { readonly quotaTier: Tier | null } };
    };
  }): void;
}

/** Upper bounds in seconds. They include the latency targets of the service (10 ms and 20 ms). */
const DURATION_BUCKETS_SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const VENUE_STATUSES = ["starting", "ok", "degraded", "down"] as const;
const EVENT_LOOP_DELAY_RESOLUTION_MS = 10;

type Define = <Label extends string>(
  name: string,
  help: string,
  labelNames: readonly Label[],
  read: (set: (labels: Readonly<Record<Label, string>>, value: number) => void) => void,
) => void;

/**
 * Returns a function that defines metrics whose current values are read at each scrape. The sources return the totals of
 * counters.
 */
const createDefiner =
  (Metric: typeof Gauge | typeof Counter, registers: Registry[]): Define =>
  (name, help, labelNames, read) => {
    new Metric({
      name,
      help,
      registers,
      labelNames,
      collect() {
        this.reset();
        read((labels, value) => this.inc(labels, value));
      },
    });
  };

type ForEachVenue = (read: (venue: string, report: VenueStatusReport) => void) => void;

function addVenueGauges(addGauge: Define, forEachVenue: ForEachVenue): void {
  addGauge("parallax_venue_status", "1 for the venue's current status, 0 for the others.", ["venue", "status"], (set) =>
    forEachVenue((venue, report) => {
      for (const status of VENUE_STATUSES) set({ venue, status }, report.status === status ? 1 : 0);
    }),
  );
  addGauge(
    "parallax_venue_lag_seconds",
    "Seconds since the venue's last usable response; absent before the first.",
    ["venue"],
    (set) =>
      forEachVenue((venue, { lagMs }) => {
        if (lagMs !== null) set({ venue }, lagMs / 1000);
      }),
  );
  addGauge("parallax_venue_markets", "Active markets of the venue on the board.", ["venue"], (set) =>
    forEachVenue((venue, { markets }) => set({ venue }, markets)),
  );
  addGauge("parallax_venue_stream_up", "1 while the venue's stream is up; absent if it has none.", ["venue"], (set) =>
    forEachVenue((venue, { stream }) => {
      if (stream !== "none") set({ venue }, stream === "up" ? 1 : 0);
    }),
  );
}

function addVenueCounters(addCounter: Define, forEachVenue: ForEachVenue): void {
  addCounter("parallax_venue_sweeps_total", "Complete sweeps of the venue's listing.", ["venue"], (set) =>
    forEachVenue((venue, { sweep }) => set({ venue }, sweep.completed)),
  );
  addCounter(
    "parallax_venue_sweeps_incomplete_total",
    "Sweeps with missing pages or far fewer markets than the previous one.",
    ["venue"],
    (set) => forEachVenue((venue, { sweep }) => set({ venue }, sweep.incomplete)),
  );
  const addTrafficCounter = (name: string, help: string, field: keyof VenueStatusReport["traffic"]) =>
    addCounter(name, help, ["venue"], (set) => forEachVenue((venue, { traffic }) => set({ venue }, traffic[field])));
  addTrafficCounter("parallax_venue_requests_total", "HTTP requests to the venue, including failed ones.", "requests");
  addTrafficCounter(
    "parallax_venue_received_bytes_total",
    "Bytes of HTTP response bodies received from the venue, before decompression. Streams are not included.",
    "receivedBytes",
  );
  addTrafficCounter(
    "parallax_venue_decoded_bytes_total",
    "Bytes of HTTP response bodies from the venue, after decompression.",
    "decodedBytes",
  );
  addCounter("parallax_venue_drops_total", "Unusable data received from the venue.", ["venue", "reason"], (set) =>
    forEachVenue((venue, { drops }) => {
      for (const [reason, count] of Object.entries(drops)) set({ venue, reason }, count);
    }),
  );
  addCounter(
    "parallax_venue_drift_total",
    "Unknown values, missing and new fields in the venue's responses; new ones are counted in a sample of the objects.",
    ["venue", "kind", "name"],
    (set) =>
      forEachVenue((venue, { drift }) => {
        for (const { kind, name, count } of drift) set({ venue, kind, name }, count);
      }),
  );
}

function addMatchingMetrics(addGauge: Define, addCounter: Define, report: MetricsSources["matching"]): void {
  const read = (field: "pairs" | "pendingCount" | "restarts") => (set: (labels: object, value: number) => void) => {
    const matching = report();
    if (matching !== null) set({}, matching[field]);
  };
  addGauge("parallax_matching_pairs", "Matched markets of different venues, of every relation.", [], read("pairs"));
  addGauge("parallax_matching_pending", "Changed markets that have not been matched yet.", [], read("pendingCount"));
  addCounter("parallax_matching_restarts_total", "Failures of the matching thread.", [], read("restarts"));
}

function addAlertMetrics(addGauge: Define, addCounter: Define, figures: MetricsSources["alerts"]): void {
  addCounter("parallax_alerts_logged_total", "Price shifts and large trades written to the event log.", [], (set) =>
    set({}, figures().logged),
  );
  addCounter(
    "parallax_alerts_dropped_total",
    "Price changes, moves and trades that were not judged because a limit was reached.",
    [],
    (set) => set({}, figures().dropped),
  );
  addGauge("parallax_alerts_watched_markets", "Markets whose prices of the last hour are in memory.", [], (set) =>
    set({}, figures().watchedMarkets),
  );
}

function addStreamMetrics(addGauge: Define, addCounter: Define, figures: MetricsSources["streams"]): void {
  addGauge("parallax_streams", "Open event streams.", [], (set) => set({}, figures()?.open ?? 0));
  addCounter(
    "parallax_streams_cut_total",
    "Event streams closed because the client read too slowly, by reason.",
    ["reason"],
    (set) => {
      for (const [reason, count] of Object.entries(figures()?.disconnected ?? {})) set({ reason }, count);
    },
  );
  addGauge(
    "parallax_stream_fan_out_seconds",
    "Time to write the latest events to all streams; absent before the first.",
    [],
    (set) => {
      const fanOutMs = figures()?.fanOutMs ?? null;
      if (fanOutMs !== null) set({}, fanOutMs / 1000);
    },
  );
}

function addWebhookMetrics(addGauge: Define, addCounter: Define, figures: MetricsSources["webhooks"]): void {
  addCounter(
    "parallax_webhook_attempts_total",
    "Attempts to deliver events to webhooks, by result. Postponed ones were not sent.",
    ["result"],
    (set) => {
      for (const [result, count] of Object.entries(figures()?.attempts ?? {})) set({ result }, count);
    },
  );
  addGauge("parallax_webhooks", "Webhooks to which this process delivers.", [], (set) => {
    set({}, figures()?.webhooks ?? 0);
  });
  addGauge("parallax_webhook_retries_waiting", "Deliveries of these webhooks that wait for a retry.", [], (set) => {
    const waiting = figures()?.waiting ?? null;
    if (waiting !== null) set({}, waiting);
  });
}

/** Prometheus metrics of one process, including Node's (memory, event-loop delay, garbage collection). */
export function createMetrics(sources: MetricsSources): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: EVENT_LOOP_DELAY_RESOLUTION_MS });
  const registers = [registry];
  const addGauge = createDefiner(Gauge, registers);
  const addCounter = createDefiner(Counter, registers);
  const work = createWorkMetrics(registry);
  /** `venues` and `store` are read once per scrape, so that all metrics of a response are consistent. */
  let venues: readonly (readonly [string, VenueStatusReport])[] = [];
  let store = sources.store();
  const forEachVenue = (read: (venue: string, report: VenueStatusReport) => void) => {
    for (const [venue, report] of venues) read(venue, report);
  };

  addGauge(
    "parallax_info",
    "Always 1; the labels contain the version and the kind of data.",
    ["version", "data"],
    (set) => set({ version: sources.version, data: sources.data }, 1),
  );
  addVenueGauges(addGauge, forEachVenue);
  // Skips reports of other nodes, because each node exports its own counts.
  addVenueCounters(addCounter, (read) =>
    forEachVenue((venue, report) => {
      if (report.role === "ingest") read(venue, report);
    }),
  );
  addGauge("parallax_board_markets", "Markets on the board, including settled ones.", [], (set) =>
    set({}, sources.boardMarkets()),
  );
  addCounter("parallax_store_ticks_written_total", "Ticks written to the store.", [], (set) =>
    set({}, store.ticks.written),
  );
  addCounter(
    "parallax_store_rows_dropped_total",
    "Rows dropped because they could not be written to the store.",
    ["rows"],
    (set) => {
      const { ticks, trades, statusChanges } = store;
      set({ rows: "ticks" }, ticks.dropped);
      set({ rows: "trades" }, trades.dropped);
      set({ rows: "status_changes" }, statusChanges.dropped);
    },
  );
  addGauge("parallax_store_queue_rows", "Rows queued for the store.", ["rows"], (set) => {
    const { ticks, markets, trades } = store;
    set({ rows: "ticks" }, ticks.queued);
    set({ rows: "markets" }, markets.queued);
    set({ rows: "trades" }, trades.queued);
  });
  addGauge("parallax_store_up", "1 while the store accepts writes.", [], (set) => set({}, sources.isStoreUp() ? 1 : 0));
  addGauge("parallax_job_failing", "1 for each background job whose last run failed.", ["job"], (set) => {
    for (const job of sources.failingJobs()) set({ job }, 1);
  });
  addMatchingMetrics(addGauge, addCounter, sources.matching);
  addGauge("parallax_http_connections", "Open connections to the API.", [], (set) =>
    set({}, sources.connections().open),
  );
  addCounter(
    "parallax_http_connections_rejected_total",
    "Connections that a limit refused or closed, by reason.",
    ["reason"],
    (set) => {
      for (const [reason, count] of Object.entries(sources.connections().rejected)) set({ reason }, count);
    },
  );
  addAlertMetrics(addGauge, addCounter, sources.alerts);
  addStreamMetrics(addGauge, addCounter, sources.streams);
  addWebhookMetrics(addGauge, addCounter, sources.webhooks);
  addGauge("parallax_payments_unknown", "Payments with an unknown settlement result.", [], (set) => {
    set({}, sources.payments()?.unknown ?? 0);
  });
  addCounter("parallax_payments_total", "Payments that changed to each state.", ["state"], (set) => {
    for (const [state, count] of Object.entries(sources.payments()?.counts ?? {})) set({ state }, count);
  });
  const problemsOptions = { name: "parallax_http_problems_total", help: "Responses with a problem, by code." };
  const problems = new Counter({ ...problemsOptions, registers, labelNames: ["code"] });
  const durations = new Histogram({
    name: "parallax_http_request_duration_seconds",
    help: "Time from the request's headers until the response is ready to be sent, by route pattern.",
    labelNames: ["method", "route", "status"],
    buckets: DURATION_BUCKETS_SECONDS,
    registers,
  });
  return {
    contentType: registry.contentType,
    async text() {
      venues = Object.entries(sources.venues());
      store = sources.store();
      work.setQueue(await sources.runQueue().catch(() => null));
      return registry.metrics();
    },
    observeRun: work.observeRun,
    observeSignal: work.observeSignal,
    observeResponse({ route, method, status, seconds, code, request }) {
      const refusedTier = code === "quota_exceeded" ? (request.routeConfig.metering?.quotaTier ?? null) : null;
      work.observeQuota(request.metered?.counted?.tier ?? null, refusedTier);
      if (code !== null) problems.inc({ code });
      durations.observe({ method, route, status: String(status) }, seconds);
    },
  };
}
