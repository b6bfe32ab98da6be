/** Query parameters as Fastify parses them: repeated parameters are arrays. */
export type Query = Readonly<Record<string, string | readonly string[] | undefined>>;

/** Returns the first value of a parameter, or null if it is absent or empty. */
export function parseTextParam(query: Query, name: string): string | null {
  const parameter = query[name];
  const value = typeof parameter === "string" || parameter === undefined ? parameter : parameter[0];
  return value === undefined || value === "" ? null : value;
}

/** Returns all values of a repeated or comma-separated parameter, or null if it is absent or empty. */
export function parseListParam(query: Query, name: string): string[] | null {
  const parameter = query[name];
  if (parameter === undefined || parameter === "") return null;
  const values = (typeof parameter === "string" ? [parameter] : parameter).flatMap((value) => value.split(","));
  return values.filter((value) => value !== "");
}
