import type { Charge, LimitClass, LimitDecision, QuotaRefusal } from "../../domain/metering.ts";
import type { Allowance, Tier } from "../../domain/plan.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Database } from "../../ports/database.ts";
import type { SharedLimitLog } from "../../ports/limit-log.ts";
import type { Log } from "../../ports/log.ts";
import type { QuotaJournal } from "../../ports/quota-journal.ts";
import { createRequestLimits } from "./limits.ts";
import { type QuotaDecision, QuotaMeter, type QuotaReceipt } from "./quota-meter.ts";
import { createQuotaStore, type QuotaAccount } from "./quota-store.ts";

/** A customer's usage of the current month. */
export interface UsageReport {
  /** Calls counted since the month began (UTC). Exact. */
  readonly usage: Readonly<Record<Tier, number>>;
  readonly quotas: Readonly<Record<Tier, number>>;
  /** First day of the next month, for example "2026-12-01". */
  readonly resetsOn: string;
}

export interface Metering {
  /** Counts one request in the caller's minute limit. A rejected request is not counted. */
  takeMinute(limitClass: LimitClass, caller: string, limit: number): Promise<LimitDecision> | LimitDecision;
  /** Counts one call in the month's quota. Throws, or rejects with, `store_unavailable` if it cannot be counted. */
  takeQuota(account: QuotaAccount, limit: number): Promise<Charge | QuotaRefusal> | Charge | QuotaRefusal;
  usage(customer: { readonly customerId: string; readonly allowance: Allowance }): Promise<UsageReport>;
  /** Settles the unused quota of a previous process. Must resolve before the first `takeQuota`. */
  start(): Promise<void>;
  /** Returns unused quota to the store, so that other nodes can use it immediately. */
  stop(): Promise<void>;
}

/** Counts requests and calls. The store's clock determines the quota month. */
export function createMetering(options: {
  readonly database: Database;
  readonly journal: QuotaJournal;
  readonly clock: Clock;
  readonly log: Log;
  /** Identifies this process among all that share the store. */
  readonly nodeId: string;
  /** Null for a single node. */
  readonly sharedLimits: SharedLimitLog | null;
}): Metering {
  const { database, journal, clock, log, nodeId, sharedLimits } = options;
  const limits = createRequestLimits({ clock, log, shared: sharedLimits });
  const meter = new QuotaMeter({ store: createQuotaStore(database), journal, clock, log, nodeId });
  const asCharge = (decision: QuotaDecision) =>
    decision.isAllowed ? new TakenCharge(meter, decision.receipt, decision.remaining, decision.resetsInMs) : decision;
  return {
    takeMinute: (limitClass, caller, limit) => limits.take(limitClass, caller, limit),
    takeQuota(account, limit) {
      const decision = meter.take(account, limit);
      return decision instanceof Promise ? decision.then(asCharge) : asCharge(decision);
    },
    async usage({ customerId, allowance }) {
      const { used, resetsOn } = await meter.usage(customerId);
      return { usage: used, quotas: allowance.quotas, resetsOn };
    },
    start: () => meter.start(),
    stop: () => meter.stop(),
  };
}

class TakenCharge implements Charge {
  readonly isAllowed = true;
  readonly resetsInMs: number;
  readonly #meter: QuotaMeter;
  #receipt: QuotaReceipt | null;
  #remaining: number;

  constructor(meter: QuotaMeter, receipt: QuotaReceipt, remaining: number, resetsInMs: number) {
    this.#meter = meter;
    this.#receipt = receipt;
    this.#remaining = remaining;
    this.resetsInMs = resetsInMs;
  }

  get remaining(): number {
    return this.#remaining;
  }

  release(): void {
    if (this.#receipt === null) return;
    this.#meter.release(this.#receipt);
    this.#receipt = null;
    this.#remaining += 1;
  }
}
