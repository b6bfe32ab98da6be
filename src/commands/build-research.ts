import { createSearchEngines } from "../adapters/web/search/index.ts";
import { createWebPages, EXTRACT_MODULE } from "../adapters/web/web-pages.ts";
import type { AppPorts } from "../app/index.ts";
import type { ResearchRunner } from "../capabilities/analysis/analyses/index.ts";
import { createResearch } from "../capabilities/analysis/research/index.ts";
import type { ResearchSettings } from "../config/research-settings.ts";
import type { HttpOut } from "../ports/http-out.ts";
import type { LanguageModel } from "../ports/language-model.ts";

/** Builds the research of a language model with the configured search engines. */
export function buildResearch(
  settings: ResearchSettings,
  model: LanguageModel,
  ports: Pick<AppPorts, "clock" | "random" | "log" | "openWorkerPool"> & { readonly http: HttpOut },
  closers: (() => unknown)[],
): ResearchRunner {
  const { budgetUsd, dailyBudgetUsd, deadlineMs, search } = settings;
  const extractor = ports.openWorkerPool<{ readonly html: string }, ExtractedText>(EXTRACT_MODULE);
  closers.push(() => extractor.close());
  const research = createResearch({
    ...ports,
    model,
    search: createSearchEngines(search.engines, { ...ports, apiKey: search.apiKey }),
    pages: createWebPages((task) => extractor.run(task, [])),
    limits: { budgetUsd, deadlineMs },
  });
  return { run: research.run, budgetUsd, dailyBudgetUsd, deadlineMs };
}

type ExtractedText = Awaited<ReturnType<Parameters<typeof createWebPages>[0]>>;
