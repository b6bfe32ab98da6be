import type { ValidationItem } from "../../domain/errors.ts";
import { parseBooleanText, parseFloatText, parseIntegerText } from "./coercion.ts";
import type { Location } from "./pydantic-errors.ts";
import * as pydantic from "./pydantic-errors.ts";
import { type ConversionRules, fail, type Schema, type ValueCheck } from "./types.ts";

export function compileLiteral(allowed: readonly unknown[], rules: ConversionRules): ValueCheck {
  const allowedValues = new Set(allowed);
  const valuesByText = new Map(allowed.map((value) => [String(value), value]));
  return (value, loc, { errors }) => {
    if (allowedValues.has(value)) return value;
    if (rules === "text" && typeof value === "string" && valuesByText.has(value)) return valuesByText.get(value);
    return fail(errors, pydantic.literalError(loc, value, allowed));
  };
}

export function compileString(node: Schema): ValueCheck {
  const minLength = node.minLength ?? 0;
  const maxLength = node.maxLength ?? Number.POSITIVE_INFINITY;
  const pattern = node.pattern === undefined ? null : new RegExp(node.pattern, "u");
  return (value, loc, { errors }) => {
    if (typeof value !== "string") return fail(errors, pydantic.stringType(loc, value));
    if (!value.isWellFormed()) return fail(errors, pydantic.stringUnicode(loc));
    // Postgres text cannot contain NUL. Ids in the path are exempt: they are 404 (`request-pipeline.ts`).
    if (loc[0] !== "path" && value.includes("\0")) {
      return fail(errors, pydantic.valueError(loc, "NUL characters are not allowed", value));
    }
    const length = value.length <= minLength || value.length > maxLength ? countCodePoints(value) : value.length;
    if (length < minLength) return fail(errors, pydantic.stringTooShort(loc, value, minLength));
    if (length > maxLength) return fail(errors, pydantic.stringTooLong(loc, value, maxLength));
    if (pattern !== null && !pattern.test(value)) {
      return fail(errors, pydantic.stringPattern(loc, value, node.pattern ?? ""));
    }
    return value;
  };
}

function countCodePoints(text: string): number {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
}

export function compileInteger(node: Schema, rules: ConversionRules): ValueCheck {
  return (value, loc, { errors }) => {
    if (typeof value === "number") {
      if (!Number.isFinite(value)) return fail(errors, pydantic.finiteNumber(loc, value));
      if (!Number.isInteger(value)) return fail(errors, pydantic.intFromFloat(loc, value));
      return checkBounds(node, value, value, loc, errors);
    }
    if (typeof value !== "string") return fail(errors, pydantic.intType(loc, value));
    const parsed = parseIntegerText(value);
    if (parsed === null) return fail(errors, pydantic.intParsing(loc, value));
    if (parsed === "too_large") return fail(errors, pydantic.intParsingSize(loc, value));
    if (rules === "json") return fail(errors, pydantic.intType(loc, value));
    return checkBounds(node, parsed, value, loc, errors);
  };
}

export function compileNumber(node: Schema, rules: ConversionRules): ValueCheck {
  return (value, loc, { errors }) => {
    if (typeof value === "number") return checkBounds(node, value, value, loc, errors);
    if (typeof value !== "string") return fail(errors, pydantic.floatType(loc, value));
    const parsed = parseFloatText(value);
    if (parsed === null) return fail(errors, pydantic.floatParsing(loc, value));
    if (rules === "json") return fail(errors, pydantic.floatType(loc, value));
    return checkBounds(node, parsed, value, loc, errors);
  };
}

/** NaN violates every bound. The checks have the same order as in Pydantic. */
function checkBounds(node: Schema, value: number, input: unknown, loc: Location, errors: ValidationItem[]): unknown {
  const { maximum, exclusiveMaximum, minimum, exclusiveMinimum } = node;
  if (maximum !== undefined && !(value <= maximum)) return fail(errors, pydantic.lessThanEqual(loc, input, maximum));
  if (exclusiveMaximum !== undefined && !(value < exclusiveMaximum)) {
    return fail(errors, pydantic.lessThan(loc, input, exclusiveMaximum));
  }
  if (minimum !== undefined && !(value >= minimum)) return fail(errors, pydantic.greaterThanEqual(loc, input, minimum));
  if (exclusiveMinimum !== undefined && !(value > exclusiveMinimum)) {
    return fail(errors, pydantic.greaterThan(loc, input, exclusiveMinimum));
  }
  return Number.isFinite(value) ? value : fail(errors, pydantic.finiteNumber(loc, input));
}

export function compileBoolean(rules: ConversionRules): ValueCheck {
  return (value, loc, { errors }) => {
    if (typeof value === "boolean") return value;
    if (typeof value === "string") {
      const parsed = parseBooleanText(value);
      if (parsed === null) return fail(errors, pydantic.boolParsing(loc, value));
      return rules === "text" ? parsed : fail(errors, pydantic.boolType(loc, value));
    }
    if (typeof value === "number" && Number.isInteger(value) && value !== 0 && value !== 1) {
      return fail(errors, pydantic.boolParsing(loc, value));
    }
    return fail(errors, pydantic.boolType(loc, value));
  };
}
