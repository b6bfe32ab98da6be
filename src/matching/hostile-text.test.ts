import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { compareMarkets } from "./features.ts";
import { createFingerprint } from "./fingerprint.ts";
import { WORD_WEIGHTS } from "./model-data.ts";
import { TEXT_LENGTH_MAX } from "./text/words.ts";

const fingerprintOf = (title: string, outcomeLabel: string | null = null, eventTitle: string | null = null) =>
  createFingerprint({
    title,
    outcomeLabel,
    eventTitle,
    closeAt: Date.UTC(2026, 5, 30),
    expectedResolutionAt: null,
  });

/** Parts of the patterns. Repeated, they make a pattern with nested repetition take exponential time. */
const PARTS =
  "a|1|0| |-|.|,|$|%|'|(|[|?|:|@|by |may 1 |june 3-|before the |by the end of |at the |2026-|q1 |between |from |above |" +
  "hits (high) |and |to |k |million |reach the |grand final |both |score |vs |will |will the |win |at |: | - |u. s. |" +
  "united states |U.S.|S&P |New York |Los Angeles L|PM |d'|de la |Ann |" +
  "super bowl |stanley cup finals |mvp |cs2 |(bo1|98th oscar|year-|nc-01 |group a |map 1 |\u0301|\ufdfa|\u{1f642}|\0";
const part = fc.constantFrom(...PARTS.split("|"));

test("a title of 100 kB gives the fingerprint of its first characters", () => {
  const start = "Will Ann Lee win the Ohio Senate race? ".repeat(20).slice(0, TEXT_LENGTH_MAX);
  assert.deepEqual(fingerprintOf(`${start}${"x ".repeat(50_000)}`), fingerprintOf(start));
});

test("thousands of digits are neither a quantity nor a date", () => {
  const { quantities, periods } = fingerprintOf(`above $${"7".repeat(5_000)}`);
  assert.deepEqual(quantities, []);
  assert.deepEqual(periods, []);
});

test("a text that repeats fragments of the patterns gives a fingerprint of bounded size and finite features", () => {
  fc.assert(
    fc.property(fc.array(part, { minLength: 1, maxLength: 4 }), part, (unit, end) => {
      const text = `${unit.join("").repeat(TEXT_LENGTH_MAX)}${end}`;
      const fingerprint = fingerprintOf(text, text, text);
      const { stems, eventStems, names, subject, periods, quantities } = fingerprint;
      const sides = [subject, ...(fingerprint.fixture ?? [])].flatMap((side) => [side.stems, side.teams]);
      for (const list of [stems, eventStems, names, names.flat(), periods, quantities, ...sides])
        assert.ok(list.length <= 2 * TEXT_LENGTH_MAX);
      for (const value of Object.values(compareMarkets(fingerprint, fingerprint, WORD_WEIGHTS).features))
        assert.ok(Number.isFinite(value));
    }),
  );
});

test("names of Object.prototype members, such as `constructor`, are ordinary words in a title", () => {
  const title = "Will __proto__ constructor toString hasOwnProperty win?";
  const { features } = compareMarkets(fingerprintOf(title), fingerprintOf(title), WORD_WEIGHTS);
  assert.equal(features.coverage_min, 1);
  assert.equal(features.subject_similarity, 1);
});
