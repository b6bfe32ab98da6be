/** Word lists for questions in free text: optional words and synonyms. */
import { stemOf } from "../text/words.ts";

const stemsIn = (words: string): string[] => words.split(" ").map(stemOf);

/** Stems of a question that a market need not contain. */
export const OPTIONAL_STEMS: ReadonlySet<string> = new Set(
  stemsIn(
    "chance chances odds probability probabilities likelihood likely probable possible possibly think believe expect " +
      "expected going gonna ever still actually really currently there here about please tell show me my us give price " +
      "prices value bet bets betting predict prediction forecast event outcome meeting decision interest percent percentage " +
      "point points usd dollar dollars upcoming happen happening occur take place bps basis value just even also like know want " +
      "before after since until by but because while today's answer yes need are aren over time any anyone anything somebody someone something next",
  ),
);

/** Stems with one meaning in a question. Each list starts with the common form. */
const GROUPS: readonly (readonly string[])[] = [
  ["cut", "cuts", "lower", "lowers", "reduce", "reduces", "reduction", "slash", "decrease", "trim"],
  ["hike", "hikes", "raise", "raises", "increase", "increases"],
  ["win", "victory", "victorious", "clinch", "triumph"],
  ["unemployment", "jobless", "joblessness"],
  ["president", "potus"],
  ["bitcoin", "xbt"],
  ["film", "movie"],
  ["ceasefire", "truce", "armistice"],
  ["temperature", "temp", "temperatures"],
  ["impeach", "impeachment"],
  ["indict", "indictment"],
  ["nominee", "nomination", "nominate", "nominated"],
  ["earthquake", "quake"],
  ["ipo", "public"],
];

export const QUESTION_SYNONYMS: ReadonlyMap<string, string> = new Map(
  GROUPS.flatMap(([first = "", ...others]) => others.map((word) => [stemOf(word), stemOf(first)] as const)),
);

/** Phrases of questions in normalised text. They are replaced in this order. */
export const QUESTION_PHRASES: readonly (readonly [pattern: RegExp, replacement: string])[] = [
  [/\bcease[- ]fire\b/g, "ceasefire"],
  [/\b(?:a )?quarter[- ](?:of a )?(?:percentage )?point\b/g, "25 bps"],
  [/\b(?:a )?half[- ](?:a )?(?:percentage )?point\b/g, "50 bps"],
  [/\binterest rates?\b/g, "rates"],
  [/\bgo(?:es)? public\b/g, "ipo"],
  [/\bstep(?:s|ped)? down\b|\bleave(?:s)? office\b/g, "resign"],
  [
    /\b(?:crosses|cross|breaks|break|tops|top|passes|pass|clears|clear|past|north of|upwards of|go(?:es)? (?:over|above)|rises? to|climbs? to|gets? to)(?= \$?[0-9])/g,
    "above",
  ],
  [/\b(?:south of|sinks? to|declines? to)(?= \$?[0-9])/g, "below"],
];

const NUMBER_WORDS =
  "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty".split(
    " ",
  );

/** Numbers written as words, from two to twenty. "One" and "zero" are often not numbers ("no one"). */
export const NUMBER_OF_WORD: ReadonlyMap<string, number> = new Map(
  NUMBER_WORDS.map((word, value) => [word, value] as const).slice(2),
);

/** Matches words that negate a question. */
export const NEGATION_PATTERN =
  /\b(?:not|cannot|fails? to|failed to|never|without|no longer|other than|neither|nobody|avoids?|avoid)\b|n't\b|\bno (?=\p{L})/gu;
