import assert from "node:assert/strict";
import { test } from "node:test";
import { FakeClock } from "../../../../test/support/fake-clock.ts";
import { testServer } from "../../../../test/support/test-app.ts";
import { METERING } from "../../../domain/metering.ts";
import type { VenueStatusReport } from "../../../ingest/index.ts";
import { createMetrics, type MetricsSources } from "./metrics.ts";
import { metricsRoutes } from "./routes.ts";

const TOKEN = "a-token-of-some-length";

function createState() {
  return {
    isStoreUp: true,
    failingJobs: [] as string[],
    queue: { waiting: 3, active: 2, oldestSeconds: 12 } as Awaited<ReturnType<MetricsSources["runQueue"]>>,
    matching: { pairs: 11, pendingCount: 4, restarts: 2, isFailing: false, judge: null } as ReturnType<
      MetricsSources["matching"]
    >,
    payments: { counts: { delivered: 3, rejected: 1 }, unknown: 2 } as ReturnType<MetricsSources["payments"]>,
    ticks: { written: 7, dropped: 1, queued: 3 },
    alerts: { logged: 5, dropped: 1, watchedMarkets: 30 },
    venues: {
      alpha: {
        status: "ok",
        role: "ingest",
        lastSuccessAt: 0,
        lagMs: 1_500,
        markets: 12,
        stream: "up",
        sweep: { rows: 5, total: null, completed: 4, incomplete: 2 },
        drift: [
          { name: "market.status", kind: "unknown_value", count: 3, sample: null, firstSeenAt: 0, lastSeenAt: 0 },
        ],
        drops: { crossed_book: 5 },
        traffic: { requests: 4, receivedBytes: 900, decodedBytes: 8_000 },
      } as VenueStatusReport,
    },
  };
}

function createSources(state: ReturnType<typeof createState>): MetricsSources {
  return {
    runQueue: async () => state.queue,
    version: "1.2.3",
    data: "sandbox",
    startTimeline: new Map([
      ["imports", 400],
      ["ready", 1_250],
    ]),
    venues: () => state.venues,
    store: () => ({
      ticks: state.ticks,
      markets: { queued: 2 },
      trades: { dropped: 6, queued: 9 },
      statusChanges: { dropped: 0 },
    }),
    isStoreUp: () => state.isStoreUp,
    ingestRestarts: () => 1,
    boardMarkets: () => 20,
    failingJobs: () => state.failingJobs,
    matching: () => state.matching,
    payments: () => state.payments,
    connections: () => ({ open: 5, rejected: { total: 0, address: 2 } }),
    alerts: () => state.alerts,
    streams: () => ({ open: 7, disconnected: { unsent_bytes: 1, stalled: 2 }, fanOutMs: 250 }),
    webhooks: () => ({ attempts: { delivered: 9, failed: 4, postponed: 1 }, webhooks: 3, waiting: 2 }),
  };
}

/** Returns the lines of this service's metrics, as `name{labels} value`. */
const listSamples = (text: string) => text.split("\n").filter((line) => line.startsWith("parallax_"));

