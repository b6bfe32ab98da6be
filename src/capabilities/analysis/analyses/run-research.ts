import type { BoardMarket } from "../../../board/index.ts";
import { validCloseTime } from "../../../domain/close-time.ts";
import { STALE_ANALYSIS_MS_MAX } from "../../../domain/estimate-age.ts";
import { DAY_MS } from "../../../lib/durations.ts";
import type { Clock } from "../../../ports/clock.ts";
import type { Database } from "../../../ports/database.ts";
import { selectLatestAnalysis, sumAnalysisCosts } from "./analysis-queries.ts";
import type { ResearchRunner, ResearchSummary, RunResearchOutcome, StartedRun } from "./model.ts";
import { LeaseLostError } from "./run-errors.ts";
import { saveResearchState } from "./run-queries.ts";

/** Maximum lengths of stored texts, in characters. Longer texts are not stored. */
const STATE_LENGTH_MAX = 512 * 1_024;
const TRANSCRIPT_LENGTH_MAX = 1_024 * 1_024;
/** Maximum share of the daily budget for one customer, so that other customers can use the rest. */
const CUSTOMER_BUDGET_SHARE_MAX = 0.5;
const DAILY_BUDGET_SPENT =
  "The operator's budget for research in 24 hours is spent, so there was no research. Try again later.";
const CUSTOMER_BUDGET_SPENT =
  "Your share of the operator's budget for research in 24 hours is spent, so there was no research. Try again later.";

export interface FoundResearch {
  readonly summary: ResearchSummary;
  /** JSON; null if this run did no research. */
  readonly transcript: string | null;
}

const without = (missingReason: string): FoundResearch => ({
  summary: {
    view: null,
    isReused: false,
    missingReason,
    risks: [],
    sourceCount: 0,
    models: [],
    ensemble: [],
    costUsd: 0,
  },
  transcript: null,
});

/** Returns the research of the market's latest analysis if that is not too old; null otherwise. */
async function reuseResearch(database: Database, run: StartedRun, now: number): Promise<FoundResearch | null> {
  const summary = (await selectLatestAnalysis(database, run.venue, run.marketId))?.result.research;
  if (summary === undefined || summary.view === null || now - summary.view.at > STALE_ANALYSIS_MS_MAX) return null;
  return { summary: { ...summary, isReused: true, costUsd: 0 }, transcript: null };
}

/**
 * Researches the question of a run if research was requested, a language model is configured, and neither the daily
 * budget nor the customer's share of it is spent. Otherwise, or if the research fails, the run uses the research of an
 * earlier analysis: a run without research must not replace a result that a customer paid for with a worse one.
 */
export async function researchRun(
  { database, clock, researchRunner }: { database: Database; clock: Clock; researchRunner: ResearchRunner | null },
  run: StartedRun,
  { listing }: BoardMarket,
  signal: AbortSignal,
): Promise<FoundResearch> {
  if (researchRunner === null || run.type === "light") {
    const missingReason =
      researchRunner === null
        ? "No language model is configured, so there was no research."
        : "Research was not requested for this analysis.";
    return (await reuseResearch(database, run, clock.now())) ?? without(missingReason);
  }
  const { dailyBudgetUsd } = researchRunner;
  const { totalUsd, customerUsd } = await sumAnalysisCosts(database, run.analysisId, clock.now() - DAY_MS);
  if (totalUsd >= dailyBudgetUsd || customerUsd >= CUSTOMER_BUDGET_SHARE_MAX * dailyBudgetUsd) {
    const reason = totalUsd >= dailyBudgetUsd ? DAILY_BUDGET_SPENT : CUSTOMER_BUDGET_SPENT;
    return (await reuseResearch(database, run, clock.now())) ?? without(reason);
  }
  const { venue, marketId, title, outcomeLabel, rules } = listing;
  const asOf = clock.now();
  const outcome = await researchRunner.run(
    { venue, marketId, title, outcomeLabel, rules: rules ?? "", closeAt: validCloseTime(listing, asOf), asOf },
    {
      signal,
      // Each attempt has its own limit, because time without a running worker does not count. A run ends after an hour anyway.
      deadlineAt: clock.now() + researchRunner.deadlineMs,
      budgetUsd: researchRunner.budgetUsd,
      savedState: run.researchState === null ? null : JSON.parse(run.researchState),
      async onState(state) {
        const text = JSON.stringify(state ?? null);
        if (text.length > STATE_LENGTH_MAX) return;
        if (!(await saveResearchState(database, run, text))) throw new LeaseLostError();
      },
    },
  );
  // Research that was aborted is incomplete. The next worker continues it.
  signal.throwIfAborted();
  const found = toFound(outcome);
  const earlier = found.summary.view === null ? await reuseResearch(database, run, clock.now()) : null;
  return earlier === null ? found : combine(found, earlier);
}

/** Returns the earlier research, with the cost, the transcript and the failure of the new research. */
function combine(
  { summary: { missingReason, costUsd }, transcript }: FoundResearch,
  earlier: FoundResearch,
): FoundResearch {
  const risks = [
    ...earlier.summary.risks,
    `New research failed, so earlier research is used. ${missingReason ?? ""}`.trim(),
  ];
  return { summary: { ...earlier.summary, risks, costUsd }, transcript };
}

function toFound(outcome: RunResearchOutcome): FoundResearch {
  const { research: view, reasonText, risks, sourceCount, models, ensemble, costUsd } = outcome;
  const missingReason = view === null ? (reasonText ?? "Research gave no result.") : null;
  const transcript = JSON.stringify(outcome.transcript);
  return {
    summary: { view, isReused: false, missingReason, risks, sourceCount, models, ensemble, costUsd },
    transcript: transcript.length > TRANSCRIPT_LENGTH_MAX ? null : transcript,
  };
}
