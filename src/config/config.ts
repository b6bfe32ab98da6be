import { isIP } from "node:net";
import { isTestSecret, TURNSTILE_URL } from "../capabilities/customers/turnstile.ts";
import { UserFacingError } from "../lib/user-facing-error.ts";
import { DEFAULT_VENUES, parseVenues, VENUE_SERVICES, type VenueSetting } from "../venues/registry.ts";
import { type PaymentSettings, parsePaymentSettings } from "./payment-settings.ts";

/** Settings of one process, read once from the environment and the command line; nothing else reads the environment. */
export interface Config {
  readonly mode: "sandbox" | "live";
  readonly host: string;
  readonly port: number;
  readonly dataDir: string;
  /** Free space on the embedded store's disk, in MiB, below which it takes no writes; 0 never refuses. */
  readonly diskReserveMib: number;
  readonly venues: readonly VenueSetting[];
  readonly roles: ReadonlySet<Role>;
  readonly databaseUrl: string | null;
  readonly redisUrl: string | null;
  readonly sandbox: SandboxSettings;
  /** Base URLs by adapter and service that replace the defaults. */
  readonly venueUrls: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** API keys of venues that want one for their streams. */
  readonly venueKeys: Readonly<Record<string, { readonly keyId: string; readonly privateKeyFile: string }>>;
  readonly publicUrl: string | null;
  /** Where customers get a larger plan, outside of this service. */
  readonly upgradeUrl: string | null;
  /** Addresses or CIDR ranges of proxies whose forwarding headers are believed; null believes none. */
  readonly trustProxy: readonly string[] | null;
  /** What the API marketplace proves itself with: none, one, or two while one replaces the other. */
  readonly marketplaceSecrets: readonly string[];
  readonly rawTickDays: number;
  readonly eventDays: number;
  readonly tradeDays: number;
  readonly fiveMinuteBarDays: number;
  /** Days after which a settled market and all of its past are deleted; null keeps them for ever. */
  readonly settledMarketDays: number | null;
  /** Where Prometheus metrics are served: a port of their own, the API's own port behind a token; null for nowhere. */
  readonly metrics: { readonly port: number | null; readonly token: string | null } | null;
  /** How calls can be paid for one by one; null where they cannot. */
  readonly payments: PaymentSettings | null;
  /** The bot check of sign-up; null where no secret is set. */
  readonly turnstile: {
    readonly secret: string;
    readonly url: string;
    /** Of the widget on the account's page; null shows no form to sign up there. */
    readonly siteKey: string | null;
  } | null;
  /** Where letters go out; null verifies no e-mail address. */
  readonly mail: { readonly smtpUrl: string; readonly from: string } | null;
  /** Domains, and files of domains, that are refused at sign-up beside the built-in ones. */
  readonly disposableDomains: readonly string[];
  readonly auditDays: number;
  readonly logLevel: "debug" | "info" | "warn" | "error";
}

export type Role = "api" | "ingest" | "worker";
/** Settled markets stay on the board for 30 days; what is shown is not deleted. */
const SETTLED_MARKET_DAYS_MIN = 31;
const ROLES: readonly Role[] = ["api", "ingest", "worker"];

export interface SandboxSettings {
  readonly seed: number;
  readonly speed: number;
  readonly markets: number;
  readonly limits: boolean;
  /** First port of the sandbox's listeners; 0 takes free ones. */
  readonly port: number;
  /** Faults of the simulated venues from the start; read by the sandbox. */
  readonly faults: string;
  /** File of the recording to replay instead of simulating; null simulates. */
  readonly recording: string | null;
  /** Share of the recording that is past at the first start, in [0, 1]. */
  readonly recordingPastShare: number;
}

/** Everything that is wrong with the settings, told at once. */
export class ConfigError extends UserFacingError {
  readonly faults: readonly string[];

  constructor(faults: readonly string[]) {
    super(
      `${faults.length === 1 ? "A setting is" : `${faults.length} settings are`} wrong:\n${faults.map((fault) => `  - ${fault}`).join("\n")}`,
    );
    this.name = "ConfigError";
    this.faults = faults;
  }
}

