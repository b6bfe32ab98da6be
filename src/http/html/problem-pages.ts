import type { FastifyRequest } from "fastify";
import { AppError, type ErrorCode, InvalidRequestError } from "../../domain/errors.ts";
import { createNoticePage } from "./components.ts";
import { prefersHtml } from "./forms.ts";
import type { Page } from "./page.ts";

/** The page for an error. Returns null to send the error as JSON. If it rejects, `createProblemPage` is used. */
export type ProblemPage = (
  status: number,
  error: unknown,
  request: FastifyRequest,
) => Page | null | Promise<Page | null>;

const TITLES_BY_STATUS: Readonly<Record<number, string>> = {
  401: "You’re signed out",
  403: "Request refused",
  404: "Not found",
  405: "Not found",
  409: "That didn’t work",
  413: "That’s too large",
  422: "Please check the form",
  429: "Too many attempts",
};

/** Messages for users that replace the messages for API clients. */
const MESSAGES_BY_CODE: Partial<Record<ErrorCode, string>> = {
  not_found: "There is no page at this address.",
  method_not_allowed: "There is no form at this address.",
};

export const selectProblemTitle = (status: number): string =>
  TITLES_BY_STATUS[status] ?? (status >= 500 ? "Something went wrong" : "Invalid request");

/** Returns the error as one message for users, without internal details. */
export function describeProblem(status: number, error: unknown): string {
  if (error instanceof AppError) return MESSAGES_BY_CODE[error.code] ?? error.message;
  if (error instanceof InvalidRequestError)
    return error.errors.map(({ loc, msg }) => `${String(loc.at(-1))}: ${msg.replace(/^Value error, /, "")}`).join("; ");
  return status < 500 ? "The form is invalid." : "Please try again in a moment.";
}

/** The page for errors that are not displayed in a form. */
export const createProblemPage = (status: number, error: unknown): Page =>
  createNoticePage(selectProblemTitle(status), describeProblem(status, error));

/** The error page for browsers; null for other clients, which receive JSON. */
export const createBrowserProblemPage = (status: number, error: unknown, { headers }: FastifyRequest): Page | null =>
  prefersHtml(headers.accept) ? createProblemPage(status, error) : null;

/** The not-found page; null for paths under `/v1/`, which always return JSON. */
export const createNotFoundPage: ProblemPage = (status, error, request) =>
  request.url.startsWith("/v1/") ? null : createBrowserProblemPage(status, error, request);
