import { html } from "../../http/html/index.ts";
import type { OutgoingMail } from "../../ports/mail-out.ts";
import type { Actor, KeyView } from "./model.ts";

const VERIFY_HOURS = 24;

/** A letter whose point is one link, as text and as HTML. */
export function linkEmail(letter: {
  readonly to: string;
  readonly subject: string;
  readonly before: readonly string[];
  readonly link: string;
  readonly after: string;
}): OutgoingMail {
  const { to, subject, before, link, after } = letter;
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

export type KeyChange = "made" | "replaced by another" | "revoked";

const CHANGED_BY: Readonly<Record<Actor["kind"], string>> = {
  signup: "by signing up",
  key: "by a request that showed a key of the account",
  session: "on the account's page",
  operator: "by the operators of the service",
};

/** Tells the owner of a change of keys. It holds nothing that opens anything. */
export function keyEmail(
  to: string,
  key: Pick<KeyView, "name" | "prefix"> & { readonly change: KeyChange; readonly actor: Actor; readonly at: Date },
  accountUrl: string,
): OutgoingMail {
  const { name, prefix, change, actor, at } = key;
  const time = `${at.toISOString().slice(0, 16).replace("T", " ")} UTC`;
  return linkEmail({
    to,
    subject: "An API key of your Parallax account has changed",
    before: [
      "Hello,",
      `on ${time} the API key "${name}" (${prefix}…) was ${change}, ${CHANGED_BY[actor.kind]}.`,
      "If that was you, there is nothing to do. If not, sign in, sign out everywhere, and revoke every key that you do not know:",
    ],
    link: accountUrl,
    after: "Each change of a key is told by such a letter, up to twenty a day.",
  });
}

/**
 * The letter that asks whether somebody has indeed signed up. Whoever did not asks for nothing by doing nothing. It holds
 * no word of who asked: strangers would write to strangers by it.
 */
export function verificationEmail(to: string, link: string): OutgoingMail {
  return linkEmail({
    to,
    subject: "Confirm your e-mail address for Parallax",
    before: [
      "Hello,",
      "someone, you we hope, has asked for a Parallax account with this e-mail address.",
      "To open the account and see its API key, follow this link and press the button there:",
    ],
    link,
    after: `The link works once, for ${VERIFY_HOURS} hours. If it was not you, do nothing: no account is opened.`,
  });
}
