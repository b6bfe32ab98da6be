/** The scope of a question: stage of a contest, office, district, bet type, direction and similar dimensions. */

/** Each dimension has at most a few values per title. */
export type ScopeDimension =
  | "office"
  | "seat"
  | "district"
  | "group"
  | "part"
  | "stage"
  | "segment"
  | "bet"
  | "reading"
  | "trigger"
  | "direction"
  | "polarity"
  | "ordinal"
  | "number"
  | "award"
  | "time";

export type Scopes = ReadonlyMap<ScopeDimension, ReadonlySet<string>>;

type Rule = readonly [dimension: ScopeDimension, value: string | null, pattern: RegExp];

/** Dimension, value and pattern on normalised text. If the value is null, it is the pattern's first group. */
const RULES: readonly Rule[] = [
  ["office", "senate", /\bsenat(?:e|ors?)\b/],
  ["office", "house", /\bhouse\b(?! of cards)/],
  ["office", "governor", /\b(?:governor|gubernatorial)\b/],
  ["office", "president", /\bpresiden(?:t|tial|cy)\b/],
  ["office", "primeminister", /\bprimeminister\b/],
  ["office", "mayor", /\bmayor(?:al)?\b/],
  ["office", "speaker", /\bspeaker\b/],
  ["seat", null, /\b([a-z]{2}-(?:[0-9]{1,2}|al))\b/],
  ["part", null, /\b(?:map|game|set|quarter|period|inning) ?#?([0-9]{1,2})\b/],
  ["district", null, /\b(?:district|week|race|episode|season) ?#?([0-9]{1,3})\b/],
  ["group", null, /\bgroup ([a-l])\b/],
  ["stage", "nominee", /\b(?:nominees?|nomination|nominated|primary|primaries)\b/],
  ["stage", "runoff", /\b(?:run-?off|second round|advance to)\b/],
  ["stage", "final", /\b(?:reach|make|advance to|qualify for|in) (?:the )?(?:[a-z0-9]+ ){0,4}(?:grand )?final\b/],
  ["stage", "semifinal", /\bsemi-? ?finals?\b/],
  ["stage", "quarterfinal", /\bquarter-? ?finals?\b/],
  ["stage", "roundof", /\bround of [0-9]+\b|\blast 16\b/],
  [
    "stage",
    "conference",
    /\b(?:eastern|western|american football|national football) conference\b|\bconference finals?\b/,
  ],
  ["stage", "division", /\bdivision\b/],
  ["stage", "pennant", /\b(?:pennant|american league champion|national league champion|alcs|nlcs)\b/],
  ["stage", "participate", /\b(?:participates?|take part|play in|compete)\b/],
  ["stage", "squad", /\b(?:squad|called up|call-up|roster)\b/],
  ["stage", "series", /\bseries\b(?! champion)/],
  ["stage", "relegated", /\brelegat/],
  ["stage", "promoted", /\bpromot(?:ed|ion)\b/],
  ["stage", null, /\b(top [0-9]+)\b/],
  ["stage", "round", /\bround (?:#?[0-9]+|one|two)\b(?!-)|\b(?:first|second|1st|2nd) round\b/],
  ["award", null, /\bbest ((?:supporting |original |adapted |animated |international |new )?\p{L}+)/u],
  ["stage", "first-place", /\b(?:place first|first place)\b/],
  ["stage", "second", /\b(?:second|2nd) place\b|\brunner-?up\b/],
  ["stage", "last", /\blast place\b/],
  [
    "stage",
    "tournament-best",
    /\b(?:best record|most wins|golden boot|top scorer|most goals?|most goal contributions|most points)\b/,
  ],
  ["stage", "televote", /\btelevote\b/],
  ["stage", "jury", /\bjury\b/],
  ["stage", "pole", /\bpole(?: position)?\b/],
  ["stage", "podium", /\bpodium\b/],
  ["stage", "fastest-lap", /\bfastest lap\b/],
  ["stage", "practice", /\bpractice [0-9]\b/],
  ["stage", "sprint", /\bsprint\b/],
  ["stage", "qualifying", /\bqualifying\b/],
  ["segment", "half", /\b(?:half-? ?time|1st half|first half|2nd half|second half)\b/],
  ["segment", "first-inning", /\bfirst inning\b/],
  ["segment", "first-innings", /\bfirst [0-9] innings?\b/],
  ["segment", "part", /\b(?:part of|partially|any part|portion of)\b/],
  ["bet", "exact-score", /\bexact score\b|\bcorrect score\b|\bcompleted match\b/],
  ["bet", "corners", /\bcorners?\b/],
  ["bet", "cards", /\b(?:total )?cards\b|\bbookings?\b/],
  ["bet", "total", /\bo\/u\b|\bover\/under\b|\btotals?\b|\bgoals be scored\b|\bodd\/even\b/],
  ["bet", "spread", /\bspreads?\b|\bhandicap\b|\bwins? by (?:over|more|at least)?\b/],
  ["bet", "both-score", /\bboth teams to score\b|\bboth [a-z .'0-9-]+ score\b|\bbtts\b/],
  [
    "bet",
    "props",
    /\bplayer props\b|\bgoalscorer\b|\b[0-9]+\+ (?:points|rebounds|assists|home runs|hits|strikeouts|threes|goals|runs|total bases|receptions|yards)\b|\bhome runs\b/,
  ],
  ["bet", "more", /\bmore markets\b/],
  ["bet", "mention", /\b(?:announcers?|say|mention(?:s|ed)?)\b/],
  ["bet", "toss", /\btoss\b/],
  ["bet", "first-to", /\bfirst (?:team|player) to\b|\bfirst\?$|\bor \$?[0-9.]+[kmb]? first\b/],
  ["bet", "draw", /\b(?:draw|tie)\b/],
  ["reading", "core", /\bcore\b/],
  ["reading", "yoy", /\byoy\b/],
  ["reading", "mom", /\bmom\b/],
  ["reading", "nuclear-test", /\bnuclear test\b/],
  ["reading", "trimmed-mean", /\btrimmed mean\b/],
  ["reading", "lowest", /\b(?:lowest|minimum|low)\b/],
  ["reading", "highest", /\b(?:highest|maximum|high temp(?:erature)?)\b/],
  ["trigger", "announce", /\b(?:announc(?:e|es|ed|ement)|propos(?:e|es|ed)|plans? to|confirm(?:s|ed)?)\b/],
  ["trigger", "ceasefire", /\bcease-? ?fire\b/],
  ["trigger", "end", /\b(?:war|conflict) ends?\b|\bend (?:the )?war\b|\bpeace (?:deal|agreement|treaty)\b/],
  ["trigger", "invade", /\binva(?:de|des|ded|sion)\b/],
  ["trigger", "strike", /\b(?:air)?strikes?\b|\bbomb/],
  ["trigger", "postpone", /\b(?:postpone[ds]?|delay(?:ed)?)\b/],
  ["trigger", "condition", /^if\b|\bconditional on\b/],
  ["trigger", "before-other", /\bbefore (?:the )?[a-z]/],
  ["direction", "up", /\b(?:raise[sd]?|raising|hikes?|hiked|increase[sd]?|rise[sn]?|rose|higher)\b/],
  [
    "direction",
    "down",
    /\b(?:cuts?|cutting|decrease[sd]?|lower(?:s|ed)?|reduc(?:e|es|ed|tion)|falls?|dips?|drops?|declines?)\b/,
  ],
  ["direction", "hold", /\bratehold\b/],
  ["polarity", "not", /\b(?:not|fails? to|won't|doesn't|avoids?|loses?)\b/],
  ["polarity", "defeat", /\bdefeat\b/],
  ["polarity", "never", /\b(?:never|without|no longer|other than)\b/],
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
  for (const time of times) add(scopes, "time", time);
  for (const stem of stems) {
    if (/^[0-9]+th$/.test(stem)) add(scopes, "ordinal", stem);
    else if (/^[0-9]+$/.test(stem)) add(scopes, "number", String(Number(stem)));
  }
  return scopes;
}

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
const EXACT_DIMENSIONS: ReadonlySet<ScopeDimension> = new Set(["stage", "bet", "segment", "office"]);
/** Dimensions in which a value that only one title has usually changes the question. */
const STRICT_DIMENSIONS: ReadonlySet<ScopeDimension> = new Set([
  "stage",
  "segment",
  "bet",
  "trigger",
  "reading",
  "group",
  "part",
  "seat",
]);
/** Dimensions that describe a fixture ("World Cup, Group A") without changing the question. */
const FIXTURE_DESCRIPTIONS: ReadonlySet<ScopeDimension> = new Set(["group", "district", "trigger", "number"]);

/** Comparison of the scopes of two questions. The numbers count dimensions other than polarity. */
export interface ScopeComparison {
  readonly same: number;
  /** Number of non-strict dimensions that only one title names. */
  readonly looseOneSided: number;
  /** Dimensions whose values differ, and strict dimensions that only one title names. */
  readonly vetoed: readonly ScopeDimension[];
  /** Whether the titles differ in negating words such as "not" or "remain". */
  readonly isPolarityFlipped: boolean;
}

const NO_DIFFERENCE: ScopeComparison = { same: 0, looseOneSided: 0, vetoed: [], isPolarityFlipped: false };

/** @param areFixtures  whether both questions are about a fixture */
export function compareScopes(a: Scopes, b: Scopes, areFixtures: boolean): ScopeComparison {
  if (a.size === 0 && b.size === 0) return NO_DIFFERENCE;
  const counts = { same: 0, looseOneSided: 0 };
  const vetoed: ScopeDimension[] = [];
  let isPolarityFlipped = false;
  const add = (dimension: ScopeDimension) => {
    const relation = compareValues(a.get(dimension), b.get(dimension), dimension);
    if (dimension === "polarity") isPolarityFlipped = relation !== "same";
    else if (areFixtures && FIXTURE_DESCRIPTIONS.has(dimension)) return;
    else if (relation === "same") counts.same += 1;
    else if (relation === "conflict" || STRICT_DIMENSIONS.has(dimension)) vetoed.push(dimension);
    else counts.looseOneSided += 1;
  };
  for (const dimension of a.keys()) add(dimension);
  for (const dimension of b.keys()) if (!a.has(dimension)) add(dimension);
  return { ...counts, vetoed, isPolarityFlipped };
}

function compareValues(
  a: ReadonlySet<string> | undefined,
  b: ReadonlySet<string> | undefined,
  dimension: ScopeDimension,
): "same" | "conflict" | "one_sided" {
  if (a === undefined || b === undefined) return "one_sided";
  let shared = 0;
  for (const value of a) if (b.has(value)) shared += 1;
  if (shared === 0) return "conflict";
  if (EXACT_DIMENSIONS.has(dimension)) return shared === a.size && shared === b.size ? "same" : "conflict";
  return shared === Math.min(a.size, b.size) ? "same" : "one_sided";
}
