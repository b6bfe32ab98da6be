import assert from "node:assert/strict";
import { test } from "node:test";
import { normaliseText, stemsOf } from "../text/words.ts";
import { findDistrictStates, findPlaces } from "./places.ts";

const read = (text: string): readonly string[] => findPlaces(stemsOf(normaliseText(text)));
const key = (name: string): string => stemsOf(normaliseText(name)).join(" ");

test("finds countries and US states, also by the name of their people", () => {
  assert.deepEqual(read("Will France recognise Kosovo?"), [key("France"), key("Kosovo")]);
  assert.deepEqual(read("Ohio governor"), [key("Ohio")]);
  assert.deepEqual(read("the Hungarian parliament"), [key("Hungary")]);
});

test("takes the longest name: West Virginia is not Virginia", () => {
  assert.deepEqual(read("West Virginia Senate race"), [key("West Virginia")]);
  assert.deepEqual(read("Virginia Senate race"), [key("Virginia")]);
});

test("omits the United States, because they are often implied", () => {
  assert.deepEqual(read("US inflation in the United States of America"), []);
});

test("returns each place once, and none for a text without places", () => {
  assert.deepEqual(read("Ohio and Ohio"), [key("Ohio")]);
  assert.deepEqual(read("Who wins the league?"), []);
});

test("finds the state of a congressional district", () => {
  assert.deepEqual(findDistrictStates("who wins ak-al and ny-12?"), [key("Alaska"), key("New York")]);
  assert.deepEqual(findDistrictStates("covid-19 and zz-01"), []);
});
