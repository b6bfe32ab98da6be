import type { OutgoingMail } from "../../ports/mail-out.ts";
import { linkEmail } from "../customers/index.ts";
import { LINK_MS } from "../sessions/index.ts";

export const LINK_MINUTES = LINK_MS / 60_000;

/** The letter by which a customer signs in. */
export function signInEmail(to: string, link: string): OutgoingMail {
  return linkEmail({
    to,
    subject: "Sign in to Parallax",
    before: ["Hello,", "to sign in to your Parallax account, follow this link and press the button there:"],
    link,
    after: `The link works once, for ${LINK_MINUTES} minutes. If you did not ask for it, do nothing: nobody is signed in.`,
  });
}
