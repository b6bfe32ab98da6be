import { VenueError } from "../../domain/errors.ts";
import type { EventListing, MarketListing, MarketSnapshot } from "../../domain/market.ts";
import { isObject } from "../../lib/is-object.ts";
import type { ListingPage } from "../../ports/venue.ts";
import { walkPages } from "../shared/page-walk.ts";
import type { CachedContract, ContractType, ManifoldContext, RowsResponse } from "./client.ts";
import { parseMarketId } from "./ids.ts";
import { type ParsedContract, parseContract } from "./parse-market.ts";
import { type AnswerProbabilities, lacksPayouts } from "./parse-outcome.ts";
import { parseTime } from "./parse-values.ts";
import { hasBinaryAnswers, isContract, isProbabilities } from "./wire.ts";

/** Rows per page, the venue's maximum. */
const PAGE_ROWS = 1_000;
/** Maximum number of pages per contract type, which have 200,000 contracts. The venue has some tens of thousands. */
const PAGES_MAX = 200;
/** Rows per page of a read of the changes; a page usually holds the bets of several minutes. */
const CHANGES_PAGE_ROWS = 50;
const CHANGES_PAGES_MAX = 20;
/** Maximum concurrent requests for single contracts. */
const CONTRACT_READERS_MAX = 6;
/** Cached for a listed contract that cannot be read, so that each sweep reads other contracts. */
const UNREADABLE_CONTRACT: CachedContract = { rules: null, category: null, settledAnswerIds: [], sumsToOne: null };
/**
 * Searching by type excludes polls, bounties and similar contracts. Listing rows do not include whether answers are
 * mutually exclusive. The searched type determines it; null for types with both kinds.
 */
const SUMS_TO_ONE_BY_TYPE: Readonly<Record<ContractType, boolean | null>> = {
  BINARY: null,
  DEPENDENT_MULTIPLE_CHOICE: true,
  INDEPENDENT_MULTIPLE_CHOICE: false,
  NUMBER: true,
  MULTI_NUMERIC: null,
  DATE: null,
};
const CONTRACT_TYPES = Object.keys(SUMS_TO_ONE_BY_TYPE) as readonly ContractType[];
/** Maximum number of contracts per page that are read to determine whether their answers are mutually exclusive. */
const CONTRACTS_READ_MAX = 100;

/** Yields every open market by contract type, newest first. */
export async function* listOpenMarkets(context: ManifoldContext, signal: AbortSignal): AsyncGenerator<ListingPage> {
  for (const contractType of CONTRACT_TYPES) yield* listType(context, contractType, signal);
}

/** Yields the open markets of contracts with a bet or an edit at or after `sinceMs`, by contract type. */
export async function* listChangedMarkets(
  context: ManifoldContext,
  sinceMs: number,
  signal: AbortSignal,
): AsyncGenerator<ListingPage> {
  for (const contractType of CONTRACT_TYPES) {
    const seenIds = new Set<string>();
    const pages = walkPages({
      fetch: async (cursor) => {
        const offset = Number(cursor ?? 0);
        const response = await context.client.searchUpdated(contractType, { limit: CHANGES_PAGE_ROWS, offset }, signal);
        await readExclusivity(context, contractType, response.rows, signal);
        return { offset, rows: response.rows, ...parsePage(context, contractType, response, seenIds) };
      },
      nextOf({ offset, rows }) {
        const last = rows.at(-1);
        const updatedAt = isContract(last) ? parseTime(last.lastUpdatedTime) : null;
        const isLast = rows.length < CHANGES_PAGE_ROWS || updatedAt === null || updatedAt < sinceMs;
        return isLast ? null : String(offset + CHANGES_PAGE_ROWS);
      },
      idField: "id",
      pagesOverlap: true,
      pagesMax: CHANGES_PAGES_MAX,
      countDrop: context.countDrop,
    });
    for await (const { page, incompleteReason } of pages) yield { ...page.listing, incompleteReason };
  }
}

