import { CENTRAL_BANK_PHRASES } from "./central-bank-phrases.ts";
import { STATISTIC_PHRASES } from "./statistic-phrases.ts";

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
  [
    /\b(?:takes?|taking|carr(?:y|ies)|captures?) (?=(?:the |home )*(?:[\p{L}0-9'-]+ ){0,3}(?:titles?|championship|crown|seat|district|presidency|governorship|nomination|election|cup|gold|majority)\b)/gu,
    "win ",
  ],
  // Politics and institutions
  [/\b(?:by|special)[- ]elections?\b|\bbyelections?\b/g, "specialelection"],
  [/(?<=\b\p{L}{3,} ?)-([0-9]{1,3}) seat\b/gu, " district $1 seat"],
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
  // Weather
  [/\bmeasurable (?=rain|snow|precipitation)/g, ""],
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
  ...STATISTIC_PHRASES,
  ...CENTRAL_BANK_PHRASES,
  // YES of "up or down" is up.
  [/\bup (?:or|and|\/) ?down\b|\bup\/down\b/g, "up"],
  [/\bbtc\b/g, "bitcoin"],
  [/\beth\b/g, "ethereum"],
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
