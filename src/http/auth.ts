import type { FastifyRequest } from "fastify";
import { AppError } from "../domain/errors.ts";
import type { Allowance, Plan } from "../domain/plan.ts";

/** Who is calling, once proven. */
export interface Principal {
  /** customer: holds a key of ours. marketplace: vouched for by a marketplace. payer: paid for this one request. */
  readonly kind: "customer" | "marketplace" | "payer";
  /** Unique among all kinds: everything that belongs to the caller is filed under it. */
  readonly customerId: string;
  readonly plan: Plan;
  readonly allowance: Allowance;
  /** The key that was shown; a customer's only. */
  readonly keyId?: string;
}

/** public: anyone. key: only a proven caller; the handler is not reached, nor the body read, without one. */
export type Access = "public" | "key";

export interface AuthenticationOptions {
  /** The owner of a Bearer key, or null where it is unknown, revoked or malformed. */
  readonly authenticate: (
    bearer: string,
    assertMayLookUp: AssertMayLookUp,
  ) => Promise<Principal | null> | Principal | null;
  /**
   * Other ways to prove who is calling, asked in this order and only where no Authorization header was sent
   * (marketplace, payment). Null means that one does not apply; it throws where it applies and fails.
   */
  readonly authenticateOtherwise?: readonly Authenticator[];
}

/** Without a promise where the answer is known at once. */
export type Authenticator = (
  request: FastifyRequest,
  assertMayLookUp: AssertMayLookUp,
) => Promise<Principal | null> | Principal | null;

/**
 * Called before a look into the store, or further, for somebody of whom nothing good is known yet.
 *
 * @throws AppError `rate_limited` where the caller's address has been refused too often
 */
export type AssertMayLookUp = () => void;

const AUTHORIZATION_LENGTH_MAX = 512;
/** RFC 6750: the scheme in any case, exactly one space, then b64token. */
const BEARER = /^bearer ([A-Za-z0-9\-._~+/]+=*)$/i;

/**
 * The caller of a request; without a promise where the answer is known at once, because every request waits here.
 *
 * @throws AppError `unauthorized` without exactly one well-formed, known credential; also as a rejection
 */
export function authenticateRequest(
  request: FastifyRequest,
  options: AuthenticationOptions,
  assertMayLookUp: AssertMayLookUp,
): Promise<Principal> | Principal {
  const sent = authorizationHeaders(request);
  const ways = options.authenticateOtherwise ?? [];
  const answer =
    sent.length === 0
      ? firstToKnow(ways, (way) => way(request, assertMayLookUp), 0)
      : authenticateBearer(sent, options, assertMayLookUp);
  return answer instanceof Promise ? answer.then(assertKnown) : assertKnown(answer);
}

function firstToKnow(
  ways: readonly Authenticator[],
  ask: (way: Authenticator) => ReturnType<Authenticator>,
  first: number,
): Promise<Principal | null> | Principal | null {
  for (let index = first; index < ways.length; index++) {
    const way = ways[index];
    const answer = way === undefined ? null : ask(way);
    if (answer instanceof Promise) return answer.then((known) => known ?? firstToKnow(ways, ask, index + 1));
    if (answer !== null) return answer;
  }
  return null;
}

function authenticateBearer(
  sent: readonly string[],
  options: AuthenticationOptions,
  assertMayLookUp: AssertMayLookUp,
): Promise<Principal | null> | Principal | null {
  const bearer = sent.length === 1 ? parseBearer(sent[0] ?? "") : null;
  return bearer === null ? null : options.authenticate(bearer, assertMayLookUp);
}

function assertKnown(principal: Principal | null): Principal {
  if (principal === null) throw new AppError("unauthorized", "Invalid or expired API key");
  return principal;
}

/** The token of an Authorization header's value, or null where it is not of the form `Bearer <token>`. */
function parseBearer(value: string): string | null {
  if (value.length > AUTHORIZATION_LENGTH_MAX) return null;
  return BEARER.exec(value)?.[1] ?? null;
}

/** Every Authorization header as sent: the parsed headers keep the first one only, which would hide a second. */
function authorizationHeaders(request: FastifyRequest): readonly string[] {
  const { rawHeaders } = request.raw;
  const values: string[] = [];
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const name = rawHeaders[index];
    if (name?.length === 13 && name.toLowerCase() === "authorization") values.push(rawHeaders[index + 1] ?? "");
  }
  return values;
}
