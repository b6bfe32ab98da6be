/** Research of a question with a language model: plan, search, read, judge in independent trials, pool. */
export type { ResearchOptions, ResearchOutcome, ResearchQuestion, ResearchState } from "./model.ts";
export { createResearch, type ResearchPorts } from "./research.ts";
