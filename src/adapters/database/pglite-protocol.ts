import type { EngineDamage } from "./errors.ts";

/** Messages between the main thread and the store's worker thread. They are plain values, so they can be cloned. */
export type PgliteRequest =
  | { readonly kind: "query"; readonly id: number; readonly text: string; readonly parameters: readonly unknown[] }
  | { readonly kind: "close" };

export type PgliteReply =
  | { readonly kind: "ready" }
  | { readonly kind: "rows"; readonly id: number; readonly rows: Record<string, unknown>[] }
  | { readonly kind: "failed"; readonly id: number; readonly failure: PgliteFailure }
  | { readonly kind: "checkpoint_failed"; readonly failure: PgliteFailure };

/** The fields of an error, because a structured clone of an `Error` loses them. */
export interface PgliteFailure {
  readonly message: string;
  readonly code: string | null;
  readonly detail: string | null;
  readonly constraint: string | null;
  /** Null if the engine still works. */
  readonly damage: EngineDamage | null;
}

export interface PgliteWorkerData {
  /** Folder of the store's files; null for a store in memory. */
  readonly folder: string | null;
  /** Whether every statement that writes fails; false by default. */
  readonly isReadOnly?: boolean;
  /**
   * For tests: size of the write-ahead log above which a checkpoint is made; `logCheckEveryMs` is the check interval.
   */
  readonly logBytesMax?: number;
  readonly logCheckEveryMs?: number;
}
