import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { DAY_MS } from "../lib/durations.ts";
import { compareRules, parseRules, RULES_LENGTH_MAX, type RulesFacts } from "./rules.ts";

const isoDays = (rules: string): string[] =>
  parseRules(rules).deadlines.map((day) => new Date(day * DAY_MS).toISOString().slice(0, 10));
const compare = (a: string, b: string) => compareRules(parseRules(a), parseRules(b));

describe("parseRules: placeholders", () => {
  const unfilled: readonly (readonly [rules: string, placeholder: string])[] = [
    ["Resolves to yes if {{team_name}} wins.", "{{team_name}}"],
    ["Resolves to yes if [INSERT TEAM] wins.", "[INSERT TEAM]"],
    ["Resolves on <date> at noon.", "<date>"],
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the placeholder of a template
    ["Resolves if the price is above ${strike}.", "${strike}"],
    ["Resolves if the price is above $___ at noon.", "___"],
  ];
  for (const [rules, placeholder] of unfilled)
    test(`reports ${placeholder} as an unfilled placeholder`, () =>
      assert.deepEqual(parseRules(rules).placeholders, [placeholder]));

  test("formatted text, links, footnotes, quoted names and sets are not placeholders", () => {
    for (const rules of [
      "The ___underlined___ word.",
      "First\n___\nSecond",
      "See [1], [enter here](https://example.org) and [the official page](https://example.org).",
      "He says “[NAME] is a guest”.",
      "<b>Note</b> that 3 < 5 and 7 > 6.",
      "A set {1, 2}.",
    ])
      assert.deepEqual(parseRules(rules).placeholders, [], rules);
  });

  test("`TBD` and `to be announced` are open parts, not unfilled placeholders", () => {
    const { placeholders, openParts } = parseRules("The opponent is TBD. The venue is to be announced.");
    assert.deepEqual(placeholders, []);
    assert.deepEqual(openParts, ["tbd", "to be announced"]);
  });
});

describe("parseRules: stations and sources", () => {
  const stations: readonly (readonly [rules: string, codes: readonly string[]])[] = [
    ["The highest temperature recorded at Central Park, New York.", ["KNYC"]],
    ["The temperature at LaGuardia Airport (KLGA).", ["KLGA"]],
    ["Daily rainfall in report CLIMDW of the weather service.", ["KMDW"]],
    ["The temperature at London City Airport Station (EGLC).", ["EGLC"]],
    ["The highest temperature in Paris.", []],
    ["The airline opens a route to LaGuardia.", []],
    ["The daily high at LaGuardia.", ["KLGA"]],
    ["At least 75° at LaGuardia.", ["KLGA"]],
  ];
  for (const [rules, codes] of stations)
    test(`"${rules}" names ${codes.join(", ") || "no station"}`, () =>
      assert.deepEqual(parseRules(rules).stations, codes));

  test("reads the domain names of sources once, without www", () => {
    const rules = "See https://www.Example.org/a?b=c and example.org, or data.example.gov. Mail desk@example.com.";
    assert.deepEqual(parseRules(rules).sources, ["data.example.gov", "example.com", "example.org"]);
    assert.deepEqual(parseRules("It rains. And so on, e.g. in May.").sources, []);
  });
});

describe("parseRules: deadlines", () => {
  const forms: readonly (readonly [rules: string, days: readonly string[]])[] = [
    ["Resolves to yes if it rains by June 30, 2026.", ["2026-06-30"]],
    ["Resolves to yes if it rains before July 1, 2026.", ["2026-06-30"]],
    ["Resolves to yes if it rains by 11:59 PM ET on June 30, 2026.", ["2026-06-30"]],
    ["Resolves to yes if it rains between January 1, 2026 and June 30, 2026, 11:59 PM ET.", ["2026-06-30"]],
    ["Resolves to yes if it rains from May 1, 2026, 12:00 AM ET through 31 May 2026.", ["2026-05-31"]],
    ["Resolves to yes if it rains no later than 2026-06-30.", ["2026-06-30"]],
    ["It rained on June 30, 2025.", []],
    ["Resolves to yes if it rains by June 30.", []],
    ["Resolves to yes if it rains by February 31, 2026.", []],
    ["If the game is postponed, this market will remain open until July 10, 2026.", []],
  ];
  for (const [rules, days] of forms)
    test(`"${rules}" has ${days.length === 0 ? "no deadline" : `the deadline ${days.join()}`}`, () =>
      assert.deepEqual(isoDays(rules), days));
});

