/** Finds the teams that a short text can mean: "Phoenix" is a team of the NBA and a team of the WNBA. */
import { TEAMS, type Team } from "../knowledge/teams.ts";
import { normaliseText, stemsOf } from "../text/words.ts";

/** The teams that a text can mean, by ascending position in `TEAMS`. */
export type TeamSet = readonly number[];

const NONE: TeamSet = [];

/** Lower case, because "NOR" in upper case is Norway and not a team. */
const keyOf = (spelling: string): string => stemsOf(normaliseText(spelling.toLowerCase())).join(" ");

function indexTeams(): ReadonlyMap<string, TeamSet> {
  const cities = new Map<string, string>();
  for (const { league, city, word } of TEAMS) if (city !== null) cities.set(`${league} ${keyOf(city)}`, word);
  const sets = new Map<string, number[]>();
  for (const [index, { league, word, shortSpellings }] of TEAMS.entries())
    for (const spelling of [word, ...shortSpellings]) {
      const key = keyOf(spelling);
      // The Duquesne Dukes are not Duke.
      if (key === "" || (cities.get(`${league} ${key}`) ?? word) !== word) continue;
      const known = sets.get(key);
      if (known === undefined) sets.set(key, [index]);
      else if (!known.includes(index)) known.push(index);
    }
  return sets;
}

let teams: ReturnType<typeof indexTeams> | null = null;

/** @param stems  all stems of a side or an outcome */
export function findTeams(stems: readonly string[]): TeamSet {
  teams ??= indexTeams();
  return teams.get(stems.join(" ")) ?? NONE;
}

const teamAt = (index: number): Team | undefined => TEAMS[index];
const leaguesOf = (set: TeamSet): ReadonlySet<string> => new Set(set.flatMap((index) => teamAt(index)?.league ?? []));

/** Returns the teams of two opponents that play in one league; both sets unchanged if no league has both. */
export function inOneLeague(a: TeamSet, b: TeamSet): readonly [TeamSet, TeamSet] {
  if (a.length + b.length < 3) return [a, b];
  const [leaguesA, leaguesB] = [leaguesOf(a), leaguesOf(b)];
  const ofBoth = (index: number) => {
    const league = teamAt(index)?.league ?? "";
    return leaguesA.has(league) && leaguesB.has(league);
  };
  const [left, right] = [a.filter(ofBoth), b.filter(ofBoth)];
  return left.length === 0 || right.length === 0 ? [a, b] : [left, right];
}

/** same: a team is in both sets. differs: none is. unknown: a set is empty. */
export function compareTeams(a: TeamSet, b: TeamSet): "same" | "differs" | "unknown" {
  if (a.length === 0 || b.length === 0) return "unknown";
  const words = new Set(a.map((index) => teamAt(index)?.word));
  return b.some((index) => words.has(teamAt(index)?.word)) ? "same" : "differs";
}

/** Whether two teams of a set play in one league. */
export const isAmbiguous = (set: TeamSet): boolean => leaguesOf(set).size < set.length;

/** Whether no game of these teams can end in a draw. */
export const neverDraw = (set: TeamSet): boolean =>
  set.length > 0 && set.every((index) => teamAt(index)?.canDraw === false);
