import assert from "node:assert/strict";
import { afterEach } from "node:test";
import { eachDatabase } from "../../test/support/databases.ts";
import { FakeClock } from "../../test/support/fake-clock.ts";
import { interruptible } from "../../test/support/interruptible-database.ts";
import { SAMPLE_AT, type SampleParts, sampleEvent, sampleMarket } from "../../test/support/markets/market-samples.ts";
import { quietLog } from "../../test/support/quiet-log.ts";
import { type BoardMarket, MarketBoard } from "../board/index.ts";
import type { Trade } from "../domain/trade.ts";
import type { Database } from "../ports/database.ts";
import { createMarketStore, createTickWriter } from "../storage/index.ts";
import { StoreWriter } from "./store-writer.ts";

const trade = (tradeId: string, executedAt = SAMPLE_AT): Trade => ({
  tradeId,
  executedAt,
  yesPrice: 0.5,
  size: 3,
  takerSide: "yes",
});

const openWriters: StoreWriter[] = [];
afterEach(async () => {
  for (const writer of openWriters.splice(0)) await writer.close();
});

/** Creates a writer on a real store that fails unless `state.isUp`. `state.before` runs before each statement. */
function createTestWriter(realDatabase: Database) {
  const interrupted = interruptible(realDatabase);
  const { database } = interrupted;
  const state = Object.assign(interrupted.state, { isFirstSweep: false });
  const clock = new FakeClock(SAMPLE_AT);
  const board = new MarketBoard(() => clock.now());
  const ticks = createTickWriter({ database, clock, log: quietLog });
  const store = createMarketStore(database);
  const isFirstSweep = () => state.isFirstSweep;
  const writer = new StoreWriter({ board, store, ticks, clock, log: quietLog, isFirstSweep });
  openWriters.push(writer);
  const change = (id: string, parts: SampleParts = {}): BoardMarket => {
    const boardChange = board.apply(
      sampleMarket(id, { ...parts, quote: { receivedAt: clock.now(), ...parts.quote } }),
      clock.now(),
    );
    writer.queueChange(boardChange);
    return boardChange.market;
  };
  const titles = async () => {
    const rows = await realDatabase.query<{ title: string; status: string }>(
      "select title, status from markets order by key",
    );
    return rows.map(({ title, status }) => `${title} (${status})`);
  };
  const count = async (table: string) =>
    Number((await realDatabase.query<{ n: number }>(`select count(*) as n from ${table}`))[0]?.n);
  const statuses = async () => {
    const rows = await realDatabase.query<{ from_status: string; to_status: string; outcome: unknown }>(
      "select from_status, to_status, outcome from status_changes order by changed_at, to_status",
    );
    return rows.map(({ from_status, to_status, outcome }) => [from_status, to_status, outcome]);
  };
  return { state, clock, board, ticks, writer, change, titles, count, statuses };
}

eachDatabase("the next flush sets the store key of a new market and queues its first tick", async (database) => {
  const { board, writer, ticks, change, count } = createTestWriter(database);
  change("a");
  assert.equal(board.find("alpha", "a")?.storeKey, null);
  await writer.flush();
  const key = board.find("alpha", "a")?.storeKey;
  assert.ok(Number.isInteger(key));
  await ticks.flush();
  const rows = await database.query<{ market_key: number; bid: number; ask: number; last: number }>(
    "select * from ticks",
  );
  assert.deepEqual(
    rows.map(({ market_key, bid, ask, last }) => [market_key, bid, ask, last]),
    [[key, 400_000, 420_000, 410_000]],
  );
  await writer.close();
  assert.equal(await count("ticks"), 1);
});

eachDatabase("each change of a quote writes one tick, and an unchanged quote writes none", async (database) => {
  const { clock, writer, change, count } = createTestWriter(database);
  change("a");
  await writer.flush();
  for (const bid of [0.41, 0.41, 0.4]) {
    clock.jumpWallClock(1_000);
    change("a", { quote: { bid } });
  }
  await writer.close();
  assert.equal(await count("ticks"), 3);
});

eachDatabase("changes during a flush are written by the next flush", async (database) => {
  const { state, writer, change, titles } = createTestWriter(database);
  change("a");
  await writer.flush();
  change("a", { listing: { title: "first" } });
  let statements = 0;
  state.before = () => {
    statements += 1;
    if (statements !== 1) return;
    change("a", { listing: { title: "second", status: "closed" } });
    change("b", { listing: { title: "third" } });
  };
  await writer.flush();
  await writer.flush();
  assert.deepEqual(await titles(), ["second (closed)", "third (active)"]);
});

