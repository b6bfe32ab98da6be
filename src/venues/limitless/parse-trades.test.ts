import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { parseFeed, parseTape } from "./parse-trades.ts";
import { detectLimitlessDrift } from "./wire.ts";

const NO_TOKEN = "64119876543210987654321098765432109876543210987654321098765432109876543210";

function fixture(name: string): unknown {
  return JSON.parse(readFileSync(new URL(`./fixtures/${name}.json`, import.meta.url), "utf8"));
}

const watch = detectLimitlessDrift(() => {});

function tape(name: string) {
  const dropped: Record<string, number> = {};
  const drop = (reason: string, count = 1) => {
    dropped[reason] = (dropped[reason] ?? 0) + count;
  };
  const { events } = fixture(name) as { events: unknown[] };
  return { ...parseTape(events, NO_TOKEN, { drop, watch }), dropped };
}

test("trades of the NO token are told from the YES side: price mirrored, side flipped, sizes in contracts", () => {
  const { trades } = tape("events-both-tokens");
  assert.deepEqual(
    trades.map(({ yesPrice, size, takerSide }) => [yesPrice, size, takerSide]),
    [
      [0.431, 12, "yes"],
      [0.431, 12, "no"],
      [0.43, 12, "no"],
      [0.43, 12, "yes"],
    ],
  );
});

test("equal rows are two trades with ids of their own, and reading the page again gives the same ids", () => {
  const ids = tape("events-equal-rows").trades.map((trade) => trade.tradeId);
  assert.equal(new Set(ids).size, 3);
  assert.deepEqual(
    tape("events-equal-rows").trades.map((trade) => trade.tradeId),
    ids,
  );
});

test("nothing personal of a trader is kept", () => {
  assert.ok(!JSON.stringify(tape("events-both-tokens").trades).includes("someone"));
});

test("garbage rows and events that are no trades are dropped one by one and counted", () => {
  const { trades, rowCount, dropped } = tape("events-garbage-rows");
  assert.equal(trades.length, 1);
  assert.equal(rowCount, 6);
  assert.deepEqual(dropped, { bad_trade_row: 5, price_out_of_range: 1 });
});

test("the feed of an AMM gives price as dollars per contract from the YES side", () => {
  const dropped: string[] = [];
  const { trades } = parseFeed(fixture("feed-events-amm"), { drop: (reason) => dropped.push(reason), watch });
  assert.deepEqual(
    trades.map(({ yesPrice, size, takerSide }) => [yesPrice, size, takerSide]),
    [
      [0.215, 10, "yes"],
      [0.215, 4, "yes"],
    ],
  );
  assert.deepEqual(dropped, ["bad_trade_row"]);
});

test("a feed wrapped in an object reads the same as a bare list, anything else is counted", () => {
  const rows = fixture("feed-events-amm");
  const ignore = { drop: () => {}, watch };
  assert.deepEqual(parseFeed({ data: rows }, ignore), parseFeed(rows, ignore));
  assert.deepEqual(parseFeed({ events: rows }, ignore), parseFeed(rows, ignore));
  const dropped: string[] = [];
  assert.deepEqual(parseFeed("nothing", { drop: (reason) => dropped.push(reason), watch }), {
    trades: [],
    rowCount: 0,
  });
  assert.deepEqual(dropped, ["bad_feed"]);
});
