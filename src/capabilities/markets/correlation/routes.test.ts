import assert from "node:assert/strict";
import { customerHarness } from "../../../../test/support/customers/customer-harness.ts";
import { eachDatabase, onEmbedded } from "../../../../test/support/databases.ts";
import { FakeClock } from "../../../../test/support/fake-clock.ts";
import { type SampleParts, sampleEvent, sampleMarket } from "../../../../test/support/markets/market-samples.ts";
import { samplePoint } from "../../../../test/support/storage-samples.ts";
import { ScriptedVenue } from "../../../../test/support/venues/scripted-venue.ts";
import { AppError } from "../../../domain/errors.ts";
import { HOUR_MS } from "../../../lib/durations.ts";
import { sigmoid } from "../../../lib/numbers.ts";
import type { Database } from "../../../ports/database.ts";
import type { OpenWorkerPool } from "../../../ports/worker-pool.ts";

const NOON = Date.UTC(2026, 10, 21, 12);
const HOURS = 168;
const OPERATOR = { kind: "operator", id: "test" } as const;

/** Hourly prices of the last seven days whose log-odds follow a wave. */
const waveOf = (amplitude: number, frequency: number) =>
  Array.from({ length: HOURS }, (_, index) => {
    const endAt = NOON - (HOURS - 1 - index) * HOUR_MS;
    const price = sigmoid(amplitude * Math.sin(frequency * index));
    return samplePoint(endAt - HOUR_MS, endAt, price);
  });

interface MarketOptions {
  readonly platform?: string;
  readonly eventId?: string;
  readonly history?: ReturnType<typeof waveOf>;
  readonly parts?: SampleParts;
}

/** Opens the service with two venues. Their markets are on the board, and their history is only at the venue. */
async function open(database: Database, ports: { readonly openWorkerPool?: OpenWorkerPool } = {}) {
  const clock = new FakeClock(NOON);
  const venues = ["venue_a", "venue_b"].map((id) => new ScriptedVenue(id, clock));
  const [venue] = venues;
  assert.ok(venue !== undefined);
  const harness = await customerHarness(database, {
    clock,
    venues: venues.map((scripted) => ({
      id: scripted.id,
      referenceOnly: false,
      playMoney: false,
      create: () => scripted,
    })),
    ...ports,
  });
  const { key } = await harness.app.customers.create({ email: "a@example.org", name: null, plan: "pro" }, OPERATOR);
  return {
    ...harness,
    venue,
    async addMarket(marketId: string, options: MarketOptions = {}) {
      const { platform = "venue_a", eventId = null, history = [], parts = {} } = options;
      const scripted = venues.find(({ id }) => id === platform);
      scripted?.setMarkets(
        sampleMarket(marketId, { ...parts, listing: { venue: platform, eventId, ...parts.listing } }),
      );
      scripted?.history.set(marketId, history);
      assert.ok(await harness.app.ingest.lookUp(platform, marketId));
    },
    correlate: (body: object) => harness.call("POST", "/v1/correlation", { key: key.apiKey, body }),
    get: (path: string) => harness.call("GET", path, { key: key.apiKey }),
  };
}

eachDatabase(
  "200: markets are compared by their stored prices, which are fetched if they are missing",
  async (database) => {
    const { addMarket, correlate, venue } = await open(database);
    await addMarket("a", { history: waveOf(1, 1) });
    await addMarket("b", { history: waveOf(0.5, 1) });
    await addMarket("c", { history: waveOf(-1, 1) });
    await addMarket("still");
    const { status, json, headers } = await correlate({ market_ids: ["a", "b", "c", "still"], platform: "venue_a" });
    assert.equal(status, 200);
    assert.match(String(headers["content-type"]), /^application\/json/);
    assert.equal(headers.etag, undefined);
    const { pairs, concentration_warnings, ...rest } = json;
    assert.deepEqual(rest, {
      market_ids: ["a", "b", "c", "still"],
      platform: "venue_a",
      period: "7d",
      clusters: [["a", "b"]],
      generated_at: new Date(NOON).toISOString(),
    });
    const relationships = pairs.map((pair: Record<string, string>) => [
      pair.market_a,
      pair.market_b,
      pair.relationship,
    ]);
    assert.deepEqual(relationships, [
      ["a", "b", "strong_positive"],
      ["a", "c", "strong_negative"],
      ["a", "still", "insufficient_data"],
      ["b", "c", "strong_negative"],
      ["b", "still", "insufficient_data"],
      ["c", "still", "insufficient_data"],
    ]);
    assert.equal(pairs[0].data_points, HOURS - 1);
    assert.equal(pairs[2].correlation, null);
    assert.equal(concentration_warnings.length, 1);
    const requests = venue.callsOf("getHistory").length;
    assert.equal((await correlate({ market_ids: ["a", "b"], platform: "venue_a", period: "30d" })).json.period, "30d");
    const names = { market_ids: ["a", "b", "c", "still"], platform: "venue_a" };
    const chosen = await correlate({ ...names, min_correlation: 0.5, limit: 2 });
    assert.equal(chosen.json.pairs.length, 2);
    for (const { correlation, basis, horizon_seconds } of chosen.json.pairs) {
      assert.ok(Math.abs(correlation) >= 0.5);
      assert.deepEqual([basis, horizon_seconds > 0], ["moves", true]);
    }
    assert.equal(venue.callsOf("getHistory").length, requests, "the history is fetched once");
  },
);

