/** Finds markets and events of different venues that ask the same question. */
export { findMarketLadders } from "./ladders/find-ladders.ts";
export { MatchIndex } from "./match-index.ts";
export type {
  EventPair,
  MarketPair,
  MatchableMarket,
  MatchOverride,
  MatchRelation,
  MatchUpdate,
} from "./model.ts";
export { fitQuestion, readQuestion } from "./question/fit.ts";
