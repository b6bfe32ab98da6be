import assert from "node:assert/strict";
import { IncomingMessage, ServerResponse } from "node:http";
import { Socket } from "node:net";
import { test } from "node:test";
import { setImmediate as nextIteration } from "node:timers/promises";
import { SAMPLE_AT } from "../../../../test/support/markets/market-samples.ts";
import { KEY, openSignalApi, sampleAnalysis } from "../../../../test/support/trading/signal-api.ts";
import { DAY_MS, HOUR_MS } from "../../../lib/durations.ts";
import { disconnectSignal } from "./routes.ts";

test("202: without a usable analysis, the call starts one and returns no signal", async () => {
  const old = sampleAnalysis(0.6, { analysedAt: SAMPLE_AT - 4 * DAY_MS });
  for (const stored of [null, old]) {
    const { ask, state, entries } = await openSignalApi({}, stored);
    const response = await ask();
    assert.equal(response.statusCode, 202);
    assert.deepEqual(response.json(), {
      analysis_id: "plx-2",
      status: "running",
      poll_url: "/v1/markets/alpha/fed/analyze/plx-2/status",
      estimated_seconds: 40,
      error_message: null,
    });
    assert.deepEqual([state.requests, entries], [1, []]);
  }
});

test("422: no analysis starts for a closed market, unless its venue still lists it as open", async () => {
  const { ask, addMarket, state } = await openSignalApi({}, null);
  const confirmed = { closeAt: SAMPLE_AT - HOUR_MS };
  for (const [listing, receivedAt] of [
    [{ status: "closed" }, SAMPLE_AT],
    // The market was last confirmed before its close.
    [confirmed, SAMPLE_AT - HOUR_MS - 1],
  ] as const) {
    addMarket("fed", listing, { receivedAt });
    const response = await ask();
    assert.equal(response.statusCode, 422);
    assert.match(response.json().detail[0].msg, /not open for orders/);
  }
  assert.equal(state.requests, 0);
  addMarket("fed", confirmed);
  assert.equal((await ask()).statusCode, 202);
});

test("202: with `force`, the call starts a new analysis even if there is a fresh one", async () => {
  const { ask, state } = await openSignalApi();
  assert.equal((await ask({ market_id: "fed", force: true })).statusCode, 202);
  assert.equal(state.requests, 1);
});

test("200: a waiting call gets the signal of the analysis that it started", async () => {
  const { askAndWait, state, clock } = await openSignalApi({}, null);
  const { reply } = await askAndWait();
  await clock.advance(1_000);
  state.stored = sampleAnalysis(0.6, { analysisId: "plx-2", analysedAt: clock.now() });
  state.run = "complete";
  await clock.advance(1_000);
  const response = await reply;
  assert.deepEqual([response.statusCode, response.json().analysis_id], [200, "plx-2"]);
});

test("200: the signal of a waiting call uses the state of the market after the analysis", async () => {
  const { askAndWait, addMarket, state, clock } = await openSignalApi({}, null);
  const { reply } = await askAndWait();
  addMarket("fed", { status: "closed" });
  state.stored = sampleAnalysis(0.6, { analysisId: "plx-2", analysedAt: clock.now() });
  state.run = "complete";
  await clock.advance(1_000);
  const { recommendation, reason } = (await reply).json();
  assert.deepEqual([recommendation, reason], ["NO_TRADE", "The market is not open for orders."]);
});

test("202: a waiting call ends after five minutes, and at once when the service stops", async () => {
  const { askAndWait, clock, service, state } = await openSignalApi({}, null);
  const first = await askAndWait();
  await clock.advance(300_500);
  assert.equal((await first.reply).statusCode, 202);
  assert.equal(state.polls, 1_201, "the run is polled four times a second");
  const second = await askAndWait();
  service.stop();
  assert.equal((await second.reply).statusCode, 202);
});

test("a waiting call whose caller has disconnected does not poll the run again", async () => {
  const { app, clock, state } = await openSignalApi({}, null);
  const url = await app.listen({ port: 0, host: "127.0.0.1" });
  const disconnected = Promise.withResolvers<void>();
  app.server.on("connection", (socket: Socket) => socket.on("close", () => disconnected.resolve()));
  const caller = new AbortController();
  const reply = fetch(`${url}/v1/signals?wait=true`, {
    method: "POST",
    headers: { ...KEY, "content-type": "application/json" },
    signal: caller.signal,
    body: JSON.stringify({ market_id: "fed" }),
  });
  while (state.polls === 0) await nextIteration();
  caller.abort();
  await assert.rejects(reply);
  await disconnected.promise;
  await nextIteration();
  await clock.advance(10_000);
  assert.ok(state.polls <= 2, `${state.polls} polls`);
});

test("`disconnectSignal` returns an aborted AbortSignal if the caller has disconnected already", () => {
  const raw = new ServerResponse(new IncomingMessage(new Socket()));
  assert.equal(disconnectSignal({ raw }).aborted, false);
  raw.destroy();
  assert.equal(disconnectSignal({ raw }).aborted, true);
});

test("503: a call with `wait=true` returns `analysis_failed` if its analysis fails", async () => {
  const { ask, state } = await openSignalApi({}, null);
  state.run = "error";
  const response = await ask({ market_id: "fed" }, "?wait=true");
  assert.equal(response.statusCode, 503);
  assert.deepEqual(response.json(), { detail: "The analysis failed.", code: "analysis_failed" });
});
