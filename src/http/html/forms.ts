import type { FastifyInstance } from "fastify";
import Type from "typebox";
import { AppError } from "../../domain/errors.ts";
import { createOnce } from "../../lib/once.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Random } from "../../ports/random.ts";

export const FORM = "application/x-www-form-urlencoded";
const FORM_BYTES_MAX = 16 * 1024;
const FIELDS_MAX = 50;
const FORM_ID_BYTES = 10;

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

/** Names a form as it was shown to one person, so that pressing its button twice does its work once. */
export const newFormId = (random: Random): string => Buffer.from(random.bytes(FORM_ID_BYTES)).toString("hex");

export const FormId = Type.String({
  default: "",
  pattern: `^(?:[0-9a-f]{${2 * FORM_ID_BYTES}})?$`,
  description: "Of the page's form: within a minute the same one gives the same answer",
});

/**
 * What a form does, once for each time it was shown; a form without an id each time it comes. For `subject`, which is
 * what the form holds, so that whoever goes back and corrects it is heard.
 */
export function createFormSubmissions<Result>(scope: FastifyInstance, clock: Clock) {
  const once = createOnce<Result>(clock);
  scope.addHook("onClose", async () => once.clear());
  return (formId: string, subject: string, work: () => Promise<Result>): Promise<Result> =>
    formId === "" ? work() : once.run(`${formId} ${subject}`, work);
}

/** Whether a caller would rather have a page than JSON: a browser, which names HTML first. */
export function prefersHtml(accept: string | undefined): boolean {
  const html = accept?.indexOf("text/html") ?? -1;
  const json = accept?.indexOf("application/json") ?? -1;
  return html >= 0 && (json < 0 || html < json);
}
