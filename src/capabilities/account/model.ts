import type { EmailDelivery, IssuedKey } from "../customers/index.ts";
import type { Session } from "../sessions/index.ts";

/** How a person who signs up shows to be none of the bots: the widget's site key, or a sandbox's token; null for not at all. */
export type BotCheckField = { readonly siteKey: string } | { readonly token: string } | null;

/** What the operator has set up for the account's page. */
export interface AccountSettings {
  readonly botCheck: BotCheckField;
  /** Null where no letters go out: then nobody can sign in, but for a sandbox, which shows the link itself. */
  readonly letters: EmailDelivery | null;
  /** Where customers ask for or buy a larger plan, an address of the operator's. */
  readonly upgradeUrl?: string | null;
}

/** What signed-in customers, and those who want to be, can do on the page. */
export interface AccountPage {
  /**
   * Sends a link to whoever has this address. The answer is the same whether anybody has, and whether a letter was held
   * back because the mailbox has had enough of them.
   *
   * @param address  the caller's network address
   * @returns the link's token where it is to be shown on the page: only in a sandbox without letters, and only where
   *   there is an account
   * @throws InvalidRequestError where that is no address; AppError `rate_limited`, `mail_unavailable`
   */
  requestLink(email: string, address: string): Promise<{ readonly shownToken: string | null }>;
  /** Shows a key of the customer in place of a fresh link. @throws AppError `proof_required`, `rate_limited` */
  prove(session: Session, apiKey: string): Promise<void>;
  /**
   * A new key. Pressing the button of one form twice makes one key, and shows it both times.
   *
   * @param formId  names the form as it was shown
   * @throws AppError `proof_required`, `key_name_taken`, `key_limit_reached`
   */
  createKey(session: Session, name: string, formId: string): Promise<IssuedKey>;
  /** As `createKey`. @throws AppError `proof_required`, `key_not_found` */
  rotateKey(session: Session, keyId: string, formId: string): Promise<IssuedKey>;
  /** A key that has ended already is as good as revoked. @throws AppError `proof_required`, `key_not_found` */
  revokeKey(session: Session, keyId: string): Promise<void>;
  /** Tries once more to send what waits. */
  stop(): Promise<void>;
}
