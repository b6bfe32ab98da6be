import { createLanguageModel } from "../adapters/language-model/language-model.ts";
import { createSearchEngines } from "../adapters/web/search/index.ts";
import { createWebPages, EXTRACT_MODULE } from "../adapters/web/web-pages.ts";
import type { ResearchRunner } from "../capabilities/analysis/analyses/index.ts";
import { createResearch } from "../capabilities/analysis/research/index.ts";
import type { ResearchSettings } from "../config/research-settings.ts";
import type { Clock } from "../ports/clock.ts";
import type { HttpOut } from "../ports/http-out.ts";
import type { Log } from "../ports/log.ts";
import type { Random } from "../ports/random.ts";
import type { OpenWorkerPool } from "../ports/worker-pool.ts";

/** Builds the research of the configured language model and search engines; null without a model. */
export function buildResearch(
  settings: ResearchSettings | null,
  ports: {
    readonly clock: Clock;
    readonly random: Random;
    readonly log: Log;
    readonly http: HttpOut;
    readonly openWorkerPool: OpenWorkerPool;
  },
  closers: (() => unknown)[],
): ResearchRunner | null {
  if (settings === null) return null;
  const { budgetUsd, dailyBudgetUsd, deadlineMs, model, search } = settings;
  const extractor = ports.openWorkerPool<{ readonly html: string }, ExtractedText>(EXTRACT_MODULE);
  closers.push(() => extractor.close());
  const research = createResearch({
    ...ports,
    model: createLanguageModel(model),
    search: createSearchEngines(search.engines, { ...ports, apiKey: search.apiKey }),
    pages: createWebPages((task) => extractor.run(task, [])),
    limits: { budgetUsd, deadlineMs },
  });
  return { run: research.run, budgetUsd, dailyBudgetUsd, deadlineMs };
}

type ExtractedText = Awaited<ReturnType<Parameters<typeof createWebPages>[0]>>;
