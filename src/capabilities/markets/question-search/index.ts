/** Finds the market that a text asks about. Rejects a text that fits several questions. */
export { findByQuestion, type QuestionAnswer } from "./find-by-question.ts";
