import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from "fastify";
import { METERING } from "../domain/metering.ts";
import type { Log } from "../ports/log.ts";
import type { Random } from "../ports/random.ts";
import type { AuthenticationOptions } from "./auth.ts";
import { installBodyParsers } from "./body-parsers.ts";
import { respondToClientError, respondToExpectation } from "./client-errors.ts";
import { installErrorHandlers, sendProblem } from "./error-handlers.ts";
import type { ProblemPage } from "./html/define-page.ts";
import { closeUnusedConnections, Lifecycle } from "./lifecycle.ts";
import { DOCS_PREFIX, installOpenApi } from "./openapi.ts";
import type { PaymentGate } from "./payment-gate.ts";
import { setCommonHeaders, toProblem } from "./problem.ts";
import { createRequestLog, describeError, routeOf } from "./request-log.ts";
import { authenticationHook, type Guards, unauthenticatedError, validationHook } from "./request-pipeline.ts";
import { sendHook } from "./response/send.ts";
import { RouteTable } from "./route-table.ts";
import { parseQuery } from "./validation/query-string.ts";

const BODY_BYTES_MAX = 256 * 1024;
const HEADER_BYTES_MAX = 16 * 1024;
/** Maximum time for a whole request to arrive; checked every `CONNECTION_CHECK_MS`. */
const REQUEST_TIMEOUT_MS = 10_000;
const HEADERS_TIMEOUT_MS = 8_000;
const CONNECTION_CHECK_MS = 2_000;
const REQUEST_ID = /^[A-Za-z0-9._-]{1,64}$/;
/** A multiple of 3, so that the ids of a batch do not share base64 characters. */
const REQUEST_ID_BYTES = 12;
const REQUEST_ID_LENGTH = 16;
const REQUEST_ID_BATCH_SIZE = 1_024;

declare module "fastify" {
  interface FastifyInstance {
    readonly lifecycle: Lifecycle;
    /** The single source for enforcement, prices, the OpenAPI document and the SDK. */
    readonly routeTable: RouteTable;
  }
}

export interface HttpServerOptions {
  readonly log: Log;
  readonly random: Random;
  /** Sent as `x-parallax-data` with every response. */
  readonly data: "sandbox" | "live";
  readonly authentication: AuthenticationOptions;
  /** Run in this order at each step of the pipeline. */
  readonly guards?: readonly Guards[];
  /** Accepts payments for single requests. If omitted, no request can pay for itself. */
  readonly paymentGate?: PaymentGate;
  /** Public base URL of the service, used in links. The Host header is never trusted. */
  readonly publicUrl?: string | null;
  /** Addresses or CIDR ranges of proxies whose forwarding headers are trusted; none by default. */
  readonly trustProxy?: readonly string[] | null;
  /** HTML page for unknown paths, for browsers. Other clients receive JSON, as do all clients if it is omitted. */
  readonly notFoundPage?: ProblemPage;
  /** Whether `/docs` is served. */
  readonly docs?: boolean;
  /** Every n-th successful request is logged. */
  readonly successLogSample?: number;
  /** Called for every response, with the route's pattern; for metrics. */
  readonly onResponse?: (request: {
    route: string;
    method: string;
    status: number;
    seconds: number;
    code: string | null;
  }) => void;
}

/**
 * Creates the server with everything that all routes share: limits, errors, authentication, validation, caching,
 * compression, logging and the OpenAPI document. Routes are added with `defineRoute`.
 */
export async function createHttpServer(options: HttpServerOptions): Promise<FastifyInstance> {
  const { log, random, data, guards = [] } = options;
  const newRequestId = createRequestIds(random);
  const app = Fastify({
    bodyLimit: BODY_BYTES_MAX,
    requestTimeout: REQUEST_TIMEOUT_MS,
    http: {
      maxHeaderSize: HEADER_BYTES_MAX,
      headersTimeout: HEADERS_TIMEOUT_MS,
      connectionsCheckingInterval: CONNECTION_CHECK_MS,
      // Checked in `onRequest`: Node's own response has no body and no request id.
      requireHostHeader: false,
    },
    // Longer than any request line, so that handlers answer long ids with 404.
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
    frameworkErrors: (frameworkError, request, reply) => {
      setCommonHeaders(request.id, reply, data);
      void unauthenticatedError(request, frameworkError, guards).then((error) => {
        const response = toProblem(error);
        sendProblem(reply, response);
        const { id: requestId, method } = request;
        // No route matched, so no hook logs this request.
        log.info({ requestId, method, route: "(malformed URL)", status: response.status }, "request");
      });
    },
    clientErrorHandler: (error, socket) => respondToClientError(error, socket, { data, requestId: newRequestId() }),
  });

  const routes = new RouteTable();
  app.decorate("lifecycle", new Lifecycle());
  app.decorate("routeTable", routes);
  closeUnusedConnections(app);
  app.server.on("checkExpectation", (_request, response) =>
    respondToExpectation(response, { data, requestId: newRequestId() }),
  );
  app.decorateRequest("principal", null);
  app.decorateRequest("checkedHeaders", null);
  app.decorateRequest("metered", null);
  app.decorateReply("problemCode", null);
  // The `onRequest` hook sets it before any other code reads it.
  app.decorateRequest("routeConfig", null as never);
  // `compileRequestValidator` validates all parts of a request together, after authentication.
  app.setValidatorCompiler(() => () => true);
  installBodyParsers(app);
  installErrorHandlers(app, log, options.notFoundPage);
  app.addHook("onRoute", (route) => {
    if (route.url === DOCS_PREFIX || route.url.startsWith(`${DOCS_PREFIX}/`))
      route.config = { ...route.config, access: "public", metering: METERING.FREE };
    routes.add(route);
  });
  app.addHook("onRequest", authenticationHook(options, routes));
  app.addHook("preHandler", validationHook(guards, options.paymentGate));
  const logRequest = createRequestLog(log, options.successLogSample);
  const onSent = (request: FastifyRequest, reply: FastifyReply): void => {
    logRequest(request, reply);
    options.onResponse?.({
      route: routeOf(request),
      method: request.method,
      status: reply.statusCode,
      seconds: reply.elapsedTime / 1000,
      code: reply.problemCode,
    });
  };
  const beforeSend = guards.flatMap((guard) => guard.beforeSend ?? []);
  const onFailed = ({ id: requestId }: FastifyRequest, error: unknown) =>
    log.error({ requestId, ...describeError(error) }, "failed to send the response");
  app.addHook("onSend", sendHook(app.lifecycle, { beforeSend, onSent, onFailed }, options.paymentGate));
  await installOpenApi(app, { publicUrl: options.publicUrl ?? null, docs: options.docs ?? true });
  return app;
}

/** Generates random ids in batches: one call per id would cost as much as routing the request. */
function createRequestIds(random: Random): () => string {
  let batch = "";
  let at = 0;
  return () => {
    if (at >= batch.length) {
      batch = Buffer.from(random.bytes(REQUEST_ID_BATCH_SIZE * REQUEST_ID_BYTES)).toString("base64url");
      at = 0;
    }
    at += REQUEST_ID_LENGTH;
    return batch.slice(at - REQUEST_ID_LENGTH, at);
  };
}