interface Setting {
  readonly name: string;
  readonly fallback: string;
  readonly help: string;
}

/** One row a setting: the source of `--help`, and of the check of `.env.example`. */
export const SETTINGS: readonly Setting[] = [
  {
    name: "PARALLAX_MODE",
    fallback: "sandbox",
    help: "sandbox (simulated venues on this machine) or live (the real venues)",
  },
  { name: "PARALLAX_HOST", fallback: "127.0.0.1", help: "address the API listens on" },
  { name: "PARALLAX_PORT", fallback: "8787", help: "port the API listens on; 0 takes a free one" },
  { name: "PARALLAX_DATA_DIR", fallback: "./.parallax", help: "folder of the embedded store and of the demo keys" },
  {
    name: "PARALLAX_DISK_RESERVE_MIB",
    fallback: "64",
    help: "free disk space in MiB below which the embedded store takes no writes while reads go on; 0 never refuses",
  },
  {
    name: "PARALLAX_VENUES",
    fallback: DEFAULT_VENUES,
    help: "venues by adapter, renamed with id=adapter; those after the semicolon are for reference only",
  },
  { name: "PARALLAX_ROLES", fallback: "api,ingest,worker", help: "what this process does" },
  { name: "DATABASE_URL", fallback: "", help: "PostgreSQL to use instead of the embedded store" },
  {
    name: "REDIS_URL",
    fallback: "",
    help: "Redis or Valkey that wakes the other processes (else PostgreSQL does) and shares minute limits",
  },
  { name: "PARALLAX_SANDBOX_SEED", fallback: "1", help: "seed of the simulated world, 0 to 4294967295" },
  {
    name: "PARALLAX_SANDBOX_SPEED",
    fallback: "60",
    help: "how many times as lively as real trading, or as fast as recorded, 1 to 3600",
  },
  {
    name: "PARALLAX_SANDBOX_MARKETS",
    fallback: "400",
    help: "open markets on the simulated money venues, 10 to 500000",
  },
  {
    name: "PARALLAX_SANDBOX_LIMITS",
    fallback: "on",
    help: "on: the simulated venues enforce their published request limits; off",
  },
  {
    name: "PARALLAX_SANDBOX_PORT",
    fallback: "0",
    help: "first port of the simulated venues; 0 takes free ones (npm run sandbox: 8790)",
  },
  {
    name: "PARALLAX_SANDBOX_FAULTS",
    fallback: "",
    help: "faults of the simulated venues, venue:switch=rate,...;venue:...",
  },
  {
    name: "PARALLAX_SANDBOX_RECORDING",
    fallback: "",
    help: "recording that the sandbox replays instead of simulating (npm run record makes one)",
  },
  {
    name: "PARALLAX_SANDBOX_RECORDING_PAST",
    fallback: "50",
    help: "percentage of the recording that is past at the first start, 0 to 100",
  },
  { name: "PARALLAX_PUBLIC_URL", fallback: "", help: "address that customers see, for links" },
  {
    name: "PARALLAX_UPGRADE_URL",
    fallback: "",
    help: "http(s) page where customers get a larger plan; named where a plan does not suffice",
  },
  {
    name: "PARALLAX_TRUST_PROXY",
    fallback: "",
    help: "addresses or CIDR ranges, comma-separated, of proxies whose forwarding headers are believed",
  },
  {
    name: "PARALLAX_MARKETPLACE_SECRET",
    fallback: "",
    help: "the API marketplace's proxy secret, at least 32 characters; two, comma-separated, while one replaces the other",
  },
  { name: "PARALLAX_RAW_TICK_DAYS", fallback: "30", help: "days for which every tick is kept; bars are kept longer" },
  { name: "PARALLAX_EVENT_DAYS", fallback: "7", help: "days for which a stream or webhook can catch up on events" },
  { name: "PARALLAX_TRADE_DAYS", fallback: "30", help: "days for which every trade is kept" },
  { name: "PARALLAX_BAR_DAYS", fallback: "365", help: "days for which five-minute bars are kept; hourly ones stay" },
  {
    name: "PARALLAX_SETTLED_MARKET_DAYS",
    fallback: "0",
    help: "days after which a settled market is deleted with its past; 0 keeps all, for calibration",
  },
  {
    name: "PARALLAX_METRICS_PORT",
    fallback: "",
    help: "port on which GET /metrics (Prometheus) is served, apart from the API; 0 takes a free one",
  },
  {
    name: "PARALLAX_METRICS_TOKEN",
    fallback: "",
    help: "at least 16 characters; GET /metrics asks for it as a Bearer token, on the API's port if no other is set",
  },
  {
    name: "PARALLAX_X402_PAY_TO",
    fallback: "",
    help: "address that receives payments by the call (x402); without it there are none (docs/payments.md)",
  },
  { name: "PARALLAX_X402_FACILITATOR_URL", fallback: "", help: "x402 facilitator that checks and settles payments" },
  { name: "PARALLAX_X402_FACILITATOR_TOKEN", fallback: "", help: "Bearer token for a facilitator that wants one" },
  {
    name: "PARALLAX_X402_NETWORK",
    fallback: "eip155:8453",
    help: "chain of the payments; Base, 84532 for its test net",
  },
  {
    name: "PARALLAX_X402_ASSET",
    fallback: "",
    help: "address;name;version of a dollar token with 6 decimals and EIP-3009; USDC on both Base networks",
  },
  {
    name: "PARALLAX_X402_RPC_URL",
    fallback: "",
    help: "JSON-RPC address of the chain, which settles doubts about a payment",
  },
  {
    name: "PARALLAX_TURNSTILE_SECRET",
    fallback: "",
    help: "secret key of Cloudflare Turnstile; without it live sign-up answers 503",
  },
  {
    name: "PARALLAX_TURNSTILE_SITE_KEY",
    fallback: "",
    help: "site key of the same widget, for the form on /account; the secret alone serves POST /v1/customers/signup",
  },
  { name: "PARALLAX_TURNSTILE_URL", fallback: TURNSTILE_URL, help: "siteverify, for a stand-in in tests" },
  {
    name: "PARALLAX_SMTP_URL",
    fallback: "",
    help: "smtp:// or smtps:// server; with it new e-mail addresses are verified by a letter",
  },
  { name: "PARALLAX_MAIL_FROM", fallback: "", help: "sender of letters, address or Name <address>" },
  {
    name: "PARALLAX_DISPOSABLE_DOMAINS",
    fallback: "",
    help: "more domains refused at sign-up, comma-separated; an entry with a / is a file of them, one a line",
  },
  { name: "PARALLAX_AUDIT_DAYS", fallback: "400", help: "days for which changes of accounts can be traced" },
  { name: "PARALLAX_LOG_LEVEL", fallback: "info", help: "debug, info, warn or error" },
];

