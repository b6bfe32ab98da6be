import assert from "node:assert/strict";
import { test } from "node:test";
import { CATEGORIES, categoryOf } from "./category.ts";

/** Category names of venues, from recordings, fixtures and their documentation. */
const VENUE_NAMES: Readonly<Record<string, (typeof CATEGORIES)[number]>> = {
  Politics: "Politics",
  Elections: "Politics",
  "US-current-affairs": "Politics",
  Economics: "Economics",
  Economy: "Economics",
  Finance: "Finance",
  Financials: "Finance",
  Crypto: "Crypto",
  Sports: "Sports",
  Esports: "Sports",
  Props: "Sports",
  Health: "Science",
  Science: "Science",
  "Science and Technology": "Technology",
  Tech: "Technology",
  AI: "Technology",
  Entertainment: "Culture",
  "Pop Culture": "Culture",
  Social: "Culture",
  "Climate and Weather": "Weather",
  Climate: "Weather",
  Weather: "Weather",
  World: "World",
  Geopolitics: "World",
  Companies: "Companies",
  "Company news": "Companies",
  Business: "Companies",
  Exotics: "Other",
  Mentions: "Other",
  Transportation: "Other",
  "Weather (old)": "Other",
  "This vs that": "Other",
};

test("every category name of the venues belongs to the expected category, in any case", () => {
  for (const [name, category] of Object.entries(VENUE_NAMES)) {
    assert.equal(categoryOf(name), category, name);
    assert.equal(categoryOf(` ${name.toUpperCase()} `), category, name);
  }
});

test("each of our own categories belongs to itself", () => {
  for (const category of CATEGORIES) assert.equal(categoryOf(category), category);
});

test("an unknown name is `Other`; a missing or empty name is null", () => {
  assert.equal(categoryOf("Alien contact"), "Other");
  assert.equal(categoryOf("constructor"), "Other");
  assert.equal(categoryOf(null), null);
  assert.equal(categoryOf("  "), null);
});
