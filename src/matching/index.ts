/** Finds markets and events of different venues that ask the same question. */
export { findMarketLadders } from "./ladders/find-ladders.ts";
export { MatchIndex } from "./match-index.ts";
export {
  type EventPair,
  isSameQuestion,
  type MarketPair,
  type MatchableMarket,
  type MatchJudgement,
  type MatchOverride,
  type MatchRelation,
  type MatchUpdate,
  PAIR_CONFIDENCE_MIN,
} from "./model.ts";
export { fitQuestion, parseQuestion } from "./question/fit.ts";
