import type { ExchangeContext } from "../exchange.ts";
import type { KeyRing } from "./auth.ts";
import type { Catalogue } from "./catalogue.ts";
import type { Query } from "./query.ts";

/** A request as the answers see it. */
export interface Asked {
  readonly query: Query;
  /** A parameter of the path, percent-decoded. */
  path(name: string): string;
  readonly hasKey: boolean;
}

/** Registers GET `path` below the base path; what `answer` throws as `KalshiError` is the reply. */
export type Get = (path: string, answer: (asked: Asked) => unknown) => void;

export interface RestOptions {
  readonly context: ExchangeContext;
  readonly catalogue: Catalogue;
  readonly keys: KeyRing;
  readonly orderbookNeedsKey: boolean;
}
