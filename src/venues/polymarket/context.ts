import type { VenuePorts } from "../shared/venue-ports.ts";
import type { PolymarketClients, PolymarketUrls } from "./client.ts";
import type { PolymarketDriftDetectors } from "./wire.ts";

/** Dependencies of the adapter. */
export type PolymarketPorts = VenuePorts & { readonly detectors: PolymarketDriftDetectors };

/** Shared by the modules of this folder. */
export interface PolymarketContext {
  readonly ports: PolymarketPorts;
  readonly urls: PolymarketUrls;
  readonly clients: PolymarketClients;
}
