import assert from "node:assert/strict";
import { test } from "node:test";
import Type from "typebox";
import {
  always,
  documentedFields,
  enumeration,
  optional,
  unchecked,
  unused,
  unusedFields,
  usually,
} from "./wire-schema.ts";

test("`documentedFields` reads presence, type and values from the annotations, or from the schema if there are none", () => {
  const schema = Type.Object(
    {
      id: Type.String(),
      count: always(Type.Integer()),
      tags: usually(Type.Array(Type.Unknown())),
      price: optional(Type.Union([Type.String(), Type.Number()], { documented: { type: "price" } })),
      side: Type.Union([Type.Literal("BUY"), Type.Literal("SELL")]),
      result: optional(enumeration("yes no")),
      extra: unchecked({ type: "object" }),
    },
    unused("icon\n image"),
  );
  assert.deepEqual(Object.fromEntries(documentedFields(schema)), {
    id: { type: "string", presence: "always", values: null },
    count: { type: "number", presence: "always", values: null },
    tags: { type: "array", presence: "usually", values: null },
    price: { type: "price", presence: "sometimes", values: null },
    side: { type: "any", presence: "always", values: ["BUY", "SELL"] },
    result: { type: "string", presence: "sometimes", values: ["yes", "no"] },
    extra: { type: "object", presence: "sometimes", values: null },
  });
  assert.deepEqual(unusedFields(schema), ["icon", "image"]);
});
