/** Phrases about economic statistics and their bounds, on normalised text. */

/** Statistics that are published on a day, as `knowledge/indicators.json` names them. */
const PUBLISHED =
  "(?:inflation|consumerpriceindex|coreconsumerpriceindex|producerpriceindex|grossdomesticproduct|personalconsumption\\w*|nonfarmpayrolls|unemploymentrate)";
/** Figures that are reported as a change over a year. */
const YEARLY = `(?:${PUBLISHED}|growth|prices?|wages?)`;
const YEAR_PHRASE =
  "(?:annually|annual(?:ized)?|over (?:the (?:past|last|previous) )?(?:12|twelve) months|in the (?:past|last|previous) (?:12|twelve) months|(?:12|twelve)[- ]months?|for the year)";
/** Words for the publication of a statistic, which is not the release of a product. */
const REPORT = "(?:as )?(?:release[sd]?|reported|reports?)";

const everywhere = (source: string): RegExp => new RegExp(source, "g");

export const STATISTIC_PHRASES: readonly (readonly [pattern: RegExp, replacement: string])[] = [
  [
    /\b(?:not (?:be )?(?:above|over|more than|greater than|higher than)|no (?:more|greater|higher) than|at or (?:below|under))(?= ?\$?-?[0-9])/g,
    "at most",
  ],
  [
    /\b(?:not (?:be )?(?:below|under|less than|fewer than|lower than)|no (?:less|fewer|lower) than|at or (?:above|over))(?= ?\$?-?[0-9])/g,
    "at least",
  ],
  [/(?<=[0-9])\+ ?(bps|basis points?|%|percent)/g, " $1+"],
  [/\b(?:year[- ](?:over|on)[- ]year|y[/-]?o[/-]?y|y\/y)\b/g, "yoy"],
  [everywhere(`\\b(?:annual(?:ized)?|(?:12|twelve)[- ]months?) (?=(?:\\w+ )?${YEARLY}\\b)`), "yoy "],
  [everywhere(`\\b${YEAR_PHRASE}\\b(?<=\\b${YEARLY}\\b.*)`), "yoy"],
  [/\b(?:month[- ](?:over|on)[- ]month|m[/-]?o[/-]?m|m\/m|monthly)\b/g, "mom"],
  [
    /\badd(?:s|ed)? (?<=\b(?:unitedstates|economy|employers) \w+ )(?=[^,?:]{0,16}[0-9][0-9.]*k? jobs\b)/g,
    "nonfarmpayrolls ",
  ],
  [/ jobs\b(?<=\bnonfarmpayrolls .{0,24}[0-9]k? jobs)/g, ""],
  [
    /\bconsumerpriceindex (?:to )?(?:ha(?:ve|s) )?(?:risen?|rises?|rose|increase[sd]?|(?:be |is )?up|grows?|grown)(?= (?:by |over |more than |above |at least |less than |below |under |exactly )*-?[0-9])/g,
    "consumerpriceindex",
  ],
  [everywhere(`\\brate of (?=${YEARLY}\\b)`), ""],
  [everywhere(`\\b${REPORT}\\b(?:(?=.*\\b${PUBLISHED}\\b)|(?<=\\b${PUBLISHED}\\b.*))`), ""],
];
