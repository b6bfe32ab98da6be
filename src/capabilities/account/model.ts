import type { EmailDelivery, IssuedKey } from "../customers/index.ts";
import type { Session } from "../sessions/index.ts";

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

/** The operations of the account page. */
export interface AccountPage {
  /**
   * Sends a sign-in link if an account has this address. The result does not reveal whether an account exists or whether
   * the e-mail was suppressed by the rate limit.
   *
   * @param address  the caller's network address
   * @returns the link's token if the page displays it: only in a sandbox without a mail server, and only for an existing
   *   account
   * @throws InvalidRequestError for an invalid e-mail address; AppError `rate_limited`, `mail_unavailable`
   */
  requestLink(email: string, address: string): Promise<{ readonly shownToken: string | null }>;
  /** Proves the user's identity with an API key of the account. @throws AppError `proof_required`, `rate_limited` */
  prove(session: Session, apiKey: string): Promise<void>;
  /**
   * Creates a key. Repeated submissions of one form create one key and return it each time.
   *
   * @param formId  id of the submitted form
   * @throws AppError `proof_required`, `key_name_taken`, `key_limit_reached`
   */
  createKey(session: Session, name: string, formId: string): Promise<IssuedKey>;
  /** Idempotent like `createKey`. @throws AppError `proof_required`, `key_not_found` */
  rotateKey(session: Session, keyId: string, formId: string): Promise<IssuedKey>;
  /** Succeeds if the key is already revoked. @throws AppError `proof_required`, `key_not_found` */
  revokeKey(session: Session, keyId: string): Promise<void>;
  /** Tries to send the queued e-mails once more. */
  stop(): Promise<void>;
}
