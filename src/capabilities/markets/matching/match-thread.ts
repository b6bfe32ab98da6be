import { MatchIndex, type MatchUpdate, PAIR_CONFIDENCE_MIN } from "../../../matching/index.ts";
import type { StateThreadModule } from "../../../ports/state-thread.ts";
import { CANDIDATE_CONFIDENCE_MIN, type MatchRequest } from "./model.ts";

/** Runs on its own thread: applies changes to the index of all markets, and returns the changes of pairs. */
export const createHandler: StateThreadModule<MatchRequest, MatchUpdate>["createHandler"] = () => {
  let opened: MatchIndex | null = null;
  return ({ hasJudge, removed, markets, rules, judgements, overrides, limit }) => {
    opened ??= new MatchIndex(hasJudge ? CANDIDATE_CONFIDENCE_MIN : PAIR_CONFIDENCE_MIN);
    const index = opened;
    for (const id of removed) index.remove(id);
    for (const market of markets) index.set(market);
    for (const { id, rules: text } of rules) index.setRules(id, text);
    index.setJudgements(judgements);
    if (overrides !== null) index.setOverrides(overrides);
    return index.update(limit);
  };
};
