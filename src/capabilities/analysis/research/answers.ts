import Type from "typebox";
import { Compile } from "typebox/schema";
import { clamp } from "../../../lib/numbers.ts";
import { cleanLine } from "../../../prompting/clean-text.ts";
import { findInstruction } from "../../../prompting/instructions.ts";
import { parseAnswer } from "../../../prompting/parse-answer.ts";
import { wordsOf } from "./duplicates.ts";
import type { BeliefState, Claim, ResearchPlan } from "./model.ts";

const PROBABILITY_MIN = 0.01;
const CLAIM_CHARACTERS = 240;
const NOTE_CHARACTERS = 200;
const QUERY_CHARACTERS = 120;
const LIST_ITEMS_MAX = 12;
const QUERIES_MAX = 6;
/** Minimum share of a claim's words of more than three letters that must occur in its document. */
const GROUNDED_SHARE_MIN = 0.5;

const Text = Type.String({ maxLength: 2_000 });
const Texts = Type.Array(Text, { maxItems: LIST_ITEMS_MAX });
const oneOf = <Value extends string>(...values: readonly Value[]) =>
  Type.Union(values.map((value) => Type.Literal(value)));

const planSchema = Type.Object({ sub_questions: Texts, reference_classes: Texts, queries: Texts });
const beliefSchema = Type.Object({
  probability: Type.Number({ minimum: 0, maximum: 1 }),
  confidence: Type.Number({ minimum: 0, maximum: 1 }),
  evidence: Type.Array(
    Type.Object({
      document: Type.String({ maxLength: 20 }),
      direction: oneOf("yes", "no"),
      strength: oneOf("weak", "moderate", "strong", "decisive"),
      reliability: oneOf("low", "medium", "high"),
      claim: Text,
    }),
    { maxItems: LIST_ITEMS_MAX },
  ),
  open_questions: Texts,
});
const planCheck = Compile(planSchema);
const beliefCheck = Compile(beliefSchema);

const cleanNotes = (texts: readonly string[], itemsMax: number, charactersMax: number): string[] =>
  texts
    .map((text) => cleanLine(text, charactersMax))
    .filter((text) => text !== "")
    .slice(0, itemsMax);

/** Parses the answer to the planning prompt; null if it does not match the schema. */
export function parsePlan(answer: string): ResearchPlan | null {
  const plan = parseAnswer(planCheck, answer);
  if (plan === null) return null;
  return {
    subQuestions: cleanNotes(plan.sub_questions, LIST_ITEMS_MAX, NOTE_CHARACTERS),
    referenceClasses: cleanNotes(plan.reference_classes, LIST_ITEMS_MAX, NOTE_CHARACTERS),
    queries: cleanNotes(plan.queries, QUERIES_MAX, QUERY_CHARACTERS),
  };
}

/**
 * Parses a belief state; null if the answer does not match the schema. The probability is clamped to [0.01, 0.99]. A
 * claim is dropped, and counted, if it cites a document outside the prompt, does not use the document's words, or
 * contains an instruction.
 *
 * @param documents  texts of the prompt's documents, by id
 */
export function parseBelief(
  answer: string,
  documents: ReadonlyMap<string, string>,
): { readonly belief: BeliefState; readonly droppedClaims: number } | null {
  const value = parseAnswer(beliefCheck, answer);
  if (value === null) return null;
  const wordsByDocument = new Map([...documents].map(([id, text]) => [id, new Set(wordsOf(text))]));
  const evidence = value.evidence.flatMap((entry): Claim[] => {
    const words = wordsByDocument.get(entry.document);
    const text = cleanLine(entry.claim, CLAIM_CHARACTERS);
    if (words === undefined || !isGrounded(text, words) || findInstruction(text) !== null) return [];
    const { document: documentId, direction, strength, reliability } = entry;
    return [{ documentId, direction, strength, reliability, text }];
  });
  return {
    belief: {
      probability: clamp(value.probability, PROBABILITY_MIN, 1 - PROBABILITY_MIN),
      confidence: value.confidence,
      evidence,
      openQuestions: cleanNotes(value.open_questions, LIST_ITEMS_MAX, NOTE_CHARACTERS),
    },
    droppedClaims: value.evidence.length - evidence.length,
  };
}

/** Whether enough words of a claim occur in its document. */
function isGrounded(claim: string, words: ReadonlySet<string>): boolean {
  const claimWords = wordsOf(claim).filter((word) => word.length > 3 || !/^[a-z]+$/.test(word));
  if (claimWords.length === 0) return false;
  return claimWords.filter((word) => words.has(word)).length >= GROUNDED_SHARE_MIN * claimWords.length;
}
