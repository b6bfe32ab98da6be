import { splitSentences } from "./clean-text.ts";

// Finds passages that instruct the language model. It does not find all of them: the bounds in `pool.ts` limit the
// effect of the others.

/** Marks of chat templates, roles and delimiters, which articles do not contain. */
const TEMPLATE_MARKS: readonly RegExp[] = [
  /<\|[^|>]{1,40}\|>|\[\/?INST\]|<<\/?SYS>>|<\/?s>/i,
  /^\W{0,6}(?:system|assistant|developer|user|human)\s*(?:message|prompt|note|role)?\s*[:>\]]/i,
  /<\/?\s*(?:system|instructions?|prompt|documents?|data|context|user|assistant)\b[^>]{0,40}>/i,
  /#{2,}\s*(?:system|instructions?|response|prompt|new task|task)\b/i,
  /\b(?:begin|end|start|close)(?:ning)?[ _-]+(?:of[ _-]+)?(?:the[ _-]+)?(?:system|instructions?|prompt|untrusted|quoted|data|documents?|context)\b/i,
  /["']role["']\s*:\s*["'](?:system|assistant|developer|user)["']/i,
  /["'](?:probability|confidence|evidence|strength|reliability|documentId|document)["']\s*:/i,
];

/** Words that address a language model. */
const READER =
  /\b(?:AIs?|LLMs?|GPT\S*|ChatGPT|Claude|Gemini|chat ?bots?|(?:language|AI) models?|assistants?|automated (?:readers?|systems?|agents?|forecasters?)|(?:AI|research|forecasting) (?:agents?|systems?|bots?)|forecasters?)\b|\bIA\b|modelo de (?:lenguaje|linguagem)|modèle de langage|asistente|Sprachmodell|\bKI\b|modello linguistico|языков\S+ модел\S+|ассистент|нейросет\S+|语言模型|人工智能|助手|言語モデル|アシスタント|언어 모델|النموذج|المساعد/iu;
/** References to the model's instructions. */
const EARLIER_RULES =
  /\b(?:previous|prior|earlier|above|preceding|existing|other|all|any|your)\b[^.!?\n]{0,30}\b(?:instructions?|rules|directions|guidelines|prompts?|messages?|context|sources|documents|evidence|pages)\b|\bsystem prompts?\b|instrucciones|instructions précédentes|consignes|Anweisungen|istruzioni|instruções|инструкци\S+|указани\S+|指示|指令|说明|지시|تعليمات/iu;
const COMMAND =
  /\b(?:ignore|disregard|forget|override|bypass|set|output|answer|respond|reply|report|assign|return|print|write|give|state|estimate|rate|treat|use|adopt|replace|update|raise|lower|move|increase|decrease|conclude|choose|pick|cite|quote|mark|must|should|have to|need to|required to|instructed to|make sure|ensure|please)\b|ignora|ignore[zr]?|oublie\S*|olvida|responde|réponds|répondez|antworte\S*|ignoriere\S*|vergiss|setze|gib|dimentica|rispondi|imposta|responda|esqueça|defina|игнорир\S+|забуд\S+|ответ\S+|установи\S*|укаж\S+|忽略|无视|忘记|回答|输出|设置|设为|無視|忘れ|答え|出力|設定|무시|대답|설정|تجاهل|أجب|اضبط/iu;
const ANSWER_FIELD =
  /\b(?:probabilit(?:y|ies)|likelihood(?: ratio)?|confidence|forecasts?|estimates?|JSON|belief state|odds|output|answer|response|prediction|decisive)\b|probabilidad\S*|probabilité|Wahrscheinlichkeit|probabilità|probabilidade|вероятност\S+|概率|可能性|確率|확률|احتمال/iu;
/** Names of outcomes. Resolution rules contain them too. */
const OUTCOME_WORD = /\b(?:YES|NO)\b/;
/** A command at the start of a clause, which addresses the reader. */
const IMPERATIVE_START =
  /(?:^|[:;,—–-]\s*|\b(?:now|then|please|instead|and|to)\s+)["'“(*_\s]*(?:ignore|disregard|forget|override|set|output|answer|respond|reply|report|assign|return|print|write|give|state|estimate|rate|treat|use|adopt|replace|update|raise|lower|move|conclude|choose|cite|mark)\b/i;
const FIGURE = /\b\d{1,3}(?:\.\d+)?\s?%|\b[01]\.\d+\b/;
const SECOND_PERSON = /\b(?:you|your)\b/i;

/** Words that revoke the model's instructions. */
const CANCEL =
  /\b(?:ignore|disregard|forget|override|bypass|supersede|ignorez|ignoriere|ignora)\b|vergiss|oublie|olvida|dimentica|esque|игнор|забуд|忽略|无视|忘|無視|무시|تجاهل/iu;
const OBLIGATION = /\b(?:must|should|shall)\b/i;

/** Whether a sentence instructs a language model, or imitates the structure of a prompt. */
export function isInstruction(sentence: string): boolean {
  if (TEMPLATE_MARKS.some((mark) => mark.test(sentence))) return true;
  if (!COMMAND.test(sentence)) return false;
  const namesReader = READER.test(sentence);
  const namesField = ANSWER_FIELD.test(sentence);
  const isImperative = IMPERATIVE_START.test(sentence);
  if (EARLIER_RULES.test(sentence) && (CANCEL.test(sentence) || (namesReader && isImperative))) return true;
  if (namesReader && namesField && (isImperative || SECOND_PERSON.test(sentence) || OBLIGATION.test(sentence)))
    return true;
  if (namesReader && isImperative && OUTCOME_WORD.test(sentence)) return true;
  return namesField && isImperative && FIGURE.test(sentence);
}

/** A word with look-alike letters of two scripts, which evades word filters. */
const MIXED_SCRIPT_WORD =
  /\p{sc=Latin}[\p{sc=Cyrillic}\p{sc=Greek}]\p{L}*|[\p{sc=Cyrillic}\p{sc=Greek}]\p{sc=Latin}\p{L}*/gu;
const MIXED_SCRIPT_WORDS_MAX = 2;

/**
 * Returns a passage that instructs the model or contains words of mixed scripts; null if there is none. Also checks
 * each sentence together with the next one.
 */
export function findInstruction(text: string): string | null {
  const hidden = text.match(MIXED_SCRIPT_WORD) ?? [];
  if (hidden.length > MIXED_SCRIPT_WORDS_MAX) return hidden.slice(0, MIXED_SCRIPT_WORDS_MAX).join(" ");
  const sentences = splitSentences(text);
  const isFound = (sentence: string, index: number): boolean =>
    isInstruction(sentence) || isInstruction(`${sentence} ${sentences[index + 1] ?? ""}`);
  return sentences.find(isFound) ?? null;
}

/** Removes the sentences that instruct the model from a text that the prompt must contain, such as a market's rules. */
export function removeInstructions(text: string): { readonly text: string; readonly removed: number } {
  const sentences = splitSentences(text);
  const kept = sentences.filter((sentence) => !isInstruction(sentence));
  return kept.length === sentences.length
    ? { text, removed: 0 }
    : { text: kept.join("\n"), removed: sentences.length - kept.length };
}
