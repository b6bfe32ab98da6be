/** The composition root: ports in, capabilities wired, routes registered. Read it and you know the API. */
import type { FastifyInstance, FastifyRequest } from "fastify";
import { MarketBoard } from "./board/index.ts";
import { type AccountSettings, accountRoutes, createAccountPage, plansUrl } from "./capabilities/account/index.ts";
import {
  type Customers,
  createCustomers,
  customerRoutes,
  insertAudit,
  type SignUpSettings,
} from "./capabilities/customers/index.ts";
import { createHealthReport, healthRoutes, StoreProbe } from "./capabilities/health/index.ts";
import { createKeyDirectory, createKeyUsage, KEYS_TOPIC, type KeyOwner } from "./capabilities/keys/index.ts";
import { createMarketplace, MARKETPLACE_HEADERS, type Marketplace } from "./capabilities/marketplace/index.ts";
import { createMarketsService, marketRoutes } from "./capabilities/markets/index.ts";

import {
  type AddressLimits,
  createAddressLimits,
  createMetering,
  createMeteringGuards,
  type Metering,
  pricingRoutes,
} from "./capabilities/metering/index.ts";
import { createMetrics, metricsRoutes } from "./capabilities/metrics/index.ts";
import {
  createChainReader,
  createFacilitator,
  createPaymentGate,
  createPaymentReconciler,
  createPaymentService,
  createSignatureCheck,
  findDisagreements,
} from "./capabilities/payments/index.ts";
import { createSessions } from "./capabilities/sessions/index.ts";
import type { PaymentSettings } from "./config/payment-settings.ts";
import type { VenueId } from "./domain/market.ts";
import { createEventLog } from "./event-log/index.ts";
import type { Authenticator, Principal } from "./http/auth.ts";
import { notFoundPage, pageRoutes } from "./http/html/index.ts";
import { createHttpServer } from "./http/server.ts";
import { createIngest, type Ingest, type NodeSettings, VenueHealth } from "./ingest/index.ts";
import type { Bus } from "./ports/bus.ts";
import type { Clock } from "./ports/clock.ts";
import type { Database } from "./ports/database.ts";
import type { HttpOut } from "./ports/http-out.ts";
import type { SharedLimitLog } from "./ports/limit-log.ts";
import type { Log } from "./ports/log.ts";
import type { QuotaJournal } from "./ports/quota-journal.ts";
import type { Random } from "./ports/random.ts";
import type { DriftCounter, DropCounter, VenueAdapter } from "./ports/venue.ts";
import { type RetentionDays, readMarketWideTrend } from "./storage/index.ts";

/** Everything that differs between production, tests and a developer's laptop. */
export interface AppPorts {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly database: Database;
  readonly bus: Bus;
  /** This process's own record of the quota that it spends. */
  readonly journal: QuotaJournal;
  /** Minute limits over all nodes; null where this one keeps its own. */
  readonly sharedLimits: SharedLimitLog | null;
  readonly data: "sandbox" | "live";
  readonly version: string;
  readonly publicUrl: string | null;
  readonly trustProxy: readonly string[] | null;
  /** What the API marketplace proves itself with, two while one replaces the other; none where there is no marketplace. */
  readonly marketplaceSecrets: readonly string[];
  /** For how many days things are kept; the defaults for what is left out. */
  readonly retention?: Partial<RetentionDays>;
  /** The same of events. */
  readonly eventDays: number;
  /** How strangers become customers; null refuses them with `signup_not_configured`. */
  readonly signUp: SignUpSettings | null;
  /** How people prove on the account's page that they are no bots, and how they sign in. */
  readonly account: AccountSettings;
  /** For how many days changes of accounts can be traced. */
  readonly auditDays: number;
  /** This process among others that share the store; left out where it is alone and does everything. */
  readonly node?: NodeSettings;
  /** Prometheus metrics on a server of their own or, behind a token, on this one; null where nobody asked. */
  readonly metrics: { readonly hasOwnPort: boolean; readonly token: string | null } | null;
  /** How calls can be paid for one by one; left out where they cannot. Needs `publicUrl`. */
  readonly payments?: PaymentSettings & {
    readonly http: HttpOut;
    /** For tests: how long the facilitator may take. */
    readonly deadlines?: { readonly verifyMs: number; readonly settleMs: number };
  };
  /** Makes a venue's adapter; it counts what it cannot use through `drop`, what it does not know through `drift`. */
  readonly venues: readonly {
    readonly id: VenueId;
    readonly referenceOnly: boolean;
    readonly create: (drop: DropCounter, drift: DriftCounter) => VenueAdapter;
  }[];
}

