/** Compares the contests of two questions. */
import { DAY_MS } from "../lib/durations.ts";
import { nameSimilarity } from "./compare-words.ts";
import { comparePeriods, latestPeriod } from "./facts/periods.ts";
import { compareTeams, isAmbiguous, neverDraw } from "./facts/teams.ts";
import { type Fingerprint, type Fixture, isSide, type Side } from "./fingerprint.ts";
import type { WordWeights } from "./text/word-weights.ts";

/** From this similarity, two fixtures count as the same. */
export const SAME_FIXTURE_MIN = 0.6;
/** From this number of hours between their expected ends, two games of the same teams are different games. */
const SAME_GAME_HOURS_MAX = 14;
const HOUR_MS = DAY_MS / 24;

/** Similarity of two sides if one can mean two teams of a league: "New York" and "Jets". */
const AMBIGUOUS_SIMILARITY = 0.65;

/** Similarity of two sides in [0, 1]. If both are known teams, the teams decide. */
export function sideSimilarity(a: Side, b: Side, weightOf: WordWeights): number {
  const teams = compareTeams(a.teams, b.teams);
  if (teams !== "unknown")
    return teams === "same" ? (isAmbiguous(a.teams) || isAmbiguous(b.teams) ? AMBIGUOUS_SIMILARITY : 1) : 0;
  return nameSimilarity(a.stems, b.stems, weightOf);
}

export interface FixtureComparison {
  /** In [0, 1]; 0 if one of the fixtures is null. */
  readonly similarity: number;
  /** Whether the first side of one fixture is the second side of the other. */
  readonly isSwapped: boolean;
}

/** Compares two fixtures, in either order of the sides. */
export function compareFixtures(a: Fixture | null, b: Fixture | null, weightOf: WordWeights): FixtureComparison {
  if (a === null || b === null) return { similarity: 0, isSwapped: false };
  const sides = (x: Side, y: Side) => sideSimilarity(x, y, weightOf);
  const straight = Math.min(sides(a[0], b[0]), sides(a[1], b[1]));
  const swapped = Math.min(sides(a[0], b[1]), sides(a[1], b[0]));
  return { similarity: Math.max(straight, swapped), isSwapped: swapped > straight };
}

/** Whether two games have other sides, or are expected to be decided at other times. */
export function areOtherGames(
  a: Pick<Fingerprint, "fixture" | "decidedAt">,
  b: Pick<Fingerprint, "fixture" | "decidedAt">,
  similarity: number,
): boolean {
  if (a.fixture === null || b.fixture === null) return false;
  if (similarity < SAME_FIXTURE_MIN) return true;
  if (a.decidedAt === null || b.decidedAt === null) return false;
  return Math.abs(a.decidedAt - b.decidedAt) > SAME_GAME_HOURS_MAX * HOUR_MS;
}

/** Whether a question without a fixture asks whether the YES side of a game wins on its day. */
export function isGameOf(game: Fingerprint, other: Fingerprint): boolean {
  if (game.fixture === null || game.yesSide === null || other.fixture !== null) return false;
  const day = latestPeriod(other.periods, "deadline");
  const isOnDay =
    day !== null && day.from === day.to && comparePeriods(game.periods, other.periods).relation !== "conflict";
  return (
    isOnDay && isSide(other.subject, game.fixture[game.yesSide]) && other.scopes.get("action")?.has("win") === true
  );
}

/** Whether the sides that YES stands for differ; null if a market does not name its side. */
export function areOtherSides(a: Fingerprint, b: Fingerprint, { isSwapped }: FixtureComparison): boolean | null {
  if (a.yesSide === null || b.yesSide === null) return null;
  return (a.yesSide === b.yesSide) === isSwapped;
}

/** Whether a game of the fixture cannot end in a draw that is an outcome of its own. */
export const hasNoDraw = ({ fixture, isTwoSided }: Fingerprint): boolean =>
  isTwoSided || fixture?.every(({ teams }) => neverDraw(teams)) === true;
