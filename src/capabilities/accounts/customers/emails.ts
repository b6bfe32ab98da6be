import { html } from "../../../http/html/index.ts";
import type { OutgoingMail } from "../../../ports/mail-out.ts";
import { type Actor, EMAIL_CHANGE_LINK_MS, type KeyView } from "./model.ts";

const VERIFICATION_LINK_HOURS = 24;

/** An e-mail with one link, as text and HTML. @param email.before  paragraphs between the salutation and the link */
export function createLinkEmail(email: {
  readonly to: string;
  readonly subject: string;
  readonly before: readonly string[];
  readonly link: string;
  readonly after: string;
}): OutgoingMail {
  const { to, subject, before, link, after } = email;
  return {
    to,
    subject,
    text: ["Hello,", ...before, link, after].join("\n\n").concat("\n"),
    html: String(html`<!doctype html><html lang="en"><meta charset="utf-8"><title>${subject}</title>
${["Hello,", ...before].map((text) => html`<p>${text}</p>`)}
<p><a href="${link}">${link}</a></p>
<p>${after}</p></html>`),
  };
}

export type KeyChange = "created" | "replaced" | "revoked";

const ACTOR_DESCRIPTIONS: Readonly<Record<Actor["kind"], string>> = {
  signup: "during sign-up",
  key: "by an API request with a key of your account",
  session: "on the account page",
  operator: "by an operator of the service",
};

/** Notifies the owner of a key change. Contains no secret. */
export function createKeyChangeEmail(
  to: string,
  key: Pick<KeyView, "name" | "prefix"> & { readonly change: KeyChange; readonly actor: Actor; readonly at: Date },
  accountUrl: string,
): OutgoingMail {
  const { name, prefix, change, actor, at } = key;
  return createLinkEmail({
    to,
    subject: "An API key of your Parallax account was changed",
    before: [
      `The API key "${name}" (${prefix}…) was ${change} on ${formatMinute(at)}, ${ACTOR_DESCRIPTIONS[actor.kind]}.`,
      "If this was you, you don’t need to do anything. If not, sign in, sign out everywhere and revoke all keys that you don’t recognise:",
    ],
    link: accountUrl,
    after: "We e-mail you about every key change, at most twenty times a day.",
  });
}

/** Notifies the owner that the account was deleted. */
export function createDeletionEmail(to: string, actor: Actor, at: Date, signUpUrl: string): OutgoingMail {
  return createLinkEmail({
    to,
    subject: "Your Parallax account was deleted",
    before: [
      `Your Parallax account was deleted on ${formatMinute(at)}, ${ACTOR_DESCRIPTIONS[actor.kind]}. Its API keys no longer work, and your data was erased.`,
      "You can sign up again with this e-mail address at any time:",
    ],
    link: signUpUrl,
    after: "If this wasn’t you, contact support. A deleted account cannot be restored.",
  });
}

/** Requests confirmation of a new e-mail address. */
export function createEmailChangeEmail(to: string, link: string): OutgoingMail {
  return createLinkEmail({
    to,
    subject: "Confirm your new e-mail address for Parallax",
    before: [
      "Someone, hopefully you, wants to use this e-mail address for a Parallax account.",
      "To confirm, open this link in the browser in which you are signed in, and select the button on the page:",
    ],
    link,
    after: `The link works once and expires after ${EMAIL_CHANGE_LINK_MS / 60_000} minutes. If this wasn’t you, ignore this e-mail.`,
  });
}

/** Sent instead of `createEmailChangeEmail` to an address that another account has. */
export function createAddressTakenEmail(to: string, accountUrl: string): OutgoingMail {
  return createLinkEmail({
    to,
    subject: "This e-mail address already has a Parallax account",
    before: [
      "Someone, hopefully you, wants to use this e-mail address for another Parallax account. It already has one, so nothing was changed.",
      "Sign in to the account of this address:",
    ],
    link: accountUrl,
    after: "If this wasn’t you, ignore this e-mail.",
  });
}

/** Notifies the previous address of a change. Contains the new address only in part. */
export function createEmailChangedEmail(to: string, email: string, at: Date, publicUrl: string): OutgoingMail {
  return createLinkEmail({
    to,
    subject: "The e-mail address of your Parallax account was changed",
    before: [
      `The e-mail address of your Parallax account was changed to ${maskEmail(email)} on ${formatMinute(at)}, on the account page. Sign-in links no longer come to this address.`,
      "If this was you, you don’t need to do anything. If not, contact support immediately.",
    ],
    link: `${publicUrl}/account`,
    after: "All other browsers were signed out.",
  });
}

/** Keeps the first character and the domain, so that the owner recognises the address. */
export const maskEmail = (email: string): string => email.replace(/^(.)[^@]*/u, "$1…");

/** @example formatMinute(new Date(0)) // "1970-01-01 00:00 UTC" */
export const formatMinute = (at: Date): string => `${at.toISOString().slice(0, 16).replace("T", " ")} UTC`;

/** Requests confirmation of a sign-up. Contains no user input, so that it cannot be abused to send spam. */
export function createVerificationEmail(to: string, publicUrl: string, token: string): OutgoingMail {
  return createLinkEmail({
    to,
    subject: "Confirm your e-mail address for Parallax",
    before: [
      "Someone, hopefully you, signed up for Parallax with this e-mail address.",
      "To confirm the address and get your API key, open this link and select the button on the page:",
    ],
    link: `${publicUrl}/v1/customers/verify?token=${token}`,
    after: `The link works once and expires after ${VERIFICATION_LINK_HOURS} hours. If this wasn’t you, ignore this e-mail.`,
  });
}
