import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { test } from "node:test";

interface Table {
  readonly season: string;
  readonly league: string;
  readonly sport: string;
  readonly canDraw: boolean;
  readonly names: readonly string[];
  readonly teams: readonly TableTeam[];
}

interface TableTeam {
  readonly id: string;
  readonly city: string | null;
  readonly name: string;
  readonly aliases: readonly string[];
}

const FOLDER = join(import.meta.dirname, "teams");
const TABLES = readdirSync(FOLDER).map((file) => {
  const table: Table = JSON.parse(readFileSync(join(FOLDER, file), "utf8"));
  return { file: basename(file, ".json"), table };
});

/** League ids that differ from the name of the file. */
const LEAGUE_OF_FILE: Readonly<Record<string, string>> = { "european-clubs": "uefa" };
/** Number of teams of the leagues without promotion and relegation. */
const TEAM_COUNTS: Readonly<Record<string, number>> = {
  ipl: 10,
  mlb: 30,
  mls: 30,
  nba: 30,
  nfl: 32,
  nhl: 32,
  wnba: 15,
};

/** Accents, case and punctuation do not tell two spellings apart. */
const spellingKey = (spelling: string): string =>
  spelling
    .normalize("NFKD")
    .replace(/\p{M}/gu, "")
    .toLowerCase()
    .replace(/&/g, " and ")
    .replace(/['’]/g, "")
    .replace(/[^\p{L}\p{N}]+/gu, " ")
    .trim();

const fullName = ({ city, name }: TableTeam): string => (city === null ? name : `${city} ${name}`);
/** Spellings that the code derives from city and name, so that a table must not list them as aliases. */
const derivedKeys = (team: TableTeam): readonly string[] =>
  [team.name, fullName(team), ...(team.city === null ? [] : [team.city])].map(spellingKey);

for (const { file, table } of TABLES) {
  test(`${file} has a season, a sport, names and teams`, () => {
    assert.match(table.season, /^20[0-9]{2}(?:-[0-9]{2})?$/);
    assert.equal(table.league, LEAGUE_OF_FILE[file] ?? file);
    assert.match(table.sport, /^[a-z]+(?:-[a-z]+)*$/);
    assert.equal(table.canDraw, table.sport === "football");
    assert.ok(table.names.length > 0 && table.names.every((name) => spellingKey(name) !== ""));
    assert.equal(table.teams.length, TEAM_COUNTS[file] ?? table.teams.length);
    for (const team of table.teams) {
      assert.deepEqual(Object.keys(team), ["id", "city", "name", "aliases"]);
      assert.match(team.id, /^[a-z0-9]+(?:-[a-z0-9]+)*$/);
      for (const text of [team.city ?? "-", team.name, ...team.aliases]) assert.equal(text, text.trim());
      assert.ok(derivedKeys(team).every((key) => key !== ""));
    }
  });

  test(`${file} has each team and each alias once`, () => {
    const ids = table.teams.map(({ id }) => id);
    assert.deepEqual(ids, [...new Set(ids)]);
    const names = table.teams.map((team) => spellingKey(fullName(team)));
    assert.deepEqual(names, [...new Set(names)]);
    const derived = new Set(table.teams.flatMap(derivedKeys));
    const aliases = table.teams.flatMap((team) => team.aliases.map(spellingKey));
    assert.deepEqual(aliases, [...new Set(aliases)]);
    assert.deepEqual(
      aliases.filter((alias) => alias === "" || derived.has(alias)),
      [],
    );
  });
}

test("a football club is the same in each of its leagues", () => {
  const clubs = new Map<string, TableTeam>();
  for (const { table } of TABLES.filter(({ table }) => table.sport === "football")) {
    for (const team of table.teams) {
      assert.deepEqual(team, clubs.get(team.id) ?? team);
      clubs.set(team.id, team);
    }
  }
});
