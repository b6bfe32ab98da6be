/** Finds markets and events that several venues list, and stores operators' decisions. */
export {
  createMatchDecisions,
  DECISIONS_MAX,
  MATCHES_TOPIC,
  type MatchDecisions,
  type MatchRequest,
  NOTE_LENGTH_MAX,
} from "./decisions.ts";
export {
  ALSO_ON_CONFIDENCE_MIN,
  type AlsoOn,
  type MatchDecision,
  type MatchingReport,
} from "./model.ts";
export type { PairChanges } from "./pair-map.ts";
export {
  createMatching,
  type MatchedMarket,
  type MatchedPairs,
  type Matching,
  type MatchJudgeSettings,
  type PairObserver,
} from "./service.ts";
