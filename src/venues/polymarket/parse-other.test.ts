import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { parseBook, parseHistory } from "./parse-book.ts";
import { parseResolution } from "./parse-resolution.ts";
import { parseStreamTrade, parseTape } from "./parse-trades.ts";
import { timeOf } from "./parse-values.ts";
import { countDrops, fixture } from "./test-fixtures.ts";
import {
  detectPolymarketDrift,
  isBook,
  isHistoryReply,
  isResolution,
  isResolutionsReply,
  isTradesPageV2,
} from "./wire.ts";

const detectors = detectPolymarketDrift(() => {});

const RECEIVED_AT = Date.UTC(2026, 10, 21);

function readBook(name: string) {
  const row = fixture(name);
  assert.ok(isBook(row));
  const { drops, drop } = countDrops();
  return { book: parseBook(row, RECEIVED_AT, drop), drops };
}

/** The tokens of the fixtures' market. */
const TOKENS = (() => {
  const [book, mirror] = fixture("stream/book-both-tokens") as { asset_id: string }[];
  assert.ok(book !== undefined && mirror !== undefined);
  return { tokenYes: book.asset_id, tokenNo: mirror.asset_id };
})();

describe("polymarket: books", () => {
  test("the best level comes last on the wire and first here, the time is milliseconds in a string", () => {
    const { book, drops } = readBook("book/two-sided");
    assert.deepEqual(book, {
      bids: [
        { price: 0.43, size: 120.5 },
        { price: 0.41, size: 500 },
      ],
      asks: [
        { price: 0.44, size: 75 },
        { price: 0.47, size: 300 },
      ],
      lastPrice: 0.43,
      eventAt: 1795229999123,
      receivedAt: RECEIVED_AT,
    });
    assert.deepEqual(drops, {});
  });

  test("empty and missing sides are an empty book, an empty last price is unknown", () => {
    const { book, drops } = readBook("book/empty");
    assert.deepEqual([book.bids, book.asks, book.lastPrice], [[], [], null]);
    assert.deepEqual(drops, {});
  });

  test("a crossed book is emptied and counted", () => {
    const { book, drops } = readBook("book/crossed");
    assert.deepEqual([book.bids, book.asks], [[], []]);
    assert.deepEqual(drops, { crossed_book: 1 });
  });

  test("levels nobody can trade at are dropped and counted, the good ones stay", () => {
    const { book, drops } = readBook("book/garbage-levels");
    assert.deepEqual(book.bids, [{ price: 0.41, size: 500 }]);
    assert.deepEqual(book.asks, [{ price: 0.44, size: 75 }]);
    assert.deepEqual([book.lastPrice, book.eventAt], [null, null]);
    assert.deepEqual(drops, { price_out_of_range: 4, bad_row: 3 });
  });
});

test("polymarket: history points are seconds on the wire and end their interval; final 1 and garbage are dropped", () => {
  const reply = fixture("history/prices");
  assert.ok(isHistoryReply(reply));
  const { drops, drop } = countDrops();
  const points = parseHistory(reply.history, 3_600_000, { drop, detectors });
  assert.deepEqual(
    points.map((point) => [point.startAt, point.endAt, point.yesPrice]),
    [
      [1795216800000, 1795220400000, 0.41],
      [1795220400000, 1795224000000, 0.425],
      [1795227600000, 1795231200000, 0.44],
    ],
  );
  assert.ok(points.every((point) => point.bid === null && point.ask === null && point.volumeUsd === null));
  assert.deepEqual(drops, { price_out_of_range: 1, bad_row: 1 });
});

