import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from "fastify";
import { AppError } from "../domain/errors.ts";
import { METERING } from "../domain/metering.ts";
import type { Log } from "../ports/log.ts";
import type { Random } from "../ports/random.ts";
import { type AuthenticationOptions, authenticateRequest } from "./auth.ts";
import { answerExpectation, respondToClientError } from "./client-errors.ts";
import { type PageAnswer, type ProblemPage, sendPage } from "./html/define-page.ts";
import { closeUnusedConnections, createLifecycle, type Lifecycle } from "./lifecycle.ts";
import { DOCS_PREFIX, installOpenApi } from "./openapi.ts";
import { isPaid, type PaymentGate } from "./payment-gate.ts";
import { type Problem, prepareProblem, problem, toProblem } from "./problem.ts";
import { createRequestLog, describeError, routeOf } from "./request-log.ts";
import { sendHook } from "./response/send.ts";
import { createRouteTable, type RouteTable } from "./route-table.ts";
import { UnreadableBody } from "./validation/index.ts";
import { parseJson } from "./validation/json.ts";
import { isWellEncoded, parseQuery } from "./validation/query-string.ts";

const BODY_BYTES_MAX = 256 * 1024;
const HEADER_BYTES_MAX = 16 * 1024;
/** The whole request must have arrived by then; checked every `CONNECTION_CHECK_MS`. */
const REQUEST_TIMEOUT_MS = 10_000;
const HEADERS_TIMEOUT_MS = 8_000;
const CONNECTION_CHECK_MS = 2_000;
const REQUEST_ID = /^[A-Za-z0-9._-]{1,64}$/;
/** A multiple of 3 bytes is a whole number of base64 characters: ids cut from a longer text are ids of their own. */
const REQUEST_ID_BYTES = 12;
const REQUEST_ID_LENGTH = 16;
const REQUEST_IDS_AT_ONCE = 1_024;

declare module "fastify" {
  interface FastifyInstance {
    readonly lifecycle: Lifecycle;
    /** The one table that enforcement, prices, the description and the SDK read. */
    readonly routeTable: RouteTable;
  }
}

/** A step of a request's way; it throws to refuse, and gives a promise of true where it has answered by itself. */
type Guard = (request: FastifyRequest, reply: FastifyReply) => unknown;

/** Where others step in. The order of judgement is fixed: 401, minute limit, 403, 422, quota, 404, work. */
export interface Guards {
  /** Before anyone is known, for example a limit per address. */
  readonly beforeAuthentication?: Guard;
  /** Nothing good is known of who is calling, and finding out would cost a look into the store. */
  readonly beforeLookUp?: (request: FastifyRequest) => void;
  /** Refused before anybody was known; what it throws is told instead. */
  readonly refused?: (request: FastifyRequest, error: unknown) => Promise<void> | void;
  /** `request.principal` is set (null on public routes): minute limits, then what the plan may call. */
  readonly afterAuthentication?: Guard;
  /** Parameters and body are valid: quota, payment. */
  readonly afterValidation?: Guard;
  /** The status of the answer is known, and nothing of it is sent; must not throw. */
  readonly beforeSend?: (request: FastifyRequest, reply: FastifyReply) => void;
}

export interface HttpServerOptions {
  readonly log: Log;
  readonly random: Random;
  /** Told in `x-parallax-data` of every answer. */
  readonly data: "sandbox" | "live";
  readonly authentication: AuthenticationOptions;
  /** At each step in this order. */
  readonly guards?: readonly Guards[];
  /** Where requests without an account pay for themselves; nobody can where it is left out. */
  readonly till?: PaymentGate;
  /** The service's address as callers know it, for links; the Host header is never believed. */
  readonly publicUrl?: string | null;
  /** Addresses or CIDR ranges of proxies whose forwarding headers are believed; none by default. */
  readonly trustProxy?: readonly string[] | null;
  /** How people are told that nothing answers there; programs, and everybody where it is left out, get JSON. */
  readonly notFoundPage?: ProblemPage;
  /** Whether `/docs` is served. */
  readonly docs?: boolean;
  /** One of this many successful requests is logged. */
  readonly successLogSample?: number;
  /** Told of every answered request, with the route's pattern; for metrics. */
  readonly onAnswered?: (request: {
    route: string;
    method: string;
    status: number;
    seconds: number;
    code: string | null;
  }) => void;
}

