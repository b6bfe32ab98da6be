import { createUnavailableDatabase } from "../../../src/adapters/database/unavailable-database.ts";
import { systemClock } from "../../../src/adapters/system/system-clock.ts";
import { type App, type AppPorts, buildApp } from "../../../src/app/index.ts";
import { plainAppPorts } from "../app-ports.ts";
import { quietLog } from "../quiet-log.ts";
import { ScriptedVenue } from "../venues/scripted-venue.ts";

/** The ids that the stored examples use, in the order of the default configuration. */
export const DEFAULT_VENUES: readonly string[] = ["kalshi", "polymarket", "limitless", "manifold"];

/** Builds the app without a store, for tests of the documentation. The last venue is a reference venue. */
export async function openDocsApp(
  options: Partial<AppPorts> & { readonly venueIds?: readonly string[] } = {},
): Promise<App> {
  const { venueIds = DEFAULT_VENUES, ...ports } = options;
  const app = await buildApp(
    plainAppPorts({
      database: createUnavailableDatabase(),
      log: quietLog,
      venues: venueIds.map((id, index) => ({
        id,
        referenceOnly: index === venueIds.length - 1,
        playMoney: index === venueIds.length - 1,
        create: () => new ScriptedVenue(id, systemClock),
      })),
      ...ports,
    }),
  );
  await app.http.ready();
  return app;
}