eachDatabase(
  "200: a resolved market is compared by its stored prices; one with an empty or one-sided book or opened a minute ago has no coefficient",
  async (database) => {
    const { addMarket, correlate } = await open(database);
    await addMarket("open", { history: waveOf(1, 1) });
    await addMarket("resolved", {
      history: waveOf(1, 1),
      parts: { listing: { status: "finalized", outcome: { kind: "yes" } } },
    });
    await addMarket("empty", { parts: { quote: { bid: null, ask: null, lastPrice: null } } });
    await addMarket("one-sided", { parts: { quote: { ask: null } } });
    await addMarket("new", { parts: { listing: { openAt: NOON - 60_000 } } });
    const ids = ["open", "resolved", "empty", "one-sided", "new"];
    const { status, json } = await correlate({ market_ids: ids, platform: "venue_a" });
    assert.equal(status, 200);
    const [first, ...others] = json.pairs;
    assert.deepEqual([first.relationship, first.data_points], ["strong_positive", HOURS - 1]);
    for (const { correlation, relationship, data_points } of others)
      assert.deepEqual([correlation, relationship, data_points], [null, "insufficient_data", 0]);
    assert.equal(others.length, 9);
  },
);

eachDatabase("200: markets of several venues are named by `platform/market_id`", async (database) => {
  const { addMarket, correlate } = await open(database);
  await addMarket("a", { history: waveOf(1, 1) });
  await addMarket("a", { platform: "venue_b", history: waveOf(1, 1) });
  const mixed = await correlate({ market_ids: ["venue_a/a", "venue_b/a"], period: "7d" });
  assert.deepEqual([mixed.status, mixed.json.platform], [200, null]);
  assert.deepEqual(mixed.json.market_ids, ["venue_a/a", "venue_b/a"]);
  assert.equal(mixed.json.pairs[0].relationship, "strong_positive");
  const prefixed = await correlate({ market_ids: ["venue_b/a", "a"], platform: "venue_a" });
  assert.deepEqual([prefixed.status, prefixed.json.platform], [200, null]);
});

eachDatabase("200: the markets of an event are compared", async (database) => {
  const { addMarket, get, app } = await open(database);
  for (const eventId of ["E", "single"]) app.board.applyEvent(sampleEvent(eventId, { venue: "venue_a" }));
  await addMarket("a", { eventId: "E", history: waveOf(1, 1) });
  await addMarket("b", { eventId: "E", history: waveOf(-1, 1) });
  await addMarket("alone", { eventId: "single" });
  const { status, json } = await get("/v1/events/venue_a:e/correlation?period=7d");
  assert.deepEqual([status, json.market_ids, json.platform], [200, ["a", "b"], "venue_a"]);
  assert.equal(json.pairs[0].relationship, "strong_negative");
  const single = (await get("/v1/events/venue_a:single/correlation")).json;
  assert.deepEqual([single.market_ids, single.pairs, single.clusters], [["alone"], [], []]);
});

