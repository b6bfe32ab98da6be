import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import Type from "typebox";
import { DriftDetector } from "./schema-drift.ts";
import { enumeration, optional, unused, usually } from "./wire-schema.ts";

const Market = Type.Object(
  {
    id: Type.String(),
    price: Type.Unknown({ documented: { type: "price" } }),
    status: enumeration("open closed"),
    volume: usually(Type.Unknown({ documented: { type: "decimal" } })),
    tags: optional(Type.Array(Type.Unknown())),
    result: optional(enumeration("yes no")),
  },
  unused("icon"),
);

function setUp() {
  const drift: [field: string, kind: string, value: unknown][] = [];
  const detector = new DriftDetector("market", Market, (kind, field, value) => drift.push([field, kind, value]));
  const isAccepted = (_value: unknown): _value is unknown => true;
  return { drift, detector, check: (value: unknown) => detector.check(value, isAccepted) };
}

const completeObject = { id: "a", price: "0.42", status: "open", volume: 3, tags: [], icon: "x", result: "" };

test("reports no drift for documented objects, with or without their optional fields", () => {
  const { drift, check } = setUp();
  check(completeObject);
  check({ id: "a", price: 0.5, status: "closed", result: null });
  assert.deepEqual(drift, []);
});

test("reports missing fields and undocumented enumeration values in every object", () => {
  const { drift, check } = setUp();
  for (let object = 0; object < 5; object++) check(completeObject);
  check({ ...completeObject, id: undefined });
  check({ ...completeObject, price: null });
  check({ ...completeObject, status: "limbo", result: 7 });
  assert.deepEqual(drift, [
    ["market.id", "missing", undefined],
    ["market.price", "missing", undefined],
    ["market.status", "unknown_value", "limbo"],
    ["market.result", "unknown_value", 7],
  ]);
});

test("reports new fields and invalid values in the first object of a page and in a sample of the others", () => {
  const { drift, detector, check } = setUp();
  const driftedObject = { ...completeObject, price: "1.7", shiny: 1 };
  detector.startPage([driftedObject]);
  check(driftedObject);
  assert.deepEqual(drift, [
    ["market.price", "unknown_value", "1.7"],
    ["market.shiny", "new", 1],
  ]);
  check(driftedObject);
  assert.equal(drift.length, 2);
  for (let object = 0; object < 500; object++) check(driftedObject);
  assert.ok(drift.length > 2 && drift.length <= 2 * 6, String(drift.length));
});

test("inspects every refused object, even outside the sample", () => {
  const { drift, detector } = setUp();
  const isRefused = (_value: unknown): _value is never => false;
  detector.check(completeObject, isRefused);
  detector.check({ ...completeObject, tags: "none" }, isRefused);
  detector.check("refused", isRefused);
  assert.deepEqual(drift, [
    ["market.tags", "unknown_value", "none"],
    ["market", "unknown_value", "refused"],
  ]);
});

test("reports a `usually` field as missing if no object of a page of at least 20 objects has it", () => {
  const { drift, detector } = setUp();
  const { volume: _, ...withoutVolume } = completeObject;
  detector.startPage(Array.from({ length: 19 }, () => withoutVolume));
  detector.startPage([...Array.from({ length: 30 }, () => withoutVolume), completeObject]);
  assert.deepEqual(drift, []);
  detector.startPage(Array.from({ length: 20 }, () => withoutVolume));
  assert.deepEqual(drift, [["market.volume", "missing", undefined]]);
});

test("reports at most 20 new fields of one object", () => {
  const { drift, check } = setUp();
  check({
    ...completeObject,
    ...Object.fromEntries(Array.from({ length: 5_000 }, (_, index) => [`field_${index}`, index])),
  });
  assert.equal(drift.length, 20);
});

test("`check` returns the result of the acceptance check for any value and never throws", () => {
  const { detector } = setUp();
  fc.assert(
    fc.property(fc.anything(), fc.boolean(), (value, isAccepted) => {
      assert.equal(
        detector.check(value, (_value): _value is unknown => isAccepted),
        isAccepted,
      );
    }),
  );
});

test("`parse` refuses text that is not JSON or is nested more than 64 deep", () => {
  const { detector } = setUp();
  const isList = (value: unknown): value is unknown[] => Array.isArray(value);
  const nested = (depth: number) => `${"[".repeat(depth)}${"]".repeat(depth)}`;
  assert.ok(detector.parse(nested(64), isList) !== null);
  for (const text of [nested(65), "[".repeat(65), "[", ""]) assert.equal(detector.parse(text, isList), null);
});
