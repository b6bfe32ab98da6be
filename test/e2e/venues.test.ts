import assert from "node:assert/strict";
import { request } from "node:http";
import { after, before, test } from "node:test";
import type { RunningSandbox } from "../../sandbox/main.ts";
import {
  eventually,
  everyMarket,
  type ServiceProcess,
  startServiceProcess,
  temporaryFolder,
} from "../support/service-process.ts";
import { testSandbox, venueSettings } from "../support/venues/sandbox.ts";

/** The service names the venues as an operator has configured. Only `venue_b` is in the second sandbox. */
const VENUES = "venue_a=kalshi,venue_b=polymarket,venue_c=limitless;venue_d=manifold";

let healthySandbox: RunningSandbox;
let failingSandbox: RunningSandbox;
let folder: { path: string; release(): Promise<void> };
let service: ServiceProcess;

before(async () => {
  const genesis = Date.now();
  [healthySandbox, failingSandbox] = await Promise.all([testSandbox({ genesis }), testSandbox({ genesis })]);
  folder = await temporaryFolder();
  service = await startServiceProcess({
    dataDir: folder.path,
    env: {
      ...venueSettings(healthySandbox),
      ...venueSettings(failingSandbox, ["polymarket"]),
      PARALLAX_VENUES: VENUES,
    },
  });
});
after(async () => {
  await service.end();
  await healthySandbox.close();
  await folder.release();
});

test("lists, paths, filters, events and health use the configured ids", async () => {
  const markets = await everyMarket(service);
  assert.deepEqual(new Set(markets.map((market) => market.platform)), new Set(["venue_a", "venue_b", "venue_c"]));
  for (const venue of ["venue_a", "venue_b", "venue_c"]) {
    const [first] = (await service.get(`/v1/markets?source=${venue}&limit=1`)).json;
    assert.equal(first.platform, venue);
    const response = await service.get(`/v1/markets/${venue}/${encodeURIComponent(first.market_id)}`);
    assert.equal(response.json.market_id, first.market_id);
    if (first.event_slug !== undefined) assert.ok(first.event_slug.startsWith(`${venue}:`));
  }
  const [event] = (await service.get("/v1/events?source=venue_b")).json;
  assert.ok(event.slug.startsWith("venue_b:"));
  assert.equal((await service.get(`/v1/events/${encodeURIComponent(event.slug)}`)).json.platform, "venue_b");
  assert.deepEqual(Object.keys((await service.get("/v1/health", {})).json.checks.venues).sort(), [
    "venue_a",
    "venue_b",
    "venue_c",
    "venue_d",
  ]);
});

test("filters and the OpenAPI document contain only the configured ids", async () => {
  assert.equal(
    (await service.get("/v1/markets?source=kalshi")).json.detail[0].msg,
    "Input should be 'venue_a', 'venue_b' or 'venue_c'",
  );
  const document = (await service.get("/openapi.json", {})).text;
  assert.match(document, /"venue_a"/);
  assert.doesNotMatch(document, /kalshi|polymarket|limitless|manifold/i);
});

/** Sends the path unchanged; `fetch` would normalise it. */
const sendRaw = (path: string, options: { method?: string; headers?: Record<string, string>; body?: string } = {}) =>
  new Promise<{ status: number; text: string; headers: NodeJS.Dict<string | string[]> }>((resolve, reject) => {
    const { hostname, port } = new URL(service.url);
    const headers = { authorization: `Bearer ${service.keys.enterprise}`, ...options.headers };
    const outgoingRequest = request({ hostname, port, path, method: options.method ?? "GET", headers }, (response) => {
      let text = "";
      response.on("data", (chunk) => {
        text += chunk;
      });
      response.on("end", () => resolve({ status: response.statusCode ?? 0, text, headers: response.headers }));
    });
    outgoingRequest.on("error", reject);
    outgoingRequest.end(options.body);
  });

test("404: hostile market ids return not found", async () => {
  const ids = [
    "%2F",
    "%2e%2e%2f",
    "..%2F..%2Fadmin",
    "%00",
    "a%00b",
    "x".repeat(3_000),
    "x".repeat(513),
    encodeURIComponent("🎲".repeat(20)),
    "%E2%80%AE",
    "%252f",
    "a;b",
    "a%23b",
    "a%3Fb=c",
    "%20",
    "'",
    "%22",
    "history",
    "__proto__",
    "constructor",
    "0",
    "-1",
    "1e400",
  ];
  const requestAll = async (venue: string) => {
    for (const id of ids) {
      for (const rest of ["", "/history"]) {
        const { status, text } = await sendRaw(`/v1/markets/${venue}/${id}${rest}`);
        assert.equal(status, 404, `${venue} ${id.slice(0, 40)}${rest}: ${status} ${text.slice(0, 200)}`);
      }
    }
  };
  // In parallel, because the requests for each venue wait for the rate limit of that venue.
  await Promise.all(["venue_a", "venue_b", "venue_c"].map(requestAll));
});

