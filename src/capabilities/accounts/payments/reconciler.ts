import { HOUR_MS } from "../../../lib/durations.ts";
import { PeriodicJob } from "../../../lib/periodic-job.ts";
import { newAttemptId } from "./ledger.ts";
import { PaymentRejectedError } from "./model.ts";
import {
  countUnknownPayments,
  deleteOldPayments,
  leaseUnknownPayments,
  sweepPayments,
  UNKNOWN_PAYMENTS_BATCH_SIZE,
} from "./queries.ts";
import { createRequirements } from "./requirements.ts";
import type { PaymentService, PaymentServiceOptions } from "./service.ts";

const RECONCILE_INTERVAL_MS = 5_000;
const DELETE_INTERVAL_MS = HOUR_MS;
const RESOLVE_LEASE_MS = 90_000;
/** Shorter than the lease, so that the process can still record an unknown outcome. */
const RESOLVE_TIMEOUT_MS = 60_000;
/** Number of tries (more than an hour) after which one error is logged for the operator. */
const TRIES_BEFORE_ERROR = 12;

/** Background maintenance of the payment ledger. Any number of nodes may run it concurrently. */
export function createPaymentReconciler(
  options: Pick<PaymentServiceOptions, "database" | "clock" | "random" | "log" | "asset"> & {
    readonly service: PaymentService;
  },
) {
  const { database, clock, random, log, asset, service } = options;
  const stopping = new AbortController();
  let unknownCount = 0;
  let deletedAt = Number.NEGATIVE_INFINITY;

  /** Resolves a batch concurrently, so that a timeout of one payment does not use up the lease of another payment. */
  const resolveBatch = async (): Promise<number> => {
    const attempt = newAttemptId(random);
    const leasedPayments = await leaseUnknownPayments(database, attempt, RESOLVE_LEASE_MS);
    const timeout = new AbortController();
    const cancel = clock.setTimeout(() => timeout.abort(), RESOLVE_TIMEOUT_MS);
    const signal = AbortSignal.any([stopping.signal, timeout.signal]);
    const resolutions = leasedPayments.map(({ paymentId, tries, signed }) => {
      if (tries === TRIES_BEFORE_ERROR) log.error({ paymentId }, "a settlement is still unknown; see docs/payments.md");
      const requirements = createRequirements(asset, signed.authorization.value);
      return service.resolveUnknown({ paymentId, attempt }, signed, requirements, undefined, signal);
    });
    const outcomes = await Promise.allSettled(resolutions);
    cancel();
    for (const result of outcomes)
      if (result.status === "rejected" && !(result.reason instanceof PaymentRejectedError)) throw result.reason;
    return leasedPayments.length;
  };

  const resolve = async () => {
    while ((await resolveBatch()) === UNKNOWN_PAYMENTS_BATCH_SIZE && !stopping.signal.aborted);
  };

  const sweep = async () => {
    await sweepPayments(database);
    unknownCount = await countUnknownPayments(database);
    if (clock.monotonic() - deletedAt < DELETE_INTERVAL_MS) return;
    deletedAt = clock.monotonic();
    await deleteOldPayments(database);
  };

  // Separate jobs, so that a facilitator timeout does not delay the sweep.
  const jobs = [sweep, resolve].map(
    (run) =>
      new PeriodicJob({
        clock,
        delayMs: RECONCILE_INTERVAL_MS,
        intervalMs: RECONCILE_INTERVAL_MS,
        run,
        onFailure(error, failures) {
          if (failures === 1) log.warn({ err: error }, "payment reconciliation failed; retrying");
        },
      }),
  );
  return {
    /** Number of unknown settlements of all nodes, as of the last sweep. */
    get unknownCount() {
      return unknownCount;
    },
    start(): void {
      for (const job of jobs) job.start();
    },
    /** Aborts requests in progress; their payments stay unknown. */
    async stop(): Promise<void> {
      stopping.abort();
      await Promise.all(jobs.map((job) => job.stop()));
    },
    /** Recovers payments of dead nodes and retries unknown settlements. */
    async runOnce(): Promise<void> {
      await sweep();
      await resolve();
    },
  };
}
