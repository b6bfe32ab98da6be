import Type from "typebox";
import { Compile } from "typebox/schema";
import type { Random } from "../../../ports/random.ts";
import type { Prompt } from "../../../prompting/ask.ts";
import { cleanLine, cleanText } from "../../../prompting/clean-text.ts";
import { findInstruction, removeInstructions } from "../../../prompting/instructions.ts";
import { parseAnswer } from "../../../prompting/parse-answer.ts";
import { QUOTING_RULE, quote } from "../../../prompting/quote.ts";

const TITLE_CHARACTERS = 300;
const RULES_CHARACTERS = 4_000;
const REASON_CHARACTERS = 200;

/** The texts of a market. They contain no price, so that the model judges the questions only. */
export interface MarketText {
  readonly title: string;
  readonly outcomeLabel: string | null;
  readonly eventTitle: string | null;
  readonly rules: string | null;
}

const RELATIONS = ["identical", "inverse", "subset", "superset", "overlap", "different"] as const;

export interface Judgement {
  readonly relation: (typeof RELATIONS)[number];
  /** One sentence; null if it was unusable. */
  readonly reason: string | null;
}

const answerCheck = Compile(
  Type.Object({
    relation: Type.Union(RELATIONS.map((relation) => Type.Literal(relation))),
    reason: Type.String({ maxLength: 2_000 }),
  }),
);

const SYSTEM = `You compare two questions of prediction markets. You decide whether they always resolve alike.
Answer with one JSON object of the given schema and nothing else.
${QUOTING_RULE}`;

const QUESTION = `Compare what must happen for each to resolve YES: who, what, how much, where, until when, and by which source. If one can resolve YES while the other resolves NO, they are not identical.
"identical": both resolve YES in the same cases. "inverse": one resolves YES exactly if the other resolves NO. "subset": if A resolves YES, so does B, but not the reverse. "superset": the reverse of subset. "overlap": the same subject without such an implication. "different": different subjects.
Schema: {"relation": ${RELATIONS.map((relation) => `"${relation}"`).join(" or ")}, "reason": one short sentence that names the decisive agreement or difference}`;

/** Returns the prompt that asks how two markets relate. */
export function judgePrompt(a: MarketText, b: MarketText, random: Pick<Random, "bytes">): Prompt {
  return {
    system: SYSTEM,
    prompt: `${quote("question A", describe(a), random)}\n\n${quote("question B", describe(b), random)}\n\n${QUESTION}`,
  };
}

/** Cleans each text before it removes instructions, which hidden characters could otherwise conceal. */
function describe({ title, outcomeLabel, eventTitle, rules }: MarketText): string {
  const line = (name: string, text: string | null) =>
    text === null ? [] : [`${name}: ${removeInstructions(cleanLine(text, TITLE_CHARACTERS)).text}`];
  const rulesText = removeInstructions(cleanText(rules ?? "", RULES_CHARACTERS)).text;
  return [
    ...line("Event", eventTitle),
    ...line("Question", title),
    ...line("YES means", outcomeLabel),
    `Rules: ${rulesText || "unknown"}`,
  ].join("\n");
}

/** Parses the answer to `judgePrompt`; null if it does not match the schema. */
export function parseJudgement(answer: string): Judgement | null {
  const value = parseAnswer(answerCheck, answer);
  if (value === null) return null;
  const reason = cleanLine(value.reason, REASON_CHARACTERS);
  return { relation: value.relation, reason: reason === "" || findInstruction(reason) !== null ? null : reason };
}
