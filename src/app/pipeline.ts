import { MarketBoard } from "../board/index.ts";
import type { Pipeline } from "../capabilities/area-ports.ts";
import { createEventLog } from "../event-log/index.ts";
import { createIngest, VenueHealth } from "../ingest/index.ts";
import type { AppPorts } from "./ports.ts";

/** Creates the venue adapters, the board of markets, and the ingest that reads the adapters into the board. */
export function buildPipeline(ports: AppPorts): Pipeline {
  const { clock } = ports;
  const board = new MarketBoard(() => clock.now());
  const venues = ports.venues.map(({ create }) => {
    // `health` needs the adapter's profile, and the adapter calls `health` only after both are created.
    const adapter = create(
      (reason, count) => health.drop(reason, count),
      (kind, field, value) => health.drift(kind, field, value),
      (receivedBytes, decodedBytes) => health.requested(receivedBytes, decodedBytes),
    );
    const health = new VenueHealth(clock, adapter.profile);
    return { adapter, health };
  });
  const eventLog = createEventLog(ports);
  return { board, ingest: createIngest({ ...ports, venues, board, eventLog }), eventLog };
}
