/** Messages between the main thread and the store's thread; plain values, because they are structured clones. */
export type PgliteRequest =
  | { readonly kind: "query"; readonly id: number; readonly text: string; readonly parameters: readonly unknown[] }
  | { readonly kind: "close" };

export type PgliteReply =
  | { readonly kind: "ready" }
  | { readonly kind: "rows"; readonly id: number; readonly rows: Record<string, unknown>[] }
  | { readonly kind: "failed"; readonly id: number; readonly failure: PgliteFailure };

/** The fields of an error, because a structured clone of an `Error` loses them. */
export interface PgliteFailure {
  readonly message: string;
  readonly code: string | null;
  readonly detail: string | null;
  readonly constraint: string | null;
  /** The engine failed and its thread ends. */
  readonly isFatal: boolean;
}

export interface PgliteWorkerData {
  /** Folder of the store's files; null keeps everything in memory. */
  readonly folder: string | null;
  /** For tests: the size of the write-ahead log that causes a checkpoint, and how often it is checked. */
  readonly logBytesMax?: number;
  readonly logCheckEveryMs?: number;
}
