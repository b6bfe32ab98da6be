/** The names of things that titles write in several ways, from the tables in this folder. */

import { COMMON_WORDS } from "../text/common-words.ts";
import awards from "./awards.json" with { type: "json" };
import banks from "./central-banks.json" with { type: "json" };
import coins from "./coins.json" with { type: "json" };
import assets from "./commodities-and-indices.json" with { type: "json" };
import companies from "./companies.json" with { type: "json" };
import competitions from "./competitions.json" with { type: "json" };
import countries from "./countries.json" with { type: "json" };
import indicators from "./indicators.json" with { type: "json" };
import leaders from "./leaders.json" with { type: "json" };
import offices from "./offices.json" with { type: "json" };
import parties from "./parties.json" with { type: "json" };
import { LEAGUES, TEAMS } from "./teams.ts";
import states from "./us-states.json" with { type: "json" };
import { wordOfName } from "./word-of-name.ts";

/** The spellings of one name. */
export interface NameSpellings {
  readonly name: string;
  /** The word that replaces each spelling: lower-case letters. */
  readonly word: string;
  readonly spellings: readonly string[];
  /** Spellings that are names only in upper case ("US", "PM"). */
  readonly abbreviations: readonly string[];
}

interface NamedEntry {
  readonly name: string;
  readonly aliases?: readonly string[];
  readonly abbreviations?: readonly string[];
  readonly demonyms?: readonly string[];
  readonly native?: readonly string[];
  /** Whether the name is also an ordinary word ("Target", "Avalanche"), so that only other spellings are names. */
  readonly ordinaryWord?: boolean;
}

/** Shorter abbreviations have too many meanings: "NC" is the Nepali Congress and North Carolina. */
const ABBREVIATION_LENGTH_MIN = 3;
const isClear = (abbreviation: string): boolean => abbreviation.length >= ABBREVIATION_LENGTH_MIN;
const withClearAbbreviations = (entry: NamedEntry): NameSpellings => {
  const spellings = spellingsOf(entry);
  return { ...spellings, abbreviations: spellings.abbreviations.filter(isClear) };
};

const spellingsOf = ({ name, ordinaryWord, ...others }: NamedEntry): NameSpellings => {
  const { aliases = [], abbreviations = [], demonyms = [], native = [] } = others;
  const named = ordinaryWord === true ? [] : [name];
  return {
    name,
    word: wordOfName(name),
    // "The Democrats" is a party of Israel, but "the Democrats" are a party of every country.
    spellings: [...named, ...aliases, ...demonyms, ...native].filter((spelling) => !/^the /i.test(spelling)),
    abbreviations,
  };
};

const TITLE_PATTERN = / (?:championship|champions?|title)$/i;
const TITLES = [" Championship", " Champion", " Champions", " title"];

/** "The NFL championship" is also written "NFL champion" and "NFL title". */
const withTitles = ({ spellings, ...named }: NameSpellings): NameSpellings => ({
  ...named,
  spellings: [
    ...spellings,
    ...spellings.flatMap((spelling) =>
      TITLE_PATTERN.test(spelling) ? TITLES.map((title) => spelling.replace(TITLE_PATTERN, title)) : [],
    ),
  ],
});

/** "Nominee for president" is a nomination and an office, so it is not one word. */
const OFFICES = offices.offices.filter(({ id }) => !id.startsWith("nominee"));

const nameOfLeader = ({ person, aliases }: (typeof leaders.leaders)[number]): string =>
  aliases.find((alias) => !alias.includes(" ")) ?? person.split(" ").at(-1) ?? person;

/** Shorter family names are syllables of other names, or numerals ("Charles III"). */
const FAMILY_NAME_LENGTH_MIN = 4;
const leadersByName = Map.groupBy(leaders.leaders, nameOfLeader);

/** The word for a leader: the family name, or the full name if the family name is short or belongs to several leaders. */
function wordOfLeader(leader: (typeof leaders.leaders)[number]): string {
  const name = nameOfLeader(leader);
  const people = new Set(leadersByName.get(name)?.map(({ person }) => person));
  return wordOfName(people.size > 1 || name.length < FAMILY_NAME_LENGTH_MIN ? leader.person : name);
}

