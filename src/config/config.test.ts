import assert from "node:assert/strict";
import { test } from "node:test";
import { assertConfigError, configErrors, parseEnvironment } from "../../test/support/config.ts";
import { DEFAULT_ALERT_LIMITS } from "../capabilities/events/market-alerts/index.ts";
import { ConfigError } from "./config-error.ts";
import { SETTINGS } from "./settings.ts";
import type { Environment } from "./settings-reader.ts";

const parseVenueList = (text: string) =>
  parseEnvironment({ PARALLAX_VENUES: text }).venues.map(({ id, adapter, referenceOnly }) => [
    id,
    adapter,
    referenceOnly,
  ]);

test("an empty environment configures a sandbox on loopback with the documented defaults", () => {
  const config = parseEnvironment();
  const { venues, roles, ...rest } = config;
  assert.deepEqual(rest, {
    mode: "sandbox",
    host: "127.0.0.1",
    port: 8_787,
    dataDir: "./.parallax",
    diskReserveMib: 64,
    databaseUrl: null,
    redisUrl: null,
    publicUrl: null,
    upgradeUrl: null,
    marketplaceSecrets: [],
    secretKeys: [],
    isSecretKeyLost: false,
    isReadOnly: false,
    isRestored: null,
    webhookHostRate: 100,
    trustProxy: null,
    corsOrigins: [],
    connections: { total: 4_096, perAddress: 256 },
    sandbox: {
      seed: 1,
      speed: 60,
      markets: 400,
      limits: true,
      isPublic: false,
      port: 0,
      faults: "",
      recording: null,
      recordingPastShare: 0.5,
    },
    storeMaxMib: 900,
    hasIngestThread: true,
    tradeDays: 30,
    fiveMinuteBarDays: 365,
    settledMarketDays: null,
    venueUrls: {},
    venueKeys: {},
    venueMembers: {},
    rawTickDays: 30,
    alertLimits: DEFAULT_ALERT_LIMITS,
    eventDays: 7,
    analysisConcurrency: 4,
    metrics: null,
    quotaRetryAfter: "date",
    payments: null,
    research: null,
    logLevel: "info",
    turnstile: null,
    mail: null,
    disposableDomains: [],
    auditDays: 400,
  });
  assert.deepEqual([...roles], ["api", "ingest", "worker"]);
  assert.deepEqual(
    venues.map(({ id, adapter, referenceOnly }) => [id, adapter, referenceOnly]),
    [
      ["kalshi", "kalshi", false],
      ["polymarket", "polymarket", false],
      ["limitless", "limitless", false],
      ["manifold", "manifold", true],
    ],
  );
  assert.ok(Object.isFrozen(config));
});

test("an empty setting counts as not set, and unrelated environment variables are ignored", () => {
  const emptySettings = Object.fromEntries(SETTINGS.map(({ name }) => [name, ""]));
  assert.deepEqual(
    parseEnvironment({ ...emptySettings, PARALLAX_KALSHI_URL: "", PATH: "/bin", HOME: undefined }),
    parseEnvironment(),
  );
  assert.deepEqual(
    parseEnvironment({ PARALLAX_KALSHI_KEY_ID: "", PARALLAX_KALSHI_PRIVATE_KEY_FILE: "" }).venueKeys,
    {},
  );
});

