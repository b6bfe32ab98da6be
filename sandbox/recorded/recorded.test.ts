import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import type { ListedMarket, World } from "../world/types.ts";
import { loadRecordedWorld } from "./index.ts";

const AT = Date.UTC(2026, 6, 7);
const GENESIS = Date.UTC(2026, 10, 21);
const header = { format: "parallax-recording", version: 1, started_at: new Date(AT).toISOString(), source: "a test" };
const market = { venue: "kalshi", kind: "market", market_id: "E-A", event_id: "E", title: "A", status: "active" };
const factOf = (kind: string) => ({ venue: "kalshi", kind, market_id: "E-A" });

async function load(lines: readonly object[], options = { speed: 1, pastShare: 1 }): Promise<World> {
  const folder = await mkdtemp(join(tmpdir(), "parallax-recorded-"));
  try {
    const file = join(folder, "r.jsonl");
    await writeFile(file, [header, ...lines].map((line) => `${JSON.stringify(line)}\n`).join(""));
    return await loadRecordedWorld({ file, genesis: GENESIS, ...options });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function onlyMarket(world: World): ListedMarket {
  const [only, ...others] = world.markets("kalshi", GENESIS);
  assert.ok(only !== undefined && others.length === 0);
  return only;
}

test("facts before the pivot keep their recorded pace; later facts are replayed at the configured speed", async () => {
  const quotes = [0, 1, 2].map((number) => ({ ...factOf("quote"), at: AT + number * 50_000, bid: 0.1 + number / 10 }));
  const world = await load([{ ...market, at: AT }, ...quotes], { speed: 10, pastShare: 0.5 });
  const only = onlyMarket(world);
  const bids = [-50_001, -50_000, -1, 0, 4_999, 5_000].map((ms) => world.book(only, GENESIS + ms).bids[0]?.price);
  assert.deepEqual(bids, [undefined, 0.1, 0.1, 0.2, 0.2, 0.30000000000000004]);
  assert.equal(world.nextChangeAt(only, GENESIS), GENESIS + 5_000);
  assert.equal(world.nextChangeAt(only, GENESIS + 5_000), Number.POSITIVE_INFINITY);
});

test("a newer quote replaces the top of the last book, keeps worse levels and marks an unknown size", async () => {
  const book = {
    ...factOf("book"),
    at: AT + 1,
    bids: [
      [0.5, 7],
      [0.4, 8],
    ],
    asks: [
      [0.6, 9],
      [0.7, 3],
    ],
  };
  const quote = { ...factOf("quote"), at: AT + 2, bid: 0.45, ask: 0.6 };
  const world = await load([{ ...market, at: AT }, book, quote, { ...factOf("quote"), at: AT + 3 }]);
  const only = onlyMarket(world);
  const { bids, asks } = world.book(only, GENESIS - 1);
  assert.deepEqual(bids, [
    { price: 0.45, size: 1, isSizeUnknown: true },
    { price: 0.4, size: 8 },
  ]);
  assert.deepEqual(asks, [
    { price: 0.6, size: 9 },
    { price: 0.7, size: 3 },
  ]);
  assert.deepEqual([world.book(only, GENESIS).bids, world.book(only, GENESIS).asks], [[], []]);
  assert.equal(world.activity(only, GENESIS).volumeUsd, null);
});

test("status and outcome follow the recording, including a revoked resolution", async () => {
  const settled = { ...market, status: "finalized", outcome: { kind: "yes" } };
  const lines = [
    { ...market, at: AT },
    { ...settled, at: AT + 10 },
    { ...market, at: AT + 20 },
    { ...settled, at: AT + 30 },
  ];
  const world = await load(lines);
  const only = onlyMarket(world);
  const phases = [-30, -20, -10, 0].map((ms) => world.lifecycle(only, GENESIS + ms).phase);
  assert.deepEqual(phases, ["active", "finalized", "active", "finalized"]);
  assert.deepEqual(world.lifecycle(only, GENESIS).outcome, { kind: "yes" });
  assert.equal(only.finalizeAt, GENESIS);
});

test("a market is listed from its first line in the recording", async () => {
  const other = { ...market, market_id: "E-B", at: AT + 10 };
  const world = await load([{ ...market, at: AT }, other]);
  assert.deepEqual(
    [-1, 0].map((ms) => world.markets("kalshi", GENESIS + ms).length),
    [1, 2],
  );
});

test("rejects facts of unknown markets and venues with the line number", async () => {
  await assert.rejects(load([{ ...factOf("quote"), at: AT }]), /line 2: no earlier line describes the market/);
  await assert.rejects(load([{ ...market, venue: "nowhere", at: AT }]), /line 2: unknown venue "nowhere"/);
  await assert.rejects(load([]), /contains no market/);
});