export interface App {
  readonly http: FastifyInstance;
  /** Serves /metrics alone; null without a port of its own. */
  readonly metricsHttp: FastifyInstance | null;
  readonly ingest: Ingest;
  readonly board: MarketBoard;
  /** To be started before anyone is served. */
  readonly metering: Metering;
  readonly customers: Customers;
  start(): void;
  /** Stops reading the venues, stores what is queued and gives unused quota back. */
  stop(): Promise<void>;
}

export async function buildApp(ports: AppPorts): Promise<App> {
  const { clock, random, log, database, bus, data } = ports;
  const board = new MarketBoard(() => clock.now());
  const venues = ports.venues.map(({ create }) => {
    // The adapter counts drops from its first message on, and its health needs the adapter's profile.
    const early: DropCounter = (reason, count) => health.drop(reason, count);
    const adapter = create(early, (kind, field, value) => health.drift(kind, field, value));
    const health = new VenueHealth(clock, adapter.profile);
    return { adapter, health };
  });
  const eventLog = createEventLog({ database, bus });
  const { eventDays } = ports;
  const ingest = createIngest({
    ...{ venues, board, database, clock, log, bus, eventLog, eventDays },
    ...(ports.retention === undefined ? {} : { retention: ports.retention }),
    ...(ports.node === undefined ? {} : { node: ports.node }),
  });
  const keyUsage = createKeyUsage({ database, clock, log });
  const keys = createKeyDirectory({ database, clock, onUsed: (keyId) => keyUsage.note(keyId) });
  const customers = createCustomers({
    ...{ database, clock, random, log, signUp: ports.signUp, auditDays: ports.auditDays },
    letters: ports.account.letters,
    onKeysChanged() {
      // At once here; the bus wakes the others, and this node once more.
      keys.forget();
      bus.publish(KEYS_TOPIC);
    },
  });
  const marketplace = createMarketplace({ secrets: ports.marketplaceSecrets, database, clock });
  const sessions = createSessions({ database, clock, random, record: insertAudit });
  const accountPage = createAccountPage({
    ...{ database, clock, random, log, data, sessions, accounts: customers, settings: ports.account },
    ownerOf: (apiKey) => keys.find(apiKey),
  });
  const probe = new StoreProbe(database, clock);
  const metrics =
    ports.metrics === null
      ? null
      : createMetrics({
          version: ports.version,
          data,
          venues: () => ingest.health(),
          store: () => ingest.counters,
          isStoreUp: () => probe.isUp,
          boardMarkets: () => board.size,
          failingJobs: () => ingest.failingJobs,
          payments: () => payments?.figures() ?? null,
        });
  const { journal, sharedLimits } = ports;
  const nodeId = ports.node?.id ?? `alone-${Buffer.from(random.bytes(9)).toString("base64url")}`;
  const metering = createMetering({ database, journal, clock, log, nodeId, sharedLimits });
  const upgradeUrl = ({ headers }: FastifyRequest) =>
    ports.account.upgradeUrl ?? plansUrl(ports.publicUrl, headers.host);
  const servesPeople = ports.node?.serves !== false;
  const addresses = createAddressLimits({ clock, random, meter: metering });
  const payments = ports.payments === undefined ? null : await createPayments(ports, ports.payments, addresses);
  const http = await createHttpServer({
    log,
    random,
    data,
    guards: [createMeteringGuards({ meter: metering, random, upgradeUrl, addresses })],
    publicUrl: ports.publicUrl,
    trustProxy: ports.trustProxy,
    ...(servesPeople ? { notFoundPage } : {}),
    ...(metrics === null ? {} : { onAnswered: metrics.answered }),
    authentication: {
      authenticate: (bearer, assertMayLookUp) => {
        const owner = keys.find(bearer, assertMayLookUp);
        return owner instanceof Promise ? owner.then(asPrincipal) : asPrincipal(owner);
      },
      // In this order: a marketplace's user never pays twice.
      authenticateOtherwise: [byMarketplace(marketplace), ...(payments === null ? [] : [payments.till.identify])],
    },
    ...(payments === null ? {} : { till: payments.till }),
  });

  const venueIds = {
    trading: ports.venues.filter((venue) => !venue.referenceOnly).map((venue) => venue.id),
    all: ports.venues.map((venue) => venue.id),
  };
  const markets = createMarketsService({
    board,
    clock,
    venues: venueIds.trading,
    lookUp: (venue, marketId) => ingest.lookUp(venue, marketId),
    past: ingest.past,
    readTrend: () => readMarketWideTrend(database, clock.now()),
  });
  if (servesPeople) {
    marketRoutes(http, {
      service: markets,
      board,
      venues: venueIds,
      publicUrl: ports.publicUrl,
      now: () => clock.now(),
    });
    const usage = (customer: Parameters<typeof metering.usage>[0]) => metering.usage(customer);
    customerRoutes(http, { customers, usage, clock, random });
    pageRoutes(http);
    pricingRoutes(http);
    accountRoutes(http, {
      ...{ page: accountPage, customers, sessions, settings: ports.account, clock, random, data, usage },
      publicUrl: ports.publicUrl,
    });
  }

  const report = createHealthReport({ version: ports.version, data, clock, bus, probe, ingest });
  healthRoutes(http, { report, isStoreUp: () => probe.isUp });

  let metricsHttp: FastifyInstance | null = null;
  if (metrics !== null && ports.metrics !== null) {
    const { hasOwnPort, token } = ports.metrics;
    if (hasOwnPort) {
      const nobody = { authenticate: () => null };
      metricsHttp = await createHttpServer({ log, random, data, docs: false, authentication: nobody });
    }
    metricsRoutes(metricsHttp ?? http, { metrics, token });
  }
  let endHearing: () => void = () => {};
  return {
    http,
    metricsHttp,
    ingest,
    board,
    metering,
    customers,
    start() {
      probe.start();
      endHearing = bus.subscribe(KEYS_TOPIC, () => keys.forget());
      keyUsage.start();
      customers.start();
      ingest.start();
      payments?.start();
    },
    async stop() {
      probe.stop();
      await payments?.stop();
      endHearing();
      await Promise.all([customers.stop(), accountPage.stop(), keyUsage.stop(), ingest.stop()]);
      await metering.stop();
    },
  };
}

