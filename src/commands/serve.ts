import { systemClock } from "../adapters/system/system-clock.ts";
import type { Config } from "../config/config.ts";
import { openLog } from "./open-log.ts";
import { startService } from "./start-service.ts";
import { createStartupProgress, describeFirstSweeps } from "./startup/progress.ts";
import { onSignal, printForPeople } from "./terminal.ts";

/**
 * After SIGTERM the service continues to serve requests for this long, so that load balancers can remove it. Ctrl-C
 * skips this.
 */
const SIGTERM_GRACE_MS = 2_000;

/** Starts the service, prints its progress and the banner, and runs until a signal. */
export async function serve(config: Config, version: string, environment: NodeJS.ProcessEnv): Promise<void> {
  const progress = createStartupProgress({ clock: systemClock, print: printForPeople });
  try {
    const service = await startService({
      config,
      log: openLog(config.logLevel, environment),
      version,
      onProgress: progress.begin,
    });
    printForPeople(service.banner);
    onSignal(async (signal) => {
      progress.end();
      await service.close(signal === "SIGTERM" ? SIGTERM_GRACE_MS : 0);
      process.exit(0);
    });
    progress.begin("Reading the markets of the venues", () => describeFirstSweeps(service.venues()));
    const markets = await service.ready;
    progress.end();
    printForPeople(`  Ready: ${markets} markets\n\n`);
  } finally {
    progress.end();
  }
}