onEmbedded("200: a large request is computed on a thread, with the same coefficients", async (database) => {
  const { addMarket, correlate } = await open(database);
  const ids = Array.from({ length: 130 }, (_, index) => `m-${index}`);
  for (const [index, id] of ids.entries())
    await addMarket(id, { history: index < 3 ? waveOf(1 + index, 1 + index / 10) : [] });
  const large = await correlate({ market_ids: ids, platform: "venue_a" });
  assert.equal(large.status, 200);
  assert.equal(large.json.pairs.length, (130 * 129) / 2);
  const small = await correlate({ market_ids: ids.slice(0, 3), platform: "venue_a" });
  const coefficientOf = ({ json }: typeof small, a: string, b: string) =>
    json.pairs.find((pair: Record<string, string>) => pair.market_a === a && pair.market_b === b).correlation;
  for (const [a, b] of [
    ["m-0", "m-1"],
    ["m-0", "m-2"],
    ["m-1", "m-2"],
  ] as const) {
    assert.notEqual(coefficientOf(small, a, b), null);
    assert.equal(coefficientOf(large, a, b), coefficientOf(small, a, b));
  }
});

onEmbedded("503: a large request is rejected if too many are waiting, and a small one succeeds", async (database) => {
  const overloaded = new AppError("overloaded", "Too many large computations are waiting; try again later");
  const openWorkerPool: OpenWorkerPool = () => ({ run: () => Promise.reject(overloaded), close: async () => {} });
  const { addMarket, correlate } = await open(database, { openWorkerPool });
  const ids = Array.from({ length: 130 }, (_, index) => `m-${index}`);
  for (const id of ids) await addMarket(id);
  const { status, json, headers } = await correlate({ market_ids: ids, platform: "venue_a" });
  assert.deepEqual([status, json.code, headers["retry-after"]], [503, "overloaded", "2"]);
  assert.equal((await correlate({ market_ids: ids.slice(0, 20), platform: "venue_a" })).status, 200);
});

onEmbedded("404: an unknown market is named; an unknown event is not found", async (database) => {
  const { addMarket, correlate, get } = await open(database);
  await addMarket("a");
  const { status, json } = await correlate({ market_ids: ["venue_a/a", "venue_b/nowhere"] });
  assert.deepEqual([status, json.code], [404, "market_not_found"]);
  assert.match(json.detail, /venue_b\/nowhere/);
  assert.equal((await get("/v1/events/venue_a:none/correlation")).json.code, "event_not_found");
});

onEmbedded(
  "422: too few or many markets, ids without a venue, a repeated market, an unknown period or venue",
  async (database) => {
    const { addMarket, correlate, app, get } = await open(database);
    await addMarket("a");
    const ids = (count: number) => Array.from({ length: count }, (_, index) => `m-${index}`);
    for (const [body, errors] of [
      [{}, ["missing at body.market_ids"]],
      [{ market_ids: ["venue_a/a"] }, ["too_short at body.market_ids"]],
      [{ market_ids: ids(501), platform: "venue_a" }, ["too_long at body.market_ids"]],
      [{ market_ids: "a,b", platform: "venue_a" }, ["list_type at body.market_ids"]],
      [{ market_ids: ["a", 7], platform: "venue_a" }, ["string_type at body.market_ids.1"]],
      [{ market_ids: ["a", ""], platform: "venue_a" }, ["string_too_short at body.market_ids.1"]],
      [{ market_ids: ["a", "venue_a/b"] }, ["value_error at body.market_ids.0"]],
      [{ market_ids: ["a", "b", "venue_a/a"], platform: "venue_a" }, ["value_error at body.market_ids.2"]],
      [{ market_ids: ["a", "b"], platform: "venue_z" }, ["literal_error at body.platform"]],
      [{ market_ids: ["a", "b"], platform: "venue_a", period: "24h" }, ["literal_error at body.period"]],
      [
        { market_ids: ["a", "b"], platform: "venue_a", min_correlation: 1.1 },
        ["less_than_equal at body.min_correlation"],
      ],
      [{ market_ids: ["a", "b"], platform: "venue_a", limit: 0 }, ["greater_than_equal at body.limit"]],
    ] as const) {
      const { status, json } = await correlate(body);
      assert.equal(status, 422, JSON.stringify(body).slice(0, 80));
      const found = json.detail.map(({ type, loc }: { type: string; loc: string[] }) => `${type} at ${loc.join(".")}`);
      assert.deepEqual(found, errors);
    }
    app.board.applyEvent(sampleEvent("E", { venue: "venue_a" }));
    assert.equal((await get("/v1/events/venue_a:e/correlation?period=1y")).status, 422);
  },
);
