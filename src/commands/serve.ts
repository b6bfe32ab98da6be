import { createPinoLog } from "../adapters/system/pino-log.ts";
import type { Config } from "../config/config.ts";
import { startService } from "./start-service.ts";
import { onSignal, print } from "./terminal.ts";

/**
 * After SIGTERM the service continues to serve requests for this long, so that load balancers can remove it. Ctrl-C
 * skips this.
 */
const SIGTERM_GRACE_MS = 2_000;

/** Starts the service, prints its progress and the banner, and runs until a signal. */
export async function serve(config: Config, version: string): Promise<void> {
  const onProgress = (step: string) => print(`  ${step} …\n`);
  const service = await startService({ config, log: createPinoLog(config.logLevel), version, onProgress });
  print(service.banner);
  onSignal(async (signal) => {
    await service.close({ graceMs: signal === "SIGTERM" ? SIGTERM_GRACE_MS : 0 });
    process.exit(0);
  });
  onProgress("Reading the markets of the venues");
  print(`  Ready: ${await service.ready} markets\n\n`);
}