test("each scrape returns the current values of the sources, for gauges and counters", async () => {
  const state = createState();
  const metrics = createMetrics(createSources(state));
  const firstScrape = listSamples(await metrics.text());
  for (const expected of [
    'parallax_info{version="1.2.3",data="sandbox"} 1',
    'parallax_start_seconds{step="ready"} 1.25',
    'parallax_venue_status{venue="alpha",status="ok"} 1',
    'parallax_venue_status{venue="alpha",status="down"} 0',
    'parallax_venue_lag_seconds{venue="alpha"} 1.5',
    'parallax_payments_total{state="delivered"} 3',
    "parallax_payments_unknown 2",
    "parallax_matching_pairs 11",
    "parallax_matching_pending 4",
    "parallax_matching_restarts_total 2",
    "parallax_http_connections 5",
    "parallax_alerts_logged_total 5",
    "parallax_alerts_dropped_total 1",
    "parallax_alerts_watched_markets 30",
    "parallax_streams 7",
    'parallax_streams_cut_total{reason="stalled"} 2',
    "parallax_stream_fan_out_seconds 0.25",
    'parallax_webhook_attempts_total{result="delivered"} 9',
    'parallax_webhook_attempts_total{result="failed"} 4',
    'parallax_webhook_attempts_total{result="postponed"} 1',
    "parallax_webhooks 3",
    "parallax_webhook_retries_waiting 2",
    'parallax_http_connections_rejected_total{reason="total"} 0',
    'parallax_http_connections_rejected_total{reason="address"} 2',
    'parallax_venue_markets{venue="alpha"} 12',
    'parallax_venue_stream_up{venue="alpha"} 1',
    'parallax_venue_sweeps_total{venue="alpha"} 4',
    'parallax_venue_sweeps_incomplete_total{venue="alpha"} 2',
    'parallax_venue_requests_total{venue="alpha"} 4',
    'parallax_venue_received_bytes_total{venue="alpha"} 900',
    'parallax_venue_decoded_bytes_total{venue="alpha"} 8000',
    'parallax_venue_drops_total{venue="alpha",reason="crossed_book"} 5',
    'parallax_venue_drift_total{venue="alpha",kind="unknown_value",name="market.status"} 3',
    "parallax_board_markets 20",
    "parallax_store_ticks_written_total 7",
    'parallax_store_rows_dropped_total{rows="ticks"} 1',
    'parallax_store_rows_dropped_total{rows="trades"} 6',
    'parallax_store_queue_rows{rows="ticks"} 3',
    'parallax_store_queue_rows{rows="markets"} 2',
    'parallax_store_queue_rows{rows="trades"} 9',
    "parallax_store_up 1",
  ])
    assert.ok(firstScrape.includes(expected), expected);
  state.ticks = { written: 8, dropped: 1, queued: 0 };
  state.venues.alpha.drops.crossed_book = 6;
  state.alerts = { logged: 6, dropped: 1, watchedMarkets: 29 };
  state.isStoreUp = false;
  state.failingJobs = ["retention"];
  const secondScrape = listSamples(await metrics.text());
  for (const expected of [
    "parallax_store_ticks_written_total 8",
    'parallax_store_queue_rows{rows="ticks"} 0',
    'parallax_venue_drops_total{venue="alpha",reason="crossed_book"} 6',
    "parallax_alerts_logged_total 6",
    "parallax_alerts_watched_markets 29",
    "parallax_store_up 0",
    'parallax_job_failing{job="retention"} 1',
  ])
    assert.ok(secondScrape.includes(expected), expected);
  state.failingJobs = [];
  assert.ok(!(await metrics.text()).includes("parallax_job_failing{"));
});

test("only the node that reads a venue exports its counts, so that sums over nodes count them once", async () => {
  const state = createState();
  Object.assign(state.venues.alpha, { role: "follower" });
  const samples = listSamples(await createMetrics(createSources(state)).text());
  const ofVenues = samples.filter((line) => line.startsWith("parallax_venue_"));
  assert.deepEqual(
    ofVenues.filter((line) => line.includes("_total")),
    [],
  );
  assert.ok(ofVenues.includes('parallax_venue_markets{venue="alpha"} 12'));
});

test("analyses, model cost, signals and quotas are counted by the process that did the work", async () => {
  const state = createState();
  const metrics = createMetrics(createSources(state));
  metrics.observeRun({ type: "full", outcome: "complete", seconds: 40, costUsd: 0.12 });
  metrics.observeRun({ type: "light", outcome: "complete", seconds: 0.2, costUsd: 0 });
  metrics.observeRun({ type: null, outcome: "error", seconds: null, costUsd: 0 });
  metrics.observeSignal("BUY_NO", "request");
  metrics.observeSignal("NO_TRADE", "analysis");
  const response = { route: "/x", method: "GET", status: 200, seconds: 0.01, code: null };
  const counted = { counted: { tier: "LISTING" } };
  const listing = { metered: counted, routeConfig: { metering: METERING.LISTING } } as never;
  const deep = { metered: { counted: null }, routeConfig: { metering: METERING.DEEP } } as never;
  metrics.observeResponse({ ...response, request: listing });
  metrics.observeResponse({ ...response, request: listing });
  metrics.observeResponse({ ...response, request: deep });
  metrics.observeResponse({ ...response, status: 429, code: "rate_limited", request: deep });
  metrics.observeResponse({ ...response, status: 429, code: "quota_exceeded", request: deep });
  const samples = listSamples(await metrics.text());
  for (const expected of [
    'parallax_analyses_total{type="full",outcome="complete"} 1',
    'parallax_analyses_total{type="none",outcome="error"} 1',
    'parallax_analysis_duration_seconds_count{type="light"} 1',
    'parallax_analysis_duration_seconds_bucket{le="40",type="full"} 1',
    "parallax_model_cost_usd_total 0.12",
    'parallax_signals_total{recommendation="BUY_NO",origin="request"} 1',
    'parallax_signals_total{recommendation="NO_TRADE",origin="analysis"} 1',
    'parallax_quota_units_total{tier="LISTING"} 2',
    'parallax_quota_refusals_total{tier="DEEP"} 1',
    'parallax_analysis_queue_runs{state="waiting"} 3',
    'parallax_analysis_queue_runs{state="active"} 2',
    "parallax_analysis_queue_oldest_seconds 12",
  ])
    assert.ok(samples.includes(expected), expected);
});