test("every setting is parsed into its field of the configuration", () => {
  const config = parseEnvironment({
    PARALLAX_MODE: "live",
    PARALLAX_HOST: "0.0.0.0",
    PARALLAX_PORT: "0",
    PARALLAX_DATA_DIR: "/data",
    PARALLAX_ROLES: "worker, ingest,api",
    DATABASE_URL: "postgres://db.example/p",
    REDIS_URL: "rediss://cache.example:6380/1",
    PARALLAX_RAW_TICK_DAYS: "3650",
    PARALLAX_TRADE_DAYS: "7",
    PARALLAX_BAR_DAYS: "90",
    PARALLAX_SETTLED_MARKET_DAYS: "400",
    PARALLAX_EVENT_DAYS: "365",
    PARALLAX_SANDBOX_SEED: "4294967295",
    PARALLAX_SANDBOX_SPEED: "1",
    PARALLAX_SANDBOX_MARKETS: "10",
    PARALLAX_SANDBOX_LIMITS: "off",
    PARALLAX_SANDBOX_PUBLIC: "1",
    PARALLAX_SANDBOX_PORT: "65500",
    PARALLAX_LOG_LEVEL: "debug",
    PARALLAX_SANDBOX_RECORDING: "a.jsonl.gz",
    PARALLAX_SANDBOX_RECORDING_PAST: "100",
    PARALLAX_PUBLIC_URL: "https://api.example.org//",
    PARALLAX_TRUST_PROXY: "10.0.0.0/8, ::1",
    PARALLAX_CONNECTIONS_MAX: "12000",
    PARALLAX_CONNECTIONS_PER_ADDRESS_MAX: "50",
    PARALLAX_UPGRADE_URL: "https://shop.example.org/plans?from=parallax",
    PARALLAX_SANDBOX_FAULTS: "kalshi:frozen=1",
  });
  assert.deepEqual([config.mode, config.host, config.port, config.dataDir], ["live", "0.0.0.0", 0, "/data"]);
  assert.deepEqual([...config.roles].sort(), ["api", "ingest", "worker"]);
  assert.deepEqual([config.databaseUrl, config.publicUrl], ["postgres://db.example/p", "https://api.example.org"]);
  assert.equal(config.upgradeUrl, "https://shop.example.org/plans?from=parallax");
  assert.deepEqual(config.connections, { total: 12_000, perAddress: 50 });
  assert.deepEqual(config.sandbox, {
    seed: 4_294_967_295,
    speed: 1,
    markets: 10,
    limits: false,
    isPublic: true,
    port: 65_500,
    faults: "kalshi:frozen=1",
    recording: "a.jsonl.gz",
    recordingPastShare: 1,
  });
  assert.deepEqual([config.tradeDays, config.fiveMinuteBarDays, config.settledMarketDays], [7, 90, 400]);
  assert.deepEqual([config.redisUrl, config.eventDays], ["rediss://cache.example:6380/1", 365]);
  assert.deepEqual([config.rawTickDays, config.logLevel, config.trustProxy], [3_650, "debug", ["10.0.0.0/8", "::1"]]);
});

test("a sandbox listens beyond loopback only with PARALLAX_SANDBOX_PUBLIC=1; a live service listens anywhere", () => {
  for (const PARALLAX_HOST of ["127.0.0.1", "127.9.9.9", "localhost", "LocalHost", "::1", "::ffff:127.0.0.1"])
    assert.equal(parseEnvironment({ PARALLAX_HOST }).host, PARALLAX_HOST);
  const publicHosts = [
    "0.0.0.0",
    "::",
    "0",
    "192.0.2.7",
    "2001:db8::1",
    "myhost",
    "127.0.0.1.example",
    "localhost.example",
  ];
  for (const PARALLAX_HOST of publicHosts) {
    const [error = "", ...others] = configErrors({ PARALLAX_HOST });
    assert.match(error, /^PARALLAX_HOST=.* set PARALLAX_SANDBOX_PUBLIC=1/, PARALLAX_HOST);
    assert.deepEqual(others, []);
    assert.equal(new ConfigError([error]).message.includes("\n"), false);
    assert.equal(parseEnvironment({ PARALLAX_HOST, PARALLAX_SANDBOX_PUBLIC: "1" }).host, PARALLAX_HOST);
    assert.equal(parseEnvironment({ PARALLAX_HOST, PARALLAX_MODE: "live" }).host, PARALLAX_HOST);
  }
});

test("a sandbox is public if its address or its public URL is not loopback, or if it is declared so", () => {
  const isPublic = (environment: Environment) => parseEnvironment(environment).sandbox.isPublic;
  assert.equal(isPublic({}), false);
  assert.equal(isPublic({ PARALLAX_PUBLIC_URL: "http://localhost:8787" }), false);
  assert.equal(isPublic({ PARALLAX_PUBLIC_URL: "https://demo.example.org" }), true);
  assert.equal(isPublic({ PARALLAX_SANDBOX_PUBLIC: "1" }), true);
});

