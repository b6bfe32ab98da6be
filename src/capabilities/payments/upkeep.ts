import type { Clock } from "../../ports/clock.ts";
import type { Database } from "../../ports/database.ts";
import type { Log } from "../../ports/log.ts";
import type { Random } from "../../ports/random.ts";
import type { PaymentAsset } from "./model.ts";
import { deleteOldPayments, sweepPayments, takeUnknown } from "./queries.ts";
import { requirementsOf } from "./requirements.ts";
import { PaymentRefusedError, type PaymentService } from "./service.ts";

const UPKEEP_EVERY_MS = 5_000;
const DELETE_EVERY_MS = 3_600_000;
const RESOLVE_LEASE_MS = 90_000;
/** From here on an operator should look: nothing has come of asking for more than an hour. */
const TRIES_TO_TELL = 12;

export interface PaymentUpkeep {
  start(): void;
  /** Waits for the round that is under way. */
  stop(): Promise<void>;
  /** One round: ends what dead nodes left, asks again for what is unknown. */
  runOnce(): Promise<void>;
}

/** The background work of the ledger. Any number of nodes may do it at once. */
export function createPaymentUpkeep(options: {
  readonly database: Database;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly asset: PaymentAsset;
  readonly service: PaymentService;
}): PaymentUpkeep {
  const { database, clock, random, log, asset, service } = options;
  let cancel = () => {};
  let round: Promise<void> = Promise.resolve();
  let isStopped = false;
  let isFailing = false;
  let deletedAt = Number.NEGATIVE_INFINITY;

  const resolveUnknown = async () => {
    const attempt = Buffer.from(random.bytes(12)).toString("base64url");
    for (const { paymentId, tries, signed } of await takeUnknown(database, attempt, RESOLVE_LEASE_MS)) {
      if (isStopped) return;
      if (tries === TRIES_TO_TELL)
        log.error({ paymentId }, "a settlement is still unknown; docs/payments.md tells what to do");
      const requirements = requirementsOf(asset, signed.authorization.value);
      await service.resolve({ paymentId, attempt }, signed, requirements).catch((error: unknown) => {
        if (!(error instanceof PaymentRefusedError)) throw error;
      });
    }
  };

  const runOnce = async () => {
    await sweepPayments(database);
    await resolveUnknown();
    if (clock.monotonic() - deletedAt < DELETE_EVERY_MS) return;
    deletedAt = clock.monotonic();
    await deleteOldPayments(database);
  };

  const schedule = () => {
    cancel = clock.setTimeout(() => {
      round = runOnce().then(
        () => {
          isFailing = false;
        },
        (error: unknown) => {
          if (!isFailing) log.warn({ err: error }, "the upkeep of payments failed; it is tried again");
          isFailing = true;
        },
      );
      void round.then(() => {
        if (!isStopped) schedule();
      });
    }, UPKEEP_EVERY_MS);
  };

  return {
    start: schedule,
    async stop() {
      isStopped = true;
      cancel();
      await round;
    },
    runOnce,
  };
}
