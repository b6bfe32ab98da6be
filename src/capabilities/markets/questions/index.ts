/** Groups markets into independent questions, so that statistics count each question once. */
export { createQuestionLinker } from "./linker.ts";
export { QuestionIndex } from "./model.ts";
export { insertEventLink, readQuestions } from "./queries.ts";
