/** A store with the markets of `listContradiction`, for tests. */

import {
  EMPTY_QUOTE,
  type EventListing,
  type MarketListing,
  type Outcome,
  type Quote,
} from "../../../src/domain/market.ts";
import { DAY_MS, HOUR_MS } from "../../../src/lib/durations.ts";
import type { Database } from "../../../src/ports/database.ts";
import { createMarketStore } from "../../../src/storage/index.ts";
import { eventFact, FROM, marketFact, VENUE } from "./sample-facts.ts";

/** Changes of the store that a signal at `FROM` must not see, because each became known later. */
export interface Hindsight {
  /** Fields of the stored listing of A. */
  readonly listing?: Partial<MarketListing>;
  readonly quote?: Partial<Quote>;
  readonly outcome?: Outcome;
  /** Further tick of A. */
  readonly tick?: { readonly at: number; readonly bid: number; readonly ask: number };
}

/** When the result of A is stored. */
export const RESULT_AT = FROM + DAY_MS / 2;
const TICK_AT = FROM - HOUR_MS / 2;
const MICROS = 1_000_000;

/** Fills a store: a tick of A and B half an hour before `FROM`, an hourly bar of each before, and the result of A. */
export async function fillStore(database: Database, hindsight: Hindsight = {}): Promise<void> {
  const outcome = hindsight.outcome ?? { kind: "no" };
  const store = createMarketStore(database);
  const event = eventFact(FROM);
  if (event.kind === "event") await store.upsertEvents([{ ...event.event, venue: VENUE } satisfies EventListing]);
  const listingOf = (marketId: string, parts: Partial<MarketListing>): MarketListing => ({
    ...marketFact(FROM, marketId).market,
    venue: VENUE,
    ...parts,
  });
  const settled = { status: "finalized", outcome, resolvedAt: RESULT_AT, closeAt: RESULT_AT } as const;
  const keys = await store.upsertMarkets(
    [listingOf("A", { ...settled, ...hindsight.listing }), listingOf("B", {})].map((listing) => ({
      listing,
      quote: {
        ...EMPTY_QUOTE,
        receivedAt: FROM + 2 * DAY_MS,
        ...hindsight.quote,
      },
      activity: { volume24hUsd: 9, volumeTotalUsd: 9, liquidityUsd: 9, openInterestUsd: 9 },
    })),
  );
  await database.query("create table ticks_all partition of ticks default");
  for (const key of keys) {
    await insertTick(database, key, { at: TICK_AT, bid: 0.6, ask: 0.61 });
    await database.query(
      `insert into bars_1h (market_key, start_at, yes_close, volume_usd, source)
       values ($1::int4, to_timestamp($2::float8 / 1000), 500000, 7, 'ticks')`,
      [key, FROM - 3 * HOUR_MS],
    );
  }
  if (hindsight.tick !== undefined) await insertTick(database, keys[0] ?? null, hindsight.tick);
  await database.query(
    `insert into status_changes (market_key, changed_at, from_status, to_status, outcome)
     values ($1::int4, to_timestamp($2::float8 / 1000), 'active', 'finalized', $3::jsonb)`,
    [keys[0], RESULT_AT, JSON.stringify(outcome)],
  );
}

async function insertTick(
  database: Database,
  key: number | null,
  { at, bid, ask }: { readonly at: number; readonly bid: number; readonly ask: number },
): Promise<void> {
  await database.query(
    `insert into ticks (market_key, event_at, received_at, bid, ask, last, yes_price)
     values ($1::int4, to_timestamp($2::float8 / 1000), to_timestamp($2::float8 / 1000), $3::int4, $4::int4, null, $5::int4)`,
    [key, at, Math.round(bid * MICROS), Math.round(ask * MICROS), Math.round(((bid + ask) / 2) * MICROS)],
  );
}
