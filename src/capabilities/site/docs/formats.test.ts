import assert from "node:assert/strict";
import { test } from "node:test";
import { writeTiersTable } from "./formats.ts";
import type { Operation } from "./model.ts";

const operation = (summary: string, quotaTier: Operation["quotaTier"], priceTier: Operation["priceTier"]) =>
  ({ summary, slug: summary, quotaTier, priceTier }) as Operation;

test("the tiers table shows the price of an operation only if it differs from the price of its quota's tier", () => {
  const table = writeTiersTable([
    operation("list", "LISTING", "LISTING"),
    operation("stream", "LISTING", "DEEP"),
    operation("register", "DEEP", null),
  ]);
  const rows = table.split("\n").map((line) => line.split(" | "));
  const endpointsOf = (tier: string) => rows.find(([name]) => name === `| ${tier}`)?.[2];
  assert.equal(endpointsOf("LISTING"), "[list](/docs/api/list), [stream](/docs/api/stream) ($5) |");
  assert.equal(endpointsOf("DEEP"), "[register](/docs/api/register) (not sold per request) |");
});
