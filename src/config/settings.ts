import { TURNSTILE_URL } from "../capabilities/accounts/customers/turnstile.ts";
import { DEFAULT_VENUES } from "../venues/registry.ts";

/** Default and help text of every setting. `--help` prints this list; a test compares it with `.env.example`. */
const DEFAULTS: Readonly<Record<string, readonly [defaultValue: string, help: string]>> = {
  PARALLAX_ENV_FILE: [".env", "file with settings; variables of the environment take precedence over it"],
  PARALLAX_MODE: ["sandbox", "sandbox (simulated venues on this machine) or live (the real venues)"],
  PARALLAX_HOST: ["127.0.0.1", "address on which the API listens"],
  PARALLAX_PORT: ["8787", "port on which the API listens; 0 picks a free port"],
  PARALLAX_DATA_DIR: ["./.parallax", "directory of the embedded store and the demo keys"],
  PARALLAX_DISK_RESERVE_MIB: [
    "64",
    "free disk space in MiB below which the embedded store rejects writes; reads continue; 0 disables the check",
  ],
  PARALLAX_STORE_MAX_MIB: [
    "",
    "size of the embedded store in MiB above which the oldest ticks, trades and bars are deleted early; 0: unlimited (default: 900 in sandbox mode, else 0)",
  ],
  PARALLAX_VENUES: [
    DEFAULT_VENUES,
    "venues by adapter; rename with id=adapter; venues after the semicolon are reference only",
  ],
  PARALLAX_ROLES: ["api,ingest,worker", "roles of this process"],
  PARALLAX_INGEST_THREAD: [
    "on",
    "whether a separate thread reads the venues in a process that also serves the API: on or off",
  ],
  DATABASE_URL: ["", "PostgreSQL database to use instead of the embedded store"],
  REDIS_URL: [
    "",
    "Redis or Valkey server that shares minute limits and notifies other processes (default: PostgreSQL notifies)",
  ],
  PARALLAX_SANDBOX_SEED: ["1", "seed of the simulated world, 0 to 4294967295"],
  PARALLAX_SANDBOX_SPEED: ["60", "trading activity or replay speed relative to real time, 1 to 3600"],
  PARALLAX_SANDBOX_MARKETS: ["400", "open markets on the simulated real-money venues, 10 to 500000"],
  PARALLAX_SANDBOX_LIMITS: ["on", "on: the simulated venues enforce their published rate limits; off"],
  PARALLAX_SANDBOX_PUBLIC: [
    "0",
    "1: with simulated data, allow a PARALLAX_HOST beyond loopback, and show no sign-in links; 0",
  ],
  PARALLAX_SANDBOX_PORT: ["0", "first port of the simulated venues; 0 picks free ports (npm run sandbox: 8790)"],
  PARALLAX_SANDBOX_FAULTS: ["", "faults to inject into the simulated venues, venue:switch=rate,...;venue:..."],
  PARALLAX_SANDBOX_RECORDING: [
    "",
    "recording that the sandbox replays instead of simulating (create one with npm run record)",
  ],
  PARALLAX_SANDBOX_RECORDING_PAST: ["50", "percentage of the recording that is history at the first start, 0 to 100"],
  PARALLAX_PUBLIC_URL: ["", "public base URL of the API, used in links"],
  PARALLAX_UPGRADE_URL: ["", "http(s) page where customers upgrade; named in responses that require a larger plan"],
  PARALLAX_TRUST_PROXY: [
    "",
    "addresses or CIDR ranges, comma-separated, of proxies whose forwarding headers are trusted",
  ],
  PARALLAX_CORS_ORIGINS: ["", "origins, comma-separated, whose browser scripts may use the API"],
  PARALLAX_CONNECTIONS_MAX: [
    "4096",
    "open connections to the API, of which event streams use at most three quarters; must be below the limit of open files (ulimit -n)",
  ],
  PARALLAX_CONNECTIONS_PER_ADDRESS_MAX: [
    "256",
    "open connections to the API from one IPv4 address or IPv6 /64; trusted proxies are not limited",
  ],
  PARALLAX_MARKETPLACE_SECRET: [
    "",
    "proxy secret of the API marketplace, at least 32 characters; two, comma-separated, during a rotation",
  ],
  PARALLAX_SECRET_KEY: [
    "",
    "key that encrypts stored webhook secrets: base64 of 32 bytes; two, comma-separated, to replace one (default: a file in the data directory)",
  ],
  PARALLAX_SECRET_KEY_LOST: [
    "0",
    "1: start although the key that encrypts the secrets in the store is lost; their webhooks must be registered again; 0",
  ],
  PARALLAX_READ_ONLY: [
    "0",
    "1: serve reads of the store to check a backup; changes nothing, reads no venue, sends no webhook and no e-mail; 0",
  ],
  PARALLAX_RESTORED: [
    "auto",
    "1: the store was restored from a backup, so its waiting webhook deliveries are canceled; 0: it was only moved; auto: detect it",
  ],
  PARALLAX_WEBHOOK_HOST_RATE: [
    "100",
    "webhook requests per second that this process sends to one host name, of all customers; one address may receive four times as many",
  ],
  PARALLAX_RAW_TICK_DAYS: ["30", "days to retain every tick; bars are retained longer"],
  PARALLAX_EVENT_DAYS: ["7", "days to retain events so that streams and webhooks can catch up"],
  PARALLAX_PRICE_SHIFT_MIN_MOVE: ["0.05", "smallest price move within an hour that causes a price_shift event"],
  PARALLAX_PRICE_SHIFT_MIN_SIGMAS: [
    "5",
    "smallest move of the log-odds that causes one, in standard deviations of the market's hourly moves",
  ],
  PARALLAX_PRICE_SHIFT_SIGMA_FLOOR: ["0.04", "lower limit of that standard deviation, in log-odds"],
  PARALLAX_PRICE_SHIFT_MIN_HOURS: ["24", "hours of price history that a market needs for price_shift events"],
  PARALLAX_WHALE_MIN_USD: ["5000", "smallest trade above the percentile that causes a whale_alert event, in USD"],
  PARALLAX_WHALE_PERCENTILE: [
    "99.5",
    "percentile of the market's trades of the last 7 days that such a trade must exceed",
  ],
  PARALLAX_WHALE_VOLUME_SHARE: [
    "0.1",
    "smallest share of the market's 24-hour volume that causes a whale_alert event without the percentile",
  ],
  PARALLAX_WHALE_SHARE_MIN_USD: ["1000", "smallest trade to which that share applies, in USD"],
  PARALLAX_ANALYSIS_CONCURRENCY: ["4", "analyses that a node with the role worker runs at the same time, 1 to 8"],
  PARALLAX_TRADE_DAYS: ["30", "days to retain every trade"],
  PARALLAX_BAR_DAYS: ["365", "days to retain five-minute bars; hourly bars are retained as long as their market"],
  PARALLAX_SETTLED_MARKET_DAYS: [
    "0",
    "days after which a settled market and its history are deleted; 0 keeps them for calibration",
  ],
  PARALLAX_RETRY_AFTER: [
    "date",
    "Retry-After when a monthly quota is used up: date (ISO 8601, the specification of this API) or seconds (HTTP clients that reject a date)",
  ],
  PARALLAX_METRICS_PORT: ["", "separate port that serves GET /metrics for Prometheus; 0 picks a free port"],
  PARALLAX_METRICS_TOKEN: [
    "",
    "Bearer token of GET /metrics, at least 16 characters; without a metrics port, the API port serves it",
  ],
  PARALLAX_X402_PAY_TO: ["", "address that receives per-call payments (x402); unset disables them (docs/payments.md)"],
  PARALLAX_X402_FACILITATOR_URL: ["", "x402 facilitator that verifies and settles payments"],
  PARALLAX_X402_FACILITATOR_TOKEN: ["", "Bearer token of the facilitator, if it requires one"],
  PARALLAX_X402_NETWORK: ["eip155:8453", "chain of the payments: Base; eip155:84532 is its testnet"],
  PARALLAX_X402_ASSET: [
    "",
    "address;name;version of a dollar token with 6 decimals and EIP-3009; default USDC on Base and its testnet",
  ],
  PARALLAX_X402_RPC_URL: ["", "JSON-RPC URL of the chain, to check payments whose settlement is uncertain"],
  PARALLAX_TURNSTILE_SECRET: ["", "secret key of Cloudflare Turnstile; without it, sign-up in live mode returns 503"],
  PARALLAX_TURNSTILE_SITE_KEY: [
    "",
    "site key of the same widget, for the form on /account; POST /v1/customers/signup needs only the secret",
  ],
  PARALLAX_TURNSTILE_URL: [TURNSTILE_URL, "siteverify endpoint; override it in tests"],
  PARALLAX_SMTP_URL: ["", "smtp:// or smtps:// server; enables verification of e-mail addresses"],
  PARALLAX_MAIL_FROM: ["", "sender of e-mails: address or Name <address>"],
  PARALLAX_DISPOSABLE_DOMAINS: [
    "",
    "additional domains to reject at sign-up, comma-separated; an entry with a / is a file with one domain per line",
  ],
  PARALLAX_AUDIT_DAYS: ["400", "days to retain the audit log of account changes"],
  PARALLAX_LLM_MODEL: [
    "",
    "language model for research and uncertain matches: anthropic/<model>, openai/<model>, or the model of PARALLAX_LLM_BASE_URL; unset disables both",
  ],
  PARALLAX_LLM_BASE_URL: ["", "base URL of a server with the protocol of OpenAI's chat completions"],
  PARALLAX_LLM_API_KEY: ["", "key of the language model"],
  PARALLAX_LLM_PRICE: ["5;25", "price of the model in USD per million tokens: input;output"],
  PARALLAX_LLM_BUDGET_USD: ["0.15", "highest cost of the research of one analysis in USD"],
  PARALLAX_LLM_DAILY_BUDGET_USD: ["20", "cost of all research of 24 hours in USD from which no more is started"],
  PARALLAX_LLM_DEADLINE_SECONDS: ["90", "longest research of one analysis in seconds, 10 to 1800"],
  PARALLAX_LLM_MATCH_BUDGET_USD: ["1", "highest cost of judging uncertain matches in 24 hours in USD; 0 disables it"],
  PARALLAX_SEARCH_ENGINES: [
    "gdelt,wikipedia",
    "search engines for research, comma-separated: gdelt, wikipedia, brave; or none",
  ],
  PARALLAX_SEARCH_API_KEY: ["", "key of Brave Search"],
  PARALLAX_LOG_LEVEL: ["info", "debug, info, warn or error"],
};

export const SETTINGS = Object.entries(DEFAULTS).map(([name, [defaultValue, help]]) => ({ name, defaultValue, help }));
