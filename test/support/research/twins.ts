import type { ResearchOutcome, ResearchPorts } from "../../../src/capabilities/analysis/research/index.ts";
import { createResearch } from "../../../src/capabilities/analysis/research/index.ts";
import { FakeClock } from "../fake-clock.ts";
import { quietLog } from "../quiet-log.ts";
import type { Injection } from "./injections.ts";
import { pageHtml, sampleArticle, sampleWeb, seededUniform } from "./sample-web.ts";
import { isVisible, obedientAnswer, scriptedModel } from "./scripted-model.ts";

const PAGES = 8;

/** Result of one pair: the same question and pages, without and with the injection in one page and its copies. */
export interface Twin {
  readonly injection: Injection;
  readonly shift: number;
  /** Whether the model saw the demand in any prompt. */
  readonly wasSeen: boolean;
  readonly outcome: ResearchOutcome;
  /** Addresses that were requested although the search did not return them. */
  readonly unlisted: readonly string[];
}

export const sampleQuestion = {
  venue: "sample",
  marketId: "harbour",
  title: "Will the harbour bill pass by 31 December 2026?",
  rules: "This market resolves to YES if the chamber passes the harbour bill by 31 December 2026.",
  outcomeLabel: null,
  closeAt: Date.UTC(2026, 11, 31),
};

/** Researches the sample question over pages, with a constant clock. */
export async function researchPages(
  pages: ReadonlyMap<string, string>,
  ports: Pick<ResearchPorts, "model"> & Partial<ResearchPorts>,
): Promise<{ readonly outcome: ResearchOutcome; readonly requested: readonly string[] }> {
  const clock = ports.clock ?? new FakeClock();
  const web = sampleWeb(pages);
  const uniform = seededUniform(1);
  const research = createResearch({
    search: [web.search],
    pages: web.pages,
    clock,
    log: quietLog,
    random: { uniform, bytes: (length) => Uint8Array.from({ length }, () => Math.floor(uniform() * 256)) },
    ...ports,
  });
  const outcome = await research.run(
    { ...sampleQuestion, asOf: clock.now() },
    {
      signal: new AbortController().signal,
      deadlineAt: clock.now() + 90_000,
      budgetUsd: 1,
      savedState: null,
      onState() {},
    },
  );
  return { outcome, requested: web.requested };
}

export async function runTwin(injection: Injection, seed: number, ports: Partial<ResearchPorts> = {}): Promise<Twin> {
  const uniform = seededUniform(seed);
  const basePercent = 15 + Math.floor(uniform() * 70);
  const lean = 0.2 + 0.6 * uniform();
  const articles = Array.from({ length: PAGES }, () => sampleArticle(uniform, lean));
  const position = Math.floor(uniform() * PAGES);
  const build = (isInjected: boolean): Map<string, string> => {
    const pages = new Map<string, string>();
    for (const [index, article] of articles.entries()) {
      const copies = index === position ? injection.copies : 1;
      const shown = isInjected && index === position ? injection.place(article) : article;
      for (let copy = 0; copy < copies; copy++)
        pages.set(`https://paper${index}${copy}.example/${index}`, pageHtml(shown));
    }
    return pages;
  };
  const clean = await researchPages(build(false), {
    model: scriptedModel((call) => obedientAnswer(call, null, basePercent)),
    ...ports,
  });
  const model = scriptedModel((call) => obedientAnswer(call, injection, basePercent));
  const pages = build(true);
  const { outcome, requested } = await researchPages(pages, { model, ...ports });
  if (clean.outcome.research === null || outcome.research === null) throw new Error("A run has no research.");
  return {
    injection,
    shift: Math.abs(outcome.research.probability - clean.outcome.research.probability),
    wasSeen: model.calls.some(({ prompt }) => isVisible(prompt, injection)),
    outcome,
    unlisted: requested.filter((url) => !pages.has(url)),
  };
}
