import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";
import type { Tier } from "../../../domain/plan.ts";
import type { Ingest, VenueStatusReport } from "../../../ingest/index.ts";
import type { Analyses } from "../../analysis/analyses/index.ts";
import type { AlertFigures } from "../../events/market-alerts/index.ts";
import type { StreamFigures } from "../../events/streaming/index.ts";
import type { WebhookFigures } from "../../events/webhooks/index.ts";
import type { MatchingReport } from "../../markets/matching/index.ts";
import { createWorkMetrics } from "./work-metrics.ts";

/** The sources of the metrics; each is called at every scrape and must be cheap. */
export interface MetricsSources {
  /** Reads the queue of analyses from the store; null on a node that runs no analyses. */
  readonly runQueue: Analyses["readQueue"];
  readonly version: string;
  readonly data: "sandbox" | "live";
  /** Milliseconds from the start of the process until the end of each step of the start. */
  readonly startTimeline?: ReadonlyMap<string, number>;
  readonly venues: () => Readonly<Record<string, VenueStatusReport>>;
  readonly store: () => Ingest["counters"];
  readonly isStoreUp: () => boolean;
  /** Number of markets on the board, including settled markets. */
  readonly boardMarkets: () => number;
  /** Names of the background jobs whose last run failed. */
  readonly failingJobs: () => readonly string[];
  /** Failures of the thread that reads the venues; null if they are read in this thread. */
  readonly ingestRestarts: () => number | null;
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

export type Metrics = ReturnType<typeof createMetrics>;

/** Upper bounds in seconds. They include the latency targets of the service (10 ms and 20 ms). */
const DURATION_BUCKETS_SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const VENUE_STATUSES = ["starting", "ok", "degraded", "down"] as const;
const EVENT_LOOP_DELAY_RESOLUTION_MS = 10;

/** The current value; null if it is unknown. With labels: one row per combination, the label values before the value. */
type Values = number | null | undefined | readonly (readonly (string | number)[])[];

/** Metrics by name, whose values are read at each scrape. The sources return the totals of counters. */
type Definitions = Readonly<Record<string, readonly [help: string, read: () => Values, ...labelNames: string[]]>>;

function define(Metric: typeof Gauge | typeof Counter, registers: Registry[], definitions: Definitions): void {
  for (const [name, [help, read, ...labelNames]] of Object.entries(definitions))
    new Metric({
      name,
      help,
      registers,
      labelNames,
      collect() {
        this.reset();
        for (const row of toRows(read()))
          this.inc(Object.fromEntries(labelNames.map((label, index) => [label, row[index] ?? ""])), Number(row.at(-1)));
      },
    });
}

function toRows(values: Values): readonly (readonly (string | number)[])[] {
  if (values == null) return [];
  return typeof values === "number" ? [[values]] : values;
}

/** Reads a value or rows of every venue, and returns them with the id of the venue as the first label. */
type ReadVenues = (read: (report: VenueStatusReport) => Values) => Values;

const describeVenueGauges = (readVenues: ReadVenues): Definitions => ({
  parallax_venue_status: [
    "1 for the venue's current status, 0 for the others.",
    () => readVenues((report) => VENUE_STATUSES.map((status) => [status, Number(report.status === status)])),
    "venue",
    "status",
  ],
  parallax_venue_lag_seconds: [
    "Seconds since the venue's last usable response; 0 before the first.",
    () => readVenues(({ lagMs }) => (lagMs === null ? null : lagMs / 1000)),
    "venue",
  ],
  parallax_venue_markets: [
    "Active markets of the venue on the board.",
    () => readVenues(({ markets }) => markets),
    "venue",
  ],
  parallax_venue_stream_up: [
    "1 while the venue's stream is up; absent if it has none.",
    () => readVenues(({ stream }) => (stream === "none" ? null : Number(stream === "up"))),
    "venue",
  ],
});

const describeVenueCounters = (readVenues: ReadVenues): Definitions => ({
  parallax_venue_sweeps_total: [
    "Complete sweeps of the venue's listing.",
    () => readVenues(({ sweep }) => sweep.completed),
    "venue",
  ],
  parallax_venue_sweeps_incomplete_total: [
    "Sweeps with missing pages or far fewer markets than the previous one.",
    () => readVenues(({ sweep }) => sweep.incomplete),
    "venue",
  ],
  parallax_venue_requests_total: [
    "HTTP requests to the venue, including failed ones.",
    () => readVenues(({ traffic }) => traffic.requests),
    "venue",
  ],
  parallax_venue_received_bytes_total: [
    "Bytes of HTTP response bodies received from the venue, before decompression. Streams are not included.",
    () => readVenues(({ traffic }) => traffic.receivedBytes),
    "venue",
  ],
  parallax_venue_decoded_bytes_total: [
    "Bytes of HTTP response bodies from the venue, after decompression.",
    () => readVenues(({ traffic }) => traffic.decodedBytes),
    "venue",
  ],
  parallax_venue_drops_total: [
    "Unusable data received from the venue.",
    () => readVenues(({ drops }) => Object.entries(drops)),
    "venue",
    "reason",
  ],
  parallax_venue_drift_total: [
    "Unknown values, missing and new fields in the venue's responses; new ones are counted in a sample of the objects.",
    () => readVenues(({ drift }) => drift.map(({ kind, name, count }) => [kind, name, count])),
    "venue",
    "kind",
    "name",
  ],
});

const describeGauges = (sources: MetricsSources, store: () => Ingest["counters"]): Definitions => ({
  parallax_info: [
    "Always 1; the labels contain the version and the kind of data.",
    () => [[sources.version, sources.data, 1]],
    "version",
    "data",
  ],
  parallax_start_seconds: [
    "Seconds from the start of the process until the end of each step of the start.",
    () => [...(sources.startTimeline ?? [])].map(([step, ms]) => [step, ms / 1000]),
    "step",
  ],
  parallax_board_markets: ["Markets on the board, including settled ones.", sources.boardMarkets],
  parallax_store_queue_rows: [
    "Rows queued for the store.",
    () => [
      ["ticks", store().ticks.queued],
      ["markets", store().markets.queued],
      ["trades", store().trades.queued],
    ],
    "rows",
  ],
  parallax_store_up: ["1 while the store accepts writes.", () => Number(sources.isStoreUp())],
  parallax_job_failing: [
    "1 for each background job whose last run failed.",
    () => sources.failingJobs().map((job) => [job, 1]),
    "job",
  ],
  parallax_matching_pairs: ["Matched markets of different venues, of every relation.", () => sources.matching()?.pairs],
  parallax_matching_pending: [
    "Changed markets that have not been matched yet.",
    () => sources.matching()?.pendingCount,
  ],
  parallax_matching_judge_waiting: [
    "Uncertain matches that a language model has not judged.",
    () => sources.matching()?.judge?.waitingCount,
  ],
  parallax_matching_judgements: [
    "Applied judgements of a language model, by relation.",
    () => Object.entries(sources.matching()?.judge?.judgements ?? {}),
    "relation",
  ],
  parallax_http_connections: ["Open connections to the API.", () => sources.connections().open],
  parallax_alerts_watched_markets: [
    "Markets whose prices of the last hour are in memory.",
    () => sources.alerts().watchedMarkets,
  ],
  parallax_streams: ["Open event streams.", () => sources.streams()?.open],
  parallax_stream_fan_out_seconds: [
    "Time to write the latest events to all streams; 0 before the first.",
    () => (sources.streams()?.fanOutMs ?? 0) / 1000,
  ],
  parallax_webhooks: ["Webhooks to which this process delivers.", () => sources.webhooks()?.webhooks],
  parallax_webhook_retries_waiting: [
    "Deliveries of these webhooks that wait for a retry.",
    () => sources.webhooks()?.waiting,
  ],
  parallax_payments_unknown: ["Payments with an unknown settlement result.", () => sources.payments()?.unknown],
});

const describeCounters = (sources: MetricsSources, store: () => Ingest["counters"]): Definitions => ({
  parallax_store_ticks_written_total: ["Ticks written to the store.", () => store().ticks.written],
  parallax_store_rows_dropped_total: [
    "Rows dropped because they could not be written to the store.",
    () => [
      ["ticks", store().ticks.dropped],
      ["trades", store().trades.dropped],
      ["status_changes", store().statusChanges.dropped],
    ],
    "rows",
  ],
  parallax_matching_restarts_total: ["Failures of the matching thread.", () => sources.matching()?.restarts],
  parallax_matching_judge_calls_total: [
    "Calls of a language model that judges uncertain matches, by outcome.",
    () => Object.entries(sources.matching()?.judge?.calls ?? {}),
    "outcome",
  ],
  parallax_matching_judge_cost_usd_total: ["Cost of these calls.", () => sources.matching()?.judge?.costUsd],
  parallax_ingest_restarts_total: ["Failures of the thread that reads the venues.", () => sources.ingestRestarts()],
  parallax_http_connections_rejected_total: [
    "Connections that a limit refused or closed, by reason.",
    () => Object.entries(sources.connections().rejected),
    "reason",
  ],
  parallax_alerts_logged_total: [
    "Price shifts and large trades written to the event log.",
    () => sources.alerts().logged,
  ],
  parallax_alerts_dropped_total: [
    "Price changes, moves and trades that were not judged because a limit was reached.",
    () => sources.alerts().dropped,
  ],
  parallax_streams_cut_total: [
    "Event streams closed because the client read too slowly, by reason.",
    () => Object.entries(sources.streams()?.disconnected ?? {}),
    "reason",
  ],
  parallax_webhook_attempts_total: [
    "Attempts to deliver events to webhooks, by result. Postponed ones were not sent.",
    () => Object.entries(sources.webhooks()?.attempts ?? {}),
    "result",
  ],
  parallax_payments_total: [
    "Payments that changed to each state.",
    () => Object.entries(sources.payments()?.counts ?? {}),
    "state",
  ],
});

/** Prometheus metrics of one process, including Node's (memory, event-loop delay, garbage collection). */
export function createMetrics(sources: MetricsSources) {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: EVENT_LOOP_DELAY_RESOLUTION_MS });
  const registers = [registry];
  const work = createWorkMetrics(registry);
  /** `venues` and `store` are read once per scrape, so that all metrics of a response are consistent. */
  let venues: readonly (readonly [string, VenueStatusReport])[] = [];
  let store = sources.store();
  const readVenues: ReadVenues = (read) =>
    venues.flatMap(([venue, report]) => toRows(read(report)).map((row) => [venue, ...row]));
  // Skips reports of other nodes, because each node exports its own counts.
  const readIngestedVenues: ReadVenues = (read) =>
    readVenues((report) => (report.role === "ingest" ? read(report) : null));
  define(Gauge, registers, { ...describeVenueGauges(readVenues), ...describeGauges(sources, () => store) });
  define(Counter, registers, {
    ...describeVenueCounters(readIngestedVenues),
    ...describeCounters(sources, () => store),
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
    /** Returns all metrics in the Prometheus text format. */
    async text(): Promise<string> {
      venues = Object.entries(sources.venues());
      store = sources.store();
      work.setQueue(await sources.runQueue().catch(() => null));
      return registry.metrics();
    },
    observeRun: work.observeRun,
    observeSignal: work.observeSignal,
    /**
     * Counts a response. `route` is the route pattern, because the number of paths is unlimited. `code` is the problem's
     * code, or null for a success. The request contains the monthly quota that counts the call.
     */
    observeResponse({ route, method, status, seconds, code, request }: CountedResponse): void {
      const refusedTier = code === "quota_exceeded" ? (request.routeConfig.metering?.quotaTier ?? null) : null;
      work.observeQuota(request.metered?.counted?.tier ?? null, refusedTier);
      if (code !== null) problems.inc({ code });
      durations.observe({ method, route, status: String(status) }, seconds);
    },
  };
}

interface CountedResponse {
  readonly route: string;
  readonly method: string;
  readonly status: number;
  readonly seconds: number;
  readonly code: string | null;
  readonly request: {
    readonly metered: { readonly counted: { readonly tier: Tier } | null } | null;
    readonly routeConfig: { readonly metering?: { readonly quotaTier: Tier | null } };
  };
}
