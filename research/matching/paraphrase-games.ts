/** Replaces the names of the two teams of a game by other names of the same teams. */
import { choose, rowsOf } from "./paraphrase-support.ts";
import tables from "./paraphrases.json" with { type: "json" };

interface Team {
  readonly league: string;
  readonly full: string;
  readonly nickname: string;
  readonly listed: string;
}
const STYLES = ["full", "nickname", "listed"] as const;
const LEAGUES: readonly string[] = ["NBA", "NFL", "MLB", "NHL"];
const TEAMS: readonly Team[] = LEAGUES.flatMap((league) =>
  rowsOf(league).map(({ city = "", nickname = "", listed = "" }) => ({
    league,
    full: `${city} ${nickname}`,
    nickname,
    listed,
  })),
);
const GAME = /^([\p{L}\d.' ]+?) (?:vs\.?|at|@) ([\p{L}\d.' ]+?)(?= Winner\?|:| —|$)/u;

/**
 * Replaces the names of the two teams of a game by city, nickname or both, if exactly one league has both teams under
 * the names before and after.
 */
export function rewriteGame(text: string, pick: number): string {
  const [, first = "", second = ""] = GAME.exec(text) ?? [];
  const teams = teamsOf(first, second);
  if (!teams) return text;
  const namings = STYLES.map((style) => teams.map((team) => team[style]))
    .filter(([a = "", b = ""]) => teamsOf(a, b) !== null)
    .map((names) => [first, second].reduce((result, name, index) => rename(result, name, names[index] ?? name), text));
  return choose(namings, pick, text);
}

/** Returns the two teams of a game if exactly one league has teams with both names, otherwise null. */
function teamsOf(first: string, second: string): readonly [Team, Team] | null {
  const isOtherLeague = Object.values(tables.otherLeagues).some(
    (cities) => cities.includes(first) && cities.includes(second),
  );
  const games = LEAGUES.flatMap((league): [Team, Team][] => {
    const [a, b] = [first, second].map((name) => teamOf(league, name));
    return a && b ? [[a, b]] : [];
  });
  return games.length === 1 && !isOtherLeague ? (games[0] ?? null) : null;
}

const teamOf = (league: string, name: string): Team | undefined =>
  TEAMS.find((team) => team.league === league && STYLES.some((style) => team[style] === name));
const rename = (text: string, name: string, other: string): string =>
  text.replace(new RegExp(`(?<![\\p{L}\\d])${name.replaceAll(".", "\\.")}(?![\\p{L}\\d])`, "gu"), other);
