import { VenueError } from "../../domain/errors.ts";
import { VenueClient } from "../shared/venue-client.ts";
import type { VenuePorts } from "../shared/venue-ports.ts";
import type { StreamSettlements } from "./stream-settlements.ts";
import type { PolymarketDriftDetectors } from "./wire.ts";

export interface PolymarketUrls {
  readonly gammaUrl: string;
  readonly clobUrl: string;
  readonly dataUrl: string;
  readonly wsUrl: string;
}

/** Dependencies of all functions that read from Polymarket. */
export interface PolymarketContext extends VenuePorts {
  readonly gamma: VenueClient;
  readonly clob: VenueClient;
  readonly data: VenueClient;
  readonly driftDetectors: PolymarketDriftDetectors;
  readonly settlements: StreamSettlements;
}

/**
 * One client per host, each limited to about half of the published rates: 30 `/markets` and 50 `/events` a second for
 * Gamma, 150 `/book` and 100 `/prices-history` for CLOB, 20 `/trades` for Data.
 */
export function createClients(options: VenuePorts & PolymarketUrls) {
  const createClient = (baseUrl: string, perSecond: number, concurrency: number) =>
    new VenueClient({ ...options, baseUrl, limits: { perSecond, burst: perSecond, concurrency } });
  return {
    gamma: createClient(options.gammaUrl, 15, 4),
    clob: createClient(options.clobUrl, 50, 8),
    data: createClient(options.dataUrl, 10, 4),
  };
}

export function createBadBodyError(problem: string): VenueError {
  return new VenueError("bad_body", problem, { retryable: false });
}

/**
 * Returns a condition id in the only format that the Data API accepts: 32 bytes in lower-case hexadecimal. Markets of
 * protocol V2 have ids of 31 bytes, which are padded with a zero byte at the end. Returns null for other text, because
 * the venue rejects a whole batch with one invalid id.
 */
export function toDataApiConditionId(conditionId: string): string | null {
  if (!/^0x(?:[0-9a-f]{62}|[0-9a-f]{64})$/i.test(conditionId)) return null;
  return conditionId.toLowerCase().padEnd(66, "0");
}
