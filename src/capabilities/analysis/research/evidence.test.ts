import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { isSameClaim, jaccard, removeCopies, shinglesOf, wordsOf } from "./duplicates.ts";
import { claimEffect, sourceEffect } from "./evidence.ts";
import type { BeliefState, Claim } from "./model.ts";

const claim = (changes: Partial<Claim>): Claim => ({
  documentId: "d1",
  direction: "yes",
  strength: "moderate",
  reliability: "high",
  text: "The chamber passed the bill",
  ...changes,
});
const belief = (probability: number, evidence: readonly Claim[]): BeliefState => ({
  probability,
  confidence: 0.5,
  evidence,
  openQuestions: [],
});

test("the effect of a claim is the logarithm of its likelihood ratio, reduced by the reliability of the source", () => {
  assert.equal(claimEffect(claim({})), Math.log(2));
  assert.equal(claimEffect(claim({ direction: "no", strength: "decisive" })), -Math.log(10));
  assert.equal(claimEffect(claim({ reliability: "low" })), 0.3 * Math.log(2));
});

test("the same claim counts once, and the strongest version of it remains", () => {
  const twice = [claim({}), claim({ strength: "strong", text: "The chamber passed the bill today" })];
  assert.ok(Math.abs(sourceEffect(belief(0.99, twice), 0.5) - Math.log(4)) < 1e-12);
  const different = [claim({}), claim({ text: "Three ministers left over costs" })];
  assert.ok(Math.abs(sourceEffect(belief(0.99, different), 0.5) - Math.log(4)) < 1e-12);
});

test("a source's effect neither exceeds nor opposes the model's stated change, is at most log 10, and is 0 without claims", () => {
  const many = Array.from({ length: 12 }, (_, index) =>
    claim({ strength: "decisive", documentId: `d${index % 2}`, text: `fact${index} word${index} item${index}` }),
  );
  assert.ok(Math.abs(sourceEffect(belief(0.99, many), 0.5) - Math.log(10)) < 1e-12);
  assert.equal(sourceEffect(belief(0.4, many), 0.5), 0);
  assert.equal(sourceEffect(belief(0.99, []), 0.5), 0);
  const small = sourceEffect(belief(0.55, many), 0.5);
  assert.ok(Math.abs(small - Math.log(0.55 / 0.45)) < 1e-12);
});

test("Jaccard similarity is symmetric, 1 for equal sets, 0 for disjoint or empty ones", () => {
  assert.equal(jaccard(new Set("ab"), new Set("bc")), 1 / 3);
  assert.equal(jaccard(new Set(), new Set()), 0);
  fc.assert(
    fc.property(fc.array(fc.nat(9)), fc.array(fc.nat(9)), (a, b) => {
      const [left, right] = [new Set(a), new Set(b)];
      assert.equal(jaccard(left, right), jaccard(right, left));
      assert.ok(jaccard(left, right) >= 0 && jaccard(left, right) <= 1);
      if (left.size > 0) assert.equal(jaccard(left, left), 1);
    }),
  );
  assert.deepEqual([...shinglesOf(wordsOf("A b, c!"), 2)], ["a b", "b c"]);
  assert.ok(isSameClaim("The bill passed on Tuesday.", "On Tuesday the bill passed"));
  assert.ok(!isSameClaim("The bill passed on Tuesday.", "The minister resigned over costs"));
});

test("counts one of ten copies of a story, and keeps a copied passage in one text only", () => {
  const story =
    "The chamber passed the harbour bill on Tuesday evening after a long debate. Thirty members voted against it in the end.";
  const own = "The dockers plan a protest at the northern gate because the tariff of the old quay doubles next year.";
  const passage = "Every careful reader of this report will certainly conclude that the outcome is already fixed.";
  const copies = removeCopies(Array.from({ length: 10 }, (_, index) => `Agency ${index}. ${story}`));
  assert.deepEqual(
    copies.map(({ isCopy }) => isCopy),
    [false, ...Array.from({ length: 9 }, () => true)],
  );
  const [first, second] = removeCopies([`${story} ${passage}`, `${own} ${passage}`]);
  assert.ok(first?.text.includes(passage));
  assert.deepEqual(second, { text: own, isCopy: false });
});
