import { html } from "../../lib/html.ts";
import type { OutgoingMail } from "../../ports/mail-out.ts";

const VERIFY_HOURS = 24;

/** A letter whose point is one link, as text and as HTML. */
export function linkLetter(letter: {
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

/**
 * The letter that asks whether somebody has indeed signed up. Whoever did not asks for nothing by doing nothing. It holds
 * no word of who asked: strangers would write to strangers by it.
 */
export function verificationLetter(to: string, link: string): OutgoingMail {
  return linkLetter({
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
