import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { plainAppPorts } from "../test/support/app-ports.ts";
import { embeddedDatabase } from "../test/support/databases.ts";
import { FakeClock } from "../test/support/fake-clock.ts";
import { temporaryFolder } from "../test/support/service-process.ts";
import { recordingLog } from "../test/support/test-app.ts";
import { ScriptedVenue } from "../test/support/venues/scripted-venue.ts";
import { systemRandom } from "./adapters/system/system-random.ts";
import { type App, buildApp } from "./app.ts";
import { createKey, type DemoKeys, ensureDemoKeys } from "./capabilities/keys/index.ts";
import { METERING } from "./domain/metering.ts";
import { PLANS } from "./domain/plan.ts";
import { defineRoute } from "./http/route.ts";
import type { Database } from "./ports/database.ts";

/**
 * Who may call what: the smallest caller that is served. A route that is not here, or here and gone, fails the test: a
 * change of access is to be seen in review.
 */
const SMALLEST_CALLER: Readonly<Record<string, "anyone" | "account" | "free" | "pro">> = {
  "GET /openapi.json": "anyone",
  "GET /v1/markets": "free",
  "GET /v1/markets/{platform}/{market_id}": "free",
  "GET /v1/markets/{platform}/{market_id}/history": "free",
  "GET /v1/events": "free",
  "GET /v1/events/trending": "free",
  "GET /v1/events/search": "free",
  "GET /v1/events/{slug}": "free",
  "GET /v1/events/{slug}/markets": "free",
  "GET /v1/sentiment": "free",
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
  ...{ anyone: 0, free: 1, pro: 2, enterprise: 3 },
  ...{ "marketplace BASIC": 1, "marketplace PRO": 2 },
};
const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"] as const;
const MARKETPLACE_SECRET = "canary-marketplace-secret-0123456789";
const MARKETPLACE_USER = "canary-user-of-the-marketplace";
/** Longer than any minute limit remembers. */
const LATER_MS = 61_000;

const { log, lines } = recordingLog();
const clock = new FakeClock();
let database: Database;
let app: App;
let keys: DemoKeys;

before(async () => {
  database = await embeddedDatabase();
  const folder = await temporaryFolder();
  keys = await ensureDemoKeys(database, folder.path, { random: systemRandom, clock });
  await folder.release();
  app = await buildApp(
    plainAppPorts({
      ...{ database, log, clock, marketplaceSecrets: [MARKETPLACE_SECRET] },
      metrics: { hasOwnPort: false, token: "canary-metrics-token-1" },
      venues: [{ id: "alpha", referenceOnly: false, create: () => new ScriptedVenue("alpha", clock) }],
    }),
  );
  defineRoute(app.http, {
    ...{ method: "GET", url: "/v1/test/fault", access: "key", metering: METERING.UNCOUNTED, tag: "Analytics" },
    ...{ summary: "Fails", operationId: "test_fault", responses: {} },
    handler: ({ request }) => {
      throw new Error(`a fault that tells its request: Authorization: ${request.headers.authorization}`);
    },
  });
  await app.http.ready();
  app.http.lifecycle.markReady();
});

after(async () => {
  await app.stop();
  await app.http.close();
});

function headersOf(caller: (typeof CALLERS)[number]): Record<string, string> {
  if (caller === "anyone") return {};
  if (caller === "free" || caller === "pro" || caller === "enterprise")
    return { authorization: `Bearer ${keys[caller]}` };
  return {
    "x-rapidapi-proxy-secret": MARKETPLACE_SECRET,
    "x-rapidapi-user": MARKETPLACE_USER,
    "x-rapidapi-subscription": caller.slice("marketplace ".length),
  };
}

const described = () =>
  app.http.routeTable.entries
    .filter(({ path }) => !path.startsWith("/v1/test/"))
    .map(({ method, path }) => `${method} ${path}`);

test("every route is in the matrix of who may call it, and nothing else is", () => {
  assert.deepEqual(described(), Object.keys(SMALLEST_CALLER));
});

/** What a caller is to get by this method: who is served there, or the status of the refusal. */
function expectedOf(path: string, method: string, caller: (typeof CALLERS)[number]): "served" | number {
  // By this method the word is the id of a key.
  const route = method === "DELETE" ? path.replace(/\/rotate$/, "/{key_id}") : path;
  const smallest = SMALLEST_CALLER[`${method === "HEAD" ? "GET" : method} ${route}`];
  if (smallest === undefined) return 405;
  if (smallest === "anyone") return "served";
  if (caller === "anyone") return 401;
  // An account has keys; a marketplace's callers have none here.
  if (smallest === "account") return caller.startsWith("marketplace") ? 403 : "served";
  return RANK[caller] >= RANK[smallest] ? "served" : 403;
}

test("every route serves exactly those whose plan is large enough, by every method and whatever it is called", async () => {
  const paths = new Set(Object.keys(SMALLEST_CALLER).map((route) => route.split(" ")[1] ?? ""));
  for (const path of paths) {
    const url = path.replace(/\{\w+\}/g, "none");
    for (const caller of CALLERS) {
      for (const method of METHODS) {
        const headers = { ...headersOf(caller), "x-http-method-override": "GET" };
        // Whether a caller has an account is judged behind the body's form.
        const body = url.endsWith("/me/keys") && method === "POST" ? { payload: { name: "matrix" } } : {};
        const answer = await app.http.inject({ method, url, headers, ...body });
        // The matrix tells who gets past the doors; what a handler then finds is for its own tests. Only no fault is served.
        const isServed = answer.statusCode < 400 || [404, 409, 422].includes(answer.statusCode);
        const got = isServed ? "served" : answer.statusCode;
        assert.equal(got, expectedOf(path, method, caller), `${method} ${url} as ${caller}`);
        // Whoever has rotated a key goes on with the new one.
        if (url.endsWith("/rotate") && answer.statusCode === 200) keys = { ...keys, [caller]: answer.json().api_key };
      }
    }
    await clock.advance(LATER_MS);
  }
});

