import { afterEach } from "node:test";
import { createInProcessBus } from "../../../src/adapters/bus/in-process-bus.ts";
import { MarketBoard } from "../../../src/board/index.ts";
import { createEventLog } from "../../../src/event-log/index.ts";
import { createIngest, type Ingest, VenueHealth } from "../../../src/ingest/index.ts";
import type { Database } from "../../../src/ports/database.ts";
import { FakeClock } from "../fake-clock.ts";
import { SAMPLE_AT } from "../markets/market-samples.ts";
import { quietLog } from "../quiet-log.ts";
import { ScriptedVenue } from "./scripted-venue.ts";

const openIngests: Ingest[] = [];
afterEach(async () => {
  for (const ingest of openIngests.splice(0)) await ingest.stop();
});

/** Creates the ingest of one scripted venue, "alpha", with a real store and a fake clock, until the end of the test. */
export function openStoredIngest(database: Database) {
  const clock = new FakeClock(SAMPLE_AT);
  const board = new MarketBoard(() => clock.now());
  const venue = new ScriptedVenue("alpha", clock);
  const venues = [{ adapter: venue, health: new VenueHealth(clock, venue.profile) }];
  const eventLog = createEventLog({ database, bus: createInProcessBus(quietLog) });
  const ingest = createIngest({ venues, board, database, clock, log: quietLog, eventLog, eventDays: 7 });
  openIngests.push(ingest);
  return { clock, board, venue, ingest };
}
