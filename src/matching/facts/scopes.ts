/** The scope of a question: stage of a contest, office, district, bet type, action, direction and similar dimensions. */
import { knownStems } from "../knowledge/known-stems.ts";
import { stemOf } from "../text/words.ts";

/** Each dimension has at most a few values per title. */
export type ScopeDimension =
  | "office"
  | "party"
  | "seat"
  | "district"
  | "group"
  | "part"
  | "stage"
  | "segment"
  | "bet"
  | "reading"
  | "action"
  | "manner"
  | "condition"
  | "direction"
  | "polarity"
  | "ordinal"
  | "rank"
  | "number"
  | "award"
  | "time";

export type Scopes = ReadonlyMap<ScopeDimension, ReadonlySet<string>>;

type Rule = readonly [dimension: ScopeDimension, value: string | null, pattern: RegExp];

/** Dimension, value and pattern on normalised text. If the value is null, it is the pattern's first group. */
const RULES: readonly Rule[] = [
  ["office", stemOf("senator"), /\bsenate\b/],
  ["office", stemOf("representative"), /\bhouse\b(?! of cards)/],
  ["seat", null, /(?<![\w-])([a-z]{2}-(?:[0-9]{1,2}|al))(?![\w-])/],
  ["part", null, /\b(?:map|game|set|quarter|period|inning) ?#?([0-9]{1,2})\b/],
  ["district", null, /\b(?:district|week|race|episode|season) ?#?([0-9]{1,3})\b/],
  ["group", null, /\bgroup ([a-l])\b/],
  ["stage", "nominee", /\b(?:nominees?|nomination|nominated|primary|primaries)\b/],
  ["stage", "runoff", /\b(?:run-?off|second round|2nd round|advances? (?:to|from|through))\b/],
  ["stage", "final", /\b(?:reach|make|advance to|qualify for|in) (?:the )?(?:[a-z0-9]+ ){0,4}(?:grand )?final\b/],
  ["stage", "semifinal", /\bsemi-? ?finals?\b/],
  ["stage", "quarterfinal", /\bquarter-? ?finals?\b/],
  ["stage", "roundof", /\bround of [0-9]+\b|\blast 16\b/],
  ["stage", "division", /\bdivision\b/],
  ["stage", "playoffs", /\b(?:make|reach|qualify for|in) (?:the )?(?:[a-z0-9]+ ){0,2}play-?offs?\b/],
  ["stage", "participate", /\b(?:participates?|take part|play in|compete)\b/],
  ["stage", "part-of-season", /\b(?:regular|mid|pre|half)[- ]season (?:title|champion|winner|win\b)/],
  ["stage", "squad", /\b(?:squad|called up|call-up|roster)\b/],
  ["stage", "series", /(?<!\bchampionship )\bseries\b(?! champion)/],
  ["stage", "relegated", /\brelegat/],
  ["stage", "promoted", /\bpromot(?:ed|ion)\b/],
  ["stage", null, /\b(top [0-9]+)\b/],
  ["stage", "round", /\bround (?:#?[0-9]+|one|two)\b(?!-)|\b(?:first|1st) round\b/],
  ["award", null, /\bbest ((?:supporting |original |adapted |animated |international |new )?\p{L}+)/u],
  ["stage", "second", /\b(?:second|2nd) place\b|\brunner-?up\b|\bin (?:second|2nd)\b/],
  ["stage", "third", /\b(?:third|3rd) (?:place|most)\b/],
  ["stage", "last", /\blast place\b|\b(?:finish|come|place)(?:s|es)? (?:dead )?last\b/],
  [
    "stage",
    "tournament-best",
    /\b(?:best record|most wins|golden boot|top (?:goal ?)?scorer|most goals?|most goal contributions|most points)\b/,
  ],
  ["stage", "televote", /\btelevote\b/],
  ["stage", "jury", /\bjury\b/],
  ["stage", "pole", /\bpole(?: position)?\b/],
  ["stage", "podium", /\bpodium\b/],
  ["stage", "fastest-lap", /\bfastest lap\b/],
  ["stage", "practice", /\bpractice [0-9]\b/],
  ["stage", "sprint", /\bsprint\b/],
  ["stage", "qualifying", /\bqualifying\b/],
  ["segment", "half", /\b(?:half-? ?time|1st half|first half|2nd half|second half|1h|2h)\b/],
  ["segment", "first-inning", /\bfirst inning\b/],
  ["segment", "first-innings", /\bfirst [0-9] innings?\b/],
  ["segment", "part", /\b(?:part of|partially|any part|portion of)\b/],
  ["bet", "exact-score", /\bexact score\b|\bcorrect score\b|\bcompleted match\b/],
  ["bet", "corners", /\bcorners?\b/],
  ["bet", "cards", /\b(?:total )?cards\b|\bbookings?\b/],
  ["bet", "total", /\bo\/u\b|\bover\/under\b|\btotals?\b|\bgoals be scored\b|\bodd\/even\b/],
  ["bet", "spread", /\bspreads?\b|\bhandicap\b|(?<=[ (])[-+][0-9]{1,2}\.5\b/],
  [
    "bet",
    "margin",
    /\bmargins?\b|\bmarginofvictory\b|\bwins? by (?:over|more|at least|between|[0-9])|\b(?:win|wins|won) .{0,60}\bby (?:over|more|at least|between|[0-9]+(?:\.[0-9]+)?%)/,
  ],
  ["bet", "both-score", /\bboth teams to score\b|\bboth [a-z .'0-9-]+ score\b|\bbtts\b/],
  [
    "bet",
    "props",
    /\bplayer props\b|\bgoalscorer\b|\b(?:[0-9]+\+|at least [0-9]+|[0-9]+ or more) (?:points|rebounds|assists|home runs|hits|strikeouts|threes|goals|runs|total bases|receptions|yards)\b|\bhome runs\b|: (?:points|rebounds|assists|receptions|strikeouts|hits) (?:over|under|o\/u)/,
  ],
  ["bet", "more", /\bmore markets\b/],
  ["bet", "mention", /\b(?:announcers?|says?|mention(?:s|ed)?)\b/],
  ["bet", "toss", /\btoss\b/],
  ["bet", "first-to", /\bfirst (?:team|player) to\b|\bfirst ?\?$|\bor \$?[0-9.]+[kmb]? first\b/],
  ["bet", "draw", /\b(?:draw|tie)\b/],
  ["bet", "majority", /\bmajority\b(?! leader)/],
  ["bet", "overtime", /\bovertime\b/],
  ["bet", "vote-share", /\bvote share\b|\bpercent(?:age)? of (?:the )?vote\b|\bturnout\b/],
  ["bet", "popular-vote", /\bpopular vote\b/],
  ["bet", "next-of-list", /\bbe (?:the )?next (?:\p{L}+ ){0,3}(?:out|to)\b/u],
  ["bet", "count", /\bhow many\b|\bnumber of\b/],
  [
    "bet",
    "touch",
    /\b(?:hits?|reach(?:es)?|touch(?:es)?|dips? to|get to|all[- ]time high|ath)\b(?! (?:a |an )?(?:deal|agreement|final))/,
  ],
  [
    "bet",
    "close-at",
    /\b(?:close[sd]?|settle[sd]?|end(?:s|ed)?) (?:above|below|over|under|between|at|up|down|[<>]|oil)|\bsettle\b/,
  ],
  ["reading", "core", /\bcore/],
  ["reading", "private", /\bprivatepayrolls\b/],
  ["reading", "mom", /\bmom\b/],
  ["reading", "nuclear-test", /\bnuclear test\b/],
  ["reading", "trimmed-mean", /\btrimmed mean\b/],
  ["reading", "lowest", /\b(?:lowest|minimum|low)\b/],
  ["reading", "highest", /\b(?:highest|maximum|high (?:temp(?:erature)?|of)|daily high)\b/],
  ["manner", "announce", /\b(?:announc(?:e|es|ed|ement)|propos(?:e|es|ed)|plans? to)\b/],
  ["manner", "confirm", /\bconfirm(?:s|ed|ation)?\b/],
  ["action", "nominate", /\bnominat(?:es?|ed)\b/],
  ["action", "ceasefire", /\bcease-? ?fire\b/],
  ["action", "end", /\b(?:war|conflict) ends?\b|\bend (?:the )?war\b|\bpeace (?:deal|agreement|treaty)\b/],
  ["action", "invade", /\binva(?:de|des|ded|sion)\b/],
  ["action", "strike", /\b(?:air)?strikes?\b|\bbomb|\battacks?\b/],
  ["manner", "postpone", /\b(?:postpone[ds]?|delay(?:ed)?)\b/],
  [
    "action",
    "leave",
    /\b(?:leave[sd]?|left|resign(?:s|ed|ation)?|out|oust(?:s|ed)?|removed?|step(?:s|ping|ped)? down|depart(?:s|ed|ure)?|cease[sd]? to be|no longer)\b/,
  ],
  ["action", "fire", /\b(?:fire[sd]?|firing|dismiss(?:es|ed)?|sack(?:s|ed)?)\b(?<!cease ?fire)/],
  ["action", "arrest", /\b(?:arrest(?:s|ed)?|detained|in custody)\b/],
  ["action", "charge", /\b(?:charged|indict(?:s|ed|ment)?|criminally)\b/],
  ["action", "convict", /\b(?:convict(?:s|ed|ion)?|guilty)\b/],
  ["action", "jail", /\b(?:jail(?:ed)?|prison|imprisoned|incarcerated|behind bars)\b/],
  ["action", "pardon", /\b(?:pardon(?:s|ed)?|clemency|commut(?:e|es|ed|ation))\b/],
  ["action", "impeach", /\bimpeach/],
  ["action", "join", /\bjoin(?:s|ed)?\b/],
  ["action", "host", /\bhost(?:s|ed)?\b/],
  ["action", "visit", /\b(?:visit(?:s|ed)?|enters?|travels? to|trip to)\b/],
  ["action", "meet", /\b(?:meets?|met|(?:diplomatic|face-to-face) meetings?|meeting (?:with|between)|summit)\b/],
  ["action", "recognize", /\brecogni[sz]e/],
  ["action", "normalize", /\bnormali[sz]/],
  ["action", "endorse", /\bendors/],
  ["action", "vote", /\b(?:votes?|voting) (?:for|on|to|against|yea|nay|"|')/],
  ["action", "pass", /\bpass(?:es|ed)?\b/],
  ["action", "law", /\b(?:become law|becomes law|signed into law|enact(?:s|ed)?)\b/],
  ["action", "run", /\brun(?:s|ning)? (?:for|again)\b|\bcandidacy\b|\b(?:presidential|president) run\b/],
  ["action", "withdraw", /\b(?:withdraw(?:s|n)?|drop(?:s|ped)? out|suspend(?:s|ed)? (?:his|her|their)? ?campaign)\b/],
  [
    "action",
    "acquire",
    /\b(?:acquir(?:es?|ed|ing)|acquisition|buys?|bought|purchas(?:es?|ed)|takeover|merge[sd]?|merger)\b/,
  ],
  ["action", "release", /\b(?:releas(?:es?|ed)|launch(?:es|ed)?|comes? out|ships?|debuts?)\b/],
  ["action", "ipo", /\bipo\b|\bgo(?:es)? public\b|\bpublicly (?:traded|listed)\b/],
  ["action", "qualify", /\b(?:qualif(?:y|ies|ied)|advances?|(?:reach|make)(?:es|s)? the)\b/],
  ["action", "deal", /\b(?:deal|agreement|treaty|accords?)\b/],
  ["action", "die", /\b(?:dies?|died|death|dead)\b/],
  ["action", "win", /\b(?:wins?|winner|won|winning|victory|champion(?:s|ship)?|title|elected|beats?)\b/],
  ["manner", "if", /^if\b|\bconditional on\b/],
  ["manner", "vice", /\bvicepresident\b|\bvice\b|\brunning mate\b/],
  ["manner", "junior", /\b(?:jr|junior)\b/],
  ["manner", "end", /\b(?:ends?|ended)\b(?! (?:in|of|up|with)\b)/],
  ["segment", "women", /\b(?:women'?s?|ladies|girls)\b/],
  ["segment", "youth", /\bu-?(?:17|19|20|21|23)s?\b/],
  ["condition", "before-other", /\bbefore (?:the )?[a-z]/],
  ["direction", "up", /\b(?:ratehike|raise[sd]?|raising|hikes?|hiked|increase[sd]?|rise[sn]?|rose|higher)\b/],
  [
    "direction",
    "down",
    /\b(?:ratecut|cuts?|cutting|decrease[sd]?|lower(?:s|ed)?|reduc(?:e|es|ed|tion)|falls?|dips?|drops?|declines?)\b/,
  ],
  ["direction", "hold", /\bratehold\b/],
  ["polarity", "not", /\b(?:not|fails? to|won't|doesn't|avoids?|loses?|no one|nobody|none)\b/],
  ["polarity", "defeat", /\bdefeat\b/],
  ["polarity", "never", /\b(?:never|without|other than)\b/],
  ["polarity", "remain", /\b(?:remains?|stays?|survives?|survived|keeps?|retains?)\b/],
];

/** Dimensions that hold for all markets of an event. */
const EVENT_DIMENSIONS: ReadonlySet<ScopeDimension> = new Set([
  "office",
  "group",
  "stage",
  "segment",
  "part",
  "reading",
]);

/**
 * Finds the scopes of a market's normalised text without dates. The event's title adds the scopes that apply to all its
 * markets.
 *
 * @param stems  stems of the text without dates and quantities
 */
export function findScopes(
  text: string,
  stems: readonly string[],
  { eventTitle = "", times = [] }: { readonly eventTitle?: string; readonly times?: readonly string[] } = {},
): Scopes {
  const scopes = new Map<ScopeDimension, Set<string>>();
  collect(scopes, text, RULES);
  collect(scopes, eventTitle, EVENT_RULES);
  const bets = scopes.get("bet");
  // "Total corners" is a bet on corners.
  if (bets !== undefined && bets.size > 1) bets.delete("total");
  const stages = scopes.get("stage");
  // A question about a semi-final may also mention the final.
  if (stages?.has("semifinal") === true) stages.delete("final");
  // "Remains" and "leaves" are about the same action.
  if (scopes.get("polarity")?.has("remain") === true) add(scopes, "action", "leave");
  for (const time of times) add(scopes, "time", time);
  const { offices, parties } = knownStems();
  for (const stem of stems) {
    if (/^[0-9]+th$/.test(stem)) add(scopes, stem === "1th" ? "ordinal" : "rank", stem);
    else if (/^[0-9]+$/.test(stem)) add(scopes, "number", String(Number(stem)));
    else if (offices.has(stem)) add(scopes, "office", stem);
    else if (parties.has(stem)) add(scopes, "party", stem);
  }
  const named = [...(scopes.get("office") ?? [])];
  if (named.length > 1 && /\b(?:both|and)\b/.test(text)) add(scopes, "manner", "all offices");
  // The nominee for an appointed office is not the nominee of a party.
  if (named.length > 0 && !named.some((office) => ELECTED_OFFICES.has(office))) stages?.delete("nominee");
  if (stages?.size === 0) scopes.delete("stage");
  return scopes;
}

const ELECTED_OFFICES: ReadonlySet<string> = new Set(
  "president vicepresident senate house senator representative governor lieutenantgovernor mayor attorneygeneral statesenator staterepresentative districtattorney comptroller"
    .split(" ")
    .map(stemOf),
);

function add(scopes: Map<ScopeDimension, Set<string>>, dimension: ScopeDimension, value: string): void {
  const values = scopes.get(dimension);
  if (values === undefined) scopes.set(dimension, new Set([value]));
  else values.add(value);
}

function collect(scopes: Map<ScopeDimension, Set<string>>, text: string, rules: readonly Rule[]): void {
  for (const [dimension, value, pattern] of rules) {
    const match = pattern.exec(text);
    if (match === null) continue;
    // "NC-1" and "NC-01" are the same district.
    const found = value ?? (match[1] ?? "").replace(/\b0+(?=[0-9])/, "");
    add(scopes, dimension, found);
  }
}

const EVENT_RULES = RULES.filter(([dimension]) => EVENT_DIMENSIONS.has(dimension));

/** Dimensions in which an additional value changes the question: "first place in the primary" is not "nominee". */
const EXACT_DIMENSIONS: ReadonlySet<ScopeDimension> = new Set([
  "stage",
  "bet",
  "segment",
  "action",
  "manner",
  "condition",
]);
/** Dimensions that describe a fixture ("World Cup, Group A") without changing the question. */
const FIXTURE_DESCRIPTIONS: ReadonlySet<ScopeDimension> = new Set(["group", "district", "condition", "number"]);

/** one_sided: only one question has a value. partial: the questions share a value, but one has another value too. */
export type ScopeRelation = "same" | "differs" | "one_sided" | "partial";

export interface ScopeComparison {
  /** Actions that only one question names. */
  readonly otherActions: ReadonlySet<string>;
  /** The dimensions of which at least one question has a value, except polarity. */
  readonly relations: ReadonlyMap<ScopeDimension, ScopeRelation>;
  /** Whether the titles differ in negating words such as "not" or "remain". */
  readonly isPolarityFlipped: boolean;
}

const NO_VALUES: ReadonlySet<string> = new Set();
const NO_DIFFERENCE: ScopeComparison = { otherActions: NO_VALUES, relations: new Map(), isPolarityFlipped: false };

/** @param areFixtures  whether both questions are about a fixture */
export function compareScopes(a: Scopes, b: Scopes, areFixtures: boolean): ScopeComparison {
  if (a.size === 0 && b.size === 0) return NO_DIFFERENCE;
  const relations = new Map<ScopeDimension, ScopeRelation>();
  let isPolarityFlipped = false;
  const add = (dimension: ScopeDimension) => {
    const relation = compareValues(a.get(dimension), b.get(dimension), dimension);
    if (dimension === "polarity") isPolarityFlipped = relation !== "same";
    else if (!(areFixtures && FIXTURE_DESCRIPTIONS.has(dimension))) relations.set(dimension, relation);
  };
  for (const dimension of a.keys()) add(dimension);
  for (const dimension of b.keys()) if (!a.has(dimension)) add(dimension);
  const [actionsA, actionsB] = [a.get("action") ?? NO_VALUES, b.get("action") ?? NO_VALUES];
  const otherActions = new Set(
    [...actionsA, ...actionsB].filter((value) => !(actionsA.has(value) && actionsB.has(value))),
  );
  return { otherActions, relations, isPolarityFlipped };
}

const allHaveZone = (times: ReadonlySet<string>): boolean => [...times].every((time) => time.endsWith("utc"));

function compareValues(
  a: ReadonlySet<string> | undefined,
  b: ReadonlySet<string> | undefined,
  dimension: ScopeDimension,
): ScopeRelation {
  if (a === undefined || b === undefined) return "one_sided";
  // A time without a zone can be the same time as one with a zone.
  if (dimension === "time" && allHaveZone(a) !== allHaveZone(b)) return "one_sided";
  let shared = 0;
  for (const value of a) if (b.has(value)) shared += 1;
  if (shared === 0) return "differs";
  // "12:00 to 12:15" and "12:15 to 12:30" are different periods.
  if (dimension === "time" && shared < Math.min(a.size, b.size)) return "differs";
  if (EXACT_DIMENSIONS.has(dimension)) return shared === a.size && shared === b.size ? "same" : "partial";
  return shared === Math.min(a.size, b.size) ? "same" : "partial";
}
