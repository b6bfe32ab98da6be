import type { FastifyReply, FastifyRequest } from "fastify";
import { AppError } from "../domain/errors.ts";
import { runForCaller } from "../lib/current-caller.ts";
import { rateLimitPrefix } from "../lib/ip-prefix.ts";
import type { Clock } from "../ports/clock.ts";
import {
  type AuthenticationOptions,
  authenticateForm,
  authenticateRequest,
  type SessionAuthenticator,
} from "./auth.ts";
import { createCors } from "./cors.ts";
import { isPaid, type PaymentGate } from "./payment-gate.ts";
import { setCommonHeaders, toProblem } from "./problem.ts";
import type { RouteTable } from "./route-table.ts";
import { isWellEncoded } from "./validation/query-string.ts";

/** A step of request processing. Throws to reject the request. Resolves to `true` if it has sent the response. */
type Guard = (request: FastifyRequest, reply: FastifyReply) => unknown;

/**
 * Functions that the application adds to the processing of each request. The server checks in this order: unknown route
 * (404), authentication (401), limit per minute (429), plan and account (403), parameters and body (422), then payment
 * (402) or quota (429). Then the handler runs.
 */
export interface Guards {
  /** Runs before authentication, for example a limit per IP address. */
  readonly beforeAuthentication?: Guard;
  /** Runs for requests rejected before or during authentication. A thrown error replaces the original error. */
  readonly onUnauthenticated?: (request: FastifyRequest, error: unknown) => Promise<void> | void;
  /** Runs after `request.principal` is set (null on public routes): minute limits and plan. */
  readonly afterAuthentication?: Guard;
  /** Runs after parameters and body are validated: quota and payment. */
  readonly afterValidation?: Guard;
  /** Runs when the response status is final, before anything is sent. Must not throw. */
  readonly beforeSend?: (request: FastifyRequest, reply: FastifyReply) => void;
}

type Done = (error?: Error) => void;
type Hook = (request: FastifyRequest, reply: FastifyReply, done: Done) => void;

/** Creates the `onRequest` hook, which runs all checks before the body is read, including authentication. */
export function createAuthenticationHook(
  options: {
    readonly guards?: readonly Guards[];
    readonly authentication: AuthenticationOptions;
    readonly data: "sandbox" | "live";
    readonly clock: Pick<Clock, "monotonic">;
    readonly corsOrigins?: readonly string[];
  },
  routes: RouteTable,
): Hook {
  const { guards = [], authentication, data, clock, corsOrigins = [] } = options;
  const cors = createCors(corsOrigins, routes);
  const reject = async (request: FastifyRequest, error: unknown): Promise<never> => {
    throw await resolveUnauthenticatedError(request, error, guards);
  };
  /** A preflight has no credential, so it counts as an anonymous request. */
  const sendPreflight = async (request: FastifyRequest, reply: FastifyReply): Promise<true> => {
    for (const { onUnauthenticated } of guards) await onUnauthenticated?.(request, null);
    reply.code(204).header("cache-control", "no-store").send();
    return true;
  };
  const checkRequestForm: Guard = (request, reply) => {
    request.startedAt = clock.monotonic();
    request.routeConfig = request.routeOptions.config;
    setCommonHeaders(request.id, reply, data);
    if (request.is404 && cors.acceptPreflight(request, reply)) return sendPreflight(request, reply);
    const error = findRequestFormError(request, routes);
    if (error !== null) return reject(request, error);
    cors.setHeaders(request, reply);
  };
  const authenticate: Guard = (request) => {
    const { access } = request.routeConfig;
    if (access === "public") return;
    try {
      const principal =
        access === "session"
          ? runForCaller(rateLimitPrefix(request.ip), () => authenticateForm(request, authentication))
          : authenticateRequest(request, authentication);
      if (!(principal instanceof Promise)) {
        request.principal = principal;
        return;
      }
      return principal.then(
        (resolved) => {
          request.principal = resolved;
        },
        (error: unknown) => reject(request, error),
      );
    } catch (error) {
      return reject(request, error);
    }
  };
  return runInOrder([
    checkRequestForm,
    ...guards.map((guard) => guard.beforeAuthentication),
    authenticate,
    ...guards.map((guard) => guard.afterAuthentication),
    rejectWithoutAccount,
    rejectEncodedBody,
  ]);
}