test("invalid parameters, paths and methods return the documented 4xx status", async () => {
  const cases: readonly [string, number, { method?: string; headers?: Record<string, string>; body?: string }?][] = [
    ["/v1/markets?limit=x", 422],
    ["/v1/markets?limit=0", 422],
    ["/v1/markets?limit=101", 422],
    ["/v1/markets?sort=beauty", 422],
    ["/v1/markets?status=open", 422],
    ["/v1/markets?cursor=abc", 422],
    ["/v1/markets?source=nowhere", 422],
    ["/v1/markets?source=venue_a&platform=venue_b", 422],
    [`/v1/markets?query=${"x".repeat(501)}`, 422],
    ["/v1/markets/venue_a/X?expand=everything", 422],
    ["/v1/markets/nowhere/X", 422],
    ["/v1/markets/%ff/X", 400],
    ["/v1/markets?query=%zz", 400],
    ["/v1/events?limit=1000", 422],
    ["/v1/events/search", 422],
    ["/v1/events/nowhere:1", 404],
    ["/v1/nothing", 404],
    ["/v1/markets/", 404],
    ["/v1/markets", 405, { method: "DELETE" }],
    ["/v1/markets", 405, { method: "POST", headers: { "content-type": "application/json" }, body: "{bad" }],
    ["/v1/health", 405, { method: "PUT", headers: { "content-type": "application/json" }, body: "[".repeat(5_000) }],
    ["/v1/markets", 401, { headers: { authorization: "Bearer plx_pro_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa" } }],
    ["/v1/markets", 401, { headers: { authorization: "Basic abc" } }],
  ];
  for (const [path, expected, options] of cases) {
    const { status, text } = await sendRaw(path, options);
    assert.equal(status, expected, `${options?.method ?? "GET"} ${path.slice(0, 60)}: ${status} ${text.slice(0, 200)}`);
    assert.ok("detail" in JSON.parse(text));
  }
});

test("a key in a header, the query or the path is not logged", async () => {
  const canaryKey = "plx_pro_canarycanarycanarycanarycanary";
  await sendRaw(`/v1/markets?api_key=${canaryKey}&query=${canaryKey}`, {
    headers: { authorization: `Bearer ${canaryKey}`, cookie: canaryKey, "x-api-key": canaryKey },
  });
  await sendRaw(`/v1/markets/venue_a/${canaryKey}`);
  await sendRaw(`/${canaryKey}`);
  assert.ok(!service.output().includes(canaryKey));
});

test("the service serves the last quotes with unchanged timestamps, reports degraded health, and returns 502 only if it must query the venue", async () => {
  const marketBefore = (await service.get("/v1/markets?source=venue_b&limit=1")).json[0];
  await failingSandbox.close();
  const outageStartedAt = Date.now();
  const health = await eventually(async () => {
    const { json } = await service.get("/v1/health", {});
    return json.checks.venues.venue_b.status === "ok" ? null : json;
  }, "degraded health");
  assert.equal(health.status, "degraded");
  assert.equal(health.checks.venues.venue_a.status, "ok");
  assert.equal(health.checks.venues.venue_c.status, "ok");

  const staleMarket = await service.get(`/v1/markets/venue_b/${marketBefore.market_id}`);
  assert.equal(staleMarket.status, 200);
  assert.ok(
    Date.parse(staleMarket.json.updated_at) <= outageStartedAt + 1_000,
    "`updated_at` changed during the outage",
  );

  const unknownMarket = await service.get("/v1/markets/venue_b/987654321");
  assert.equal(unknownMarket.status, 502);
  assert.equal(unknownMarket.json.code, "venue_unavailable");

  const checkStartedAt = Date.now();
  await eventually(async () => {
    const [newestMarket] = (await service.get("/v1/markets?source=venue_a&limit=1&sort=updated_at")).json;
    return Date.parse(newestMarket.updated_at) > checkStartedAt ? true : null;
  }, "a newer quote of a venue that is available");
  assert.equal((await service.get("/readyz", {})).status, 200);
});
