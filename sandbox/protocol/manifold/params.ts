import { VenueError } from "../errors.ts";

/** Parses the values of a parameter. Returns an error with the reason if they are invalid. */
type ParamReader<Value> = (raw: string | readonly string[]) => Value | Error;
/** Returns the last value of a repeated parameter. */
const lastValueOf = (raw: string | readonly string[]): string => (typeof raw === "string" ? raw : (raw.at(-1) ?? ""));

export const textParam: ParamReader<string> = (raw) => lastValueOf(raw);

export const enumParam =
  <const Value extends string>(...values: readonly Value[]): ParamReader<Value> =>
  (raw) =>
    values.find((value) => value === lastValueOf(raw)) ??
    new Error(`Invalid option: expected one of ${values.join("|")}`);

export const numberParam =
  (min: number, max: number): ParamReader<number> =>
  (raw) => {
    const value = lastValueOf(raw).trim() === "" ? Number.NaN : Number(lastValueOf(raw));
    if (!Number.isFinite(value)) return new Error("Invalid input: expected number, received NaN");
    if (value < min) return new Error(`Too small: expected number to be >=${min}`);
    return value > max ? new Error(`Too big: expected number to be <=${max}`) : value;
  };

export const booleanParam: ParamReader<boolean> = (raw) => {
  if (lastValueOf(raw) === "true" || lastValueOf(raw) === "1") return true;
  return lastValueOf(raw) === "false" || lastValueOf(raw) === "0"
    ? false
    : new Error("Invalid input: expected boolean");
};

type ParamSpec = Readonly<Record<string, ParamReader<unknown>>>;
export type Params<S extends ParamSpec> = { readonly [Name in keyof S]?: Exclude<ReturnType<S[Name]>, Error> };

/**
 * Parses query parameters with the readers in `spec`. Unknown parameters are rejected, as at the venue.
 * @throws VenueError 400 with one issue per invalid parameter
 */
export function parseParams<const S extends ParamSpec>(query: unknown, spec: S): Params<S> {
  const values: Record<string, unknown> = {};
  const issues: { field: string | null; error: string }[] = [];
  const raw = query as Readonly<Record<string, string | readonly string[]>>;
  const unknownNames = Object.keys(raw).filter((name) => !Object.hasOwn(spec, name));
  if (unknownNames.length > 0) {
    issues.push({
      field: null,
      error: `Unrecognized key(s) in object: ${unknownNames.map((name) => `'${name}'`).join(", ")}`,
    });
  }
  for (const [name, reader] of Object.entries(spec)) {
    const rawValue = raw[name];
    if (rawValue === undefined) continue;
    const value = reader(rawValue);
    if (value instanceof Error) issues.push({ field: name, error: value.message });
    else values[name] = value;
  }
  if (issues.length > 0) throw new VenueError(400, "Error validating request.", issues);
  return values as Params<S>;
}
