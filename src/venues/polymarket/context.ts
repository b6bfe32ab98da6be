import type { PolymarketClients, PolymarketUrls } from "./client.ts";
import type { PolymarketPorts } from "./wire-shapes.ts";

/** What the readers of this folder share. */
export interface PolymarketContext {
  readonly ports: PolymarketPorts;
  readonly urls: PolymarketUrls;
  readonly clients: PolymarketClients;
}