describe("parseRules: triggers, overtime and ties", () => {
  const cases: readonly (readonly [rules: string, facts: Partial<RulesFacts>])[] = [
    ["An official announcement suffices.", { trigger: "announcement" }],
    ["Resolves to yes if the company announces a phone.", { trigger: "announcement" }],
    ["An announcement alone does not count.", { trigger: "occurrence" }],
    ["The phone must be released by then.", { trigger: "occurrence" }],
    ["Resolves to yes if it rains.", { trigger: null }],
    ["The result at the end of regulation counts.", { overtime: "regulation_only" }],
    ["Overtime does not count, and extra time will not be considered.", { overtime: "regulation_only" }],
    ["The score after 90 minutes, excluding extra time.", { overtime: "regulation_only" }],
    ["The final score, including overtime.", { overtime: "included" }],
    ["Overtime is included.", { overtime: "included" }],
    ["The score after 90 minutes. The second bet includes extra time.", { overtime: null }],
    ["The winner of the game.", { overtime: null }],
    ["In the event of a tie, this market resolves 50-50.", { tie: "split", cancellation: null }],
    ["If the game ends in a draw, resolves to “No”.", { tie: "no" }],
    ["If the game is cancelled, all stakes are refunded.", { tie: null, cancellation: "refund" }],
    [
      "If the game is canceled this market resolves to No. A tie is split equally.",
      { tie: "split", cancellation: "no" },
    ],
  ];
  for (const [rules, facts] of cases)
    test(`"${rules}" is parsed to ${JSON.stringify(facts)}`, () => {
      const read = parseRules(rules);
      for (const [name, value] of Object.entries(facts)) assert.equal(read[name as keyof RulesFacts], value, name);
    });
});

describe("compareRules", () => {
  test("different weather stations of one city are a veto", () => {
    const { vetoes, notes } = compare("The temperature at Central Park.", "The temperature at LaGuardia.");
    assert.deepEqual(vetoes, ["station"]);
    assert.deepEqual(notes, ["The rules name different weather stations: KNYC and KLGA."]);
    assert.deepEqual(compare("The temperature at Central Park.", "The temperature at KNYC.").vetoes, []);
    assert.deepEqual(compare("The temperature at Central Park.", "The temperature in New York.").vetoes, []);
  });

  test("a weather station without a proper name is not read as a station", () => {
    const unnamed = "The temperature recorded at the Weather Station.";
    assert.deepEqual(parseRules(unnamed).stationNames, []);
    const { vetoes } = compare(
      `${unnamed} Rain recorded at Deer Valley Airport.`,
      "The temperature recorded at Sky Harbor Airport.",
    );
    assert.deepEqual(vetoes, ["station"]);
  });

  test("the sentence after the name of a station is not part of the name", () => {
    const rules = (next: string) => `Rain recorded at Sky Harbor Airport. ${next} market closes early.`;
    assert.deepEqual(parseRules(rules("This")).stationNames, ["sky harbor"]);
    assert.deepEqual(compare(rules("This"), rules("The")).vetoes, []);
    assert.deepEqual(parseRules("Rain recorded at St. Louis Downtown Airport.").stationNames, ["st. louis downtown"]);
  });

  test("a station in the centre of a city is not the city's airport", () => {
    const downtown = "Rain recorded at Downtown San Francisco.";
    assert.deepEqual(compare(downtown, "Rain recorded at San Francisco Airport.").vetoes, ["station"]);
    assert.deepEqual(compare(downtown, "Rain recorded at Downtown San Francisco Station.").vetoes, []);
  });

  test("regulation time and overtime are a veto", () => {
    const { vetoes } = compare("The score at the end of regulation.", "The score, including overtime.");
    assert.deepEqual(vetoes, ["overtime"]);
    assert.deepEqual(compare("The score at the end of regulation.", "The score.").vetoes, []);
  });

  test("if each side has one deadline and the two are more than a day apart, the deadlines are a veto", () => {
    const june = "Resolves to yes if it rains by June 30, 2026.";
    assert.deepEqual(compare(june, "Resolves to yes if it rains by December 31, 2026.").vetoes, ["deadline"]);
    assert.deepEqual(compare(june, "Resolves to yes if it rains by July 1, 2026.").vetoes, []);
    assert.deepEqual(compare(june, "Resolves to yes if it rains in June.").vetoes, []);
  });

  test("the end of a day in a time zone is a deadline with a time of day", () => {
    const endOfDay = "Resolves to yes if it rains by the end of October 30, 2026 (UTC).";
    const at = (time: string) => `Resolves to yes if it rains by ${time} on October 30, 2026.`;
    assert.deepEqual(compare(endOfDay, at("11:59 PM UTC")).vetoes, []);
    assert.deepEqual(compare(endOfDay, at("11:59 PM ET")).vetoes, ["deadline"]);
    assert.deepEqual(compare(endOfDay, at("11:00 AM UTC")).vetoes, ["deadline"]);
    assert.deepEqual(compare(endOfDay, "Resolves to yes if it rains by October 30, 2026.").vetoes, []);
  });

  test("if a side has several deadlines and the sides share no deadline, the deadlines are a note and no veto", () => {
    const { vetoes, notes } = compare("By June 30, 2026.", "By July 31, 2026. Or by August 31, 2026.");
    assert.deepEqual(vetoes, []);
    assert.deepEqual(notes, ["The rules name different deadlines: 2026-06-30 and 2026-07-31, 2026-08-31."]);
    assert.deepEqual(compare("By June 30, 2026.", "By June 30, 2026. Or by August 31, 2026.").notes, []);
  });

  test("an unfilled placeholder is a veto, even if the other rules are unknown", () => {
    for (const { vetoes, notes } of [
      compare("Resolves if {{team}} wins.", "Resolves if {{team}} wins."),
      compareRules(parseRules("Resolves if {{team}} wins."), null),
    ]) {
      assert.deepEqual(vetoes, ["placeholder"]);
      assert.match(notes[0] ?? "", /unfilled placeholder: \{\{team\}\}/);
    }
  });

  const noted: readonly (readonly [a: string, b: string, note: RegExp])[] = [
    ["Source: example.org.", "Source: example.gov.", /different sources: example.org and example.gov/],
    ["An announcement suffices.", "It must take place.", /announcement, the other on the event itself/],
    ["A tie resolves 50-50.", "A tie resolves to No.", /settle a tie differently/],
    ["If cancelled, resolves to No.", "If cancelled, refunded.", /settle a cancelled contest differently/],
    ["The opponent is TBD.", "The opponent is Ghana.", /leave a part to be determined/],
  ];
  for (const [a, b, note] of noted)
    test(`"${a}" and "${b}" give a note and no veto`, () => {
      const { vetoes, notes } = compare(a, b);
      assert.deepEqual(vetoes, []);
      assert.equal(notes.length, 1);
      assert.match(notes[0] ?? "", note);
    });

  test("unknown rules cause no veto and no note", () => {
    assert.deepEqual(compareRules(null, null), { vetoes: [], notes: [] });
    assert.deepEqual(compareRules(parseRules("The temperature at Central Park."), null), { vetoes: [], notes: [] });
  });

  const part = fc.constantFrom(
    "The temperature at Central Park. ",
    "at KLGA ",
    "{{x}} ",
    "by June 30, 2026. ",
    "until July 31, 2026 ",
    "including overtime. ",
    "regulation only. ",
    "A tie resolves to No. ",
    "cancelled 50-50. ",
    "An announcement suffices. ",
    "example.org ",
    "TBD ",
    "a",
    " ",
    "\n",
  );
  const rules = fc.array(part, { maxLength: 12 }).map((parts) => parts.join(""));

  test("comparing rules with themselves gives no veto, unless the rules contain an unfilled placeholder", () => {
    fc.assert(
      fc.property(rules, (text) => {
        const facts = parseRules(text);
        const { vetoes } = compareRules(facts, facts);
        assert.deepEqual(vetoes, facts.placeholders.length > 0 ? ["placeholder"] : []);
      }),
    );
  });

  test("the vetoes do not depend on the order of the two sides", () => {
    fc.assert(
      fc.property(rules, rules, (a, b) => {
        assert.deepEqual([...compare(a, b).vetoes].sort(), [...compare(b, a).vetoes].sort());
      }),
    );
  });
});

