import { Counter, Gauge, Histogram, type Registry } from "prom-client";
import type { Tier } from "../../../domain/plan.ts";
import type { Analyses, EndedRun } from "../../analysis/analyses/index.ts";

/** Upper bounds in seconds: light analyses take less than a second, those with research up to two minutes. */
const ANALYSIS_BUCKETS_SECONDS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 40, 60, 90, 120, 300];

/**
 * Counts the runs, signals and calls of this process. Each is counted only by the process that performed it, so sums
 * over processes are exact.
 */
export function createWorkMetrics(registry: Registry) {
  const registers = [registry];
  const runs = new Counter({
    name: "parallax_analyses_total",
    help: "Analyses that this process ended, by type and outcome.",
    labelNames: ["type", "outcome"],
    registers,
  });
  const durations = new Histogram({
    name: "parallax_analysis_duration_seconds",
    help: "Time from the first start of an analysis to its result.",
    labelNames: ["type"],
    buckets: ANALYSIS_BUCKETS_SECONDS,
    registers,
  });
  const cost = new Counter({
    name: "parallax_model_cost_usd_total",
    help: "Cost of the language models of the analyses that this process completed, USD.",
    registers,
  });
  const signals = new Counter({
    name: "parallax_signals_total",
    help: "Signals that this process decided, by recommendation, and by origin: a request, or the end of an analysis.",
    labelNames: ["recommendation", "origin"],
    registers,
  });
  const units = new Counter({
    name: "parallax_quota_units_total",
    help: "Calls counted in a monthly quota, by tier.",
    labelNames: ["tier"],
    registers,
  });
  const refusals = new Counter({
    name: "parallax_quota_refusals_total",
    help: "Calls rejected because a monthly quota was used up, by tier.",
    labelNames: ["tier"],
    registers,
  });
  const queueRuns = new Gauge({
    name: "parallax_analysis_queue_runs",
    help: "Analyses in the queue of all processes, by state. Each worker reports the same value.",
    labelNames: ["state"],
    registers,
  });
  const queueAge = new Gauge({
    name: "parallax_analysis_queue_oldest_seconds",
    help: "Age of the analysis that has waited longest, 0 if none waits. Each worker reports the same value.",
    registers,
  });
  return {
    observeRun({ type, outcome, seconds, costUsd }: EndedRun): void {
      runs.inc({ type: type ?? "none", outcome });
      if (type !== null && seconds !== null) durations.observe({ type }, seconds);
      if (costUsd > 0) cost.inc(costUsd);
    },
    observeSignal(recommendation: string, origin: "request" | "analysis"): void {
      signals.inc({ recommendation, origin });
    },
    /** @param counted  tier whose quota counts the call; null for none. @param refused  tier whose quota was used up */
    observeQuota(counted: Tier | null, refused: Tier | null): void {
      if (counted !== null) units.inc({ tier: counted });
      if (refused !== null) refusals.inc({ tier: refused });
    },
    /** Sets the state of the queue before a scrape. @param queue  null if it is unknown or this process runs no analyses */
    setQueue(queue: Awaited<ReturnType<Analyses["readQueue"]>>): void {
      queueRuns.reset();
      queueAge.remove();
      if (queue === null) return;
      queueRuns.set({ state: "waiting" }, queue.waiting);
      queueRuns.set({ state: "active" }, queue.active);
      queueAge.set(queue.oldestSeconds ?? 0);
    },
  };
}
