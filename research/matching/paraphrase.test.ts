import assert from "node:assert/strict";
import { test } from "node:test";
import { seededUniform } from "../../test/support/research/sample-web.ts";
import { paraphraseRow } from "./paraphrase.ts";
import { rewriteGame } from "./paraphrase-games.ts";
import {
  rewriteDate,
  rewriteEndOfMonth,
  rewriteEndOfYear,
  rewriteMoney,
  rewriteSpanOfYear,
  rewriteYearOfDate,
} from "./paraphrase-values.ts";
import tables from "./paraphrases.json" with { type: "json" };
import type { PairRow } from "./rows.ts";

const PICKS = Array.from({ length: 40 }, (_, index) => index / 40);
const TITLES = [
  "Will Narendra Modi leave Prime Minister of India before Jan 1, 2027?",
  "Zelenskyy out as Ukraine president by June 30, 2026?",
  "Will the Democrats win the Michigan governor race in 2026?",
  "Will Donald Trump visit Kansas in 2026?",
  "Will Bitcoin reach $120,000 by December 31, 2026?",
  "Will Czechia win Group A in the 2026 FIFA World Cup?",
  "Will Wagner Moura win Best Actor at the 98th Academy Awards?",
  "Bank of England decision in November?",
  "Consensys IPO by June 30, 2026?",
  "Suns vs. 76ers — Suns",
];

const rowOf = (title: string, other = title): PairRow => ({
  a: { venue: "x", id: "1", title, event_title: title },
  b: { venue: "y", id: "2", title: other, close: "2026-12-31", legs_sample: [other], legs_total: 1 },
  same: true,
  relation: "equivalent",
  grain: "market",
});
const variants = (rewrite: (text: string, pick: number) => string, text: string): string[] => [
  ...new Set(PICKS.map((pick) => rewrite(text, pick))),
];

test("equal random numbers give equal rows, and others give other titles", () => {
  const titlesOf = (seed: number) => TITLES.map((title) => paraphraseRow(rowOf(title), seededUniform(seed)));
  assert.deepEqual(titlesOf(1), titlesOf(1));
  assert.notDeepEqual(titlesOf(1), titlesOf(2));
});

test("venues, ids and labels stay; the event's title and the legs are rewritten like the title", () => {
  for (const title of TITLES) {
    const row = rowOf(title);
    const { a, b, ...labels } = paraphraseRow(row, seededUniform(3));
    assert.deepEqual({ ...row, a, b }, { ...labels, a, b });
    assert.deepEqual([a.venue, a.id, a.event_title], ["x", "1", a.title]);
    assert.deepEqual([b.venue, b.id, b.close, b.legs_total, b.legs_sample], ["y", "2", "2026-12-31", 1, [b.title]]);
  }
});

test("nearly every title that some entry fits changes, and one that none fits stays", () => {
  const random = seededUniform(4);
  const changed = TITLES.flatMap((title) => {
    const { a, b } = paraphraseRow(rowOf(title), random);
    return [a.title !== title, b.title !== title];
  });
  assert.ok(changed.filter(Boolean).length >= 0.9 * changed.length);
  assert.equal(paraphraseRow(rowOf("Aether 9 milestone"), random).b.title, "Aether 9 milestone");
});

test("a rewritten date is the same day", () => {
  for (const [text, day] of [
    ["win on 2026-06-24?", "2026-06-24"],
    ["by 1 June 2026?", "2026-06-01"],
    ["on March 31st, 2026?", "2026-03-31"],
    ["by Dec 12, 2026?", "2026-12-12"],
  ] as const) {
    const results = variants(rewriteDate, text);
    assert.ok(results.length > 4);
    for (const result of results) {
      const date = result.replace(/^.*?(?:on|by) /, "").replace(/(?<=\d)(?:st|nd|rd|th)|\?/g, "");
      assert.equal(new Date(`${date} UTC`).toISOString().slice(0, 10), day, result);
    }
  }
  assert.deepEqual(variants(rewriteDate, "between 1 May 2026 and 3 May 2026?"), ["between 1 May 2026 and 3 May 2026?"]);
});

