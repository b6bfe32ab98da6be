import type { Clock } from "../../ports/clock.ts";
import type { Database } from "../../ports/database.ts";
import type { Log } from "../../ports/log.ts";
import type { Random } from "../../ports/random.ts";
import type { PaymentAsset } from "./model.ts";
import { countUnknown, deleteOldPayments, sweepPayments, takeUnknown, UNKNOWN_BATCH_SIZE } from "./queries.ts";
import { requirementsOf } from "./requirements.ts";
import { PaymentRefusedError, type PaymentService } from "./service.ts";

const UPKEEP_EVERY_MS = 5_000;
const DELETE_EVERY_MS = 3_600_000;
const RESOLVE_LEASE_MS = 90_000;
/** Asking is given up then, with time left in the lease to write down that it is still unknown. */
const RESOLVE_DEADLINE_MS = 60_000;
/** From here on an operator should look: nothing has come of asking for more than an hour. */
const TRIES_TO_TELL = 12;

export interface PaymentReconciler {
  /** Settlements in doubt, of all processes; as of the last sweep. */
  readonly unknown: number;
  start(): void;
  /** Ends the asking that is under way; what it was for stays unknown. */
  stop(): Promise<void>;
  /** One round: ends what dead nodes left, asks again for what is unknown. */
  runOnce(): Promise<void>;
}

/** The background work of the ledger. Any number of nodes may do it at once. */
export function createPaymentReconciler(options: {
  readonly database: Database;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly asset: PaymentAsset;
  readonly service: PaymentService;
}): PaymentReconciler {
  const { database, clock, random, log, asset, service } = options;
  const stopping = new AbortController();
  let unknown = 0;
  let deletedAt = Number.NEGATIVE_INFINITY;

  /** All that were taken are asked for at once: none waits, within its lease, for another's silence. */
  const resolveTaken = async (): Promise<number> => {
    const attempt = Buffer.from(random.bytes(12)).toString("base64url");
    const taken = await takeUnknown(database, attempt, RESOLVE_LEASE_MS);
    const late = new AbortController();
    const cancel = clock.setTimeout(() => late.abort(), RESOLVE_DEADLINE_MS);
    const signal = AbortSignal.any([stopping.signal, late.signal]);
    const ends = taken.map(({ paymentId, tries, signed }) => {
      if (tries === TRIES_TO_TELL)
        log.error({ paymentId }, "a settlement is still unknown; docs/payments.md tells what to do");
      const requirements = requirementsOf(asset, signed.authorization.value);
      return service.resolve({ paymentId, attempt }, signed, requirements, signal);
    });
    const failures = (await Promise.allSettled(ends)).flatMap((end) => (end.status === "rejected" ? [end.reason] : []));
    cancel();
    for (const error of failures) if (!(error instanceof PaymentRefusedError)) throw error;
    return taken.length;
  };

  const resolve = async () => {
    while ((await resolveTaken()) === UNKNOWN_BATCH_SIZE && !stopping.signal.aborted);
  };

  const sweep = async () => {
    await sweepPayments(database);
    unknown = await countUnknown(database);
    if (clock.monotonic() - deletedAt < DELETE_EVERY_MS) return;
    deletedAt = clock.monotonic();
    await deleteOldPayments(database);
  };

  // Each on a timer of its own: a facilitator's silence holds up nothing that needs only the store.
  const repeating: { stop(): Promise<void> }[] = [];
  return {
    get unknown() {
      return unknown;
    },
    start() {
      repeating.push(...[sweep, resolve].map((work) => repeat(clock, log, work)));
    },
    async stop() {
      stopping.abort();
      await Promise.all(repeating.map((each) => each.stop()));
    },
    async runOnce() {
      await sweep();
      await resolve();
    },
  };
}

/** Does the work again and again, a while after its last end. */
function repeat(clock: Clock, log: Log, work: () => Promise<void>): { stop(): Promise<void> } {
  let cancel = () => {};
  let round: Promise<void> = Promise.resolve();
  let isStopped = false;
  let isFailing = false;
  const runRound = async () => {
    try {
      await work();
      isFailing = false;
    } catch (error) {
      if (!isFailing) log.warn({ err: error }, "the upkeep of payments failed; it is tried again");
      isFailing = true;
    }
    if (!isStopped) schedule();
  };
  const schedule = () => {
    cancel = clock.setTimeout(() => {
      round = runRound();
    }, UPKEEP_EVERY_MS);
  };
  schedule();
  return {
    async stop() {
      isStopped = true;
      cancel();
      await round;
    },
  };
}
