import { generateKeyPairSync } from "node:crypto";
import { SANDBOX_VENUES, type SandboxVenue } from "../../../sandbox/world/types.ts";
import { createSocketIoClient } from "../../../src/adapters/network/socket-io-client.ts";
import { createUndiciHttp } from "../../../src/adapters/network/undici-http.ts";
import { createWsSockets } from "../../../src/adapters/network/ws-socket.ts";
import { systemClock } from "../../../src/adapters/system/system-clock.ts";
import { systemRandom } from "../../../src/adapters/system/system-random.ts";
import { MarketBoard } from "../../../src/board/index.ts";
import { StoreWriter } from "../../../src/ingest/store-writer.ts";
import { VenueHealth } from "../../../src/ingest/venue-health.ts";
import { VenueIngest } from "../../../src/ingest/venue-ingest.ts";
import type { Clock } from "../../../src/ports/clock.ts";
import type { DropCounter, VenueAdapter } from "../../../src/ports/venue.ts";
import { StoredPastPrices } from "../../../src/storage/past-prices.ts";
import { loadVenue } from "../../../src/venues/registry.ts";
import { MemoryHistory, MemoryMarketStore, MemoryTicks } from "../memory-stores.ts";
import { quietLog } from "../quiet-log.ts";
import { type FaultControl, faultControl } from "./fault-control.ts";
import { testSandbox } from "./sandbox.ts";

/** Time of the world, the venues and the ingest passes this much faster than the wall clock. */
const TIME_FACTOR = 100;
/** Sleeps are shortened less than `TIME_FACTOR`; otherwise sweeps would use most of the CPU time. */
const SLEEP_FACTOR = 30;
const GENESIS = Date.UTC(2026, 10, 20);

export interface FaultHarness extends FaultControl {
  /** Drop counts in health, by venue and reason. */
  drops(): Record<string, Readonly<Record<string, number>>>;
  /** Whether every venue's stream is up. */
  areStreamsUp(): boolean;
  /** Divides the request timeouts by the time factor as well. */
  setShortDeadlines(isEnabled: boolean): void;
  close(): Promise<void>;
}

/** The production adapters and ingest against a small sandbox with fault switches. Only the stores are in memory. */
export async function openFaultHarness(): Promise<FaultHarness> {
  const startedAt = systemClock.monotonic();
  const now = () => Math.floor(GENESIS + 3_600_000 + (systemClock.monotonic() - startedAt) * TIME_FACTOR);
  const clock: Clock = {
    now,
    monotonic: () => systemClock.monotonic() * TIME_FACTOR,
    yieldToEventLoop: systemClock.yieldToEventLoop,
    setTimeout: (callback, delayMs) => systemClock.setTimeout(callback, delayMs / TIME_FACTOR),
    sleep: (delayMs, signal) => systemClock.sleep(delayMs / SLEEP_FACTOR, signal),
  };
  const sandbox = await testSandbox({ marketCount: 60, speed: 20, genesis: GENESIS, now });
  const realHttp = createUndiciHttp(clock);
  let hasShortDeadlines = false;
  const http: Pick<typeof realHttp, "send"> = {
    send: (request) =>
      realHttp.send(
        hasShortDeadlines ? { ...request, deadlineMs: Math.ceil(request.deadlineMs / TIME_FACTOR) } : request,
      ),
  };
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const key = { keyId: "test", privateKeyPem: privateKey.export({ type: "pkcs8", format: "pem" }).toString() };
  const board = new MarketBoard(now);
  const store = new MemoryMarketStore();
  const storeWriter = new StoreWriter({ board, store, ticks: new MemoryTicks(), clock, log: quietLog });
  const openVenue = async (name: SandboxVenue) => {
    const createVenue = await loadVenue({ id: name, adapter: name, referenceOnly: false });
    const drop: DropCounter = (reason, count) => health.drop(reason, count);
    const adapter: VenueAdapter = createVenue(
      {
        http,
        clock,
        random: systemRandom,
        log: quietLog,
        areLimitsLifted: true,
        sockets: createWsSockets(clock),
        socketIo: createSocketIoClient(clock),
        drop,
        drift: () => {},
      },
      sandbox.urls[name] ?? {},
      name === "kalshi" ? key : null,
    );
    const health: VenueHealth = new VenueHealth(clock, adapter.profile);
    return { adapter, health };
  };
  const venues = await Promise.all(SANDBOX_VENUES.map(openVenue));
  const adapters = venues.map(({ adapter }) => adapter);
  const pastPrices = new StoredPastPrices({
    history: new MemoryHistory(),
    venues: adapters,
    board,
    clock,
    store: (market) => storeWriter.flushMarket(market),
  });
  const areFirstSweepsOver = () => venues.every((each) => each.health.isSettled);
  const shared = { board, storeWriter, pastPrices, areFirstSweepsOver, clock, log: quietLog };
  const ingests = venues.map(({ adapter, health }) => new VenueIngest({ ...shared, venue: adapter, health }));
  storeWriter.start();
  for (const ingest of ingests) ingest.start();
  const healthReports = () => venues.map(({ adapter, health }) => [adapter.id, health.report(0)] as const);
  return {
    ...faultControl(sandbox),
    drops: () => Object.fromEntries(healthReports().map(([venue, { drops }]) => [venue, drops])),
    areStreamsUp: () => healthReports().every(([, { stream }]) => stream === "up"),
    setShortDeadlines(isEnabled) {
      hasShortDeadlines = isEnabled;
    },
    async close() {
      await Promise.all(ingests.map((ingest) => ingest.stop()));
      await storeWriter.close();
      await Promise.all([realHttp.close(), sandbox.close()]);
    },
  };
}
