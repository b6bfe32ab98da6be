import { generateKeyPairSync } from "node:crypto";
import { SANDBOX_VENUES, type SandboxVenue } from "../../../sandbox/world/types.ts";
import { createSocketIoClient } from "../../../src/adapters/network/socket-io-client.ts";
import { createUndiciHttp } from "../../../src/adapters/network/undici-http.ts";
import { createWsSockets } from "../../../src/adapters/network/ws-socket.ts";
import { systemClock } from "../../../src/adapters/system/system-clock.ts";
import { systemRandom } from "../../../src/adapters/system/system-random.ts";
import { VenueHealth } from "../../../src/ingest/venue-health.ts";
import type { Clock } from "../../../src/ports/clock.ts";
import type { DropCounter, VenueAdapter } from "../../../src/ports/venue.ts";
import { loadVenue } from "../../../src/venues/registry.ts";
import { quietLog } from "../quiet-log.ts";
import { type FaultControl, faultControl } from "./fault-control.ts";
import { createMemoryIngest } from "./memory-ingest.ts";
import { testSandbox } from "./sandbox.ts";

/** Speed of the clock of the world, the venues and the ingest, relative to the wall clock. */
const TIME_FACTOR = 100;
/** Divisor of sleeps; smaller than `TIME_FACTOR`, because frequent sweeps would use most of the CPU time. */
const SLEEP_FACTOR = 30;
const GENESIS = Date.UTC(2026, 10, 20);

export interface FaultHarness extends FaultControl {
  /** Returns the drop counts in health by venue and reason. */
  drops(): Record<string, Readonly<Record<string, number>>>;
  /** Returns whether the streams of all venues are connected. */
  areStreamsUp(): boolean;
  /** Sets whether request timeouts are divided by the time factor. */
  setShortDeadlines(isEnabled: boolean): void;
  close(): Promise<void>;
}

/** Connects the production adapters and ingest to a small sandbox with fault switches. The stores are in memory. */
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
  const kalshiKey = { keyId: "test", privateKeyPem: privateKey.export({ type: "pkcs8", format: "pem" }).toString() };
  const openVenue = async (name: SandboxVenue) => {
    const createVenue = await loadVenue({ id: name, adapter: name });
    const countDrop: DropCounter = (reason, count) => health.drop(reason, count);
    const adapter: VenueAdapter = createVenue(
      {
        http,
        clock,
        random: systemRandom,
        log: quietLog,
        areLimitsLifted: true,
        sockets: createWsSockets(clock),
        socketIo: createSocketIoClient(clock),
        countDrop,
        drift: () => {},
      },
      sandbox.urls[name] ?? {},
      { key: name === "kalshi" ? kalshiKey : null, member: null },
    );
    const health: VenueHealth = new VenueHealth(clock, adapter.profile);
    return { adapter, health };
  };
  const venues = await Promise.all(SANDBOX_VENUES.map(openVenue));
  const ingest = createMemoryIngest(clock, venues);
  ingest.start();
  const reportHealth = () => venues.map(({ adapter, health }) => [adapter.id, health.report(0)] as const);
  return {
    ...faultControl(sandbox),
    drops: () => Object.fromEntries(reportHealth().map(([venue, { drops }]) => [venue, drops])),
    areStreamsUp: () => reportHealth().every(([, { stream }]) => stream === "up"),
    setShortDeadlines(isEnabled) {
      hasShortDeadlines = isEnabled;
    },
    async close() {
      await ingest.stop();
      await Promise.all([realHttp.close(), sandbox.close()]);
    },
  };
}
