import assert from "node:assert/strict";
import { test } from "node:test";
import { countDrops } from "../../../test/support/venues/count-drops.ts";
import { fixtureReader } from "../../../test/support/venues/fixtures.ts";
import { parseResolution } from "./parse-resolution.ts";
import { isResolution, isResolutionsReply } from "./wire.ts";

const readFixture = fixtureReader(import.meta.url);

test("parses payouts and proposals to outcomes; the value 69 means unset, and a contested proposal has no outcome", () => {
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
      ["proposed", { kind: "yes" }],
      ["proposed", null],
      ["contested", null],
      ["proposed", { kind: "yes" }],
      ["proposed", { kind: "yes" }],
      ["open", null],
      ["settled", null],
      ["contested", null],
    ],
  );
  assert.equal(resolutions[0]?.resolvedAt, 1795229990000);
  assert.deepEqual(drops, { bad_payouts: 1 });
});
