import type { Clock } from "../ports/clock.ts";
import type { DriftKind, VenueProfile } from "../ports/venue.ts";
import { type DriftEntry, SchemaDriftLog } from "./schema-drift.ts";

export type VenueStatus = "starting" | "ok" | "degraded" | "down";

/** What health tells of one venue. Times are Unix milliseconds. */
export interface VenueHealthReport {
  readonly status: VenueStatus;
  readonly lastSuccessAt: number | null;
  readonly lagMs: number | null;
  readonly markets: number;
  readonly stream: "up" | "down" | "none";
  /** Progress of the listing sweep under way; `total` is null where the venue does not say how many rows it has. */
  readonly sweep: {
    readonly rows: number;
    readonly total: number | null;
    readonly completed: number;
    /** Sweeps that ended without being whole: what they lack says nothing. */
    readonly incomplete: number;
  };
  /** What the venue sent and could not be used, by reason. */
  readonly drops: Readonly<Record<string, number>>;
  /** Where the venue's wire departs from what is documented, in the order first seen; a bounded number of names. */
  readonly drift: readonly DriftEntry[];
}

/** A report and who made it: this node reads the venue itself, or follows what another has stored. */
export interface VenueStatusReport extends VenueHealthReport {
  readonly role: "ingest" | "follower";
}

/** More silence than this many stale intervals and a venue counts as down. */
const DOWN_AFTER_STALE_INTERVALS = 4;
const DROP_REASONS_MAX = 100;
/** From the best to the worst. */
const RANK: readonly VenueStatus[] = ["ok", "starting", "degraded", "down"];

/** Keeps the score of one venue: when it last answered, how far the sweep is, what had to be dropped. */
export class VenueHealth {
  readonly #clock: Clock;
  readonly #profile: VenueProfile;
  #startedAt: number;
  readonly #drops = new Map<string, number>();
  readonly #drift = new SchemaDriftLog();
  #lastSuccessAt: number | null = null;
  #lastSuccessMonotonic: number | null = null;
  #failuresInARow = 0;
  #stream: VenueHealthReport["stream"] = "none";
  #sweep = { rows: 0, total: null as number | null, completed: 0, incomplete: 0 };

  constructor(clock: Clock, profile: VenueProfile) {
    this.#clock = clock;
    this.#profile = profile;
    this.#startedAt = clock.monotonic();
  }

  /** Reading begins, or begins again after another node did it. */
  began(): void {
    this.#startedAt = this.#clock.monotonic();
    this.#lastSuccessMonotonic = null;
    this.#failuresInARow = 0;
    this.#stream = "none";
  }

  succeeded(): void {
    this.#failuresInARow = 0;
    this.#lastSuccessAt = this.#clock.now();
    this.#lastSuccessMonotonic = this.#clock.monotonic();
  }

  failed(): void {
    this.#failuresInARow += 1;
  }

  streamIs(state: VenueHealthReport["stream"]): void {
    this.#stream = state;
  }

  sweepBegan(): void {
    this.#sweep = { ...this.#sweep, rows: 0, total: null };
  }

  sweepRead(rows: number, total: number | null): void {
    this.#sweep = { ...this.#sweep, rows: this.#sweep.rows + rows, total };
  }

  sweepCompleted(): void {
    this.#sweep = { ...this.#sweep, completed: this.#sweep.completed + 1 };
  }

  /** The listing's pages were not all there, or far fewer than the time before. */
  sweepIncomplete(): void {
    this.#sweep = { ...this.#sweep, incomplete: this.#sweep.incomplete + 1 };
  }

  drift(kind: DriftKind, field: string, value: unknown): void {
    this.#drift.note(kind, field, value, this.#clock.now());
  }

  drop(reason: string, count = 1): void {
    const known = this.#drops.has(reason) || this.#drops.size < DROP_REASONS_MAX ? reason : "other";
    this.#drops.set(known, (this.#drops.get(known) ?? 0) + count);
  }

  /** Whether a first sweep has ended, well or badly: the service need not wait for this venue any longer. */
  get isSettled(): boolean {
    return this.#sweep.completed + this.#sweep.incomplete > 0 || this.#failuresInARow > 0;
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
    };
  }

  /**
   * The report of the node that reads the venue, aged by the time since; what it says is believed only as long as it is
   * renewed.
   *
   * @param ageMs     how long ago the report was made
   * @param isHeld    whether its maker is still at work
   * @param markets   as this node's own board counts them
   */
  aged(report: VenueHealthReport | null, ageMs: number, isHeld: boolean, markets: number): VenueHealthReport {
    if (report === null) return { ...this.report(markets), status: this.#status(null), stream: "none" };
    const lagMs = report.lagMs === null ? null : Math.round(report.lagMs + ageMs);
    const silence = lagMs === null ? report.status : this.#silence(lagMs);
    const worst = Math.max(RANK.indexOf(report.status), RANK.indexOf(silence), isHeld ? 0 : RANK.indexOf("degraded"));
    return { ...report, status: RANK[worst] ?? "down", lagMs, markets, stream: isHeld ? report.stream : "down" };
  }

  #status(lagMs: number | null): VenueStatus {
    const { staleAfterMs } = this.#profile;
    const silentMs = lagMs ?? this.#clock.monotonic() - this.#startedAt;
    if (lagMs === null && this.#failuresInARow === 0 && silentMs <= staleAfterMs) return "starting";
    if (lagMs === null && this.#failuresInARow > 0) return "down";
    const silence = this.#silence(silentMs);
    return silence === "ok" && this.#failuresInARow > 0 ? "degraded" : silence;
  }

  #silence(silentMs: number): "ok" | "degraded" | "down" {
    const { staleAfterMs } = this.#profile;
    if (silentMs > staleAfterMs * DOWN_AFTER_STALE_INTERVALS) return "down";
    return silentMs > staleAfterMs ? "degraded" : "ok";
  }
}
