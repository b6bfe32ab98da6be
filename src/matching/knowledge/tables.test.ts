import assert from "node:assert/strict";
import { test } from "node:test";
import { foldText } from "../text/words.ts";
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
import states from "./us-states.json" with { type: "json" };

type Entry = Readonly<Record<string, unknown>>;
interface Table {
  readonly asOf: string;
  readonly entries: readonly Entry[];
  /** No two entries have the same values of all of these fields. */
  readonly key: readonly string[];
  readonly texts: readonly string[];
  readonly lists: readonly string[];
}

const NAMES = ["aliases", "abbreviations"];
const TABLES: Readonly<Record<string, Table>> = {
  countries: {
    asOf: countries.asOf,
    entries: countries.countries,
    key: ["id"],
    texts: ["id", "name", "capital"],
    lists: [...NAMES, "demonyms"],
  },
  states: {
    asOf: states.asOf,
    entries: states.states,
    key: ["id"],
    texts: ["id", "name"],
    lists: [...NAMES, "demonyms"],
  },
  offices: {
    asOf: offices.asOf,
    entries: offices.offices,
    key: ["id"],
    texts: ["id"],
    lists: ["names", "abbreviations"],
  },
  leaders: {
    asOf: leaders.asOf,
    entries: leaders.leaders,
    key: ["person", "office", "company"],
    texts: ["person", "office"],
    lists: NAMES,
  },
  parties: {
    asOf: parties.asOf,
    entries: parties.parties,
    key: ["country", "name"],
    texts: ["country", "name"],
    lists: [...NAMES, "native"],
  },
  banks: { asOf: banks.asOf, entries: banks.banks, key: ["id"], texts: ["id", "country", "name"], lists: NAMES },
  coins: { asOf: coins.asOf, entries: coins.coins, key: ["name"], texts: ["name"], lists: NAMES },
  assets: { asOf: assets.asOf, entries: assets.assets, key: ["name"], texts: ["name"], lists: NAMES },
  companies: { asOf: companies.asOf, entries: companies.companies, key: ["name"], texts: ["name"], lists: NAMES },
  awards: { asOf: awards.asOf, entries: awards.awards, key: ["id"], texts: ["id", "name"], lists: NAMES },
  competitions: {
    asOf: competitions.asOf,
    entries: competitions.competitions,
    key: ["id"],
    texts: ["id", "name"],
    lists: NAMES,
  },
  indicators: {
    asOf: indicators.asOf,
    entries: indicators.indicators,
    key: ["id"],
    texts: ["id", "name"],
    lists: NAMES,
  },
};

const isText = (value: unknown): boolean => typeof value === "string" && value.trim() === value && value !== "";
const valuesOf = (entries: readonly Entry[], field: string): readonly unknown[] =>
  entries.map((entry) => entry[field]).filter((value) => value !== undefined);
/** The matcher treats two spellings with the same key as one. */
const spellingKey = (text: unknown): string =>
  foldText(`${text}`)
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, " ")
    .trim();
/** Returns the values that occur more than once. */
const repeated = (values: readonly string[]): readonly string[] =>
  values.filter((value, index) => values.indexOf(value) < index);

for (const [name, { asOf, entries, key, texts, lists }] of Object.entries(TABLES)) {
  test(`${name}: has its month and the required fields of each entry`, () => {
    assert.match(asOf, /^20\d\d-\d\d$/);
    const wrong = entries.filter(
      (entry) =>
        !texts.every((field) => isText(entry[field])) ||
        !lists.every((field) => Array.isArray(entry[field]) && entry[field].every(isText)),
    );
    assert.deepEqual(wrong, []);
  });

  test(`${name}: has each entry once, and each name of an entry once`, () => {
    assert.deepEqual(repeated(entries.map((entry) => key.map((field) => entry[field] ?? "").join(" | "))), []);
    const twice = entries.filter(
      ({ name, aliases = [] }) => repeated([name, aliases].flat().filter(isText).map(spellingKey)).length,
    );
    assert.deepEqual(twice, []);
  });
}

test("each country, state and office that an entry names exists", () => {
  const countryIds = new Set<unknown>(valuesOf(countries.countries, "id"));
  const stateIds = new Set<unknown>(valuesOf(states.states, "id"));
  const officeIds = new Set<unknown>(valuesOf(offices.offices, "id"));
  const missing = (ids: ReadonlySet<unknown>, values: readonly unknown[]) => values.filter((value) => !ids.has(value));
  assert.deepEqual(missing(officeIds, valuesOf(leaders.leaders, "office")), []);
  assert.deepEqual(missing(stateIds, valuesOf(leaders.leaders, "state")), []);
  for (const entries of [leaders.leaders, banks.banks, parties.parties]) {
    assert.deepEqual(missing(countryIds, valuesOf(entries, "country")), []);
  }
});

test("each leader leads a country, a company or an organisation", () => {
  const companyNames = new Set<unknown>(valuesOf(companies.companies, "name"));
  for (const leader of leaders.leaders as readonly Entry[]) {
    const led = [leader.country, leader.company, leader.organisation].filter((value) => value !== undefined);
    assert.equal(led.length, 1, `${leader.person}`);
    assert.ok(leader.company === undefined || companyNames.has(leader.company), `${leader.company}`);
  }
});

test("has the 50 states and the District of Columbia", () => {
  assert.equal(states.states.length, 51);
  assert.ok(states.states.every(({ id, abbreviations }) => abbreviations.includes(id.toUpperCase())));
});