/** Returns the current state of single markets. Unknown ids are omitted. */
export async function getMarkets(
  context: ManifoldContext,
  listings: readonly Pick<MarketListing, "marketId">[],
  signal: AbortSignal,
): Promise<ListingPage> {
  const requestedIds = new Set(listings.map(({ marketId }) => marketId));
  const contractIds = new Set([...requestedIds].flatMap((marketId) => parseMarketId(marketId)?.contractId ?? []));
  const markets: MarketSnapshot[] = [];
  const events: EventListing[] = [];
  let requestedAt = context.clock.now();
  const queue = contractIds.values();
  const readQueue = async () => {
    for (const contractId of queue) {
      const contract = await fetchContract(context, contractId, signal);
      if (contract === null) continue;
      requestedAt = Math.min(requestedAt, contract.requestedAt);
      const requested = contract.markets.filter((market) => requestedIds.has(market.listing.marketId));
      markets.push(...requested);
      if (contract.event !== null && requested.length > 0) events.push(contract.event);
    }
  };
  await Promise.all(Array.from({ length: Math.min(CONTRACT_READERS_MAX, contractIds.size) }, readQueue));
  return { markets, events, requestedAt };
}

export async function findMarket(
  context: ManifoldContext,
  marketId: string,
  signal: AbortSignal,
): Promise<ListingPage | null> {
  if (parseMarketId(marketId) === null) return null;
  const page = await getMarkets(context, [{ marketId }], signal);
  return page.markets.length === 0 ? null : page;
}

/** Fetches and caches a contract. Returns null if it does not exist or is not a yes-or-no question. */
async function fetchContract(
  context: ManifoldContext,
  contractId: string,
  signal: AbortSignal,
): Promise<(ParsedContract & { readonly requestedAt: number }) | null> {
  const response = await context.client.findContract(contractId, signal);
  if (response === null) return null;
  const { json: row, receivedAt, requestedAt } = response;
  if (!isObject(row)) {
    throw new VenueError("bad_body", "market response is not a contract", { retryable: true });
  }
  const probabilities = isContract(row) && lacksPayouts(row) ? await fetchPayouts(context, contractId, signal) : null;
  const parsed = parseContract(row, { ...context, receivedAt, sumsToOne: null, cached: null, probabilities });
  if (parsed === null || parsed.contractId !== contractId) return null;
  context.cache.set(contractId, parsed.cacheEntry);
  return { ...parsed, requestedAt };
}

/** Returns the payouts of a contract that pays several answers; null if the venue does not return them. */
async function fetchPayouts(
  { client, driftDetectors }: ManifoldContext,
  contractId: string,
  signal: AbortSignal,
): Promise<AnswerProbabilities | null> {
  const response = await client.findProbabilities(contractId, signal);
  if (response === null || !driftDetectors.probabilities.check(response.json, isProbabilities)) return null;
  return response.json.answerProbs ?? null;
}

/** Caches whether the answers of listed contracts are mutually exclusive, if their type does not determine it. */
async function readExclusivity(
  context: ManifoldContext,
  contractType: ContractType,
  rows: readonly unknown[],
  signal: AbortSignal,
): Promise<void> {
  if (SUMS_TO_ONE_BY_TYPE[contractType] !== null || contractType === "BINARY") return;
  const unknownIds = rows
    .filter(isContract)
    .filter((row) => hasBinaryAnswers(row) && context.cache.find(row.id) === null)
    .slice(0, CONTRACTS_READ_MAX)
    .map(({ id }) => id);
  const queue = unknownIds.values();
  let hasFailed = false;
  const readQueue = async () => {
    for (const id of queue) {
      if (hasFailed) return;
      try {
        const contract = await fetchContract(context, id, signal);
        if (contract === null) context.cache.set(id, UNREADABLE_CONTRACT);
      } catch (error) {
        hasFailed = true;
        // The client counts failed requests, and the next sweep reads the remaining contracts.
        if (signal.aborted || !(error instanceof VenueError)) throw error;
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(CONTRACT_READERS_MAX, unknownIds.length) }, readQueue));
}