/**
 * The server with everything that is the same for all routes: limits, errors, authentication, validation, caching,
 * compression, the log and the interface description. Routes are added with `defineRoute`.
 */
export async function createHttpServer(options: HttpServerOptions): Promise<FastifyInstance> {
  const { log, random, data } = options;
  const newRequestId = createRequestIds(random);
  const app = Fastify({
    bodyLimit: BODY_BYTES_MAX,
    requestTimeout: REQUEST_TIMEOUT_MS,
    http: {
      maxHeaderSize: HEADER_BYTES_MAX,
      headersTimeout: HEADERS_TIMEOUT_MS,
      connectionsCheckingInterval: CONNECTION_CHECK_MS,
      // Judged in `onRequest`: what Node answers by itself has no body and no request id.
      requireHostHeader: false,
    },
    // Longer than any request line can be: a long id is for the handler to call unknown.
    routerOptions: { maxParamLength: HEADER_BYTES_MAX, querystringParser: parseQuery },
    exposeHeadRoutes: false,
    forceCloseConnections: "idle",
    return503OnClosing: false,
    trustProxy: options.trustProxy == null ? false : [...options.trustProxy],
    requestIdHeader: false,
    genReqId: (request) => {
      const sent = request.headers["x-request-id"];
      return typeof sent === "string" && REQUEST_ID.test(sent) ? sent : newRequestId();
    },
    frameworkErrors: (error, request, reply) => {
      setCommonHeaders(request.id, reply, data);
      void refusalOf(request, error, options.guards).then((refusal) => {
        const answer = toProblem(refusal);
        sendProblem(reply, answer);
        const { id: requestId, method } = request;
        // No route was found, so no hook logs this one.
        log.info({ requestId, method, route: "(malformed URL)", status: answer.status }, "request");
      });
    },
    clientErrorHandler: (error, socket) => respondToClientError(error, socket, { data, requestId: newRequestId() }),
  });

  const routes = createRouteTable();
  app.decorate("lifecycle", createLifecycle());
  app.decorate("routeTable", routes);
  closeUnusedConnections(app);
  app.server.on("checkExpectation", (_request, response) =>
    answerExpectation(response, { data, requestId: newRequestId() }),
  );
  app.decorateRequest("principal", null);
  app.decorateRequest("checkedHeaders", null);
  app.decorateRequest("metered", null);
  app.decorateReply("problemCode", null);
  // Set before anything reads it.
  app.decorateRequest("routeConfig", null as never);
  // Requests are judged by `compileRequestValidator`, all parts at once and after authentication.
  app.setValidatorCompiler(() => () => true);
  installBodyParsers(app);
  installErrorHandlers(app, log, options.notFoundPage);
  app.addHook("onRoute", (route) => {
    if (route.url === DOCS_PREFIX || route.url.startsWith(`${DOCS_PREFIX}/`))
      route.config = { ...route.config, access: "public", metering: METERING.FREE };
    routes.add(route);
  });
  app.addHook("onRequest", onRequest(options, routes));
  app.addHook("preHandler", judge(options.guards ?? [], options.till));
  const logRequest = createRequestLog(log, options.successLogSample);
  const { onAnswered } = options;
  const note = (request: FastifyRequest, reply: FastifyReply): void => {
    logRequest(request, reply);
    onAnswered?.({
      route: routeOf(request),
      method: request.method,
      status: reply.statusCode,
      seconds: reply.elapsedTime / 1000,
      code: reply.problemCode,
    });
  };
  const beforeSend = (options.guards ?? []).flatMap((guards) => guards.beforeSend ?? []);
  const failed = ({ id: requestId }: FastifyRequest, error: unknown) =>
    log.error({ requestId, ...describeError(error) }, "an answer could not be sent");
  app.addHook("onSend", sendHook(app.lifecycle, { beforeSend, note, failed }, options.till));
  await installOpenApi(app, { publicUrl: options.publicUrl ?? null, docs: options.docs ?? true });
  return app;
}

