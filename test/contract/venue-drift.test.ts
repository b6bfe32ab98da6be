/**
 * Wire drift through the real adapters over the sandbox's real protocols: its wire is as documented, and whatever one
 * field of it turns into is noticed under its name, costs no page and never becomes a price that is not one.
 */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import fc from "fast-check";
import type { ListingPage } from "../../src/ports/venue.ts";
import {
  harnessWorld,
  openVenueHarness,
  VENUE_NAMES,
  type VenueHarness,
  type VenueName,
} from "../support/venues/venue-harness.ts";

const signal = new AbortController().signal;

interface Wire {
  /** Where a listing's rows are, and the kind of object that they are. */
  readonly isListing: (body: Record<string, unknown> | unknown[]) => boolean;
  readonly rowsOf: (body: unknown) => Record<string, unknown>[];
  readonly kind: string;
  readonly needed: readonly string[];
  /** Fields with a closed vocabulary. */
  readonly words: readonly string[];
  readonly prices: readonly string[];
}

type Body = Readonly<Record<string, unknown>>;
const rowsUnder = (field: string) => (body: unknown) =>
  (body as Record<string, Record<string, unknown>[]>)[field] ?? [];

const WIRES: Readonly<Record<VenueName, Wire>> = {
  kalshi: {
    isListing: (body) => "markets" in body,
    rowsOf: rowsUnder("markets"),
    kind: "market",
    needed: [
      "ticker",
      "event_ticker",
      "status",
      "yes_bid_dollars",
      "yes_ask_dollars",
      "last_price_dollars",
      "close_time",
    ],
    words: ["status", "result", "market_type"],
    prices: ["yes_bid_dollars", "yes_ask_dollars", "last_price_dollars"],
  },
  polymarket: {
    isListing: (body) => "events" in body,
    rowsOf: (body) => rowsUnder("events")(body).flatMap((event) => (event.markets ?? []) as Record<string, unknown>[]),
    kind: "market",
    needed: ["id", "question", "active", "closed"],
    words: ["umaResolutionStatus"],
    prices: ["bestBid", "bestAsk", "lastTradePrice"],
  },
  limitless: {
    isListing: (body) => "data" in body && "totalMarketsCount" in body,
    rowsOf: rowsUnder("data"),
    kind: "market",
    needed: ["slug", "title", "status", "expirationTimestamp", "createdAt"],
    words: ["status", "tradeType", "marketType"],
    prices: [],
  },
  manifold: {
    isListing: (body) => Array.isArray(body) && "outcomeType" in ((body[0] ?? {}) as Body),
    rowsOf: (body) => body as Record<string, unknown>[],
    kind: "contract",
    needed: ["id", "question", "outcomeType", "isResolved", "createdTime"],
    words: ["outcomeType"],
    prices: ["probability"],
  },
};

/** What every field may turn into. */
const anyValue = fc.oneof(
  fc.constantFrom<unknown>(0, 1, -1, 1.7, 47, "1.7", "0", "NaN", "", null, true, [], {}, "0.5", 1e300, "LIMBO"),
  fc.jsonValue({ maxDepth: 2 }),
);

for (const name of VENUE_NAMES) {
  describe(name, () => {
    const wire = WIRES[name];
    let bench: VenueHarness;

    before(async () => {
      // Few of the world's questions stand on the play-money venue.
      bench = await openVenueHarness(name, harnessWorld(7, name === "manifold" ? 900 : 120));
    });
    after(() => bench.close());

    /** One sweep in which the first row of each listing is another. */
    const sweep = async (change: ((row: Record<string, unknown>) => void) | null) => {
      bench.drift.clear();
      bench.drops.clear();
      bench.rewrite =
        change === null
          ? null
          : (text) => {
              const body = JSON.parse(text);
              const [row, ...others] = wire.isListing(body) ? wire.rowsOf(body) : [];
              if (row !== undefined && others.length > 0) change(row);
              return JSON.stringify(body);
            };
      const pages: ListingPage[] = [];
      for await (const page of bench.adapter().listOpenMarkets(signal)) pages.push(page);
      return pages.flatMap((page) => page.markets);
    };

    const assertPrices = (markets: Awaited<ReturnType<typeof sweep>>) => {
      for (const { quote } of markets) {
        for (const price of [quote.bid, quote.ask, quote.lastPrice, quote.indicativePrice]) {
          assert.ok(price === null || (price > 0 && price < 1), String(price));
        }
        assert.ok(quote.bid === null || quote.ask === null || quote.bid < quote.ask);
      }
    };

    test("the wire as documented has no drift: sweep, single markets, books, trades and history", async () => {
      const markets = await sweep(null);
      assert.ok(markets.length > 20);
      const adapter = bench.adapter();
      const some = markets.slice(0, 8).map(({ listing }) => listing);
      await adapter.getMarkets(some, signal);
      const range = { fromMs: bench.now() - 6 * 3_600_000, toMs: bench.now(), intervalMs: 3_600_000 };
      for (const listing of some) {
        await adapter.getBook(listing, signal);
        await adapter.listTrades(listing, range.fromMs, 100, signal);
        await adapter.getHistory(listing, range, signal);
      }
      assert.deepEqual([...bench.drift], []);
    });

    for (const field of wire.needed) {
      test(`${field}: without it the field is told as missing and the rest of the page stands`, async () => {
        const whole = (await sweep(null)).length;
        const markets = await sweep((row) => {
          delete row[field];
        });
        assert.ok(bench.drift.has(`${wire.kind}.${field} missing`), [...bench.drift.keys()].join());
        assert.ok(markets.length > whole / 2);
        assertPrices(markets);
      });
    }

    for (const field of wire.words) {
      test(`${field}: a word of tomorrow is told and nothing is lost but, at most, its row`, async () => {
        const whole = (await sweep(null)).length;
        const markets = await sweep((row) => {
          row[field] = "word_of_tomorrow";
        });
        assert.ok(bench.drift.has(`${wire.kind}.${field} unknown_value`), [...bench.drift.keys()].join());
        assert.ok(markets.length > whole / 2);
        assertPrices(markets);
      });
    }

    for (const field of wire.prices) {
      test(`${field}: without it the price is unavailable, not 0, and one in cents is told`, async () => {
        assertPrices(
          await sweep((row) => {
            delete row[field];
          }),
        );
        assertPrices(
          await sweep((row) => {
            row[field] = 47;
          }),
        );
        assert.ok(bench.drift.has(`${wire.kind}.${field} unknown_value`), [...bench.drift.keys()].join());
      });
    }

    test("a field that nobody has documented is told as new", async () => {
      const markets = await sweep((row) => {
        row.shiny_thing = "yes";
      });
      assert.ok(bench.drift.has(`${wire.kind}.shiny_thing new`));
      assert.deepEqual([...bench.drift.keys()], [`${wire.kind}.shiny_thing new`]);
      assert.ok(markets.length > 20);
    });

    test("whatever any field of a row turns into, the sweep ends with the other rows and no price leaves (0, 1)", async () => {
      const whole = (await sweep(null)).length;
      await fc.assert(
        fc.asyncProperty(fc.nat(), anyValue, async (pick, value) => {
          const markets = await sweep((row) => {
            const fields = Object.keys(row);
            row[fields[pick % fields.length] ?? "title"] = value;
          });
          assert.ok(markets.length > whole / 2);
          assertPrices(markets);
        }),
        { numRuns: 40 },
      );
    });
  });
}
