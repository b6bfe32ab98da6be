import assert from "node:assert/strict";
import { test } from "node:test";
import { describeErrors, openMarketApi } from "../../../../test/support/markets/market-api.ts";
import { SAMPLE_AT, sampleEvent, sampleMarket } from "../../../../test/support/markets/market-samples.ts";
import type { MarketListing } from "../../../domain/market.ts";
import { toIso } from "../../../lib/dates/iso-time.ts";
import { DAY_MS } from "../../../lib/durations.ts";

const urlOf = (id: string) => `/v1/markets/alpha/${id}/resolution`;
const NO_PRICE = { bid: null, ask: null, bidSize: null, askSize: null, lastPrice: null };

/** Two days before the deadline, at a price of 0.75. */
const DEADLINE_MARKET: Partial<MarketListing> = {
  title: "Will Northwind release Atlas 5 by November 23, 2026?",
  rules: 'This market will resolve to "Yes" if Northwind releases Atlas 5 before November 23, 2026 (UTC).',
  closeAt: SAMPLE_AT + 2 * DAY_MS,
  expectedResolutionAt: SAMPLE_AT + 3 * DAY_MS,
};

test("200: returns every documented field of a market with a deadline", async () => {
  const { board, get } = await openMarketApi();
  const quote = { bid: 0.74, ask: 0.76, lastPrice: 0.75 };
  board.apply(sampleMarket("KX/1", { listing: DEADLINE_MARKET, quote }), SAMPLE_AT);
  const reply = await get(urlOf("KX%2F1"));
  assert.equal(reply.statusCode, 200);
  assert.deepEqual(reply.json(), {
    market_id: "KX/1",
    platform: "alpha",
    title: DEADLINE_MARKET.title,
    status: "active",
    expiration_date: toIso(SAMPLE_AT + 3 * DAY_MS),
    close_date: toIso(SAMPLE_AT + 2 * DAY_MS),
    resolution_date: toIso(SAMPLE_AT + 3 * DAY_MS),
    hours_to_expiration: 72,
    resolution_mechanism: "continuous_monitoring",
    rules_summary: DEADLINE_MARKET.rules,
    time_urgency: "medium",
    theta_estimate: -25,
    key_dates: [
      { date: toIso(SAMPLE_AT + 2 * DAY_MS), label: "Deadline in the rules (trading closes)", impact: "high" },
      { date: toIso(SAMPLE_AT + 3 * DAY_MS), label: "Resolution expected by the venue", impact: "high" },
    ],
    recurring_schedule: null,
    generated_at: toIso(SAMPLE_AT),
  });
});

test("200: hours, urgency and decay are computed for the time of the request", async () => {
  const { board, get, clock } = await openMarketApi();
  const quote = { bid: 0.74, ask: 0.76, lastPrice: 0.75 };
  board.apply(sampleMarket("m", { listing: DEADLINE_MARKET, quote }), SAMPLE_AT);
  await clock.advance(1.5 * DAY_MS);
  const later = (await get(urlOf("m"))).json();
  assert.deepEqual(
    [later.hours_to_expiration, later.time_urgency, later.theta_estimate, later.generated_at],
    [36, "high", -75, toIso(SAMPLE_AT + 1.5 * DAY_MS)],
  );
  await clock.advance(10 * DAY_MS);
  const { hours_to_expiration, time_urgency, theta_estimate } = (await get(urlOf("m"))).json();
  assert.deepEqual([hours_to_expiration, time_urgency, theta_estimate], [null, null, null]);
});

