import assert from "node:assert/strict";
import { DAY_MS, HOUR_MS } from "../../src/lib/durations.ts";
import type { Database } from "../../src/ports/database.ts";
import type { Fact } from "../../src/recording/index.ts";
import { FROM } from "../../test/support/backtest/sample-facts.ts";
import { fillStore, type Hindsight, RESULT_AT } from "../../test/support/backtest/sample-store.ts";
import { eachDatabase } from "../../test/support/databases.ts";
import { Replay } from "./replay.ts";
import { readStoredFacts } from "./store-source.ts";

const PERIOD = { from: FROM, to: FROM + 2 * DAY_MS, everyMs: 6 * HOUR_MS };

async function readFacts(database: Database, period = PERIOD): Promise<Fact[]> {
  const facts: Fact[] = [];
  await readStoredFacts(database, period, (fact) => {
    facts.push(fact);
    return true;
  });
  return facts;
}

async function signalsOf(database: Database) {
  const replay = new Replay({ ...PERIOD, marketsMax: 10, assumedSize: 5_000 });
  await readStoredFacts(database, PERIOD, (fact) => replay.apply(fact));
  return replay.finish();
}

eachDatabase("yields listings, bars, ticks and results as facts in time order", async (database) => {
  await fillStore(database);
  const facts = await readFacts(database);
  const ofA = facts.filter((fact) => fact.kind !== "event" && "marketId" in fact && fact.marketId === "A");
  assert.deepEqual(
    ofA.map(({ kind, at }) => [kind, at - FROM]),
    [
      ["activity", -2 * HOUR_MS],
      ["quote", -2 * HOUR_MS],
      ["quote", -HOUR_MS / 2],
    ],
  );
  const listings = facts.flatMap((fact) => (fact.kind === "market" ? [fact] : []));
  assert.deepEqual(
    listings.map(({ at, market }) => [market.marketId, at - FROM, market.status, market.outcome?.kind ?? null]),
    [
      ["A", -2 * HOUR_MS, "active", null],
      ["B", -2 * HOUR_MS, "active", null],
      ["A", DAY_MS / 2, "finalized", "no"],
    ],
  );
  assert.ok(facts.every(({ at }, index) => at >= (facts[index - 1]?.at ?? 0)));
  assert.deepEqual(
    ofA.flatMap((fact) => (fact.kind === "quote" ? [[fact.quote.bid, fact.quote.ask, fact.quote.lastPrice]] : [])),
    [
      [null, null, 0.5],
      [0.6, 0.61, null],
    ],
  );
});

eachDatabase(
  "a tick takes effect when it arrives, and a bar does not replace a tick of the last day",
  async (database) => {
    await fillStore(database);
    const insertBar = (hoursAfter: number) =>
      database.query(
        `insert into bars_1h (market_key, start_at, yes_close, source)
       select key, to_timestamp($1::float8 / 1000), 700000, 'ticks' from markets where market_id = 'B'`,
        [FROM + (hoursAfter - 1) * HOUR_MS],
      );
    await insertBar(1);
    await insertBar(30);
    await database.query(
      `insert into ticks (market_key, event_at, received_at, bid, ask)
     select key, to_timestamp($1::float8 / 1000), to_timestamp($2::float8 / 1000), 300000, 310000
     from markets where market_id = 'A'`,
      [FROM - 60_000, FROM + 60_000],
    );
    const quotes = (await readFacts(database)).flatMap((fact) =>
      fact.kind === "quote" && fact.at > FROM
        ? [[fact.marketId, fact.at - FROM, fact.quote.bid, fact.quote.lastPrice]]
        : [],
    );
    assert.deepEqual(quotes, [
      ["A", 60_000, 0.3, null],
      ["B", 30 * HOUR_MS, null, 0.7],
    ]);
  },
);

const HINDSIGHTS: readonly (readonly [string, Hindsight])[] = [
  ["another outcome", { outcome: { kind: "yes" } }],
  [
    "an early close and result",
    { listing: { closeAt: FROM + 1, expectedResolutionAt: FROM + 1, resolvedAt: FROM + 1 } },
  ],
  ["a pause", { listing: { paused: true } }],
  ["the last quote", { quote: { bid: 0.98, ask: 0.99, bidSize: 1, askSize: 1, lastPrice: 0.99 } }],
  ["a later tick", { tick: { at: FROM + HOUR_MS, bid: 0.9, ask: 0.91 } }],
];

for (const [name, hindsight] of HINDSIGHTS)
  eachDatabase(`a signal does not depend on later data of the store: ${name}`, async (database) => {
    await fillStore(database, hindsight);
    const { trades } = await signalsOf(database);
    const early = trades.filter(({ at }) => at === FROM);
    assert.deepEqual(
      early.map(({ marketId, side, price }) => [marketId, side, price]),
      [
        ["A", "no", 0.4],
        ["B", "no", 0.4],
      ],
    );
  });

eachDatabase("a market without status changes is settled at the venue's resolution time", async (database) => {
  await fillStore(database);
  await database.query("delete from status_changes");
  const { settlements } = await signalsOf(database);
  assert.deepEqual(
    settlements.map(({ marketId, at, value }) => [marketId, at, value]),
    [["A", RESULT_AT, 0]],
  );
});
