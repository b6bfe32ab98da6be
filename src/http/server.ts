import { createServer } from "node:http";
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from "fastify";
import { roundNumbers } from "../lib/round-numbers.ts";
import type { Clock } from "../ports/clock.ts";
import type { Log } from "../ports/log.ts";
import type { Random } from "../ports/random.ts";
import type { AuthenticationOptions } from "./auth.ts";
import { installBodyParsers } from "./body-parsers.ts";
import { respondToClientError, respondToExpectation, respondToRefusal } from "./client-errors.ts";
import { ConnectionLimits, type ConnectionMaxima } from "./connection-limits.ts";
import { installErrorHandlers, sendProblem } from "./error-handlers.ts";
import type { ProblemPage } from "./html/problem-pages.ts";
import { Lifecycle } from "./lifecycle.ts";
import { installOpenApi } from "./openapi.ts";
import type { PaymentGate } from "./payment-gate.ts";
import { setCommonHeaders, toProblem } from "./problem.ts";
import { createRequestLog, describeError, routeOf } from "./request-log.ts";
import {
  createAuthenticationHook,
  createValidationHook,
  type Guards,
  resolveUnauthenticatedError,
} from "./request-pipeline.ts";
import { createSendHook } from "./response/send.ts";
import { compileSerializer } from "./response/serializer.ts";
import { createRouteTable, type RouteTable } from "./route-table.ts";
import { parseQuery } from "./validation/query-string.ts";

const BODY_BYTES_MAX = 256 * 1024;
const HEADER_BYTES_MAX = 16 * 1024;
/** Maximum time to receive a complete request. */
const REQUEST_TIMEOUT_MS = 10_000;
const HEADERS_TIMEOUT_MS = 8_000;
/**
 * Short, because Node closes all connections that have timed out since the last check in one turn of the event loop.
 */
const CONNECTION_CHECK_INTERVAL_MS = 25;
/**
 * Node closes an idle connection one second later, so that a client that waits exactly this long is not disconnected.
 */
const KEEP_ALIVE_TIMEOUT_MS = 10_000;
const REQUEST_ID_PATTERN = /^[A-Za-z0-9._-]{1,64}$/;
/** A multiple of 3, so that each id of a batch starts at a base64 character boundary. */
const REQUEST_ID_BYTES = 12;
const REQUEST_ID_LENGTH = 16;
const REQUEST_ID_BATCH_SIZE = 1_024;

declare module "fastify" {
  interface FastifyRequest {
    /** When the headers of the request were parsed, in monotonic milliseconds; null for requests rejected before. */
    startedAt: number | null;
  }
  interface FastifyInstance {
    readonly lifecycle: Lifecycle;
    readonly connectionLimits: ConnectionLimits;
    /** Whether the data is simulated; sent as `x-parallax-data` with every response. */
    readonly data: "sandbox" | "live";
    /** Public base URL of the service; null if not configured. */
    readonly publicUrl: string | null;
    /** The registered routes with their metering. */
    readonly routeTable: RouteTable;
  }
}

/** A response and its request, for statistics. */
export interface ObservedResponse {
  readonly request: FastifyRequest;
  /** The route's pattern. */
  readonly route: string;
  readonly method: string;
  readonly status: number;
  readonly seconds: number;
  /** The error code of the response; null if it is successful. */
  readonly code: string | null;
}

export interface HttpServerOptions {
  readonly clock: Clock;
  readonly log: Log;
  readonly random: Random;
  /** Sent as `x-parallax-data` with every response. */
  readonly data: "sandbox" | "live";
  readonly authentication: AuthenticationOptions;
  /** Extensions of the request pipeline, called in array order. */
  readonly guards?: readonly Guards[];
  /** Accepts payments for single requests. If omitted, payments are not accepted. */
  readonly paymentGate?: PaymentGate;
  /** Public base URL of the service, used in links. The Host header is never trusted. */
  readonly publicUrl?: string | null;
  /** IP addresses or CIDR ranges of proxies whose forwarding headers are trusted; none by default. */
  readonly trustProxy?: readonly string[] | null;
  /** Origins whose scripts may use all API routes. Public GET routes permit every origin. */
  readonly corsOrigins?: readonly string[];
  /** Limits of connections; the defaults are in `connection-limits.ts`. */
  readonly connections?: Partial<ConnectionMaxima>;
  /** HTML page that browsers receive for unknown paths. Other clients receive JSON. */
  readonly notFoundPage?: ProblemPage;
  /** Maximum number of successful requests logged per second; the others are only counted. */
  readonly successLogsPerSecond?: number;
  /** Called for every response, before its body is sent; used by the metrics and the usage of customers. */
  readonly onResponse?: (response: ObservedResponse) => void;
}

/**
 * Creates the server with the functions that all routes share: limits, errors, authentication, validation, caching,
 * compression, logging and the OpenAPI document. Routes are added with `defineRoute`.
 */
