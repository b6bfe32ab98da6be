import { createPinoLog } from "../adapters/system/pino-log.ts";
import { parseConfig } from "../config/config.ts";
import type { Environment } from "../config/settings-reader.ts";
import { VENUE_SERVICES } from "../venues/registry.ts";
import { runCustomers } from "./customers/run.ts";

/** Runs `parallax customers`. Standard output holds only the result, for other programs; the log reports errors only. */
export async function runCustomersCommand(argv: readonly string[], environment: Environment): Promise<void> {
  const { code, out, err } = await runCustomers(
    argv,
    () => parseConfig(environment, VENUE_SERVICES),
    createPinoLog("error"),
  );
  process.stdout.write(out);
  process.stderr.write(err);
  process.exitCode = code;
}