/** Creates the `preHandler` hook: CSRF token of forms, validation, quota, payment. */
export function createValidationHook(
  guards: readonly Guards[],
  paymentGate: PaymentGate | undefined,
  session: SessionAuthenticator | undefined,
): Hook {
  const validate: Guard = (request, reply) => {
    request.routeConfig.validate?.(request, reply);
    rejectUnstorableId(request);
  };
  const assertForm: Guard | undefined =
    session && ((request) => (request.routeConfig.access === "session" ? session.assertForm(request) : undefined));
  const admitPayment: Guard | undefined =
    paymentGate && ((request, reply) => (isPaid(request) ? paymentGate.admit(request, reply) : undefined));
  const run = runInOrder([assertForm, validate, ...guards.map((guard) => guard.afterValidation), admitPayment]);
  return (request, reply, done) =>
    runForCaller(request.principal?.customerId ?? rateLimitPrefix(request.ip), () => run(request, reply, done));
}

/**
 * Combines steps into one hook. It awaits only steps that return a promise: most steps return none, and an unnecessary
 * await costs as much as the step itself.
 */
function runInOrder(guards: readonly (Guard | undefined)[]): Hook {
  const steps = guards.filter((guard) => guard !== undefined);
  const runFrom = (first: number, request: FastifyRequest, reply: FastifyReply, done: Done): void => {
    try {
      for (let index = first; index < steps.length; index++) {
        const result = steps[index]?.(request, reply);
        if (!(result instanceof Promise)) continue;
        // `reply.sent` stays false if a step has responded to a client that has disconnected.
        result.then(
          (hasResponded) => (hasResponded === true ? undefined : runFrom(index + 1, request, reply, done)),
          done,
        );
        return;
      }
    } catch (error) {
      done(error as Error);
      return;
    }
    done();
  };
  return (request, reply, done) => runFrom(0, request, reply, done);
}

function findRequestFormError(request: FastifyRequest, routes: RouteTable): AppError | null {
  if (request.raw.httpVersion === "1.1" && request.headers.host === undefined)
    return new AppError("bad_request", "The request has no Host header");
  if (request.is404) return createUnknownRouteError(request, routes);
  if (!isWellEncoded(request.raw.url ?? ""))
    return new AppError("bad_request", "The URL contains a malformed percent-encoding");
  return null;
}

/**
 * Counts a request that was rejected before or during authentication. Returns `error`, or the rate limit error if the IP
 * address has exceeded its limit.
 */
export async function resolveUnauthenticatedError(
  request: FastifyRequest,
  error: unknown,
  guards: readonly Guards[] = [],
): Promise<unknown> {
  // Server errors, such as an unavailable store, do not count towards the limit of the IP address.
  if (toProblem(error).status >= 500) return error;
  try {
    for (const { onUnauthenticated } of guards) await onUnauthenticated?.(request, error);
    return error;
  } catch (limitError) {
    return limitError;
  }
}

function createUnknownRouteError(request: FastifyRequest, routes: RouteTable): AppError {
  const methods = routes.methodsOf(request.raw.url ?? "");
  return methods.length === 0
    ? new AppError("not_found", "Not Found")
    : new AppError("method_not_allowed", "Method Not Allowed", { details: { allow: methods.join(", ") } });
}

/** Rejects an id in the path with a NUL character: the store cannot hold it, so nothing has that id. */
function rejectUnstorableId({ raw, params, routeConfig }: FastifyRequest): void {
  if (raw.url?.includes("%00") !== true) return;
  const texts: readonly unknown[] = Object.values(params ?? {});
  if (!texts.some((text) => typeof text === "string" && text.includes("\0"))) return;
  const code = routeConfig.errors?.find((name) => name.endsWith("_not_found")) ?? "not_found";
  throw new AppError(code, "Nothing has an id with a NUL character");
}

/** Rejects callers without a customer account on routes that need one, such as webhooks. */
function rejectWithoutAccount({ principal, routeConfig }: FastifyRequest): void {
  if (routeConfig.metering?.needsAccount !== true || principal?.kind === "customer") return;
  throw new AppError("account_required", "This endpoint needs an account of this service");
}

/** Rejects compressed bodies, because their decompressed size is unbounded. */
function rejectEncodedBody(request: FastifyRequest): void {
  const encoding = request.headers["content-encoding"];
  if (encoding === undefined || encoding === "" || encoding.toLowerCase() === "identity") return;
  throw new AppError("unsupported_media_type", "Send the body without a content encoding");
}
