/** Generates requests from an OpenAPI document: valid ones, ones with one wrong value, and hostile ones. */

import { isObject } from "../../src/lib/is-object.ts";

/** The part of JSON Schema that the document uses. */
export interface JsonSchema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly JsonSchema[];
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly items?: JsonSchema;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly exclusiveMaximum?: number;
  readonly examples?: readonly unknown[];
}

interface Parameter {
  readonly name: string;
  readonly in: "path" | "query" | "header";
  readonly required?: boolean;
  readonly schema: JsonSchema;
}

interface Operation {
  readonly operationId: string;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: JsonSchema }>> };
  readonly responses: Readonly<
    Record<string, { readonly content?: Readonly<Record<string, { readonly schema?: JsonSchema }>> }>
  >;
}

export interface OpenApiDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, JsonSchema>> };
}

export interface FuzzedRequest {
  readonly operation: Operation;
  readonly kind: RequestKind;
  readonly method: string;
  /** Path with query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
}

export const REQUEST_KINDS = ["valid", "near-valid", "hostile"] as const;
export type RequestKind = (typeof REQUEST_KINDS)[number];

/** Ids that exist. Half of the requests use them, so that they reach the code behind the look-up. */
export interface KnownIds {
  readonly markets: readonly { readonly platform: string; readonly market_id: string }[];
  readonly slugs: readonly string[];
}

const KNOWN_SHARE = 0.5;
const OPTIONAL_SHARE = 0.4;
const KEYLESS_SHARE = 0.05;
const DEPTH_MAX = 5;
const ITEMS_ADDED_MAX = 3;
const TEXT_LENGTH_MAX = 24;
const NUMBER_MAX = 1_000;
const ALPHABET = "abcdefghijklmnopqrstuvwxyz0123456789-_ ";
const HOSTILE_TEXTS = [
  ...["\0", "a\0b", "%00", "\ud800", "\u202e", "😀".repeat(50), "x".repeat(5_000), "", " ", "' or 1=1 --", "{{7*7}}"],
  ...["../../etc/passwd", "__proto__", "constructor", "null", "undefined", "NaN", "-1", "1e309", "0x10", "[]", "{}"],
  ...["9007199254740993", "<script>alert(1)</script>", "\r\nx-injected: 1", "http://127.0.0.1/", "٣", "1,2,,3", "a/b"],
];
const HOSTILE_VALUES: readonly unknown[] = [
  ...[null, true, -1, 0, 1e308, -0.5, 2 ** 53, [], {}, [[]], "", [null], { a: { b: [] } }],
  ...HOSTILE_TEXTS,
];
const HOSTILE_BODIES = [
  ...["", "{", "null", "[]", '"text"', "1e400", '{"__proto__":{"isAdmin":true}}', '{"a":1,"a":2}', "\0", "\ufeff{}"],
  ...["[".repeat(5_000), `{"a":${"[".repeat(200)}${"]".repeat(200)}}`, '{"constructor":{"prototype":{}}}'],
];

/** Endless generator of requests; the order of the random draws depends only on `uniform`. */
export class RequestGenerator {
  readonly #document: OpenApiDocument;
  readonly #operations: readonly { readonly path: string; readonly method: string; readonly operation: Operation }[];
  readonly #uniform: () => number;
  readonly #known: KnownIds;
  readonly #key: string;

  /** @param options.skipped  ids of operations that are not requested */
  constructor(options: {
    readonly document: OpenApiDocument;
    readonly uniform: () => number;
    readonly known: KnownIds;
    readonly key: string;
    readonly skipped: ReadonlySet<string>;
  }) {
    this.#document = options.document;
    this.#uniform = options.uniform;
    this.#known = options.known;
    this.#key = options.key;
    this.#operations = Object.entries(options.document.paths)
      .flatMap(([path, methods]) =>
        Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
      )
      .filter(({ operation }) => !options.skipped.has(operation.operationId));
  }

  get operationCount(): number {
    return this.#operations.length;
  }

