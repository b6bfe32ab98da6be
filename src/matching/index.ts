/** Finds markets and events of different venues that ask the same question. */
export { MatchIndex } from "./match-index.ts";
export type {
  EventPair,
  MarketPair,
  MatchableMarket,
  MatchOverride,
  MatchRelation,
  MatchUpdate,
} from "./model.ts";
