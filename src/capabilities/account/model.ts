import type { EmailDelivery } from "../customers/index.ts";

/** Bot check of the sign-up form: the Turnstile site key, or the sandbox's fixed token; null hides the form. */
export type BotCheckField = { readonly siteKey: string } | { readonly token: string } | null;

/** The operator's settings for the account page. */
export interface AccountSettings {
  readonly botCheck: BotCheckField;
  /** Null without a mail server. A sandbox then displays the sign-in link, and a live server has no sign-in. */
  readonly emailDelivery: EmailDelivery | null;
  /** URL of the operator's page where customers upgrade. */
  readonly upgradeUrl?: string | null;
}
