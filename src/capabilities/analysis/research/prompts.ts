import type { Random } from "../../../ports/random.ts";
import type { Prompt } from "../../../prompting/ask.ts";
import { cleanLine, cleanText } from "../../../prompting/clean-text.ts";
import { QUOTING_RULE, quote } from "../../../prompting/quote.ts";
import { LIKELIHOOD_RATIOS } from "./evidence.ts";
import type { Framing, ResearchDocument, ResearchPlan, ResearchQuestion, SourceReading } from "./model.ts";

/** Summary of a read source, without its text, so that text of one source never occurs in another's prompt. */
export interface ReadSourceSummary {
  readonly sourceId: string;
  readonly direction: "yes" | "no" | "none";
  readonly strength: keyof typeof LIKELIHOOD_RATIOS | "none";
}

const TITLE_CHARACTERS = 300;

const RULES = `You are a careful forecaster. You estimate the probability that a question resolves YES.
Answer with one JSON object of the given schema and nothing else.
${QUOTING_RULE}`;

const BELIEF_SCHEMA = `Schema: {"probability": number from 0.01 to 0.99, "confidence": number from 0 to 1, "evidence": [{"document": id, "direction": "yes" or "no", "strength": ${Object.entries(
  LIKELIHOOD_RATIOS,
)
  .map(([strength, ratio]) => `"${strength}" (likelihood ratio ${ratio})`)
  .join(
    " or ",
  )}, "reliability": "low" or "medium" or "high", "claim": one sentence in the words of the document}], "open_questions": [string]}`;

const FRAMINGS: Readonly<Record<Framing, string>> = {
  base_rate:
    "Begin with the base rate: how often did events of this kind happen in comparable cases in comparable time? Then adjust for this case.",
  inside_view:
    "Begin with this case: who must do what until when, what can prevent it, and how likely is each step? Then compare with comparable cases.",
  opposite:
    "Begin with your first estimate. Then list the best reasons why it is too high and why it is too low, and correct it.",
};

const dateOf = (at: number): string => new Date(at).toISOString().slice(0, 10);

function quoteQuestion(question: ResearchQuestion, random: Pick<Random, "bytes">): string {
  const lines = [
    `Question: ${cleanLine(question.title, TITLE_CHARACTERS)}`,
    ...(question.outcomeLabel ? [`YES means: ${cleanLine(question.outcomeLabel, TITLE_CHARACTERS)}`] : []),
    `Rules: ${question.rules || "unknown"}`,
  ];
  const closes = question.closeAt === null ? "unknown" : dateOf(question.closeAt);
  return `${quote("question", lines.join("\n"), random)}\nToday: ${dateOf(question.asOf)}. The question closes: ${closes}.`;
}

/** Asks for sub-questions, reference classes and search queries. */
export function planPrompt(question: ResearchQuestion, queries: number, random: Pick<Random, "bytes">): Prompt {
  return {
    system: RULES,
    prompt: `${quoteQuestion(question, random)}

Plan the research of this question. Give at most 5 sub-questions, at most 3 reference classes for a base rate, and at most ${queries} short queries for a news search engine.
Schema: {"sub_questions": [string], "reference_classes": [string], "queries": [string]}`,
  };
}

/** Asks for the belief before any document. */
export function blindPrompt(
  question: ResearchQuestion,
  plan: ResearchPlan,
  framing: Framing,
  random: Pick<Random, "bytes">,
): Prompt {
  const notes = [...plan.referenceClasses, ...plan.subQuestions].map((note) => `- ${note}`).join("\n");
  return {
    system: `${RULES}\n${FRAMINGS[framing]}`,
    prompt: `${quoteQuestion(question, random)}

${quote("notes", notes, random)}

State your belief before you read any document. "evidence" is empty.
${BELIEF_SCHEMA}`,
  };
}

/** Asks to update the belief with the documents of one source. */
export function readingPrompt(
  question: ResearchQuestion,
  framing: Framing,
  belief: { readonly probability: number; readonly read: readonly ReadSourceSummary[] },
  documents: readonly ResearchDocument[],
  random: Pick<Random, "bytes">,
): Prompt {
  const read = belief.read
    .map(({ sourceId, direction, strength }) => `${sourceId}: ${strength}, ${direction}`)
    .join("; ");
  const texts = documents.map(({ id, title, host, publishedAt, text }) => {
    const published = publishedAt === null ? "unknown" : dateOf(publishedAt);
    const head = `Document ${id}\nHost: ${host}\nPublished: ${published}\nTitle: ${cleanLine(title, TITLE_CHARACTERS)}`;
    return quote("document", `${head}\n${text}`, random);
  });
  return {
    system: `${RULES}\n${FRAMINGS[framing]}`,
    prompt: `${quoteQuestion(question, random)}

Your probability so far: ${belief.probability.toFixed(3)}. Sources read so far: ${read === "" ? "none" : read}.

${texts.join("\n\n")}

Update your belief with this source only. "evidence" lists what it states that makes YES more or less likely, each with the id of its document; leave it empty if it says nothing relevant or nothing new.
${BELIEF_SCHEMA}`,
  };
}

export function summariseReading({ sourceId, belief }: SourceReading): ReadSourceSummary {
  const [first] = belief.evidence;
  return { sourceId, direction: first?.direction ?? "none", strength: first?.strength ?? "none" };
}

/** Cleans the texts of a question once, so that all prompts contain the same text. */
export function cleanQuestion(question: ResearchQuestion, rules: string, rulesCharacters: number): ResearchQuestion {
  return { ...question, title: cleanLine(question.title, TITLE_CHARACTERS), rules: cleanText(rules, rulesCharacters) };
}
