import type { ValidationItem } from "../../domain/errors.ts";
import { parseBooleanText, parseFloatText, parseIntegerText } from "./coercion.ts";
import type { Location } from "./pydantic-errors.ts";
import * as items from "./pydantic-errors.ts";
import { type Check, fail, type Node, type Rules } from "./types.ts";

export function literalCheck(allowed: readonly unknown[], rules: Rules): Check {
  const set = new Set(allowed);
  const byText = new Map(allowed.map((value) => [String(value), value]));
  return (value, loc, { errors }) => {
    if (set.has(value)) return value;
    if (rules === "text" && typeof value === "string" && byText.has(value)) return byText.get(value);
    return fail(errors, items.literalError(loc, value, allowed));
  };
}

export function stringCheck(node: Node): Check {
  const minLength = node.minLength ?? 0;
  const maxLength = node.maxLength ?? Number.POSITIVE_INFINITY;
  const pattern = node.pattern === undefined ? null : new RegExp(node.pattern, "u");
  return (value, loc, { errors }) => {
    if (typeof value !== "string") return fail(errors, items.stringType(loc, value));
    if (!value.isWellFormed()) return fail(errors, items.stringUnicode(loc));
    // Postgres text cannot contain NUL. Ids in the path are exempt: handlers return 404.
    if (loc[0] !== "path" && value.includes("\0")) {
      return fail(errors, items.valueError(loc, "NUL characters are not allowed", value));
    }
    const length = value.length <= minLength || value.length > maxLength ? codePoints(value) : value.length;
    if (length < minLength) return fail(errors, items.stringTooShort(loc, value, minLength));
    if (length > maxLength) return fail(errors, items.stringTooLong(loc, value, maxLength));
    if (pattern !== null && !pattern.test(value)) {
      return fail(errors, items.stringPattern(loc, value, node.pattern ?? ""));
    }
    return value;
  };
}

function codePoints(text: string): number {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
}

export function integerCheck(node: Node, rules: Rules): Check {
  return (value, loc, { errors }) => {
    if (typeof value === "number") {
      if (!Number.isFinite(value)) return fail(errors, items.finiteNumber(loc, value));
      if (!Number.isInteger(value)) return fail(errors, items.intFromFloat(loc, value));
      return withinBounds(node, value, value, loc, errors);
    }
    if (typeof value !== "string") return fail(errors, items.intType(loc, value));
    const parsed = parseIntegerText(value);
    if (parsed === null) return fail(errors, items.intParsing(loc, value));
    if (parsed === "too_large") return fail(errors, items.intParsingSize(loc, value));
    if (rules === "json") return fail(errors, items.intType(loc, value));
    return withinBounds(node, parsed, value, loc, errors);
  };
}

export function numberCheck(node: Node, rules: Rules): Check {
  return (value, loc, { errors }) => {
    if (typeof value === "number") return withinBounds(node, value, value, loc, errors);
    if (typeof value !== "string") return fail(errors, items.floatType(loc, value));
    const parsed = parseFloatText(value);
    if (parsed === null) return fail(errors, items.floatParsing(loc, value));
    if (rules === "json") return fail(errors, items.floatType(loc, value));
    return withinBounds(node, parsed, value, loc, errors);
  };
}

/** NaN violates every bound. The order of the checks is Pydantic's. */
function withinBounds(node: Node, value: number, input: unknown, loc: Location, errors: ValidationItem[]): unknown {
  const { multipleOf, maximum, exclusiveMaximum, minimum, exclusiveMinimum } = node;
  if (multipleOf !== undefined && !isMultiple(value, multipleOf)) {
    return fail(errors, items.multipleOf(loc, input, multipleOf));
  }
  if (maximum !== undefined && !(value <= maximum)) return fail(errors, items.lessThanEqual(loc, input, maximum));
  if (exclusiveMaximum !== undefined && !(value < exclusiveMaximum)) {
    return fail(errors, items.lessThan(loc, input, exclusiveMaximum));
  }
  if (minimum !== undefined && !(value >= minimum)) return fail(errors, items.greaterThanEqual(loc, input, minimum));
  if (exclusiveMinimum !== undefined && !(value > exclusiveMinimum)) {
    return fail(errors, items.greaterThan(loc, input, exclusiveMinimum));
  }
  return Number.isFinite(value) ? value : fail(errors, items.finiteNumber(loc, input));
}

function isMultiple(value: number, step: number): boolean {
  const remainder = Math.abs(value % step);
  const tolerance = Math.abs(value) / 1e9;
  return remainder <= tolerance || step - remainder <= tolerance;
}

export function booleanCheck(rules: Rules): Check {
  return (value, loc, { errors }) => {
    if (typeof value === "boolean") return value;
    if (typeof value === "string") {
      const parsed = parseBooleanText(value);
      if (parsed === null) return fail(errors, items.boolParsing(loc, value));
      return rules === "text" ? parsed : fail(errors, items.boolType(loc, value));
    }
    if (typeof value === "number" && Number.isInteger(value) && value !== 0 && value !== 1) {
      return fail(errors, items.boolParsing(loc, value));
    }
    return fail(errors, items.boolType(loc, value));
  };
}
