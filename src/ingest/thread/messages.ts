import type { Transferable } from "node:worker_threads";
import type { BoardMarket } from "../../board/index.ts";
import type { EventListing, VenueId } from "../../domain/market.ts";
import type { StoreWriter } from "../store-writer.ts";
import type { VenueStatusReport } from "../venue-health.ts";
import type { EncodedError } from "./error-codec.ts";
import type { IngestCall } from "./ingest-calls.ts";

/** One end of the connection between the ingest thread and the thread that answers requests. */
export interface ThreadPort {
  postMessage(message: unknown, transfer?: readonly Transferable[]): void;
  on(event: "message", listener: (message: unknown) => void): unknown;
}

/** A market on the board of the ingest thread. `yesPrice` follows from the quote. */
export type SentMarket = Omit<BoardMarket, "yesPrice">;

/** Changes of the ingest thread's board. The receiver must apply the fields in the order in which they are declared. */
export interface BoardBatch {
  /** Rows of removed markets. */
  readonly removed: readonly number[];
  readonly events: readonly EventListing[];
  /** Markets that are new or whose listing changed. */
  readonly markets: readonly SentMarket[];
  /** Markets of which only figures changed (`quote-columns.ts`). */
  readonly quotes: Float64Array<ArrayBuffer>;
  readonly quoteCount: number;
  /** Whether the sender waits for an acknowledgement before it sends the next batch. */
  readonly mustAcknowledge: boolean;
}

/** State of the ingest thread, sent twice a second. */
export interface IngestStatus<Figures> {
  readonly venues: Readonly<Record<VenueId, VenueStatusReport>>;
  readonly isSettled: boolean;
  readonly counters: StoreWriter["counters"];
  readonly failingJobs: readonly string[];
  /** Counts of the code that observes live prices and trades, such as the number of logged alerts. */
  readonly figures: Figures;
}

export type ToIngestThread =
  | { readonly kind: "start" }
  | { readonly kind: "stop" }
  /** The last batch was applied; `quotes` is its buffer, to be used again. */
  | { readonly kind: "applied"; readonly quotes: Float64Array<ArrayBuffer> }
  | CallMessage
  | { readonly kind: "abort"; readonly id: number };

export interface CallMessage {
  readonly kind: "call";
  readonly id: number;
  /** Customer or client address for which the call runs; null for the service itself. */
  readonly caller: string | null;
  readonly method: IngestCall;
  readonly parameters: readonly unknown[];
}

export type FromIngestThread<Figures> =
  | { readonly kind: "board"; readonly batch: BoardBatch }
  | { readonly kind: "restored"; readonly markets: number }
  | { readonly kind: "status"; readonly status: IngestStatus<Figures> }
  | CallReply
  /** The board could not be restored, so the thread ends. */
  | { readonly kind: "restore_failed"; readonly error: EncodedError }
  | { readonly kind: "stopped" };

export type CallReply =
  | { readonly kind: "result"; readonly id: number; readonly value: unknown }
  | { readonly kind: "failed"; readonly id: number; readonly error: EncodedError };
