import type { FastifyInstance, FastifyRequest } from "fastify";
import { AppError, type ErrorCode } from "../../domain/errors.ts";
import { METERING } from "../../domain/metering.ts";
import { errorText, type PageAnswer } from "./define-page.ts";
import { prefersHtml } from "./forms.ts";
import { noticePage } from "./layout.ts";
import { STYLE, STYLE_URL } from "./style.ts";

/** The file that every page's look comes from. */
export function pageRoutes(app: FastifyInstance): void {
  app.get(
    STYLE_URL,
    {
      config: { access: "public", metering: METERING.FREE, cacheControl: "public, max-age=31536000, immutable" },
      schema: { hide: true },
    },
    (_request, reply) => reply.type("text/css; charset=utf-8").send(STYLE),
  );
}

/** What is wrong, to a person. */
const TITLES: Readonly<Record<number, string>> = {
  401: "You are signed out",
  403: "This was refused",
  404: "There is no such thing",
  405: "There is no such thing",
  409: "This cannot be done",
  413: "This is too much",
  422: "Something in the form is not right",
  429: "Too many attempts",
};

/** Where the message is made for programs. */
const TEXTS: Partial<Record<ErrorCode, string>> = {
  not_found: "No page has this address.",
  method_not_allowed: "No form is sent to this address.",
};

export const problemTitle = (status: number): string =>
  TITLES[status] ?? (status >= 500 ? "This does not work at the moment" : "This cannot be read");

/** What a person is told of a failure, on a page of ours. */
export function problemText(status: number, error: unknown): string {
  const own = error instanceof AppError ? TEXTS[error.code] : undefined;
  return (
    own ?? errorText(error) ?? (status < 500 ? "This is not a form that this page has." : "Try again in a moment.")
  );
}

/** The page of a failure for whoever cannot be told in the form itself. */
export const problemPage = (status: number, error: unknown): PageAnswer => ({
  html: noticePage(problemTitle(status), problemText(status, error)),
});

/** The same for browsers; null, and so JSON, for programs. */
export const browserProblemPage = (status: number, error: unknown, { headers }: FastifyRequest): PageAnswer | null =>
  prefersHtml(headers.accept) ? problemPage(status, error) : null;

/** Beside the interface for programs, whose addresses are never a page. */
export const notFoundPage = (status: number, error: unknown, request: FastifyRequest): PageAnswer | null =>
  request.url.startsWith("/v1/") ? null : browserProblemPage(status, error, request);
