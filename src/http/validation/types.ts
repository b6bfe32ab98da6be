import type { ValidationItem } from "../../domain/errors.ts";
import type { Location } from "./pydantic-errors.ts";

/**
 * text: values came as text (path, query, header) and are read by Pydantic's lax rules.
 * json: values came as JSON and must already be of their type; nothing is coerced.
 */
export type Rules = "text" | "json";

/** What one request's check gathers. */
export interface Findings {
  readonly errors: ValidationItem[];
  /** Fields sent that the schema does not know, with the names it does know beside them. */
  readonly ignored: { readonly name: string; readonly known: readonly string[] }[];
}

/** Gives the checked (and, from text, converted) value, or `INVALID` after adding an error for it. */
export type Check = (value: unknown, loc: Location, findings: Findings) => unknown;

export const INVALID: unique symbol = Symbol("invalid");

/** More errors than this in one answer help nobody. */
const ERRORS_MAX = 100;

/** The keywords of JSON Schema that are understood; any other one stops the start, so that no rule is silently void. */
export interface Node {
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Node[];
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly exclusiveMaximum?: number;
  readonly multipleOf?: number;
  readonly items?: Node;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly properties?: Readonly<Record<string, Node>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | Node;
  readonly patternProperties?: Readonly<Record<string, Node>>;
  readonly default?: unknown;
  readonly "x-comma-list"?: boolean;
  readonly "x-empty-is-absent"?: boolean;
}

/** Adds an error, within bounds. */
export function fail(errors: ValidationItem[], error: ValidationItem): typeof INVALID {
  if (errors.length < ERRORS_MAX) errors.push(error);
  return INVALID;
}
