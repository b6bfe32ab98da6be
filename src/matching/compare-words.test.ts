import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { compareBothWays, nameSimilarity, type WordedQuestion } from "./compare-words.ts";

const rareWords = () => 1;
const question = (stems: string, ...names: string[]): WordedQuestion => ({
  stems: stems.split(" "),
  counterparts: stems.split(" "),
  names: names.map((name) => name.split(" ")),
});
const compare = (a: WordedQuestion, b: WordedQuestion, implied: readonly string[] = []) =>
  compareBothWays(a, b, new Set(implied), rareWords);

describe("compareBothWays", () => {
  test("a first name that only one question has counts as a fifth of a word", () => {
    const features = compare(question("donald trump resign", "donald trump"), question("trump resign", "trump"));
    assert.equal(features.names_one, 0);
    assert.ok(Math.abs(features.words_one - 0.2) < 1e-12);
  });

  test("a first name counts as another name if the other name has another one", () => {
    const features = compare(question("ann lee win", "ann lee"), question("bo lee win", "bo lee"));
    assert.equal(features.names_both, 1);
  });

  test("an initial stands for a first name", () => {
    const features = compare(question("michael jordan win", "michael jordan"), question("m jordan win", "m jordan"));
    assert.equal(features.names_both, 0);
  });

  test("the initials of a name need no counterpart, in either direction", () => {
    const features = compare(question("acm win", "acm"), question("acme cyber motor win", "acme cyber motor"));
    assert.deepEqual([features.names_both, features.names_one, features.words_both], [0, 0, 0]);
    assert.equal(features.coverage_min, 1);
  });

  test("a word of the other question's long name is its counterpart", () => {
    const features = compare(question("premierleagu"), question("premier leagu"));
    assert.equal(features.coverage_min, 0.9);
    assert.equal(features.coverage_max, 1);
  });

  test("implied words need no counterpart, unless a name has none", () => {
    const modi = question("modi india out", "modi");
    assert.equal(compare(modi, question("modi out", "modi"), ["india"]).words_one, 0);
    const delhi = question("modi delhi out", "modi", "delhi");
    assert.equal(compare(modi, delhi, ["india"]).names_against_words, 1);
    assert.equal(compare(modi, question("modi power out", "modi"), ["india"]).words_both, 0);
  });

  test("exchanging the questions changes nothing", () => {
    const [a, b] = [question("donald trump resign soon", "donald trump"), question("trump pardon", "trump")];
    assert.deepEqual(compare(a, b), compare(b, a));
  });
});

describe("nameSimilarity", () => {
  test("is 1 for equal names, 0 for an empty name, and high if one name contains the other", () => {
    assert.equal(nameSimilarity(["lyon"], ["lyon"], rareWords), 1);
    assert.equal(nameSimilarity([], ["lyon"], rareWords), 0);
    assert.ok(nameSimilarity(["lyon"], ["lyon", "women"], rareWords) > 0.8);
  });

  test("is at most 0.3 if each name has a rare word that the other lacks", () => {
    const similarity = nameSimilarity(["ann", "maria", "lee"], ["bo", "maria", "lee"], rareWords);
    assert.equal(similarity, 0.3);
    const commonWords = () => 0.5;
    assert.ok(nameSimilarity(["ann", "maria", "lee"], ["bo", "maria", "lee"], commonWords) > 0.3);
  });
});
