/** Sports teams, from the tables in `teams/`. */
import argentinaPrimera from "./teams/argentina-primera.json" with { type: "json" };
import brasileirao from "./teams/brasileirao.json" with { type: "json" };
import bundesliga from "./teams/bundesliga.json" with { type: "json" };
import championship from "./teams/championship.json" with { type: "json" };
import college from "./teams/college.json" with { type: "json" };
import eredivisie from "./teams/eredivisie.json" with { type: "json" };
import europeanClubs from "./teams/european-clubs.json" with { type: "json" };
import ipl from "./teams/ipl.json" with { type: "json" };
import laLiga from "./teams/la-liga.json" with { type: "json" };
import ligaMx from "./teams/liga-mx.json" with { type: "json" };
import ligue1 from "./teams/ligue-1.json" with { type: "json" };
import mlb from "./teams/mlb.json" with { type: "json" };
import mls from "./teams/mls.json" with { type: "json" };
import nba from "./teams/nba.json" with { type: "json" };
import nfl from "./teams/nfl.json" with { type: "json" };
import nhl from "./teams/nhl.json" with { type: "json" };
import premierLeague from "./teams/premier-league.json" with { type: "json" };
import primeiraLiga from "./teams/primeira-liga.json" with { type: "json" };
import saudiProLeague from "./teams/saudi-pro-league.json" with { type: "json" };
import scottishPremiership from "./teams/scottish-premiership.json" with { type: "json" };
import serieA from "./teams/serie-a.json" with { type: "json" };
import superLig from "./teams/super-lig.json" with { type: "json" };
import wnba from "./teams/wnba.json" with { type: "json" };
import { wordOfName } from "./word-of-name.ts";

export interface League {
  readonly league: string;
  readonly canDraw: boolean;
  /** Names of the league as titles write them. */
  readonly names: readonly string[];
}

/** A team of one league. A club that plays in several leagues has one word. */
export interface Team extends League {
  readonly name: string;
  readonly city: string | null;
  /** City and nickname, or the club's name, joined to one word. */
  readonly word: string;
  /** Spellings that mean this team without a context: "Los Angeles Lakers", "Los Angeles L". */
  readonly spellings: readonly string[];
  /** Spellings that mean this team beside another team: "Lakers", "Los Angeles". */
  readonly shortSpellings: readonly string[];
}

interface LeagueTable extends League {
  readonly teams: readonly {
    readonly city: string | null;
    readonly name: string;
    readonly aliases: readonly string[];
  }[];
}

const TABLES: readonly LeagueTable[] = [
  argentinaPrimera,
  brasileirao,
  bundesliga,
  championship,
  college,
  eredivisie,
  europeanClubs,
  ipl,
  laLiga,
  ligaMx,
  ligue1,
  mlb,
  mls,
  nba,
  nfl,
  nhl,
  premierLeague,
  primeiraLiga,
  saudiProLeague,
  scottishPremiership,
  serieA,
  superLig,
  wnba,
];

/** Spellings of several words, and names of one long word with a digit, are not ordinary words. */
const isClear = (spelling: string): boolean => /[ 0-9]/.test(spelling);

export const LEAGUES: readonly League[] = TABLES;

const teams: readonly Team[] = TABLES.flatMap(({ league, canDraw, names, teams }) =>
  teams.map(({ city, name, aliases }): Team => {
    const full = city === null || name.includes(city) ? name : `${city} ${name}`;
    const all = [full, name, ...(city === null ? [] : [city]), ...aliases];
    return {
      league,
      canDraw,
      names,
      name: full,
      city,
      word: wordOfName(full),
      spellings: [full, ...aliases].filter(isClear),
      shortSpellings: all,
    };
  }),
);

/** Words of the teams by spelling: "Los Angeles C" is a team of the NBA and a team of the NFL. */
const wordsOf = Map.groupBy(
  teams.flatMap(({ word, spellings }) => spellings.map((spelling) => ({ word, spelling: wordOfName(spelling) }))),
  ({ spelling }) => spelling,
);
const isUnique = (spelling: string): boolean =>
  new Set(wordsOf.get(wordOfName(spelling))?.map(({ word }) => word)).size === 1;

export const TEAMS: readonly Team[] = teams.map((team) => ({ ...team, spellings: team.spellings.filter(isUnique) }));
