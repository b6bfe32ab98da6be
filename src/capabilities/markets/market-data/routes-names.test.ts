import assert from "node:assert/strict";
import { test } from "node:test";
import { describeErrors, openMarketApi } from "../../../../test/support/markets/market-api.ts";
import { SAMPLE_AT, sampleEvent, sampleMarket } from "../../../../test/support/markets/market-samples.ts";
import { VENUE_SERVICES } from "../../../venues/registry.ts";

const VENUES = { trading: ["venue_a", "venue_b", "venue_c"], reference: ["venue_d"] };

async function openNamedApi() {
  const api = await openMarketApi(VENUES);
  for (const venue of [...VENUES.trading, ...VENUES.reference]) {
    api.board.applyEvent(sampleEvent("E", { venue }));
    api.board.apply(sampleMarket("m", { listing: { venue, eventId: "E" } }), SAMPLE_AT);
  }
  return api;
}

test("200: paths, filters, slugs and bodies use the configured venue ids", async () => {
  const { get } = await openNamedApi();
  for (const venue of VENUES.trading) {
    const market = (await get(`/v1/markets/${venue}/m`)).json();
    assert.deepEqual([market.platform, market.event_slug], [venue, `${venue}:e`]);
    assert.deepEqual((await get(`/v1/markets?source=${venue}`)).json(), [market]);
    assert.equal((await get(`/v1/events/${venue}:e`)).json().platform, venue);
    assert.equal((await get(`/v1/events?platform=${venue}`)).json()[0].slug, `${venue}:e`);
    assert.equal((await get(`/v1/markets/${venue}/m/history`)).json().platform, venue);
  }
});

test("422: rejects adapter names and reference venues in paths and filters", async () => {
  const { get } = await openNamedApi();
  for (const name of [...Object.keys(VENUE_SERVICES), "venue_d"]) {
    assert.deepEqual(describeErrors(await get(`/v1/markets/${name}/m`)), ["literal_error at path.platform"]);
    assert.deepEqual(describeErrors(await get(`/v1/markets/${name}/m/history`)), ["literal_error at path.platform"]);
    assert.deepEqual(describeErrors(await get(`/v1/markets?source=${name}`)), ["literal_error at query.source"]);
    assert.deepEqual(describeErrors(await get(`/v1/events?platform=${name}`)), [
      "string_pattern_mismatch at query.platform",
    ]);
    assert.equal((await get(`/v1/events/${name}:e`)).statusCode, 404);
  }
});

test("200: the OpenAPI document contains only the configured venue ids", async () => {
  const { get } = await openNamedApi();
  const text = (await get("/openapi.json")).body;
  for (const name of Object.keys(VENUE_SERVICES)) assert.equal(text.includes(name), false, name);
  const { paths } = JSON.parse(text);
  const schemaOf = (path: string, name: string) =>
    paths[path].get.parameters.find((parameter: { name: string }) => parameter.name === name).schema;
  const enumOf = (path: string, name: string) => schemaOf(path, name).enum;
  assert.deepEqual(enumOf("/v1/markets/{platform}/{market_id}", "platform"), VENUES.trading);
  assert.deepEqual(enumOf("/v1/markets", "source"), VENUES.trading);
  assert.equal(schemaOf("/v1/events", "platform").pattern, `^(${VENUES.trading.join("|")})?$`);
  assert.ok(text.includes("venue_d"));
});