test("the queue of analyses is omitted on a node that runs none, and if the store cannot be read", async () => {
  const state = createState();
  const unavailable = { ...createSources(state), runQueue: () => Promise.reject(new Error("unavailable")) };
  state.queue = null;
  for (const sources of [createSources(state), unavailable])
    assert.ok(!(await createMetrics(sources).text()).includes("\nparallax_analysis_queue"));
});

test("omits a metric with an unknown value instead of returning 0", async () => {
  const state = createState();
  Object.assign(state.venues.alpha, { lagMs: null, stream: "none" });
  const text = await createMetrics(createSources(state)).text();
  assert.ok(!text.includes("parallax_venue_lag_seconds{"));
  assert.ok(!text.includes("parallax_venue_stream_up{"));
});

test("each scrape returns how often the ingest thread was replaced", async () => {
  let restarts = 0;
  const metrics = createMetrics({ ...createSources(createState()), ingestRestarts: () => restarts });
  for (restarts of [0, 2, 3])
    assert.ok(listSamples(await metrics.text()).includes(`parallax_ingest_restarts_total ${restarts}`));
});

test("the metrics include memory and event-loop delay", async () => {
  const text = await createMetrics(createSources(createState())).text();
  for (const name of [
    "process_resident_memory_bytes",
    "nodejs_eventloop_lag_p99_seconds",
    "nodejs_heap_size_used_bytes",
  ])
    assert.match(text, new RegExp(`^${name} \\d`, "m"), name);
});

test("counts requests by route pattern, with one count for all unknown paths", async () => {
  const metrics = createMetrics(createSources(createState()));
  const { app } = await testServer({ onResponse: metrics.observeResponse });
  app.get("/thing/:id", { config: { access: "public", metering: METERING.FREE } }, () => ({ ok: true }));
  for (const url of ["/thing/1", "/thing/2", "/nowhere/secret", "/elsewhere"]) await app.inject({ url });
  const counts = listSamples(await metrics.text()).filter((line) => line.includes("duration_seconds_count"));
  assert.deepEqual(counts, [
    'parallax_http_request_duration_seconds_count{method="GET",route="/thing/:id",status="200"} 2',
    'parallax_http_request_duration_seconds_count{method="GET",route="(no such route)",status="404"} 2',
  ]);
  const problems = listSamples(await metrics.text()).filter((line) => line.includes("problems_total"));
  assert.deepEqual(problems, ['parallax_http_problems_total{code="not_found"} 2']);
});

test("measures the time from a request's headers until its response is ready", async () => {
  const metrics = createMetrics(createSources(createState()));
  const clock = new FakeClock();
  const { app, lines } = await testServer({ clock, onResponse: metrics.observeResponse });
  const config = { access: "public", metering: METERING.FREE } as const;
  app.get("/slow", { config }, async () => {
    await clock.advance(30);
    return { ok: true };
  });
  await app.inject({ url: "/slow" });
  const sums = listSamples(await metrics.text()).filter((line) => line.includes("duration_seconds_sum"));
  assert.deepEqual(sums, ['parallax_http_request_duration_seconds_sum{method="GET",route="/slow",status="200"} 0.03']);
  assert.equal(lines.find(({ message }) => message === "request")?.ms, 30);
});

test("401: a missing or wrong token is rejected without revealing the token or metrics", async () => {
  const { app } = await testServer();
  metricsRoutes(app, { metrics: createMetrics(createSources(createState())), token: TOKEN });
  for (const authorization of [undefined, "", TOKEN, `Bearer ${TOKEN}x`, `bearer ${TOKEN}`, "Bearer "]) {
    const reply = await app.inject({ url: "/metrics", headers: authorization === undefined ? {} : { authorization } });
    assert.equal(reply.statusCode, 401, authorization);
    assert.ok(!reply.body.includes(TOKEN) && !reply.body.includes("parallax_"));
  }
});

test("200: returns the Prometheus text format if the token is correct or none is configured", async () => {
  for (const token of [TOKEN, null]) {
    const { app } = await testServer();
    metricsRoutes(app, { metrics: createMetrics(createSources(createState())), token });
    const reply = await app.inject({
      url: "/metrics",
      headers: token === null ? {} : { authorization: `Bearer ${token}` },
    });
    assert.equal(reply.statusCode, 200);
    assert.match(String(reply.headers["content-type"]), /^text\/plain; version=0\.0\.4/);
    assert.equal(reply.headers["cache-control"], "no-store");
    assert.match(reply.body, /^# HELP parallax_info .*\n# TYPE parallax_info gauge$/m);
  }
});
