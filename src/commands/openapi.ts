import { writeFileSync } from "node:fs";
import { createInProcessBus } from "../adapters/bus/in-process-bus.ts";
import { createUnavailableDatabase } from "../adapters/database/unavailable-database.ts";
import { createMemoryQuotaJournal } from "../adapters/metering/quota-journal-memory.ts";
import { createPinoLog } from "../adapters/system/pino-log.ts";
import { createSecretBox } from "../adapters/system/secret-box.ts";
import { systemRandom } from "../adapters/system/system-random.ts";
import type { Config } from "../config/config.ts";
import { buildServiceApp, type Closers } from "./build-service-app.ts";
import { print } from "./terminal.ts";

/** Writes the OpenAPI document of this configuration to a file, or to standard output if `file` is null. */
export async function writeOpenApi(config: Config, file: string | null): Promise<void> {
  const text = `${JSON.stringify(await describeApi(config), null, 2)}\n`;
  if (file === null) print(text);
  else writeFileSync(file, text);
}

/** Builds the app without a store, venues or a listener, and reads its OpenAPI document. */
async function describeApi(config: Config): Promise<unknown> {
  const log = createPinoLog("error");
  const closers: Closers = [];
  const app = await buildServiceApp(
    config,
    {
      bus: createInProcessBus(log),
      journal: createMemoryQuotaJournal(),
      sharedLimits: null,
      secretBox: createSecretBox([systemRandom.bytes(32)], systemRandom),
      database: createUnavailableDatabase(),
      log,
      version: "",
      sandboxUrls: {},
      preparedIngest: null,
    },
    closers,
  );
  await app.http.ready();
  const reply = await app.http.inject("/openapi.json");
  await app.http.close();
  for (const close of closers) await close();
  return reply.json();
}
