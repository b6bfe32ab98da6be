import { html } from "../../http/html/index.ts";
import type { OutgoingMail } from "../../ports/mail-out.ts";
import type { Actor, KeyView } from "./model.ts";

const VERIFICATION_LINK_HOURS = 24;

/** An e-mail with one link, as text and HTML. */
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
    text: [...before, link, after].join("\n\n").concat("\n"),
    html: String(html`<!doctype html><html lang="en"><meta charset="utf-8"><title>${subject}</title>
${before.map((text) => html`<p>${text}</p>`)}
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
export function createKeyEmail(
  to: string,
  key: Pick<KeyView, "name" | "prefix"> & { readonly change: KeyChange; readonly actor: Actor; readonly at: Date },
  accountUrl: string,
): OutgoingMail {
  const { name, prefix, change, actor, at } = key;
  const time = `${at.toISOString().slice(0, 16).replace("T", " ")} UTC`;
  return createLinkEmail({
    to,
    subject: "An API key of your Parallax account was changed",
    before: [
      "Hello,",
      `The API key "${name}" (${prefix}…) was ${change} on ${time}, ${ACTOR_DESCRIPTIONS[actor.kind]}.`,
      "If this was you, you don’t need to do anything. If not, sign in, sign out everywhere and revoke all keys that you don’t recognise:",
    ],
    link: accountUrl,
    after: "We e-mail you about every key change, at most twenty times a day.",
  });
}

/** Requests confirmation of a sign-up. Contains no user input, so that it cannot be abused to send spam. */
export function createVerificationEmail(to: string, link: string): OutgoingMail {
  return createLinkEmail({
    to,
    subject: "Confirm your e-mail address for Parallax",
    before: [
      "Hello,",
      "Someone, hopefully you, signed up for Parallax with this e-mail address.",
      "To confirm the address and get your API key, open this link and select the button on the page:",
    ],
    link,
    after: `The link works once and expires after ${VERIFICATION_LINK_HOURS} hours. If this wasn’t you, ignore this e-mail.`,
  });
}