eachDatabase(
  "if the store is unavailable for a while, the writer loses no row and writes no row twice",
  async (database) => {
    const { state, clock, writer, change, titles, count, statuses } = createTestWriter(database);
    const market = change("a");
    await writer.flush();
    state.isUp = false;
    writer.queueEvent(sampleEvent("E"));
    change("b");
    writer.queueTrades(market, [trade("t1"), trade("t2")]);
    clock.jumpWallClock(1_000);
    change("a", { listing: { status: "closed" } });
    for (let flushes = 0; flushes < 3; flushes++) await writer.flush();
    assert.equal(await count("markets"), 1);
    assert.ok(writer.counters.markets.queued > 0 && writer.counters.trades.queued === 2);

    state.isUp = true;
    await writer.flush();
    await writer.flush();
    assert.deepEqual(await titles(), ["Question a (closed)", "Question b (active)"]);
    assert.deepEqual([await count("events"), await count("trades"), writer.counters.trades.queued], [1, 2, 0]);
    assert.deepEqual(await statuses(), [["active", "closed", null]]);
  },
);

eachDatabase(
  "if a flush fails halfway, the next flush writes the remaining rows and no row twice",
  async (database) => {
    const { state, clock, writer, change, count, statuses } = createTestWriter(database);
    const market = change("a");
    await writer.flush();
    for (const status of ["closed", "determined", "finalized"] as const) {
      clock.jumpWallClock(1_000);
      change("a", { listing: { status, ...(status === "finalized" ? { outcome: { kind: "yes" } } : {}) } });
    }
    writer.queueTrades(market, [trade("t1")]);
    for (let allowed = 0; allowed < 8; allowed++) {
      let statements = 0;
      state.before = () => {
        state.isUp = statements < allowed;
        statements += 1;
      };
      await writer.flush();
    }
    assert.deepEqual(await statuses(), [
      ["active", "closed", null],
      ["closed", "determined", null],
      ["determined", "finalized", { kind: "yes" }],
    ]);
    assert.equal(await count("trades"), 1);
  },
);

eachDatabase("a trade that is queued twice is stored once, even if a flush runs between", async (database) => {
  const { writer, change, count } = createTestWriter(database);
  const market = change("a");
  writer.queueTrades(market, [trade("t1"), trade("t1"), trade("t2")]);
  await writer.flush();
  writer.queueTrades(market, [trade("t1")]);
  await writer.flush();
  assert.equal(await count("trades"), 2);
});

eachDatabase(
  "if a market is added during a flush, its trades and status changes are written once it has a store key",
  async (database) => {
    const { state, writer, change, count, statuses } = createTestWriter(database);
    change("a");
    await writer.flush();
    change("b");
    state.before = () => {
      state.before = () => {};
      writer.queueTrades(change("late"), [trade("t1")]);
      change("late", { listing: { status: "closed" } });
    };
    await writer.flush();
    assert.equal(await count("trades"), 0);
    await writer.flush();
    assert.deepEqual([await count("trades"), await statuses()], [1, [["active", "closed", null]]]);
  },
);

eachDatabase("a market that cannot be stored does not block others, and its trades are dropped", async (database) => {
  const { writer, change, titles } = createTestWriter(database);
  writer.queueTrades(change("a\0b"), [trade("t1")]);
  change("c");
  await writer.flush();
  assert.deepEqual([await titles(), writer.counters.trades.queued], [["Question c (active)"], 0]);
});

eachDatabase("simultaneous flushes all resolve after the market has its store key", async (database) => {
  const { board, writer, change } = createTestWriter(database);
  change("a");
  const keys = await Promise.all(
    Array.from({ length: 3 }, () => writer.flush().then(() => board.find("alpha", "a")?.storeKey)),
  );
  assert.ok(
    keys.every((key) => Number.isInteger(key)),
    String(keys),
  );
});

eachDatabase("a price change is written to the market's row every 30 seconds and on close", async (database) => {
  const { clock, writer, change } = createTestWriter(database);
  const storedBid = async () => {
    const [row] = await database.query<{ snapshot: string }>("select snapshot from markets");
    return JSON.parse(row?.snapshot ?? "{}").quote.bid;
  };
  change("a");
  await writer.flush();
  clock.jumpWallClock(15_000);
  change("a", { quote: { bid: 0.41 } });
  await writer.flush();
  assert.equal(await storedBid(), 0.4);
  clock.jumpWallClock(15_000);
  await writer.flush();
  assert.equal(await storedBid(), 0.41);
  change("a", { quote: { bid: 0.39 } });
  await writer.close();
  assert.equal(await storedBid(), 0.39);
});

