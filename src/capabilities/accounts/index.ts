/** Customers, their keys, sessions and activity, minute limits, quotas and payments. */
import type { FastifyInstance, FastifyRequest } from "fastify";
import { ACCOUNT_PATH, buildPageUrl, PLANS_PATH } from "./account-pages/index.ts";
import type { CustomerData } from "./customers/index.ts";
import { createIdentity } from "./identity.ts";
import { createKeyAuthenticator } from "./keys/index.ts";
import { createMarketplace, createMarketplaceAuthenticator } from "./marketplace/index.ts";
import { createAddressLimits, createMetering, createMeteringGuards, pricingRoutes } from "./metering/index.ts";
import { createPayments } from "./payments/index.ts";
import type { AccountsPorts } from "./ports.ts";

export type { AccountsPorts } from "./ports.ts";

/** @param options.customerData  what the other areas store of customers */
export async function createAccountsArea(
  ports: AccountsPorts,
  { nodeId, customerData }: { readonly nodeId: string; readonly customerData: readonly CustomerData[] },
) {
  const { clock, random, log, database, publicUrl, account: settings, journal, sharedLimits } = ports;
  const isReadOnly = ports.isReadOnly === true;
  const identity = createIdentity(ports, { nodeId, customerData });
  const metering = createMetering({ database, journal, clock, log, nodeId, sharedLimits });
  const addresses = createAddressLimits({ clock, random, meter: metering });
  const payments =
    ports.payments === undefined
      ? null
      : await createPayments({ ...ports.payments, database, clock, random, log, publicUrl, addresses });
  const marketplace = createMarketplace({ secrets: ports.marketplaceSecrets, database, clock });
  const upgradeUrl = ({ headers }: FastifyRequest) =>
    settings.upgradeUrl ?? buildPageUrl(PLANS_PATH, publicUrl, headers.host);
  return {
    customers: identity.customers,
    activity: identity.activity,
    browserSessions: identity.browserSessions,
    metering,
    guards: createMeteringGuards({ ...ports, meter: metering, upgradeUrl, addresses, countsQuota: !isReadOnly }),
    authentication: {
      authenticate: createKeyAuthenticator(identity.keys),
      signUpUrl: ({ headers }: FastifyRequest) => buildPageUrl(ACCOUNT_PATH, publicUrl, headers.host),
      // The marketplace is checked first, because its users must not be charged per call as well.
      authenticateOtherwise: [
        createMarketplaceAuthenticator(marketplace),
        ...(payments === null ? [] : [payments.gate.identify]),
      ],
      session: identity.sessionAuthenticator,
    },
    paymentGate: payments?.gate,
    paymentFigures: () => payments?.figures() ?? null,
    registerRoutes(http: FastifyInstance): void {
      identity.registerRoutes(http, (customer) => metering.usage(customer));
      pricingRoutes(http);
    },
    start(): void {
      if (!isReadOnly) identity.start();
      payments?.start();
    },
    async stopPayments(): Promise<void> {
      await payments?.stop();
    },
    async stop(): Promise<void> {
      if (!isReadOnly) await identity.stop();
      await metering.stop();
    },
  };
}
