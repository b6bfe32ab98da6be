import assert from "node:assert/strict";
import { eachDatabase } from "../../test/support/databases.ts";
import { SAMPLE_AT, type SampleParts, sampleMarket } from "../../test/support/markets/market-samples.ts";
import { quietLog } from "../../test/support/quiet-log.ts";
import { createInProcessBus } from "../adapters/bus/in-process-bus.ts";
import { AppError } from "../domain/errors.ts";
import type { MarketListing, Outcome } from "../domain/market.ts";
import { createEventLog } from "../event-log/index.ts";
import type { Database, Transaction } from "../ports/database.ts";
import { createMarketStore } from "./index.ts";

const YES_OUTCOME = { kind: "yes" } as const;
const NO_OUTCOME = { kind: "no" } as const;

/** A market store on a real database; statement number `state.failAt` fails. */
function openHarness(realDatabase: Database) {
  const state = { failAt: Number.POSITIVE_INFINITY, statements: 0, notifications: 0 };
  const wrapQueryWithFailure = ({ query }: Transaction): Transaction["query"] =>
    function queryUnlessFailing<Row extends object>(text: string, parameters?: readonly unknown[]) {
      state.statements += 1;
      if (state.statements === state.failAt) return Promise.reject(new AppError("store_unavailable", "unavailable"));
      return query<Row>(text, parameters);
    };
  const database: Database = {
    ...realDatabase,
    query: wrapQueryWithFailure(realDatabase),
    transaction: (run) => realDatabase.transaction((transaction) => run({ query: wrapQueryWithFailure(transaction) })),
    close: async () => {},
  };
  const store = createMarketStore(database, () => {
    state.notifications += 1;
  });
  const log = createEventLog({ database: realDatabase, bus: createInProcessBus(quietLog) });
  const storeMarket = (id: string, listing: Partial<MarketListing> = {}, quote: SampleParts["quote"] = {}) =>
    store.upsertMarkets([sampleMarket(id, { listing, quote })]);
  const loggedEvents = async () => (await log.readAfter(0, { limit: 1_000 })).events;
  const outcomes = async () => (await loggedEvents()).map(({ payload }) => `${payload.market_id} ${payload.outcome}`);
  return { state, store, storeMarket, loggedEvents, outcomes };
}

eachDatabase("logs one `market_resolved` event if a market settles", async (database) => {
  const { state, storeMarket, loggedEvents } = openHarness(database);
  await storeMarket("a");
  assert.deepEqual(await loggedEvents(), []);
  const settledListing = { status: "finalized", outcome: YES_OUTCOME, title: "Will \0it \ud800rain?" } as const;
  await storeMarket("a", settledListing, { receivedAt: SAMPLE_AT + 5, lastPrice: 0.97 });
  await storeMarket("a", settledListing, { receivedAt: SAMPLE_AT + 900, lastPrice: 0.97 });
  const [event, ...otherEvents] = await loggedEvents();
  assert.deepEqual([otherEvents, state.notifications], [[], 1]);
  assert.deepEqual(event, {
    id: 1,
    type: "market_resolved",
    occurredAt: SAMPLE_AT + 5,
    venue: "alpha",
    marketId: "a",
    payload: {
      platform: "alpha",
      market_id: "a",
      title: "Will it \ufffdrain?",
      outcome: "yes",
      settlement_value: 1,
      last_price: 0.97,
      model_probability: null,
      market_price: null,
      model_probability_at: null,
    },
  });
});

eachDatabase(
  "the event contains our last estimate of the 72 hours before the resolution, and the price at the time of the estimate",
  async (database) => {
    const { store, loggedEvents } = openHarness(database);
    const minute = 60_000;
    const analyse = (marketId: string, analysedAt: number, probability: number) =>
      database.query(
        `insert into analyses values
           ($1, 'alpha', $2, 'light', to_timestamp($3::float8 / 1000), $4, 0.5, 0.1, 0.9, 0.5, 'hold', 0, 1, null, 0, 0, 0, 0, 0)`,
        [`plx-${marketId}-${analysedAt}`, marketId, analysedAt, probability],
      );
    const marketsWith = (status: MarketListing["status"]) =>
      ["venue-time", "our-time", "late", "early", "none"].map((id) =>
        sampleMarket(id, {
          listing: {
            status,
            outcome: status === "finalized" ? YES_OUTCOME : null,
            resolvedAt: id === "our-time" ? null : SAMPLE_AT - 10 * minute,
          },
        }),
      );
    await store.upsertMarkets(marketsWith("active"));
    for (const id of ["venue-time", "our-time"]) {
      await analyse(id, SAMPLE_AT - 30 * minute, 0.3);
      await analyse(id, SAMPLE_AT - 20 * minute, 0.2);
      await analyse(id, SAMPLE_AT - 5 * minute, 0.05);
    }
    await analyse("late", SAMPLE_AT - 10 * minute, 0.9);
    await analyse("early", SAMPLE_AT - (10 + 72 * 60) * minute - 1, 0.9);
    await store.upsertMarkets(marketsWith("finalized"));
    assert.deepEqual(
      (await loggedEvents()).map(({ payload }) => [
        payload.market_id,
        payload.model_probability,
        payload.market_price,
        payload.model_probability_at,
      ]),
      [
        ["venue-time", 0.2, 0.5, new Date(SAMPLE_AT - 20 * minute).toISOString()],
        ["our-time", 0.05, 0.5, new Date(SAMPLE_AT - 5 * minute).toISOString()],
        ["late", null, null, null],
        ["early", null, null, null],
        ["none", null, null, null],
      ],
    );
  },
);