eachDatabase("the queue of trades is bounded; further trades are counted as dropped", async (database) => {
  const { state, writer, change } = createTestWriter(database);
  const market = change("a");
  state.isUp = false;
  writer.queueTrades(
    market,
    Array.from({ length: 50_010 }, (_, number) => trade(`t${number}`)),
  );
  await writer.flush();
  assert.deepEqual([writer.counters.trades.queued, writer.counters.trades.dropped], [50_000, 10]);
});

eachDatabase("trades that arrive while a write of a full queue fails are counted as dropped", async (database) => {
  const { state, writer, change } = createTestWriter(database);
  const market = change("a");
  await writer.flush();
  const queue = (from: number, count: number) =>
    writer.queueTrades(
      market,
      Array.from({ length: count }, (_, number) => trade(`t${from + number}`)),
    );
  queue(0, 50_000);
  state.before = () => {
    state.before = () => {};
    state.isUp = false;
    queue(50_000, 7);
  };
  await writer.flush();
  assert.deepEqual([writer.counters.trades.queued, writer.counters.trades.dropped], [50_000, 7]);
});

eachDatabase("the queue of status changes is bounded, also while a write of a full queue fails", async (database) => {
  const { state, writer, change } = createTestWriter(database);
  change("a");
  await writer.flush();
  let isOpen = true;
  const changeStatus = (count: number) => {
    for (let index = 0; index < count; index++) {
      isOpen = !isOpen;
      change("a", { listing: { status: isOpen ? "active" : "closed" } });
    }
  };
  changeStatus(50_003);
  assert.equal(writer.counters.statusChanges.dropped, 3);
  for (const dropped of [8, 13]) {
    let statements = 0;
    state.isUp = true;
    state.before = () => {
      statements += 1;
      // The first statement writes the market, the second one a status change.
      if (statements !== 2) return;
      state.isUp = false;
      changeStatus(5);
    };
    await writer.flush();
    assert.equal(writer.counters.statusChanges.dropped, dropped);
  }
});

eachDatabase(
  "a first sweep is stored in small batches, a requested market immediately, and all other markets after the sweep",
  async (database) => {
    const { state, clock, board, writer, change, count } = createTestWriter(database);
    state.isFirstSweep = true;
    for (let index = 0; index < 1_000; index++) change(`m${index}`);
    writer.start();
    const timedFlush = async () => {
      await clock.advance(1_000);
      // `flushMarket` resolves after the flush that the clock started.
      await writer.flushMarket(change("m0"));
    };
    await timedFlush();
    const first = await count("markets");
    assert.ok(first > 0 && first < 500, `${first} rows`);
    const last = board.find("alpha", "m999");
    assert.ok(last !== null && last.storeKey === null);
    await writer.flushMarket(last);
    assert.ok(Number.isInteger(board.find("alpha", "m999")?.storeKey));
    assert.equal(await count("markets"), first + 1);
    state.isFirstSweep = false;
    await timedFlush();
    assert.equal(await count("markets"), 1_000);
  },
);

eachDatabase("many price changes are written to the markets' rows over several flushes", async (database) => {
  const { state, clock, writer, change, count } = createTestWriter(database);
  for (let index = 0; index < 250; index++) change(`m${index}`);
  await writer.flush();
  state.isFirstSweep = true;
  const reprice = (index: number) => change(`m${index}`, { quote: { bid: 0.41 } });
  for (let index = 0; index < 250; index++) reprice(index);
  const countWritten = () => count("markets where snapshot like '%\"bid\":0.41%'");
  const written: number[] = [];
  writer.start();
  clock.jumpWallClock(30_000);
  for (let flushes = 0; flushes < 3; flushes++) {
    await clock.advance(1_000);
    // Resolves after the flush that the clock started.
    await writer.flushMarket(reprice(0));
    written.push(await countWritten());
  }
  assert.deepEqual(written, [200, 250, 250]);
});

eachDatabase("a new market is written once, including its price", async (database) => {
  const { state, clock, writer, change } = createTestWriter(database);
  await writer.flush();
  clock.jumpWallClock(60_000);
  let writes = 0;
  change("a");
  change("a", { quote: { bid: 0.41 } });
  state.before = () => {
    writes += 1;
  };
  await writer.flush();
  assert.equal(writes, 1);
});
