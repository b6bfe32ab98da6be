import type { OutgoingMail } from "../../ports/mail-out.ts";
import { linkEmail } from "../customers/index.ts";
import { LINK_MS } from "../sessions/index.ts";

export const LINK_MINUTES = LINK_MS / 60_000;

/** The e-mail with a sign-in link. */
export function signInEmail(to: string, link: string): OutgoingMail {
  return linkEmail({
    to,
    subject: "Sign in to Parallax",
    before: ["Hello,", "Open this link and select “Sign in” to sign in to your Parallax account:"],
    link,
    after: `The link works once and expires after ${LINK_MINUTES} minutes. If this wasn’t you, ignore this e-mail.`,
  });
}
