import { DAY_MS } from "../../../lib/durations.ts";
import type { Clock } from "../../../ports/clock.ts";
import type { LanguageModel } from "../../../ports/language-model.ts";
import type { Log } from "../../../ports/log.ts";
import type { Random } from "../../../ports/random.ts";
import type { WebPageReader } from "../../../ports/web-page.ts";
import type { WebSearch } from "../../../ports/web-search.ts";
import { type AskFailure, ModelBudget } from "../../../prompting/ask.ts";
import { cleanText } from "../../../prompting/clean-text.ts";
import { removeInstructions } from "../../../prompting/instructions.ts";
import { parsePlan } from "./answers.ts";
import {
  askBlindBeliefs,
  askSourceBeliefs,
  askStep,
  createTrials,
  listSources,
  type TrialPorts,
} from "./ask-beliefs.ts";
import { buildDocuments, readPages, searchPages } from "./gather.ts";
import {
  RESEARCH_LIMITS,
  type ResearchFailure,
  type ResearchLimits,
  type ResearchOptions,
  type ResearchOutcome,
  type ResearchPlan,
  type ResearchQuestion,
} from "./model.ts";
import type { PoolCoefficients } from "./pool.ts";
import { cleanQuestion, planPrompt } from "./prompts.ts";
import { RunRecord } from "./run-record.ts";
import { summariseTrials } from "./summarise-trials.ts";

/** Maximum age of `asOf` for which pages without a date are read. */
const PRESENT_MS = DAY_MS;

export interface ResearchPorts {
  /** Null if none is configured. */
  readonly model: LanguageModel | null;
  readonly search: readonly WebSearch[];
  readonly pages: WebPageReader;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly limits?: Partial<ResearchLimits>;
  readonly pool?: PoolCoefficients;
}

const MESSAGES: Readonly<Record<ResearchFailure, string>> = {
  no_model: "No language model is configured, so there is no research.",
  budget: "The budget of the run did not suffice for the research.",
  deadline: "The language model did not answer in time, so there is no research.",
  model_failed: "The language model could not be reached or rejected the requests, so there is no research.",
  invalid_answers: "The language model gave no usable answers, so there is no research.",
};

/**
 * Researches questions with a language model in five stages: plan, search, read, judge in independent blind trials, pool.
 * The model has no tools. It sees the question, its rules and documents, never the price. The pipeline requests the model,
 * the search engines, and the pages that the engines return; no other address.
 */
export function createResearch(ports: ResearchPorts) {
  const limits = { ...RESEARCH_LIMITS, ...ports.limits };
  return {
    async run(question: ResearchQuestion, options: ResearchOptions): Promise<ResearchOutcome> {
      const { clock, model } = ports;
      const record = new RunRecord(question, options, clock, limits, model?.name ?? null);
      if (model === null) return record.fail("no_model", MESSAGES.no_model);
      const deadline = new AbortController();
      const cancelTimer = clock.setTimeout(() => deadline.abort(), options.deadlineAt - clock.now());
      if (options.deadlineAt <= clock.now()) deadline.abort();
      try {
        const signal = AbortSignal.any([options.signal, deadline.signal]);
        const outcome = await runStages({ ...ports, model, limits }, record, question, options, signal);
        options.signal.throwIfAborted();
        return outcome;
      } finally {
        cancelTimer();
        // Aborts requests that are still pending.
        deadline.abort();
      }
    },
  };
}

