/** Customers, their keys, sessions and activity, minute limits, quotas and payments. */
import type { FastifyInstance, FastifyRequest } from "fastify";
import {
  ACCOUNT_PATH,
  accountRoutes,
  buildPageUrl,
  createAccountPage,
  createBrowserSessions,
  createBrowserSignIn,
  createSessionAuthenticator,
  PLANS_PATH,
} from "./account-pages/index.ts";
import { createActivity } from "./activity/index.ts";
import { type CustomerData, createCustomers, customerRoutes, insertAudit } from "./customers/index.ts";
import { createKeyAuthenticator, createKeyDirectory, createKeyUsage, KEYS_TOPIC } from "./keys/index.ts";
import { createMarketplace, createMarketplaceAuthenticator } from "./marketplace/index.ts";
import { createAddressLimits, createMetering, createMeteringGuards, pricingRoutes } from "./metering/index.ts";
import { createPayments } from "./payments/index.ts";
import type { AccountsPorts } from "./ports.ts";
import { createSessions } from "./sessions/index.ts";

export type { AccountsPorts } from "./ports.ts";

/** @param options.customerData  customer data of the other areas */
export async function createAccountsArea(
  ports: AccountsPorts,
  { nodeId, customerData }: { readonly nodeId: string; readonly customerData: readonly CustomerData[] },
) {
  const { clock, database, bus, publicUrl, account: settings } = ports;
  const { emailDelivery } = settings;
  const isReadOnly = ports.isReadOnly === true;
  const keyUsage = createKeyUsage(ports);
  const keys = createKeyDirectory({ database, clock, onUsed: keyUsage.recordUse });
  const onKeysChanged = () => {
    // Clears this node's cache immediately; the bus message clears the caches of the other nodes.
    keys.clear();
    bus.publish(KEYS_TOPIC);
  };
  const customers = createCustomers({ ...ports, emailDelivery, onKeysChanged, customerData });
  const sessions = createSessions({ ...ports, record: insertAudit });
  const page = createAccountPage({ ...ports, sessions, accounts: customers, settings, keys });
  const activity = createActivity({ ...ports, nodeId });
  const browserSessions = createBrowserSessions({ sessions, publicUrl });
  const metering = createMetering({ ...ports, nodeId });
  const addresses = createAddressLimits({ ...ports, meter: metering });
  const payments =
    ports.payments === undefined ? null : await createPayments({ ...ports, ...ports.payments, addresses });
  const marketplace = createMarketplace({ database, clock, secrets: ports.marketplaceSecrets });
  const upgradeUrl = ({ headers }: FastifyRequest) =>
    settings.upgradeUrl ?? buildPageUrl(PLANS_PATH, publicUrl, headers.host);
  let unsubscribe = () => {};
  return {
    customers,
    activity,
    browserSessions,
    metering,
    guards: createMeteringGuards({ ...ports, meter: metering, upgradeUrl, addresses, countsQuota: !isReadOnly }),
    authentication: {
      authenticate: createKeyAuthenticator(keys),
      signUpUrl: ({ headers }: FastifyRequest) => buildPageUrl(ACCOUNT_PATH, publicUrl, headers.host),
      // The marketplace is checked first, because its users must not be charged per call as well.
      authenticateOtherwise: [
        createMarketplaceAuthenticator(marketplace),
        ...(payments === null ? [] : [payments.gate.identify]),
      ],
      session: createSessionAuthenticator({ browserSessions, customers, publicUrl }),
    },
    paymentGate: payments?.gate,
    paymentFigures: () => payments?.figures() ?? null,
    registerRoutes(http: FastifyInstance): void {
      const shared = { ...ports, customers, usage: metering.usage };
      customerRoutes(http, { ...shared, signIn: createBrowserSignIn({ sessions, publicUrl }) });
      accountRoutes(http, { ...shared, page, sessions, browserSessions, settings, activity });
      pricingRoutes(http);
    },
    start(): void {
      payments?.start();
      if (isReadOnly) return;
      unsubscribe = bus.subscribe(KEYS_TOPIC, () => keys.clear());
      for (const service of [keyUsage, activity, customers]) service.start();
    },
    async stopPayments(): Promise<void> {
      await payments?.stop();
    },
    async stop(): Promise<void> {
      unsubscribe();
      if (!isReadOnly) await Promise.all([customers, page, keyUsage, activity].map((service) => service.stop()));
      await metering.stop();
    },
  };
}