/** Random ids, drawn many at once: drawing each by itself costs as much as finding its route. */
function createRequestIds(random: Random): () => string {
  let text = "";
  let at = 0;
  return () => {
    if (at >= text.length) {
      text = Buffer.from(random.bytes(REQUEST_IDS_AT_ONCE * REQUEST_ID_BYTES)).toString("base64url");
      at = 0;
    }
    at += REQUEST_ID_LENGTH;
    return text.slice(at - REQUEST_ID_LENGTH, at);
  };
}

/** The steps up to a known caller, in the fixed order of judgement, and the last look before a body is read. */
function onRequest(options: HttpServerOptions, routes: RouteTable) {
  const { guards = [], authentication, data } = options;
  const refuse = async (request: FastifyRequest, error: unknown): Promise<never> => {
    throw await refusalOf(request, error, guards);
  };
  const assertWellFormed: Guard = (request, reply) => {
    request.routeConfig = request.routeOptions.config;
    setCommonHeaders(request.id, reply, data);
    const fault = faultOf(request, routes);
    if (fault !== null) return refuse(request, fault);
  };
  const authenticate: Guard = (request) => {
    if (request.routeConfig.access === "public") return;
    const assertMayLookUp = () => {
      for (const { beforeLookUp } of guards) beforeLookUp?.(request);
    };
    try {
      const answer = authenticateRequest(request, authentication, assertMayLookUp);
      if (!(answer instanceof Promise)) {
        request.principal = answer;
        return;
      }
      return answer.then(
        (principal) => {
          request.principal = principal;
        },
        (error: unknown) => refuse(request, error),
      );
    } catch (error) {
      return refuse(request, error);
    }
  };
  return inTurn([
    assertWellFormed,
    ...guards.map((guard) => guard.beforeAuthentication),
    authenticate,
    ...guards.map((guard) => guard.afterAuthentication),
    refuseWithoutAccount,
    refuseEncodedBody,
  ]);
}

type Hook = (request: FastifyRequest, reply: FastifyReply, done: (error?: Error) => void) => void;

/**
 * One hook of several steps. It waits only for steps that give a promise: most requests meet none, and each needless
 * wait costs as much as the step itself.
 */
function inTurn(guards: readonly (Guard | undefined)[]): Hook {
  const steps = guards.filter((guard) => guard !== undefined);
  /** Gives whether a step has answered; `reply.sent` does not tell, because nothing is sent to a client that has gone. */
  const rest = async (first: Promise<unknown>, next: number, request: FastifyRequest, reply: FastifyReply) => {
    let answered = await first;
    for (let index = next; index < steps.length && answered !== true; index++)
      answered = await steps[index]?.(request, reply);
    return answered === true;
  };
  const start = (request: FastifyRequest, reply: FastifyReply): Promise<boolean> | undefined => {
    for (let index = 0; index < steps.length; index++) {
      const waiting = steps[index]?.(request, reply);
      if (waiting instanceof Promise) return rest(waiting, index + 1, request, reply);
    }
    return undefined;
  };
  return (request, reply, done) => {
    let waiting: Promise<boolean> | undefined;
    try {
      waiting = start(request, reply);
    } catch (error) {
      done(error as Error);
      return;
    }
    if (waiting === undefined) done();
    else waiting.then((answered) => (answered ? undefined : done()), done);
  };
}

function faultOf(request: FastifyRequest, routes: RouteTable): AppError | null {
  if (request.raw.httpVersion === "1.1" && request.headers.host === undefined)
    return new AppError("bad_request", "The request has no Host header");
  if (request.is404) return unknownRoute(request, routes);
  if (!isWellEncoded(request.raw.url ?? ""))
    return new AppError("bad_request", "The URL holds a malformed percent-encoding");
  return null;
}

/** What a request that is refused before anybody is known is told: why, or that its address has asked too often. */
async function refusalOf(request: FastifyRequest, error: unknown, guards: readonly Guards[] = []): Promise<unknown> {
  // A store that is away says nothing about the caller.
  if (toProblem(error).status >= 500) return error;
  try {
    for (const { refused } of guards) await refused?.(request, error);
    return error;
  } catch (limited) {
    return limited;
  }
}

