/**
 * Groups markets into independent questions, so that statistics count markets with the same question as one
 * observation.
 */
export { createQuestionLinker } from "./linker.ts";
export { QuestionIndex } from "./model.ts";
export { insertEventLink, readQuestions } from "./queries.ts";