test("rules are read up to RULES_LENGTH_MAX characters", () => {
  const filler = "a ".repeat(RULES_LENGTH_MAX / 2);
  assert.deepEqual(parseRules(`${filler}{{team}} by June 30, 2026`), parseRules(filler));
});

test("keeps a bounded number of stations, sources and deadlines", () => {
  const letters = [..."abcdefghijklmnopqrstuvwxyz"];
  const rules = letters.map(
    (letter, index) =>
      `Temperature at KA${letter.toUpperCase()}A by June ${index + 1}, 2026. See ${letter}.example.org.`,
  );
  const facts = parseRules(rules.join("\n"));
  for (const values of [facts.stations, facts.sources, facts.deadlines]) assert.equal(values.length, 16);
});

test("rules that repeat fragments of the patterns give at most 16 facts of each kind", () => {
  const parts = fc.constantFrom(
    ..."{{|[insert |<date |___|$ ___|a.|a-|.com|K|KNYC |temperature |by |by 1:00 |between |between May 1, 2026 |and |overtime |not |tie |only |announcement |a|. A|\n|\ufdfa".split(
      "|",
    ),
  );
  fc.assert(
    fc.property(fc.array(parts, { minLength: 1, maxLength: 3 }), (unit) => {
      const facts = parseRules(unit.join("").repeat(RULES_LENGTH_MAX));
      for (const values of [facts.placeholders, facts.openParts, facts.stations, facts.sources, facts.deadlines])
        assert.ok(values.length <= 16);
    }),
    { numRuns: 50 },
  );
});
