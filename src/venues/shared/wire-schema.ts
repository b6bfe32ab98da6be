/**
 * Helpers for the schemas in a venue's `wire.ts`. A schema accepts the values that the adapter can use, and is
 * annotated with the venue's documentation. Validation ignores the annotations; `schema-drift.ts` reads them.
 */
import Type, { type Static, type TSchema } from "typebox";
import { Compile, type Validator } from "typebox/schema";

/**
 * Documented type of a field. `decimal` is a number or numeric text, `price` a decimal in [0, 1], `time` a number or
 * text that contains one or a date, `encoded array` an array or the JSON text of one.
 */
export type FieldType =
  | "any"
  | "string"
  | "decimal"
  | "price"
  | "boolean"
  | "number"
  | "array"
  | "object"
  | "time"
  | "encoded array";

/** A venue's documentation of one field. */
export interface DocumentedField {
  readonly type: FieldType;
  /**
   * `always`: every object has a value. `usually`: single objects may omit the field, but not all objects of a page.
   */
  readonly presence: "always" | "usually" | "sometimes";
  /** Every documented value of an enumeration; null for all other fields. */
  readonly values: readonly string[] | null;
}

export type FieldAnnotation = Partial<DocumentedField>;

/** A field that may be absent or null. */
export const optional = <Schema extends TSchema>(schema: Schema, documented: FieldAnnotation = {}) =>
  Type.Optional(Type.Union([schema, Type.Null()], { documented }));

/** A field that is documented as present in every object. Objects without it are accepted and reported as drift. */
export const always = <Schema extends TSchema>(schema: Schema) => optional(schema, { presence: "always" });

/** A field that may be absent or null. If all objects of a page omit it, this is reported as drift. */
export const usually = <Schema extends TSchema>(schema: Schema) => optional(schema, { presence: "usually" });

/** A field with any value or none, for fields that are parsed leniently or only compared with the documentation. */
export const unchecked = (documented: FieldAnnotation) => Type.Optional(Type.Unknown({ documented }));

const splitNames = (text: string) => text.trim().split(/\s+/);

/**
 * Text with a documented set of values; other values are accepted and reported as drift.
 * @param values separated by white space
 */
export const enumeration = (values: string, options: { readonly maxLength?: number } = {}) =>
  Type.String({ ...options, documented: { values: splitNames(values) } });

/**
 * Option of an object schema: documented fields that the adapter does not read.
 * @param names separated by white space
 */
export const unused = (names: string) => ({ unused: splitNames(names) });

/** Returns a type guard. The schema is compiled at the first call, because a process does not read all kinds of data. */
export function compileCheck<Schema extends TSchema>(schema: Schema): (value: unknown) => value is Static<Schema> {
  let compiled: Validator<Schema> | null = null;
  return (value): value is Static<Schema> => {
    compiled ??= Compile(schema);
    return compiled.Check(value);
  };
}

/** The schema keywords from which the documentation of a field is derived. */
interface AnnotatedSchema {
  readonly documented?: FieldAnnotation;
  readonly type?: string;
  readonly const?: unknown;
  readonly anyOf?: readonly AnnotatedSchema[];
}

const JSON_TYPES: Readonly<Record<string, FieldType>> = {
  string: "string",
  boolean: "boolean",
  number: "number",
  integer: "number",
  array: "array",
  object: "object",
};

/** The documented fields of an object schema. Properties without an annotation are derived from the schema. */
export function documentedFields(schema: Type.TObject): ReadonlyMap<string, DocumentedField> {
  const fields = Object.entries(schema.properties).map(([name, field]): [string, DocumentedField] => {
    const presence = Type.IsOptional(field) ? "sometimes" : "always";
    return [name, { type: "any", presence, values: null, ...describe(field as AnnotatedSchema) }];
  });
  return new Map(fields);
}

/** Names of documented fields that the adapter does not read. */
export function unusedFields(schema: Type.TObject): readonly string[] {
  return (schema as Partial<ReturnType<typeof unused>>).unused ?? [];
}

/** Derives the documentation of a field from its schema; annotations take precedence. */
function describe({ documented, type = "", anyOf, ...schema }: AnnotatedSchema): FieldAnnotation {
  const alternatives = anyOf?.filter((alternative) => alternative.type !== "null") ?? [schema];
  const [first] = alternatives;
  const literals = alternatives.map((alternative) => alternative.const).filter((value) => typeof value === "string");
  return {
    ...(Object.hasOwn(JSON_TYPES, type) ? { type: JSON_TYPES[type] } : {}),
    ...(literals.length > 0 && literals.length === alternatives.length ? { values: literals } : {}),
    ...(anyOf !== undefined && alternatives.length === 1 && first !== undefined ? describe(first) : {}),
    ...documented,
  };
}
