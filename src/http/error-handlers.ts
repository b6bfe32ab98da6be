import type { FastifyInstance, FastifyReply } from "fastify";
import { AppError } from "../domain/errors.ts";
import type { Log } from "../ports/log.ts";
import { sendPage } from "./html/define-page.ts";
import type { Page } from "./html/page.ts";
import { createProblemPage, type ProblemPage } from "./html/problem-pages.ts";
import { createProblem, type Problem, prepareProblem, toProblem } from "./problem.ts";
import { describeError } from "./request-log.ts";

/** Converts errors to responses: an HTML page if the route has one, otherwise JSON. Logs 5xx errors. */
export function installErrorHandlers(app: FastifyInstance, log: Log, notFoundPage: ProblemPage | undefined): void {
  app.setErrorHandler((error, request, reply) => {
    const problem = toProblem(error);
    const problemPage = request.is404 ? notFoundPage : request.routeConfig?.problemPage;
    const page = problemPage?.(problem.status, error, request) ?? null;
    const send = (shown: Page | null) => {
      const body = prepareProblem(reply, problem);
      return shown === null ? reply.send(body) : sendPage(reply, problem.status, shown);
    };
    // Rejections during start and shutdown are expected, and the request log has a line for each.
    if (problem.status >= 500 && !isLifecycleError(error)) {
      const level = problem.status === 500 ? "error" : "warn";
      const { id: requestId, method } = request;
      const fields = { requestId, method, route: request.routeOptions.url, status: problem.status };
      log[level]({ ...fields, ...describeError(error) }, "request failed");
    }
    if (!(page instanceof Promise)) return send(page);
    return page.catch(() => createProblemPage(problem.status, error)).then(send);
  });
  // Fallback: replaces Fastify's default 404 body, which has another format.
  app.setNotFoundHandler((_request, reply) => sendProblem(reply, createProblem(404, "not_found", "Not Found")));
}

export function sendProblem(reply: FastifyReply, problem: Problem): FastifyReply {
  return reply.send(prepareProblem(reply, problem));
}

function isLifecycleError(error: unknown): boolean {
  return error instanceof AppError && (error.code === "starting" || error.code === "draining");
}
