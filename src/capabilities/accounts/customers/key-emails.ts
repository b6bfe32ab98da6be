import { HOUR_MS } from "../../../lib/durations.ts";
import type { Accounts } from "./accounts.ts";
import { type AttemptRule, takeAttempt } from "./attempts.ts";
import { createDeletionEmail, createKeyChangeEmail, type KeyChange } from "./emails.ts";
import { createMailQueue } from "./mail-queue.ts";
import type { Actor, CustomerPorts, EmailDelivery } from "./model.ts";

/** Limits e-mails per customer, so that an attacker with a key cannot flood the mailbox. */
const KEY_EMAIL_RULES: readonly AttemptRule[] = [{ limit: 20, windowMs: 24 * HOUR_MS }];

/**
 * Wraps `accounts` to e-mail the owner about every key created, replaced or revoked, and about the deletion of the
 * account. The e-mail is sent in the background: it neither delays the change nor undoes it on failure.
 */
export function withKeyEmails(
  accounts: Accounts,
  dependencies: CustomerPorts & { readonly emailDelivery: EmailDelivery },
): Accounts & { stop(): Promise<void> } {
  const { database, clock, log, emailDelivery } = dependencies;
  const accountUrl = `${emailDelivery.publicUrl}/account`;
  const mailQueue = createMailQueue({ ...dependencies, ...emailDelivery });
  const pendingEmails = new Set<Promise<void>>();

  const sendEmail = async (customerId: string, keyId: string, change: KeyChange, actor: Actor) => {
    const at = clock.now();
    const slot = mailQueue.reserve();
    if (slot === null) return;
    try {
      const { email, keys } = await accounts.account(customerId);
      const key = keys.find((each) => each.keyId === keyId);
      if (email === null || key === undefined) return;
      if ((await takeAttempt(database, `key-mail:${customerId}`, KEY_EMAIL_RULES, at)) > 0) return;
      slot.send(createKeyChangeEmail(email, { ...key, change, actor, at: new Date(at) }, accountUrl));
    } finally {
      slot.release();
    }
  };
  const sendEmailInBackground = (customerId: string, keyId: string, change: KeyChange, actor: Actor): void => {
    const delivery = sendEmail(customerId, keyId, change, actor)
      .catch((error: unknown) => log.warn({ err: error }, "could not e-mail a customer about a key change"))
      .finally(() => pendingEmails.delete(delivery));
    pendingEmails.add(delivery);
  };

  return {
    ...accounts,
    async createKey(customerId, name, actor) {
      const key = await accounts.createKey(customerId, name, actor);
      sendEmailInBackground(customerId, key.keyId, "created", actor);
      return key;
    },
    async rotateKey(customerId, keyId, actor) {
      const key = await accounts.rotateKey(customerId, keyId, actor);
      sendEmailInBackground(customerId, keyId, "replaced", actor);
      return key;
    },
    async revokeKey(customerId, keyId, actor) {
      await accounts.revokeKey(customerId, keyId, actor);
      sendEmailInBackground(customerId, keyId, "revoked", actor);
    },
    async delete(customerId, actor) {
      const deletedAccount = await accounts.delete(customerId, actor);
      const { email } = deletedAccount;
      if (email !== null)
        mailQueue.reserve()?.send(createDeletionEmail(email, actor, new Date(clock.now()), accountUrl));
      return deletedAccount;
    },
    async stop() {
      await Promise.all(pendingEmails);
      await mailQueue.stop();
    },
  };
}
