import type { ExchangeContext } from "../exchange.ts";
import type { KeyRing } from "./auth.ts";
import type { Catalogue } from "./catalogue.ts";
import type { Query } from "./query.ts";

export interface RestRequest {
  readonly query: Query;
  /** Returns a path parameter, percent-decoded. */
  path(name: string): string;
  readonly hasKey: boolean;
}

/** Registers GET `path` below the base path. A `VenueError` thrown by the handler becomes the response. */
export type Get = (path: string, handler: (request: RestRequest) => unknown) => void;

export interface RestOptions {
  readonly context: ExchangeContext;
  readonly catalogue: Catalogue;
  readonly keys: KeyRing;
  /** Whether unsigned order book requests are rejected with 401. */
  readonly orderbookNeedsKey: boolean;
}
