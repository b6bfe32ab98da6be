import { type Html, html, type Page, renderTable } from "../../../http/html/index.ts";
import { type Account, EMAIL_CHANGE_LINK_MS, formatMinute, maskEmail } from "../customers/index.ts";
import type { SessionView } from "../sessions/index.ts";
import { createConfirmationPage, createSignedInPage } from "./account-layout.ts";
import { type FormSecrets, type RejectedForm, renderField, renderFormError, renderHiddenFields } from "./fields.ts";
import { formatDay } from "./format.ts";

const SETTINGS_PATH = "/account/settings";
const EMAIL_LENGTH_MAX = 254;

export interface SettingsView {
  readonly account: Account;
  readonly form: FormSecrets;
  /** The reauthentication form; null if the customer signed in or reauthenticated recently. */
  readonly proof: Html | null;
  /** Whether links can be sent or displayed. */
  readonly canChangeEmail: boolean;
  readonly pendingEmail: { readonly email: string; readonly expiresAt: Date } | null;
  readonly sessions: readonly SessionView[];
  readonly sessionId: string;
}

export function createSettingsPage(view: SettingsView): Page {
  const { account, form, proof } = view;
  return createSignedInPage({
    title: "Settings",
    current: SETTINGS_PATH,
    form,
    body: html`${proof}
<section>
<h2>Account</h2>
<dl>
<dt>E-mail</dt><dd>${account.email ?? "none"}</dd>
${account.name === null ? null : html`<dt>Name</dt><dd>${account.name}</dd>`}
<dt>Customer ID</dt><dd><code class="id">${account.customerId}</code></dd>
<dt>Customer since</dt><dd>${formatDay(account.createdAt)}</dd>
</dl>
</section>
${renderEmailSection(view)}
${renderSessionsSection(view)}
<section>
<h2>Delete account</h2>
<p>Deletes your account, your API keys and your data. This cannot be undone.</p>
<p><a href="/account/delete">Delete account</a></p>
</section>`,
  });
}

function renderEmailSection({ form, proof, canChangeEmail, pendingEmail }: SettingsView): Html {
  if (!canChangeEmail)
    return html`<section>
<h2>Change e-mail</h2>
<p>You can’t change your e-mail because this server sends no e-mail.</p>
</section>`;
  return html`<section>
<h2>Change e-mail</h2>
${pendingEmail === null ? null : renderPendingEmail(pendingEmail, form, proof === null)}
${proof === null ? renderEmailForm(form, null) : html`<p>Confirm that it’s you to change your e-mail.</p>`}
</section>`;
}

const renderPendingEmail = (
  { email, expiresAt }: { readonly email: string; readonly expiresAt: Date },
  form: FormSecrets,
  isProven: boolean,
): Html => html`<div class="pending">
<p>Waiting for you to confirm <strong>${email}</strong> until ${formatMinute(expiresAt)}.</p>
<div class="actions">
${
  isProven
    ? html`<form method="post" action="/account/email">
${renderHiddenFields(form)}
<input type="hidden" name="email" value="${email}">
<button class="quiet" type="submit">Resend e-mail</button>
</form>`
    : null
}
<form method="post" action="/account/email/cancel">
<input type="hidden" name="csrf" value="${form.token}">
<button class="quiet" type="submit">Cancel change</button>
</form>
</div>
</div>`;

const renderEmailForm = (
  form: FormSecrets,
  rejected: RejectedForm | null,
): Html => html`${renderFormError(rejected, ["email"])}
<form method="post" action="/account/email">
${renderHiddenFields(form)}
${renderField({ id: "new-email", name: "email", label: "New e-mail", type: "email", autocomplete: "email", lengthMax: EMAIL_LENGTH_MAX, rejected })}
<p class="actions"><button type="submit">Change e-mail</button>${rejected === null ? null : html` <a href="${SETTINGS_PATH}">Cancel</a>`}</p>
</form>`;

/** The form to change the e-mail address, with the error of its last submission. */
export const createRejectedEmailPage = (form: FormSecrets, rejected: RejectedForm): Page =>
  createSignedInPage({
    title: "Change e-mail",
    current: SETTINGS_PATH,
    form,
    body: html`<section class="narrow">${renderEmailForm(form, rejected)}</section>`,
  });

