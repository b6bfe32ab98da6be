import type { FastifyRequest } from "fastify";
import { AppError, type ErrorCode, InvalidRequestError } from "../../domain/errors.ts";
import { prefersHtml } from "./forms.ts";
import { renderNoticePage } from "./layout.ts";

export interface HtmlPage {
  readonly html: string;
  /** The only external origin whose scripts and frames the page may load; none by default. */
  readonly scriptOrigin?: string;
}

/** Renders an error as a page. Returns null to send the error as JSON. */
export type ProblemPage = (status: number, error: unknown, request: FastifyRequest) => HtmlPage | null;

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

/** Renders the page for errors that are not displayed in a form. */
export const renderProblemPage = (status: number, error: unknown): HtmlPage => ({
  html: renderNoticePage(selectProblemTitle(status), describeProblem(status, error)),
});

/** Renders an error page for browsers. Returns null for other clients, which receive JSON. */
export const renderBrowserProblemPage: ProblemPage = (status, error, { headers }) =>
  prefersHtml(headers.accept) ? renderProblemPage(status, error) : null;

/** Renders the not-found page. Returns null for paths under `/v1/`, which always return JSON. */
export const renderNotFoundPage: ProblemPage = (status, error, request) =>
  request.url.startsWith("/v1/") ? null : renderBrowserProblemPage(status, error, request);
