import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { WireWatch } from "./schema-drift.ts";

const SHAPE = {
  needed: { id: "text", price: "price", status: "text" },
  usual: { volume: "decimal" },
  read: { tags: "list" },
  words: { status: ["open", "closed"], result: ["yes", "no"] },
  unread: ["icon"],
} as const;

function setUp() {
  const drift: [string, string, unknown][] = [];
  const watch = new WireWatch("market", SHAPE, (kind, field, value) => drift.push([field, kind, value]));
  const isAny = (value: unknown): value is unknown => value !== "refused";
  return { drift, watch, look: (value: unknown) => watch.check(value, isAny) };
}

const whole = { id: "a", price: "0.42", status: "open", volume: 3, tags: [], icon: "x", result: "" };

test("an object as documented is no drift, with or without what may be absent", () => {
  const { drift, look } = setUp();
  look(whole);
  look({ id: "a", price: 0.5, status: "closed", result: null });
  assert.deepEqual(drift, []);
});

test("in every object, needed fields that are absent or null and words nobody knows are told by name", () => {
  const { drift, look } = setUp();
  for (let object = 0; object < 5; object++) look(whole);
  look({ ...whole, id: undefined });
  look({ ...whole, price: null });
  look({ ...whole, status: "limbo", result: 7 });
  assert.deepEqual(drift, [
    ["market.id", "missing", undefined],
    ["market.price", "missing", undefined],
    ["market.status", "unknown_value", "limbo"],
    ["market.result", "unknown_value", 7],
  ]);
});

test("the first object of each page is looked through for new fields and unreadable values, and others by turns", () => {
  const { drift, watch, look } = setUp();
  const odd = { ...whole, price: "1.7", shiny: 1 };
  watch.page([odd]);
  look(odd);
  assert.deepEqual(drift, [
    ["market.price", "unknown_value", "1.7"],
    ["market.shiny", "new", 1],
  ]);
  look(odd);
  assert.equal(drift.length, 2);
  for (let object = 0; object < 500; object++) look(odd);
  assert.ok(drift.length > 2 && drift.length <= 2 * 6, String(drift.length));
});

test("an object that is refused is looked through whatever its turn", () => {
  const drift: string[] = [];
  const watch = new WireWatch("market", SHAPE, (kind, field) => drift.push(`${field} ${kind}`));
  const isNone = (_value: unknown): _value is never => false;
  watch.check(whole, isNone);
  watch.check({ ...whole, tags: "none" }, isNone);
  watch.check("refused", isNone);
  assert.deepEqual(drift, ["market.tags unknown_value", "market unknown_value"]);
});

test("a field that objects may lack is missing once a whole page of them lacks it", () => {
  const { drift, watch } = setUp();
  const { volume: _, ...without } = whole;
  watch.page(Array.from({ length: 19 }, () => without));
  watch.page([...Array.from({ length: 30 }, () => without), whole]);
  assert.deepEqual(drift, []);
  watch.page(Array.from({ length: 20 }, () => without));
  assert.deepEqual(drift, [["market.volume", "missing", undefined]]);
});

test("an object with thousands of new fields tells of a few of them", () => {
  const { drift, look } = setUp();
  look({ ...whole, ...Object.fromEntries(Array.from({ length: 5_000 }, (_, index) => [`field_${index}`, index])) });
  assert.equal(drift.length, 20);
});

test("whatever an object is, looking at it never throws and never changes whether it is taken", () => {
  const { watch } = setUp();
  fc.assert(
    fc.property(fc.anything(), fc.boolean(), (value, fits) => {
      assert.equal(
        watch.check(value, (_value): _value is unknown => fits),
        fits,
      );
    }),
  );
});
