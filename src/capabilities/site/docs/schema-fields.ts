import type { ApiDescription, JsonSchema } from "./model.ts";
import { nameOfReference } from "./operations.ts";

/** Maximum level of nested fields that the reference shows. */
const DEPTH_MAX = 6;
/** Maximum number of enum values that are listed. The description explains longer lists. */
const ENUM_VALUES_MAX = 40;

type Resolve = ApiDescription["resolve"];

/** A field of a body as the reference shows it. */
export interface Field {
  readonly name: string;
  /** For example "string or null", "Market[]" or "integer". */
  readonly type: string;
  readonly isRequired: boolean;
  readonly description: string;
  /** Bounds, format, default and permitted values, for example "at most 100". */
  readonly constraints: readonly string[];
  /** Permitted values of an enum; empty for other types. */
  readonly values: readonly string[];
  /** Fields of the object, or of the objects in the array. */
  readonly fields: readonly Field[];
}

/** Returns the fields of an object, or of the objects in an array; empty for other schemas. */
export function listFields(schema: JsonSchema, resolve: Resolve, depth = 0): readonly Field[] {
  if (depth > DEPTH_MAX) return [];
  const target = mergeAll(follow(schema, resolve), resolve);
  if (target.items !== undefined) return listFields(target.items, resolve, depth);
  const alternatives = target.anyOf ?? target.oneOf;
  if (alternatives !== undefined) return alternatives.flatMap((alternative) => listFields(alternative, resolve, depth));
  const { properties = {}, required = [] } = target;
  const named = Object.entries(properties).map(([name, property]) =>
    describeField(name, property, required.includes(name), resolve, depth),
  );
  const others = target.additionalProperties;
  if (typeof others !== "object" || listFields(others, resolve, depth).length === 0) return named;
  return [...named, describeField("{name}", others, false, resolve, depth)];
}

function describeField(name: string, schema: JsonSchema, isRequired: boolean, resolve: Resolve, depth: number): Field {
  const target = mergeAll(follow(schema, resolve), resolve);
  return {
    name,
    type: nameType(schema, resolve),
    isRequired,
    description: schema.description ?? target.description ?? "",
    constraints: listConstraints(target),
    values: listValues(target),
    fields: listFields(schema, resolve, depth + 1),
  };
}

/** Returns the name of a schema's type, for example "string or null". Named schemas keep their name. */
export function nameType(schema: JsonSchema, resolve: Resolve): string {
  if (schema.$ref !== undefined) {
    const target = follow(schema, resolve);
    return target.type === "object" || target.properties !== undefined || target.allOf !== undefined
      ? nameOfReference(schema.$ref)
      : nameType(target, resolve);
  }
  const alternatives = schema.anyOf ?? schema.oneOf;
  if (alternatives !== undefined)
    return [...new Set(alternatives.map((alternative) => nameType(alternative, resolve)))].join(" or ");
  if (schema.items !== undefined && [schema.type].flat().includes("array")) {
    const itemType = nameType(schema.items, resolve);
    return itemType.includes(" ") ? `array of ${itemType}` : `${itemType}[]`;
  }
  if (typeof schema.additionalProperties === "object" && schema.additionalProperties.type !== undefined)
    return `map of ${nameType(schema.additionalProperties, resolve)}`;
  if (schema.type === undefined) return schema.const === undefined ? "any" : typeof schema.const;
  return [schema.type].flat().join(" or ");
}

/** Returns the bounds, the format and the default of a value in words. */
export function listConstraints(schema: JsonSchema): readonly string[] {
  const constraints: (string | null)[] = [
    schema.format === undefined ? null : schema.format,
    schema.const === undefined ? null : `always ${JSON.stringify(schema.const)}`,
    describeRange(schema.minimum, schema.maximum, ""),
    // A minimum of 1 only excludes the empty text, as "required" already implies.
    describeRange(schema.minLength === 1 ? undefined : schema.minLength, schema.maxLength, " characters"),
    describeRange(schema.minItems, schema.maxItems, " entries"),
    schema.default === undefined || schema.default === "" ? null : `default ${formatValue(schema.default)}`,
  ];
  return constraints.filter((constraint) => constraint !== null);
}

/** Returns the permitted values of an enum without null, which the type contains. */
export function listValues(schema: JsonSchema): readonly string[] {
  const values = (schema.enum ?? schema.items?.enum ?? []).filter((value) => value !== null);
  return values.length > ENUM_VALUES_MAX ? [] : values.map(formatValue);
}

const formatValue = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value));

function describeRange(minimum: number | undefined, maximum: number | undefined, unit: string): string | null {
  if (minimum !== undefined && maximum !== undefined) return `${minimum} to ${maximum}${unit}`;
  if (minimum !== undefined) return `at least ${minimum}${unit}`;
  return maximum === undefined ? null : `at most ${maximum}${unit}`;
}

/** Follows `$ref` to the schema itself. */
function follow(schema: JsonSchema, resolve: Resolve): JsonSchema {
  let target = schema;
  for (let steps = 0; target.$ref !== undefined && steps < DEPTH_MAX; steps++) target = resolve(target.$ref);
  return target;
}

/** Merges the properties of `allOf` into one object schema. */
function mergeAll(schema: JsonSchema, resolve: Resolve): JsonSchema {
  if (schema.allOf === undefined) return schema;
  const parts = schema.allOf.map((part) => mergeAll(follow(part, resolve), resolve));
  return {
    ...Object.assign({}, ...parts),
    ...schema,
    allOf: undefined,
    properties: Object.assign({}, ...parts.map(({ properties }) => properties), schema.properties),
    required: [...new Set([...parts, schema].flatMap(({ required = [] }) => required))],
  };
}
