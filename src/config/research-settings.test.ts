import assert from "node:assert/strict";
import { test } from "node:test";
import { assertConfigError, configErrors, parseEnvironment } from "../../test/support/config.ts";
import type { Environment } from "./settings-reader.ts";

const HOSTED: Environment = { PARALLAX_LLM_MODEL: "anthropic/some-model", PARALLAX_LLM_API_KEY: "key-1234" };

test("PARALLAX_LLM_MODEL enables research with a hosted model, or with any server at PARALLAX_LLM_BASE_URL", () => {
  assert.equal(parseEnvironment({ PARALLAX_LLM_API_KEY: "key-1234" }).research, null);
  assert.deepEqual(parseEnvironment(HOSTED).research, {
    model: {
      provider: "anthropic",
      model: "some-model",
      baseUrl: null,
      apiKey: "key-1234",
      price: { input: 5, output: 25 },
    },
    budgetUsd: 0.15,
    dailyBudgetUsd: 20,
    matchBudgetUsd: 1,
    deadlineMs: 90_000,
    search: { engines: ["gdelt", "wikipedia"], apiKey: null },
  });
  const { research } = parseEnvironment({
    PARALLAX_LLM_MODEL: "openai/local:8b",
    PARALLAX_LLM_BASE_URL: "http://10.0.0.5:11434/v1/",
    PARALLAX_LLM_PRICE: "0; 0.25",
    PARALLAX_LLM_BUDGET_USD: "0.5",
    PARALLAX_LLM_MATCH_BUDGET_USD: "0",
    PARALLAX_LLM_DEADLINE_SECONDS: "600",
    PARALLAX_SEARCH_ENGINES: "brave, gdelt",
    PARALLAX_SEARCH_API_KEY: "search-key",
  });
  assert.deepEqual(research, {
    model: {
      provider: "compatible",
      model: "openai/local:8b",
      baseUrl: "http://10.0.0.5:11434/v1",
      apiKey: null,
      price: { input: 0, output: 0.25 },
    },
    budgetUsd: 0.5,
    dailyBudgetUsd: 20,
    matchBudgetUsd: 0,
    deadlineMs: 600_000,
    search: { engines: ["brave", "gdelt"], apiKey: "search-key" },
  });
  const withoutSearch = parseEnvironment({ ...HOSTED, PARALLAX_SEARCH_ENGINES: "none" }).research?.search;
  assert.deepEqual(withoutSearch, { engines: [], apiKey: null });
});

test("rejects incomplete research settings, and never repeats a key", () => {
  const errorCases: readonly [Environment, RegExp][] = [
    [{ PARALLAX_LLM_MODEL: "some-model" }, /MODEL=some-model: give anthropic/],
    [{ PARALLAX_LLM_API_KEY: "" }, /MODEL requires PARALLAX_LLM_API_KEY/],
    [{ PARALLAX_LLM_API_KEY: "key 1234" }, /API_KEY: give visible/],
    [{ PARALLAX_LLM_BASE_URL: "http://models.example.org" }, /BASE_URL: http:\/\/ would send the key/],
    [{ PARALLAX_LLM_BASE_URL: "ftp://models.example.org" }, /BASE_URL: give a URL/],
    [{ PARALLAX_LLM_PRICE: "5" }, /PRICE=5: give USD/],
    [{ PARALLAX_LLM_PRICE: "5;-1" }, /PRICE=5;-1: give USD/],
    [{ PARALLAX_LLM_BUDGET_USD: "0" }, /BUDGET_USD=0: give USD/],
    [{ PARALLAX_LLM_DAILY_BUDGET_USD: "0" }, /DAILY_BUDGET_USD=0: give USD above 0, at most 100000/],
    [{ PARALLAX_LLM_MATCH_BUDGET_USD: "-1" }, /MATCH_BUDGET_USD=-1: give USD from 0, at most 100000/],
    [{ PARALLAX_LLM_BUDGET_USD: "1e3" }, /BUDGET_USD=1e3: give USD/],
    [{ PARALLAX_LLM_DEADLINE_SECONDS: "9" }, /DEADLINE_SECONDS=9/],
    [{ PARALLAX_LLM_DEADLINE_SECONDS: "1801" }, /DEADLINE_SECONDS=1801/],
    [{ PARALLAX_SEARCH_ENGINES: "altavista" }, /ENGINES: altavista is not one of/],
    [{ PARALLAX_SEARCH_ENGINES: "none,gdelt" }, /ENGINES: none is not one of .*; none alone disables search/],
    [{ PARALLAX_SEARCH_ENGINES: "brave" }, /brave requires PARALLAX_SEARCH_API_KEY/],
  ];
  for (const [changes, expected] of errorCases) {
    const environment = { ...HOSTED, ...changes };
    assertConfigError(environment, expected);
    assert.ok(!configErrors(environment).some((error) => /key.1234/.test(error)));
  }
});
