import type { FastifyInstance, FastifyReply } from "fastify";
import { AppError } from "../domain/errors.ts";
import type { Log } from "../ports/log.ts";
import { type HtmlPage, type ProblemPage, sendPage } from "./html/define-page.ts";
import { type Problem, prepareProblem, problem, toProblem } from "./problem.ts";
import { describeError } from "./request-log.ts";

/** Turns every error into a response: JSON, or an HTML page where the route has one. Logs 5xx. */
export function installErrorHandlers(app: FastifyInstance, log: Log, notFoundPage: ProblemPage | undefined): void {
  app.setErrorHandler((error, request, reply) => {
    const response = toProblem(error);
    const problemPage = request.is404 ? notFoundPage : request.routeConfig?.problemPage;
    const page = problemPage?.(response.status, error, request) ?? null;
    // The request log already has a line for a probe during start or shutdown.
    if (response.status >= 500 && !isLifecycleError(error)) {
      const level = response.status === 500 ? "error" : "warn";
      const { id: requestId, method } = request;
      const fields = { requestId, method, route: request.routeOptions.url, status: response.status };
      log[level]({ ...fields, ...describeError(error) }, "request failed");
    }
    return page === null ? sendProblem(reply, response) : sendProblemPage(reply, response, page);
  });
  // The `onRequest` hook already rejects unknown routes. This replaces the framework's own response body.
  app.setNotFoundHandler((_request, reply) => sendProblem(reply, problem(404, "not_found", "Not Found")));
}

export function sendProblem(reply: FastifyReply, response: Problem): FastifyReply {
  return reply.send(prepareProblem(reply, response));
}

function sendProblemPage(reply: FastifyReply, response: Problem, page: HtmlPage): FastifyReply {
  prepareProblem(reply, response);
  return sendPage(reply, response.status, page);
}

function isLifecycleError(error: unknown): boolean {
  return error instanceof AppError && (error.code === "starting" || error.code === "draining");
}
