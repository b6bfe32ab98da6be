import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { createTestFolder } from "../../test/support/test-folder.ts";
import type { ListedMarket, World } from "../world/types.ts";
import { loadRecordedWorld } from "./index.ts";

const STARTED_AT = Date.UTC(2026, 6, 7);
const GENESIS = Date.UTC(2026, 10, 21);
const header = {
  format: "parallax-recording",
  version: 1,
  started_at: new Date(STARTED_AT).toISOString(),
  source: "a test",
};
const marketFact = { venue: "kalshi", kind: "market", market_id: "E-A", event_id: "E", title: "A", status: "active" };
const factOf = (kind: string) => ({ venue: "kalshi", kind, market_id: "E-A" });

async function loadWorld(lines: readonly object[], options = { speed: 1, pastShare: 1 }): Promise<World> {
  const file = join(await createTestFolder(), "r.jsonl");
  await writeFile(file, [header, ...lines].map((line) => `${JSON.stringify(line)}\n`).join(""));
  return loadRecordedWorld({ file, genesis: GENESIS, ...options });
}

function getOnlyMarket(world: World): ListedMarket {
  const [onlyMarket, ...others] = world.markets("kalshi", GENESIS);
  assert.ok(onlyMarket !== undefined && others.length === 0);
  return onlyMarket;
}

test("replays facts before the pivot at recorded speed and facts after it at the configured speed", async () => {
  const quotes = [0, 1, 2].map((number) => ({
    ...factOf("quote"),
    at: STARTED_AT + number * 50_000,
    bid: 0.1 + number / 10,
  }));
  const world = await loadWorld([{ ...marketFact, at: STARTED_AT }, ...quotes], { speed: 10, pastShare: 0.5 });
  const onlyMarket = getOnlyMarket(world);
  const bids = [-50_001, -50_000, -1, 0, 4_999, 5_000].map((ms) => world.book(onlyMarket, GENESIS + ms).bids[0]?.price);
  assert.deepEqual(bids, [undefined, 0.1, 0.1, 0.2, 0.2, 0.30000000000000004]);
  assert.equal(world.nextChangeAt(onlyMarket, GENESIS), GENESIS + 5_000);
  assert.equal(world.nextChangeAt(onlyMarket, GENESIS + 5_000), Number.POSITIVE_INFINITY);
});

test("replays the largest of several versions of a trade", async () => {
  const fact = { ...factOf("trade"), at: STARTED_AT + 2, executed_at: STARTED_AT + 1, yes_price: 0.5 };
  const world = await loadWorld([
    { ...marketFact, at: STARTED_AT },
    { ...fact, trade_id: "a", size: 3 },
    { ...fact, trade_id: "b", size: 8 },
    { ...fact, trade_id: "a", size: 7, yes_price: 0.6 },
    { ...fact, trade_id: "a", size: 5 },
  ]);
  const trades = world.trades(getOnlyMarket(world), 0, GENESIS);
  assert.deepEqual(
    trades.map(({ yesPrice, size }) => [yesPrice, size]),
    [
      [0.6, 7],
      [0.5, 8],
    ],
  );
});

test("a newer quote replaces the best levels of the last book, retains worse levels and marks an unknown size", async () => {
  const book = {
    ...factOf("book"),
    at: STARTED_AT + 1,
    bids: [
      [0.5, 7],
      [0.4, 8],
    ],
    asks: [
      [0.6, 9],
      [0.7, 3],
    ],
  };
  const quote = { ...factOf("quote"), at: STARTED_AT + 2, bid: 0.45, ask: 0.6 };
  const world = await loadWorld([
    { ...marketFact, at: STARTED_AT },
    book,
    quote,
    { ...factOf("quote"), at: STARTED_AT + 3 },
  ]);
  const onlyMarket = getOnlyMarket(world);
  const { bids, asks } = world.book(onlyMarket, GENESIS - 1);
  assert.deepEqual(bids, [
    { price: 0.45, size: 1, isSizeUnknown: true },
    { price: 0.4, size: 8 },
  ]);
  assert.deepEqual(asks, [
    { price: 0.6, size: 9 },
    { price: 0.7, size: 3 },
  ]);
  assert.deepEqual([world.book(onlyMarket, GENESIS).bids, world.book(onlyMarket, GENESIS).asks], [[], []]);
  assert.equal(world.activity(onlyMarket, GENESIS).volumeUsd, null);
});

test("a Kalshi market's volume and open interest in contracts are twice the recorded dollars, even at a price of 0.97", async () => {
  const quote = { ...factOf("quote"), at: STARTED_AT + 1, bid: 0.96, ask: 0.98 };
  const amounts = { volume_24h_usd: 15, volume_total_usd: 500, open_interest_usd: 7.5 };
  const world = await loadWorld([
    { ...marketFact, at: STARTED_AT },
    quote,
    { ...factOf("activity"), at: STARTED_AT + 2, ...amounts },
  ]);
  const { volume24hContracts, volumeContracts, openInterestContracts } = world.activity(getOnlyMarket(world), GENESIS);
  assert.deepEqual([volume24hContracts, volumeContracts, openInterestContracts], [30, 1_000, 15]);
});

test("replays status and outcome of a market, including a revoked resolution", async () => {
  const finalizedMarket = { ...marketFact, status: "finalized", outcome: { kind: "yes" } };
  const lines = [
    { ...marketFact, at: STARTED_AT },
    { ...finalizedMarket, at: STARTED_AT + 10 },
    { ...marketFact, at: STARTED_AT + 20 },
    { ...finalizedMarket, at: STARTED_AT + 30 },
  ];
  const world = await loadWorld(lines);
  const onlyMarket = getOnlyMarket(world);
  const phases = [-30, -20, -10, 0].map((ms) => world.lifecycle(onlyMarket, GENESIS + ms).phase);
  assert.deepEqual(phases, ["active", "finalized", "active", "finalized"]);
  assert.deepEqual(world.lifecycle(onlyMarket, GENESIS).outcome, { kind: "yes" });
  assert.equal(onlyMarket.finalizeAt, GENESIS);
});

test("a market is listed from its first line in the recording", async () => {
  const laterMarket = { ...marketFact, market_id: "E-B", at: STARTED_AT + 10 };
  const world = await loadWorld([{ ...marketFact, at: STARTED_AT }, laterMarket]);
  assert.deepEqual(
    [-1, 0].map((ms) => world.markets("kalshi", GENESIS + ms).length),
    [1, 2],
  );
});

test("rejects facts of unknown markets and venues and reports the line number", async () => {
  await assert.rejects(
    loadWorld([{ ...factOf("quote"), at: STARTED_AT }]),
    /line 2: no earlier line describes the market/,
  );
  await assert.rejects(
    loadWorld([{ ...marketFact, venue: "nowhere", at: STARTED_AT }]),
    /line 2: unknown venue "nowhere"/,
  );
  await assert.rejects(loadWorld([]), /contains no market/);
});