async function runStages(
  ports: Omit<ResearchPorts, "limits"> & { readonly model: LanguageModel; readonly limits: ResearchLimits },
  record: RunRecord,
  rawQuestion: ResearchQuestion,
  options: ResearchOptions,
  signal: AbortSignal,
): Promise<ResearchOutcome> {
  const { clock, limits } = ports;
  const spending = new ModelBudget(options.budgetUsd, record.state.costUsd);
  const trialPorts: TrialPorts = { ...ports, spending, signal, record: (call) => record.addCall(call) };
  const fail = (failures: readonly AskFailure[]): ResearchOutcome => {
    const code = failureOf(failures);
    return record.fail(code, MESSAGES[code]);
  };

  const rules = removeInstructions(cleanText(rawQuestion.rules ?? "", limits.rulesCharacters));
  const title = removeInstructions(cleanText(rawQuestion.title, limits.rulesCharacters));
  const question = cleanQuestion(
    { ...rawQuestion, asOf: record.state.asOf, title: title.text },
    rules.text,
    limits.rulesCharacters,
  );
  if (rules.removed + title.removed > 0)
    record.addRisk("The text of the market contains instructions to an automated reader. They were removed.");

  if (record.state.plan === null) {
    const label = { step: "plan", trial: null, sourceId: null } as const;
    const result = await askStep(trialPorts, label, planPrompt(question, limits.queries, ports.random), parsePlan);
    if ("failure" in result && result.failure !== "invalid") return fail([result.failure]);
    await record.update({ plan: "value" in result ? result.value : { ...EMPTY_PLAN } });
  }
  const plan = record.state.plan ?? EMPTY_PLAN;
  await gather(ports, record, question, plan, signal);

  if (record.state.trials.length === 0) await record.update({ trials: createTrials(limits) });
  const blind = await askBlindBeliefs(trialPorts, question, plan, record.state.trials);
  await record.update({ trials: blind.trials });
  const answered = blind.trials.filter((trial) => trial.blind !== null).length;
  if (answered < limits.trialsMin) return fail(blind.failures);

  const sources = listSources(record.state.documents ?? [], limits);
  for (let round = 0; round < sources.length; round++) {
    const before = record.state.trials;
    const { trials, failures } = await askSourceBeliefs(trialPorts, question, sources, before, round);
    await record.update({ trials });
    if (failures.length > 0) {
      record.addRisk(partialEvidence(failureOf(failures)));
      if (trials.every((trial, index) => trial === before[index])) break;
    }
  }
  const unusable = record.state.trials.reduce((sum, { failedSources }) => sum + failedSources.length, 0);
  if (unusable > 0) record.addRisk(`Partial evidence: ${unusable} answers of the language model were not usable.`);
  return record.complete(
    summariseTrials(record.state.trials, record.state.documents ?? [], limits, clock.now(), ports.pool),
  );
}

const EMPTY_PLAN: ResearchPlan = { subQuestions: [], referenceClasses: [], queries: [] };

/** Searches and fetches pages within the share `gatherShare` of the run's time limit. */
async function gather(
  ports: Omit<ResearchPorts, "limits"> & { readonly limits: ResearchLimits },
  record: RunRecord,
  question: ResearchQuestion,
  plan: ResearchPlan,
  runSignal: AbortSignal,
): Promise<void> {
  const { clock, limits, log } = ports;
  if (record.state.documents !== null) return;
  const end = new AbortController();
  const cancelTimer = clock.setTimeout(() => end.abort(), record.remainingMs * limits.gatherShare);
  const signal = AbortSignal.any([runSignal, end.signal]);
  try {
    if (record.state.found === null) {
      const queries = plan.queries.length === 0 ? [question.title] : plan.queries.slice(0, limits.queries);
      const { found, failedEngines } = await searchPages(ports.search, queries, question.asOf, limits, signal, log);
      for (const engine of failedEngines) record.addRisk(`The search engine ${engine} did not answer.`);
      await record.update({ found });
    }
    const found = record.state.found ?? [];
    const pages = await readPages(ports.pages, found, signal, log);
    if (signal.aborted && pages.length < found.length)
      record.addRisk(`Partial evidence: only ${pages.length} of ${found.length} pages arrived in time.`);
    const requiresDate = clock.now() - question.asOf > PRESENT_MS;
    await record.update({ documents: buildDocuments(pages, question.asOf, requiresDate, limits) });
  } finally {
    cancelTimer();
    end.abort();
  }
}

/** Returns the failure to report. Failures that more time or budget would not have prevented take precedence. */
function failureOf(failures: readonly AskFailure[]): Exclude<ResearchFailure, "no_model"> {
  if (failures.includes("failed") || failures.includes("rejected")) return "model_failed";
  if (failures.includes("deadline")) return "deadline";
  if (failures.includes("budget")) return "budget";
  return "invalid_answers";
}

function partialEvidence(code: ResearchFailure): string {
  const causes: Partial<Record<ResearchFailure, string>> = {
    budget: "the budget of the run was spent",
    deadline: "the language model did not answer in time",
    model_failed: "some requests to the language model failed",
  };
  return `Partial evidence: not all sources were read, because ${causes[code] ?? "some answers were not usable"}.`;
}
