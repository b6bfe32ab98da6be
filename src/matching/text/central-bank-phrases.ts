/**
 * Phrases about the decision of a central bank, on normalised text: a cut ("ratecut"), a hike ("ratehike") or no change
 * ("ratehold"). Rates of taxes or of postage do not count.
 */
import banks from "../knowledge/central-banks.json" with { type: "json" };
import { wordOfName } from "../knowledge/word-of-name.ts";

type Phrases = readonly (readonly [pattern: RegExp, replacement: string])[];

const BANKS = banks.banks.map(({ name }) => wordOfName(name)).join("|");
/** "No change" is a decision about rates if the title names rates or a central bank. */
const RATES = `\\b(?:rates?|${BANKS})\\b`;
/** Rates, with the words that can stand before them. */
const SOME_RATES = "(?:(?:its|the|their|current|key|interest|policy|benchmark) )*rates?";
const UP = "(?:hik(?:e[sd]?|ing)|rais(?:e[sd]?|ing)|increas(?:e[sd]?|ing))";
const DOWN = "(?:cut(?:s|ting)?|lower(?:s|ed|ing)?|decreas(?:e[sd]?|ing)|reduc(?:e[sd]?|ing|tions?))";
const STEP = "(?:(?:over|more than|at least|exactly|less than|>=?) ?)?[0-9]+\\+? ?(?:bps|basis points?)\\+?";
/** What can follow a cut or hike that is a decision: "Fed cut in June", but not "Fed cuts its forecast". */
const AFTER_DECISION =
  " ?(?:$|[?.,:;)]|(?:in|at|by|on|of|before|after|this|next|again|or|and|20[0-9]{2})\\b|(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec))";

const everywhere = (source: string): RegExp => new RegExp(source, "g");

/** Returns a pattern that matches a phrase if the title also names a central bank, or if the phrase is the whole title. */
const besideBank = (phrase: string): RegExp =>
  everywhere(`^${phrase}$|\\b${phrase}\\b(?:(?=.*\\b(?:${BANKS})\\b)|(?<=\\b(?:${BANKS})\\b.*))`);

/** Phrases for a change of a central bank's rate in one direction. */
const movePhrases = (direction: string, replacement: string): Phrases =>
  [
    everywhere(`\\b(?:${direction} (?:\\w+ )?interest rates?|interest rate ${direction})\\b(?! than)`),
    besideBank(`${direction} ${SOME_RATES}(?! than)`),
    besideBank(`rate ${direction}(?! than)`),
    everywhere(`\\b${direction}\\b(?<=\\b${STEP} (?:or (?:more|less) )?\\w+)`),
    everywhere(`\\b${direction}(?= (?:of |by )?${STEP}(?!\\w))`),
    everywhere(`\\b(?=cut|hik)${direction}\\b(?<=\\b(?:${BANKS}) (?:will |to )?\\w+)(?=${AFTER_DECISION})`),
  ].map((pattern) => [pattern, replacement]);

export const CENTRAL_BANK_PHRASES: Phrases = [
  [/\b(?:a )?quarter(?:[- ]of[- ]a)?[- ](?:percentage[- ])?point\b/g, "25 bps"],
  [/\b(?:a )?half(?:[- ]a)?[- ](?:percentage[- ])?point\b/g, "50 bps"],
  [/(?<![0-9.])0?\.(25|50|75) (?:percentage )?points?\b/g, "$1 bps"],
  [/(?<![0-9.])0?\.5 (?:percentage )?points?\b/g, "50 bps"],
  [/\bafter (?=(?:the |its )?(?:[\w,]+ ){0,4}meeting\b)/g, ""],
  [/ (?:ending|concluding|that (?:ends|concludes))\b(?<=\bmeeting [a-z ]{1,16})/g, ""],
  [/^holds?$|^(?:no change|unchanged|maintains?)$|\brates? hold\b|\bhold rates?\b/g, "ratehold"],
  [
    everywhere(`\\bno (?:\\w+ ){0,2}rate changes?\\b|\\b(?:makes? )?no changes? (?:in|to) ${SOME_RATES}\\b`),
    "ratehold",
  ],
  [/\b(?:changes? (?:\w+ )?interest rates?|(?:any )?interest rate changes?)\b/g, "not ratehold"],
  [besideBank(`(?:changes? ${SOME_RATES}|(?:any )?rate changes?)`), "not ratehold"],
  [
    everywhere(
      `\\b(?:(?:holds?|keeps?|leaves?|maintains?) ${SOME_RATES}(?: (?:steady|unchanged|at|where))?|no cut|(?:${UP}|${DOWN}) (?:rates? )?(?:by )?0 ?(?:bps|%|basis points?))(?![0-9])`,
    ),
    "ratehold",
  ],
  [everywhere(`\\b(?:no change|unchanged|maintains?)\\b(?=.*${RATES})`), "ratehold"],
  [everywhere(`\\b(?:no change|unchanged)\\b(?<=${RATES}.*)`), "ratehold"],
  ...movePhrases(DOWN, "ratecut"),
  ...movePhrases(UP, "ratehike"),
];
