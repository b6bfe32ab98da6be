/** The keywords of a schema that decide which differences between two values are allowed. */
interface Shape {
  readonly $ref?: string;
  readonly items?: Shape;
  readonly properties?: Readonly<Record<string, Shape>>;
  readonly required?: readonly string[];
}

/**
 * Returns the places in which an example differs in shape from a real value: other JSON types, and fields that only one
 * of them has although the schema requires them. Values, null and the number of list entries do not matter.
 */
export function compareShapes(
  example: unknown,
  real: unknown,
  schema: Shape,
  resolve: (reference: string) => Shape,
  path = "$",
): readonly string[] {
  const { items = {}, properties, required = [] } = schema.$ref === undefined ? schema : resolve(schema.$ref);
  if (example === null || real === null) return [];
  if (kindOf(example) !== kindOf(real)) return [`${path}: ${kindOf(example)} instead of ${kindOf(real)}`];
  if (Array.isArray(example) && Array.isArray(real))
    return example.length === 0 || real.length === 0
      ? []
      : compareShapes(example[0], real[0], items, resolve, `${path}[]`);
  if (typeof example !== "object" || properties === undefined) return [];
  const [a, b] = [example, real] as [Record<string, unknown>, Record<string, unknown>];
  return [...new Set([...Object.keys(a), ...Object.keys(b)])].flatMap((name) => {
    const property = properties[name];
    if (property === undefined) return [`${path}.${name} is not in the schema`];
    if (name in a && name in b) return compareShapes(a[name], b[name], property, resolve, `${path}.${name}`);
    return required.includes(name) ? [`${path}.${name} is only in ${name in a ? "the example" : "the response"}`] : [];
  });
}

const kindOf = (value: unknown): string => (Array.isArray(value) ? "array" : typeof value);
