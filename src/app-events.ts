import type { AppPorts } from "./app-ports.ts";
import { findActivePlans, KEYS_TOPIC } from "./capabilities/keys/index.ts";
import { createMarketAlerts, DEFAULT_ALERT_LIMITS, type MarketAlerts } from "./capabilities/market-alerts/index.ts";
import { createStreaming, type Streaming } from "./capabilities/streaming/index.ts";
import type { EventLog } from "./event-log/index.ts";
import type { Ingest } from "./ingest/index.ts";

/** Creates the service of event streams. The caller registers its route with `streamRoutes`. */
export function buildStreaming(ports: AppPorts, { eventLog }: { readonly eventLog: EventLog }): Streaming {
  const { database, bus, clock, random, log } = ports;
  return createStreaming({
    ...{ bus, clock, random, log: eventLog, logger: log, keysTopic: KEYS_TOPIC, limits: ports.streams },
    readPlans: (keyIds) => findActivePlans(database, keyIds),
  });
}

/** Connects the detectors of price shifts and large trades to the live feed of ingest. */
export function buildDetectors(
  ports: AppPorts,
  { ingest, eventLog }: { readonly ingest: Ingest; readonly eventLog: EventLog },
): MarketAlerts {
  const { database, clock, log, alertLimits = DEFAULT_ALERT_LIMITS } = ports;
  const venues = ports.venues.filter((venue) => !venue.referenceOnly).map(({ id }) => id);
  const alerts = createMarketAlerts({ database, eventLog, clock, log, venues, limits: alertLimits });
  ingest.observe(alerts.observer);
  return alerts;
}
