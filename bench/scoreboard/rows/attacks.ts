import type { ScoreboardRow } from "../row.ts";
import { measureTests } from "../run-tests.ts";

/** Rows that are measured by tests: leaked secrets, injected instructions, and false trade reports. */

export const secretsRow: ScoreboardRow = {
  id: "S26",
  figure: "keys, tokens, passwords and secrets found in log lines, metrics, tables and unrelated responses",
  target: "0",
  mutations: [
    {
      defence: "only the hash of a key is stored",
      file: "src/capabilities/accounts/keys/key-format.ts",
      find: "prefix: body.slice(0, body.length - RANDOM_LENGTH + PREFIX_RANDOM_LENGTH) };",
      replace: "prefix: body + computeChecksum(body) };",
    },
  ],
  measure: () =>
    measureTests(
      ["test/e2e/customer-secrets.test.ts", "src/capabilities/analysis/research/secrets.test.ts"],
      undefined,
      "0 secrets found in the log, responses, metrics and all tables",
    ),
};

export const injectionRow: ScoreboardRow = {
  id: "S27",
  figure: "shift of an estimate by an instruction in one of its pages, in 200 pairs with and without it",
  target: "median <= 0.02, p95 <= 0.05, 0 requests to addresses that no search returned",
  mutations: [
    {
      defence: "the effect of one source is bounded",
      file: "src/capabilities/analysis/research/pool.ts",
      find: "  loneSourceEffect: 0.08,",
      replace: "  loneSourceEffect: 8,",
    },
  ],
  measure: () =>
    measureTests(
      ["src/capabilities/analysis/research/injection.test.ts"],
      [/moves the pool by at most/, /without the bound on a source/],
      "200 pairs: median <= 0.02, p95 <= 0.05, 0 unlisted requests; at least a fifth reached the model",
    ),
};

export const consensusRow: ScoreboardRow = {
  id: "S28",
  figure: "move of the robust consensus by 10% of the agents, with any volume",
  target: "<= 0.02",
  mutations: [
    {
      defence: "the pull of one agent is bounded",
      file: "src/quant/robust-consensus.ts",
      find: "const HUBER_DISTANCE = 0.09;",
      replace: "const HUBER_DISTANCE = 0.9;",
    },
    {
      defence: "volume above a low quantile gives no more weight",
      file: "src/quant/robust-consensus.ts",
      find: "const CAP_QUANTILE = 0.05;",
      replace: "const CAP_QUANTILE = 1;",
    },
  ],
  measure: () =>
    measureTests(
      ["src/quant/robust-consensus.test.ts", "src/capabilities/markets/consensus/model.test.ts"],
      [/10% of the agents/],
      "<= 0.02 in all simulated reports",
    ),
};