/** Whom the marketplace names, once it has proved itself. */
function byMarketplace(marketplace: Marketplace): Authenticator {
  const { secret, user, subscription } = MARKETPLACE_HEADERS;
  return ({ headers }) => {
    // Node joins what is sent more than once into one text, which then is no secret.
    const sent = (name: string) => (headers[name] === undefined ? undefined : String(headers[name]));
    const caller = marketplace.identify({ secret: sent(secret), user: sent(user), subscription: sent(subscription) });
    if (caller === null) return null;
    const asPrincipal = (known: Omit<Principal, "kind">): Principal => ({ kind: "marketplace", ...known });
    return caller instanceof Promise ? caller.then(asPrincipal) : asPrincipal(caller);
  };
}

async function createPayments(ports: AppPorts, settings: NonNullable<AppPorts["payments"]>, addresses: AddressLimits) {
  const { database, clock, random, log, publicUrl } = ports;
  const { asset, http, facilitatorUrl, facilitatorToken, rpcUrl, deadlines } = settings;
  if (publicUrl === null) throw new Error("payments need the address that is paid for");
  const service = createPaymentService({
    ...{ database, clock, random, log, asset },
    facilitator: createFacilitator({
      ...{ http, url: facilitatorUrl, token: facilitatorToken },
      ...(deadlines === undefined
        ? {}
        : { verifyDeadlineMs: deadlines.verifyMs, settleDeadlineMs: deadlines.settleMs }),
    }),
    chain: rpcUrl === null ? null : createChainReader({ http, url: rpcUrl, asset }),
    isSignedByPayer: await createSignatureCheck(asset),
  });
  const upkeep = createPaymentReconciler({ database, clock, random, log, asset, service });
  return {
    till: createPaymentGate({ service, publicUrl, log, addresses }),
    start() {
      upkeep.start();
      void findDisagreements({ ...settings, http }).then((found) => {
        for (const text of found) log.warn({}, text);
      });
    },
    stop: () => upkeep.stop(),
    figures: () => ({ counts: service.counts, unknown: upkeep.unknown }),
  };
}

function asPrincipal(owner: KeyOwner | null): Principal | null {
  if (owner === null) return null;
  const { customerId, plan, allowance, keyId } = owner;
  return { kind: "customer", customerId, plan, allowance, keyId };
}