async function* listType(
  context: ManifoldContext,
  contractType: ContractType,
  signal: AbortSignal,
): AsyncGenerator<ListingPage> {
  const seenIds = new Set<string>();
  const pages = walkPages({
    fetch: async (cursor) => {
      const beforeTime = cursor === null ? undefined : Number(cursor);
      const response = await searchWithRetry(context, contractType, beforeTime, signal);
      await readExclusivity(context, contractType, response.rows, signal);
      return { rows: response.rows, ...parsePage(context, contractType, response, seenIds) };
    },
    nextOf({ rows, oldestAt }) {
      if (rows.length < PAGE_ROWS) return null;
      // One millisecond after the oldest row, so that rows of the same millisecond are repeated rather than missed. If
      // no row has a time, the first page is requested again, which `walkPages` detects as a loop.
      return String(oldestAt === null ? Number.MAX_SAFE_INTEGER : oldestAt + 1);
    },
    idField: "id",
    pagesOverlap: true,
    prefetch: true,
    pagesMax: PAGES_MAX,
    countDrop: context.countDrop,
  });
  for await (const { page, incompleteReason } of pages) {
    if (incompleteReason !== null || page.listing.markets.length > 0) yield { ...page.listing, incompleteReason };
  }
}

/** Requests an empty page once more, because a failed search also returns an empty list. */
async function searchWithRetry(
  { client }: ManifoldContext,
  contractType: ContractType,
  beforeTime: number | undefined,
  signal: AbortSignal,
): Promise<RowsResponse> {
  const page = { limit: PAGE_ROWS, beforeTime };
  const response = await client.searchOpen(contractType, page, signal);
  return response.rows.length > 0 ? response : client.searchOpen(contractType, page, signal);
}

function parsePage(context: ManifoldContext, contractType: ContractType, response: RowsResponse, seenIds: Set<string>) {
  const { rows, receivedAt, requestedAt } = response;
  const markets: MarketSnapshot[] = [];
  const events: EventListing[] = [];
  const sumsToOne = SUMS_TO_ONE_BY_TYPE[contractType];
  let validRows = 0;
  let oldestAt: number | null = null;
  context.driftDetectors.contract.startPage(rows);
  for (const row of rows) {
    const cached = isContract(row) ? context.cache.find(row.id) : null;
    const parsed = parseContract(row, { ...context, receivedAt, sumsToOne, cached });
    if (isContract(row)) {
      validRows += 1;
      oldestAt = parseTime(row.createdTime) ?? oldestAt;
    }
    if (parsed === null || seenIds.has(parsed.contractId)) continue;
    seenIds.add(parsed.contractId);
    const settledIds = new Set(parsed.cacheEntry.settledAnswerIds);
    const openMarkets = parsed.markets.filter(
      (market) => isOpen(market) && !settledIds.has(market.listing.venueKeys.answerId ?? ""),
    );
    markets.push(...openMarkets);
    if (parsed.event !== null && openMarkets.length > 0)
      events.push(withOpenChildren(parsed.event, openMarkets.length));
  }
  if (validRows === 0 && rows.length > 0) {
    throw new VenueError("bad_body", "search-markets returned no valid row", { retryable: true });
  }
  return { listing: { markets, events, requestedAt }, oldestAt };
}

/** Returns the event of a listing row. Its answers without a price are counted as closed with an unknown result. */
function withOpenChildren(event: EventListing, read: number): EventListing {
  const { children } = event;
  if (children === null || children.read === read) return event;
  const closed = children.read - read;
  return { ...event, children: { ...children, read, leftOut: { ...children.leftOut, closed } } };
}

/** Listings do not mark resolved answers, but an answer with probability 0 or 1 accepts no bets. */
function isOpen(market: MarketSnapshot): boolean {
  return market.listing.status === "active" && market.quote.indicativePrice !== null;
}
