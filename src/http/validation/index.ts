import type { FastifyReply, FastifyRequest } from "fastify";
import Type, { type TSchema, type TUnsafe } from "typebox";
import { InvalidRequestError, type ValidationItem } from "../../domain/errors.ts";
import { compileCheck } from "./compile.ts";
import { formatIgnoredParameters } from "./ignored-parameters.ts";
import { jsonInvalid, missing } from "./pydantic-errors.ts";
import type { Findings, ValueCheck } from "./types.ts";

export { missing, valueError } from "./pydantic-errors.ts";

/** Maximum number of items in a comma-separated list. */
const COMMA_LIST_MAX = 50;

/** The request schemas of a route. Path, query and header values are converted by Pydantic's lax rules. */
export interface RequestSchemas {
  readonly params?: TSchema;
  readonly query?: TSchema;
  readonly headers?: TSchema;
  readonly body?: TSchema;
  /** The body may be absent or null. */
  readonly bodyOptional?: boolean;
}

/** A body that is not valid JSON. Validation rejects it with 422, after authentication and rate limiting. */
export class UnreadableBody {
  readonly error: ValidationItem;

  constructor(position: number, error: string) {
    this.error = jsonInvalid(position, error);
  }
}

/** Validates a request, replaces its values with the converted values, and sets `x-ignored-parameters`. */
export type RequestValidator = (request: FastifyRequest, reply: FastifyReply) => void;

/**
 * Compiles a route's schemas into one validator. It throws `InvalidRequestError` with all errors, in the order path,
 * query, header, body.
 */
export function compileRequestValidator(schemas: RequestSchemas): RequestValidator {
  const emptySchema = Type.Object({});
  const checkParams = compileCheck(schemas.params ?? emptySchema, "text");
  const checkQuery = compileCheck(schemas.query ?? emptySchema, "text");
  const checkHeaders = schemas.headers === undefined ? null : compileCheck(schemas.headers, "text");
  const bodyCheck = schemas.body === undefined ? null : compileCheck(schemas.body, "json");
  return (request, reply) => {
    if (bodyCheck !== null && request.body instanceof UnreadableBody)
      throw new InvalidRequestError([request.body.error]);
    const findings: Findings = { errors: [], ignored: [] };
    const checkedParams = checkParams(request.params ?? {}, ["path"], findings);
    const checkedQuery = checkQuery(request.query ?? {}, ["query"], findings);
    const checkedHeaders = checkHeaders === null ? {} : checkHeaders(request.headers, ["header"], findings);
    const checkedBody = bodyCheck === null ? undefined : checkBody(bodyCheck, request.body, schemas, findings);
    const ignored = formatIgnoredParameters(findings.ignored);
    if (ignored !== null) reply.header("x-ignored-parameters", ignored);
    if (findings.errors.length > 0) throw new InvalidRequestError(findings.errors);
    request.params = checkedParams;
    request.query = checkedQuery;
    request.checkedHeaders = checkedHeaders;
    request.body = checkedBody;
  };
}

function checkBody(check: ValueCheck, value: unknown, schemas: RequestSchemas, findings: Findings): unknown {
  if (value === undefined || value === null) {
    if (schemas.bodyOptional !== true) findings.errors.push(missing(["body"], null));
    return undefined;
  }
  return check(value, ["body"], findings);
}

/** A query parameter `a,b,c` with items from `values`. The handler receives an array without duplicates. */
export function commaList<const Value extends string>(
  values: readonly Value[],
  options: { description?: string } = {},
) {
  return commaListOf({ type: "string", enum: [...values] }, options) as TUnsafe<Value[]>;
}

/** A query parameter `a,b,c` with items validated by `item`. */
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

/** Treats an empty optional parameter as absent: `?source=` means any source. */
export function emptyIsAbsent<Schema extends TSchema>(schema: Schema): Schema {
  return { ...schema, "x-empty-is-absent": true };
}
