import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import {
  SAMPLE_AT,
  type SampleParts,
  sampleEvent,
  sampleMarket,
} from "../../../../test/support/markets/market-samples.ts";
import { MarketBoard } from "../../../board/index.ts";
import type { MatchableMarket } from "../../../matching/index.ts";
import { BoardChanges } from "./board-changes.ts";

function createBoard() {
  const board = new MarketBoard(() => SAMPLE_AT);
  let wakes = 0;
  const changes = new BoardChanges(board, () => {
    wakes += 1;
  });
  board.observe(changes);
  const put = (marketId: string, parts: SampleParts = {}) =>
    board.apply(sampleMarket(marketId, parts), SAMPLE_AT).market;
  return { board, changes, put, countWakes: () => wakes };
}

/** Takes all changes and returns the ids of the sent and the removed markets. */
function drain(changes: BoardChanges) {
  const ids = { sent: [] as string[], removed: [] as string[], newRules: [] as string[], newUrls: [] as string[] };
  while (changes.pendingCount > 0) {
    const batch = changes.take();
    ids.sent.push(...batch.markets.map(({ id }) => id));
    ids.removed.push(...batch.removed);
    ids.newRules.push(...batch.newRules);
    ids.newUrls.push(...batch.newUrls);
  }
  return ids;
}

const NOTHING = { sent: [], removed: [], newRules: [], newUrls: [] };

test("an active market is sent once with its text, its times and the title of its event", () => {
  const { board, changes, put } = createBoard();
  board.applyEvent(sampleEvent("E1", { title: "Rain in May?", category: "Weather" }));
  put("m1", {
    listing: {
      eventId: "E1",
      outcomeLabel: "Over 1 inch",
      closeAt: 5,
      rules: "Long rules",
      venueKeys: { slug: "rain" },
    },
  });
  assert.deepEqual(changes.take().markets, [
    {
      id: "alpha/m1",
      venue: "alpha",
      title: "Question m1",
      outcomeLabel: "Over 1 inch",
      eventSlug: "alpha:e1",
      eventTitle: "Rain in May?",
      category: "Weather",
      openAt: null,
      closeAt: 5,
      expectedResolutionAt: null,
      slug: "rain",
      mirroredSlug: undefined,
    },
  ]);
  assert.deepEqual(drain(changes), NOTHING);
});

test("a change of the quote, the volume or another field that matching does not read is not sent", () => {
  const { changes, put, countWakes } = createBoard();
  put("m1");
  drain(changes);
  const wakesBefore = countWakes();
  put("m1", { quote: { bid: 0.2, lastPrice: 0.3 }, activity: { volume24hUsd: 7 } });
  assert.equal(countWakes(), wakesBefore, "a quote change does not wake the matcher");
  put("m1", { listing: { takerDelayMs: 500, paused: true } });
  assert.deepEqual(drain(changes), NOTHING);
});

test("each field that matching reads is sent when it changes", () => {
  const { changes, put } = createBoard();
  put("m1");
  drain(changes);
  const fields = {
    title: "Other",
    outcomeLabel: "Yes",
    eventId: "E",
    category: "Sports",
    openAt: 1,
    closeAt: 2,
    expectedResolutionAt: 3,
    venueKeys: { mirroredSlug: "copied" },
  };
  for (const [name, value] of Object.entries(fields)) {
    put("m1", { listing: { [name]: value } });
    assert.deepEqual(drain(changes).sent, ["alpha/m1"], name);
    put("m1");
    drain(changes);
  }
});

test("a new title or category of an event sends its markets again, another change of the event does not", () => {
  const { board, changes, put } = createBoard();
  board.applyEvent(sampleEvent("E1"));
  put("m1", { listing: { eventId: "E1" } });
  put("m2", { listing: { eventId: "E1" } });
  put("m3");
  drain(changes);
  board.applyEvent(sampleEvent("E1", { endAt: 9 }));
  assert.deepEqual(drain(changes), NOTHING);
  for (const parts of [{ title: "New title" }, { title: "New title", category: "Sports" }]) {
    board.applyEvent(sampleEvent("E1", parts));
    assert.deepEqual(drain(changes).sent, ["alpha/m1", "alpha/m2"]);
  }
});