test("a process with only some of the roles requires DATABASE_URL", () => {
  const DATABASE_URL = "postgres://db.example/p";
  for (const roles of [["api"], ["ingest"], ["worker"], ["api", "worker"], ["ingest", "worker"], ["api", "ingest"]]) {
    const PARALLAX_ROLES = roles.join(",");
    assert.deepEqual([...parseEnvironment({ PARALLAX_ROLES, DATABASE_URL }).roles], roles);
    assertConfigError({ PARALLAX_ROLES }, /PARALLAX_ROLES: .*DATABASE_URL/);
  }
  for (const PARALLAX_ROLES of ["api,unknown", ",", "api,"])
    assertConfigError({ PARALLAX_ROLES, DATABASE_URL }, /is not one of/, PARALLAX_ROLES);
});

test("limits the store by default in sandbox mode only", () => {
  assert.equal(parseEnvironment({ PARALLAX_MODE: "live" }).storeMaxMib, 0);
  assert.equal(parseEnvironment({ PARALLAX_STORE_MAX_MIB: "0" }).storeMaxMib, 0);
  assert.equal(parseEnvironment({ PARALLAX_MODE: "live", PARALLAX_STORE_MAX_MIB: "256" }).storeMaxMib, 256);
  assert.throws(() => parseEnvironment({ PARALLAX_STORE_MAX_MIB: "255" }), /from 256 to/);
});

test("rejects a retention of settled markets below 31 days", () => {
  for (const days of ["1", "30"])
    assertConfigError({ PARALLAX_SETTLED_MARKET_DAYS: days }, /PARALLAX_SETTLED_MARKET_DAYS/);
  assert.equal(parseEnvironment({ PARALLAX_SETTLED_MARKET_DAYS: "31" }).settledMarketDays, 31);
});

test("metrics are enabled by a separate port, a token, or both", () => {
  const token = "0123456789abcdef";
  assert.deepEqual(parseEnvironment({ PARALLAX_METRICS_PORT: "9464" }).metrics, { port: 9_464, token: null });
  assert.deepEqual(parseEnvironment({ PARALLAX_METRICS_TOKEN: token }).metrics, { port: null, token });
  assert.deepEqual(parseEnvironment({ PARALLAX_METRICS_PORT: "0", PARALLAX_METRICS_TOKEN: token }).metrics, {
    port: 0,
    token,
  });
  const [error, ...others] = configErrors({ PARALLAX_METRICS_TOKEN: "short" });
  assert.match(error ?? "", /^PARALLAX_METRICS_TOKEN: .*16/);
  assert.ok(!error?.includes("short"));
  assert.deepEqual(others, []);
});

test("reports every error together, each with the name of its setting", () => {
  const invalid: Environment = {
    PARALLAX_MODE: "paper",
    PARALLAX_PORT: "65536",
    PARALLAX_SANDBOX_SEED: "-1",
    PARALLAX_SANDBOX_SPEED: "0",
    PARALLAX_SANDBOX_MARKETS: "1e3",
    PARALLAX_SANDBOX_LIMITS: "yes",
    PARALLAX_RAW_TICK_DAYS: "1.5",
    PARALLAX_ROLES: "api,unknown",
    PARALLAX_VENUES: "nowhere",
    PARALLAX_LOG_LEVEL: "loud",
    PARALLAX_TYPO: "1",
    DATABASE_URL: "mysql://x",
    PARALLAX_PUBLIC_URL: "api.example.org",
    PARALLAX_UPGRADE_URL: "javascript:alert(1)",
  };
  const errors = configErrors(invalid);
  for (const name of Object.keys(invalid))
    assert.ok(
      errors.some((error) => error.startsWith(name)),
      name,
    );
  const error = new ConfigError(errors);
  for (const text of errors) assert.ok(error.message.includes(text));
});

