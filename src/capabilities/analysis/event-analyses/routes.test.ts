import assert from "node:assert/strict";
import { analysisTest, type openHarness, VENUE } from "../../../../test/support/analyses/analysis-harness.ts";
import { sampleChildren, sampleEvent } from "../../../../test/support/markets/market-samples.ts";

const SLUG = `${VENUE}:e`;
const path = (suffix: string, slug = SLUG) => `/v1/events/${encodeURIComponent(slug)}/${suffix}`;

/** Lists an exclusive event with three open markets that sum to 1.2. */
function listEvent({ app, listMarket }: Awaited<ReturnType<typeof openHarness>>) {
  app.board.applyEvent(sampleEvent("E", { venue: VENUE, mutuallyExclusive: true, exhaustive: true }));
  for (const [index, price] of [0.5, 0.4, 0.3].entries())
    listMarket(`m-${index}`, {
      listing: { eventId: "E", outcomeLabel: `Outcome ${index}` },
      quote: { bid: price - 0.01, ask: price + 0.01 },
      activity: { volume24hUsd: index },
    });
}

analysisTest("202, then 200: an event's markets are analysed, listed and compared", async (open) => {
  const harness = await open();
  listEvent(harness);
  const { app, createCaller, ended } = harness;
  const caller = await createCaller();
  const before = (await caller.get(path("probability-map"))).json;
  assert.deepEqual([before.probability_sum, before.probability_sum_valid], [null, null]);
  assert.equal(before.outcomes[0].estimated_probability, null);

  const { status, json: start } = await caller.post(path("analyze"));
  assert.equal(status, 202);
  assert.deepEqual([start.slug, start.status, start.poll_url], [SLUG, "running", path("analysis")]);
  assert.deepEqual(
    start.analyses.map(({ market_id }: { market_id: string }) => market_id),
    ["m-2", "m-1", "m-0"],
    "the largest volume first",
  );
  assert.equal((await caller.get(path("analysis"))).json.code, "analysis_not_found");
  app.analyses.start();
  for (const { analysis_id } of start.analyses) await ended(analysis_id);

  const { markets, ...event } = (await caller.get(path("analysis"))).json;
  assert.deepEqual([event.market_count, event.analyzed_count, event.platform], [3, 3, VENUE]);
  assert.match(event.summary, /^3 of 3 open markets are analysed\. The largest difference to the price is /);
  for (const market of markets) {
    assert.ok(market.model_probability < market.market_price, "the prices sum to more than 1");
    assert.ok(Math.abs(market.edge - (market.model_probability - market.market_price)) < 1e-9);
    assert.deepEqual([market.freshness, market.recommendation], ["fresh", "NO_TRADE"]);
  }

  const map = (await caller.get(path("probability-map"))).json;
  assert.deepEqual(
    map.outcomes.map(({ title, estimated_probability: estimate }: { title: string; estimated_probability: number }) => [
      title,
      estimate,
    ]),
    markets.map(({ title, model_probability }: { title: string; model_probability: number }) => [
      title,
      model_probability,
    ]),
  );
  assert.ok(
    Math.abs(map.probability_sum - 1) < 1e-9,
    `the estimates of an exclusive set are coherent: ${map.probability_sum}`,
  );
  assert.equal(map.probability_sum_valid, true);
});

analysisTest("a probability map has the reason why its outcomes are not exhaustive", async (open) => {
  const harness = await open();
  listEvent(harness);
  const { get } = await harness.createCaller();
  const read = async () => {
    const { exhaustive, not_exhaustive_because } = (await get(path("probability-map"))).json;
    return [exhaustive, not_exhaustive_because];
  };
  assert.deepEqual(await read(), [false, "children_unknown"]);
  for (const [children, expected] of [
    [sampleChildren(3, { settled_no: 4 }), [true, null]],
    [sampleChildren(3, { placeholder: 1 }), [false, "children_left_out"]],
    [sampleChildren(4), [false, "children_missing"]],
  ] as const) {
    harness.app.board.applyEvent(
      sampleEvent("E", { venue: VENUE, mutuallyExclusive: true, exhaustive: true, children }),
    );
    assert.deepEqual(await read(), expected);
  }
});

analysisTest("an event analysis counts as one call, and joins runs of its markets", async (open) => {
  const harness = await open();
  listEvent(harness);
  const caller = await harness.createCaller("free");
  const single = (await caller.analyze("m-0")).json.analysis_id;
  const { json: start } = await caller.post(path("analyze"));
  assert.equal(start.analyses.at(-1).analysis_id, single);
  assert.equal((await caller.get("/v1/customers/me")).json.usage.insight, 2);
});

analysisTest("404: the event is unknown or has no open market", async (open) => {
  const { app, listMarket, createCaller } = await open();
  const caller = await createCaller();
  for (const suffix of ["analysis", "probability-map"])
    assert.equal((await caller.get(path(suffix, `${VENUE}:none`))).json.code, "event_not_found");
  assert.equal((await caller.post(path("analyze", `${VENUE}:none`))).json.code, "event_not_found");
  app.board.applyEvent(sampleEvent("C", { venue: VENUE }));
  listMarket("closed", { listing: { eventId: "C", status: "closed" } });
  assert.equal((await caller.post(path("analyze", `${VENUE}:c`))).json.code, "analysis_not_found");
  assert.deepEqual((await caller.get(path("probability-map", `${VENUE}:c`))).json.outcomes, []);
});
