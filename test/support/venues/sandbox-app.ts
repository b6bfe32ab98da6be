import type { RunningSandbox } from "../../../sandbox/main.ts";
import { createSocketIoClient } from "../../../src/adapters/network/socket-io-client.ts";
import { createUndiciHttp } from "../../../src/adapters/network/undici-http.ts";
import { createWsSockets } from "../../../src/adapters/network/ws-socket.ts";
import { systemClock } from "../../../src/adapters/system/system-clock.ts";
import { systemRandom } from "../../../src/adapters/system/system-random.ts";
import { type App, buildApp } from "../../../src/app/index.ts";
import type { MatchedPairs } from "../../../src/capabilities/markets/matching/index.ts";
import type { Database } from "../../../src/ports/database.ts";
import { loadVenue } from "../../../src/venues/registry.ts";
import { plainAppPorts } from "../app-ports.ts";
import { quietLog } from "../quiet-log.ts";

const VENUES = ["kalshi", "polymarket", "limitless", "manifold"] as const;

/**
 * Builds the service on a sandbox, in this process, with the venues' production adapters.
 *
 * @param areLimitsLifted  whether the adapters may exceed the venues' published limits
 */
export async function buildSandboxApp(options: {
  readonly sandbox: RunningSandbox;
  readonly database: Database;
  readonly areLimitsLifted: boolean;
  readonly matchedPairs: MatchedPairs;
}): Promise<{ readonly app: App; close(): Promise<void> }> {
  const { sandbox, database, areLimitsLifted, matchedPairs } = options;
  const http = createUndiciHttp(systemClock);
  const ports = {
    http,
    clock: systemClock,
    random: systemRandom,
    log: quietLog,
    areLimitsLifted,
    sockets: createWsSockets(systemClock),
    socketIo: createSocketIoClient(systemClock),
  };
  const venues = await Promise.all(
    VENUES.map(async (id) => {
      const referenceOnly = id === "manifold";
      const createVenue = await loadVenue({ id, adapter: id });
      const create: Parameters<typeof plainAppPorts>[0]["venues"][number]["create"] = (countDrop, drift) =>
        createVenue({ ...ports, countDrop, drift }, sandbox.urls[id] ?? {}, { key: null, member: null });
      return { id, adapter: id, referenceOnly, playMoney: referenceOnly, create };
    }),
  );
  const app = await buildApp(plainAppPorts({ database, log: quietLog, venues, matchedPairs }));
  return {
    app,
    async close() {
      await app.stop();
      await app.http.close();
      await http.close();
    },
  };
}
