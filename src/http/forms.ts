import type { FastifyInstance } from "fastify";
import { AppError } from "../domain/errors.ts";

const FORM = "application/x-www-form-urlencoded";
const FORM_BYTES_MAX = 16 * 1024;
const FIELDS_MAX = 50;

/**
 * Lets the routes of one scope (`app.register`) read HTML forms beside JSON: the body is an object of texts. A field that
 * is sent twice is refused, because readers differ on which one counts.
 */
export function acceptForms(scope: FastifyInstance): void {
  scope.addContentTypeParser(FORM, { parseAs: "string", bodyLimit: FORM_BYTES_MAX }, (_request, text, done) => {
    const entries = [...new URLSearchParams(String(text))];
    const fields = new Map(entries);
    if (entries.length > FIELDS_MAX || fields.size < entries.length) {
      done(new AppError("bad_request", "The form is malformed"), undefined);
      return;
    }
    done(null, Object.fromEntries(fields));
  });
}

/** Whether a caller would rather have a page than JSON: a browser, which names HTML first. */
export function prefersHtml(accept: string | undefined): boolean {
  const html = accept?.indexOf("text/html") ?? -1;
  const json = accept?.indexOf("application/json") ?? -1;
  return html >= 0 && (json < 0 || html < json);
}
