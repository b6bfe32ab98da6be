import { isDeepStrictEqual } from "node:util";

/** Option of a response schema: its name in the OpenAPI document, and the name of its type in generated clients. */
export const SCHEMA_NAME = "x-schema-name";

/**
 * Returns a copy of the document in which each named schema is replaced by a reference, and the named schemas.
 *
 * @throws Error if two different schemas have the same name
 */
export function extractNamedSchemas(document: unknown): {
  readonly document: unknown;
  readonly schemas: Readonly<Record<string, unknown>>;
} {
  const schemas: Record<string, unknown> = {};
  const visit = (node: unknown): unknown => {
    if (Array.isArray(node)) return node.map(visit);
    if (typeof node !== "object" || node === null) return node;
    const entries = Object.entries(node).map(([key, value]) => [key, visit(value)] as const);
    const { [SCHEMA_NAME]: name, ...schema } = Object.fromEntries(entries);
    if (typeof name !== "string") return schema;
    if (Object.hasOwn(schemas, name) && !isDeepStrictEqual(schemas[name], schema))
      throw new Error(`Two schemas have the name "${name}"`);
    schemas[name] = schema;
    return { $ref: `#/components/schemas/${name}` };
  };
  return { document: visit(document), schemas };
}
