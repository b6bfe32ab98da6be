/** A market's public id: the contract's, or contract and answer joined by a colon. */
export interface ManifoldKey {
  readonly contractId: string;
  readonly answerId: string | null;
}

const MARKET_ID = /^([A-Za-z0-9_-]{1,64})(?::([A-Za-z0-9_-]{1,64}))?$/;

/** The parts of a public market id, or null when it cannot be one of Manifold's. */
export function parseMarketId(marketId: string): ManifoldKey | null {
  const match = MARKET_ID.exec(marketId);
  const contractId = match?.[1];
  return contractId === undefined ? null : { contractId, answerId: match?.[2] ?? null };
}

export function marketIdOf(contractId: string, answerId: string | null | undefined): string {
  return answerId === null || answerId === undefined ? contractId : `${contractId}:${answerId}`;
}