export async function createHttpServer(options: HttpServerOptions): Promise<FastifyInstance> {
  const { log, random, data, guards = [] } = options;
  const generateRequestId = createRequestIdGenerator(random);
  const connectionLimits = new ConnectionLimits({
    clock: options.clock,
    log,
    maxima: options.connections,
    trustProxy: options.trustProxy ?? null,
    respondToRefusal: (socket, reason) => respondToRefusal(socket, reason, { data, requestId: generateRequestId() }),
  });
  const app = Fastify({
    bodyLimit: BODY_BYTES_MAX,
    serverFactory: (handle) => {
      const server = createServer(
        {
          maxHeaderSize: HEADER_BYTES_MAX,
          requestTimeout: REQUEST_TIMEOUT_MS,
          headersTimeout: HEADERS_TIMEOUT_MS,
          keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
          connectionsCheckingInterval: CONNECTION_CHECK_INTERVAL_MS,
          // The `onRequest` hook checks the Host header, because Node's error response has no body and no request id.
          requireHostHeader: false,
        },
        connectionLimits.handleInTurn(handle),
      );
      connectionLimits.attach(server);
      return server;
    },
    // Longer than any request line, so that requests with long ids reach their handler, which returns 404.
    routerOptions: { maxParamLength: HEADER_BYTES_MAX, querystringParser: parseQuery },
    exposeHeadRoutes: false,
    forceCloseConnections: "idle",
    return503OnClosing: false,
    trustProxy: options.trustProxy == null ? false : [...options.trustProxy],
    requestIdHeader: false,
    genReqId: (request) => {
      const clientRequestId = request.headers["x-request-id"];
      return typeof clientRequestId === "string" && REQUEST_ID_PATTERN.test(clientRequestId)
        ? clientRequestId
        : generateRequestId();
    },
    frameworkErrors: (frameworkError, request, reply) => {
      setCommonHeaders(request.id, reply, data);
      void resolveUnauthenticatedError(request, frameworkError, guards).then((error) => {
        const problem = toProblem(error);
        sendProblem(reply, problem);
        const { id: requestId, method } = request;
        // Fastify runs no hook for a malformed URL, so the request is logged here.
        log.info({ requestId, method, route: "(malformed URL)", status: problem.status }, "request");
      });
    },
    clientErrorHandler: (error, socket) =>
      respondToClientError(error, socket, { data, requestId: generateRequestId() }),
  });

  const routes = createRouteTable();
  app.decorate("lifecycle", new Lifecycle());
  app.decorate("connectionLimits", connectionLimits);
  app.decorate("data", data);
  app.decorate("publicUrl", options.publicUrl ?? null);
  app.decorate("routeTable", routes);
  app.addHook("preClose", (done) => {
    connectionLimits.closeUnused();
    done();
  });
  app.server.on("checkExpectation", (_request, response) =>
    respondToExpectation(response, { data, requestId: generateRequestId() }),
  );
  app.decorateRequest("principal", null);
  app.decorateRequest("checkedHeaders", null);
  app.decorateRequest("startedAt", null);
  app.decorateRequest("metered", null);
  app.decorateRequest("isDeferred", false);
  app.decorateReply("problemCode", null);
  // The `onRequest` hook sets the value before other code reads it.
  app.decorateRequest("routeConfig", null as never);
  // `compileRequestValidator` validates all parts of a request together, after authentication.
  app.setValidatorCompiler(() => () => true);
  app.setSerializerCompiler(compileSerializer);
  installBodyParsers(app);
  installErrorHandlers(app, log, options.notFoundPage);
  app.addHook("onRoute", (route) => routes.add(route));
  app.addHook("onRequest", createAuthenticationHook(options, routes));
  app.addHook("preHandler", createValidationHook(guards, options.paymentGate, options.authentication.session));
  const logRequest = createRequestLog(log, options.clock, options.successLogsPerSecond);
  const onSent = (request: FastifyRequest, reply: FastifyReply): void => {
    // Fastify's `reply.elapsedTime` is always 0 without its logger and without an `onResponse` hook.
    const durationMs = request.startedAt === null ? 0 : options.clock.monotonic() - request.startedAt;
    logRequest(request, reply, durationMs);
    options.onResponse?.({
      request,
      route: routeOf(request),
      method: request.method,
      status: reply.statusCode,
      seconds: durationMs / 1000,
      code: reply.problemCode,
    });
  };
  const beforeSend = guards.flatMap((guard) => guard.beforeSend ?? []);
  const onSendError = ({ id: requestId }: FastifyRequest, error: unknown) =>
    log.error({ requestId, ...describeError(error) }, "failed to send the response");
  app.addHook("preSerialization", (_request, _reply, payload, done) => done(null, roundNumbers(payload)));
  app.addHook("onSend", createSendHook(app.lifecycle, { beforeSend, onSent, onSendError }, options.paymentGate));
  await installOpenApi(app, { publicUrl: options.publicUrl ?? null });
  return app;
}

/** Returns a generator of random ids. It reads random bytes in batches, because a read per id would be slow. */
function createRequestIdGenerator(random: Random): () => string {
  let batch = "";
  let offset = 0;
  return () => {
    if (offset >= batch.length) {
      batch = Buffer.from(random.bytes(REQUEST_ID_BATCH_SIZE * REQUEST_ID_BYTES)).toString("base64url");
      offset = 0;
    }
    offset += REQUEST_ID_LENGTH;
    return batch.slice(offset - REQUEST_ID_LENGTH, offset);
  };
}
