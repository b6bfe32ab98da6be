/** Rewrites the titles of labelled pairs into other words of the same meaning: a test of the matcher's use of words. */

import { uniform } from "../../sandbox/world/random.ts";
import { rewriteGame } from "./paraphrase-games.ts";
import { choose, fill, type Rewrite, rowsOf } from "./paraphrase-support.ts";
import {
  rewriteDate,
  rewriteEndOfMonth,
  rewriteEndOfYear,
  rewriteMoney,
  rewriteSpanOfYear,
  rewriteYearOfDate,
} from "./paraphrase-values.ts";
import tables from "./paraphrases.json" with { type: "json" };
import type { PairRow, PairSide } from "./rows.ts";

/**
 * One entry of `paraphrases.json`: phrases that can stand for each other (`forms`), or a pattern and what can stand for it
 * (`to`). `when` and `unless` are tested on the whole title, `before` and `after` are what must not stand next to the
 * phrase, and `each` names a table with whose rows the placeholders in the forms are filled. `exact` entries respect case.
 */
interface Entry {
  readonly forms?: readonly string[];
  readonly pattern?: string;
  readonly to?: readonly string[];
  readonly when?: string;
  readonly unless?: string;
  readonly before?: string;
  readonly after?: string;
  readonly each?: string;
  readonly exact?: boolean;
}

/** Average number of rewrites of a title if many entries apply. */
const REWRITES_PER_TITLE = 3;
/** Probability of each rewrite if few entries apply. */
const SHARE_MAX = 0.9;

const ENTRIES: Readonly<Record<string, readonly Entry[]>> = tables.entries;
const { frames = [], ...phrases } = ENTRIES;
const REWRITES: readonly Rewrite[] = [
  rewriteEndOfYear,
  rewriteEndOfMonth,
  rewriteSpanOfYear,
  rewriteDate,
  rewriteYearOfDate,
  rewriteMoney,
  rewriteGame,
  ...Object.values(phrases).flat().map(rewriteOf),
  (text) => text.normalize("NFD").replace(/\p{M}/gu, "").normalize("NFC"),
  ...frames.map(rewriteOf),
];

/**
 * Rewrites the titles of both sides, each with its own draws. The meaning, the ids and the labels stay. All texts of a
 * side are rewritten with the same draws, so that a leg and the side that YES stands for keep the names of the title.
 */
export function paraphraseRow(row: PairRow, random: () => number): PairRow {
  return { ...row, a: paraphraseSide(row.a, random), b: paraphraseSide(row.b, random) };
}

/** Rewrites all pairs with draws from a seed. */
export function paraphraseRows(rows: readonly PairRow[], seed: number): PairRow[] {
  let count = 0;
  const random = () => uniform(seed, count++, 0);
  return rows.map((row) => paraphraseRow(row, random));
}

function paraphraseSide(side: PairSide, random: () => number): PairSide {
  const draws = REWRITES.map((rewrite) => ({ rewrite, chance: random(), pick: random() }));
  const fitting = draws.filter(({ rewrite, pick }) => rewrite(side.title, pick, side.close) !== side.title);
  const share = Math.min(SHARE_MAX, REWRITES_PER_TITLE / Math.max(1, fitting.length));
  const chosen = draws.filter(({ chance }) => chance < share);
  const paraphrase = (text: string) =>
    chosen.reduce((result, { rewrite, pick }) => rewrite(result, pick, side.close), text);
  const { event_title, legs_sample } = side;
  return {
    ...side,
    title: paraphrase(side.title),
    ...(event_title === undefined ? {} : { event_title: paraphrase(event_title) }),
    ...(legs_sample ? { legs_sample: legs_sample.map(paraphrase) } : {}),
  };
}

function rewriteOf(entry: Entry): Rewrite {
  const flags = entry.exact ? "u" : "iu";
  const when = new RegExp(entry.when ?? "", flags);
  const unless = entry.unless === undefined ? null : new RegExp(entry.unless, flags);
  const rewrite = entry.forms ? rewriteForms(entry, entry.forms) : rewritePattern(entry);
  return (text, pick, close) => (when.test(text) && !unless?.test(text) ? rewrite(text, pick, close) : text);
}

function rewriteForms(entry: Entry, forms: readonly string[]): Rewrite {
  const groups =
    entry.each === undefined ? [forms] : rowsOf(entry.each).map((row) => forms.map((form) => fill(form, row)));
  const keyOf = (form: string) => (entry.exact ? form : form.toLowerCase());
  const groupOf = new Map(groups.flatMap((group) => group.map((form) => [keyOf(form), group])));
  const phrase = groups
    .flat()
    .sort((a, b) => b.length - a.length)
    .map((form) => form.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"))
    .join("|");
  const regex = new RegExp(
    `(?<![\\p{L}\\p{N}])${entry.before ? `(?<!${entry.before})` : ""}(?:${phrase})(?![\\p{L}\\p{N}])${entry.after ? `(?!${entry.after})` : ""}`,
    entry.exact ? "gu" : "giu",
  );
  return (text, pick) =>
    text.replace(regex, (found, offset: number) => {
      const form = choose(groupOf.get(keyOf(found)) ?? [], pick, found);
      return offset === 0 ? capitalise(form) : form;
    });
}

function rewritePattern({ pattern = "", to = [], before, exact }: Entry): Rewrite {
  const regex = new RegExp(`${before ? `(?<!${before})` : ""}${pattern}`, exact ? "gu" : "giu");
  return (text, pick) => {
    const others = to.map((template) => text.replace(regex, template)).filter((result) => result !== text);
    return others.length === 0 ? text : capitalise(choose(others, pick, text));
  };
}

function capitalise(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
