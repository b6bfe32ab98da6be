import type { FastifyReply, FastifyRequest } from "fastify";
import { AppError } from "../domain/errors.ts";
import { type AuthenticationOptions, authenticateRequest } from "./auth.ts";
import { isPaid, type PaymentGate } from "./payment-gate.ts";
import { setCommonHeaders, toProblem } from "./problem.ts";
import type { RouteTable } from "./route-table.ts";
import { isWellEncoded } from "./validation/query-string.ts";

/** A step of request processing. Throws to reject the request; a promise of `true` means it has sent the response. */
type Guard = (request: FastifyRequest, reply: FastifyReply) => unknown;

/** Extension points of the pipeline. The order of checks is fixed: 401, minute limit, 403, 422, quota, 404, handler. */
export interface Guards {
  /** Before authentication, for example a limit per address. */
  readonly beforeAuthentication?: Guard;
  /** Before a credential that is not in the cache is looked up in the store. */
  readonly beforeLookup?: (request: FastifyRequest) => void;
  /** For requests rejected before or during authentication. An error thrown here replaces the original error. */
  readonly onUnauthenticated?: (request: FastifyRequest, error: unknown) => Promise<void> | void;
  /** `request.principal` is set (null on public routes): minute limits, then the plan. */
  readonly afterAuthentication?: Guard;
  /** Parameters and body are valid: quota, payment. */
  readonly afterValidation?: Guard;
  /** The status of the response is final, and nothing is sent yet. Must not throw. */
  readonly beforeSend?: (request: FastifyRequest, reply: FastifyReply) => void;
}

type Hook = (request: FastifyRequest, reply: FastifyReply, done: (error?: Error) => void) => void;

/** The `onRequest` hook: all checks up to an authenticated caller, and the checks that precede reading the body. */
export function authenticationHook(
  options: {
    readonly guards?: readonly Guards[];
    readonly authentication: AuthenticationOptions;
    readonly data: "sandbox" | "live";
  },
  routes: RouteTable,
): Hook {
  const { guards = [], authentication, data } = options;
  const reject = async (request: FastifyRequest, error: unknown): Promise<never> => {
    throw await unauthenticatedError(request, error, guards);
  };
  const checkForm: Guard = (request, reply) => {
    request.routeConfig = request.routeOptions.config;
    setCommonHeaders(request.id, reply, data);
    const error = findFormError(request, routes);
    if (error !== null) return reject(request, error);
  };
  const authenticate: Guard = (request) => {
    if (request.routeConfig.access === "public") return;
    const assertMayLookUp = () => {
      for (const { beforeLookup } of guards) beforeLookup?.(request);
    };
    try {
      const principal = authenticateRequest(request, authentication, assertMayLookUp);
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
    checkForm,
    ...guards.map((guard) => guard.beforeAuthentication),
    authenticate,
    ...guards.map((guard) => guard.afterAuthentication),
    rejectWithoutAccount,
    rejectEncodedBody,
  ]);
}

/** The `preHandler` hook: validation, quota, payment. */
export function validationHook(guards: readonly Guards[], paymentGate: PaymentGate | undefined): Hook {
  const validate: Guard = (request, reply) => request.routeConfig.validate?.(request, reply);
  const pay: Guard | undefined =
    paymentGate && ((request, reply) => (isPaid(request) ? paymentGate.admit(request, reply) : undefined));
  return runInOrder([validate, ...guards.map((guard) => guard.afterValidation), pay]);
}

/**
 * Combines steps into one hook. It awaits only steps that return a promise: most requests have none, and an unnecessary
 * await costs as much as the step itself.
 */
function runInOrder(guards: readonly (Guard | undefined)[]): Hook {
  const steps = guards.filter((guard) => guard !== undefined);
  /** Resolves to whether a step has responded. `reply.sent` stays false if the client has disconnected. */
  const continueFrom = async (first: Promise<unknown>, next: number, request: FastifyRequest, reply: FastifyReply) => {
    let hasResponded = await first;
    for (let index = next; index < steps.length && hasResponded !== true; index++)
      hasResponded = await steps[index]?.(request, reply);
    return hasResponded === true;
  };
  const start = (request: FastifyRequest, reply: FastifyReply): Promise<boolean> | undefined => {
    for (let index = 0; index < steps.length; index++) {
      const result = steps[index]?.(request, reply);
      if (result instanceof Promise) return continueFrom(result, index + 1, request, reply);
    }
    return undefined;
  };
  return (request, reply, done) => {
    let pending: Promise<boolean> | undefined;
    try {
      pending = start(request, reply);
    } catch (error) {
      done(error as Error);
      return;
    }
    if (pending === undefined) done();
    else pending.then((hasResponded) => (hasResponded ? undefined : done()), done);
  };
}

function findFormError(request: FastifyRequest, routes: RouteTable): AppError | null {
  if (request.raw.httpVersion === "1.1" && request.headers.host === undefined)
    return new AppError("bad_request", "The request has no Host header");
  if (request.is404) return unknownRoute(request, routes);
  if (!isWellEncoded(request.raw.url ?? ""))
    return new AppError("bad_request", "The URL contains a malformed percent-encoding");
  return null;
}

/** The error to return for a request rejected before authentication: `error`, or that its address is rate-limited. */
export async function unauthenticatedError(
  request: FastifyRequest,
  error: unknown,
  guards: readonly Guards[] = [],
): Promise<unknown> {
  // A failure of ours, such as an unavailable store, does not count against the address.
  if (toProblem(error).status >= 500) return error;
  try {
    for (const { onUnauthenticated } of guards) await onUnauthenticated?.(request, error);
    return error;
  } catch (limitError) {
    return limitError;
  }
}

function unknownRoute(request: FastifyRequest, routes: RouteTable): AppError {
  const methods = routes.methodsOf(request.raw.url ?? "");
  return methods.length === 0
    ? new AppError("not_found", "Not Found")
    : new AppError("method_not_allowed", "Method Not Allowed", { details: { allow: methods.join(", ") } });
}

/** Routes that act for the caller later, such as webhooks, need a customer account. */
function rejectWithoutAccount({ principal, routeConfig }: FastifyRequest): void {
  if (routeConfig.metering?.needsAccount !== true || principal?.kind === "customer") return;
  throw new AppError("account_required", "This endpoint needs an account of this service");
}

/** A compressed body could expand to any size. */
function rejectEncodedBody(request: FastifyRequest): void {
  const encoding = request.headers["content-encoding"];
  if (encoding === undefined || encoding === "" || encoding.toLowerCase() === "identity") return;
  throw new AppError("unsupported_media_type", "Send the body without a content encoding");
}