/** Identical for every address, so that it does not reveal which addresses have an account. */
export const createEmailChangeSentPage = (form: FormSecrets, email: string): Page =>
  createSignedInPage({
    title: "Check your e-mail",
    current: SETTINGS_PATH,
    form,
    body: html`<section class="narrow">
<p>We’ve sent an e-mail to <strong>${email}</strong>. Open its link in this browser to change your e-mail. The link works once and expires after ${EMAIL_CHANGE_LINK_MS / 60_000} minutes. We send at most one e-mail per minute and three per day.</p>
<form method="post" action="/account/email">
${renderHiddenFields(form)}
<input type="hidden" name="email" value="${email}">
<p class="actions"><button class="quiet" type="submit">Resend e-mail</button> <a href="${SETTINGS_PATH}">Back to settings</a></p>
</form>
</section>`,
  });

/** Displays the link in a sandbox without a mail server. @param token  null if another account has the address */
export const createDisplayedEmailLinkPage = (form: FormSecrets, token: string | null): Page =>
  createSignedInPage({
    title: token === null ? "E-mail in use" : "Confirm your new e-mail",
    current: SETTINGS_PATH,
    form,
    body: html`<section class="narrow">
${
  token === null
    ? html`<p>Another account of this sandbox has this e-mail. A live server never shows this.</p>`
    : html`<p>This sandbox has no mail server, so the link is shown here instead of being e-mailed. A live server never shows it.</p>
<p><a href="/account/email/confirm?token=${token}">Confirm your new e-mail</a></p>`
}
<p><a href="${SETTINGS_PATH}">Back to settings</a></p>
</section>`,
  });

/** Requires a click, because mail scanners follow links. */
export const createConfirmEmailPage = (form: FormSecrets, token: string, email: string): Page =>
  createSignedInPage({
    title: "Change e-mail",
    current: SETTINGS_PATH,
    form,
    body: html`<section class="narrow">
<p>Change the e-mail of your account to <strong>${maskEmail(email)}</strong>. All other browsers are signed out.</p>
<form method="post" action="/account/email/confirm">
${renderHiddenFields(form)}
<input type="hidden" name="token" value="${token}">
<p class="actions"><button type="submit">Change e-mail</button> <a href="${SETTINGS_PATH}">Cancel</a></p>
</form>
</section>`,
  });

const renderSessionsSection = ({ sessions, sessionId }: SettingsView): Html => html`<section>
<h2>Sessions</h2>
${renderTable(
  ["Browser", "Signed in", "Last used"],
  sessions.map((session) => ({
    cells: [
      session.sessionId === sessionId ? html`<strong>This browser</strong>` : "Another browser",
      formatMinute(session.startedAt),
      formatMinute(session.lastSeenAt),
    ],
  })),
)}
<p><a href="/account/sign-out-everywhere">Sign out everywhere</a></p>
</section>`;

export const createSignOutEverywherePage = (form: FormSecrets): Page =>
  createConfirmationPage({
    title: "Sign out everywhere",
    current: SETTINGS_PATH,
    form,
    action: "/account/sign-out-everywhere",
    text: html`<p>Signs out all browsers, including this one, and invalidates your sign-in link. Your API keys keep working.</p>`,
    button: "Sign out everywhere",
  });

/** @param confirmation  what the customer must type: the e-mail address, or the customer id if there is none */
export const createDeleteAccountPage = (form: FormSecrets, confirmation: string, rejected: RejectedForm | null): Page =>
  createConfirmationPage({
    title: "Delete account",
    current: SETTINGS_PATH,
    form,
    action: "/account/delete",
    text: html`<p>Your API keys stop working immediately. We erase your e-mail, name, keys, sessions, usage and requests. This cannot be undone.</p>
<p>We keep your calls per month, for accounting, and the audit log. They contain your customer ID, but neither your e-mail nor names. Server logs and backups are not changed. You can sign up again with the same e-mail.</p>
${renderFormError(rejected, ["confirmation"])}
<p>To confirm, enter <strong>${confirmation}</strong>.</p>`,
    fields: html`<input type="hidden" name="expected" value="${confirmation}">
${renderField({ id: "confirmation", name: "confirmation", label: confirmation.includes("@") ? "E-mail" : "Customer ID", lengthMax: 320, rejected })}`,
    button: "Delete account",
  });

export const createAccountDeletedPage = (): Page => ({
  title: "Your account was deleted",
  section: "account",
  body: html`<section class="narrow">
<p>Your API keys no longer work, and your data was erased. You can sign up again at any time.</p>
<p><a href="/account">Sign up</a></p>
</section>`,
});
