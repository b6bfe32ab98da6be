import banks from "../knowledge/central-banks.json" with { type: "json" };
import { wordOfName } from "../knowledge/word-of-name.ts";

const BANKS = banks.banks.map(({ name }) => wordOfName(name)).join("|");
/** "No change" is a decision about rates if the title names rates or a central bank. */
const RATES = `\\b(?:rates?|${BANKS})\\b`;
/** Statistics that are published on a day. */
const PUBLISHED =
  "(?:inflation|consumerpriceindex|coreconsumerpriceindex|producerpriceindex|grossdomesticproduct|personalconsumption\\w*|nonfarmpayrolls|unemploymentrate)";
/** Statistics that are reported as a change over a year, as `knowledge/indicators.json` names them. */
const STATISTIC = `(?:${PUBLISHED}|growth|prices?|wages?)`;
/** Words for the publication of a statistic, which is not the release of a product. */
const REPORT = "(?:as )?(?:release[sd]?|reported|reports?)";
/** Words before "rate" in phrases about the rate of a central bank. */
const RATE_WORDS = "(?:(?:its|the|their|current|key|interest|policy|benchmark) )*";
const UP = "(?:hik(?:e[sd]?|ing)|rais(?:e[sd]?|ing)|increas(?:e[sd]?|ing))";
const DOWN = "(?:cut(?:s|ting)?|lower(?:s|ed|ing)?|decreas(?:e[sd]?|ing)|reduc(?:e[sd]?|ing|tions?))";
const STEP = "(?:(?:over|more than|at least|exactly|less than|>=?) ?)?[0-9]+\\+? ?(?:bps|basis points?)\\+?";

/** Returns a pattern that matches a phrase if the title also names a central bank, or if the phrase is the whole title. */
const besideBank = (phrase: string): RegExp =>
  new RegExp(`^${phrase}$|\\b${phrase}\\b(?:(?=.*\\b(?:${BANKS})\\b)|(?<=\\b(?:${BANKS})\\b.*))`, "g");

/** Phrases for a change of a central bank's rate in one direction. Rates of taxes or of postage do not count. */
const rateMove = (direction: string, replacement: string): (readonly [RegExp, string])[] => {
  const phrases = [`${direction} ${RATE_WORDS}rates?(?! than)`, `rate ${direction}(?! than)`];
  return [
    [
      new RegExp(`\\b(?:${direction} ${RATE_WORDS}interest rates?|interest rate ${direction})\\b(?! than)`, "g"),
      replacement,
    ],
    ...phrases.map((phrase) => [besideBank(phrase), replacement] as const),
    [new RegExp(`\\b${direction}\\b(?<=\\b${STEP} (?:or (?:more|less) )?\\w+)`, "g"), replacement],
    [new RegExp(`\\b${direction}(?= (?:of |by )?${STEP}(?!\\w))`, "g"), replacement],
    // "Fed cut in June", but not "Fed cuts its forecast".
    [
      new RegExp(
        `\\b(?=cut|hik)${direction}\\b(?<=\\b(?:${BANKS}) (?:will |to )?\\w+)(?= ?(?:$|[?.,:;)]|(?:in|at|by|on|of|before|after|this|next|again|or|and|20[0-9]{2})\\b|(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)))`,
        "g",
      ),
      replacement,
    ],
  ];
};

/**
 * Different names for the same thing, on normalised text: lower case, without accents. Phrases are replaced in this
 * order, so a longer phrase comes before the phrases it contains.
 */
