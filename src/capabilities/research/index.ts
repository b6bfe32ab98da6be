/** Research of a question with a language model: plan, search, read, judge in independent trials, pool. */
export type {
  KeyClaim,
  ResearchFailure,
  ResearchLimits,
  ResearchOutcome,
  ResearchQuestion,
  ResearchState,
  ResearchTranscript,
} from "./model.ts";
export { RESEARCH_LIMITS } from "./model.ts";
export { createResearch, type Research, type ResearchOptions, type ResearchPorts } from "./research.ts";
