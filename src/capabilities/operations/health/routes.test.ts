import assert from "node:assert/strict";
import { test } from "node:test";
import { testServer } from "../../../../test/support/test-app.ts";
import { healthRoutes } from "./routes.ts";
import type { HealthReport } from "./schema.ts";

const VENUE: HealthReport["checks"]["venues"][string] = {
  role: "ingest",
  status: "ok",
  last_success_at: "2026-11-21T00:00:00.000Z",
  lag_seconds: 1.5,
  markets: 3,
  stream: "up",
  sweep: { rows: 5, total: null, completed: 2, incomplete: 1 },
  drops: { crossed_book: 4 },
  drift: [
    {
      name: "market.status",
      kind: "unknown_value",
      count: 3,
      sample: "string: LIMBO",
      first_seen_at: "2026-11-21T00:00:00.000Z",
      last_seen_at: "2026-11-21T00:01:00.000Z",
    },
  ],
};

function createReport(status: HealthReport["status"], venues: HealthReport["checks"]["venues"]): HealthReport {
  const checks = { store: { status }, bus: { status: "ok" as const }, jobs: { status: "ok" as const }, venues };
  return { status, version: "1.2.3", data: "sandbox", uptime_seconds: 12, checks };
}

async function createTestHealth(initial: HealthReport = createReport("ok", {})) {
  const state = { report: initial, isStoreUp: true };
  const { app } = await testServer();
  healthRoutes(app, { report: () => state.report, isStoreUp: () => state.isStoreUp });
  const get = (url: string) => app.inject({ url });
  return { app, state, get };
}

test("200: returns the health without an API key in every state, even if a venue has had no successful request", async () => {
  const { state, get } = await createTestHealth();
  for (const status of ["ok", "degraded", "down"] as const)
    for (const venueStatus of ["starting", "ok", "degraded", "down"] as const) {
      const idle = { ...VENUE, status: venueStatus, last_success_at: null, lag_seconds: null, stream: "none" as const };
      state.report = createReport(status, { alpha: VENUE, beta: idle });
      const reply = await get("/v1/health");
      assert.equal(reply.statusCode, 200);
      assert.deepEqual(reply.json(), state.report);
    }
});

test("200: `/livez` succeeds while the store is down or the process is draining", async () => {
  const { app, state, get } = await createTestHealth();
  state.isStoreUp = false;
  assert.deepEqual([(await get("/livez")).statusCode, (await get("/livez")).json()], [200, { status: "ok" }]);
  app.lifecycle.markReady();
  app.lifecycle.markDraining();
  assert.equal((await get("/livez")).statusCode, 200);
});

test("200 and 503: `/readyz` succeeds if the process has started and the store is up, and has a code for each other state", async () => {
  const { app, state, get } = await createTestHealth();
  const getReadiness = async () => {
    const reply = await get("/readyz");
    assert.equal(reply.headers["retry-after"], "2");
    return [reply.statusCode, reply.json().code];
  };
  assert.deepEqual(await getReadiness(), [503, "starting"]);
  app.lifecycle.markReady();
  state.isStoreUp = false;
  assert.deepEqual(await getReadiness(), [503, "store_unavailable"]);
  state.isStoreUp = true;
  const ready = await get("/readyz");
  assert.deepEqual([ready.statusCode, ready.json()], [200, { status: "ok" }]);
  app.lifecycle.markDraining();
  assert.deepEqual(await getReadiness(), [503, "draining"]);
  app.lifecycle.markReady();
  assert.deepEqual(await getReadiness(), [503, "draining"]);
});
