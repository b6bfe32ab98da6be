/** Independent questions: which markets are one observation, because they ask the same question. */
export { createQuestionLinker } from "./linker.ts";
export { QuestionIndex } from "./model.ts";
export { insertEventLink, readQuestions } from "./queries.ts";