test("accepts numbers at their bounds and rejects numbers beyond them", () => {
  const bounds: Readonly<Record<string, readonly [min: number, max: number]>> = {
    PARALLAX_PORT: [0, 65_535],
    PARALLAX_SANDBOX_SEED: [0, 4_294_967_295],
    PARALLAX_SANDBOX_SPEED: [1, 3_600],
    PARALLAX_SANDBOX_MARKETS: [10, 500_000],
    PARALLAX_SANDBOX_PORT: [0, 65_500],
    PARALLAX_SANDBOX_RECORDING_PAST: [0, 100],
    PARALLAX_RAW_TICK_DAYS: [1, 3_650],
    PARALLAX_CONNECTIONS_MAX: [1, 1_000_000],
    PARALLAX_CONNECTIONS_PER_ADDRESS_MAX: [1, 1_000_000],
  };
  for (const [name, [min, max]] of Object.entries(bounds)) {
    for (const valid of [min, max]) parseEnvironment({ [name]: String(valid) });
    for (const invalid of [min - 1, max + 1, `${min}.5`, " 12", "twelve", "Infinity", "0x20"])
      assert.equal(configErrors({ [name]: String(invalid) }).length, 1, `${name}=${invalid}`);
  }
});

test("rejects every unknown PARALLAX_ name", () => {
  for (const name of [
    "PARALLAX_PROT",
    "PARALLAX_",
    "PARALLAX_NOWHERE_URL",
    "PARALLAX_CONSTRUCTOR_URL",
    "PARALLAX_KALSHI_SECRET",
  ]) {
    assertConfigError({ [name]: "http://x.example" }, new RegExp(`^${name}: no such setting`));
  }
  assertConfigError({ PARALLAX_KALSHI_GAMMA_URL: "http://x.example" }, /has no service gamma/);
});

test("PARALLAX_<VENUE>_<SERVICE>_URL sets a base URL; PARALLAX_<VENUE>_URL sets that of the venue's first service", () => {
  const config = parseEnvironment({
    PARALLAX_KALSHI_URL: "http://127.0.0.1:8790/trade-api/v2/",
    PARALLAX_KALSHI_WS_URL: "ws://127.0.0.1:8790/ws",
    PARALLAX_POLYMARKET_CLOB_URL: "https://clob.example",
  });
  assert.deepEqual(config.venueUrls, {
    kalshi: { rest: "http://127.0.0.1:8790/trade-api/v2", ws: "ws://127.0.0.1:8790/ws" },
    polymarket: { clob: "https://clob.example" },
  });
  assert.equal(configErrors({ PARALLAX_KALSHI_WS_URL: "http://127.0.0.1" }).length, 1);
  assert.equal(configErrors({ PARALLAX_KALSHI_URL: "ftp://127.0.0.1" }).length, 1);
});

test("accepts IP addresses and CIDR ranges as trusted proxies, and rejects hop counts, names and invalid ranges", () => {
  const invalidRanges = ["10.0.0.0/33", "10.0.0.0/0", "10.0.0.0/", "fd00::/129", "10.0.0.0/8/9"];
  for (const PARALLAX_TRUST_PROXY of ["127.0.0.1", "10.0.0.0/1", "192.168.1.1/32", "fd00::/128"])
    parseEnvironment({ PARALLAX_TRUST_PROXY });
  for (const PARALLAX_TRUST_PROXY of ["1", "true", "proxy.example", ...invalidRanges])
    assert.equal(configErrors({ PARALLAX_TRUST_PROXY }).length, 1, PARALLAX_TRUST_PROXY);
});

test("a venue's key id and key file must be set together", () => {
  const keySettings = { PARALLAX_KALSHI_KEY_ID: "id", PARALLAX_KALSHI_PRIVATE_KEY_FILE: "/k.pem" };
  assert.deepEqual(parseEnvironment(keySettings).venueKeys, { kalshi: { keyId: "id", privateKeyFile: "/k.pem" } });
  for (const name of Object.keys(keySettings))
    assertConfigError({ ...keySettings, [name]: "" }, /must be set together/);
});

