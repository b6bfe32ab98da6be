import Type from "typebox";
import { parseDecimal } from "../../domain/price.ts";
import { isObject } from "../../lib/is-object.ts";
import { parseShallowJson } from "../../lib/json/json-depth.ts";
import type { DriftCounter } from "../../ports/venue.ts";
import { compileCheck, type DocumentedField, documentedFields, type FieldType, unusedFields } from "./wire-schema.ts";

/**
 * Interval of the objects that are inspected field by field, in addition to the first object of each page. The number
 * has no common factor with page sizes, so each sweep inspects different rows.
 */
const OBJECTS_PER_INSPECTION = 127;
/** Minimum size of a page on which a `usually` field is reported as missing if no object has it. */
const PAGE_ROWS_MIN = 20;
const NEW_FIELDS_PER_OBJECT_MAX = 20;

const StringOrNumber = Type.Union([Type.String(), Type.Number()]);
const AnyArray = Type.Array(Type.Unknown());
const AnyObject = Type.Record(Type.String(), Type.Unknown());

const isString = (value: unknown) => typeof value === "string";

/** `quickSchema` checks every object. `isValid` is stricter and checks only inspected objects. */
const FIELD_TYPES: Readonly<
  Record<FieldType, { readonly quickSchema: Type.TSchema; readonly isValid: (value: unknown) => boolean }>
> = {
  any: { quickSchema: Type.Union([StringOrNumber, Type.Boolean(), AnyArray, AnyObject]), isValid: () => true },
  string: { quickSchema: Type.String(), isValid: isString },
  decimal: { quickSchema: StringOrNumber, isValid: (value) => value === "" || parseDecimal(value) !== null },
  price: { quickSchema: StringOrNumber, isValid: (value) => value === "" || isPrice(parseDecimal(value)) },
  boolean: { quickSchema: Type.Boolean(), isValid: (value) => typeof value === "boolean" },
  number: { quickSchema: Type.Number(), isValid: (value) => typeof value === "number" },
  array: { quickSchema: AnyArray, isValid: Array.isArray },
  object: { quickSchema: Type.Object({}), isValid: isObject },
  time: { quickSchema: StringOrNumber, isValid: (value) => value === "" || isTime(value) },
  "encoded array": {
    quickSchema: Type.Union([AnyArray, Type.String()]),
    isValid: (value) => Array.isArray(value) || value === "" || (typeof value === "string" && value[0] === "["),
  },
};

/**
 * Reports differences between the objects of one kind and the venue's documentation. Every object is checked for
 * missing fields and for values outside an enumeration. A sample of the accepted objects, and every rejected object, is
 * also checked for values of another type and for undocumented fields.
 */
