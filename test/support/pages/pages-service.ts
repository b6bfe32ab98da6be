import type { Browser } from "playwright-core";
import { atProcessEnd } from "../file-end.ts";
import { type ServiceProcess, startServiceProcess, temporaryFolder } from "../service-process.ts";
import { launchBrowser } from "./browser.ts";

let opened: Promise<{ readonly service: ServiceProcess; readonly browser: Browser }> | null = null;

/** Starts the service and a browser at the first call. All test files of the process share them. */
export function openPagesService() {
  opened ??= (async () => {
    const folder = await temporaryFolder();
    atProcessEnd(folder.release);
    const service = await startServiceProcess({
      dataDir: folder.path,
      env: { PARALLAX_SANDBOX_MARKETS: "100", PARALLAX_SANDBOX_SPEED: "1", PARALLAX_SANDBOX_LIMITS: "off" },
    });
    atProcessEnd(() => service.end());
    const browser = await launchBrowser();
    atProcessEnd(() => browser.close());
    return { service, browser };
  })();
  return opened;
}
