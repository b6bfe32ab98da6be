import { setTimeout as pause } from "node:timers/promises";
import type { ResearchRunner } from "../../../src/capabilities/analysis/analyses/index.ts";

type ResearchQuestion = Parameters<ResearchRunner["run"]>[0];
type RunOptions = Parameters<ResearchRunner["run"]>[1];
type ResearchOutcome = Awaited<ReturnType<ResearchRunner["run"]>>;

/** Returns the outcome of a successful research run. `parts` overrides fields. */
export const sampleOutcome = (at: number, parts: Partial<ResearchOutcome> = {}): ResearchOutcome => ({
  research: { at, probability: 0.6, standardError: 0.3, trials: 3, evidence: ["A newspaper expects it."] },
  risks: ["The sources are few."],
  sourceCount: 4,
  costUsd: 0.01,
  models: ["scripted"],
  ensemble: [0.55, 0.6, 0.65],
  reason: null,
  transcript: { steps: ["read", "judged"] },
  ...parts,
});

/** Research that a test scripts. It records its calls. */
export class ScriptedResearch implements ResearchRunner {
  readonly budgetUsd = 0.15;
  dailyBudgetUsd = 20;
  readonly deadlineMs = 90_000;
  readonly calls: { readonly question: ResearchQuestion; readonly savedState: unknown }[] = [];
  readonly #script: (question: ResearchQuestion, options: RunOptions) => Promise<ResearchOutcome>;

  constructor(script: (question: ResearchQuestion, options: RunOptions) => Promise<ResearchOutcome>) {
    this.#script = script;
  }

  run(question: ResearchQuestion, options: RunOptions): Promise<ResearchOutcome> {
    this.calls.push({ question, savedState: options.savedState });
    return this.#script(question, options);
  }
}

/** Research that takes `durationMs` of real time, in two stages, the first of which it stores. */
export const slowResearch = (durationMs: number) =>
  new ScriptedResearch(async ({ asOf }, { signal, savedState, onState }) => {
    if (savedState === null) {
      await pause(durationMs / 2, undefined, { signal });
      await onState({ stage: "read" });
    }
    await pause(durationMs / 2, undefined, { signal });
    return sampleOutcome(asOf);
  });
