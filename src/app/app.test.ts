import assert from "node:assert/strict";
import diagnosticsChannel from "node:diagnostics_channel";
import { after, before, test } from "node:test";
import fastJsonStringify from "fast-json-stringify";
import type { FastifyInstance } from "fastify";
import { plainAppPorts } from "../../test/support/app-ports.ts";
import { embeddedDatabase } from "../../test/support/databases.ts";
import { FakeClock } from "../../test/support/fake-clock.ts";
import { temporaryFolder } from "../../test/support/service-process.ts";
import { recordingLog } from "../../test/support/test-app.ts";
import { ScriptedVenue } from "../../test/support/venues/scripted-venue.ts";
import { systemRandom } from "../adapters/system/system-random.ts";
import { createKey, type DemoKeys, ensureDemoKeys } from "../capabilities/accounts/keys/index.ts";
import { METERING } from "../domain/metering.ts";
import { PLANS } from "../domain/plan.ts";
import { defineRoute } from "../http/route.ts";
import type { Database } from "../ports/database.ts";
import { type App, type AppPorts, buildApp } from "./index.ts";

/** Access matrix: the lowest-ranked caller that each route accepts. */
const LOWEST_CALLERS: Readonly<Record<string, "anyone" | "account" | "pro account" | "free" | "pro">> = {
  "GET /openapi.json": "anyone",
  "GET /v1/markets": "free",
  "GET /v1/markets/{platform}/{market_id}": "free",
  "GET /v1/markets/{platform}/{market_id}/history": "free",
  "GET /v1/markets/{platform}/{market_id}/orderbook": "free",
  "GET /v1/markets/{platform}/{market_id}/trades": "free",
  "GET /v1/events": "free",
  "GET /v1/events/trending": "free",
  "GET /v1/events/search": "free",
  "GET /v1/events/{slug}": "free",
  "GET /v1/events/{slug}/markets": "free",
  "GET /v1/categories": "free",
  "GET /v1/sentiment": "free",
  "GET /v1/markets/{platform}/{market_id}/resolution": "free",
  "POST /v1/screen": "free",
  "GET /v1/markets/{platform}/{market_id}/execution": "pro",
  "GET /v1/markets/{platform}/{market_id}/consensus": "pro",
  "POST /v1/trades/report": "pro account",
  "POST /v1/trades/shadow": "pro account",
  "GET /v1/portfolio": "account",
  "GET /v1/performance": "free",
  "GET /v1/performance/history": "free",
  "GET /v1/arbitrage": "pro",
  "GET /v1/arbitrage/live": "pro",
  "POST /v1/markets/{platform}/{market_id}/analyze": "free",
  "GET /v1/markets/{platform}/{market_id}/analyze/{analysis_id}/status": "free",
  "GET /v1/analyses/{analysis_id}/status": "free",
  "GET /v1/markets/{platform}/{market_id}/analysis": "free",
  "GET /v1/analyses": "free",
  "POST /v1/correlation": "pro",
  "GET /v1/events/{slug}/correlation": "pro",
  "POST /v1/signals": "pro",
  "GET /v1/signals/best": "pro",
  "POST /v1/signals/portfolio": "pro",
  "POST /v1/what-if": "pro",
  "POST /v1/events/{slug}/analyze": "free",
  "GET /v1/events/{slug}/analysis": "free",
  "GET /v1/events/{slug}/probability-map": "free",
  "GET /v1/calibration": "anyone",
  "GET /v1/stream": "free",
  "POST /v1/webhooks": "pro account",
  "GET /v1/webhooks": "account",
  "DELETE /v1/webhooks/{webhook_id}": "account",
  "PATCH /v1/webhooks/{webhook_id}": "account",
  "POST /v1/webhooks/{webhook_id}/test": "pro account",
  "GET /v1/webhooks/{webhook_id}/deliveries": "account",
  "POST /v1/customers/signup": "anyone",
  "GET /v1/customers/me": "account",
  "GET /v1/customers/me/keys": "account",
  "POST /v1/customers/me/keys": "account",
  "POST /v1/customers/me/keys/rotate": "account",
  "DELETE /v1/customers/me/keys/{key_id}": "account",
  "GET /v1/pricing": "anyone",
  "GET /v1/health": "anyone",
  "GET /livez": "anyone",
  "GET /readyz": "anyone",
  "GET /v1/customers/verify": "anyone",
  "POST /v1/customers/verify": "anyone",
};
const CALLERS = ["anyone", ...PLANS, "marketplace BASIC", "marketplace PRO"] as const;
const RANK: Readonly<Record<(typeof CALLERS)[number], number>> = {
  anyone: 0,
  free: 1,
  pro: 2,
  enterprise: 3,
  "marketplace BASIC": 1,
  "marketplace PRO": 2,
};
const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"] as const;
const MARKETPLACE_SECRET = "canary-marketplace-secret-0123456789";
const MARKETPLACE_USER = "canary-user-of-the-marketplace";
/** Longer than the window of a minute limit. */
const LIMIT_WINDOW_MS = 61_000;

