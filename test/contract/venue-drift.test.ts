/**
 * Tests the schema drift detection of the adapters: the documented responses of the sandbox have no drift. A changed
 * field is reported by name, causes at most the drop of its row and never leads to an invalid price.
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

interface ListingFormat {
  readonly isListing: (body: Record<string, unknown> | unknown[]) => boolean;
  readonly rowsOf: (body: unknown) => Record<string, unknown>[];
  /** Name of a row in drift reports. */
  readonly objectName: string;
  readonly requiredFields: readonly string[];
  /** Fields with a fixed set of values. */
  readonly enumFields: readonly string[];
  readonly priceFields: readonly string[];
}

type Body = Readonly<Record<string, unknown>>;
const rowsUnder = (field: string) => (body: unknown) =>
  (body as Record<string, Record<string, unknown>[]>)[field] ?? [];

const FORMATS: Readonly<Record<VenueName, ListingFormat>> = {
  kalshi: {
    isListing: (body) => "markets" in body,
    rowsOf: rowsUnder("markets"),
    objectName: "market",
    requiredFields: [
      "ticker",
      "event_ticker",
      "status",
      "yes_bid_dollars",
      "yes_ask_dollars",
      "last_price_dollars",
      "close_time",
    ],
    enumFields: ["status", "result", "market_type"],
    priceFields: ["yes_bid_dollars", "yes_ask_dollars", "last_price_dollars"],
  },
  polymarket: {
    isListing: (body) => "events" in body,
    rowsOf: (body) => rowsUnder("events")(body).flatMap((event) => (event.markets ?? []) as Record<string, unknown>[]),
    objectName: "market",
    requiredFields: ["id", "question", "active", "closed"],
    enumFields: ["umaResolutionStatus"],
    priceFields: ["bestBid", "bestAsk", "lastTradePrice"],
  },
  limitless: {
    isListing: (body) => "data" in body && "totalMarketsCount" in body,
    rowsOf: rowsUnder("data"),
    objectName: "market",
    requiredFields: ["slug", "title", "status", "expirationTimestamp", "createdAt"],
    enumFields: ["status", "tradeType", "marketType"],
    priceFields: [],
  },
  manifold: {
    isListing: (body) => Array.isArray(body) && "outcomeType" in ((body[0] ?? {}) as Body),
    rowsOf: (body) => body as Record<string, unknown>[],
    objectName: "contract",
    requiredFields: ["id", "question", "outcomeType", "isResolved", "createdTime"],
    enumFields: ["outcomeType"],
    priceFields: ["probability"],
  },
};

/** Replacement value for a field. */
const arbitraryValue = fc.oneof(
  fc.constantFrom<unknown>(0, 1, -1, 1.7, 47, "1.7", "0", "NaN", "", null, true, [], {}, "0.5", 1e300, "LIMBO"),
  fc.jsonValue({ maxDepth: 2 }),
);

for (const name of VENUE_NAMES) {
  describe(name, () => {
    const format = FORMATS[name];
    let harness: VenueHarness;

    before(async () => {
      // Manifold lists only a small share of the world's markets.
      harness = await openVenueHarness(name, harnessWorld(7, name === "manifold" ? 900 : 120));
    });
    after(() => harness.close());

    /** Runs a sweep in which `change` is applied to the first row of each listing page, and returns the markets. */
    const sweep = async (change: ((row: Record<string, unknown>) => void) | null) => {
      harness.drift.clear();
      harness.drops.clear();
      harness.rewrite =
        change === null
          ? null
          : (text) => {
              const body = JSON.parse(text);
              const [row, ...otherRows] = format.isListing(body) ? format.rowsOf(body) : [];
              if (row !== undefined && otherRows.length > 0) change(row);
              return JSON.stringify(body);
            };
      const pages: ListingPage[] = [];
      for await (const page of harness.adapter().listOpenMarkets(signal)) pages.push(page);
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

    test("a sweep, single markets, books, trades and history have no drift", async () => {
      const markets = await sweep(null);
      assert.ok(markets.length > 10, String(markets.length));
      const adapter = harness.adapter();
      const listings = markets.slice(0, 8).map(({ listing }) => listing);
      await adapter.getMarkets(listings, signal);
      const range = { fromMs: harness.now() - 6 * 3_600_000, toMs: harness.now(), intervalMs: 3_600_000 };
      for (const listing of listings) {
        await adapter.getBook(listing, signal);
        await adapter.listTrades(listing, range.fromMs, 100, signal);
        await adapter.getHistory(listing, range, signal);
      }
      assert.deepEqual([...harness.drift], []);
    });

    for (const field of format.requiredFields) {
      test(`${field}: if the required field is missing, the drift is reported and the other rows are listed`, async () => {
        const unchangedCount = (await sweep(null)).length;
        const markets = await sweep((row) => {
          delete row[field];
        });
        assert.ok(harness.drift.has(`${format.objectName}.${field} missing`), [...harness.drift.keys()].join());
        assert.ok(markets.length > unchangedCount / 2);
        assertPrices(markets);
      });
    }

    for (const field of format.enumFields) {
      test(`${field}: an unknown value is reported, and at most the row with this value is dropped`, async () => {
        const unchangedCount = (await sweep(null)).length;
        const markets = await sweep((row) => {
          row[field] = "future_value";
        });
        assert.ok(harness.drift.has(`${format.objectName}.${field} unknown_value`), [...harness.drift.keys()].join());
        assert.ok(markets.length > unchangedCount / 2);
        assertPrices(markets);
      });
    }

    for (const field of format.priceFields) {
      test(`${field}: all prices are in (0, 1) if the field is missing or in cents, and a price in cents is reported`, async () => {
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
        assert.ok(harness.drift.has(`${format.objectName}.${field} unknown_value`), [...harness.drift.keys()].join());
      });
    }

    test("an undocumented field is reported as `new`", async () => {
      const markets = await sweep((row) => {
        row.undocumented_field = "yes";
      });
      assert.ok(harness.drift.has(`${format.objectName}.undocumented_field new`));
      assert.deepEqual([...harness.drift.keys()], [`${format.objectName}.undocumented_field new`]);
      assert.ok(markets.length > 10, String(markets.length));
    });

    test("if a field has an arbitrary value, the other rows are listed and all prices are in (0, 1)", async () => {
      const unchangedCount = (await sweep(null)).length;
      await fc.assert(
        fc.asyncProperty(fc.nat(), arbitraryValue, async (fieldIndex, value) => {
          const markets = await sweep((row) => {
            const fields = Object.keys(row);
            row[fields[fieldIndex % fields.length] ?? "title"] = value;
          });
          assert.ok(markets.length > unchangedCount / 2);
          assertPrices(markets);
        }),
        { numRuns: 40 },
      );
    });
  });
}
