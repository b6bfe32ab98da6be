import type { FastifyRequest } from "fastify";
import { AppError } from "../domain/errors.ts";
import type { Allowance, Plan } from "../domain/plan.ts";

/** The authenticated caller. */
export interface Principal {
  /** customer: has an API key. marketplace: authenticated by a marketplace. payer: pays for a single request. */
  readonly kind: "customer" | "marketplace" | "payer";
  /** Unique across all kinds; the owner id of all data of the caller. */
  readonly customerId: string;
  readonly plan: Plan;
  readonly allowance: Allowance;
  /** Id of the API key; customers only. */
  readonly keyId?: string;
}

/**
 * public: any caller. key: authenticated callers only; the request is rejected before its body is read. session: forms
 * of this site that a signed-in browser submits.
 */
export type Access = "public" | "key" | "session";

type Authentication = Promise<Principal | null> | Principal | null;

export interface AuthenticationOptions {
  /** Returns the owner of a Bearer key, or null if the key is unknown, revoked or malformed. */
  readonly authenticate: (bearer: string, request: FastifyRequest) => Authentication;
  /**
   * Other authentication methods (marketplace, payment), tried in this order if no Authorization header was sent. Each
   * returns null if it does not apply, and throws if it applies and fails.
   */
  readonly authenticateOtherwise?: readonly Authenticator[];
  /** Returns a URL where the caller can get a key, for the 401 response to a request without one. */
  readonly signUpUrl?: (request: FastifyRequest) => string;
  /** Authenticates routes with the access `session`. Without it, they reject every request. */
  readonly session?: SessionAuthenticator;
}

/** Authenticates the forms of signed-in browsers. */
export interface SessionAuthenticator {
  /**
   * Returns the customer whose session cookie the browser has sent.
   *
   * @throws AppError `cross_site_refused` if the form is not one of this site; `unauthorized` without an active session
   */
  readonly authenticate: (request: FastifyRequest) => Promise<Principal>;
  /** Checks the CSRF token in the body. @throws AppError `cross_site_refused` */
  readonly assertForm: (request: FastifyRequest) => void;
}

/** Returns a promise only if authentication needs I/O. */
export type Authenticator = (request: FastifyRequest) => Authentication;

const AUTHORIZATION_LENGTH_MAX = 512;
/** RFC 6750: case-insensitive scheme, exactly one space, then b64token. */
const BEARER_PATTERN = /^bearer ([A-Za-z0-9\-._~+/]+=*)$/i;

/**
 * Returns the caller of a request. Returns synchronously if authentication needs no I/O, because every request waits
 * for it.
 *
 * @throws AppError `unauthorized` (also as a rejection) unless the request has exactly one valid credential
 */
export function authenticateRequest(
  request: FastifyRequest,
  options: AuthenticationOptions,
): Promise<Principal> | Principal {
  const headers = findAuthorizationHeaders(request);
  const principal =
    headers.length === 0
      ? authenticateOtherwise(options.authenticateOtherwise ?? [], request, 0)
      : authenticateBearer(headers, request, options);
  const reject = (): never => {
    throw createUnauthorizedError(request, headers, options);
  };
  return principal instanceof Promise ? principal.then((resolved) => resolved ?? reject()) : (principal ?? reject());
}

/**
 * Returns the customer of the browser session that has submitted a form.
 *
 * @throws AppError as a rejection, as `SessionAuthenticator.authenticate`
 */
export const authenticateForm = async (
  request: FastifyRequest,
  { session }: AuthenticationOptions,
): Promise<Principal> => {
  if (session === undefined) throw new AppError("unauthorized", "This server has no sessions");
  return session.authenticate(request);
};

function authenticateOtherwise(
  authenticators: readonly Authenticator[],
  request: FastifyRequest,
  firstIndex: number,
): Authentication {
  for (let index = firstIndex; index < authenticators.length; index++) {
    const principal = authenticators[index]?.(request) ?? null;
    if (principal instanceof Promise)
      return principal.then((resolved) => resolved ?? authenticateOtherwise(authenticators, request, index + 1));
    if (principal !== null) return principal;
  }
  return null;
}

/** Returns the owner of the key, or null unless exactly one header of the form `Bearer <token>` was sent. */
function authenticateBearer(
  headers: readonly string[],
  request: FastifyRequest,
  options: AuthenticationOptions,
): Authentication {
  const header = headers[0] ?? "";
  if (headers.length > 1 || header.length > AUTHORIZATION_LENGTH_MAX) return null;
  const bearer = BEARER_PATTERN.exec(header)?.[1];
  return bearer === undefined ? null : options.authenticate(bearer, request);
}

/** If the request has no well-formed key, the message explains how to send one. */
function createUnauthorizedError(
  request: FastifyRequest,
  headers: readonly string[],
  { signUpUrl }: AuthenticationOptions,
): AppError {
  if (headers.length === 1 && BEARER_PATTERN.test(headers[0] ?? ""))
    return new AppError("unauthorized", "Invalid or expired API key");
  const problem = headers.length === 0 ? "API key missing." : "The Authorization header has the wrong form.";
  const source = signUpUrl === undefined ? "" : ` Get a key: ${signUpUrl(request)}`;
  return new AppError("unauthorized", `${problem} Send the header "Authorization: Bearer YOUR_API_KEY".${source}`);
}

/**
 * Returns all Authorization headers. Node's parsed headers contain only the first, which would hide a second header.
 */
function findAuthorizationHeaders(request: FastifyRequest): readonly string[] {
  const { rawHeaders } = request.raw;
  const values: string[] = [];
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const name = rawHeaders[index];
    if (name?.length === 13 && name.toLowerCase() === "authorization") values.push(rawHeaders[index + 1] ?? "");
  }
  return values;
}
