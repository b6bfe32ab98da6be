import type { ValidationItem } from "../../domain/errors.ts";
import type { Location } from "./pydantic-errors.ts";

/**
 * text: path, query and header values, converted by Pydantic's lax rules.
 * json: body values, which must already have the right JSON type.
 */
export type ConversionRules = "text" | "json";

/** The results of the checks of one request. */
export interface Findings {
  readonly errors: ValidationItem[];
  /** Request fields that are not in the schema, with the names of the fields in the schema. */
  readonly ignored: { readonly name: string; readonly known: readonly string[] }[];
}

/** Returns the validated and, for text, converted value; or adds an error and returns `INVALID`. */
export type ValueCheck = (value: unknown, loc: Location, findings: Findings) => unknown;

export const INVALID: unique symbol = Symbol("invalid");

/** Maximum number of errors in one response. */
const ERRORS_MAX = 100;

/** The supported JSON Schema keywords. The server does not start if a schema uses another keyword. */
export interface Schema {
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly exclusiveMaximum?: number;
  readonly items?: Schema;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly default?: unknown;
  readonly "x-comma-list"?: boolean;
  readonly "x-empty-is-absent"?: boolean;
}

/** Adds an error, up to `ERRORS_MAX`. */
export function fail(errors: ValidationItem[], error: ValidationItem): typeof INVALID {
  if (errors.length < ERRORS_MAX) errors.push(error);
  return INVALID;
}
