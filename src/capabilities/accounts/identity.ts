import type { FastifyInstance } from "fastify";
import {
  accountRoutes,
  createAccountPage,
  createBrowserSessions,
  createBrowserSignIn,
  createSessionAuthenticator,
} from "./account-pages/index.ts";
import { createActivity } from "./activity/index.ts";
import { type CustomerData, createCustomers, customerRoutes, insertAudit, type ReadUsage } from "./customers/index.ts";
import { createKeyDirectory, createKeyUsage, KEYS_TOPIC } from "./keys/index.ts";
import type { AccountsPorts } from "./ports.ts";
import { createSessions } from "./sessions/index.ts";

/** Connects the services of customers, their keys, their sessions and their activity. */
export function createIdentity(
  ports: AccountsPorts,
  { nodeId, customerData }: { readonly nodeId: string; readonly customerData: readonly CustomerData[] },
) {
  const { clock, random, log, database, bus, data, publicUrl, account: settings, auditDays } = ports;
  const { emailDelivery } = settings;
  const keyUsage = createKeyUsage({ database, clock, log });
  const keys = createKeyDirectory({ database, clock, onUsed: keyUsage.recordUse });
  const onKeysChanged = () => {
    // Clears this node's cache immediately; the bus message clears the caches of the other nodes.
    keys.clear();
    bus.publish(KEYS_TOPIC);
  };
  const shared = { database, clock, random, log, emailDelivery };
  const customers = createCustomers({ ...shared, signUp: ports.signUp, auditDays, onKeysChanged, customerData });
  const sessions = createSessions({ database, clock, random, record: insertAudit });
  const page = createAccountPage({ ...shared, data, sessions, accounts: customers, settings, keys });
  const activity = createActivity({ database, clock, log, nodeId });
  const browserSessions = createBrowserSessions({ sessions, publicUrl });
  let unsubscribe = () => {};
  return {
    keys,
    customers,
    activity,
    browserSessions,
    sessionAuthenticator: createSessionAuthenticator({ browserSessions, customers, publicUrl }),
    /** Registers sign-up, the account endpoints and the account pages. */
    registerRoutes(http: FastifyInstance, usage: ReadUsage): void {
      const signIn = createBrowserSignIn({ sessions, publicUrl });
      customerRoutes(http, { customers, usage, clock, random, publicUrl, signIn });
      accountRoutes(http, {
        page,
        customers,
        sessions,
        browserSessions,
        settings,
        activity,
        clock,
        random,
        data,
        usage,
        publicUrl,
      });
    },
    start() {
      unsubscribe = bus.subscribe(KEYS_TOPIC, () => keys.clear());
      keyUsage.start();
      activity.start();
      customers.start();
    },
    async stop() {
      unsubscribe();
      await Promise.all([customers.stop(), page.stop(), keyUsage.stop(), activity.stop()]);
    },
  };
}
