import type { Allowance } from "../../../domain/plan.ts";
import type { SharedLimitLog } from "../../../ports/limit-log.ts";
import type { QuotaJournal } from "../../../ports/quota-journal.ts";
import type { AreaPorts } from "../../area-ports.ts";
import { createRequestLimits } from "./limits.ts";
import { QuotaMeter } from "./quota-meter.ts";
import { createQuotaStore, type QuotaAccount } from "./quota-store.ts";

export type Metering = ReturnType<typeof createMetering>;

/**
 * Returns a function that reads the calls of this month from the store. Running processes report their counted calls
 * every few seconds, so the newest calls may be missing.
 */
export function createUsageReader(database: AreaPorts["database"]): Metering["usage"] {
  const store = createQuotaStore(database);
  return async ({ customerId, allowance }) => {
    const { used, resetsOn } = await store.usage(customerId);
    return { usage: { LISTING: 0, INSIGHT: 0, STRATEGY: 0, DEEP: 0, ...used }, quotas: allowance.quotas, resetsOn };
  };
}

/** Counts requests and calls. The store's clock determines the quota month. */
export function createMetering({
  database,
  clock,
  log,
  journal,
  nodeId,
  sharedLimits,
}: Pick<AreaPorts, "database" | "clock" | "log"> & {
  readonly journal: QuotaJournal;
  /** Unique among all processes that share the store. */
  readonly nodeId: string;
  /** Null if the service runs on a single node. */
  readonly sharedLimits: SharedLimitLog | null;
}) {
  const limits = createRequestLimits({ clock, log }, sharedLimits);
  const meter = new QuotaMeter({ store: createQuotaStore(database), journal, clock, log, nodeId });
  return {
    takeMinute: limits.take,
    peekMinute: limits.peek,
    /** Counts one call in the month's quota. Throws, or rejects with, `store_unavailable` if it cannot be counted. */
    takeQuota: (account: QuotaAccount, limit: number) => meter.take(account, limit),
    /** Exact number of calls counted since the month began (UTC). */
    async usage({ customerId, allowance }: { readonly customerId: string; readonly allowance: Allowance }) {
      const { used, resetsOn } = await meter.usage(customerId);
      return { usage: used, quotas: allowance.quotas, resetsOn };
    },
    /** Returns the unused quota of the previous process to the store. Must resolve before the first `takeQuota`. */
    start: () => meter.start(),
    /** Returns unused quota to the store, so that other nodes can use it immediately. */
    stop: () => meter.stop(),
  };
}
