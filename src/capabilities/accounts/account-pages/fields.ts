import { AppError, type ErrorCode, InvalidRequestError } from "../../../domain/errors.ts";
import { describeProblem, type Html, html } from "../../../http/html/index.ts";
import { isObject } from "../../../lib/is-object.ts";
import { FIELD_LENGTH_MAX } from "./schema.ts";

/** The CSRF token and the form id that every form of a signed-in page contains. */
export interface FormSecrets {
  readonly token: string;
  readonly id: string;
}

/** Returns the value of a form field; the empty string if the body is not a form or lacks the field. */
export function readSubmittedField(body: unknown, name: string): string {
  const value = isObject(body) ? body[name] : undefined;
  return typeof value === "string" ? value.slice(0, FIELD_LENGTH_MAX) : "";
}

/** Why a form was rejected. */
export interface FormError {
  /** The name of the invalid field; null if the error belongs to no field. */
  readonly field: string | null;
  readonly message: string;
}

/** A rejected form submission: the error and the submitted values. */
export interface RejectedForm {
  readonly error: FormError;
  readonly values: Readonly<Record<string, string>>;
}

const FIELDS_BY_CODE: Partial<Record<ErrorCode, string>> = { email_taken: "email", key_name_taken: "name" };
const BOT_CHECK_MESSAGE = "Wait for the bot check below to finish, then submit the form again.";

/** Converts an error to the message of a form. Of several validation errors, returns the first. */
export function toFormError(status: number, error: unknown): FormError {
  if (error instanceof InvalidRequestError) {
    const [item] = error.errors;
    if (item !== undefined)
      return { field: String(item.loc.at(-1)), message: toSentence(item.msg.replace(/^Value error, /, "")) };
  }
  const code = error instanceof AppError ? error.code : null;
  if (code === "bot_check_failed") return { field: null, message: BOT_CHECK_MESSAGE };
  const field = code === null ? null : (FIELDS_BY_CODE[code] ?? null);
  return { field, message: toSentence(describeProblem(status, error)) };
}

const toSentence = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1).replace(/[.]?$/, ".")}`;

export const renderHiddenFields = (
  form: FormSecrets,
): Html => html`<input type="hidden" name="csrf" value="${form.token}">
${renderFormIdField(form.id)}`;

export const renderFormIdField = (formId: string): Html => html`<input type="hidden" name="form" value="${formId}">`;

/**
 * Renders an input with its label. An invalid field gets the focus: browsers scroll to it, and screen readers read its
 * label and error.
 */
export function renderField(field: {
  /** Unique in the document. */
  readonly id: string;
  readonly name: string;
  readonly label: string;
  readonly type?: "text" | "email" | "password";
  readonly autocomplete?: string;
  readonly lengthMax: number;
  readonly isOptional?: boolean;
  readonly rejected?: RejectedForm | null;
}): Html {
  const { id, name, label, lengthMax, isOptional = false, rejected = null } = field;
  const message = rejected?.error.field === name ? rejected.error.message : null;
  return html`<label for="${id}">${label}${isOptional ? html` <span class="faint">(optional)</span>` : null}</label>
<input id="${id}" name="${name}" type="${field.type ?? "text"}" autocomplete="${field.autocomplete ?? "off"}" maxlength="${lengthMax}" value="${rejected?.values[name] ?? ""}"${isOptional ? null : html` required`}${message === null ? null : html` aria-invalid="true" aria-describedby="${id}-error" autofocus`}>
${message === null ? null : html`<p class="error" id="${id}-error">${message}</p>`}`;
}

/** Renders an error that belongs to none of the form's fields. */
export const renderFormError = (rejected: RejectedForm | null, fields: readonly string[]): Html | null =>
  rejected === null || fields.includes(rejected.error.field ?? "")
    ? null
    : html`<p class="error" role="alert">${rejected.error.message}</p>`;
