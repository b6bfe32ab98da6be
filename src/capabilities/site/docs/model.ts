import type { ErrorCode } from "../../../domain/errors.ts";
import type { RouteRateClass } from "../../../domain/metering.ts";
import type { Plan, Tier } from "../../../domain/plan.ts";

/** The keywords of JSON Schema that this API uses. */
export interface JsonSchema {
  readonly $ref?: string;
  readonly title?: string;
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly default?: unknown;
  readonly description?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly pattern?: string;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly items?: JsonSchema;
  readonly additionalProperties?: JsonSchema | boolean;
  readonly anyOf?: readonly JsonSchema[];
  readonly oneOf?: readonly JsonSchema[];
  readonly allOf?: readonly JsonSchema[];
}

export interface Parameter {
  readonly name: string;
  readonly in: "path" | "query" | "header";
  readonly isRequired: boolean;
  readonly description: string;
  readonly schema: JsonSchema;
}

/** A code in the field `code` of an error body. 422 responses have none; the reference calls it `invalid_request`. */
export type DocumentedCode = ErrorCode | "invalid_request";

/** One operation of the API, read from the OpenAPI document. */
export interface Operation {
  readonly id: string;
  /** Last part of the page's URL: the operation id with hyphens. */
  readonly slug: string;
  /** In upper case. */
  readonly method: string;
  /** With parameters in braces. */
  readonly path: string;
  readonly tag: string;
  readonly summary: string;
  readonly description: string;
  readonly isDeprecated: boolean;
  readonly needsKey: boolean;
  readonly quotaTier: Tier | null;
  readonly priceTier: Tier | null;
  readonly minimumPlan: Plan;
  readonly rateClass: RouteRateClass | null;
  readonly parameters: readonly Parameter[];
  readonly body: { readonly isRequired: boolean; readonly schema: JsonSchema } | null;
  readonly success: {
    readonly status: number;
    readonly contentType: string;
    readonly schema: JsonSchema;
    readonly headers: readonly { readonly name: string; readonly description: string }[];
  };
  readonly errors: readonly { readonly status: number; readonly codes: readonly DocumentedCode[] }[];
}

/** The API as the reference shows it. */
export interface ApiDescription {
  readonly version: string;
  /** Tags in display order. */
  readonly tags: readonly string[];
  readonly operations: readonly Operation[];
  /** Returns the schema that a `$ref` names. */
  readonly resolve: (reference: string) => JsonSchema;
}

/** Values of a request: in the path, the query and the body. */
export interface ExampleRequest {
  readonly path: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string | number | boolean>>;
  readonly body: unknown;
}

/** A stored example of an operation: a request, and the body of its successful response. */
export interface Example {
  readonly request: ExampleRequest;
  readonly response: unknown;
}

export type Examples = ReadonlyMap<string, Example>;

/** The origin and the key that samples and links contain. */
export interface Site {
  /** Origin of the API, for example `https://api.example.org`. */
  readonly origin: string;
  /** The API key in samples: a demo key or a placeholder. */
  readonly key: string;
}
