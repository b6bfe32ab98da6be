import Type from "typebox";
import { parseDecimal } from "../../domain/price.ts";
import type { DriftCounter } from "../../ports/venue.ts";
import { compileCheck, type DocumentedField, documentedFields, type FieldType, unusedFields } from "./wire-schema.ts";

/**
 * Besides the first object of each page, one object in this many is inspected field by field. The number shares no
 * factor with page sizes, which varies the inspected rows from sweep to sweep.
 */
const INSPECT_EVERY = 127;
/** Pages with fewer objects than this do not show that a usually present field is missing. */
const PAGE_ROWS_MIN = 20;
const NEW_FIELDS_PER_OBJECT_MAX = 20;

const StringOrNumber = Type.Union([Type.String(), Type.Number()]);
const AnyArray = Type.Array(Type.Unknown());
const AnyObject = Type.Record(Type.String(), Type.Unknown());

const isString = (value: unknown) => typeof value === "string";

/** `quick` is compiled and applied to every object; `isValid` is exact and applied to inspected objects. */
const FIELD_TYPES: Readonly<
  Record<FieldType, { readonly quick: Type.TSchema; readonly isValid: (value: unknown) => boolean }>
> = {
  any: { quick: Type.Union([StringOrNumber, Type.Boolean(), AnyArray, AnyObject]), isValid: () => true },
  string: { quick: Type.String(), isValid: isString },
  decimal: { quick: StringOrNumber, isValid: (value) => value === "" || parseDecimal(value) !== null },
  price: { quick: StringOrNumber, isValid: (value) => value === "" || isPrice(parseDecimal(value)) },
  boolean: { quick: Type.Boolean(), isValid: (value) => typeof value === "boolean" },
  number: { quick: Type.Number(), isValid: (value) => typeof value === "number" },
  array: { quick: AnyArray, isValid: Array.isArray },
  object: { quick: Type.Object({}), isValid: isObject },
  time: { quick: StringOrNumber, isValid: (value) => typeof value === "number" || typeof value === "string" },
  "encoded array": {
    quick: Type.Union([AnyArray, Type.String()]),
    isValid: (value) => Array.isArray(value) || value === "" || (typeof value === "string" && value[0] === "["),
  },
};

/**
 * Detects where objects of one kind depart from what the venue documents. In every object: missing fields and values
 * outside an enumeration. In a sample of the accepted objects and in every refused one also: values of another type and
 * undocumented fields.
 */
export class DriftDetector {
  readonly #kind: string;
  readonly #drift: DriftCounter;
  readonly #fields: readonly (DocumentedField & {
    readonly name: string;
    readonly allowed: ReadonlySet<unknown> | null;
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
      allowed: field.values === null ? null : new Set([...field.values, "", null, undefined]),
    }));
  }

  /** Announces a page whose objects are about to be checked one by one. */
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
    const accepted = isAccepted(value);
    this.#objectsUntilInspection -= 1;
    const isSampled = this.#objectsUntilInspection < 0 || this.#isFirstOfPage;
    if (accepted && !isSampled && this.#isQuickCheckPassed(value)) return true;
    if (this.#objectsUntilInspection < 0) this.#objectsUntilInspection = INSPECT_EVERY - 1;
    this.#isFirstOfPage = false;
    if (isObject(value)) this.#inspect(value);
    else this.#drift("unknown_value", this.#kind, value);
    return accepted;
  }

  /** Parses and checks JSON text. Returns null if it is not JSON or the adapter does not accept the value. */
  parse<Accepted>(text: string, isAccepted: (value: unknown) => value is Accepted): Accepted | null {
    try {
      const value: unknown = JSON.parse(text);
      return this.check(value, isAccepted) ? value : null;
    } catch {
      return null;
    }
  }

  #inspect(object: Readonly<Record<string, unknown>>): void {
    for (const { name, presence, type, allowed } of this.#fields) {
      const value = object[name];
      const isMissing = value === undefined || value === null;
      if (isMissing && presence === "always") this.#drift("missing", `${this.#kind}.${name}`, undefined);
      const isExpected = allowed === null ? isMissing || FIELD_TYPES[type].isValid(value) : allowed.has(value);
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
      if (isRequired) fields[name] = FIELD_TYPES[type].quick;
    } else {
      const allowed = Type.Union([...values, ""].map((value) => Type.Literal(value)));
      fields[name] = isRequired ? allowed : Type.Optional(Type.Union([allowed, Type.Null()]));
    }
  }
  return compileCheck(Type.Object(fields));
}

function isPrice(value: number | null): boolean {
  return value !== null && value >= 0 && value <= 1;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Returns a function that creates one detector for each kind of object. The kinds prefix the reported field names. */
export function driftDetectorsFor<Schemas extends Readonly<Record<string, Type.TObject>>>(schemas: Schemas) {
  return (drift: DriftCounter): { readonly [Kind in keyof Schemas]: DriftDetector } => {
    const driftDetectors = Object.entries(schemas).map(([kind, schema]) => [
      kind,
      new DriftDetector(kind, schema, drift),
    ]);
    return Object.fromEntries(driftDetectors);
  };
}
