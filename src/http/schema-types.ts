import Type from "typebox";

/** A string enum, which reads better in the OpenAPI document than a union of literals. */
export function oneOf<const Value extends string>(
  values: readonly Value[],
  options: { description?: string; default?: Value } = {},
) {
  return Type.Unsafe<Value>({ type: "string", enum: [...values], ...options });
}

interface NumberOptions {
  readonly description: string;
  readonly minimum?: number;
  readonly maximum?: number;
}

export const nullableNumber = (options: NumberOptions) =>
  Type.Unsafe<number | null>({ type: ["number", "null"], ...options });
export const nullableString = (options: { readonly description: string; readonly maxLength?: number }) =>
  Type.Unsafe<string | null>({ type: ["string", "null"], ...options });
export const nullableOneOf = <const Value extends string>(values: readonly Value[], description: string) =>
  Type.Unsafe<Value | null>({ type: ["string", "null"], enum: [...values, null], description });
export const nullableProbability = (description: string) => nullableNumber({ description, minimum: 0, maximum: 1 });
export const timestamp = (description: string) => Type.String({ format: "date-time", description });