export class DriftDetector {
  readonly #kind: string;
  readonly #drift: DriftCounter;
  readonly #fields: readonly (DocumentedField & {
    readonly name: string;
    readonly allowedValues: ReadonlySet<unknown> | null;
  })[];
  readonly #documentedNames: ReadonlySet<string>;
  readonly #isQuickCheckPassed: (value: unknown) => boolean;
  #objectsUntilInspection = 0;
  #isFirstOfPage = false;

  /** @param kind prefix of reported field names: `market` for `market.status` */
  constructor(kind: string, schema: Type.TObject, drift: DriftCounter) {
    const fields = documentedFields(schema);
    this.#kind = kind;
    this.#drift = drift;
    this.#isQuickCheckPassed = compileQuickCheck(fields);
    this.#documentedNames = new Set([...fields.keys(), ...unusedFields(schema)]);
    this.#fields = [...fields].map(([name, field]) => ({
      ...field,
      name,
      allowedValues: field.values === null ? null : new Set([...field.values, "", null, undefined]),
    }));
  }

  /** Must be called before the objects of a page are passed to `check`. */
  startPage(objects: readonly unknown[]): void {
    this.#isFirstOfPage = true;
    if (objects.length < PAGE_ROWS_MIN) return;
    for (const { name, presence } of this.#fields) {
      if (presence !== "usually") continue;
      const isPresent = objects.some((object) => isObject(object) && object[name] !== undefined);
      if (!isPresent) this.#drift("missing", `${this.#kind}.${name}`, undefined);
    }
  }

  /** Returns whether the adapter accepts the value, and reports drift found in it. */
  check<Accepted>(value: unknown, isAccepted: (value: unknown) => value is Accepted): value is Accepted {
    const isValueAccepted = isAccepted(value);
    this.#objectsUntilInspection -= 1;
    const isSampled = this.#objectsUntilInspection < 0 || this.#isFirstOfPage;
    if (isValueAccepted && !isSampled && this.#isQuickCheckPassed(value)) return true;
    if (this.#objectsUntilInspection < 0) this.#objectsUntilInspection = OBJECTS_PER_INSPECTION - 1;
    this.#isFirstOfPage = false;
    if (isObject(value)) this.#inspect(value);
    else this.#drift("unknown_value", this.#kind, value);
    return isValueAccepted;
  }

  /** Returns the accepted values, and calls `onRefused` for each rejected value. */
  filter<Accepted>(
    values: readonly unknown[],
    isAccepted: (value: unknown) => value is Accepted,
    onRefused: () => void,
  ): Accepted[] {
    return values.filter((value): value is Accepted => {
      const isValueAccepted = this.check(value, isAccepted);
      if (!isValueAccepted) onRefused();
      return isValueAccepted;
    });
  }

  /**
   * Parses and checks JSON text. Returns null if it is not JSON, is nested too deeply, or the adapter does not accept
   * the value.
   */
  parse<Accepted>(text: string, isAccepted: (value: unknown) => value is Accepted): Accepted | null {
    try {
      const value = parseShallowJson(text);
      return this.check(value, isAccepted) ? value : null;
    } catch {
      return null;
    }
  }

  #inspect(object: Readonly<Record<string, unknown>>): void {
    for (const { name, presence, type, allowedValues } of this.#fields) {
      const value = object[name];
      const isMissing = value === undefined || value === null;
      if (isMissing && presence === "always") this.#drift("missing", `${this.#kind}.${name}`, undefined);
      const isExpected =
        allowedValues === null ? isMissing || FIELD_TYPES[type].isValid(value) : allowedValues.has(value);
      if (!isExpected) this.#drift("unknown_value", `${this.#kind}.${name}`, value);
    }
    let newFields = 0;
    for (const name in object) {
      if (this.#documentedNames.has(name)) continue;
      newFields += 1;
      if (newFields > NEW_FIELDS_PER_OBJECT_MAX) return;
      this.#drift("new", `${this.#kind}.${name}`, object[name]);
    }
  }
}

/** Compiles a check that passes only objects with every required field and no value outside an enumeration. */
function compileQuickCheck(documented: ReadonlyMap<string, DocumentedField>): (value: unknown) => boolean {
  const fields: Record<string, Type.TSchema> = {};
  for (const [name, { presence, type, values }] of documented) {
    const isRequired = presence === "always";
    if (values === null) {
      if (isRequired) fields[name] = FIELD_TYPES[type].quickSchema;
    } else {
      const allowedValues = Type.Union([...values, ""].map((value) => Type.Literal(value)));
      fields[name] = isRequired ? allowedValues : Type.Optional(Type.Union([allowedValues, Type.Null()]));
    }
  }
  return compileCheck(Type.Object(fields));
}

function isTime(value: unknown): boolean {
  return parseDecimal(value) !== null || (typeof value === "string" && !Number.isNaN(Date.parse(value)));
}

const isPrice = (value: number | null): boolean => value !== null && value >= 0 && value <= 1;

/** Returns a function that creates one detector per kind of object. Reported field names start with the kind. */
export function driftDetectorsFor<Schemas extends Readonly<Record<string, Type.TObject>>>(schemas: Schemas) {
  return (drift: DriftCounter): { readonly [Kind in keyof Schemas]: DriftDetector } => {
    const driftDetectors = Object.entries(schemas).map(([kind, schema]) => [
      kind,
      new DriftDetector(kind, schema, drift),
    ]);
    return Object.fromEntries(driftDetectors);
  };
}