test("200: past dates of a market that accepts orders are unknown, and those of a closed market are kept", async () => {
  const { board, get } = await openMarketApi();
  const past = {
    closeAt: SAMPLE_AT - 2 * DAY_MS,
    expectedResolutionAt: SAMPLE_AT - DAY_MS,
    rules: "By the listed date.",
  };
  for (const status of ["active", "closed", "determined"] as const) {
    board.apply(sampleMarket("m", { listing: { ...past, status } }), SAMPLE_AT);
    const body = (await get(urlOf("m"))).json();
    const isOpen = status === "active";
    assert.deepEqual(
      [body.expiration_date, body.close_date, body.resolution_date, body.hours_to_expiration, body.theta_estimate],
      isOpen
        ? [null, null, null, null, null]
        : [toIso(SAMPLE_AT - DAY_MS), toIso(SAMPLE_AT - 2 * DAY_MS), toIso(SAMPLE_AT - DAY_MS), 0, null],
    );
    assert.equal(body.key_dates.length, isOpen ? 0 : 2);
  }
});

test("200: the title of the event can name the recurring schedule", async () => {
  const { board, get } = await openMarketApi();
  board.applyEvent(sampleEvent("KXFED", { title: "Fed decision in December" }));
  const listing = { eventId: "KXFED", title: "25 bps decrease", closeAt: Date.UTC(2026, 11, 9, 19) };
  board.apply(sampleMarket("m", { listing }), SAMPLE_AT);
  const body = (await get(urlOf("m"))).json();
  assert.equal(body.recurring_schedule, "FOMC meeting");
  assert.equal(body.theta_estimate, 0);
  const decision = { date: "2026-12-09T19:00:00.000Z", label: "FOMC decision (trading closes)", impact: "high" };
  assert.deepEqual(body.key_dates.at(-1), decision);
});

test("200: unknown fields of a market without rules, dates and price are null", async () => {
  const { board, get } = await openMarketApi();
  board.apply(sampleMarket("m", { listing: { title: "Who is it?" }, quote: NO_PRICE }), SAMPLE_AT);
  const reply = await get(urlOf("m"));
  assert.equal(reply.statusCode, 200);
  const body = reply.json();
  const nullFields = ["expiration_date", "close_date", "resolution_date", "hours_to_expiration", "rules_summary"];
  for (const field of [...nullFields, "time_urgency", "theta_estimate", "recurring_schedule"])
    assert.equal(body[field], null, field);
  assert.deepEqual([body.resolution_mechanism, body.key_dates, body.status], ["unknown", [], "active"]);
});

test("200: a settled market has no hours left, no urgency and no decay, regardless of its dates and price", async () => {
  const { board, get } = await openMarketApi();
  const resolvedAt = SAMPLE_AT - DAY_MS;
  const settled = { status: "finalized", outcome: { kind: "yes" }, resolvedAt } as const;
  board.apply(sampleMarket("m", { listing: { ...DEADLINE_MARKET, ...settled }, quote: NO_PRICE }), SAMPLE_AT);
  const body = (await get(urlOf("m"))).json();
  assert.deepEqual(
    [body.status, body.hours_to_expiration, body.time_urgency, body.theta_estimate],
    ["finalized", 0, null, null],
  );
  assert.deepEqual(body.key_dates.at(-1), { date: toIso(resolvedAt), label: "Settled", impact: "high" });
});

test("200: a market that is not on the board is fetched from its venue", async () => {
  const api = await openMarketApi({
    fetchMarket: async (venue, id) => {
      api.board.apply(sampleMarket(id, { listing: { venue }, quote: NO_PRICE }), SAMPLE_AT);
      return true;
    },
  });
  assert.equal((await api.get(urlOf("m"))).statusCode, 200);
});

test("404: an unknown market returns market_not_found for any id", async () => {
  const { get } = await openMarketApi();
  for (const id of ["m", "a%00b", "x".repeat(513), "%20", "..%2f..%2fetc"]) {
    const reply = await get(urlOf(id));
    assert.deepEqual([reply.statusCode, reply.json().code], [404, "market_not_found"], id.slice(0, 20));
  }
});

test("422: rejects an unknown venue and a reference venue", async () => {
  const { get } = await openMarketApi();
  for (const venue of ["gamma", "delta"])
    assert.deepEqual(describeErrors(await get(`/v1/markets/${venue}/m/resolution`)), [
      "literal_error at path.platform",
    ]);
});
