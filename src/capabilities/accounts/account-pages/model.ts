import type { EmailDelivery } from "../customers/index.ts";

/** Bot check of the sign-up form: the Turnstile site key, or the sandbox's fixed token; null hides the form. */
export type BotCheckField = { readonly siteKey: string } | { readonly token: string } | null;

/** The operator's settings for the account page. */
export interface AccountSettings {
  readonly botCheck: BotCheckField;
  /** Null without a mail server. */
  readonly emailDelivery: EmailDelivery | null;
  /**
   * Whether pages display sign-in links instead of e-mailing them: only in a sandbox that listens on loopback and has no
   * mail server. Without a mail server and displayed links there is no sign-in. Default false.
   */
  readonly displaysLinks?: boolean;
  /** URL of the operator's page where customers upgrade. */
  readonly upgradeUrl?: string | null;
}
