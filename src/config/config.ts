import { isIP } from "node:net";
import { isTurnstileTestSecret, TURNSTILE_URL } from "../capabilities/accounts/customers/turnstile.ts";
import { isLoopbackHost } from "../lib/loopback.ts";
import { parseVenues, VENUE_SERVICES } from "../venues/registry.ts";
import { parseAlertSettings } from "./alert-settings.ts";
import { ConfigError } from "./config-error.ts";
import { parsePaymentSettings } from "./payment-settings.ts";
import { parseResearchSettings } from "./research-settings.ts";
import { type Environment, SettingsReader } from "./settings-reader.ts";
import { parseVenueOverrides } from "./venue-settings.ts";

/** Settings of one process, parsed once from the environment. */
export type Config = ReturnType<typeof parseConfig>;

type Mode = "sandbox" | "live";
type Role = "api" | "ingest" | "worker";

const ROLES: readonly Role[] = ["api", "ingest", "worker"];
/** Minimum setting. The board shows settled markets for 30 days, so the store must keep them longer. */
const SETTLED_MARKET_DAYS_MIN = 31;
/** Default maximum size of a store with simulated data: below 1 GB. */
const SANDBOX_STORE_MAX_MIB = 900;
/** Minimum setting. A new store and its write-ahead log need 200 MiB. */
const STORE_MAX_MIB_MIN = 256;
/** 32 base64 characters encode 24 random bytes. Commas are excluded because they separate two secrets. */
const MARKETPLACE_SECRET_PATTERN = /^[\x21-\x2b\x2d-\x7e]{32,200}$/;
/** Base64 of 32 bytes. */
const SECRET_KEY_PATTERN = /^[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=$/;
/** The current secret and the one that it replaces. */
const SECRETS_MAX = 2;
/** An address, or a name followed by an address in angle brackets. */
const MAIL_FROM_PATTERN = /^(?:[^\s<>@,;"]+@[^\s<>@,;"]+|[^\p{Cc}<>@,;"]+ <[^\s<>@,;"]+@[^\s<>@,;"]+>)$/u;
const SITE_KEY_PATTERN = /^[A-Za-z0-9_-]{1,100}$/;
const METRICS_TOKEN_PATTERN = /^[A-Za-z0-9\-._~+/=]{16,200}$/;
const HTTP_SCHEMES = ["http:", "https:"];

/**
 * Parses the environment.
 *
 * @throws ConfigError with every error, including unknown `PARALLAX_*` names
 */
export function parseConfig(environment: Environment) {
  const reader = new SettingsReader(environment);
  const { errors } = reader;
  const venueOverrides = parseVenueOverrides(environment, reader);
  const mode = reader.oneOf("PARALLAX_MODE", ["sandbox", "live"]);
  const publicUrl = parsePublicUrl(reader);
  const parsedVenues = parseVenues(reader.text("PARALLAX_VENUES"));
  errors.push(...parsedVenues.faults.map((error) => `PARALLAX_VENUES: ${error}`));
  const config = {
    mode,
    host: parseHost(reader, mode),
    port: reader.integer("PARALLAX_PORT", 0, 65_535),
    dataDir: reader.text("PARALLAX_DATA_DIR"),
    /** Free disk space in MiB below which the embedded store rejects writes; 0 disables the check. */
    diskReserveMib: reader.integer("PARALLAX_DISK_RESERVE_MIB", 0, 1_048_576),
    /** Size in MiB of the embedded store above which the oldest data is deleted early; 0 is unlimited. */
    storeMaxMib: parseStoreMaxMib(reader, mode),
    venues: parsedVenues.venues,
    roles: parseRoles(reader),
    /** Whether a separate thread reads the venues, in a process with the roles `api` and `ingest`. */
    hasIngestThread: reader.oneOf("PARALLAX_INGEST_THREAD", ["on", "off"]) === "on",
    databaseUrl: reader.url("DATABASE_URL", ["postgres:", "postgresql:"]),
    redisUrl: reader.url("REDIS_URL", ["redis:", "rediss:"]),
    sandbox: {
      seed: reader.integer("PARALLAX_SANDBOX_SEED", 0, 4_294_967_295),
      speed: reader.integer("PARALLAX_SANDBOX_SPEED", 1, 3_600),
      markets: reader.integer("PARALLAX_SANDBOX_MARKETS", 10, 500_000),
      limits: reader.oneOf("PARALLAX_SANDBOX_LIMITS", ["on", "off"]) === "on",
      /**
       * Whether users of other machines can reach the service. It then shows no sign-in links, and rejects webhooks to
       * loopback addresses.
       */
      isPublic: isPublicSandbox(reader, publicUrl),
      /** First port of the sandbox's listeners; 0 picks free ports. */
      port: reader.integer("PARALLAX_SANDBOX_PORT", 0, 65_500),
      /** Faults to inject from the start; parsed by the sandbox. */
      faults: reader.text("PARALLAX_SANDBOX_FAULTS"),
      /** Recording to replay instead of simulating; null simulates. */
      recording: reader.textOrNull("PARALLAX_SANDBOX_RECORDING"),
      /** Share of the recording that is history at the first start, in [0, 1]. */
      recordingPastShare: reader.integer("PARALLAX_SANDBOX_RECORDING_PAST", 0, 100) / 100,
    },
    ...venueOverrides,
    /** Origin of the public API, for links. */
    publicUrl,
    /** External page where customers upgrade their plan. */
    upgradeUrl: reader.url("PARALLAX_UPGRADE_URL", HTTP_SCHEMES),
    /** Secrets that authenticate the API marketplace: none, one, or two during a rotation. */
    marketplaceSecrets: parseMarketplaceSecrets(reader),
    /** Addresses or CIDR ranges of proxies whose forwarding headers are trusted; null trusts none. */
    trustProxy: parseTrustProxy(reader),
    /** Origins whose scripts may use the API. */
    corsOrigins: parseCorsOrigins(reader),
    /** Maximum open connections to the API: in total, and per IPv4 address or IPv6 /64. */
    connections: {
      total: reader.integer("PARALLAX_CONNECTIONS_MAX", 1, 1_000_000),
      perAddress: reader.integer("PARALLAX_CONNECTIONS_PER_ADDRESS_MAX", 1, 1_000_000),
    },
    /**
     * Keys of 32 bytes. The first one encrypts stored secrets; every key decrypts them. If empty, the key is in the data
     * directory.
     */
    secretKeys: parseSecretKeys(reader),
    /** Whether the key of the secrets in the store is lost, and may be replaced. */
    isSecretKeyLost: reader.oneOf("PARALLAX_SECRET_KEY_LOST", ["0", "1"]) === "1",
    /** Serves reads of the store, changes nothing and sends nothing, to check a backup. */
    isReadOnly: reader.oneOf("PARALLAX_READ_ONLY", ["0", "1"]) === "1",
    /** Whether the store was restored from a backup; null if the service must find this out at the start. */
    isRestored: parseRestored(reader),
    /** Maximum number of webhook requests per second to one host name. */
    webhookHostRate: reader.integer("PARALLAX_WEBHOOK_HOST_RATE", 1, 1_000_000),
    rawTickDays: reader.integer("PARALLAX_RAW_TICK_DAYS", 1, 3_650),
    /** Limits above which price shifts and trades cause alerts. */
    alertLimits: parseAlertSettings(reader),
    eventDays: reader.integer("PARALLAX_EVENT_DAYS", 1, 365),
    analysisConcurrency: reader.integer("PARALLAX_ANALYSIS_CONCURRENCY", 1, 8),
    tradeDays: reader.integer("PARALLAX_TRADE_DAYS", 2, 3_650),
    fiveMinuteBarDays: reader.integer("PARALLAX_BAR_DAYS", 30, 36_500),
    /** Days after settlement until a market and its history are deleted; null never deletes them. */
    settledMarketDays: parseSettledMarketDays(reader),
    /** Format of `Retry-After` if a monthly quota is used up. */
    quotaRetryAfter: reader.oneOf("PARALLAX_RETRY_AFTER", ["date", "seconds"]),
    /** Prometheus metrics on a separate port, on the API port behind a token, or both; null disables them. */
    metrics: parseMetrics(reader),
    /** Per-call payments; null disables them. */
    payments: parsePaymentSettings(reader, { mode, publicUrl }),
    /** Research with a language model; null if no model is set. */
    research: parseResearchSettings(reader),
    /** Bot check of sign-up; null if no secret is set. */
    turnstile: parseTurnstile(reader, mode),
    /** Outgoing mail; null skips the verification of e-mail addresses. */
    mail: parseMail(reader, publicUrl),
    /** Domains, and files of domains, to reject at sign-up in addition to the built-in list. */
    disposableDomains: reader.list("PARALLAX_DISPOSABLE_DOMAINS"),
    auditDays: reader.integer("PARALLAX_AUDIT_DAYS", 1, 36_500),
    logLevel: reader.oneOf("PARALLAX_LOG_LEVEL", ["debug", "info", "warn", "error"]),
  };
  if (errors.length > 0) throw new ConfigError(errors);
  return Object.freeze(config);
}

function parseRestored(reader: SettingsReader): boolean | null {
  const value = reader.oneOf("PARALLAX_RESTORED", ["auto", "0", "1"]);
  return value === "auto" ? null : value === "1";
}

function parseStoreMaxMib(reader: SettingsReader, mode: Mode): number {
  const name = "PARALLAX_STORE_MAX_MIB";
  if (reader.text(name) === "") return mode === "sandbox" ? SANDBOX_STORE_MAX_MIB : 0;
  return reader.text(name) === "0" ? 0 : reader.integer(name, STORE_MAX_MIB_MIN, 16_777_216);
}

function parsePublicUrl(reader: SettingsReader): string | null {
  const text = reader.url("PARALLAX_PUBLIC_URL", HTTP_SCHEMES);
  if (text === null) return null;
  const { origin, href } = new URL(text);
  if (href !== `${origin}/`)
    reader.errors.push("PARALLAX_PUBLIC_URL: give scheme, host and port only, for example https://api.example.org");
  return origin;
}

/** A sandbox displays sign-in links to every visitor, so it listens on loopback unless it is declared public. */
function parseHost(reader: SettingsReader, mode: Mode): string {
  const host = reader.text("PARALLAX_HOST");
  if (mode === "sandbox" && !isLoopbackHost(host) && reader.text("PARALLAX_SANDBOX_PUBLIC") !== "1")
    reader.errors.push(
      `PARALLAX_HOST=${host}: a sandbox listens on loopback only, because it shows sign-in links to every visitor; set PARALLAX_SANDBOX_PUBLIC=1 to listen on this address without showing links`,
    );
  return host;
}

/** A public URL beyond loopback implies a proxy. */
function isPublicSandbox(reader: SettingsReader, publicUrl: string | null): boolean {
  const isDeclared = reader.oneOf("PARALLAX_SANDBOX_PUBLIC", ["0", "1"]) === "1";
  const hosts = [reader.text("PARALLAX_HOST"), ...(publicUrl === null ? [] : [new URL(publicUrl).hostname])];
  return isDeclared || !hosts.every(isLoopbackHost);
}

function parseRoles(reader: SettingsReader): ReadonlySet<Role> {
  const roles = new Set<Role>();
  for (const name of reader.text("PARALLAX_ROLES").split(",")) {
    const role = ROLES.find((candidate) => candidate === name.trim());
    if (role === undefined) reader.errors.push(`PARALLAX_ROLES: ${name.trim()} is not one of ${ROLES.join(", ")}`);
    else roles.add(role);
  }
  if (roles.size < ROLES.length && reader.text("DATABASE_URL") === "")
    reader.errors.push("PARALLAX_ROLES: a process without all three roles requires a shared store; set DATABASE_URL");
  return roles;
}

function parseTrustProxy(reader: SettingsReader): readonly string[] | null {
  const proxies = reader.list("PARALLAX_TRUST_PROXY");
  for (const proxy of proxies) {
    const [address = "", prefixLength = "1", ...rest] = proxy.split("/");
    const family = isIP(address);
    const isRange =
      /^\d{1,3}$/.test(prefixLength) && Number(prefixLength) >= 1 && Number(prefixLength) <= (family === 4 ? 32 : 128);
    if (family === 0 || !isRange || rest.length > 0)
      reader.errors.push(
        `PARALLAX_TRUST_PROXY: ${proxy} is not an address or CIDR range (a hop count is not accepted: it can be forged)`,
      );
  }
  return proxies.length === 0 ? null : proxies;
}

function parseCorsOrigins(reader: SettingsReader): readonly string[] {
  const origins = reader.list("PARALLAX_CORS_ORIGINS");
  for (const origin of origins)
    if (!URL.canParse(origin) || !HTTP_SCHEMES.includes(new URL(origin).protocol) || new URL(origin).origin !== origin)
      reader.errors.push(
        `PARALLAX_CORS_ORIGINS: ${origin} is not an origin; give scheme and host in lower case, without a path, such as https://app.example.org`,
      );
  return origins;
}

function parseSettledMarketDays(reader: SettingsReader): number | null {
  const days = reader.integer("PARALLAX_SETTLED_MARKET_DAYS", 0, 36_500);
  if (days > 0 && days < SETTLED_MARKET_DAYS_MIN)
    reader.errors.push(
      `PARALLAX_SETTLED_MARKET_DAYS: give 0 or at least ${SETTLED_MARKET_DAYS_MIN}: the API shows settled markets until then`,
    );
  return days === 0 ? null : days;
}

function parseMetrics(reader: SettingsReader) {
  const hasPort = reader.text("PARALLAX_METRICS_PORT") !== "";
  const port = hasPort ? reader.integer("PARALLAX_METRICS_PORT", 0, 65_535) : null;
  const token = reader.textOrNull("PARALLAX_METRICS_TOKEN");
  if (token !== null && !METRICS_TOKEN_PATTERN.test(token))
    reader.errors.push("PARALLAX_METRICS_TOKEN: give 16 to 200 letters, digits or any of -._~+/=");
  return port === null && token === null ? null : { port, token };
}

function parseSecrets(reader: SettingsReader, name: string, pattern: RegExp, hint: string): readonly string[] {
  const text = reader.text(name);
  const secrets = text === "" ? [] : text.split(",").map((secret) => secret.trim());
  if (secrets.length > SECRETS_MAX || !secrets.every((secret) => pattern.test(secret)))
    reader.errors.push(`${name}: ${hint}`);
  return secrets;
}

function parseMarketplaceSecrets(reader: SettingsReader): readonly string[] {
  const hint = "give one secret of 32 to 200 visible ASCII characters, or two separated by a comma";
  return parseSecrets(reader, "PARALLAX_MARKETPLACE_SECRET", MARKETPLACE_SECRET_PATTERN, hint);
}

function parseSecretKeys(reader: SettingsReader): readonly Uint8Array[] {
  const hint = "give base64 of 32 bytes (openssl rand -base64 32), or the new key, a comma and the old key";
  const keys = parseSecrets(reader, "PARALLAX_SECRET_KEY", SECRET_KEY_PATTERN, hint);
  return keys.map((key) => Buffer.from(key, "base64"));
}

/** The site key is that of the widget on the account page; null hides the sign-up form. */
function parseTurnstile(reader: SettingsReader, mode: Mode) {
  const { errors } = reader;
  const secret = reader.text("PARALLAX_TURNSTILE_SECRET");
  const siteKey = reader.textOrNull("PARALLAX_TURNSTILE_SITE_KEY");
  if (mode === "live" && isTurnstileTestSecret(secret))
    errors.push("PARALLAX_TURNSTILE_SECRET: this is one of the published test keys, which accept every visitor");
  if (mode === "live" && secret !== "" && reader.text("PARALLAX_PUBLIC_URL") === "")
    errors.push("PARALLAX_TURNSTILE_SECRET requires PARALLAX_PUBLIC_URL: tokens issued for other hosts are rejected");
  if (siteKey !== null && !SITE_KEY_PATTERN.test(siteKey))
    errors.push("PARALLAX_TURNSTILE_SITE_KEY: give the letters, digits, - and _ that Turnstile shows");
  if (siteKey !== null && secret === "")
    errors.push("PARALLAX_TURNSTILE_SITE_KEY requires PARALLAX_TURNSTILE_SECRET of the same widget");
  if (secret === "") return null;
  return { secret, url: reader.url("PARALLAX_TURNSTILE_URL", HTTP_SCHEMES) ?? TURNSTILE_URL, siteKey };
}

function parseMail(reader: SettingsReader, publicUrl: string | null) {
  const { errors } = reader;
  const smtpUrl = reader.url("PARALLAX_SMTP_URL", ["smtp:", "smtps:"]);
  const from = reader.text("PARALLAX_MAIL_FROM");
  if (from !== "" && !MAIL_FROM_PATTERN.test(from))
    errors.push("PARALLAX_MAIL_FROM: give an address, or a name and an address: Parallax <hello@example.org>");
  if (smtpUrl === null) return null;
  if (publicUrl !== null && !isSecureOrLoopback(new URL(publicUrl)))
    errors.push(
      "PARALLAX_SMTP_URL requires PARALLAX_PUBLIC_URL with https: browsers drop the session cookie over http (except on loopback)",
    );
  for (const name of ["PARALLAX_MAIL_FROM", "PARALLAX_PUBLIC_URL"])
    if (reader.text(name) === "") errors.push(`PARALLAX_SMTP_URL requires ${name}`);
  return { smtpUrl, from };
}

/** Whether browsers accept a `Secure` cookie from this origin. */
const isSecureOrLoopback = ({ protocol, hostname }: URL): boolean => protocol === "https:" || isLoopbackHost(hostname);

/** Whether the settings give a base URL for every service of every venue, which makes the sandbox unnecessary. */
export function hasAllVenueUrls(config: Config): boolean {
  return config.venues.every(({ adapter }) =>
    (VENUE_SERVICES[adapter] ?? []).every((service) => config.venueUrls[adapter]?.[service] !== undefined),
  );
}