const { log, lines } = recordingLog();
const clock = new FakeClock();
let database: Database;
let app: App;
let keys: DemoKeys;

const openApp = (ports: Partial<AppPorts>) =>
  buildApp(
    plainAppPorts({
      database,
      log,
      clock,
      marketplaceSecrets: [MARKETPLACE_SECRET],
      venues: [
        { id: "alpha", referenceOnly: false, playMoney: false, create: () => new ScriptedVenue("alpha", clock) },
      ],
      ...ports,
    }),
  );

async function closeApp(openedApp: App): Promise<void> {
  await openedApp.stop();
  await openedApp.http.close();
}

const getStatus = async (openedApp: App, headers: Record<string, string>) =>
  (await openedApp.http.inject({ url: "/v1/events", headers })).statusCode;

before(async () => {
  database = await embeddedDatabase();
  const folder = await temporaryFolder();
  keys = await ensureDemoKeys(database, folder.path, { random: systemRandom, clock });
  await folder.release();
  app = await openApp({ metrics: { hasOwnPort: false, token: "canary-metrics-token-1" } });
  defineRoute(app.http, {
    method: "GET",
    url: "/v1/test/fault",
    access: "key",
    metering: METERING.UNCOUNTED,
    tag: "Analytics",
    summary: "Fails",
    operationId: "test_fault",
    responses: {},
    handler: ({ request }) => {
      throw new Error(`an error that repeats the request: Authorization: ${request.headers.authorization}`);
    },
  });
  await app.http.ready();
  app.http.lifecycle.markReady();
});

after(() => closeApp(app));

function createHeaders(caller: (typeof CALLERS)[number]): Record<string, string> {
  if (caller === "anyone") return {};
  if (caller === "free" || caller === "pro" || caller === "enterprise")
    return { authorization: `Bearer ${keys[caller]}` };
  return {
    "x-rapidapi-proxy-secret": MARKETPLACE_SECRET,
    "x-rapidapi-user": MARKETPLACE_USER,
    "x-rapidapi-subscription": caller.slice("marketplace ".length),
  };
}

test("the schema of every response can be compiled", async () => {
  const schemas: [route: string, schema: object][] = [];
  const collect = (message: unknown) =>
    (message as { readonly fastify: FastifyInstance }).fastify.addHook("onRoute", ({ method, url, schema }) => {
      for (const [status, response] of Object.entries(schema?.response ?? {}))
        schemas.push([`${method} ${url} ${status}`, response as object]);
    });
  diagnosticsChannel.subscribe("fastify.initialization", collect);
  await closeApp(await openApp({}));
  diagnosticsChannel.unsubscribe("fastify.initialization", collect);
  assert.ok(schemas.length > 50, `${schemas.length}`);
  for (const [route, schema] of schemas) assert.doesNotThrow(() => fastJsonStringify(schema), route);
});

const listRoutes = () =>
  app.http.routeTable.entries
    .filter(({ path }) => !path.startsWith("/v1/test/"))
    .map(({ method, path }) => `${method} ${path}`);

test("the access matrix lists every route of the application, and nothing else", () => {
  assert.deepEqual(listRoutes().sort(), Object.keys(LOWEST_CALLERS).sort());
});

/** Whether the route accepts the caller, or the status that rejects it. */
function expectedResult(path: string, method: string, caller: (typeof CALLERS)[number]): "accepted" | number {
  // In a DELETE request, the path segment `rotate` is a key id.
  const route = method === "DELETE" ? path.replace(/\/rotate$/, "/{key_id}") : path;
  const lowestCaller = LOWEST_CALLERS[`${method === "HEAD" ? "GET" : method} ${route}`];
  if (lowestCaller === undefined) return 405;
  if (lowestCaller === "anyone") return "accepted";
  if (caller === "anyone") return 401;
  // Marketplace callers have no account in this service.
  if (lowestCaller === "account") return caller.startsWith("marketplace") ? 403 : "accepted";
  if (lowestCaller === "pro account") return caller === "pro" || caller === "enterprise" ? "accepted" : 403;
  return RANK[caller] >= RANK[lowestCaller] ? "accepted" : 403;
}

