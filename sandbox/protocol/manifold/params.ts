/** An answer other than 200, in Manifold's shape. */
export class ApiError extends Error {
  readonly status: number;
  readonly details: unknown;

  constructor(status: number, message: string, details?: unknown) {
    super(message);
    this.status = status;
    this.details = details;
  }
}

type Reader<Value> = (raw: string | readonly string[]) => Value | Refusal;
class Refusal {
  readonly reason: string;
  constructor(reason: string) {
    this.reason = reason;
  }
}
const one = (raw: string | readonly string[]): string => (typeof raw === "string" ? raw : (raw.at(-1) ?? ""));

export const text: Reader<string> = (raw) => one(raw);

export const texts: Reader<readonly string[]> = (raw) => (typeof raw === "string" ? [raw] : raw);

export const oneOf =
  <const Word extends string>(...words: readonly Word[]): Reader<Word> =>
  (raw) =>
    words.find((word) => word === one(raw)) ?? new Refusal(`Invalid option: expected one of ${words.join("|")}`);

export const numeric =
  (min: number, max: number): Reader<number> =>
  (raw) => {
    const value = one(raw).trim() === "" ? Number.NaN : Number(one(raw));
    if (!Number.isFinite(value)) return new Refusal("Invalid input: expected number, received NaN");
    if (value < min) return new Refusal(`Too small: expected number to be >=${min}`);
    return value > max ? new Refusal(`Too big: expected number to be <=${max}`) : value;
  };

export const flag: Reader<boolean> = (raw) => {
  if (one(raw) === "true" || one(raw) === "1") return true;
  return one(raw) === "false" || one(raw) === "0" ? false : new Refusal("Invalid input: expected boolean");
};

type Spec = Readonly<Record<string, Reader<unknown>>>;
export type Params<S extends Spec> = { readonly [Name in keyof S]?: Exclude<ReturnType<S[Name]>, Refusal> };

/**
 * Query parameters by their specification. Strict as the venue is: a parameter nobody knows or a value out of range is a
 * 400 that names the field.
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
    const given = raw[name];
    if (given === undefined) continue;
    const value = reader(given);
    if (value instanceof Refusal) issues.push({ field: name, error: value.reason });
    else values[name] = value;
  }
  if (issues.length > 0) throw new ApiError(400, "Error validating request.", issues);
  return values as Params<S>;
}
