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

/** A customer's month so far. */
export interface UsageReport {
  /** Calls counted since the month began (UTC), exactly. */
  readonly usage: Readonly<Record<Tier, number>>;
  readonly quotas: Readonly<Record<Tier, number>>;
  /** First day of the next month, for example "2026-12-01". */
  readonly resetsOn: string;
}

export interface Metering {
  /** Takes one request of the caller's minute; a refused one is not counted. */
  takeMinute(limitClass: LimitClass, caller: string, limit: number): Promise<LimitDecision> | LimitDecision;
  /** Takes one call of the caller's month. Throws, or rejects with, `store_unavailable` where it cannot be counted. */
  takeQuota(account: QuotaAccount, limit: number): Promise<Charge | QuotaRefusal> | Charge | QuotaRefusal;
  usage(customer: { readonly customerId: string; readonly allowance: Allowance }): Promise<UsageReport>;
  /** Settles what an earlier process left behind; before it no quota may be taken. */
  start(): Promise<void>;
  /** Gives back the quota that is unused, so that other nodes have it at once. */
  stop(): Promise<void>;
}

/** Counts requests and calls. Quota months are those of the store's clock. */
export function createMetering(options: {
  readonly database: Database;
  readonly journal: QuotaJournal;
  readonly clock: Clock;
  readonly log: Log;
  /** This process among those that share the store. */
  readonly nodeId: string;
  /** Null where this node is alone. */
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
