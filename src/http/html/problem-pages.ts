import type { FastifyRequest } from "fastify";
import { AppError, type ErrorCode, InvalidRequestError } from "../../domain/errors.ts";
import type { HtmlPage } from "./define-page.ts";
import { prefersHtml } from "./forms.ts";
import { noticePage } from "./layout.ts";

const TITLES: Readonly<Record<number, string>> = {
  401: "You’re signed out",
  403: "Request refused",
  404: "Not found",
  405: "Not found",
  409: "That didn’t work",
  413: "That’s too large",
  422: "Please check the form",
  429: "Too many attempts",
};

/** Replaces messages that are written for API clients. */
const MESSAGES: Partial<Record<ErrorCode, string>> = {
  not_found: "There is no page at this address.",
  method_not_allowed: "There is no form at this address.",
};

export const problemTitle = (status: number): string =>
  TITLES[status] ?? (status >= 500 ? "Something went wrong" : "Invalid request");

/** The error as one message for users, without internal details. */
export function problemText(status: number, error: unknown): string {
  if (error instanceof AppError) return MESSAGES[error.code] ?? error.message;
  if (error instanceof InvalidRequestError)
    return error.errors.map(({ loc, msg }) => `${String(loc.at(-1))}: ${msg.replace(/^Value error, /, "")}`).join("; ");
  return status < 500 ? "The form is invalid." : "Please try again in a moment.";
}

/** The error page for errors that cannot be displayed in the form itself. */
export const problemPage = (status: number, error: unknown): HtmlPage => ({
  html: noticePage(problemTitle(status), problemText(status, error)),
});

/** An error page for browsers; null (JSON) for other clients. */
export const browserProblemPage = (status: number, error: unknown, { headers }: FastifyRequest): HtmlPage | null =>
  prefersHtml(headers.accept) ? problemPage(status, error) : null;

/** The not-found page. Paths under `/v1/` always return JSON. */
export const notFoundPage = (status: number, error: unknown, request: FastifyRequest): HtmlPage | null =>
  request.url.startsWith("/v1/") ? null : browserProblemPage(status, error, request);
