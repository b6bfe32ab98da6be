import { VenueError } from "../../domain/errors.ts";
import type { MarketListing } from "../../domain/market.ts";

/** The parts of a market id. `answerId` is null if the contract is a single market. */
export interface ManifoldKey {
  readonly contractId: string;
  readonly answerId: string | null;
}

const MARKET_ID_PATTERN = /^([A-Za-z0-9_-]{1,64})(?::([A-Za-z0-9_-]{1,64}))?$/;

/** Splits `contractId` or `contractId:answerId`. Returns null if the text is not a Manifold market id. */
export function parseMarketId(marketId: string): ManifoldKey | null {
  const match = MARKET_ID_PATTERN.exec(marketId);
  const contractId = match?.[1];
  return contractId === undefined ? null : { contractId, answerId: match?.[2] ?? null };
}

export function marketIdOf(contractId: string, answerId: string | null | undefined): string {
  return answerId === null || answerId === undefined ? contractId : `${contractId}:${answerId}`;
}

/** @throws VenueError if the market id is not a Manifold id */
export function keyOf(listing: Pick<MarketListing, "marketId">): ManifoldKey {
  const key = parseMarketId(listing.marketId);
  if (key === null) throw new VenueError("client_error", "not a Manifold market id", { retryable: false });
  return key;
}

/** Returns the query parameters that select the bets of a market. */
export function queryOf({ contractId, answerId }: ManifoldKey): { contractId: string; answerId?: string } {
  return { contractId, answerId: answerId ?? undefined };
}