/**
 * Settings that name a venue: base URLs (`PARALLAX_<VENUE>_<SERVICE>_URL`), and keys where a venue's stream wants one.
 * Left out, the URLs are the sandbox's in sandbox mode and the venue's own in live mode.
 */
const VENUE_SETTING = /^PARALLAX_([A-Z]+)_(?:(?:([A-Z]+)_)?URL|(KEY_ID|PRIVATE_KEY_FILE))$/;

/** As long as 32 random bytes are in the shortest usual writing. */
const MARKETPLACE_SECRET = /^[\x21-\x2b\x2d-\x7e]{32,200}$/;
const MARKETPLACE_SECRETS_MAX = 2;
/** An address, or a name and an address in angle brackets. */
const MAIL_FROM = /^(?:[^\s<>@,;"]+@[^\s<>@,;"]+|[^\p{Cc}<>@,;"]+ <[^\s<>@,;"]+@[^\s<>@,;"]+>)$/u;
const SITE_KEY = /^[A-Za-z0-9_-]{1,100}$/;
const METRICS_TOKEN = /^[A-Za-z0-9\-._~+/=]{16,200}$/;

/** What browsers take as the origin of a cookie that must not be overheard. */
const isSecureOrLocal = ({ protocol, hostname }: URL): boolean =>
  protocol === "https:" || hostname === "localhost" || hostname === "[::1]" || /^127\.\d+\.\d+\.\d+$/.test(hostname);

/** Parses the environment; throws `ConfigError` with every fault. Unknown `PARALLAX_*` names are faults. */
export function parseConfig(
  environment: Readonly<Record<string, string | undefined>>,
  services: Readonly<Record<string, readonly string[]>>,
): Config {
  const faults: string[] = [];
  const raw = (name: string): string => {
    const value = environment[name];
    return value === undefined || value === ""
      ? (SETTINGS.find((setting) => setting.name === name)?.fallback ?? "")
      : value;
  };
  const integer = (name: string, min: number, max: number): number => {
    const text = raw(name);
    const value = Number(text);
    if (/^\d+$/.test(text) && value >= min && value <= max) return value;
    faults.push(`${name}=${text}: give a whole number from ${min} to ${max}`);
    return min;
  };
  const oneOf = <T extends string>(name: string, choices: readonly T[]): T => {
    const text = raw(name);
    const choice = choices.find((candidate) => candidate === text);
    if (choice !== undefined) return choice;
    faults.push(`${name}=${text}: give one of ${choices.join(", ")}`);
    return choices[0] as T;
  };
  const url = (name: string, schemes: readonly string[]): string | null => {
    const text = raw(name);
    if (text === "") return null;
    if (URL.canParse(text) && schemes.includes(new URL(text).protocol)) return text.replace(/\/+$/, "");
    faults.push(`${name}: give a URL that begins with ${schemes.map((scheme) => `${scheme}//`).join(" or ")}`);
    return null;
  };

  const venueUrls: Record<string, Record<string, string>> = {};
  const keyParts: Record<string, { keyId?: string; privateKeyFile?: string }> = {};
  const known = new Set(SETTINGS.map((setting) => setting.name));
  for (const [name, value] of Object.entries(environment)) {
    if (!name.startsWith("PARALLAX_") || known.has(name)) continue;
    const match = VENUE_SETTING.exec(name);
    const adapter = match?.[1]?.toLowerCase() ?? "";
    const names = Object.hasOwn(services, adapter) ? services[adapter] : undefined;
    if (match === null || names === undefined) {
      faults.push(`${name}: no such setting (npm start -- --help lists them)`);
    } else if (match[3] !== undefined) {
      if (value === undefined || value === "") continue;
      const part = match[3] === "KEY_ID" ? { keyId: value } : { privateKeyFile: value };
      keyParts[adapter] = { ...keyParts[adapter], ...part };
    } else {
      const service = match[2]?.toLowerCase() ?? names[0] ?? "";
      if (!names.includes(service))
        faults.push(`${name}: ${adapter} has no address called ${service} (it has ${names.join(", ")})`);
      const address = url(name, service === "ws" ? ["ws:", "wss:"] : ["http:", "https:"]);
      if (address !== null) venueUrls[adapter] = { ...venueUrls[adapter], [service]: address };
    }
  }
  const venueKeys: Record<string, { keyId: string; privateKeyFile: string }> = {};
  for (const [adapter, { keyId, privateKeyFile }] of Object.entries(keyParts)) {
    if (keyId !== undefined && privateKeyFile !== undefined) venueKeys[adapter] = { keyId, privateKeyFile };
    else
      faults.push(
        `PARALLAX_${adapter.toUpperCase()}_KEY_ID and PARALLAX_${adapter.toUpperCase()}_PRIVATE_KEY_FILE go together`,
      );
  }

  const roles = new Set<Role>();
  for (const word of raw("PARALLAX_ROLES")
    .split(",")
    .map((part) => part.trim())) {
    const role = ROLES.find((candidate) => candidate === word);
    if (role === undefined) faults.push(`PARALLAX_ROLES: ${word} is not one of ${ROLES.join(", ")}`);
    else roles.add(role);
  }
  if (roles.size < ROLES.length && raw("DATABASE_URL") === "")
    faults.push(
      "PARALLAX_ROLES: fewer than all three need a store that other processes can share; name one with DATABASE_URL",
    );
  const proxies = raw("PARALLAX_TRUST_PROXY")
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "");
  for (const proxy of proxies) {
    const [address = "", bits = "1", ...more] = proxy.split("/");
    const family = isIP(address);
    const isRange = /^\d{1,3}$/.test(bits) && Number(bits) >= 1 && Number(bits) <= (family === 4 ? 32 : 128);
    if (family === 0 || !isRange || more.length > 0)
      faults.push(`PARALLAX_TRUST_PROXY: ${proxy} is not an address or CIDR range (a number of hops proves nothing)`);
  }
  const settledDays = integer("PARALLAX_SETTLED_MARKET_DAYS", 0, 36_500);
  const settledMarketDays = settledDays === 0 ? null : settledDays;
  if (settledMarketDays !== null && settledMarketDays < SETTLED_MARKET_DAYS_MIN)
    faults.push(
      `PARALLAX_SETTLED_MARKET_DAYS: give 0, or at least ${SETTLED_MARKET_DAYS_MIN}: they are shown until then`,
    );
  const metricsPort = raw("PARALLAX_METRICS_PORT") === "" ? null : integer("PARALLAX_METRICS_PORT", 0, 65_535);
  const metricsToken = raw("PARALLAX_METRICS_TOKEN") === "" ? null : raw("PARALLAX_METRICS_TOKEN");
  if (metricsToken !== null && !METRICS_TOKEN.test(metricsToken))
    faults.push("PARALLAX_METRICS_TOKEN: give 16 to 200 letters, digits or any of -._~+/=");
  const sentSecrets = raw("PARALLAX_MARKETPLACE_SECRET");
  const marketplaceSecrets = sentSecrets === "" ? [] : sentSecrets.split(",").map((part) => part.trim());
  const areSecrets = marketplaceSecrets.every((secret) => MARKETPLACE_SECRET.test(secret));
  if (!areSecrets || marketplaceSecrets.length > MARKETPLACE_SECRETS_MAX)
    faults.push(
      "PARALLAX_MARKETPLACE_SECRET: give one secret of 32 to 200 visible ASCII characters, or two with a comma between",
    );
  const mode = oneOf("PARALLAX_MODE", ["sandbox", "live"]);
  const publicAddress = url("PARALLAX_PUBLIC_URL", ["http:", "https:"]);
  const publicUrl = publicAddress === null ? null : new URL(publicAddress).origin;
  if (publicAddress !== null && new URL(publicAddress).href !== `${publicUrl}/`)
    faults.push("PARALLAX_PUBLIC_URL: give scheme, host and port only, as in https://api.example.org");
  const turnstileSecret = raw("PARALLAX_TURNSTILE_SECRET");
  if (mode === "live" && isTestSecret(turnstileSecret))
    faults.push("PARALLAX_TURNSTILE_SECRET: this is one of the published test keys, which let anybody in");
  if (mode === "live" && turnstileSecret !== "" && raw("PARALLAX_PUBLIC_URL") === "")
    faults.push("PARALLAX_TURNSTILE_SECRET needs PARALLAX_PUBLIC_URL: tokens of other sites are refused by its host");
  const siteKey = raw("PARALLAX_TURNSTILE_SITE_KEY");
  if (siteKey !== "" && !SITE_KEY.test(siteKey))
    faults.push("PARALLAX_TURNSTILE_SITE_KEY: give letters, digits, - or _, as Turnstile shows it");
  if (siteKey !== "" && turnstileSecret === "")
    faults.push("PARALLAX_TURNSTILE_SITE_KEY needs PARALLAX_TURNSTILE_SECRET of the same widget");
  const smtpUrl = url("PARALLAX_SMTP_URL", ["smtp:", "smtps:"]);
  if (smtpUrl !== null && publicUrl !== null && !isSecureOrLocal(new URL(publicUrl)))
    faults.push(
      "PARALLAX_SMTP_URL needs PARALLAX_PUBLIC_URL with https: over http browsers keep no session (loopback does)",
    );
  const mailFrom = raw("PARALLAX_MAIL_FROM");
  if (mailFrom !== "" && !MAIL_FROM.test(mailFrom))
    faults.push("PARALLAX_MAIL_FROM: give an address, or a name and an address as in Parallax <hello@example.org>");
  for (const name of ["PARALLAX_MAIL_FROM", "PARALLAX_PUBLIC_URL"])
    if (smtpUrl !== null && raw(name) === "") faults.push(`PARALLAX_SMTP_URL needs ${name}`);
  const parsedVenues = parseVenues(raw("PARALLAX_VENUES"));
  faults.push(...parsedVenues.faults.map((fault) => `PARALLAX_VENUES: ${fault}`));
  const config: Config = {
    mode,
    host: raw("PARALLAX_HOST"),
    port: integer("PARALLAX_PORT", 0, 65_535),
    dataDir: raw("PARALLAX_DATA_DIR"),
    diskReserveMib: integer("PARALLAX_DISK_RESERVE_MIB", 0, 1_048_576),
    venues: parsedVenues.venues,
    roles,
    databaseUrl: url("DATABASE_URL", ["postgres:", "postgresql:"]),
    redisUrl: url("REDIS_URL", ["redis:", "rediss:"]),
    sandbox: {
      seed: integer("PARALLAX_SANDBOX_SEED", 0, 4_294_967_295),
      speed: integer("PARALLAX_SANDBOX_SPEED", 1, 3_600),
      markets: integer("PARALLAX_SANDBOX_MARKETS", 10, 500_000),
      limits: oneOf("PARALLAX_SANDBOX_LIMITS", ["on", "off"]) === "on",
      port: integer("PARALLAX_SANDBOX_PORT", 0, 65_500),
      faults: raw("PARALLAX_SANDBOX_FAULTS"),
      recording: raw("PARALLAX_SANDBOX_RECORDING") || null,
      recordingPastShare: integer("PARALLAX_SANDBOX_RECORDING_PAST", 0, 100) / 100,
    },
    venueUrls,
    venueKeys,
    publicUrl,
    upgradeUrl: url("PARALLAX_UPGRADE_URL", ["http:", "https:"]),
    marketplaceSecrets,
    trustProxy: proxies.length === 0 ? null : proxies,
    rawTickDays: integer("PARALLAX_RAW_TICK_DAYS", 1, 3_650),
    eventDays: integer("PARALLAX_EVENT_DAYS", 1, 365),
    tradeDays: integer("PARALLAX_TRADE_DAYS", 2, 3_650),
    fiveMinuteBarDays: integer("PARALLAX_BAR_DAYS", 30, 36_500),
    settledMarketDays,
    metrics: metricsPort === null && metricsToken === null ? null : { port: metricsPort, token: metricsToken },
    payments: parsePaymentSettings(raw, { mode, publicUrl }, (text) => faults.push(text)),
    turnstile:
      turnstileSecret === ""
        ? null
        : {
            secret: turnstileSecret,
            url: url("PARALLAX_TURNSTILE_URL", ["http:", "https:"]) ?? TURNSTILE_URL,
            siteKey: siteKey === "" ? null : siteKey,
          },
    mail: smtpUrl === null ? null : { smtpUrl, from: mailFrom },
    disposableDomains: raw("PARALLAX_DISPOSABLE_DOMAINS")
      .split(",")
      .map((part) => part.trim())
      .filter((part) => part !== ""),
    auditDays: integer("PARALLAX_AUDIT_DAYS", 1, 36_500),
    logLevel: oneOf("PARALLAX_LOG_LEVEL", ["debug", "info", "warn", "error"]),
  };
  if (faults.length > 0) throw new ConfigError(faults);
  return Object.freeze(config);
}

/** Every venue was given addresses of its own: then nothing has to be simulated here. */
export function hasAllVenueUrls(config: Config): boolean {
  return config.venues.every(({ adapter }) =>
    (VENUE_SERVICES[adapter] ?? []).every((service) => config.venueUrls[adapter]?.[service] !== undefined),
  );
}
