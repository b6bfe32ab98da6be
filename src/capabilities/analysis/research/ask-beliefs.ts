import { toLogOdds, toProbability } from "../../../engine/index.ts";
import type { Random } from "../../../ports/random.ts";
import { type AskFailure, type AskPorts, type AskResult, askModel, type Prompt } from "../../../prompting/ask.ts";
import { parseBelief } from "./answers.ts";
import { sourceEffect } from "./evidence.ts";
import type {
  CallRecord,
  Framing,
  ResearchDocument,
  ResearchLimits,
  ResearchPlan,
  ResearchQuestion,
  SourceReading,
  Trial,
} from "./model.ts";
import { blindPrompt, readingPrompt, summariseReading } from "./prompts.ts";

const FRAMINGS: readonly Framing[] = ["base_rate", "inside_view", "opposite"];

/** The documents of one publisher. One prompt contains all of them, and they count as one source. */
export interface Source {
  readonly id: string;
  readonly documents: readonly ResearchDocument[];
}

/** Groups the documents that are not excluded by source, in search order. Returns at most `limits.sources` sources. */
export function listSources(documents: readonly ResearchDocument[], limits: ResearchLimits): Source[] {
  const sources = Map.groupBy(
    documents.filter(({ excluded }) => excluded === null),
    ({ sourceId }) => sourceId,
  );
  return [...sources]
    .slice(0, limits.sources)
    .map(([id, group]) => ({ id, documents: group.slice(0, limits.pagesPerPublisher) }));
}

export const createTrials = (limits: ResearchLimits): Trial[] =>
  Array.from({ length: limits.trials }, (_, index) => ({
    framing: FRAMINGS[index % FRAMINGS.length] ?? "base_rate",
    blind: null,
    readings: [],
    failedSources: [],
  }));

/** The probability of a trial after its readings, recomputed from its claims. */
function trialProbability({ blind, readings }: Trial): number {
  const effects = readings.map(({ belief, shown }) => sourceEffect(belief, shown));
  return toProbability(effects.reduce((sum, effect) => sum + effect, toLogOdds(blind?.probability ?? 0.5)));
}

/**
 * Source that a trial reads in a round. Each trial starts with another source, so that every source is read by some
 * trial even if the budget is spent early.
 */
const sourceOfRound = (sources: readonly Source[], trialIndex: number, round: number): Source | undefined =>
  sources[(round + trialIndex) % sources.length];

export interface TrialPorts extends Omit<AskPorts, "record"> {
  readonly limits: ResearchLimits;
  readonly random: Random;
  record(call: CallRecord): void;
}

/** Asks the model (`askModel`), and records the calls with their place in the run. */
export function askStep<Value>(
  ports: TrialPorts,
  label: Pick<CallRecord, "step" | "trial" | "sourceId">,
  prompt: Prompt,
  parse: (answer: string) => Value | null,
): Promise<AskResult<Value>> {
  return askModel({ ...ports, record: (call) => ports.record({ ...label, ...call }) }, prompt, parse);
}

export interface TrialRound {
  readonly trials: readonly Trial[];
  readonly failures: readonly AskFailure[];
}

/** Asks the model for each trial's belief before any document. Skips trials that have one. */
export async function askBlindBeliefs(
  ports: TrialPorts,
  question: ResearchQuestion,
  plan: ResearchPlan,
  trials: readonly Trial[],
): Promise<TrialRound> {
  return runRound(trials, async (trial, index) => {
    if (trial.blind !== null) return null;
    const prompt = blindPrompt(question, plan, trial.framing, ports.random);
    const label = { step: "blind", trial: index, sourceId: null } as const;
    const result = await askStep(ports, label, prompt, (answer) => parseBelief(answer, new Map()));
    return mapResult(result, ({ belief }) => ({ ...trial, blind: belief }));
  });
}

/** Asks the model to update each trial's belief with its source of the round. Skips trials that have read it. */
export async function askSourceBeliefs(
  ports: TrialPorts,
  question: ResearchQuestion,
  sources: readonly Source[],
  trials: readonly Trial[],
  round: number,
): Promise<TrialRound> {
  return runRound(trials, async (trial, index) => {
    const source = sourceOfRound(sources, index, round);
    if (source === undefined || trial.blind === null || hasTried(trial, source.id)) return null;
    const shown = trialProbability(trial);
    const read = trial.readings.map(summariseReading);
    const prompt = readingPrompt(question, trial.framing, { probability: shown, read }, source.documents, ports.random);
    const texts = new Map(source.documents.map(({ id, title, text }) => [id, `${title}\n${text}`]));
    const label = { step: "read", trial: index, sourceId: source.id } as const;
    const result = await askStep(ports, label, prompt, (answer) => parseBelief(answer, texts));
    if ("failure" in result && result.failure === "invalid")
      return { value: { ...trial, failedSources: [...trial.failedSources, source.id] } };
    return mapResult(result, ({ belief, droppedClaims }) => {
      const reading: SourceReading = { sourceId: source.id, shown, belief, droppedClaims };
      return { ...trial, readings: [...trial.readings, reading] };
    });
  });
}

const hasTried = (trial: Trial, sourceId: string): boolean =>
  trial.failedSources.includes(sourceId) || trial.readings.some((reading) => reading.sourceId === sourceId);

const mapResult = <From, To>(result: AskResult<From>, change: (value: From) => To): AskResult<To> =>
  "value" in result ? { value: change(result.value) } : result;

/** Runs one step of all trials concurrently. A trial whose step fails is unchanged. */
async function runRound(
  trials: readonly Trial[],
  step: (trial: Trial, index: number) => Promise<AskResult<Trial> | null>,
): Promise<TrialRound> {
  const results = await Promise.all(trials.map(step));
  return {
    trials: trials.map((trial, index) => {
      const result = results[index] ?? null;
      return result !== null && "value" in result ? result.value : trial;
    }),
    failures: results.flatMap((result) => (result !== null && "failure" in result ? [result.failure] : [])),
  };
}
