import Type from "typebox";
import { Compile } from "typebox/schema";
import type { Clock } from "../ports/clock.ts";
import type { DriftKind, VenueProfile } from "../ports/venue.ts";
import { DriftEntry, SchemaDriftLog } from "./schema-drift.ts";

const NullableNumber = Type.Union([Type.Number(), Type.Null()]);

/** Health of one venue, as reported here and stored for the other nodes. Times are Unix milliseconds. */
const VenueHealthReport = Type.Object({
  status: Type.Enum(["starting", "ok", "degraded", "down"]),
  /** Null before the first usable response. */
  lastSuccessAt: NullableNumber,
  /** Time since the last usable response. */
  lagMs: NullableNumber,
  markets: Type.Number(),
  stream: Type.Enum(["up", "down", "none"]),
  /** Progress of the current listing sweep. */
  sweep: Type.Object({
    rows: Type.Number(),
    /** Null if the venue does not report its number of rows. */
    total: NullableNumber,
    completed: Type.Number(),
    /** Number of sweeps with missing pages, or with far fewer markets than the previous sweep. */
    incomplete: Type.Number(),
  }),
  /** Unusable data received from the venue, by reason. */
  drops: Type.Record(Type.String(), Type.Number()),
  /** Differences between the venue's responses and its documentation, in the order first seen; bounded. */
  drift: Type.Array(DriftEntry),
  /** HTTP requests, and bytes of response bodies as received and decoded, since the start. Streams are not included. */
  traffic: Type.Object({ requests: Type.Number(), receivedBytes: Type.Number(), decodedBytes: Type.Number() }),
});
const reportValidator = Compile(VenueHealthReport);

export type VenueHealthReport = Type.Static<typeof VenueHealthReport>;
export type VenueStatus = VenueHealthReport["status"];

/** A health report and this node's role: `ingest` reads the venue, `follower` loads what another node has stored. */
export interface VenueStatusReport extends VenueHealthReport {
  readonly role: "ingest" | "follower";
}

/** Number of stale intervals without a usable response after which a venue counts as down. */
const DOWN_AFTER_STALE_INTERVALS = 4;
const DROP_REASONS_MAX = 100;
/** From best to worst. */
const STATUS_ORDER: readonly VenueStatus[] = ["ok", "starting", "degraded", "down"];

export class VenueHealth {
  readonly #clock: Clock;
  readonly #profile: VenueProfile;
  #startedAt: number;
  readonly #drops = new Map<string, number>();
  readonly #drift = new SchemaDriftLog();
  #lastSuccessAt: number | null = null;
  #lastSuccessMonotonic: number | null = null;
  #consecutiveFailures = 0;
  #stream: VenueHealthReport["stream"] = "none";
  #sweep = { rows: 0, total: null as number | null, completed: 0, incomplete: 0 };
  #traffic = { requests: 0, receivedBytes: 0, decodedBytes: 0 };

  constructor(clock: Clock, profile: VenueProfile) {
    this.#clock = clock;
    this.#profile = profile;
    this.#startedAt = clock.monotonic();
  }

  /** Resets the state of requests and stream when this node starts to read the venue. */
  readingStarted(): void {
    this.#startedAt = this.#clock.monotonic();
    this.#lastSuccessMonotonic = null;
    this.#consecutiveFailures = 0;
    this.#stream = "none";
  }

  succeeded(): void {
    this.#consecutiveFailures = 0;
    this.#lastSuccessAt = this.#clock.now();
    this.#lastSuccessMonotonic = this.#clock.monotonic();
  }

  failed(): void {
    this.#consecutiveFailures += 1;
  }

  streamChanged(state: VenueHealthReport["stream"]): void {
    this.#stream = state;
  }

  sweepStarted(): void {
    this.#sweep = { ...this.#sweep, rows: 0, total: null };
  }

  sweepRead(rows: number, total: number | null): void {
    this.#sweep = { ...this.#sweep, rows: this.#sweep.rows + rows, total };
  }

