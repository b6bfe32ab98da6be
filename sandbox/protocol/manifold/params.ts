/** An error response in Manifold's shape. */
export class ApiError extends Error {
  readonly status: number;
  readonly details: unknown;

  constructor(status: number, message: string, details?: unknown) {
    super(message);
    this.status = status;
    this.details = details;
  }
}

type Reader<Value> = (raw: string | readonly string[]) => Value | Invalid;
class Invalid {
  readonly reason: string;
  constructor(reason: string) {
    this.reason = reason;
  }
}
/** The last of repeated values. */
const lastOf = (raw: string | readonly string[]): string => (typeof raw === "string" ? raw : (raw.at(-1) ?? ""));

export const text: Reader<string> = (raw) => lastOf(raw);

export const texts: Reader<readonly string[]> = (raw) => (typeof raw === "string" ? [raw] : raw);

export const oneOf =
  <const Value extends string>(...values: readonly Value[]): Reader<Value> =>
  (raw) =>
    values.find((value) => value === lastOf(raw)) ?? new Invalid(`Invalid option: expected one of ${values.join("|")}`);

export const numeric =
  (min: number, max: number): Reader<number> =>
  (raw) => {
    const value = lastOf(raw).trim() === "" ? Number.NaN : Number(lastOf(raw));
    if (!Number.isFinite(value)) return new Invalid("Invalid input: expected number, received NaN");
    if (value < min) return new Invalid(`Too small: expected number to be >=${min}`);
    return value > max ? new Invalid(`Too big: expected number to be <=${max}`) : value;
  };

export const flag: Reader<boolean> = (raw) => {
  if (lastOf(raw) === "true" || lastOf(raw) === "1") return true;
  return lastOf(raw) === "false" || lastOf(raw) === "0" ? false : new Invalid("Invalid input: expected boolean");
};

type Spec = Readonly<Record<string, Reader<unknown>>>;
export type Params<S extends Spec> = { readonly [Name in keyof S]?: Exclude<ReturnType<S[Name]>, Invalid> };

/**
 * Parses query parameters by their specification. Unknown parameters are rejected, as the venue does.
 * @throws ApiError 400 with one issue per invalid field
 */
export function readParams<const S extends Spec>(query: unknown, spec: S): Params<S> {
  const values: Record<string, unknown> = {};
  const issues: { field: string | null; error: string }[] = [];
  const raw = query as Readonly<Record<string, string | readonly string[]>>;
  const unknown = Object.keys(raw).filter((name) => !Object.hasOwn(spec, name));
  if (unknown.length > 0) {
    issues.push({
      field: null,
      error: `Unrecognized key(s) in object: ${unknown.map((name) => `'${name}'`).join(", ")}`,
    });
  }
  for (const [name, reader] of Object.entries(spec)) {
    const input = raw[name];
    if (input === undefined) continue;
    const value = reader(input);
    if (value instanceof Invalid) issues.push({ field: name, error: value.reason });
    else values[name] = value;
  }
  if (issues.length > 0) throw new ApiError(400, "Error validating request.", issues);
  return values as Params<S>;
}
