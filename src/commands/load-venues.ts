import { readFile } from "node:fs/promises";
import type { AppPorts } from "../app/index.ts";
import type { Config } from "../config/config.ts";
import type { ByteCounter, HttpOut } from "../ports/http-out.ts";
import { loadVenue, type VenueSetting } from "../venues/registry.ts";
import type { SandboxUrls } from "./sandbox-process.ts";

/** The settings of the venues. */
export type VenueConfig = Pick<Config, "venues" | "venueKeys" | "venueUrls" | "venueMembers" | "sandbox">;

/** Loads the adapters of the configured venues. */
export async function loadVenues(
  config: VenueConfig,
  sandboxUrls: SandboxUrls,
  ports: Omit<Parameters<Awaited<ReturnType<typeof loadVenue>>>[0], "countDrop" | "drift" | "areLimitsLifted">,
): Promise<AppPorts["venues"]> {
  const loadConfiguredVenue = async (setting: VenueSetting) => {
    const { id, adapter, referenceOnly, playMoney } = setting;
    const createVenue = await loadVenue(setting);
    const keyFile = config.venueKeys[adapter];
    const key =
      keyFile === undefined
        ? null
        : { keyId: keyFile.keyId, privateKeyPem: await readFile(keyFile.privateKeyFile, "utf8") };
    const configuredUrls = config.venueUrls[adapter] ?? {};
    const urls = { ...sandboxUrls[adapter], ...configuredUrls };
    // A configured URL may be a real venue, so its rate limits always apply.
    const areLimitsLifted =
      !config.sandbox.limits && sandboxUrls[adapter] !== undefined && Object.keys(configuredUrls).length === 0;
    return {
      id,
      adapter,
      referenceOnly,
      playMoney,
      create: ((countDrop, drift, countBytes) =>
        createVenue(
          { ...ports, http: countingBytes(ports.http, countBytes), countDrop, drift, areLimitsLifted },
          urls,
          { key, member: config.venueMembers[adapter] ?? null },
        )) satisfies AppPorts["venues"][number]["create"],
    };
  };
  return Promise.all(config.venues.map(loadConfiguredVenue));
}

const countingBytes = (http: HttpOut, countBytes: ByteCounter): HttpOut => ({
  send: (request) => http.send({ ...request, countBytes }),
});