test("a market that is closed, settled or removed is reported as removed, and is sent again when it reopens", () => {
  for (const status of ["pending", "closed", "determined", "finalized"] as const) {
    const { changes, put } = createBoard();
    put("m1");
    drain(changes);
    put("m1", { listing: { status } });
    assert.deepEqual(drain(changes), { ...NOTHING, removed: ["alpha/m1"] }, status);
    put("m1");
    assert.deepEqual(drain(changes).sent, ["alpha/m1"]);
  }
  const { board, changes, put } = createBoard();
  const market = put("m1");
  drain(changes);
  board.remove(market);
  assert.deepEqual(drain(changes), { ...NOTHING, removed: ["alpha/m1"] });
});

test("changed rules and URLs of a market are reported", () => {
  const { changes, put } = createBoard();
  put("m1", { listing: { rules: "Old", url: "https://a.example" } });
  drain(changes);
  put("m1", { listing: { rules: "New", url: "https://b.example" } });
  assert.deepEqual(drain(changes), { ...NOTHING, newRules: ["alpha/m1"], newUrls: ["alpha/m1"] });
});

test("a batch has at most 250 markets and 250 removals; a batch with 250 removals contains no market", () => {
  const { board, changes, put } = createBoard();
  const markets = Array.from({ length: 600 }, (_, index) => put(`m${index}`));
  assert.deepEqual(
    [1, 2, 3].map(() => changes.take().markets.length),
    [250, 250, 100],
  );
  for (const market of markets) board.remove(market);
  put("new");
  const batches = [1, 2, 3].map(() => changes.take());
  assert.deepEqual(
    batches.map(({ removed, markets: sent }) => [removed.length, sent.length]),
    [
      [250, 0],
      [250, 0],
      [100, 1],
    ],
  );
});

test("a batch compares at most 1,000 rows, also if most markets of a large board are closed", () => {
  const { changes, put } = createBoard();
  for (let index = 0; index < 2_500; index++) put(`m${index}`, { listing: { status: "finalized" } });
  changes.take();
  assert.equal(changes.pendingCount, 1_500);
});

const step = fc.oneof(
  fc.record({
    kind: fc.constant("put" as const),
    market: fc.integer({ min: 0, max: 5 }),
    title: fc.constantFrom("A", "B"),
    status: fc.constantFrom("active" as const, "active" as const, "closed" as const),
    eventId: fc.constantFrom(null, "E1", "E2"),
  }),
  fc.record({ kind: fc.constant("remove" as const), market: fc.integer({ min: 0, max: 5 }) }),
  fc.record({
    kind: fc.constant("event" as const),
    title: fc.constantFrom("X", "Y"),
    eventId: fc.constantFrom("E1", "E2"),
  }),
  fc.constant({ kind: "take" as const }),
  fc.constant({ kind: "reset" as const }),
);

test("after any sequence of changes and batches, the receiver has exactly the active markets with their current text", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60, size: "max" }), (steps) => {
      const { board, changes, put } = createBoard();
      const received = new Map<string, MatchableMarket>();
      const takeOne = () => {
        const { removed, markets } = changes.take();
        for (const id of removed) received.delete(id);
        for (const market of markets) received.set(market.id, market);
      };
      for (const item of steps) {
        if (item.kind === "put") {
          const { title, status, eventId } = item;
          put(`m${item.market}`, { listing: { title, status, eventId } });
        } else if (item.kind === "remove") {
          const market = board.find("alpha", `m${item.market}`);
          if (market !== null) board.remove(market);
        } else if (item.kind === "event") board.applyEvent(sampleEvent(item.eventId, { title: item.title }));
        else if (item.kind === "take") takeOne();
        else {
          changes.reset();
          received.clear();
        }
      }
      while (changes.pendingCount > 0) takeOne();
      const expected = [...board.markets()]
        .filter(({ listing }) => listing.status === "active")
        .map(({ listing: { marketId, title, eventId } }) => [
          `alpha/${marketId}`,
          title,
          eventId === null ? null : (board.findEvent(`alpha:${eventId.toLowerCase()}`)?.listing.title ?? null),
        ]);
      const actual = [...received.values()].map(({ id, title, eventTitle }) => [id, title, eventTitle]);
      assert.deepEqual(actual.sort(), expected.sort());
    }),
    { numRuns: 500 },
  );
});