test("reads the membership of venues that have several kinds of it, and rejects unknown kinds and other venues", () => {
  assert.deepEqual(parseEnvironment({ PARALLAX_KALSHI_MEMBER: "direct" }).venueMembers, { kalshi: "direct" });
  assert.deepEqual(parseEnvironment({ PARALLAX_KALSHI_MEMBER: "" }).venueMembers, {});
  assert.throws(() => parseEnvironment({ PARALLAX_KALSHI_MEMBER: "vip" }), /must be one of other, direct/);
  assert.throws(() => parseEnvironment({ PARALLAX_MANIFOLD_MEMBER: "direct" }), /no kinds of membership/);
});

test("PARALLAX_VENUES lists adapters, renames them with `id=adapter`, and marks those after the semicolon as reference only", () => {
  assert.deepEqual(parseVenueList("kalshi"), [["kalshi", "kalshi", false]]);
  assert.deepEqual(parseVenueList(" kalshi , polymarket ; "), [
    ["kalshi", "kalshi", false],
    ["polymarket", "polymarket", false],
  ]);
  assert.deepEqual(parseVenueList("limitless;kalshi,manifold"), [
    ["limitless", "limitless", false],
    ["kalshi", "kalshi", true],
    ["manifold", "manifold", true],
  ]);
  assert.deepEqual(parseVenueList("venue_a=kalshi,venue_b=polymarket,venue_c=limitless;venue_d=manifold"), [
    ["venue_a", "kalshi", false],
    ["venue_b", "polymarket", false],
    ["venue_c", "limitless", false],
    ["venue_d", "manifold", true],
  ]);
  assert.deepEqual(parseVenueList("polymarket=kalshi"), [["polymarket", "kalshi", false]]);
});

test("rejects a play-money venue before the semicolon under any id", () => {
  for (const text of ["manifold", "kalshi,manifold", "real=manifold", "manifold;kalshi"]) {
    assertConfigError({ PARALLAX_VENUES: text }, /play money/, text);
  }
});

test("rejects duplicate venues, unknown adapters, invalid ids and an empty first part", () => {
  const errorCases: Readonly<Record<string, RegExp>> = {
    "kalshi,kalshi": /named twice/,
    "a=kalshi,b=kalshi": /named twice/,
    "a=kalshi,a=polymarket": /named twice/,
    "kalshi;kalshi": /named twice/,
    "kalshi,nowhere": /no adapter "nowhere"/,
    "kalshi,constructor": /no adapter "constructor"/,
    "kalshi=": /no adapter/,
    "=kalshi": /not a name/,
    "Kalshi=kalshi": /not a name/,
    "a-b=kalshi": /not a name/,
    "a=b=kalshi": /not a name/,
    [`${"a".repeat(21)}=kalshi`]: /not a name/,
    ";manifold": /at least one venue/,
    "kalshi;manifold;polymarket": /more than one semicolon/,
  };
  for (const [text, expected] of Object.entries(errorCases))
    assertConfigError({ PARALLAX_VENUES: text }, expected, text);
});

test("error messages never repeat a value that may contain a secret", () => {
  const secret = "s3cr3t-value";
  const errors = configErrors({
    DATABASE_URL: `mysql://user:${secret}@db.example/p`,
    PARALLAX_PUBLIC_URL: `ftp://user:${secret}@x.example`,
    PARALLAX_KALSHI_URL: `ftp://${secret}@x.example`,
    PARALLAX_KALSHI_KEY_ID: secret,
    PARALLAX_LLM_API_KEYS: secret,
  });
  assert.equal(errors.length, 5);
  assert.equal(new ConfigError(errors).message.includes(secret), false);
});

