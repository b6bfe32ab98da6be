/** Reads markets in every way that an adapter offers and compares them with the expected ones. */
import type { EventListing, MarketListing, MarketSnapshot } from "../../../src/domain/market.ts";
import type { ListingPage } from "../../../src/ports/venue.ts";
import { showValue } from "../expectation.ts";
import type { ExpectedMarket } from "../expected/market.ts";
import type { Findings } from "../findings.ts";
import type { AdapterSession } from "./adapter-session.ts";
import { marketFacts } from "./facts.ts";

interface ReadMarket {
  readonly snapshot: MarketSnapshot;
  readonly event: EventListing | null;
}
type ReadMarkets = ReadonlyMap<string, ReadMarket>;

/** Age of the changes that are read. */
const CHANGES_MS = 3_600_000;

const { signal } = new AbortController();

/** @param rowPrefix distinguishes rows of the same market in one recording */
export async function checkMarkets(
  { adapter, clock }: AdapterSession,
  expected: readonly ExpectedMarket[],
  findings: Findings,
  rowPrefix = "",
): Promise<void> {
  const rowOf = (id: string) => `${rowPrefix}market ${id}`;
  for (const { id } of expected) findings.addRow(rowOf(id));
  const listed = await readPages("listOpenMarkets", adapter.listOpenMarkets(signal), findings);
  const changed = await readPages(
    "listChangedMarkets",
    adapter.listChangedMarkets?.(clock.now() - CHANGES_MS, signal),
    findings,
  );
  const singlePages: ListingPage[] = [];
  for (const { id } of expected) {
    const page = await adapter.findMarket(id, signal);
    if (page !== null) singlePages.push(page);
  }
  const single = indexOf(singlePages);
  const keysOf = (id: string): Pick<MarketListing, "marketId" | "venueKeys"> =>
    (listed.get(id) ?? single.get(id))?.snapshot.listing ?? { marketId: id, venueKeys: {} };
  const byId = indexOf([
    await adapter.getMarkets(
      expected.map(({ id }) => keysOf(id)),
      signal,
    ),
  ]);
  const methods: readonly (readonly [string, ReadMarkets])[] = [
    ["listOpenMarkets", listed],
    ["findMarket", single],
    ["getMarkets", byId],
    ["listChangedMarkets", changed],
  ];
  for (const market of expected) {
    for (const [method, markets] of methods) compareMarket(market, method, markets, rowOf(market.id), findings);
    const isAbsent = methods.every(([, markets]) => !markets.has(market.id));
    if (market.leftOut !== null) findings.leaveOut(rowOf(market.id), market.leftOut);
    else if (market.isOptional === true && isAbsent) findings.leaveOut(rowOf(market.id), "not_binary");
    else if (market.isUnpriced) findings.leaveOut(rowOf(market.id), "no_price");
  }
  const expectedIds = new Set(expected.map(({ id }) => id));
  for (const id of listed.keys()) {
    if (!expectedIds.has(id)) findings.differ(rowOf(id), "listOpenMarkets", "no such market", "a market", undefined);
  }
}

async function readPages(
  method: string,
  pages: AsyncIterable<ListingPage> | undefined,
  findings: Findings,
): Promise<ReadMarkets> {
  const read: ListingPage[] = [];
  for await (const page of pages ?? []) {
    read.push(page);
    if (page.incompleteReason === undefined) continue;
    findings.differ("listing", method, "a complete listing", page.incompleteReason, undefined);
  }
  return indexOf(read);
}

function indexOf(pages: readonly ListingPage[]): ReadMarkets {
  const events = new Map(pages.flatMap((page) => page.events).map((event) => [event.eventId, event]));
  return new Map(
    pages
      .flatMap((page) => page.markets)
      .map((snapshot) => [
        snapshot.listing.marketId,
        { snapshot, event: events.get(snapshot.listing.eventId ?? "") ?? null },
      ]),
  );
}

function compareMarket(
  { id, raw, leftOut, isOptional = false, isListed, facts }: ExpectedMarket,
  method: string,
  markets: ReadMarkets,
  row: string,
  findings: Findings,
): void {
  const market = markets.get(id);
  const mayBeAbsent = method === "listChangedMarkets" || (method === "listOpenMarkets" && isListed !== true);
  const isWanted = leftOut === null && !isOptional && !mayBeAbsent;
  if (market === undefined) {
    if (isWanted) findings.differ(row, method, "a market", "none", raw);
    return;
  }
  if (leftOut !== null || (method === "listOpenMarkets" && isListed === false)) {
    findings.differ(
      row,
      method,
      `none (${leftOut ?? "not open"})`,
      `a market, ${showValue(market.snapshot.listing.status)}`,
      raw,
    );
    return;
  }
  findings.compare(row, method, facts, marketFacts(market.snapshot, market.event), raw);
}