  sweepCompleted(): void {
    this.#sweep = { ...this.#sweep, completed: this.#sweep.completed + 1 };
  }

  /** Counts a sweep with missing pages, or with far fewer markets than the previous sweep. */
  sweepIncomplete(): void {
    this.#sweep = { ...this.#sweep, incomplete: this.#sweep.incomplete + 1 };
  }

  /** Counts one HTTP request and the bytes of its response body. */
  requested(receivedBytes: number, decodedBytes: number): void {
    this.#traffic = {
      requests: this.#traffic.requests + 1,
      receivedBytes: this.#traffic.receivedBytes + receivedBytes,
      decodedBytes: this.#traffic.decodedBytes + decodedBytes,
    };
  }

  drift(kind: DriftKind, field: string, value: unknown): void {
    this.#drift.note(kind, field, value, this.#clock.now());
  }

  drop(reason: string, count = 1): void {
    const known = this.#drops.has(reason) || this.#drops.size < DROP_REASONS_MAX ? reason : "other";
    this.#drops.set(known, (this.#drops.get(known) ?? 0) + count);
  }

  /** True if the first sweep has completed or failed, so start-up does not wait for this venue. */
  get isSettled(): boolean {
    return this.#sweep.completed + this.#sweep.incomplete > 0 || this.#consecutiveFailures > 0;
  }

  report(markets: number): VenueHealthReport {
    const lagMs =
      this.#lastSuccessMonotonic === null ? null : Math.round(this.#clock.monotonic() - this.#lastSuccessMonotonic);
    return {
      status: this.#status(lagMs),
      lastSuccessAt: this.#lastSuccessAt,
      lagMs,
      markets,
      stream: this.#stream,
      sweep: this.#sweep,
      drops: Object.fromEntries(this.#drops),
      drift: this.#drift.list(),
      traffic: this.#traffic,
    };
  }

  /**
   * Returns another node's report, adjusted for its age: the status gets worse with the age of the report.
   *
   * @param ageMs     time since the report was created
   * @param isHeld    whether a node holds the venue's lease
   * @param markets   number of markets on this node's board
   */
  adjustForAge(report: VenueHealthReport | null, ageMs: number, isHeld: boolean, markets: number): VenueHealthReport {
    if (report === null) return { ...this.report(markets), status: this.#status(null), stream: "none" };
    const lagMs = report.lagMs === null ? null : Math.round(report.lagMs + ageMs);
    const lagStatus = lagMs === null ? report.status : this.#lagStatus(lagMs);
    const worst = Math.max(
      STATUS_ORDER.indexOf(report.status),
      STATUS_ORDER.indexOf(lagStatus),
      isHeld ? 0 : STATUS_ORDER.indexOf("degraded"),
    );
    return {
      ...report,
      status: STATUS_ORDER[worst] ?? "down",
      lagMs,
      markets,
      stream: isHeld ? report.stream : "down",
    };
  }

  #status(lagMs: number | null): VenueStatus {
    const { staleAfterMs } = this.#profile;
    const waitedMs = lagMs ?? this.#clock.monotonic() - this.#startedAt;
    if (lagMs === null && this.#consecutiveFailures === 0 && waitedMs <= staleAfterMs) return "starting";
    if (lagMs === null && this.#consecutiveFailures > 0) return "down";
    const lagStatus = this.#lagStatus(waitedMs);
    return lagStatus === "ok" && this.#consecutiveFailures > 0 ? "degraded" : lagStatus;
  }

  #lagStatus(lagMs: number): "ok" | "degraded" | "down" {
    const { staleAfterMs } = this.#profile;
    if (lagMs > staleAfterMs * DOWN_AFTER_STALE_INTERVALS) return "down";
    return lagMs > staleAfterMs ? "degraded" : "ok";
  }
}

/** Parses a report that another node has stored. Returns null if it does not match the schema. */
export function parseHealthReport(text: string): VenueHealthReport | null {
  try {
    const value: unknown = JSON.parse(text);
    return reportValidator.Check(value) ? value : null;
  } catch {
    return null;
  }
}
