import assert from "node:assert/strict";
import { eachDatabase } from "../../../test/support/databases.ts";
import { FakeClock } from "../../../test/support/fake-clock.ts";
import { SAMPLE_AT, sampleMarket } from "../../../test/support/markets/market-samples.ts";
import { quietLog } from "../../../test/support/quiet-log.ts";
import { HOUR_MS, MINUTE_MS } from "../../lib/durations.ts";
import { createMarketStore, createTickWriter, readPricesAt, readSettledMarkets } from "../index.ts";

const idsOf = (...ids: readonly string[]) => ids.map((marketId) => ({ venue: "alpha", marketId }));

eachDatabase(
  "the price at a time is the price of the last tick or bar that ended at or before it",
  async (database) => {
    const [key = null] = await createMarketStore(database).upsertMarkets([sampleMarket("m"), sampleMarket("n")]);
    const clock = new FakeClock(SAMPLE_AT + HOUR_MS);
    const writer = createTickWriter({ database, clock, log: quietLog });
    const createTick = (minute: number, yesPrice: number | null) => ({
      marketKey: key ?? 0,
      eventAt: null,
      receivedAt: SAMPLE_AT + minute * MINUTE_MS,
      bid: null,
      ask: null,
      lastPrice: null,
      yesPrice,
      volumeUsd: null,
    });
    for (const [minute, price] of [
      [10, 0.3],
      [20, null],
      [30, 0.5],
    ] as const)
      writer.write(createTick(minute, price));
    await writer.close();
    const addBar = (table: string, minute: number, micros: number) =>
      database.query(
        `insert into ${table} (market_key, start_at, yes_close, source)
       values ($1, to_timestamp($2::float8 / 1000), $3, 'ticks')`,
        [key, SAMPLE_AT + minute * MINUTE_MS, micros],
      );
    await addBar("bars_5m", 12, 350_000);
    await addBar("bars_1h", -60, 200_000);
    const priceAt = async (minute: number) =>
      (await readPricesAt(database, idsOf("m"), SAMPLE_AT + minute * MINUTE_MS))[0];
    for (const [minute, expected] of [
      ...[
        [-1, null],
        [0, 0.2],
        [9, 0.2],
        [10, 0.3],
        [16, 0.3],
        [17, 0.35],
        [29, 0.35],
        [30, 0.5],
        [9_999, 0.5],
      ],
    ] as const)
      assert.equal(await priceAt(minute ?? 0), expected, `${minute}`);
    assert.deepEqual(await readPricesAt(database, idsOf("none", "n", "m"), SAMPLE_AT + HOUR_MS), [null, null, 0.5]);
    assert.deepEqual(await readPricesAt(database, [], SAMPLE_AT), []);
  },
);

eachDatabase(
  "reads finalized markets with an outcome, with the venue's resolution time or else the receive time",
  async (database) => {
    const outcome = { kind: "partial", value: 0.25 } as const;
    await createMarketStore(database).upsertMarkets([
      sampleMarket("active", { listing: { outcome } }),
      sampleMarket("unknown", { listing: { status: "finalized" } }),
      sampleMarket("timed", { listing: { status: "finalized", outcome, resolvedAt: SAMPLE_AT - HOUR_MS } }),
      sampleMarket("untimed", { listing: { status: "finalized", outcome } }),
    ]);
    const settled = await readSettledMarkets(database, idsOf("active", "unknown", "timed", "untimed", "none"));
    assert.deepEqual(
      settled.toSorted((a, b) => a.resolvedAt - b.resolvedAt),
      [
        { venue: "alpha", marketId: "timed", outcome, resolvedAt: SAMPLE_AT - HOUR_MS },
        { venue: "alpha", marketId: "untimed", outcome, resolvedAt: SAMPLE_AT },
      ],
    );
  },
);