  next(): FuzzedRequest {
    const { path, method, operation } = this.#pick(this.#operations);
    const kind = this.#pick(REQUEST_KINDS);
    const values = new Map<Parameter, string>();
    const market = this.#isDrawn(KNOWN_SHARE) ? this.#pick(this.#known.markets) : null;
    for (const parameter of operation.parameters ?? []) {
      if (parameter.in !== "path" && parameter.required !== true && !this.#isDrawn(OPTIONAL_SHARE)) continue;
      values.set(parameter, this.#parameterText(parameter, market));
    }
    let body = this.#body(operation, market);
    if (kind !== "valid") {
      const changed = this.#pick([...values.keys(), ...(body === undefined ? [] : ["body" as const])]);
      if (changed === "body") body = this.#changeBody(body ?? "", kind);
      else if (changed !== undefined)
        values.set(changed, kind === "hostile" ? this.#pick(HOSTILE_TEXTS) : this.#nearText(values.get(changed) ?? ""));
    }
    return { operation, kind, method, body, path: buildPath(path, values), headers: this.#headers(values, body) };
  }

  #headers(values: ReadonlyMap<Parameter, string>, body: string | undefined): Record<string, string> {
    const headers: Record<string, string> = {};
    if (!this.#isDrawn(KEYLESS_SHARE)) headers.authorization = `Bearer ${this.#key}`;
    if (body !== undefined) headers["content-type"] = "application/json";
    // The client can send only printable characters in a header.
    for (const [{ in: place, name }, text] of values)
      if (place === "header") headers[name] = encodeURIComponent(text.toWellFormed());
    return headers;
  }

  #parameterText({ name, schema }: Parameter, market: KnownIds["markets"][number] | null): string {
    if (market !== null && (name === "platform" || name === "market_id")) return market[name];
    if (name === "slug" && this.#isDrawn(KNOWN_SHARE)) return this.#pick(this.#known.slugs);
    const value = this.#value(schema, 0);
    return Array.isArray(value) ? value.join(",") : typeof value === "string" ? value : JSON.stringify(value);
  }

  #body({ requestBody }: Operation, market: KnownIds["markets"][number] | null): string | undefined {
    const schema = requestBody?.content["application/json"]?.schema;
    if (schema === undefined) return undefined;
    const value = this.#value(schema, 0);
    if (!isObject(value) || market === null) return JSON.stringify(value);
    if ("market_id" in value) Object.assign(value, market);
    if ("market_ids" in value)
      value.market_ids = this.#known.markets.slice(0, 4).map(({ platform, market_id: id }) => `${platform}/${id}`);
    return JSON.stringify(value);
  }

  #nearText(text: string): string {
    return this.#pick([`${text}x`, text.slice(1), text.toUpperCase(), `${text},${text}`, "-1", "1.5", "2000000"]);
  }

  #changeBody(body: string, kind: RequestKind): string {
    if (kind === "hostile" && this.#isDrawn(0.3)) return this.#pick(HOSTILE_BODIES);
    const value: unknown = JSON.parse(body);
    if (!isObject(value)) return body;
    if (kind === "hostile") {
      for (const name of Object.keys(value)) if (this.#isDrawn(0.5)) value[name] = this.#pick(HOSTILE_VALUES);
      return JSON.stringify(value);
    }
    const name = this.#pick([...Object.keys(value), "unknown_field"]);
    if (this.#isDrawn(0.3)) delete value[name];
    else value[name] = this.#pick(HOSTILE_VALUES);
    return JSON.stringify(value);
  }

  #value(schema: JsonSchema, depth: number): unknown {
    const { $ref, anyOf, examples } = schema;
    if ($ref !== undefined)
      return this.#value(this.#document.components.schemas[$ref.split("/").at(-1) ?? ""] ?? {}, depth);
    if (schema.enum !== undefined) return this.#pick(schema.enum);
    if ("const" in schema) return schema.const;
    if (anyOf !== undefined) return this.#value(this.#pick(anyOf), depth);
    if (examples !== undefined && this.#isDrawn(KNOWN_SHARE)) return this.#pick(examples);
    const type = typeof schema.type === "string" ? schema.type : this.#pick(schema.type ?? ["string"]);
    switch (type) {
      case "null":
        return null;
      case "boolean":
        return this.#isDrawn(0.5);
      case "integer":
      case "number":
        return this.#number(schema, type === "integer");
      case "array":
        return this.#array(schema, depth);
      case "object":
        return this.#object(schema, depth);
      default:
        return this.#text(schema);
    }
  }

  #number(schema: JsonSchema, isInteger: boolean): number {
    const low = schema.minimum ?? schema.exclusiveMinimum ?? 0;
    const high = Math.max(low, schema.maximum ?? schema.exclusiveMaximum ?? low + NUMBER_MAX);
    const drawn = this.#pick([low, high, low + (high - low) * this.#uniform()]);
    return isInteger ? Math.floor(drawn) : drawn;
  }

  #array({ items = {}, minItems = 0, maxItems = NUMBER_MAX }: JsonSchema, depth: number): unknown[] {
    if (depth >= DEPTH_MAX) return [];
    const count = Math.min(maxItems, minItems + Math.floor(this.#uniform() * (ITEMS_ADDED_MAX + 1)));
    return Array.from({ length: count }, () => this.#value(items, depth + 1));
  }

  #object({ properties = {}, required = [] }: JsonSchema, depth: number): Record<string, unknown> {
    const names = Object.keys(properties).filter((name) => required.includes(name) || this.#isDrawn(OPTIONAL_SHARE));
    if (depth >= DEPTH_MAX) return {};
    return Object.fromEntries(names.map((name) => [name, this.#value(properties[name] ?? {}, depth + 1)]));
  }

  #text({ minLength = 0, maxLength = TEXT_LENGTH_MAX }: JsonSchema): string {
    const length = Math.max(minLength, Math.floor(this.#uniform() * Math.min(maxLength, TEXT_LENGTH_MAX)));
    return Array.from({ length }, () => ALPHABET[Math.floor(this.#uniform() * ALPHABET.length)]).join("");
  }

  #isDrawn(share: number): boolean {
    return this.#uniform() < share;
  }

  #pick<T>(values: readonly T[]): T {
    return values[Math.floor(this.#uniform() * values.length)] as T;
  }
}

function buildPath(template: string, values: ReadonlyMap<Parameter, string>): string {
  const encode = (text: string) => encodeURIComponent(text.toWellFormed());
  let path = template;
  const query: string[] = [];
  for (const [{ in: place, name }, text] of values) {
    // An empty segment would change the path.
    if (place === "path") path = path.replace(`{${name}}`, () => encode(text === "" ? "x" : text));
    if (place === "query") query.push(`${name}=${encode(text)}`);
  }
  return query.length === 0 ? path : `${path}?${query.join("&")}`;
}
