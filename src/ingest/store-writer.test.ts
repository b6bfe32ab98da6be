import assert from "node:assert/strict";
import { eachDatabase } from "../../test/support/databases.ts";
import { FakeClock } from "../../test/support/fake-clock.ts";
import { SAMPLE_AT, type SampleParts, sampleEvent, sampleMarket } from "../../test/support/market-samples.ts";
import { quietLog } from "../../test/support/quiet-log.ts";
import { type BoardMarket, MarketBoard } from "../board/index.ts";
import { AppError } from "../domain/errors.ts";
import type { Trade } from "../domain/trade.ts";
import type { Database, Transaction } from "../ports/database.ts";
import { createMarketStore, createTickWriter } from "../storage/index.ts";
import { StoreWriter } from "./store-writer.ts";

const trade = (tradeId: string, executedAt = SAMPLE_AT): Trade => ({
  ...{ tradeId, executedAt, yesPrice: 0.5, size: 3, takerSide: "yes" },
});

/** A recorder over a real store behind a switch; `before` runs before each statement. */
function bench(real: Database) {
  const state = { isUp: true, isFirstSweep: false, before: () => {} };
  const gone = () => Promise.reject(new AppError("store_unavailable", "gone"));
  const switched = ({ query }: Transaction): Transaction["query"] =>
    function queryWhenUp<Row extends Record<string, unknown>>(text: string, parameters?: readonly unknown[]) {
      state.before();
      return state.isUp ? query<Row>(text, parameters) : gone();
    };
  const database: Database = {
    query: switched(real),
    transaction: (run) => real.transaction((transaction) => run({ query: switched(transaction) })),
    close: async () => {},
  };
  const clock = new FakeClock(SAMPLE_AT);
  const board = new MarketBoard(() => clock.now());
  const ticks = createTickWriter({ database, clock, log: quietLog });
  const isFirstSweep = () => state.isFirstSweep;
  const recorder = new StoreWriter({
    board,
    store: createMarketStore(database),
    ticks,
    clock,
    log: quietLog,
    isFirstSweep,
  });
  const tell = (id: string, parts: SampleParts = {}): BoardMarket => {
    const change = board.apply(
      sampleMarket(id, { ...parts, quote: { receivedAt: clock.now(), ...parts.quote } }),
      clock.now(),
    );
    recorder.note(change);
    return change.market;
  };
  const titles = async () => {
    const rows = await real.query<{ title: string; status: string }>("select title, status from markets order by key");
    return rows.map(({ title, status }) => `${title} (${status})`);
  };
  const count = async (table: string) =>
    Number((await real.query<{ n: number }>(`select count(*) as n from ${table}`))[0]?.n);
  const statuses = async () => {
    const rows = await real.query<{ from_status: string; to_status: string; outcome: unknown }>(
      "select from_status, to_status, outcome from status_changes order by changed_at, to_status",
    );
    return rows.map(({ from_status, to_status, outcome }) => [from_status, to_status, outcome]);
  };
  return { state, clock, board, ticks, recorder, tell, titles, count, statuses };
}

eachDatabase("a market met gets its key with the next flush, and then its first tick", async (database) => {
  const { board, recorder, ticks, tell, count } = bench(database);
  tell("a");
  assert.equal(board.find("alpha", "a")?.storeKey, null);
  await recorder.flush();
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
  await recorder.close();
  assert.equal(await count("ticks"), 1);
});

eachDatabase("every change of a quote is a tick, no change is none", async (database) => {
  const { clock, recorder, tell, count } = bench(database);
  tell("a");
  await recorder.flush();
  for (const bid of [0.41, 0.41, 0.4]) {
    clock.jumpWallClock(1_000);
    tell("a", { quote: { bid } });
  }
  await recorder.close();
  assert.equal(await count("ticks"), 3);
});

eachDatabase("what changes while the store writes is written after, not forgotten", async (database) => {
  const { state, recorder, tell, titles } = bench(database);
  tell("a");
  await recorder.flush();
  tell("a", { listing: { title: "first" } });
  let turn = 0;
  state.before = () => {
    turn += 1;
    if (turn !== 1) return;
    tell("a", { listing: { title: "second", status: "closed" } });
    tell("b", { listing: { title: "newcomer" } });
  };
  await recorder.flush();
  await recorder.flush();
  assert.deepEqual(await titles(), ["second (closed)", "newcomer (active)"]);
  await recorder.close();
});

eachDatabase("nothing is lost while the store is away, and nothing is written twice after", async (database) => {
  const { state, clock, recorder, tell, titles, count, statuses } = bench(database);
  const market = tell("a");
  await recorder.flush();
  state.isUp = false;
  recorder.queueEvent(sampleEvent("E"));
  tell("b");
  recorder.queueTrades(market, [trade("t1"), trade("t2")]);
  clock.jumpWallClock(1_000);
  tell("a", { listing: { status: "closed" } });
  for (let turn = 0; turn < 3; turn++) await recorder.flush();
  assert.equal(await count("markets"), 1);
  assert.ok(recorder.counters.marketsQueued > 0 && recorder.counters.tradesQueued === 2);

  state.isUp = true;
  await recorder.flush();
  await recorder.flush();
  assert.deepEqual(await titles(), ["Question a (closed)", "Question b (active)"]);
  assert.deepEqual([await count("events"), await count("trades"), recorder.counters.tradesQueued], [1, 2, 0]);
  assert.deepEqual(await statuses(), [["active", "closed", null]]);
  await recorder.close();
});

