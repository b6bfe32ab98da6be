import { VenueError } from "../../domain/errors.ts";
import type { EventListing, MarketSnapshot, VenueId } from "../../domain/market.ts";
import type { DropCounter, ListingPage } from "../../ports/venue.ts";
import { idsOf, walkPages } from "../shared/page-walk.ts";
import type { ContractType, ManifoldClient, Rows } from "./client.ts";
import type { ContractCache } from "./contract-cache.ts";
import { parseContract, parseTime } from "./parse-market.ts";
import { isContract } from "./wire.ts";
import type { ManifoldWatches } from "./wire-shapes.ts";

/** The venue's own cap. */
const PAGE_ROWS = 1_000;
/** Manifold has some tens of thousands of open contracts; this is ten times as many of each type. */
const PAGES_MAX = 200;
/**
 * Asking by type leaves out polls, bounties and the like, and it is the only way that a list tells which answers exclude
 * each other.
 */
const CONTRACT_TYPES: readonly ContractType[] = ["BINARY", "DEPENDENT_MULTIPLE_CHOICE", "INDEPENDENT_MULTIPLE_CHOICE"];

export interface ListingSource {
  readonly venue: VenueId;
  readonly client: ManifoldClient;
  readonly notes: ContractCache;
  readonly drop: DropCounter;
  readonly watch: ManifoldWatches;
}

/** Everything open, type by type, newest first. */
export async function* listOpenContracts(source: ListingSource, signal: AbortSignal): AsyncGenerator<ListingPage> {
  for (const contractType of CONTRACT_TYPES) yield* listType(source, contractType, signal);
}

async function* listType(
  source: ListingSource,
  contractType: ContractType,
  signal: AbortSignal,
): AsyncGenerator<ListingPage> {
  const seen = new Set<string>();
  const walk = walkPages({
    fetch: async (cursor) => {
      const answer = await fetchPage(source.client, contractType, cursor === null ? undefined : Number(cursor), signal);
      return { rows: answer.rows, ...parsePage(source, contractType, answer, seen) };
    },
    nextOf({ rows, oldestAt }) {
      if (rows.length < PAGE_ROWS) return null;
      // One millisecond later than the last row, so that a tie on the page's edge is read twice and not never.
      // Rows without a time lead nowhere: the first page again, which is then noticed.
      return String(oldestAt === null ? Number.MAX_SAFE_INTEGER : oldestAt + 1);
    },
    idsOf: ({ rows }) => idsOf(rows, "id"),
    rowsOf: ({ rows }) => rows.length,
    overlap: true,
    ahead: true,
    pagesMax: PAGES_MAX,
    drop: source.drop,
  });
  for await (const { page, cut } of walk) {
    if (cut !== null) yield { ...page.listing, incompleteReason: cut };
    else if (page.listing.markets.length > 0) yield page.listing;
  }
}

/** An empty answer is asked for again once: the venue also answers so when its search failed. */
async function fetchPage(
  client: ManifoldClient,
  contractType: ContractType,
  beforeTime: number | undefined,
  signal: AbortSignal,
): Promise<Rows> {
  const page = { limit: PAGE_ROWS, ...(beforeTime === undefined ? {} : { beforeTime }) };
  const answer = await client.searchOpen(contractType, page, signal);
  return answer.rows.length > 0 ? answer : client.searchOpen(contractType, page, signal);
}

function parsePage(source: ListingSource, contractType: ContractType, answer: Rows, seen: Set<string>) {
  const { venue, notes, drop, watch } = source;
  const markets: MarketSnapshot[] = [];
  const events: EventListing[] = [];
  let readable = 0;
  let oldestAt: number | null = null;
  watch.contract.page(answer.rows);
  for (const row of answer.rows) {
    const note = isContract(row) ? notes.find(row.id) : null;
    const sumsToOne = contractType === "BINARY" ? null : contractType === "DEPENDENT_MULTIPLE_CHOICE";
    const parsed = parseContract(row, { venue, receivedAt: answer.receivedAt, sumsToOne, note, drop, watch });
    if (isContract(row)) {
      readable += 1;
      oldestAt = parseTime(row.createdTime) ?? oldestAt;
    }
    if (parsed === null || seen.has(parsed.contractId)) continue;
    seen.add(parsed.contractId);
    const settled = new Set(parsed.note.settledAnswerIds);
    const open = parsed.markets.filter(
      (market) => isOpen(market) && !settled.has(market.listing.venueKeys.answerId ?? ""),
    );
    markets.push(...open);
    if (parsed.event !== null && open.length > 0) events.push(parsed.event);
  }
  if (readable === 0 && answer.rows.length > 0) {
    throw new VenueError("bad_body", "search-markets answered rows of which none can be read", { retryable: true });
  }
  const listing: ListingPage = { markets, events, totalRows: null, requestedAt: answer.requestedAt };
  return { listing, oldestAt };
}

/** A list does not say which answers are resolved; those it shows at 0 or 1 nobody can bet on any more. */
function isOpen(market: MarketSnapshot): boolean {
  return market.listing.status === "active" && market.quote.indicativePrice !== null;
}
