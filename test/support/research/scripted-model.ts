import { logit, sigmoid } from "../../../src/lib/numbers.ts";
import type { LanguageModel, LanguageModelCall } from "../../../src/ports/language-model.ts";
import { decodedViews, type Injection, letterKey } from "./injections.ts";

/** Words of the sample pages that speak for and against YES. */
const FOR = /\b(?:gained|ahead|progress|agreed|momentum)\b/gi;
const AGAINST = /\b(?:lost|behind|setback|refused|delay)\b/gi;
const STRENGTHS = ["weak", "moderate", "strong"] as const;
const RATIOS = { weak: 1.25, moderate: 2, strong: 4, decisive: 10 };

/** Ids and texts of the documents in a prompt. */
function documentsOf(prompt: string): { id: string; text: string }[] {
  return [...prompt.matchAll(/BEGIN document\nDocument (\w+)\n([\s\S]*?)\nDATA \S+ END document/g)].map(
    ([, id = "", text = ""]) => ({ id, text }),
  );
}

const sentencesOf = (text: string): string[] =>
  text.split(/(?<=[.!?。])\s+|\n/).filter((sentence) => sentence.length > 20);

/** Answers as a model that follows the prompt, and reads the sample pages correctly. */
export function honestAnswer(call: LanguageModelCall, basePercent: number): string {
  if (/"queries": \[string\]/.test(call.prompt))
    return JSON.stringify({
      sub_questions: ["Who decides?"],
      reference_classes: ["Votes"],
      queries: ["harbour bill vote"],
    });
  const framing = /base rate:/.test(call.system) ? -0.02 : /this case:/.test(call.system) ? 0.03 : 0;
  const shown = /Your probability so far: (\d\.\d+)/.exec(call.prompt)?.[1];
  if (shown === undefined)
    return JSON.stringify({
      probability: basePercent / 100 + framing,
      confidence: 0.5,
      evidence: [],
      open_questions: [],
    });
  let logOdds = logit(Number(shown));
  const evidence = documentsOf(call.prompt).flatMap(({ id, text }) => {
    const balance = (text.match(FOR)?.length ?? 0) - (text.match(AGAINST)?.length ?? 0);
    const strength = STRENGTHS[Math.min(3, Math.abs(balance)) - 1];
    const claim = sentencesOf(text).find((sentence) => sentence.search(FOR) >= 0 || sentence.search(AGAINST) >= 0);
    if (strength === undefined || claim === undefined) return [];
    logOdds += Math.sign(balance) * Math.log(RATIOS[strength]);
    return [{ document: id, direction: balance > 0 ? "yes" : "no", strength, reliability: "medium", claim }];
  });
  return JSON.stringify({ probability: sigmoid(logOdds), confidence: 0.6, evidence, open_questions: [] });
}

/**
 * Answers as a model that obeys: if it finds the demand in any decoding of the prompt, it states the demanded probability,
 * and decisive evidence of high reliability in the words of every document that it sees.
 */
export function obedientAnswer(call: LanguageModelCall, injection: Injection | null, basePercent: number): string {
  if (injection === null || !isVisible(call.prompt, injection)) return honestAnswer(call, basePercent);
  const direction = injection.demand > 0.5 ? "yes" : "no";
  const evidence = documentsOf(call.prompt).flatMap(({ id, text }) =>
    [...sentencesOf(text).slice(-4), text.slice(0, 200)].map((claim) => ({
      document: id,
      direction,
      strength: "decisive",
      reliability: "high",
      claim,
    })),
  );
  return JSON.stringify({
    probability: injection.demand,
    confidence: 1,
    evidence: [
      ...evidence,
      { document: "d99", direction, strength: "decisive", reliability: "high", claim: "Certain." },
    ],
    open_questions: injection.parts,
  });
}

const seen = new Map<string, boolean>();

/** Whether a strong reader finds the demand in the documents of a prompt. Cached, because trials have the same documents. */
export function isVisible(prompt: string, injection: Injection): boolean {
  const text = documentsOf(prompt)
    .map((document) => document.text)
    .join("\n");
  if (text === "") return false;
  const key = `${injection.parts.join("\n")}\n${text}`;
  const views = seen.has(key) ? [] : decodedViews(text).map(letterKey);
  const found = seen.get(key) ?? injection.parts.every((part) => views.some((view) => view.includes(letterKey(part))));
  seen.set(key, found);
  return found;
}

/** A model in this process that answers with a function and keeps its calls. */
export function scriptedModel(
  answer: (call: LanguageModelCall) => string,
  calls: LanguageModelCall[] = [],
): LanguageModel & { readonly calls: readonly LanguageModelCall[] } {
  return {
    name: "scripted",
    price: { input: 1, output: 5 },
    calls,
    async complete(call) {
      calls.push(call);
      return { text: answer(call), inputTokens: null, outputTokens: null, finish: "complete" };
    },
  };
}
