import type { TSchema } from "typebox";
import { isObject } from "../../lib/is-object.ts";
import * as pydantic from "./pydantic-errors.ts";
import { compileBoolean, compileInteger, compileLiteral, compileNumber, compileString } from "./scalars.ts";
import { type ConversionRules, fail, INVALID, type Schema, type ValueCheck } from "./types.ts";

const IGNORED_FIELDS_MAX = 100;

const KNOWN_KEYWORDS: ReadonlySet<string> = new Set([
  ...["type", "enum", "anyOf", "default", "x-comma-list", "x-empty-is-absent"],
  ...["minLength", "maxLength", "pattern"],
  ...["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"],
  ...["items", "minItems", "maxItems"],
  ...["properties", "required"],
  // Annotations, not checked. JSON Schema 2020-12 also treats `format` as an annotation.
  ...["title", "description", "examples", "format", "deprecated", "style", "explode", "$id", "readOnly", "writeOnly"],
]);

/**
 * Compiles a TypeBox schema into a check that reports Pydantic errors, in the schema's order, at most one per value.
 *
 * @throws Error if the schema uses an unsupported keyword
 */
export function compileCheck(schema: TSchema, rules: ConversionRules): ValueCheck {
  return compile(schema as Schema, rules);
}

function compile(node: Schema, rules: ConversionRules): ValueCheck {
  for (const keyword of Object.keys(node)) {
    if (!KNOWN_KEYWORDS.has(keyword)) throw new Error(`Request schemas may not use the keyword "${keyword}"`);
  }
  if (node.anyOf !== undefined) return compileUnion(node.anyOf, rules);
  if (node.enum !== undefined) return compileLiteral(node.enum, rules);
  if (Array.isArray(node.type)) return compileUnion(splitTypes(node, node.type), rules);
  switch (node.type) {
    case "string":
      return compileString(node);
    case "integer":
      return compileInteger(node, rules);
    case "number":
      return compileNumber(node, rules);
    case "boolean":
      return compileBoolean(rules);
    case "array":
      return node["x-comma-list"] === true ? compileCommaList(node) : compileList(node, rules);
    case "object":
      return compileObject(node, rules);
    case undefined:
      return checkAny;
    default:
      throw new Error(`Request schemas may not use the type "${String(node.type)}"`);
  }
}

/** Supports unions of one type with null. Other unions could report several errors for one value. */
function compileUnion(members: readonly Schema[], rules: ConversionRules): ValueCheck {
  const nonNullMembers = members.filter((member) => member.type !== "null");
  const member = nonNullMembers[0];
  if (member === undefined || nonNullMembers.length !== 1) {
    throw new Error("Request schemas support only unions of one type with null");
  }
  const check = compile(member, rules);
  return (value, loc, findings) => (value === null ? null : check(value, loc, findings));
}

function splitTypes(node: Schema, types: readonly string[]): readonly Schema[] {
  return types.map((type) => (type === "null" ? { type } : { ...node, type }));
}

/** As in Pydantic, `maxItems` is checked before the items and `minItems` after them. */
function compileList(node: Schema, rules: ConversionRules): ValueCheck {
  const check = compile(node.items ?? {}, rules);
  const { minItems, maxItems } = node;
  return (value, loc, findings) => {
    if (!Array.isArray(value)) return fail(findings.errors, pydantic.listType(loc, value));
    if (maxItems !== undefined && value.length > maxItems) {
      return fail(findings.errors, pydantic.listTooLong(loc, value, maxItems));
    }
    const result = value.map((entry, index) => check(entry, [...loc, index], findings));
    if (result.includes(INVALID)) return INVALID;
    if (minItems !== undefined && value.length < minItems) {
      return fail(findings.errors, pydantic.listTooShort(loc, value, minItems));
    }
    return result;
  };
}

/** Parses `a,b` as a list without duplicates. Skips empty items; validates the others with the `items` schema. */
function compileCommaList(node: Schema): ValueCheck {
  const check = compile(node.items ?? {}, "text");
  const { maxItems } = node;
  return (value, loc, findings) => {
    if (typeof value !== "string") return fail(findings.errors, pydantic.stringType(loc, value));
    const texts = [...new Set(value.split(",").map((text) => text.trim()))].filter((text) => text !== "");
    if (maxItems !== undefined && texts.length > maxItems) {
      return fail(findings.errors, pydantic.listTooLong(loc, texts, maxItems));
    }
    const result: unknown[] = [];
    for (const text of texts) {
      const checked = check(text, loc, findings);
      if (checked === INVALID) return INVALID;
      result.push(checked);
    }
    return result;
  };
}

interface Field {
  readonly name: string;
  readonly check: ValueCheck;
  readonly isRequired: boolean;
  readonly defaultValue: unknown;
  readonly isEmptyAbsent: boolean;
}

/** The result contains declared fields only. Unknown fields are added to `findings.ignored`. */
function compileObject({ properties, required = [] }: Schema, rules: ConversionRules): ValueCheck {
  if (properties === undefined) throw new Error("A schema of an object must list its properties.");
  const fields: readonly Field[] = Object.entries(properties).map(([name, property]) => ({
    name,
    check: compile(property, rules),
    isRequired: required.includes(name) && !Object.hasOwn(property, "default"),
    defaultValue: property.default,
    isEmptyAbsent: property["x-empty-is-absent"] === true,
  }));
  const knownNames = fields.map((field) => field.name);
  const known = new Set(knownNames);
  const isOptional = fields.every(({ isRequired, defaultValue }) => !isRequired && defaultValue === undefined);
  return (value, loc, findings) => {
    if (!isObject(value)) return fail(findings.errors, pydantic.modelType(loc, value));
    if (isOptional && isEmpty(value)) return {};
    const errorsBefore = findings.errors.length;
    const result: Record<string, unknown> = {};
    for (const field of fields) {
      const isPresent = Object.hasOwn(value, field.name) && value[field.name] !== undefined;
      if (!isPresent || (field.isEmptyAbsent && value[field.name] === "")) {
        if (field.isRequired)
          fail(findings.errors, pydantic.missing([...loc, field.name], rules === "text" ? null : value));
        else if (field.defaultValue !== undefined) result[field.name] = structuredClone(field.defaultValue);
        continue;
      }
      const checked = field.check(value[field.name], [...loc, field.name], findings);
      if (checked !== INVALID) result[field.name] = checked;
    }
    for (const name of Object.keys(value)) {
      if (known.has(name) || loc[0] === "header" || findings.ignored.length >= IGNORED_FIELDS_MAX) continue;
      findings.ignored.push({ name: [...loc.slice(1), name].join("."), known: knownNames });
    }
    return findings.errors.length > errorsBefore ? INVALID : result;
  };
}

function isEmpty(value: object): boolean {
  for (const name in value) if (Object.hasOwn(value, name)) return false;
  return true;
}

/** Accepts any JSON value without infinite numbers, which `JSON.stringify` would turn into null. */
const checkAny: ValueCheck = (value, loc, { errors }) =>
  containsInfinity(value) ? fail(errors, pydantic.finiteNumber(loc, undefined)) : value;

function containsInfinity(value: unknown): boolean {
  if (typeof value === "number") return !Number.isFinite(value);
  return typeof value === "object" && value !== null && Object.values(value).some(containsInfinity);
}
