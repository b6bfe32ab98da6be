import type { Clock } from "../../ports/clock.ts";
import type { Database } from "../../ports/database.ts";
import type { Log } from "../../ports/log.ts";
import type { Random } from "../../ports/random.ts";
import { type AttemptRule, takeAttempt } from "./attempts.ts";
import { type KeyChange, keyEmail } from "./emails.ts";
import { createMailQueue, type MailQueue } from "./mail-queue.ts";
import type { Accounts, Actor } from "./model.ts";
import type { EmailDelivery } from "./sign-ups.ts";

/** Letters about keys to one customer: a thief in a loop fills no mailbox. */
const RULES: readonly AttemptRule[] = [{ limit: 20, windowMs: 24 * 3_600_000 }];

/**
 * Accounts that write to their owner whenever a key was made, replaced or ended, so that nobody does it unseen. The letter
 * follows the change: it holds nothing up, and where it is lost the change stays.
 */
export function withKeyEmails(
  accounts: Accounts,
  tools: {
    readonly database: Database;
    readonly clock: Clock;
    readonly random: Random;
    readonly log: Log;
    readonly letters: EmailDelivery;
  },
): Accounts & Pick<MailQueue, "stop"> {
  const { database, clock, log, letters } = tools;
  const queue = createMailQueue({ ...tools, mail: letters.mail });
  const underWay = new Set<Promise<void>>();

  const write = async (customerId: string, keyId: string, change: KeyChange, actor: Actor) => {
    const at = clock.now();
    const slot = queue.reserve();
    if (slot === null) return;
    try {
      const { email, keys } = await accounts.account(customerId);
      const key = keys.find((each) => each.keyId === keyId);
      if (email === null || key === undefined) return;
      if ((await takeAttempt(database, `key-mail:${customerId}`, RULES, at)) > 0) return;
      slot.send(keyEmail(email, { ...key, change, actor, at: new Date(at) }, `${letters.publicUrl}/account`));
    } finally {
      slot.release();
    }
  };
  const tell = (customerId: string, keyId: string, change: KeyChange, actor: Actor): void => {
    const told = write(customerId, keyId, change, actor)
      .catch((error: unknown) => log.warn({ err: error }, "a customer could not be told of a change of keys"))
      .finally(() => underWay.delete(told));
    underWay.add(told);
  };

  return {
    ...accounts,
    async createKey(customerId, name, actor) {
      const key = await accounts.createKey(customerId, name, actor);
      tell(customerId, key.keyId, "made", actor);
      return key;
    },
    async rotateKey(customerId, keyId, actor) {
      const key = await accounts.rotateKey(customerId, keyId, actor);
      tell(customerId, keyId, "replaced by another", actor);
      return key;
    },
    async revokeKey(customerId, keyId, actor) {
      await accounts.revokeKey(customerId, keyId, actor);
      tell(customerId, keyId, "revoked", actor);
    },
    async stop() {
      await Promise.all(underWay);
      await queue.stop();
    },
  };
}
