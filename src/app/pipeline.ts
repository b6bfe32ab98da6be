import { MarketBoard } from "../board/index.ts";
import { tradingVenuesOf } from "../capabilities/area-ports.ts";
import {
  type AlertFigures,
  createMarketAlerts,
  DEFAULT_ALERT_LIMITS,
} from "../capabilities/events/market-alerts/index.ts";
import { createEventLog } from "../event-log/index.ts";
import { createIngest, createRemoteIngest, type IngestThread, type IngestVenue, VenueHealth } from "../ingest/index.ts";
import type { AppPorts } from "./ports.ts";

/** Dependencies and settings of the ingest. */
export type PipelinePorts = Pick<
  AppPorts,
  "venues" | "database" | "bus" | "clock" | "log" | "node" | "eventDays" | "retention" | "storeBytesMax" | "alertLimits"
>;

const NO_ALERTS: AlertFigures = { logged: 0, dropped: 0, watchedMarkets: 0 };

/** Creates the board, the ingest that reads the venues into it, and the detectors of alerts, all in this thread. */
export function buildLocalPipeline(ports: PipelinePorts, { isServedElsewhere = false } = {}) {
  const { clock } = ports;
  const board = new MarketBoard(() => clock.now(), { isSearchable: !isServedElsewhere });
  const eventLog = createEventLog(ports);
  const ingest = createIngest({ ...ports, venues: createVenues(ports), board, eventLog, isServedElsewhere });
  const alerts = createMarketAlerts({
    ...ports,
    eventLog,
    venues: tradingVenuesOf(ports),
    limits: ports.alertLimits ?? DEFAULT_ALERT_LIMITS,
    requestTakers: (market) => ingest.requestTakers(market),
  });
  ingest.observe(alerts.observer);
  return { board, ingest, eventLog, alerts };
}

/** Creates a board that copies the board of a separate ingest thread. That thread also detects alerts. */
export function buildRemotePipeline(ports: PipelinePorts, spawn: () => IngestThread) {
  const { clock } = ports;
  const board = new MarketBoard(() => clock.now());
  const eventLog = createEventLog(ports);
  const ingest = createRemoteIngest<AlertFigures>({ ...ports, venues: createVenues(ports), board, spawn });
  const alerts = {
    get figures() {
      return ingest.figures ?? NO_ALERTS;
    },
    start() {},
    async stop() {},
  };
  return { board, ingest, eventLog, alerts };
}

function createVenues({ venues, clock }: PipelinePorts): IngestVenue[] {
  return venues.map(({ create }) => {
    // `health` needs the adapter's profile, and the adapter calls `health` only after both are created.
    const adapter = create(
      (reason, count) => health.drop(reason, count),
      (kind, field, value) => health.drift(kind, field, value),
      (receivedBytes, decodedBytes) => health.requested(receivedBytes, decodedBytes),
    );
    const health = new VenueHealth(clock, adapter.profile);
    return { adapter, health };
  });
}