test("every route accepts exactly the callers with a sufficient plan, for every method", async () => {
  const paths = new Set(Object.keys(LOWEST_CALLERS).map((route) => route.split(" ")[1] ?? ""));
  for (const path of paths) {
    const url = path.replace(/\{\w+\}/g, "none");
    for (const caller of CALLERS) {
      for (const method of METHODS) {
        const headers = { ...createHeaders(caller), "x-http-method-override": "GET" };
        // The account is checked after the body, so the body must be valid.
        const body = url.endsWith("/me/keys") && method === "POST" ? { payload: { name: "matrix" } } : {};
        const response = await app.http.inject({ method, url, headers, ...body });
        // 404, 409 and 422 come from the handler or the validation, after access was granted. A 5xx is never accepted.
        const isAccepted = response.statusCode < 400 || [404, 409, 422].includes(response.statusCode);
        const result = isAccepted ? "accepted" : response.statusCode;
        assert.equal(result, expectedResult(path, method, caller), `${method} ${url} as ${caller}`);
        // The rotation revoked the key; the following requests use the new one.
        if (url.endsWith("/rotate") && response.statusCode === 200)
          keys = { ...keys, [caller]: response.json().api_key };
      }
    }
    await clock.advance(LIMIT_WINDOW_MS);
  }
});

test("404: no route passes an id with a NUL character to the store", async () => {
  const { paths } = (await app.http.inject("/openapi.json")).json();
  for (const [path, operations] of Object.entries<Record<string, never>>(paths))
    for (const [method, operation] of Object.entries<{ responses: Record<string, { "x-codes"?: string[] }> }>(
      operations,
    )) {
      const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
      for (const nulName of names) {
        const url = path.replace(/\{(\w+)\}/g, (_, name) =>
          name === "platform" ? "alpha" : name === nulName ? "a%00b" : "none",
        );
        if (!url.includes("%00")) continue;
        const headers = createHeaders("enterprise");
        const { statusCode, body } = await app.http.inject({
          method: method.toUpperCase() as "GET",
          url,
          headers,
          ...(method === "get" || method === "delete" ? {} : { payload: {} }),
        });
        const { code } = JSON.parse(body);
        assert.deepEqual([url, statusCode], [url, 404], body);
        assert.ok(
          operation.responses["404"]?.["x-codes"]?.includes(code),
          `${method} ${url}: ${code} is not documented`,
        );
      }
    }
});

test("401: a Bearer key takes precedence over marketplace headers, and a wrong marketplace secret is rejected", async () => {
  const marketplace = createHeaders("marketplace PRO");
  assert.equal(await getStatus(app, { ...marketplace, authorization: "Bearer wrong" }), 401);
  assert.equal(await getStatus(app, { ...marketplace, "x-rapidapi-proxy-secret": "wrong" }), 401);
  const { "x-rapidapi-proxy-secret": _stripped, ...identity } = marketplace;
  assert.equal(await getStatus(app, { ...identity, connection: "x-rapidapi-proxy-secret" }), 401);
  assert.equal(await getStatus(app, marketplace), 200);
});

/** Opens a second app on the same database and records the SQL queries that it sends. */
async function openAppWithQueryLog() {
  const queries: string[] = [];
  const loggingDatabase: Database = {
    ...database,
    query: (text, parameters) => {
      queries.push(text);
      return database.query(text, parameters);
    },
  };
  return { otherApp: await openApp({ database: loggingDatabase }), queries };
}

test("429: after 60 responses with 401, an IP address can use only valid keys and a valid marketplace secret", async () => {
  const { otherApp, queries } = await openAppWithQueryLog();
  const marketplace = createHeaders("marketplace PRO");
  assert.equal(await getStatus(otherApp, createHeaders("pro")), 200);
  await clock.advance(LIMIT_WINDOW_MS);
  for (let attempt = 0; attempt < 60; attempt++) {
    assert.equal(await getStatus(otherApp, { ...marketplace, authorization: "Bearer wrong" }), 401);
  }
  const queriesBefore = queries.length;
  assert.equal(await getStatus(otherApp, { ...marketplace, authorization: "Bearer wrong" }), 429);
  assert.equal(await getStatus(otherApp, { ...marketplace, "x-rapidapi-proxy-secret": "wrong" }), 429);
  assert.equal(queries.length, queriesBefore);
  assert.equal(await getStatus(otherApp, { authorization: `Bearer ${createKey(systemRandom, "pro").key}` }), 429);
  assert.equal(queries.length, queriesBefore + 1);
  assert.equal(await getStatus(otherApp, createHeaders("free")), 200, "a key that this process has not looked up");
  assert.equal(await getStatus(otherApp, marketplace), 200);
  assert.equal(await getStatus(otherApp, createHeaders("pro")), 200);
  await closeApp(otherApp);
});

