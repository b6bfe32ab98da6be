import { readFile } from "node:fs/promises";
import { spellForbiddenHosts } from "../../../test/support/webhooks/spellings.ts";
import { readTestDatabaseUrl } from "../../harness/own-database.ts";
import type { ScoreboardRow } from "../row.ts";
import { measureTests } from "../run-tests.ts";

/** Rows that are measured by tests. */

const SPELLINGS_MIN = 5_000;
const PYDANTIC_CASES_MIN = 500;
const PYDANTIC_CASES = new URL("../../../src/http/validation/fixtures/pydantic-cases.json", import.meta.url);

export const forbiddenAddressesRow: ScoreboardRow = {
  id: "S8",
  figure: "connections to addresses that are not public: spellings, names that change their address, redirects",
  target: "0 in 5,000 spellings, 100 changes of an address and 4 redirects",
  mutations: [
    {
      defence: "a connection is refused if any address of the host is not public",
      file: "src/adapters/network/guarded-agent.ts",
      find: "if (!answers.every(isPublicAddress)) throw",
      replace: "if (answers.length > 1_000) throw",
    },
  ],
  measure() {
    const spellings = spellForbiddenHosts().length;
    if (spellings < SPELLINGS_MIN) throw new Error(`only ${spellings} spellings`);
    const files = ["src/adapters/network/guarded-agent.test.ts", "src/adapters/web/fetch-page.test.ts"];
    const names = [/spelling/, /by turns/, /any of its addresses/, /redirect/, /another address/];
    return measureTests(files, names, `0 connections in ${spellings} spellings of hosts`);
  },
};

export const paymentsRow: ScoreboardRow = {
  id: "S9",
  figure: "payments used twice and responses released before their settlement",
  target: "0 and 0, in 1,000 concurrent repetitions on 3 nodes and 10,000 faulty settlements",
  mutations: [
    {
      defence: "one attempt at a time has the lease on a payment",
      file: "src/capabilities/accounts/payments/ledger.ts",
      find: "(held.state in ('reserved', 'verified') and held.lease_until <= clock_timestamp())",
      replace: "held.state in ('reserved', 'verified')",
    },
    {
      defence: "a settlement with another amount releases no response",
      file: "src/capabilities/accounts/payments/facilitator.ts",
      find: 'if (amount != null && amount !== requirements.amount) return unknown("success with another amount");',
      replace: "",
    },
  ],
  measure({ quick }) {
    readTestDatabaseUrl();
    const files = [
      "src/capabilities/accounts/payments/service.test.ts",
      "src/capabilities/accounts/payments/facilitator.test.ts",
    ];
    if (!quick) files.push("test/apps/payments-delivery.test.ts", "test/apps/payments.test.ts");
    const names = [/1,000 concurrent/, /10,000 generated/, /withheld/, /no response is delivered/];
    return measureTests(files, names, "0 used twice, 0 released early");
  },
};

export const pydanticErrorsRow: ScoreboardRow = {
  id: "S11",
  figure: "422 responses that differ from those of Pydantic 2.13",
  target: `0 of at least ${PYDANTIC_CASES_MIN} recorded requests`,
  mutations: [
    {
      defence: "the bound of an error has the name that Pydantic uses",
      file: "src/http/validation/pydantic-errors.ts",
      find: 'createBoundError("less_than_equal", "less than or equal to", "le")',
      replace: 'createBoundError("less_than_equal", "less than or equal to", "max")',
    },
  ],
  async measure() {
    const { cases }: { readonly cases: readonly object[] } = JSON.parse(await readFile(PYDANTIC_CASES, "utf8"));
    if (cases.length < PYDANTIC_CASES_MIN) throw new Error(`only ${cases.length} recorded requests`);
    const files = ["src/http/validation/pydantic-parity.test.ts"];
    return measureTests(files, undefined, `0 of ${cases.length} recorded requests differ`);
  },
};
