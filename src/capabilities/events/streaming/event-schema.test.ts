import assert from "node:assert/strict";
import { test } from "node:test";
import { Compile } from "typebox/compile";
import { SAMPLE_AT, sampleMarket } from "../../../../test/support/markets/market-samples.ts";
import { MarketBoard } from "../../../board/index.ts";
import { EVENT_TYPES, type EventType, formatEvent, type NewEvent } from "../../../event-log/index.ts";
import { createMarketResolvedEvent } from "../../../storage/market-resolved.ts";
import { createCompletionEvent, createErrorEvent } from "../../analysis/analyses/completion-event.ts";
import { createPriceShiftEvent, createWhaleEvent } from "../market-alerts/log-alerts.ts";
import { createEventSchemas } from "./event-schema.ts";

const VENUES = ["alpha", "beta"];
const run = { analysisId: "plx-1", venue: "alpha", marketId: "m" };

function listEvents(): readonly NewEvent[] {
  const snapshot = sampleMarket("m");
  const board = new MarketBoard(() => SAMPLE_AT);
  board.apply(snapshot, SAMPLE_AT);
  const market = board.find("alpha", "m");
  assert.ok(market !== null);
  const priceAt = (yesPrice: number) => ({ at: SAMPLE_AT, yesPrice });
  const shift = { market, old: priceAt(0), latest: priceAt(0.2) };
  const trade = { key: "k", market, trades: [], startedAt: SAMPLE_AT, executedAt: SAMPLE_AT, price: 0.4 };
  const whale = { ...trade, side: null, usd: 6_000, volume24hUsd: null };
  const result = {
    title: "Question",
    analysis: {
      probability: 0.6,
      marketPrice: 0.5,
      edge: 0.1,
      confidence: 0.7,
      recommendation: "BUY_YES",
    },
  };
  const stored = { ...run, type: "light", analysedAt: SAMPLE_AT, result } as never;
  return [
    createPriceShiftEvent(shift, { sigmas: 6, number: 0 }),
    createPriceShiftEvent({ ...shift, old: priceAt(0.1) }, { sigmas: 6, number: 0 }),
    createWhaleEvent(whale, { percentile: null, share: null }),
    createWhaleEvent({ ...whale, side: "no" }, { percentile: 99.9, share: 0.2 }),
    createCompletionEvent(stored, SAMPLE_AT),
    createErrorEvent(run, SAMPLE_AT),
    createMarketResolvedEvent(snapshot, { kind: "void", value: null }, null),
    createMarketResolvedEvent(
      snapshot,
      { kind: "partial", value: 0.4 },
      { probability: 0.3, marketPrice: 0.2, at: SAMPLE_AT },
    ),
  ];
}

test("every event that is sent matches its documented schema and has no other fields", () => {
  const { events } = createEventSchemas(VENUES);
  const sentTypes = new Set<EventType>();
  for (const [index, { key: _key, ...event }] of listEvents().entries()) {
    const sent: Record<string, unknown> = JSON.parse(formatEvent({ ...event, id: index + 1 }));
    const { schema } = events[event.type];
    assert.deepEqual(Compile(schema).Errors(sent), [], event.type);
    for (const name of Object.keys(sent)) assert.ok(name in schema.properties, `${event.type} has no field ${name}`);
    sentTypes.add(event.type);
  }
  assert.deepEqual([...sentTypes].sort(), [...EVENT_TYPES].sort());
});