test("Turnstile, mail and disposable domains are unset by default and parsed if set", () => {
  assert.deepEqual(
    [parseEnvironment().turnstile, parseEnvironment().mail, parseEnvironment().disposableDomains],
    [null, null, []],
  );
  const config = parseEnvironment({
    PARALLAX_TURNSTILE_SECRET: "0x4A",
    PARALLAX_PUBLIC_URL: "https://api.example.org/",
    PARALLAX_SMTP_URL: "smtps://a:b@mail.example.org",
    PARALLAX_MAIL_FROM: "Parallax <a@example.org>",
    PARALLAX_DISPOSABLE_DOMAINS: "a.example, /etc/parallax/disposable.txt",
  });
  assert.deepEqual(config.turnstile, {
    secret: "0x4A",
    url: "https://challenges.cloudflare.com/turnstile/v0/siteverify",
    siteKey: null,
  });
  const siteKey = { PARALLAX_TURNSTILE_SITE_KEY: "0x4AAAAAAA-b_c" };
  assert.equal(
    parseEnvironment({ ...siteKey, PARALLAX_TURNSTILE_SECRET: "0x4A" }).turnstile?.siteKey,
    "0x4AAAAAAA-b_c",
  );
  assertConfigError(siteKey, /SITE_KEY requires PARALLAX_TURNSTILE_SECRET/);
  assertConfigError({ PARALLAX_TURNSTILE_SITE_KEY: '"><script>' }, /SITE_KEY: give/);
  assert.deepEqual(config.mail, { smtpUrl: "smtps://a:b@mail.example.org", from: "Parallax <a@example.org>" });
  assert.deepEqual(config.disposableDomains, ["a.example", "/etc/parallax/disposable.txt"]);
});

test("PARALLAX_PUBLIC_URL must be an origin and, with SMTP, use https or loopback", () => {
  for (const address of [
    "https://a.example/api",
    "https://a.example?x",
    "https://a.example/#x",
    "https://u:p@a.example",
  ])
    assertConfigError({ PARALLAX_PUBLIC_URL: address }, /PUBLIC_URL: give scheme, host and port only/, address);
  assert.equal(
    parseEnvironment({ PARALLAX_PUBLIC_URL: "HTTPS://API.Example.org:443/" }).publicUrl,
    "https://api.example.org",
  );
  const mailSettings = { PARALLAX_SMTP_URL: "smtp://127.0.0.1:25", PARALLAX_MAIL_FROM: "a@example.org" };
  assertConfigError({ ...mailSettings, PARALLAX_PUBLIC_URL: "http://a.example" }, /PUBLIC_URL with https/);
  for (const address of ["http://127.0.0.1:8787", "http://localhost:8787", "http://[::1]:8787", "https://a.example"])
    assert.equal(parseEnvironment({ ...mailSettings, PARALLAX_PUBLIC_URL: address }).publicUrl, address);
});

test("rejects Turnstile test keys in live mode, a secret without a public URL, and incomplete mail settings", () => {
  const liveSettings = { PARALLAX_MODE: "live", PARALLAX_PUBLIC_URL: "https://api.example.org" };
  const testSecret = { PARALLAX_TURNSTILE_SECRET: "1x0000000000000000000000000000000AA" };
  assertConfigError({ ...liveSettings, ...testSecret }, /published test keys/);
  assert.equal(
    parseEnvironment(testSecret).turnstile?.secret,
    testSecret.PARALLAX_TURNSTILE_SECRET,
    "sandbox mode accepts test keys",
  );
  assertConfigError({ PARALLAX_MODE: "live", PARALLAX_TURNSTILE_SECRET: "0x4A" }, /requires PARALLAX_PUBLIC_URL/);
  const smtpSettings = { PARALLAX_SMTP_URL: "smtp://127.0.0.1:25" };
  assert.equal(configErrors(smtpSettings).length, 2);
  for (const from of ["no address", "a@b.org\r\nBcc: e@b.org", "<a@b.org>, <e@b.org>", "a@b.org,e@b.org"])
    assertConfigError(
      { ...smtpSettings, ...liveSettings, PARALLAX_MODE: "sandbox", PARALLAX_MAIL_FROM: from },
      /MAIL_FROM/,
      from,
    );
});

test("every default is valid, and every setting has a help text", () => {
  assert.deepEqual(
    parseEnvironment(Object.fromEntries(SETTINGS.map(({ name, defaultValue }) => [name, defaultValue]))),
    parseEnvironment(),
  );
  for (const { help } of SETTINGS) assert.ok(help.length > 10);
});
