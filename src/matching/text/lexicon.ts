/**
 * Different names for the same thing, on normalised text: lower case, without accents. Phrases are replaced in this
 * order, so a longer phrase comes before the phrases it contains.
 */
export const PHRASES: readonly (readonly [pattern: RegExp, replacement: string])[] = [
  // Countries and places
  [/\bu\.? ?s\.? ?a?\.?(?=[^a-z']|$)(?<!\b(?:of|with|to|for) us)|\bunited states(?: of america)?\b/g, " usa "],
  [/\bu\.k\.|\bunited kingdom\b|\bgreat britain\b/g, " uk "],
  [/\b(?:congo dr|dr congo|democratic republic of(?: the)? congo)\b/g, "drcongo"],
  [/\b(?:korea republic|republic of korea|south korea)\b/g, "southkorea"],
  [/\b(?:north korea|dprk)\b/g, "northkorea"],
  [/\bczech republic\b/g, "czechia"],
  [/\bcote d'?ivoire\b|\bivory coast\b/g, "ivorycoast"],
  [/\bturkiye\b/g, "turkey"],
  [/\bcabo verde\b|\bcape verde\b/g, "capeverde"],
  [/\bir iran\b/g, "iran"],
  [/\bbosnia(?: and|-)? ?herzegovina\b/g, "bosnia"],
  [/\bsachsen[- ]anhalt\b/g, "saxony anhalt"],
  [/\bnew york city\b|\bnyc\b/g, "new york"],
  [/\bkiev\b/g, "kyiv"],
  // Clubs
  [/\bathletic (?:club|bilbao)\b/g, "bilbao"],
  [/\b(?:inter milan|internazionale)\b/g, "inter"],
  [/\bbayern (?:munchen|munich|munchen)\b/g, "bayern"],
  [/\bkoln\b/g, "cologne"],
  [/\bm'gladbach\b/g, "monchengladbach"],
  [/\bsporting (?:cp|lisbon|clube de portugal)\b/g, "sporting"],
  [/\bwolverhampton wanderers\b/g, "wolves"],
  [/\bnott(?:ingha|')?m forest\b/g, "nottingham"],
  [/\bsixers\b/g, "76ers"],
  // Leagues, cups and awards
  [/\bcounter-?\s?strike(?: 2)?\b|\bcs ?2\b|\bcs:?go\b/g, "counterstrike"],
  [/\bleague of legends\b/g, "lol"],
  [/\bwomen's pro(?:fessional)? basketball\b/g, "wnba"],
  [/\b(?:indian premier league|ipl)\b/g, "ipl"],
  [/\b(?:english premier league|premier league|epl)\b/g, "premierleague"],
  [/\bla ?liga\b/g, "laliga"],
  [/\bserie a\b/g, "seriea"],
  [/\bligue 1\b/g, "ligueone"],
  [/\bbundl\b/g, "bundesliga"],
  [/\b(?:uefa )?champions league\b|\bucl\b/g, "championsleague"],
  [/\b(?:uefa )?(?:europa )?conference league\b/g, "conferenceleague"],
  [/\b(?:uefa )?europa league\b/g, "europaleague"],
  [/\b(?:pro(?:fessional)?|nba) basketball (?:finals?|championships?|champions?|title)\b/g, "nba champion"],
  [/\bnba (?:finals?|championships?|champions?|title)\b/g, "nba champion"],
  [/\b(?:pro(?:fessional)?) basketball\b/g, "nba"],
  [/\bpro(?:fessional)? baseball (?:championships?|champions?|title)\b/g, "mlb champion"],
  [/\b(?:mlb )?world series(?: champions?(?:hips?)?)?\b/g, "mlb champion"],
  [/\bpro(?:fessional)? baseball\b/g, "mlb"],
  [/\bpro(?:fessional)? football (?:championships?|champions?|title)\b/g, "nfl champion"],
  [/\b(?:the )?super ?bowl\b(?: champions?(?:hips?)?)?/g, "nfl champion"],
  [/\bpro(?:fessional)? football\b/g, "nfl"],
  [/\bpro(?:fessional)? hockey (?:championships?|champions?|title)\b/g, "nhl champion"],
  [/\b(?:nhl )?stanley cup(?: finals?)?(?: champions?(?:hips?)?)?\b/g, "nhl champion"],
  [/\bpro(?:fessional)? hockey\b/g, "nhl"],
  [/\bformula (?:1|one)\b/g, "f1"],
  [/\b(?:academy awards?|oscars?)\b/g, "oscar"],
  [/\bmoty\b/g, "manager of the year"],
  [/\bcpoty\b/g, "comeback player of the year"],
  [/\broty\b/g, "rookie of the year"],
  [/\bdpoy\b/g, "defensive player of the year"],
  [/\bcoty\b/g, "coach of the year"],
  [/\bmvp\b/g, "most valuable player"],
  [/\bgrand prix\b|\bgp\b/g, "grandprix"],
  [/\bman(?:chester)? (?:utd|united)\b/g, "manchester united"],
  [/\bman city\b/g, "manchester city"],
  [/\bparis saint[- ]germain\b/g, "psg"],
  // Politics and institutions
  [/\b(?:democratic party|democratic candidate|democrats?|democratic(?! republic)|dems?)\b/g, "democrat"],
  [/\b(?:republican party|republican candidate|republicans?|gop)\b/g, "republican"],
  [/\bhouse of representatives\b/g, "house"],
  [/\bprime minister\b/g, "primeminister"],
  [/\b(?:federal reserve|the fed|fomc)\b/g, "fed"],
  [/\beuropean central bank\b/g, "ecb"],
  [/\bbank of england\b/g, "boe"],
  [/\bbank of japan\b/g, "boj"],
  [/\bfinish(?:es)? (?:in )?(?:first|1st)(?: place)?\b/g, "win"],
  [/\b(?:shut down|shut-down)\b/g, "shutdown"],
  // Figures
  [/\b(?:consumer price index|cpi)\b/g, "inflation"],
  [/\b(?:year[- ]over[- ]year|y\/y|annually|annual|over (?:the (?:past|last) )?twelve months|for the year)\b/g, "yoy"],
  [/\b(?:month[- ]over[- ]month|m\/m|monthly)\b/g, "mom"],
  [
    /\b(?:nonfarm payrolls?|non-farm payrolls?|payrolls?|(?:number of )?jobs (?:added|growth)|job growth|jobs report)\b/g,
    "payroll",
  ],
  [/\bmarket cap(?:itali[sz]ation)?\b/g, "marketcap"],
  [/\bfully diluted valuation\b/g, "fdv"],
  [/\bbtc\b/g, "bitcoin"],
  [/\beth\b/g, "ethereum"],
  [/\bsol\b/g, "solana"],
  [/\bdoge\b/g, "dogecoin"],
  [/\bltc\b/g, "litecoin"],
  [/\bhype\b/g, "hyperliquid"],
  [/\b(?:no change|unchanged|maintain|holds? rates|no cut)\b/g, "ratehold"],
];

/** The stems (`stemOf`) that mean the same as each key, which is a stem too. */
const STEMS_BY_MEANING = {
  win: "wins won winner winning winn victor beat",
  champion: "championship title",
  draw: "tie tied drawn",
  president: "presidential presidency",
  governor: "gubernatorial governorship",
  senate: "senator senatorial",
  mayor: "mayoral",
  parliament: "parliamentary",
  launch: "launched",
  releas: "publish",
  out: "cease ousted removed resign leav left depart fired",
  qualify: "advanc advance qualifi qualifier",
  acquire: "acquir buy purchas",
  iran: "iranian",
  russia: "russian russo",
  ukraine: "ukrainian ukrain",
  israel: "israeli",
  palestine: "palestinian",
  china: "chinese",
  taiwan: "taiwanese",
  peru: "peruvian",
  france: "french",
  germany: "german",
  uk: "british",
  england: "english",
  usa: "american america",
  japan: "japanese",
  korea: "korean",
  brazil: "brazilian",
  argentina: "argentine argentinian",
  venezuela: "venezuelan",
  mexico: "mexican",
  canada: "canadian",
  australia: "australian",
  india: "indian",
  turkey: "turkish",
  syria: "syrian",
  lebanon: "lebanese",
  sudan: "sudanese",
  hungary: "hungarian",
  poland: "polish",
  spain: "spanish",
  italy: "italian",
  netherland: "dutch",
  portugal: "portuguese",
  romania: "romanian",
  colombia: "colombian",
  chile: "chilean",
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
    "fifa men mens official officially professional pro via per vs v x get gets become becomes whether least"
  ).split(" "),
);

/** Words for the kind of an organisation, not for a specific organisation. */
export const FILLER_WORDS: ReadonlySet<string> = new Set(
  (
    "fc cf sc ac afc cfc ssc rc rcd ud cd sd bk fk sk sv vfb vfl tsg tsv fsv bsc ogc as us club calcio de la el los " +
    "esports esport gaming team national city league cup award awards prize race election seat game match tournament " +
    "season win champion finish official party candidate counterstrike lol dota valorant group stage " +
    "playoff playoffs year new"
  ).split(" "),
);
