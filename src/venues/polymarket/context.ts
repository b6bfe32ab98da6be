import type { VenuePorts } from "../shared/venue-ports.ts";
import type { PolymarketClients, PolymarketUrls } from "./client.ts";

/** What the readers of this folder share. */
export interface PolymarketContext {
  readonly ports: VenuePorts;
  readonly urls: PolymarketUrls;
  readonly clients: PolymarketClients;
}