test("401: Bearer wins over the marketplace, and a wrong secret speaks for nobody", async () => {
  const ask = async (headers: Record<string, string>) =>
    (await app.http.inject({ url: "/v1/events", headers })).statusCode;
  const marketplace = headersOf("marketplace PRO");
  assert.equal(await ask({ ...marketplace, authorization: "Bearer wrong" }), 401);
  assert.equal(await ask({ ...marketplace, "x-rapidapi-proxy-secret": "wrong" }), 401);
  const { "x-rapidapi-proxy-secret": _stripped, ...identity } = marketplace;
  assert.equal(await ask({ ...identity, connection: "x-rapidapi-proxy-secret" }), 401);
  assert.equal(await ask(marketplace), 200);
});

/** Another service over the same store, and what it has asked the store. */
async function openCounting() {
  const asked: string[] = [];
  const counting: Database = {
    ...database,
    query: (text, parameters) => {
      asked.push(text);
      return database.query(text, parameters);
    },
  };
  const other = await buildApp(
    plainAppPorts({
      ...{ database: counting, log, clock, marketplaceSecrets: [MARKETPLACE_SECRET] },
      venues: [{ id: "alpha", referenceOnly: false, create: () => new ScriptedVenue("alpha", clock) }],
    }),
  );
  return { other, asked };
}

test("429: an address that was refused too often is looked up no more, but for keys known as good and the marketplace", async () => {
  const { other, asked } = await openCounting();
  const ask = async (headers: Record<string, string>) =>
    (await other.http.inject({ url: "/v1/events", headers })).statusCode;
  const marketplace = headersOf("marketplace PRO");
  assert.equal(await ask(headersOf("pro")), 200);
  await clock.advance(LATER_MS);
  for (let attempt = 0; attempt < 60; attempt++) {
    assert.equal(await ask({ ...marketplace, authorization: "Bearer wrong" }), 401);
  }
  const before = asked.length;
  assert.equal(await ask({ ...marketplace, authorization: "Bearer wrong" }), 429);
  assert.equal(await ask({ authorization: `Bearer ${createKey(systemRandom, "pro").key}` }), 429);
  assert.equal(await ask({ ...marketplace, "x-rapidapi-proxy-secret": "wrong" }), 429);
  assert.equal(asked.length, before);
  assert.equal(await ask(marketplace), 200);
  assert.equal(await ask(headersOf("pro")), 200);
  await other.stop();
  await other.http.close();
});

test("a key that fails its checksum is refused without a look into the store", async () => {
  const { other, asked } = await openCounting();
  const broken = `${keys.pro.slice(0, -1)}${keys.pro.endsWith("a") ? "b" : "a"}`;
  const { statusCode } = await other.http.inject({ url: "/v1/events", headers: { authorization: `Bearer ${broken}` } });
  assert.equal(statusCode, 401);
  assert.deepEqual(asked, []);
  await other.stop();
  await other.http.close();
});

test("pricing is free, and tells each priced route once", async () => {
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
  const priced = app.http.routeTable.entries.filter(({ metering }) => metering.priceTier !== null);
  assert.deepEqual(
    tiers.flatMap(({ endpoints }: { endpoints: string[] }) => endpoints).toSorted(),
    priced.map(({ method, path }) => `${method} ${path}`).toSorted(),
  );
  assert.deepEqual(plans, [
    {
      ...{ plan: "free", price_usd_month: 0 },
      quotas: { listing: 100, insight: 10, strategy: 0, deep: 0 },
      rate_limits: { general: 30, strategy: 0 },
    },
    {
      ...{ plan: "pro", price_usd_month: 49 },
      quotas: { listing: 10_000, insight: 500, strategy: 50, deep: 10 },
      rate_limits: { general: 120, strategy: 5 },
    },
    { plan: "enterprise", price_usd_month: null, quotas: null, rate_limits: null },
  ]);
});

test("no key and no secret is in any log, answer, metric or table", async () => {
  await clock.advance(LATER_MS);
  const canaries = [...Object.values(keys), MARKETPLACE_SECRET, MARKETPLACE_USER, "canary-metrics-token-1"];
  const answers: string[] = [];
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
        const { headers, body } = await app.http.inject({ method, url, headers: headersOf(caller) });
        answers.push(JSON.stringify(headers), body);
      }
    }
    const wrong = { ...headersOf(caller), "x-rapidapi-proxy-secret": `${MARKETPLACE_SECRET}.` };
    answers.push((await app.http.inject({ url: "/v1/markets", headers: wrong })).body);
  }
  const metricsHeaders = { authorization: "Bearer canary-metrics-token-1" };
  const metrics = await app.http.inject({ url: "/metrics", headers: metricsHeaders });
  assert.match(metrics.body, /parallax_http_request_duration_seconds_count\{[^}]*status="500"/);
  const tables = await database.query<{ name: string }>(
    "select quote_ident(tablename) as name from pg_tables where schemaname = current_schema()",
  );
  const rows: unknown[] = [];
  for (const { name } of tables) rows.push(await database.query(`select row_to_json(each)::text from ${name} as each`));
  assert.ok(lines.length > 20 && rows.length > 5);
  const places = { log: lines, answers, metrics: metrics.body, tables: rows };
  for (const [place, content] of Object.entries(places)) {
    const text = typeof content === "string" ? content : JSON.stringify(content);
    for (const canary of canaries) assert.ok(!text.includes(canary), `${canary} is in the ${place}`);
  }
});
