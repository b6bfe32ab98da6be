import { createLanguageModel } from "../adapters/language-model/language-model.ts";
import { createSearchEngines } from "../adapters/web/search/index.ts";
import { createWebPages, EXTRACT_MODULE } from "../adapters/web/web-pages.ts";
import type { AppPorts } from "../app/index.ts";
import type { ResearchRunner } from "../capabilities/analysis/analyses/index.ts";
import { createResearch } from "../capabilities/analysis/research/index.ts";
import type { ResearchSettings } from "../config/research-settings.ts";
import type { HttpOut } from "../ports/http-out.ts";

/** Builds the research of the configured language model and search engines; null without a model. */
export function buildResearch(
  settings: ResearchSettings | null,
  ports: Pick<AppPorts, "clock" | "random" | "log" | "openWorkerPool"> & { readonly http: HttpOut },
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