/** "Washington State" is a university. Postal codes are too short to be names. */
function spellingsOfState(state: (typeof states.states)[number]): NameSpellings {
  const named = spellingsOf(state);
  const spellings = named.spellings.filter((spelling) => !/ \(?state\)?$/i.test(spelling));
  return { ...named, spellings, abbreviations: [] };
}

/** Months, days and parts of place names, which titles also write in capitals. */
const NO_ABBREVIATIONS: ReadonlySet<string> = new Set(
  "jan feb mar apr may jun jul aug sep sept oct nov dec mon tue wed thu fri sat sun san los las la new act save top".split(
    " ",
  ),
);
/** Whether an abbreviation is also a word: titles in capitals contain "SEP 30" and "SAVE ACT". */
const isOrdinary = (abbreviation: string): boolean =>
  COMMON_WORDS.has(abbreviation.toLowerCase()) || NO_ABBREVIATIONS.has(abbreviation.toLowerCase());

/** Returns the names of all tables, the tables whose spellings take precedence first. */
export const allNames = (): readonly NameSpellings[] =>
  namesOfTables().map((named) => ({
    ...named,
    abbreviations: named.abbreviations.filter((abbreviation) => !isOrdinary(abbreviation)),
  }));

const namesOfTables = (): readonly NameSpellings[] => [
  ...competitions.competitions.map(withClearAbbreviations).map(withTitles),
  ...awards.awards.map(withClearAbbreviations),
  ...LEAGUES.map(({ league, names }) => ({
    name: league,
    word: wordOfName(league),
    spellings: names,
    abbreviations: [],
  })),
  ...TEAMS.map(({ name, word, spellings }) => ({ name, word, spellings, abbreviations: [] })),
  ...OFFICES.map(({ id, names, abbreviations }) => ({
    name: names[0] ?? id,
    word: wordOfName(id),
    spellings: names,
    abbreviations,
  })),
  ...banks.banks.map(spellingsOf),
  ...indicators.indicators.map(withClearAbbreviations),
  ...parties.parties.map(withClearAbbreviations),
  ...coins.coins.map(withClearAbbreviations),
  ...assets.assets.map(withClearAbbreviations),
  ...countries.countries.map(spellingsOf),
  ...states.states.map(spellingsOfState),
  ...companies.companies.map(withClearAbbreviations),
  ...leaders.leaders.map((leader) => ({
    name: wordOfLeader(leader),
    word: wordOfLeader(leader),
    spellings: [leader.person, ...leader.aliases].filter((spelling) => spelling.includes(" ")),
    abbreviations: leader.aliases.filter((alias) => alias.length < FAMILY_NAME_LENGTH_MIN),
  })),
];

/** Words of countries and states. The United States are not a place, because they are often implied. */
export const placeWords = (): readonly string[] =>
  [...countries.countries, ...states.states]
    .map(({ name }) => wordOfName(name))
    .filter((word) => word !== "unitedstates");

/** Words of offices. */
export const officeWords = (): readonly string[] => OFFICES.map(({ id }) => wordOfName(id));

/** Words of parties. */
export const partyWords = (): readonly string[] => parties.parties.map(({ name }) => wordOfName(name));

/** Word of each US state by its postal code in lower case. */
export const stateWords = (): ReadonlyMap<string, string> =>
  new Map(states.states.map(({ id, name }) => [id, wordOfName(name)]));

/**
 * Words that a name implies: the office and the country or company of a leader, and the prize of a category ("Best
 * Picture" is an Oscar).
 */
export function impliedWords(): ReadonlyMap<string, readonly string[]> {
  const countryOf = new Map(countries.countries.map(({ id, name }) => [id, wordOfName(name)]));
  const prizeOf = new Map(awards.awards.map(({ id, name }) => [id, wordOfName(name)]));
  const words = new Map<string, string[]>();
  const add = (word: string, implied: readonly (string | undefined)[]) => {
    const known = words.get(word) ?? [];
    words.set(word, [...known, ...implied.filter((part) => part !== undefined)]);
  };
  for (const leader of leaders.leaders) {
    const { country = "", company } = leader as { readonly country?: string; readonly company?: string };
    const place = company === undefined ? countryOf.get(country) : wordOfName(company);
    add(wordOfLeader(leader), [wordOfName(leader.office), place]);
  }
  for (const { name, of } of awards.awards as readonly { readonly name: string; readonly of?: string }[])
    if (of !== undefined) add(wordOfName(name), [prizeOf.get(of)]);
  return words;
}
