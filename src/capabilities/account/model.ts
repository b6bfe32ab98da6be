import type { EmailDelivery } from "../customers/index.ts";

/** The bot check of the sign-up form: the widget's site key, or the fixed token of a sandbox; null disables sign-up here. */
export type BotCheckField = { readonly siteKey: string } | { readonly token: string } | null;

/** The operator's settings for the account page. */
export interface AccountSettings {
  readonly botCheck: BotCheckField;
  /** Null without a mail server: then only a sandbox has sign-in, and displays the link on the page. */
  readonly emailDelivery: EmailDelivery | null;
  /** The operator's page where customers upgrade. */
  readonly upgradeUrl?: string | null;
}
