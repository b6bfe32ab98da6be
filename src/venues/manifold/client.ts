import { VenueError } from "../../domain/errors.ts";
import { deleteOldest } from "../../lib/delete-oldest.ts";
import { type QueryValue, VenueClient, type VenueClientOptions, type VenueResponse } from "../shared/venue-client.ts";
import type { VenuePorts } from "../shared/venue-ports.ts";
import type { ManifoldDriftDetectors } from "./wire.ts";

/** The venue allows 500 requests per minute and IP address. A burst of 60 and 7 requests per second are at most 480. */
const LIMITS = { perSecond: 7, burst: 60, concurrency: 6 } as const;
export const BET_ROWS_MAX = 1_000;

export type ContractType =
  | "BINARY"
  | "DEPENDENT_MULTIPLE_CHOICE"
  | "INDEPENDENT_MULTIPLE_CHOICE"
  | "NUMBER"
  | "MULTI_NUMERIC"
  | "DATE";

/** Dependencies of all functions that read from Manifold. */
export interface ManifoldContext extends VenuePorts {
  readonly client: ManifoldClient;
  readonly cache: ContractCache;
  readonly driftDetectors: ManifoldDriftDetectors;
}

export interface RowsResponse {
  readonly rows: readonly unknown[];
  readonly requestedAt: number;
  readonly receivedAt: number;
}

export interface BetQuery {
  readonly contractId?: string;
  readonly answerId?: string;
  /** Unix milliseconds, exclusive. */
  readonly beforeTime?: number;
  /** Unix milliseconds, exclusive. */
  readonly afterTime?: number;
  readonly limit: number;
}

/** Omits all redemptions, with or without shares: this filter takes precedence over the next one. */
const WITHOUT_REDEMPTIONS = { filterRedemptions: true } as const;
/**
 * Includes redemptions with zero shares. They record how a bet on one mutually exclusive answer changes the
 * probabilities of the others. The venue omits them by default.
 */
const WITH_ZERO_SHARE_REDEMPTIONS = { includeZeroShareRedemptions: true } as const;

/** Omits redemptions for a contract without answers, because they do not change its probability. */
const priceChangeFilter = ({ contractId, answerId }: BetQuery) =>
  contractId !== undefined && answerId === undefined ? WITHOUT_REDEMPTIONS : WITH_ZERO_SHARE_REDEMPTIONS;

type Query = Readonly<Record<string, QueryValue>>;

export type ManifoldClient = ReturnType<typeof createManifoldClient>;

/** Creates the REST client of Manifold. It does not validate rows. */
export function createManifoldClient(options: Omit<VenueClientOptions, "limits">) {
  const client = new VenueClient({ ...options, limits: LIMITS });
  const find = async (path: string, signal: AbortSignal): Promise<VenueResponse | null> => {
    const response = await client.fetchJson(path, { signal, accept: [404] });
    return response.status === 404 ? null : response;
  };
  const fetchRows = async (path: string, query: Query, signal: AbortSignal): Promise<RowsResponse> => {
    const { json, requestedAt, receivedAt } = await client.fetchJson(path, { query, signal });
    if (!Array.isArray(json)) throw new VenueError("bad_body", `${path} response is not a list`, { retryable: true });
    return { rows: json, requestedAt, receivedAt };
  };
  const search = (sort: string, contractType: ContractType, page: Query, signal: AbortSignal) =>
    fetchRows("/search-markets", { filter: "open", sort, contractType, includeLiteAnswers: true, ...page }, signal);

  return {
    requestsPerSecond: client.requestsPerSecond,
    /**
     * Returns open contracts of one type created before `beforeTime`, newest first, with the probabilities of their
     * answers.
     */
    searchOpen: (
      contractType: ContractType,
      page: { readonly limit: number; readonly beforeTime?: number },
      signal: AbortSignal,
    ) => search("newest", contractType, { ...page }, signal),
    /** Returns open contracts of one type by the time of their last bet or edit, latest first. */
    searchUpdated: (
      contractType: ContractType,
      page: { readonly limit: number; readonly offset: number },
      signal: AbortSignal,
    ) => search("last-updated", contractType, { ...page }, signal),
    /** Returns the FullMarket of a contract, or null if the contract does not exist. */
    findContract: (id: string, signal: AbortSignal) => find(`/market/${encodeURIComponent(id)}`, signal),
    /** Returns the probabilities of a contract's answers, or null if the contract does not exist. */
    findProbabilities: (id: string, signal: AbortSignal) => find(`/market/${encodeURIComponent(id)}/prob`, signal),
    /** Returns bets, newest first, without redemptions. */
    listBets: (query: BetQuery, signal: AbortSignal) =>
      fetchRows("/bets", { ...query, ...WITHOUT_REDEMPTIONS }, signal),
    /**
     * Returns every row that may change a probability, newest first: bets, and for contracts with several answers all
     * redemptions.
     */
    listPriceChanges: (query: BetQuery, signal: AbortSignal) =>
      fetchRows("/bets", { ...query, ...priceChangeFilter(query) }, signal),
    /** Returns the probabilities of the rows of `listPriceChanges` between two times, in any order. */
    listBetPoints: (query: Required<Omit<BetQuery, "answerId">> & Pick<BetQuery, "answerId">, signal: AbortSignal) =>
      fetchRows("/bet-points", { ...query, ...priceChangeFilter(query) }, signal),
  };
}

/** Contract fields that listing rows do not include. */
export interface CachedContract {
  readonly rules: string | null;
  readonly category: string | null;
  /** Ids of resolved answers of an open contract, which listing rows do not mark as resolved. */
  readonly settledAnswerIds: readonly string[];
  /** Whether the answers are mutually exclusive; null if unknown or if there are none. */
  readonly sumsToOne: boolean | null;
}

const CONTRACTS_MAX = 5_000;

/** Stores the most recently fetched contracts, whose fields complete the rows of listings. */
export class ContractCache {
  readonly #contracts = new Map<string, CachedContract>();

  find(contractId: string): CachedContract | null {
    return this.#contracts.get(contractId) ?? null;
  }

  set(contractId: string, contract: CachedContract): void {
    this.#contracts.delete(contractId);
    this.#contracts.set(contractId, contract);
    deleteOldest(this.#contracts, CONTRACTS_MAX);
  }
}
