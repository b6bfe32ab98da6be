import type { AppPorts } from "./app-ports.ts";
import { findActivePlans, KEYS_TOPIC } from "./capabilities/keys/index.ts";
import { createStreaming, type Streaming } from "./capabilities/streaming/index.ts";
import type { EventLog } from "./event-log/index.ts";

/** Creates the service of event streams. The caller registers its route with `streamRoutes`. */
export function buildStreaming(ports: AppPorts, { eventLog }: { readonly eventLog: EventLog }): Streaming {
  const { database, bus, clock, random, log } = ports;
  return createStreaming({
    ...{ bus, clock, random, log: eventLog, logger: log, keysTopic: KEYS_TOPIC, limits: ports.streams },
    readPlans: (keyIds) => findActivePlans(database, keyIds),
  });
}