eachDatabase("the event contains the payout of each kind of outcome, or null if it is unknown", async (database) => {
  const { store, loggedEvents } = openHarness(database);
  const payouts: readonly (readonly [outcome: Outcome, settlementValue: number | null])[] = [
    [YES_OUTCOME, 1],
    [NO_OUTCOME, 0],
    [{ kind: "partial", value: 0.25 }, 0.25],
    [{ kind: "void", value: 0.5 }, 0.5],
    [{ kind: "void", value: null }, null],
  ];
  const marketsWith = (status: MarketListing["status"]) =>
    payouts.map(([settledOutcome], number) => {
      const outcome = status === "finalized" ? settledOutcome : null;
      return sampleMarket(`${number}`, { listing: { status, outcome }, quote: { lastPrice: null } });
    });
  await store.upsertMarkets(marketsWith("active"));
  await store.upsertMarkets(marketsWith("finalized"));
  assert.deepEqual(
    (await loggedEvents()).map(({ payload }) => [payload.outcome, payload.settlement_value, payload.last_price]),
    payouts.map(([outcome, settlementValue]) => [outcome.kind, settlementValue, null]),
  );
});

eachDatabase("logs no event for a market first stored as settled or with a proposed outcome only", async (database) => {
  const { storeMarket, outcomes } = openHarness(database);
  await storeMarket("old", { status: "finalized", outcome: YES_OUTCOME });
  await storeMarket("old", { status: "finalized", outcome: YES_OUTCOME, title: "Changed" });
  await storeMarket("old-without-outcome", { status: "finalized", outcome: null });
  await storeMarket("old-without-outcome", { status: "finalized", outcome: NO_OUTCOME });
  await storeMarket("proposed");
  await storeMarket("proposed", { status: "determined", outcome: YES_OUTCOME });
  assert.deepEqual(await outcomes(), []);
});

eachDatabase("logs an outcome that the venue publishes after the settlement, exactly once", async (database) => {
  const { storeMarket, outcomes } = openHarness(database);
  await storeMarket("a");
  await storeMarket("a", { status: "finalized", outcome: null });
  assert.deepEqual(await outcomes(), []);
  // Different times result in different event keys, so the log would contain a repeated announcement.
  for (const [number, outcome] of [NO_OUTCOME, null, NO_OUTCOME].entries()) {
    await storeMarket("a", { status: "finalized", outcome }, { receivedAt: SAMPLE_AT + number });
  }
  assert.deepEqual(await outcomes(), ["a no"]);
});

eachDatabase("if a settlement is reversed, logs the next settlement only if its outcome differs", async (database) => {
  const { storeMarket, outcomes } = openHarness(database);
  const steps = [YES_OUTCOME, null, YES_OUTCOME, null, NO_OUTCOME, YES_OUTCOME];
  for (const [number, outcome] of [null, ...steps].entries()) {
    await storeMarket(
      "a",
      { status: outcome === null ? "active" : "finalized", outcome },
      { receivedAt: SAMPLE_AT + number },
    );
  }
  assert.deepEqual(await outcomes(), ["a yes", "a no", "a yes"]);
});

eachDatabase("if any statement fails, stores neither the settlement nor its event", async (database) => {
  const { state, storeMarket, outcomes } = openHarness(database);
  const isStored = async () => (await database.query("select 1 from markets where status = 'finalized'")).length > 0;
  await storeMarket("a");
  for (let failAt = 1; ; failAt++) {
    Object.assign(state, { failAt, statements: 0 });
    const failure = await storeMarket("a", { status: "finalized", outcome: YES_OUTCOME }).then(
      () => null,
      (error: unknown) => error,
    );
    if (failure === null) break;
    assert.deepEqual([await isStored(), await outcomes(), state.notifications], [false, [], 0]);
  }
  assert.equal(state.failAt, 5);
  assert.deepEqual([await isStored(), await outcomes(), state.notifications], [true, ["a yes"], 1]);
});

eachDatabase("if two processes store the same settlement simultaneously, one event is logged", async (database) => {
  const firstHarness = openHarness(database);
  const secondHarness = openHarness(database);
  const ids = Array.from({ length: 20 }, (_, number) => `m${number}`);
  for (const id of ids) await firstHarness.storeMarket(id);
  await Promise.all(
    ids.flatMap((id) =>
      [firstHarness, secondHarness].map(({ storeMarket }) =>
        storeMarket(id, { status: "finalized", outcome: YES_OUTCOME }),
      ),
    ),
  );
  assert.deepEqual((await firstHarness.outcomes()).sort(), ids.map((id) => `${id} yes`).sort());
});

eachDatabase("if a market id is too long for an event, logs none for it and stores all markets", async (database) => {
  const { store, outcomes } = openHarness(database);
  const tooLongId = "x".repeat(513);
  const createBothMarkets = (listing: Partial<MarketListing>) =>
    [tooLongId, "b"].map((id) => sampleMarket(id, { listing }));
  await store.upsertMarkets(createBothMarkets({ title: "t".repeat(100_000) }));
  await store.upsertMarkets(
    createBothMarkets({ title: "t".repeat(100_000), status: "finalized", outcome: NO_OUTCOME }),
  );
  assert.deepEqual(await outcomes(), ["b no"]);
  assert.equal((await database.query("select 1 from markets where status = 'finalized'")).length, 2);
});