describe("polymarket: trades", () => {
  const readTape = (name: string) => {
    const page = fixture(name);
    const { drops, drop } = countDrops();
    const rows = isTradesPageV2(page) ? page.data : page;
    assert.ok(Array.isArray(rows));
    return { trades: parseTape(rows, TOKENS, { drop, detectors }), drops };
  };

  test("NO trades are told from the YES side, selling one side is buying the other", () => {
    const { trades, drops } = readTape("trades/v2");
    assert.deepEqual(
      trades.map(({ yesPrice, size, takerSide, executedAt }) => [yesPrice, size, takerSide, executedAt]),
      [
        [0.43, 25.5, "yes", 1795229990000],
        [0.43, 25.5, "yes", 1795229990000],
        [0.43, 10, "no", 1795229990000],
        [0.43, 25.5, "no", 1795229990000],
        [0.44, 25.5, "yes", 1795229980000],
      ],
    );
    assert.deepEqual(drops, {});
  });

  test("equal rows of one transaction are two trades with ids of their own, the same ones on every read", () => {
    const ids = readTape("trades/v2").trades.map((trade) => trade.tradeId);
    assert.equal(new Set(ids).size, 5);
    assert.deepEqual(
      readTape("trades/v2").trades.map((trade) => trade.tradeId),
      ids,
    );
  });

  test("the older tape gives the same trade the same id, and nothing of its trader is kept", () => {
    const [old] = readTape("trades/v1").trades;
    const [fresh] = readTape("trades/v2").trades;
    assert.deepEqual(old, fresh);
    assert.deepEqual(Object.keys(old ?? {}).sort(), ["executedAt", "size", "takerSide", "tradeId", "yesPrice"]);
  });

  test("garbage rows are dropped and counted", () => {
    const { trades, drops } = readTape("trades/v2-garbage");
    assert.equal(trades.length, 1);
    assert.deepEqual(drops, { price_out_of_range: 2, bad_trade: 1, foreign_token: 1, bad_row: 4 });
  });

  test("a streamed trade gets the id that the tape gives it, though the tape has whole seconds only", () => {
    const { drop } = countDrops();
    const message = fixture("stream/last-trade-no-token");
    const streamed = parseStreamTrade(message, TOKENS, drop);
    const row = {
      side: "BUY",
      token_id: TOKENS.tokenNo,
      size: 12.5,
      price: 0.57,
      timestamp: 1795229999,
      transaction_hash: "0xab05",
    };
    const [taped] = parseTape([row], TOKENS, { drop, detectors });
    assert.equal(streamed?.tradeId, taped?.tradeId);
    assert.deepEqual([streamed?.yesPrice, streamed?.takerSide, streamed?.executedAt], [0.43, "no", 1795229999700]);
  });
});

test("polymarket: payouts, proposals and disputes become outcomes; 69 means unset, contested means none", () => {
  const reply = fixture("resolution/all-states");
  assert.ok(isResolutionsReply(reply));
  const { drops, drop } = countDrops();
  const facts = reply.data.map((row) => {
    assert.ok(isResolution(row));
    return parseResolution(row, drop);
  });
  assert.deepEqual(
    facts.map(({ state, outcome }) => [state, outcome]),
    [
      ["settled", { kind: "yes" }],
      ["settled", { kind: "no" }],
      ["settled", { kind: "partial", value: 0.5 }],
      ["settled", { kind: "partial", value: 0.3 }],
      ["proposed", { kind: "yes" }],
      ["proposed", null],
      ["contested", null],
      ["proposed", { kind: "yes" }],
      ["proposed", { kind: "yes" }],
      ["open", null],
      ["settled", null],
      ["contested", null],
    ],
  );
  assert.equal(facts[0]?.resolvedAt, 1795229990000);
  assert.deepEqual(drops, { bad_payouts: 1 });
});

test("polymarket: times come with T and Z, with a space and a short offset, as a date, or not at all", () => {
  assert.equal(timeOf("2026-11-20T15:00:00Z"), Date.UTC(2026, 10, 20, 15));
  assert.equal(timeOf("2026-11-20 15:00:00+00"), Date.UTC(2026, 10, 20, 15));
  assert.equal(timeOf("2026-11-20 15:00:00-05"), Date.UTC(2026, 10, 20, 20));
  assert.equal(timeOf("2026-11-20 15:00:00"), Date.UTC(2026, 10, 20, 15));
  assert.equal(timeOf("2026-11-20"), Date.UTC(2026, 10, 20));
  for (const nothing of ["", null, undefined, "soon", "0001-01-01T00:00:00Z", 5]) assert.equal(timeOf(nothing), null);
});
