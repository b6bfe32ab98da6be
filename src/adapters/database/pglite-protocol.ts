/** What the main thread and the store's thread say to each other; plain values that survive a structured clone. */
export type PgliteRequest =
  | { readonly kind: "query"; readonly id: number; readonly text: string; readonly parameters: readonly unknown[] }
  | { readonly kind: "close" };

export type PgliteReply =
  | { readonly kind: "ready" }
  | { readonly kind: "rows"; readonly id: number; readonly rows: Record<string, unknown>[] }
  | { readonly kind: "failed"; readonly id: number; readonly failure: PgliteFailure };

/** An error in pieces, because a structured clone of an `Error` loses its fields. */
export interface PgliteFailure {
  readonly message: string;
  readonly code: string | null;
  readonly detail: string | null;
  readonly constraint: string | null;
  /** The engine itself broke; its thread ends after this. */
  readonly isEnd: boolean;
}

export interface PgliteWorkerData {
  /** Folder of the store's files; null keeps everything in memory. */
  readonly folder: string | null;
  /** For tests: after how many bytes of log a checkpoint is made, and how often that is looked at. */
  readonly logBytesMax?: number;
  readonly logLookEveryMs?: number;
}
