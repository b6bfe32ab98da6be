import { VENUE_MEMBERS, VENUE_SERVICES } from "../venues/registry.ts";
import { SETTINGS } from "./settings.ts";
import type { Environment, SettingsReader } from "./settings-reader.ts";

/**
 * Names of settings that contain a venue: base URLs (`PARALLAX_<VENUE>_<SERVICE>_URL`), API keys, and kinds of
 * membership. The default URLs are the sandbox's URLs in sandbox mode and the venue's public URLs in live mode.
 */
const VENUE_SETTING_PATTERN = /^PARALLAX_([A-Z]+)_(?:(?:([A-Z]+)_)?URL|(KEY_ID|PRIVATE_KEY_FILE)|(MEMBER))$/;

export interface VenueKeyFile {
  readonly keyId: string;
  readonly privateKeyFile: string;
}

export interface VenueOverrides {
  /** Base URLs by adapter and service that replace the defaults. */
  readonly venueUrls: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** API keys by adapter, for venues whose stream requires one. */
  readonly venueKeys: Readonly<Record<string, VenueKeyFile>>;
  /** Kinds of the operator's membership by adapter, for venues whose fees depend on it. */
  readonly venueMembers: Readonly<Record<string, string>>;
}

/** Reads the settings that contain a venue. Reports every unknown `PARALLAX_*` name as an error. */
export function parseVenueOverrides(environment: Environment, reader: SettingsReader): VenueOverrides {
  const { errors } = reader;
  const venueUrls: Record<string, Record<string, string>> = {};
  const venueMembers: Record<string, string> = {};
  const keyFiles: Record<string, Partial<VenueKeyFile>> = {};
  const settingNames = new Set(SETTINGS.map((setting) => setting.name));
  for (const [name, value = ""] of Object.entries(environment)) {
    if (!name.startsWith("PARALLAX_") || settingNames.has(name)) continue;
    const match = VENUE_SETTING_PATTERN.exec(name);
    const adapter = match?.[1]?.toLowerCase() ?? "";
    const serviceNames = Object.hasOwn(VENUE_SERVICES, adapter) ? VENUE_SERVICES[adapter] : undefined;
    if (match === null || serviceNames === undefined) {
      errors.push(`${name}: no such setting (npm start -- --help lists all settings)`);
    } else if (match[4] !== undefined) {
      const members = VENUE_MEMBERS[adapter];
      if (members === undefined) errors.push(`${name}: ${adapter} has no kinds of membership`);
      else if (value !== "" && !members.includes(value)) errors.push(`${name}: must be one of ${members.join(", ")}`);
      else if (value !== "") venueMembers[adapter] = value;
    } else if (match[3] !== undefined) {
      if (value === "") continue;
      keyFiles[adapter] = { ...keyFiles[adapter], [match[3] === "KEY_ID" ? "keyId" : "privateKeyFile"]: value };
    } else {
      // `PARALLAX_<VENUE>_URL` sets the first service.
      const service = match[2]?.toLowerCase() ?? serviceNames[0] ?? "";
      if (!serviceNames.includes(service))
        errors.push(`${name}: ${adapter} has no service ${service} (it has ${serviceNames.join(", ")})`);
      const url = reader.url(name, service === "ws" ? ["ws:", "wss:"] : ["http:", "https:"], value);
      if (url !== null) venueUrls[adapter] = { ...venueUrls[adapter], [service]: url };
    }
  }
  const venueKeys: Record<string, VenueKeyFile> = {};
  for (const [adapter, { keyId, privateKeyFile }] of Object.entries(keyFiles)) {
    const prefix = `PARALLAX_${adapter.toUpperCase()}`;
    if (keyId !== undefined && privateKeyFile !== undefined) venueKeys[adapter] = { keyId, privateKeyFile };
    else errors.push(`${prefix}_KEY_ID and ${prefix}_PRIVATE_KEY_FILE must be set together`);
  }
  return { venueUrls, venueKeys, venueMembers };
}
