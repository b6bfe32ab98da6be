import assert from "node:assert/strict";
import { eachDatabase } from "../../test/support/databases.ts";
import { SAMPLE_AT, type SampleParts, sampleMarket } from "../../test/support/market-samples.ts";
import { quietLog } from "../../test/support/quiet-log.ts";
import { createInProcessBus } from "../adapters/bus/in-process-bus.ts";
import { AppError } from "../domain/errors.ts";
import type { MarketListing } from "../domain/market.ts";
import { createEventLog } from "../event-log/index.ts";
import type { Database, Transaction } from "../ports/database.ts";
import { createMarketStore } from "./index.ts";

const YES = { kind: "yes" } as const;
const NO = { kind: "no" } as const;

/** A store of markets over a real database that can be made to fail at its n-th statement. */
function bench(real: Database) {
  const state = { failAt: Number.POSITIVE_INFINITY, statements: 0, announced: 0, drops: [] as string[] };
  const failing = ({ query }: Transaction): Transaction["query"] =>
    function queryUnlessFailing<Row extends Record<string, unknown>>(text: string, parameters?: readonly unknown[]) {
      state.statements += 1;
      if (state.statements === state.failAt) return Promise.reject(new AppError("store_unavailable", "gone"));
      return query<Row>(text, parameters);
    };
  const database: Database = {
    query: failing(real),
    transaction: (run) => real.transaction((transaction) => run({ query: failing(transaction) })),
    close: async () => {},
  };
  const store = createMarketStore(
    database,
    (reason) => void state.drops.push(reason),
    () => {
      state.announced += 1;
    },
  );
  const log = createEventLog({ database: real, bus: createInProcessBus(quietLog) });
  const put = (id: string, listing: Partial<MarketListing> = {}, quote: SampleParts["quote"] = {}) =>
    store.upsertMarkets([sampleMarket(id, { listing, quote })]);
  const told = async () => (await log.readAfter(0, { limit: 1_000 })).events;
  const outcomes = async () => (await told()).map(({ payload }) => `${payload.market_id} ${payload.outcome}`);
  return { state, store, put, told, outcomes };
}

eachDatabase("a market that settles is told once, with what is known of it", async (database) => {
  const { state, put, told } = bench(database);
  await put("a");
  assert.deepEqual(await told(), []);
  const settled = { status: "finalized", outcome: YES, title: "Will \0it \ud800rain?" } as const;
  await put("a", settled, { receivedAt: SAMPLE_AT + 5, lastPrice: 0.97 });
  await put("a", settled, { receivedAt: SAMPLE_AT + 900, lastPrice: 0.97 });
  const [event, ...more] = await told();
  assert.deepEqual([more, state.announced], [[], 1]);
  assert.deepEqual(event, {
    ...{ id: 1, type: "market_resolved", occurredAt: SAMPLE_AT + 5, venue: "alpha", marketId: "a" },
    payload: {
      ...{ platform: "alpha", market_id: "a", title: "Will it \ufffdrain?", outcome: "yes" },
      ...{ settlement_value: 1, last_price: 0.97, model_probability: null },
    },
  });
});

eachDatabase("every kind of outcome says what a contract pays, and unknown is null", async (database) => {
  const { store, told } = bench(database);
  const outcomes = [
    YES,
    NO,
    { kind: "partial", value: 0.25 },
    { kind: "void", value: 0.5 },
    { kind: "void", value: null },
  ];
  const as = (status: MarketListing["status"]) =>
    outcomes.map((outcome, number) =>
      sampleMarket(`${number}`, {
        listing: { status, outcome: status === "finalized" ? (outcome as MarketListing["outcome"]) : null },
        quote: { lastPrice: null },
      }),
    );
  await store.upsertMarkets(as("active"));
  await store.upsertMarkets(as("finalized"));
  assert.deepEqual(
    (await told()).map(({ payload }) => [payload.outcome, payload.settlement_value, payload.last_price]),
    [
      ["yes", 1, null],
      ["no", 0, null],
      ["partial", 0.25, null],
      ["void", 0.5, null],
      ["void", null, null],
    ],
  );
});

eachDatabase("a market met already settled, and one whose result is only proposed, is no news", async (database) => {
  const { put, outcomes } = bench(database);
  await put("old", { status: "finalized", outcome: YES });
  await put("old", { status: "finalized", outcome: YES, title: "Changed" });
  await put("old-without-outcome", { status: "finalized", outcome: null });
  await put("old-without-outcome", { status: "finalized", outcome: NO });
  await put("proposed");
  await put("proposed", { status: "determined", outcome: YES });
  assert.deepEqual(await outcomes(), []);
});

eachDatabase("an outcome that comes after the settlement is told when it comes", async (database) => {
  const { put, outcomes } = bench(database);
  await put("a");
  await put("a", { status: "finalized", outcome: null });
  assert.deepEqual(await outcomes(), []);
  // Each at a time of its own: told again, it would be another event to the log.
  for (const [number, outcome] of [NO, null, NO].entries()) {
    await put("a", { status: "finalized", outcome }, { receivedAt: SAMPLE_AT + number });
  }
  assert.deepEqual(await outcomes(), ["a no"]);
});

eachDatabase("a settlement that is undone and comes again is told when it differs", async (database) => {
  const { put, outcomes } = bench(database);
  const steps = [YES, null, YES, null, NO, YES];
  for (const [number, outcome] of [null, ...steps].entries()) {
    await put("a", { status: outcome === null ? "active" : "finalized", outcome }, { receivedAt: SAMPLE_AT + number });
  }
  assert.deepEqual(await outcomes(), ["a yes", "a no", "a yes"]);
});

eachDatabase(
  "wherever the write breaks off, the settlement and its event are kept together or not at all",
  async (database) => {
    const { state, put, outcomes } = bench(database);
    const isStored = async () => (await database.query("select 1 from markets where status = 'finalized'")).length > 0;
    await put("a");
    for (let failAt = 1; ; failAt++) {
      Object.assign(state, { failAt, statements: 0 });
      const failure = await put("a", { status: "finalized", outcome: YES }).then(
        () => null,
        (error: unknown) => error,
      );
      if (failure === null) break;
      assert.deepEqual([await isStored(), await outcomes(), state.announced], [false, [], 0]);
    }
    assert.equal(state.failAt, 4);
    assert.deepEqual([await isStored(), await outcomes(), state.announced], [true, ["a yes"], 1]);
  },
);

eachDatabase("two processes that see the same settlement at once tell it once", async (database) => {
  const here = bench(database);
  const there = bench(database);
  const ids = Array.from({ length: 20 }, (_, number) => `m${number}`);
  for (const id of ids) await here.put(id);
  await Promise.all(
    ids.flatMap((id) => [here, there].map(({ put }) => put(id, { status: "finalized", outcome: YES }))),
  );
  assert.deepEqual((await here.outcomes()).sort(), ids.map((id) => `${id} yes`).sort());
});

eachDatabase("an id too long for any path is counted, not told, and its batch is stored", async (database) => {
  const { state, store, outcomes } = bench(database);
  const long = "x".repeat(513);
  const both = (listing: Partial<MarketListing>) => [long, "b"].map((id) => sampleMarket(id, { listing }));
  await store.upsertMarkets(both({ title: "t".repeat(100_000) }));
  await store.upsertMarkets(both({ title: "t".repeat(100_000), status: "finalized", outcome: NO }));
  assert.deepEqual([await outcomes(), state.drops], [["b no"], ["market_id_too_long_for_an_event"]]);
  assert.equal((await database.query("select 1 from markets where status = 'finalized'")).length, 2);
});
