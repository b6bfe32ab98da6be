import type { FastifyReply, FastifyRequest } from "fastify";
import Type, { type TSchema } from "typebox";
import { InvalidRequestError, type ValidationItem } from "../../domain/errors.ts";
import { compileCheck } from "./compile.ts";
import { ignoredParametersHeader } from "./ignored-parameters.ts";
import { jsonInvalid, missing } from "./pydantic-errors.ts";
import type { Check, Findings } from "./types.ts";

export { valueError } from "./pydantic-errors.ts";

/** Most words a comma-separated list may hold. */
const COMMA_LIST_MAX = 50;

/** The schemas that a route judges a request by; path, query and header values are read by Pydantic's lax rules. */
export interface RequestSchemas {
  readonly params?: TSchema;
  readonly query?: TSchema;
  readonly headers?: TSchema;
  readonly body?: TSchema;
  /** The body may be absent or null. */
  readonly bodyOptional?: boolean;
}

/** A body that could not be read as JSON; it becomes a 422 only after the caller is known and within its limits. */
export class UnreadableBody {
  readonly error: ValidationItem;

  constructor(position: number, error: string) {
    this.error = jsonInvalid(position, error);
  }
}

/** Judges a request, puts the converted values in place and names what was ignored. */
export type RequestValidator = (request: FastifyRequest, reply: FastifyReply) => void;

/**
 * Compiles a route's schemas into one check: all errors at once, path, query, header, body, each in its schema's order.
 * The check throws `InvalidRequestError`.
 */
export function compileRequestValidator(schemas: RequestSchemas): RequestValidator {
  const nothing = Type.Object({});
  const params = compileCheck(schemas.params ?? nothing, "text");
  const query = compileCheck(schemas.query ?? nothing, "text");
  const headers = schemas.headers === undefined ? null : compileCheck(schemas.headers, "text");
  const body = schemas.body === undefined ? null : compileCheck(schemas.body, "json");
  return (request, reply) => {
    if (body !== null && request.body instanceof UnreadableBody) throw new InvalidRequestError([request.body.error]);
    const findings: Findings = { errors: [], ignored: [] };
    const checkedParams = params(request.params ?? {}, ["path"], findings);
    const checkedQuery = query(request.query ?? {}, ["query"], findings);
    const checkedHeaders = headers === null ? {} : headers(request.headers, ["header"], findings);
    const checkedBody = body === null ? undefined : checkBody(body, request.body, schemas, findings);
    const ignored = ignoredParametersHeader(findings.ignored);
    if (ignored !== null) reply.header("x-ignored-parameters", ignored);
    if (findings.errors.length > 0) throw new InvalidRequestError(findings.errors);
    request.params = checkedParams;
    request.query = checkedQuery;
    request.checkedHeaders = checkedHeaders;
    request.body = checkedBody;
  };
}

function checkBody(check: Check, value: unknown, schemas: RequestSchemas, findings: Findings): unknown {
  if (value === undefined || value === null) {
    if (schemas.bodyOptional !== true) findings.errors.push(missing(["body"], null));
    return undefined;
  }
  return check(value, ["body"], findings);
}

/** Raises a 422 of one's own: rules between fields, or ones that need data to judge. */
export function invalidRequest(errors: readonly ValidationItem[]): InvalidRequestError {
  return new InvalidRequestError(errors);
}

/** A query parameter `a,b,c` whose words are each one of `words`; the handler gets the list, without repeats. */
export function commaList<const Word extends string>(words: readonly Word[], options: { description?: string } = {}) {
  return Type.Unsafe<Word[]>({
    type: "array",
    items: { type: "string", enum: [...words] },
    maxItems: COMMA_LIST_MAX,
    style: "form",
    explode: false,
    "x-comma-list": true,
    ...options,
  });
}

/** A query parameter `a,b,c` of free words, each judged by `item`. */
export function commaListOf(item: TSchema, options: { description?: string; maxItems?: number } = {}) {
  return Type.Unsafe<string[]>({
    type: "array",
    items: item,
    maxItems: COMMA_LIST_MAX,
    style: "form",
    explode: false,
    "x-comma-list": true,
    ...options,
  });
}

/** Marks an optional parameter whose empty text counts as not sent: `?source=` means any source. */
export function emptyIsAbsent<Schema extends TSchema>(schema: Schema): Schema {
  return { ...schema, "x-empty-is-absent": true };
}