test("rejects a key with a wrong checksum without a database query", async () => {
  const { otherApp, queries } = await openAppWithQueryLog();
  const brokenKey = `${keys.pro.slice(0, -1)}${keys.pro.endsWith("a") ? "b" : "a"}`;
  assert.equal(await getStatus(otherApp, { authorization: `Bearer ${brokenKey}` }), 401);
  assert.deepEqual(queries, []);
  await closeApp(otherApp);
});

test("`/v1/pricing` requires no key and lists each priced route once", async () => {
  const { statusCode, body } = await app.http.inject("/v1/pricing");
  assert.equal(statusCode, 200);
  const { currency, tiers, plans } = JSON.parse(body);
  assert.equal(currency, "USD");
  assert.deepEqual(
    tiers.map(({ tier, price_usd: price }: { tier: string; price_usd: number }) => [tier, price]),
    [
      ["listing", 0.01],
      ["insight", 0.1],
      ["strategy", 2],
      ["deep", 5],
    ],
  );
  const pricedRoutes = app.http.routeTable.entries.filter(({ metering }) => metering.priceTier !== null);
  assert.deepEqual(
    tiers.flatMap(({ endpoints }: { endpoints: string[] }) => endpoints).toSorted(),
    pricedRoutes.map(({ method, path }) => `${method} ${path}`).toSorted(),
  );
  assert.deepEqual(plans, [
    {
      plan: "free",
      price_usd_month: 0,
      quotas: { listing: 100, insight: 10, strategy: 0, deep: 0 },
      rate_limits: { general: 30, strategy: 0 },
    },
    {
      plan: "pro",
      price_usd_month: 49,
      quotas: { listing: 10_000, insight: 500, strategy: 50, deep: 10 },
      rate_limits: { general: 120, strategy: 5 },
    },
    { plan: "enterprise", price_usd_month: null, quotas: null, rate_limits: null },
  ]);
});

test("no log line, response, metric or table contains a key or secret", async () => {
  await clock.advance(LIMIT_WINDOW_MS);
  const canaries = [...Object.values(keys), MARKETPLACE_SECRET, MARKETPLACE_USER, "canary-metrics-token-1"];
  const responses: string[] = [];
  const urls = [
    "/v1/markets?limit=x",
    "/v1/markets",
    "/v1/test/fault",
    "/v1/nowhere",
    "/v1/pricing",
    "/v1/markets/%zz",
  ];
  for (const caller of CALLERS) {
    for (const url of urls) {
      for (const method of ["GET", "POST"] as const) {
        const { headers, body } = await app.http.inject({ method, url, headers: createHeaders(caller) });
        responses.push(JSON.stringify(headers), body);
      }
    }
    const wrongSecretHeaders = { ...createHeaders(caller), "x-rapidapi-proxy-secret": `${MARKETPLACE_SECRET}.` };
    responses.push((await app.http.inject({ url: "/v1/markets", headers: wrongSecretHeaders })).body);
  }
  const metricsHeaders = { authorization: "Bearer canary-metrics-token-1" };
  const metricsResponse = await app.http.inject({ url: "/metrics", headers: metricsHeaders });
  assert.match(metricsResponse.body, /parallax_http_request_duration_seconds_count\{[^}]*status="500"/);
  const tables = await database.query<{ name: string }>(
    "select quote_ident(tablename) as name from pg_tables where schemaname = current_schema()",
  );
  const rows: unknown[] = [];
  for (const { name } of tables) rows.push(await database.query(`select row_to_json(each)::text from ${name} as each`));
  assert.ok(lines.length > 20 && rows.length > 5);
  const sources = { log: lines, responses, metrics: metricsResponse.body, tables: rows };
  for (const [source, content] of Object.entries(sources)) {
    const text = typeof content === "string" ? content : JSON.stringify(content);
    for (const canary of canaries) assert.ok(!text.includes(canary), `${canary} is in the ${source}`);
  }
});
