import assert from "node:assert/strict";
import { test } from "node:test";
import { EMPTY_ACTIVITY, EMPTY_QUOTE } from "../../src/domain/market.ts";
import { HOUR_MS } from "../../src/lib/durations.ts";
import { eachDatabase } from "../../test/support/databases.ts";
import { EMPTY_LISTING } from "../../test/support/markets/market-samples.ts";
import { queryResolvedRows, readResolvedRows } from "./store-rows.ts";

const RESOLVED_AT = Date.UTC(2026, 5, 1);

const snapshotOf = (marketId: string, outcome: object | null, resolvedAt: number | null) => ({
  listing: {
    ...EMPTY_LISTING,
    venue: "v",
    marketId,
    title: `Will ${marketId} happen?`,
    eventId: "E",
    category: "Sports",
    closeAt: RESOLVED_AT,
    resolvedAt,
    status: "finalized",
    outcome,
  },
  quote: { ...EMPTY_QUOTE, receivedAt: RESOLVED_AT },
  activity: EMPTY_ACTIVITY,
});

eachDatabase("reads markets that resolved YES or NO with hourly prices before the resolution", async (database) => {
  const snapshots = [
    snapshotOf("yes", { kind: "yes" }, RESOLVED_AT),
    snapshotOf("no", { kind: "no" }, null),
    snapshotOf("void", { kind: "void", value: null }, RESOLVED_AT),
    snapshotOf("unknown", null, RESOLVED_AT),
  ];
  for (const snapshot of snapshots) {
    const { venue, marketId, title } = snapshot.listing;
    const [row] = await database.query<{ key: number }>(
      `insert into markets (venue, market_id, title, status, updated_at, snapshot)
       values ($1, $2, $3, 'finalized', now(), $4) returning key`,
      [venue, marketId, title, JSON.stringify(snapshot)],
    );
    for (const [hoursBefore, micros] of [
      [3, 400_000],
      [2, null],
      [0.5, 990_000],
    ] as const)
      await database.query(
        `insert into bars_1h (market_key, start_at, yes_close, source)
         values ($1::int4, to_timestamp($2::float8 / 1000), $3::int4, 'ticks')`,
        [row?.key, RESOLVED_AT - hoursBefore * HOUR_MS, micros],
      );
    await database.query(
      `insert into status_changes (market_key, changed_at, to_status, outcome)
       values ($1::int4, to_timestamp($2::float8 / 1000), 'finalized', $3::jsonb)`,
      [row?.key, RESOLVED_AT + HOUR_MS, JSON.stringify(snapshot.listing.outcome)],
    );
  }
  const rows = await queryResolvedRows(database);
  const early = [new Date(RESOLVED_AT - 2 * HOUR_MS).toISOString(), 0.4];
  assert.deepEqual(
    rows.map(({ market_id, outcome, resolved_at, prices, close_at }) => ({
      market_id,
      outcome,
      close_at,
      prices,
      resolved: Date.parse(resolved_at),
    })),
    [
      { market_id: "yes", outcome: 1, close_at: null, prices: [early], resolved: RESOLVED_AT },
      {
        market_id: "no",
        outcome: 0,
        close_at: null,
        resolved: RESOLVED_AT + HOUR_MS,
        prices: [early, [new Date(RESOLVED_AT + 0.5 * HOUR_MS).toISOString(), 0.99]],
      },
    ],
  );
  assert.deepEqual(new Set(rows.map(({ group }) => group)), new Set(["v E"]));
});

test("a directory without a store is rejected", async () => {
  await assert.rejects(readResolvedRows("/nonexistent/parallax"), /contains no store/);
});