export const PHRASES: readonly (readonly [pattern: RegExp, replacement: string])[] = [
  // Countries and places; further names are in `knowledge/`.
  [
    /\bu\.? ?s\.? ?a?\.?(?=[^a-z']|$)(?<!\b(?:of|with|to|for|beats?|let|tell|give|help|join|against|about|on) us)/g,
    " unitedstates ",
  ],
  [/\bu\.k\.|\buk\b/g, " unitedkingdom "],
  [/\bsachsen[- ]anhalt\b/g, "saxony anhalt"],
  [/\bnew york city\b|\bnyc\b/g, "newyork"],
  [/\bkiev\b/g, "kyiv"],
  [/\bphilly\b/g, "philadelphia"],
  [/\bvegas\b(?<!las vegas)/g, "las vegas"],
  [/\bfrisco\b|\bsan fran\b/g, "san francisco"],
  [
    /\bbe(?:comes?)? (?:the )?next (?=(?:president|primeminister|chancellor|governor|mayor|senator|pope|partyleader)\b)/g,
    "win election as ",
  ],
  [/\b(?:general|federal) (?=elections?\b)/g, ""],
  [/\b(?:legislative|national assembly) (?=elections?\b)/g, "parliamentary "],
  // Leagues, cups and awards
  [/\bcounter-?\s?strike(?: 2)?\b|\bcs ?2\b|\bcs:?go\b/g, "counterstrike"],
  [/\bleague of legends\b/g, "lol"],
  [/\bbundl\b/g, "bundesliga"],
  [/\bmoty\b/g, "manager of the year"],
  [/\bcpoty\b/g, "comeback player of the year"],
  [/\broty\b/g, "rookie of the year"],
  [/\bdpoy\b/g, "defensive player of the year"],
  [/\bcoty\b/g, "coach of the year"],
  [/\bgrand prix\b|\bgp\b/g, "grandprix"],
  // Politics and institutions
  [/\bhouse of representatives\b/g, "house"],
  [
    /\b(?:finish(?:es)?|takes?|places?|secures?|claims?|end(?:s)?(?: up)?) (?:in )?(?:first|1st|top)(?: place| spot)?\b/g,
    "win",
  ],
  [/\b(?:first|1st) place in\b/g, "winner of"],
  [/\b(?:tops?|topping) (?=(?:the )?(?:\p{L}+ ){0,2}group\b)/gu, "win "],
  [/\blifts? (?=.{0,40}\btrophy\b)/g, "win "],
  [
    /\b(?:be|become[s]?|emerges? as|(?:be |is )?crowned(?: as)?|named(?: as)?|ends? up|come[s]? out) (?:the )?(?=(?:[\p{L}0-9' -]{0,40} )?(?:champions?|winners?)\b)/gu,
    "win ",
  ],
  [
    /\b(?:(?:end|finish|be|is)(?:s|e[sd])? )?(?:in a (?:draw|tie|stalemate)|level|drawn|tied|all square|a (?:draw|tie)|draw) ?(?=[?)]|$)/g,
    "draw",
  ],
  // Companies
  [/\binitial public offering\b|\bgo(?:es)? public\b(?! (?:with|about))|\bpublic listing\b/g, "ipo"],
  [/\bgrand theft auto\b/g, "gta"],
  [/\busd ?(?=[0-9])|\bus ?\$ ?(?=[0-9])/g, "$"],
  [
    /(?<![$0-9.])([0-9]+(?:\.[0-9]+)?(?: ?(?:k|m|bn?|t|thousand|million|billion|trillion))?) (?:us )?(?:dollars|usd)\b/g,
    "$$$1",
  ],
  [/\b(?:shut down|shut-down)\b/g, "shutdown"],
  // Figures
  [/^holds?$|\brates? hold\b|\bhold rates?\b/g, "ratehold"],
  [
    /\bafter (?=(?:the |its )?(?:[\w,]+ ){0,4}meeting\b)|(?<=\bmeeting) (?:ending|concluding|that (?:ends|concludes))\b/g,
    "",
  ],
  [
    /\bno (?:\w+ ){0,2}rate changes?\b|\b(?:makes? )?no changes? (?:in|to) (?:(?:its|the|interest|policy|key) )*rates?\b/g,
    "ratehold",
  ],
  [/\b(?:changes? (?:its |the |policy )*interest rates?|(?:any )?interest rate changes?)\b/g, "not ratehold"],
  [besideBank("(?:changes? (?:its |the |policy )*rates?|(?:any )?rate changes?)"), "not ratehold"],
  [
    /\b(?:not (?:be )?(?:above|over|more than|greater than|higher than)|no (?:more|greater|higher) than|at or (?:below|under))(?= ?\$?[0-9])/g,
    "at most",
  ],
  [
    /\b(?:not (?:be )?(?:below|under|less than|fewer than|lower than)|no (?:less|fewer|lower) than|at or (?:above|over))(?= ?\$?[0-9])/g,
    "at least",
  ],
  [/(?<=[0-9])\+ ?(bps|basis points?|%|percent)/g, " $1+"],
  [/\b(?:a )?quarter(?:[- ]of[- ]a)?[- ](?:percentage[- ])?point\b/g, "25 bps"],
  [/\b(?:a )?half(?:[- ]a)?[- ](?:percentage[- ])?point\b/g, "50 bps"],
  [/(?<![0-9.])0?\.(25|50|75) (?:percentage )?points?\b/g, "$1 bps"],
  [/(?<![0-9.])0?\.5 (?:percentage )?points?\b/g, "50 bps"],
  [/\b(?:year[- ](?:over|on)[- ]year|y[/-]?o[/-]?y|y\/y)\b/g, "yoy"],
  [new RegExp(`\\b(?:annual(?:ized)?|(?:12|twelve)[- ]months?) (?=(?:\\w+ )?${STATISTIC}\\b)`, "g"), "yoy "],
  [
    new RegExp(
      `(?<=\\b${STATISTIC}\\b.*)\\b(?:annually|annual(?:ized)?|over (?:the (?:past|last|previous) )?(?:12|twelve) months|in the (?:past|last|previous) (?:12|twelve) months|(?:12|twelve)[- ]months?|for the year)\\b`,
      "g",
    ),
    "yoy",
  ],
  [
    /\b(?<=\b(?:unitedstates|economy|employers) )add(?:s|ed)? (?=[^,?:]{0,16}[0-9][0-9.]*k? jobs\b)/g,
    "nonfarmpayrolls ",
  ],
  [/ jobs\b(?<=\bnonfarmpayrolls .{0,24}[0-9]k? jobs)/g, ""],
  [
    /\bconsumerpriceindex (?:to )?(?:ha(?:ve|s) )?(?:risen?|rises?|rose|increase[sd]?|(?:be |is )?up|grows?|grown)(?= (?:by |over |more than |above |at least |less than |below |under |exactly )*-?[0-9])/g,
    "consumerpriceindex",
  ],
  [new RegExp(`\\brate of (?=${STATISTIC}\\b)`, "g"), ""],
  [new RegExp(`\\b${REPORT}\\b(?:(?=.*\\b${PUBLISHED}\\b)|(?<=\\b${PUBLISHED}\\b.*))`, "g"), ""],
  [/\b(?:month[- ](?:over|on)[- ]month|m[/-]?o[/-]?m|m\/m|monthly)\b/g, "mom"],
  [/\bbtc\b/g, "bitcoin"],
  [/\beth\b/g, "ethereum"],
  [
    /\b(?:(?:holds?|keeps?|leaves?|maintains?) (?:(?:its|the|their|current|key|interest|policy) )*rates?(?: (?:steady|unchanged|at|where))?|no cut|(?:cuts?|hikes?|increases?|decreases?|raises?|lowers?) (?:rates? )?(?:by )?0 ?(?:bps|%|basis points?))(?![0-9])/g,
    "ratehold",
  ],
  [/^(?:no change|unchanged|maintains?)$/, "ratehold"],
  [
    new RegExp(
      `\\b(?:no change|unchanged|maintains?)\\b(?=.*${RATES})|(?<=${RATES}.*)\\b(?:no change|unchanged)\\b`,
      "g",
    ),
    "ratehold",
  ],
  ...rateMove(DOWN, "ratecut"),
  ...rateMove(UP, "ratehike"),
];

/** The stems (`stemOf`) that mean the same as each key, which is a stem too. */
const STEMS_BY_MEANING = {
  win: "wins won winner winning winn victor victory victoriou beat champion championship title trophy crown triumph clinch lift",
  draw: "tie tied drawn",
  president: "presidential presidency",
  governor: "gubernatorial governorship",
  senate: "senator senatorial",
  mayor: "mayoral",
  parliament: "parliamentary",
  launch: "launched",
  releas: "publish",
  out: "cease ousted removed resign leav left depart",
  qualify: "advanc advance qualifi qualifier",
  acquire: "acquir buy purchas",
  philadelphia: "philadelphian",
};

export const SYNONYMS: ReadonlyMap<string, string> = new Map(
  Object.entries(STEMS_BY_MEANING).flatMap(([meaning, stems]) => stems.split(" ").map((stem) => [stem, meaning])),
);

/** Words that are ignored in a match. */
export const STOP_WORDS: ReadonlySet<string> = new Set(
  (
    "a an the of in on at to for by be is are was were been will would shall should could can may who what which when " +
    "where how many much does do did any their its his her our your and or with from as it this that these those there " +
    "have has had than then into onto up upon during until till between both each other some such if so not yes no s t " +
    "d ll re ve market markets question resolve resolves resolved happen happens occur i you he she they we " +
    "yoy versus fifa men mens official officially professional pro via per vs v x get gets become becomes whether least"
  ).split(" "),
);

/** Words for the kind of an organisation, not for a specific organisation. */
export const FILLER_WORDS: ReadonlySet<string> = new Set(
  (
    "fc cf sc ac afc cfc ssc rc rcd ud cd sd bk fk sk sv vfb vfl tsg tsv fsv bsc ogc as us club calcio de la el los " +
    "esports esport gaming team national city league cup award awards prize race election seat game match tournament " +
    "season win champion final title finish official party candidate counterstrike lol dota valorant group stage " +
    "playoff playoffs year new"
  ).split(" "),
);
