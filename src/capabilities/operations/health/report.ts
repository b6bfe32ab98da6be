import type { Ingest, VenueStatusReport } from "../../../ingest/index.ts";
import type { AreaPorts } from "../../area-ports.ts";
import type { MatchingReport } from "../../markets/matching/index.ts";
import type { HealthReport } from "./schema.ts";
import type { StoreProbe } from "./store-probe.ts";

/** Returns a function that reports the health of this process, its store, bus, jobs and venues. */
export function createHealthReport(
  options: Pick<AreaPorts, "version" | "data" | "clock" | "bus"> & {
    readonly probe: Pick<StoreProbe, "isUp" | "fault">;
    readonly ingest: Pick<Ingest, "health" | "thread">;
    /** Names of the periodic jobs whose last run failed. */
    readonly failingJobs: () => readonly string[];
    /** Null on a node that does not match markets. */
    readonly matching: { readonly report: MatchingReport } | null;
  },
): () => HealthReport {
  const { version, data, clock, bus, probe, ingest } = options;
  const startedAt = clock.monotonic();
  return () => {
    const venues = Object.entries(ingest.health());
    const failingJobs = options.failingJobs();
    const matching = options.matching?.report ?? null;
    const isDegraded =
      venues.some(([, venue]) => venue.status !== "ok") ||
      failingJobs.length > 0 ||
      !bus.isConnected ||
      ingest.thread?.isUp === false ||
      matching?.isFailing === true;
    return {
      status: !probe.isUp ? "down" : isDegraded ? "degraded" : "ok",
      version,
      data,
      uptime_seconds: Math.round((clock.monotonic() - startedAt) / 1000),
      checks: {
        store: probe.fault === null ? { status: "ok" } : { status: "down", detail: probe.fault },
        bus: bus.isConnected
          ? { status: "ok" }
          : { status: "degraded", detail: "not connected; changes are polled once a second" },
        jobs: failingJobs.length === 0 ? { status: "ok" } : { status: "degraded", detail: failingJobs.join(", ") },
        ...(ingest.thread === null ? null : { ingest: presentIngest(ingest.thread) }),
        ...(matching === null ? null : { matching: presentMatching(matching) }),
        venues: Object.fromEntries(venues.map(([id, venue]) => [id, presentVenue(venue)])),
      },
    };
  };
}

function presentIngest({ isUp, restarts }: NonNullable<Ingest["thread"]>) {
  if (isUp) return { status: "ok" as const, restarts };
  const detail =
    "the thread that reads the venues has ended or does not respond; the last prices are served with their times";
  return { status: "degraded" as const, detail, restarts };
}

function presentMatching({ pairs, pendingCount, restarts, isFailing }: MatchingReport) {
  return {
    ...(isFailing
      ? { status: "degraded" as const, detail: "the matching thread failed; its last pairs are served" }
      : { status: "ok" as const }),
    pairs,
    pending: pendingCount,
    restarts,
  };
}

function presentVenue(report: VenueStatusReport): HealthReport["checks"]["venues"][string] {
  const { lastSuccessAt, lagMs, drift, ...venue } = report;
  return {
    ...venue,
    last_success_at: lastSuccessAt === null ? null : toIsoTime(lastSuccessAt),
    lag_seconds: lagMs === null ? null : lagMs / 1000,
    drift: drift.map(({ firstSeenAt, lastSeenAt, ...entry }) => ({
      ...entry,
      first_seen_at: toIsoTime(firstSeenAt),
      last_seen_at: toIsoTime(lastSeenAt),
    })),
  };
}

const toIsoTime = (unixMs: number): string => new Date(unixMs).toISOString();
