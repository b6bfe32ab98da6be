import type { SharedLimitLog } from "../../ports/limit-log.ts";
import type { QuotaJournal } from "../../ports/quota-journal.ts";
import type { AreaPorts } from "../area-ports.ts";
import type { AccountSettings } from "./account-pages/index.ts";
import type { SignUpSettings } from "./customers/index.ts";
import type { QuotaRetryAfter } from "./metering/index.ts";
import type { PaymentPorts } from "./payments/index.ts";

export interface AccountsPorts extends AreaPorts {
  /** Records the quota units that this process has used, so that they survive a crash. */
  readonly journal: QuotaJournal;
  /** Minute limits shared by all nodes; null if each node counts its limits separately. */
  readonly sharedLimits: SharedLimitLog | null;
  /** Secrets that authenticate the API marketplace: none, one, or two during a rotation. */
  readonly marketplaceSecrets: readonly string[];
  /** Settings of sign-up; null rejects sign-ups with `signup_not_configured`. */
  readonly signUp: SignUpSettings | null;
  /** Bot check and e-mail delivery of the account page. */
  readonly account: AccountSettings;
  /** Format of `Retry-After` if a monthly quota is used up; the date of the reset by default. */
  readonly quotaRetryAfter?: QuotaRetryAfter;
  /** Days after which audit log entries are deleted. */
  readonly auditDays: number;
  /** Per-call payments; undefined disables them. They require `publicUrl`. */
  readonly payments?: PaymentPorts;
}
