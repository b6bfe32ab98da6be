import assert from "node:assert/strict";
import type { MarketListing, Quote } from "../../../src/domain/market.ts";
import type { BookLevel } from "../../../src/domain/order-book.ts";
import type { Clock } from "../../../src/ports/clock.ts";
import type { Database } from "../../../src/ports/database.ts";
import { customerHarness } from "../customers/customer-harness.ts";
import { sampleMarket } from "../markets/market-samples.ts";
import { ScriptedVenue } from "../venues/scripted-venue.ts";

export const OPERATOR = { kind: "operator", id: "test" } as const;
export const VENUE = "venue_a";
const ORDER = { platform: VENUE, market_id: "m-1", side: "yes", size_usd: 30 };
const FEE = { kind: "quadratic", rate: 0.07, exponent: 1, rounding: { feeStep: 0.0001, balanceStep: 0.01 } } as const;
export const BIDS = [{ price: 0.38, size: 100 }];
export const ASKS = [
  { price: 0.4, size: 50 },
  { price: 0.5, size: 80 },
];

/** Starts an app with the market m-1, whose book offers YES at 0.40 and 0.50 and NO at 0.62. */
export async function openPortfolioApi(database: Database) {
  const venues = new Map<string, ScriptedVenue>();
  // The venue is created with the clock of the harness, which exists only after it.
  const clockOfHarness: { current: Clock | null } = { current: null };
  const now: Clock["now"] = () => clockOfHarness.current?.now() ?? 0;
  const create = () => {
    const venue = new ScriptedVenue(VENUE, { now } as Clock);
    venues.set(VENUE, venue);
    return venue;
  };
  const harness = await customerHarness(database, {
    venues: [{ id: VENUE, referenceOnly: false, playMoney: false, create }],
  });
  clockOfHarness.current = harness.clock;
  const venue = venues.get(VENUE);
  assert.ok(venue !== undefined);
  const { app, clock } = harness;
  const setMarket = (marketId: string, listing: Partial<MarketListing> = {}, quote: Partial<Quote> = {}) => {
    const prices = { bid: 0.38, ask: 0.4, lastPrice: null, receivedAt: clock.now(), ...quote };
    const parts = { listing: { venue: VENUE, takerFee: FEE, ...listing }, quote: prices };
    app.board.apply(sampleMarket(marketId, parts), clock.now());
  };
  const setBook = (marketId: string, bids: readonly BookLevel[], asks: readonly BookLevel[]) =>
    venue.books.set(marketId, { bids, asks, lastPrice: null, eventAt: null, receivedAt: 0 });
  setMarket("m-1");
  setBook("m-1", BIDS, ASKS);
  let customers = 0;
  return {
    ...harness,
    venue,
    setMarket,
    setBook,
    /** Creates a customer and returns its id and functions that call the service with its key. */
    async createAgent(plan: "free" | "pro" = "pro") {
      customers += 1;
      const email = `agent.${customers}@example.org`;
      const { customerId, key } = await app.customers.create({ email, name: null, plan }, OPERATOR);
      const post = (url: string, body: object, headers: Readonly<Record<string, string>> = {}) =>
        harness.call("POST", url, { key: key.apiKey, body, headers });
      return {
        customerId,
        apiKey: key.apiKey,
        enter: (fields: object = {}, headers: Readonly<Record<string, string>> = {}) =>
          post("/v1/trades/shadow", { ...ORDER, ...fields }, headers),
        report: (side: "yes" | "no", contracts: number, price: number, fields: object = {}) => {
          const client_ref = `${clock.now()} ${contracts}`;
          const trade = { ...ORDER, side, price, size_usd: contracts * price, client_ref };
          return post("/v1/trades/report", { ...trade, ...fields });
        },
        read: (query = "") => harness.call("GET", `/v1/portfolio${query}`, { key: key.apiKey }),
      };
    },
  };
}

/** The summary of a book without trades. */
export const EMPTY_SUMMARY = {
  total_trades: 0,
  resolved_trades: 0,
  win_rate: null,
  total_pnl: 0,
  roi_pct: null,
  avg_edge: null,
  max_drawdown: 0,
  sharpe_ratio: null,
};