test("a rewritten deadline ends at the same instant", () => {
  const endOf = (text: string): string => {
    const [, word, rest = ""] = /^(by|before) (.*)\?$/.exec(text) ?? [];
    const [, month = "December", year] = /^(?:the )?(?:year-end |end of )(?:([A-Z]\w+) )?(\d{4})$/.exec(rest) ?? [];
    const start = new Date(`${year ? `1 ${month} ${year}` : rest.replace(/^[A-Z]\w+(?= \d{4}$)/, "1 $&")} UTC`);
    if (year) start.setUTCMonth(start.getUTCMonth() + 1);
    else if (word === "by") start.setUTCDate(start.getUTCDate() + 1);
    return start.toISOString().slice(0, 10);
  };
  const years = ["before 2027?", "before Jan 1, 2027?", "by December 31, 2026?", "by end of 2026?"];
  for (const result of years.flatMap((text) => variants(rewriteEndOfYear, text))) {
    assert.equal(endOf(result), "2027-01-01", result);
  }
  const months = ["before July 1, 2026?", "before July 2026?", "by June 30, 2026?", "by the end of June 2026?"];
  for (const result of months.flatMap((text) => variants(rewriteEndOfMonth, text))) {
    assert.equal(endOf(result), "2026-07-01", result);
  }
});

test("other deadlines and spans stay", () => {
  for (const text of ["before the 2027 season?", "before 2027 season", "by 1 June 2026?", "by 2030?"]) {
    assert.deepEqual(variants(rewriteEndOfYear, text), [text]);
    assert.deepEqual(variants(rewriteEndOfMonth, text), [text]);
  }
  assert.ok(variants(rewriteSpanOfYear, "AI bubble pops in 2026?").every((text) => / 2026\?$/.test(text)));
  assert.ok(variants(rewriteSpanOfYear, "Putin out in 2026?").some((text) => text.includes("2027")));
  assert.ok(variants(rewriteSpanOfYear, "Putin out in 2027?").every((text) => / 2027\?$/.test(text)));
});

test("the year of a date comes or goes only near the close", () => {
  assert.equal(rewriteYearOfDate("by March 31?", 0, "2026-03-30"), "by March 31, 2026?");
  assert.equal(rewriteYearOfDate("by March 31, 2026?", 0, "2026-03-30"), "by March 31?");
  for (const close of [null, undefined, "2027-03-01"]) {
    assert.equal(rewriteYearOfDate("by December 31?", 0, close), "by December 31?");
  }
});

test("a rewritten amount of money has the same value", () => {
  const scales: Record<string, number> = { k: 1e3, m: 1e6, million: 1e6, b: 1e9, bn: 1e9, billion: 1e9 };
  const amountOf = (text: string): number => {
    const [, digits = "", unit = ""] = /(\d[\d,.]*) ?(k|million|m|billion|bn|b)?\b/i.exec(text) ?? [];
    return Number(digits.replaceAll(",", "")) * (scales[unit.toLowerCase()] ?? 1);
  };
  for (const text of ["hit $100,000?", "hit $100k?", "above $10B?", "above $1.5 million?", "dip to $578?"]) {
    const results = variants(rewriteMoney, text);
    assert.notDeepEqual(results, [text]);
    for (const result of results) assert.equal(amountOf(result), amountOf(text), result);
  }
  assert.deepEqual(variants(rewriteMoney, "$2,700-2,800?"), ["$2,700-2,800?"]);
});

test("the side that YES stands for stays the same team of the game", () => {
  const random = seededUniform(5);
  const names = { Phoenix: ["Phoenix", "Suns", "Phoenix Suns"], Brooklyn: ["Brooklyn", "Nets", "Brooklyn Nets"] };
  for (const title of ["Phoenix at Brooklyn Winner? — Brooklyn", "Nets vs. Suns — Nets"]) {
    for (let run = 0; run < 50; run += 1) {
      const [game = "", side = ""] = paraphraseRow(rowOf(title), random).b.title.split(" — ");
      assert.ok(names.Brooklyn.includes(side), side);
      assert.ok(game.includes(side), game);
      assert.ok(
        names.Phoenix.some((name) => game.includes(name)),
        game,
      );
    }
  }
});

test("team names are replaced only if exactly one league has both teams", () => {
  assert.ok(variants(rewriteGame, "Suns vs. 76ers").includes("Phoenix Suns vs. Philadelphia 76ers"));
  for (const title of ["Oregon vs. Indiana", "Dallas at New York", "Giants vs. Cardinals", "Charlotte at Utah"]) {
    assert.deepEqual(variants(rewriteGame, title), [title]);
  }
});

test("no form of a table has two meanings", () => {
  const entries: readonly { pattern?: string; forms?: readonly string[]; each?: string }[] = Object.values(
    tables.entries,
  ).flat();
  for (const entry of entries) {
    if (!entry.forms || !entry.each) continue;
    const rows: readonly Readonly<Record<string, string>>[] = tables.tables[entry.each as keyof typeof tables.tables];
    const forms = rows.flatMap((row) =>
      entry.forms?.map((form) => form.replace(/\{(\w+)\}/g, (_, key) => row[key] ?? "")),
    );
    assert.equal(new Set(forms).size, forms.length, entry.each);
  }
});
