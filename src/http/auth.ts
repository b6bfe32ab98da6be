import type { FastifyRequest } from "fastify";
import { AppError } from "../domain/errors.ts";
import type { Allowance, Plan } from "../domain/plan.ts";

/** The authenticated caller. */
export interface Principal {
  /** customer: has an API key. marketplace: authenticated by a marketplace. payer: pays for this single request. */
  readonly kind: "customer" | "marketplace" | "payer";
  /** Unique across all kinds; the owner id of all data of the caller. */
  readonly customerId: string;
  readonly plan: Plan;
  readonly allowance: Allowance;
  /** Id of the API key; customers only. */
  readonly keyId?: string;
}

/** public: anyone. key: authenticated callers only; otherwise neither the body is read nor the handler called. */
export type Access = "public" | "key";

type Authentication = Promise<Principal | null> | Principal | null;

export interface AuthenticationOptions {
  /** The owner of a Bearer key; null if it is unknown, revoked or malformed. */
  readonly authenticate: (bearer: string, assertMayLookUp: AssertMayLookUp) => Authentication;
  /**
   * Other authentication methods (marketplace, payment), tried in this order if no Authorization header was sent. Each
   * returns null if it does not apply, and throws if it applies and fails.
   */
  readonly authenticateOtherwise?: readonly Authenticator[];
}

/** Returns no promise if the result needs no I/O. */
export type Authenticator = (request: FastifyRequest, assertMayLookUp: AssertMayLookUp) => Authentication;

/**
 * Called before a credential that is not cached is looked up.
 *
 * @throws AppError `rate_limited` if the caller's address has received too many 401 responses
 */
export type AssertMayLookUp = () => void;

const AUTHORIZATION_LENGTH_MAX = 512;
/** RFC 6750: case-insensitive scheme, exactly one space, then b64token. */
const BEARER = /^bearer ([A-Za-z0-9\-._~+/]+=*)$/i;

/**
 * Returns the caller of a request. Returns no promise if authentication needs no I/O, because every request waits for it.
 *
 * @throws AppError `unauthorized` (also as a rejection) without exactly one well-formed, known credential
 */
export function authenticateRequest(
  request: FastifyRequest,
  options: AuthenticationOptions,
  assertMayLookUp: AssertMayLookUp,
): Promise<Principal> | Principal {
  const headers = authorizationHeaders(request);
  const principal =
    headers.length === 0
      ? authenticateOtherwise(options.authenticateOtherwise ?? [], request, assertMayLookUp, 0)
      : authenticateBearer(headers, options, assertMayLookUp);
  return principal instanceof Promise ? principal.then(assertFound) : assertFound(principal);
}

function authenticateOtherwise(
  authenticators: readonly Authenticator[],
  request: FastifyRequest,
  assertMayLookUp: AssertMayLookUp,
  first: number,
): Authentication {
  for (let index = first; index < authenticators.length; index++) {
    const principal = authenticators[index]?.(request, assertMayLookUp) ?? null;
    if (principal instanceof Promise)
      return principal.then(
        (resolved) => resolved ?? authenticateOtherwise(authenticators, request, assertMayLookUp, index + 1),
      );
    if (principal !== null) return principal;
  }
  return null;
}

/** Null unless there is one header of the form `Bearer <token>`. */
function authenticateBearer(
  headers: readonly string[],
  options: AuthenticationOptions,
  assertMayLookUp: AssertMayLookUp,
): Authentication {
  const header = headers[0] ?? "";
  if (headers.length > 1 || header.length > AUTHORIZATION_LENGTH_MAX) return null;
  const bearer = BEARER.exec(header)?.[1];
  return bearer === undefined ? null : options.authenticate(bearer, assertMayLookUp);
}

function assertFound(principal: Principal | null): Principal {
  if (principal === null) throw new AppError("unauthorized", "Invalid or expired API key");
  return principal;
}

/** All Authorization headers. The parsed headers contain only the first one, which would hide a second. */
function authorizationHeaders(request: FastifyRequest): readonly string[] {
  const { rawHeaders } = request.raw;
  const values: string[] = [];
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const name = rawHeaders[index];
    if (name?.length === 13 && name.toLowerCase() === "authorization") values.push(rawHeaders[index + 1] ?? "");
  }
  return values;
}