eachDatabase(
  "a store that fails in the middle of a flush gets the rest with the next, and nothing twice",
  async (database) => {
    const { state, clock, recorder, tell, count, statuses } = bench(database);
    const market = tell("a");
    await recorder.flush();
    for (const status of ["closed", "determined", "finalized"] as const) {
      clock.jumpWallClock(1_000);
      tell("a", { listing: { status, ...(status === "finalized" ? { outcome: { kind: "yes" } } : {}) } });
    }
    recorder.queueTrades(market, [trade("t1")]);
    for (let allowed = 0; allowed < 8; allowed++) {
      let done = 0;
      state.before = () => {
        state.isUp = done < allowed;
        done += 1;
      };
      await recorder.flush();
    }
    assert.deepEqual(await statuses(), [
      ["active", "closed", null],
      ["closed", "determined", null],
      ["determined", "finalized", { kind: "yes" }],
    ]);
    assert.equal(await count("trades"), 1);
    await recorder.close();
  },
);

eachDatabase("a trade told twice is stored once, and so is one told again after a flush", async (database) => {
  const { recorder, tell, count } = bench(database);
  const market = tell("a");
  recorder.queueTrades(market, [trade("t1"), trade("t1"), trade("t2")]);
  await recorder.flush();
  recorder.queueTrades(market, [trade("t1")]);
  await recorder.flush();
  assert.equal(await count("trades"), 2);
  await recorder.close();
});

eachDatabase("a trade and a change of status of a market met during a flush wait for its key", async (database) => {
  const { state, recorder, tell, count, statuses } = bench(database);
  tell("a");
  await recorder.flush();
  tell("b");
  state.before = () => {
    state.before = () => {};
    recorder.queueTrades(tell("late"), [trade("t1")]);
    tell("late", { listing: { status: "closed" } });
  };
  await recorder.flush();
  assert.equal(await count("trades"), 0);
  await recorder.flush();
  assert.deepEqual([await count("trades"), await statuses()], [1, [["active", "closed", null]]]);
  await recorder.close();
});

eachDatabase("a market that cannot be stored holds up nobody, and its trades are dropped", async (database) => {
  const { recorder, tell, titles } = bench(database);
  recorder.queueTrades(tell("a\0b"), [trade("t1")]);
  tell("c");
  await recorder.flush();
  assert.deepEqual([await titles(), recorder.counters.tradesQueued], [["Question c (active)"], 0]);
  await recorder.close();
});

eachDatabase("calls that need a market's key at once all find it when their flush ends", async (database) => {
  const { board, recorder, tell } = bench(database);
  tell("a");
  const keys = await Promise.all(
    Array.from({ length: 3 }, () => recorder.flush().then(() => board.find("alpha", "a")?.storeKey)),
  );
  assert.ok(
    keys.every((key) => Number.isInteger(key)),
    String(keys),
  );
  await recorder.close();
});

eachDatabase(
  "a change of price alone is written to the market's row every ten seconds, and at the end",
  async (database) => {
    const { clock, recorder, tell } = bench(database);
    const storedBid = async () => {
      const [row] = await database.query<{ snapshot: string }>("select snapshot from markets");
      return JSON.parse(row?.snapshot ?? "{}").quote.bid;
    };
    tell("a");
    await recorder.flush();
    clock.jumpWallClock(5_000);
    tell("a", { quote: { bid: 0.41 } });
    await recorder.flush();
    assert.equal(await storedBid(), 0.4);
    clock.jumpWallClock(5_000);
    await recorder.flush();
    assert.equal(await storedBid(), 0.41);
    tell("a", { quote: { bid: 0.39 } });
    await recorder.close();
    assert.equal(await storedBid(), 0.39);
  },
);

eachDatabase("the queue of trades has a bound; what comes after is counted as dropped", async (database) => {
  const { state, recorder, tell } = bench(database);
  const market = tell("a");
  state.isUp = false;
  recorder.queueTrades(
    market,
    Array.from({ length: 50_010 }, (_, number) => trade(`t${number}`)),
  );
  await recorder.flush();
  assert.deepEqual([recorder.counters.tradesQueued, recorder.counters.tradesDropped], [50_000, 10]);
  await recorder.close();
});

eachDatabase(
  "a first sweep is stored bit by bit while it lasts, whoever is asked for at once, and whole after it",
  async (database) => {
    const { state, clock, board, recorder, tell, count } = bench(database);
    state.isFirstSweep = true;
    for (let index = 0; index < 1_000; index++) tell(`m${index}`);
    recorder.start();
    const turn = async () => {
      await clock.advance(1_000);
      // Joins the queue behind the turn that the clock began.
      await recorder.flushMarket(tell("m0"));
    };
    await turn();
    const first = await count("markets");
    assert.ok(first > 0 && first < 500, `${first} rows`);
    const last = board.find("alpha", "m999");
    assert.ok(last !== null && last.storeKey === null);
    await recorder.flushMarket(last);
    assert.ok(Number.isInteger(board.find("alpha", "m999")?.storeKey));
    assert.equal(await count("markets"), first + 1);
    state.isFirstSweep = false;
    await turn();
    assert.equal(await count("markets"), 1_000);
    await recorder.close();
  },
);

eachDatabase("a market just met is written once, not again for its price", async (database) => {
  const { state, clock, recorder, tell } = bench(database);
  await recorder.flush();
  clock.jumpWallClock(60_000);
  let writes = 0;
  tell("a");
  tell("a", { quote: { bid: 0.41 } });
  state.before = () => {
    writes += 1;
  };
  await recorder.flush();
  assert.equal(writes, 1);
  await recorder.close();
});
