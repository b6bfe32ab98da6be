import assert from "node:assert/strict";
import { test } from "node:test";
import { countDrops } from "../../../test/support/venues/count-drops.ts";
import { fixtureReader } from "../../../test/support/venues/fixtures.ts";
import { parseFeed, parseTrades } from "./parse-trades.ts";
import { createLimitlessDriftDetectors } from "./wire.ts";

const fixture = fixtureReader(import.meta.url);
const NO_TOKEN = "64119876543210987654321098765432109876543210987654321098765432109876543210";

const driftDetectors = createLimitlessDriftDetectors(() => {});

function parsePage(name: string) {
  const { drops, countDrop } = countDrops();
  const { events } = fixture(name) as { events: unknown[] };
  return { ...parseTrades(events, NO_TOKEN, 0, { countDrop, driftDetectors }), drops };
}

test("converts trades of the NO token to YES price and side, and raw sizes to contracts", () => {
  const { trades } = parsePage("trades/both-tokens");
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

test("assigns different ids to equal rows, and the same ids when the page is read again", () => {
  const ids = parsePage("trades/equal-rows").trades.map((trade) => trade.tradeId);
  assert.equal(new Set(ids).size, 3);
  assert.deepEqual(
    parsePage("trades/equal-rows").trades.map((trade) => trade.tradeId),
    ids,
  );
});

test("the only data about a trader in a parsed trade is a hash of the account", () => {
  const { trades } = parsePage("trades/both-tokens");
  assert.doesNotMatch(JSON.stringify(trades), /someone|0xacc/i);
  const [first, second, third, fourth] = trades.map(({ taker }) => taker);
  assert.ok(first !== undefined && first === second && third !== undefined && third !== first);
  assert.equal(fourth, undefined, "a profile without an account");
  const { events } = fixture("trades/both-tokens") as { events: object[] };
  const rows = [undefined, null, "text", []].map((profile) => ({ ...events[0], profile }));
  const { drops, countDrop } = countDrops();
  const unnamed = parseTrades(rows, NO_TOKEN, 0, { countDrop, driftDetectors }).trades;
  assert.deepEqual([unnamed.length, unnamed.map(({ taker }) => taker ?? "none").join()], [4, "none,none,none,none"]);
  assert.deepEqual(drops, {});
});

test("drops and counts invalid rows and events that are not trades", () => {
  const { trades, rowCount, drops } = parsePage("trades/invalid-rows");
  assert.equal(trades.length, 1);
  assert.equal(rowCount, 6);
  assert.deepEqual(drops, { bad_trade_row: 5, price_out_of_range: 1 });
});

test("calculates an AMM trade's YES price as dollars per contract", () => {
  const { drops, countDrop } = countDrops();
  const { trades } = parseFeed(fixture("trades/amm-feed"), 0, { countDrop, driftDetectors });
  assert.deepEqual(
    trades.map(({ yesPrice, size, takerSide }) => [yesPrice, size, takerSide]),
    [
      [0.215, 10, "yes"],
      [0.215, 4, "yes"],
    ],
  );
  assert.deepEqual(drops, { bad_trade_row: 1 });
});

test("accepts a feed as a list or wrapped in an object, and counts any other response", () => {
  const rows = fixture("trades/amm-feed");
  const ignoreDrops = { countDrop: () => {}, driftDetectors };
  assert.deepEqual(parseFeed({ data: rows }, 0, ignoreDrops), parseFeed(rows, 0, ignoreDrops));
  assert.deepEqual(parseFeed({ events: rows }, 0, ignoreDrops), parseFeed(rows, 0, ignoreDrops));
  const { drops, countDrop } = countDrops();
  assert.deepEqual(parseFeed("nothing", 0, { countDrop, driftDetectors }), {
    trades: [],
    rowCount: 0,
    hasOlder: false,
  });
  assert.deepEqual(drops, { bad_feed: 1 });
});

test("does not parse rows before the requested time, and reports them as older", () => {
  const { countDrop, drops } = countDrops();
  const { events } = fixture("trades/both-tokens") as { events: { createdAt: string }[] };
  const times = events.map(({ createdAt }) => Date.parse(createdAt)).sort((a, b) => a - b);
  const sinceMs = times.at(-1) ?? 0;
  const rows = [...events, { createdAt: new Date(sinceMs - 1).toISOString(), price: "invalid" }];
  const { trades, rowCount, hasOlder } = parseTrades(rows, NO_TOKEN, sinceMs, { countDrop, driftDetectors });
  assert.deepEqual([trades.length, rowCount, hasOlder], [times.filter((at) => at === sinceMs).length, 5, true]);
  assert.deepEqual(drops, {});
});
