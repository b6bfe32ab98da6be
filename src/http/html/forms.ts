import type { FastifyInstance } from "fastify";
import Type from "typebox";
import { AppError } from "../../domain/errors.ts";
import { createIdempotencyCache } from "../../lib/idempotency-cache.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Random } from "../../ports/random.ts";

export const FORM_CONTENT_TYPE = "application/x-www-form-urlencoded";
const FORM_BYTES_MAX = 16 * 1024;
const FORM_FIELDS_MAX = 50;
const FORM_ID_BYTES = 10;

/**
 * Makes the routes of one scope (`app.register`) accept HTML forms in addition to JSON: the body becomes an object of
 * strings. Duplicate fields are rejected, because parsers disagree on which one wins.
 */
export function acceptForms(scope: FastifyInstance): void {
  scope.addContentTypeParser(
    FORM_CONTENT_TYPE,
    { parseAs: "string", bodyLimit: FORM_BYTES_MAX },
    (_request, text, done) => {
      const entries = [...new URLSearchParams(String(text))];
      const fields = new Map(entries);
      if (entries.length > FORM_FIELDS_MAX || fields.size < entries.length) {
        done(new AppError("bad_request", "The form is malformed"), undefined);
        return;
      }
      done(null, Object.fromEntries(fields));
    },
  );
}

/** A random id for one rendered form, used to process repeated submissions of the form only once. */
export const createFormId = (random: Random): string => Buffer.from(random.bytes(FORM_ID_BYTES)).toString("hex");

export const FormId = Type.String({
  default: "",
  pattern: `^(?:[0-9a-f]{${2 * FORM_ID_BYTES}})?$`,
  description:
    "Identifies the form this request was submitted from. Submitting the same form again within a minute returns the same result.",
});

/**
 * Makes form submissions idempotent: repeated submissions with the same form id and `subject` share one result for a
 * minute. `subject` holds the submitted values, so a corrected form is processed again. A form without an id is
 * processed on every submission.
 */
export function createFormSubmissions<Result>(scope: FastifyInstance, clock: Clock) {
  const once = createIdempotencyCache<Result>(clock);
  scope.addHook("onClose", async () => once.clear());
  return (formId: string, subject: string, work: () => Promise<Result>): Promise<Result> =>
    formId === "" ? work() : once.run(`${formId} ${subject}`, work);
}

/** Whether the `Accept` header lists HTML before JSON, as browsers do. */
export function prefersHtml(accept: string | undefined): boolean {
  const html = accept?.indexOf("text/html") ?? -1;
  const json = accept?.indexOf("application/json") ?? -1;
  return html >= 0 && (json < 0 || html < json);
}
