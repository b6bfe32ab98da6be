import assert from "node:assert/strict";
import { test } from "node:test";
import { countDrops } from "../../../test/support/venues/count-drops.ts";
import { fixtureReader } from "../../../test/support/venues/fixtures.ts";
import { oracleStateOfRow, parseResolution } from "./parse-resolution.ts";
import { isResolution, isResolutionsReply } from "./wire.ts";

const readFixture = fixtureReader(import.meta.url);

test("parses payouts to outcomes; a proposal has none", () => {
  const reply = readFixture("resolution/all-states");
  assert.ok(isResolutionsReply(reply));
  const { drops, countDrop } = countDrops();
  const resolutions = reply.data.map((row) => {
    assert.ok(isResolution(row));
    return parseResolution(row, countDrop);
  });
  assert.deepEqual(
    resolutions.map(({ state, outcome }) => [state, outcome]),
    [
      ["settled", { kind: "yes" }],
      ["settled", { kind: "no" }],
      ["settled", { kind: "partial", value: 0.5 }],
      ["settled", { kind: "partial", value: 0.3 }],
      ["proposed", null],
      ["proposed", null],
      ["contested", null],
      ["proposed", null],
      ["proposed", null],
      ["open", null],
      ["settled", null],
      ["contested", null],
    ],
  );
  assert.equal(resolutions[0]?.resolvedAt, 1795229990000);
  assert.deepEqual(drops, { bad_payouts: 1 });
});

test("reads the time of a resolution as ISO text and as Unix seconds; other text is not a time", () => {
  const at = Date.UTC(2026, 8, 30, 14, 5, 7);
  for (const [resolved_at, expected] of [
    ["2026-09-30T14:05:07Z", at],
    ["2026-09-30T16:05:07.000+02:00", at],
    [at / 1000, at],
    [String(at / 1000), at],
    ["soon", null],
    ["", null],
    [null, null],
    [undefined, null],
    [-5, null],
    [at, null],
    [{}, null],
  ] as const) {
    const row = { condition_id: "0x0", status: "resolved", payouts: [0, 1_000_000], resolved_at };
    assert.ok(isResolution(row));
    const { resolvedAt, outcome } = parseResolution(row, () => {});
    assert.deepEqual([resolvedAt, outcome], [expected, { kind: "no" }], JSON.stringify(resolved_at));
  }
});

test("reads the oracle's state of a market row from its status, else from the end of its history", () => {
  const cases = [
    [{}, null],
    [{ umaResolutionStatus: "", umaResolutionStatuses: "[]" }, null],
    [{ umaResolutionStatuses: '["proposed"]' }, "proposed"],
    [{ umaResolutionStatuses: '["proposed", "disputed", "proposed"]' }, "proposed"],
    [{ umaResolutionStatus: "Disputed", umaResolutionStatuses: '["proposed"]' }, "contested"],
    [{ umaResolutionStatus: "settled" }, "settled"],
    [{ umaResolutionStatus: "requested" }, "open"],
  ] as const;
  for (const [row, state] of cases) assert.equal(oracleStateOfRow(row), state, JSON.stringify(row));
});