function unknownRoute(request: FastifyRequest, routes: RouteTable): AppError {
  const methods = routes.methodsOf(request.raw.url ?? "");
  return methods.length === 0
    ? new AppError("not_found", "Not Found")
    : new AppError("method_not_allowed", "Method Not Allowed", { details: { allow: methods.join(", ") } });
}

/** Some routes do something for their caller later on: there has to be somebody who then still is there. */
function refuseWithoutAccount({ principal, routeConfig }: FastifyRequest): void {
  if (routeConfig.metering?.needsAccount !== true || principal?.kind === "customer") return;
  throw new AppError("account_required", "This endpoint needs an account of this service");
}

/** A compressed body could unfold to any size. */
function refuseEncodedBody(request: FastifyRequest): void {
  const encoding = request.headers["content-encoding"];
  if (encoding === undefined || encoding === "" || encoding.toLowerCase() === "identity") return;
  throw new AppError("unsupported_media_type", "Send the body without a content encoding");
}

function judge(guards: readonly Guards[], till: PaymentGate | undefined): Hook {
  const validate: Guard = (request, reply) => request.routeConfig.validate?.(request, reply);
  const pay: Guard | undefined =
    till && ((request, reply) => (isPaid(request) ? till.admit(request, reply) : undefined));
  return inTurn([validate, ...guards.map((guard) => guard.afterValidation), pay]);
}

function installBodyParsers(app: FastifyInstance): void {
  const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  const parse = (
    _request: FastifyRequest,
    bytes: Buffer,
    done: (error: Error | null, body?: unknown) => void,
  ): void => {
    done(null, readJson(bytes, utf8));
  };
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("application/json", { parseAs: "buffer" }, parse);
  app.addContentTypeParser(/^application\/[\w.-]+\+json\b/, { parseAs: "buffer" }, parse);
}

/** An empty body is an absent one; one that is not JSON is kept as its error until it is its turn to be judged. */
function readJson(bytes: Buffer, utf8: InstanceType<typeof TextDecoder>): unknown {
  if (bytes.length === 0) return undefined;
  let text: string;
  try {
    text = utf8.decode(bytes);
  } catch {
    return new UnreadableBody(0, "Invalid UTF-8");
  }
  const result = parseJson(text);
  return result.ok ? result.value : new UnreadableBody(result.position, result.error);
}

function installErrorHandlers(app: FastifyInstance, log: Log, notFoundPage: ProblemPage | undefined): void {
  app.setErrorHandler((error, request, reply) => {
    const answer = toProblem(error);
    const problemPage = request.is404 ? notFoundPage : request.routeConfig?.problemPage;
    const page = problemPage?.(answer.status, error, request) ?? null;
    const send = () => (page === null ? sendProblem(reply, answer) : sendProblemPage(reply, answer, page));
    if (answer.status >= 500) {
      const fields = {
        requestId: request.id,
        method: request.method,
        route: request.routeOptions.url,
        status: answer.status,
      };
      // A probe asking too early or too late is told so and is nothing to log: the line of the request says it.
      if (isPassing(error)) return send();
      if (answer.status === 500) log.error({ ...fields, ...describeError(error) }, "request failed");
      else log.warn({ ...fields, ...describeError(error) }, "request failed");
    }
    return send();
  });
  // The hook above has answered by then; this only keeps the framework's own body from ever being sent.
  app.setNotFoundHandler((_request, reply) => sendProblem(reply, problem(404, "not_found", "Not Found")));
}

function isPassing(error: unknown): boolean {
  return error instanceof AppError && (error.code === "starting" || error.code === "draining");
}

function setCommonHeaders(requestId: string, reply: FastifyReply, data: string): void {
  reply.header("x-request-id", requestId);
  reply.header("x-content-type-options", "nosniff");
  reply.header("x-parallax-data", data);
}

function sendProblem(reply: FastifyReply, answer: Problem): FastifyReply {
  return reply.send(prepareProblem(reply, answer));
}

function sendProblemPage(reply: FastifyReply, answer: Problem, page: PageAnswer): FastifyReply {
  prepareProblem(reply, answer);
  return sendPage(reply, answer.status, page);
}
