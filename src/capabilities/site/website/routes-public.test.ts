import assert from "node:assert/strict";
import { test } from "node:test";
import { SAMPLE_AT, sampleMarket } from "../../../../test/support/markets/market-samples.ts";
import { openWebsite } from "../../../../test/support/pages/website-harness.ts";
import { KEY_ROUTE } from "../../../../test/support/test-app.ts";
import { METERING, type Metering } from "../../../domain/metering.ts";
import { defineRoute } from "../../../http/route.ts";

test("200: the start page shows the most traded markets, the venues, and a request with the demo key", async () => {
  const website = await openWebsite();
  for (let index = 0; index < 12; index++)
    website.board.apply(sampleMarket(`m${index}`, { activity: { volume24hUsd: index } }), SAMPLE_AT);
  const { statusCode, body, headers } = await website.visit("/");
  assert.equal(statusCode, 200);
  assert.equal(headers["cache-control"], "public, no-cache");
  assert.equal(headers.vary, "accept, accept-encoding");
  assert.deepEqual(
    [...body.matchAll(/>Question (m\d+)<\/a>/g)].map((match) => match[1]),
    ["m11", "m10", "m9", "m8", "m7", "m6", "m5", "m4"],
  );
  assert.match(
    body,
    /<strong>Alpha<\/strong>\n<span class="status ok">Operational<\/span>\n<span [^>]*>1,234 markets</,
  );
  assert.match(body, /<strong>Beta<\/strong>\n<span class="status down">Down</);
  assert.match(body, /curl &quot;http:\/\/127\.0\.0\.1:8787\/v1\/markets\?limit=1&quot;/);
  assert.match(body, /Authorization: Bearer plx_ent_demo&quot;/);
  assert.match(body, /<a class="button" href="\/account">Get an API key<\/a>/);
  assert.match(body, /&quot;market_id&quot;: &quot;m11&quot;/);
  assert.match(body, /<span class="badge"[^>]*>Sandbox</);
  const entityTag = String(headers.etag);
  assert.equal((await website.visit("/", { headers: { "if-none-match": entityTag } })).statusCode, 304);
});

test("200: a live server shows a placeholder for the key and no sandbox badge", async () => {
  const website = await openWebsite({ data: "live", demoKey: null });
  const { body } = await website.visit("/");
  assert.match(body, /Bearer YOUR_API_KEY&quot;/);
  assert.match(body, /<a href="\/account">Get a free key<\/a>/);
  assert.doesNotMatch(body, /class="badge"|plx_ent/);
});

test("200: while the service starts, the start page says so", async () => {
  assert.match((await (await openWebsite()).visit("/")).body, /The service is reading the venues/);
});

test("200: clients that do not ask for HTML receive a JSON index, with absolute URLs if the public URL is known", async () => {
  const website = await openWebsite();
  for (const accept of ["*/*", "application/json", "application/json, text/html"]) {
    const response = await website.visit("/", { headers: { accept } });
    assert.equal(response.statusCode, 200);
    assert.match(String(response.headers["content-type"]), /^application\/json/);
    const index = response.json();
    assert.deepEqual([index.docs, index.openapi, index.health], ["/docs", "/openapi.json", "/v1/health"]);
  }
  const publicWebsite = await openWebsite({ publicUrl: "https://parallax.example" });
  const response = await publicWebsite.visit("/", { headers: { accept: "*/*" } });
  assert.equal(response.json().docs, "https://parallax.example/docs");
});

test("200: HEAD has the headers of GET and no body", async () => {
  const website = await openWebsite();
  website.board.apply(sampleMarket("a"), SAMPLE_AT);
  for (const path of ["/", "/markets", "/markets/alpha/a", "/pricing", "/robots.txt"]) {
    const [head, get] = [await website.visit(path, { method: "HEAD" }), await website.visit(path)];
    assert.deepEqual([head.statusCode, head.body, head.headers.etag], [200, "", get.headers.etag], path);
  }
});

test("examples contain the public URL or a loopback Host header, and no other header", async () => {
  const website = await openWebsite();
  const readExample = async (headers: Record<string, string>) =>
    /curl &quot;(\S*?)\/v1[\s\S]*?Bearer (\w+)/.exec((await website.visit("/", { headers })).body)?.slice(1);
  assert.deepEqual(await readExample({ host: "localhost:8787" }), ["http://localhost:8787", "plx_ent_demo"]);
  for (const host of ["parallax.example", "$(id).example", "`id`", 'a";id;"'])
    assert.deepEqual(await readExample({ host }), ["https://YOUR_HOST", "YOUR_API_KEY"], host);
  const remote = await website.visit("/", { headers: { host: "localhost:8787" }, from: "198.51.100.7" });
  assert.doesNotMatch(remote.body, /plx_ent_demo/, "a proxy can forward any Host header");
  const publicWebsite = await openWebsite({ publicUrl: "https://parallax.example/" });
  const { body } = await publicWebsite.visit("/");
  assert.match(body, /curl &quot;https:\/\/parallax\.example\/v1/);
  assert.doesNotMatch(body, /plx_ent_demo/);
});

test("public pages have a title, a description and link previews, and a canonical URL if the public URL is known", async () => {
  const website = await openWebsite({ publicUrl: "https://parallax.example" });
  website.board.apply(sampleMarket("a"), SAMPLE_AT);
  for (const path of ["/", "/markets", "/markets/alpha/a", "/pricing"]) {
    const { body } = await website.visit(`${path}?period=30d`);
    assert.match(body, /<title>[^<]+ · Parallax<\/title>/);
    assert.match(body, /<meta name="description" content="[^"]{30,}">/);
    assert.match(body, /<meta property="og:title" content="[^"]+">/);
    assert.match(body, /<meta property="og:description" content="[^"]+">/);
    assert.ok(body.includes(`<link rel="canonical" href="https://parallax.example${path}">`), path);
    assert.doesNotMatch(body, /noindex/);
  }
  const withoutPublicUrl = await openWebsite();
  assert.doesNotMatch((await withoutPublicUrl.visit("/")).body, /canonical|og:url/);
  assert.match((await website.visit("/markets/alpha/none")).body, /<meta name="robots" content="noindex">/);
});

test("robots.txt allows the public pages and excludes the API and account pages", async () => {
  const { body, headers } = await (await openWebsite()).visit("/robots.txt");
  assert.match(String(headers["content-type"]), /^text\/plain/);
  for (const path of ["/account", "/v1/"]) assert.match(body, new RegExp(`^Disallow: ${path}$`, "m"));
  assert.match(body, /^Allow: \/$/m);
});

test("the pricing page names pay per request only if the operator accepts payments", async () => {
  const prices = /<h2>Pay per request<\/h2>/;
  assert.doesNotMatch((await (await openWebsite()).visit("/pricing")).body, prices);
  assert.match((await (await openWebsite({ acceptsPayments: true })).visit("/pricing")).body, prices);
});

test("the pricing page shows the price of an endpoint only if it differs from the price of its quota's tier", async () => {
  const { app, visit } = await openWebsite({ acceptsPayments: true });
  const define = (url: string, metering: Metering) =>
    defineRoute(app, { ...KEY_ROUTE, url, metering, operationId: url.slice(1), handler: () => ({}) });
  define("/plain", METERING.LISTING);
  define("/stream", METERING.STREAM);
  define("/unsold", { ...METERING.DEEP, priceTier: null, needsAccount: true });
  const { body } = await visit("/pricing");
  const noteOf = (path: string) => new RegExp(`GET ${path}</code>(?: <span[^>]*>([^<]*)</span>)?`).exec(body)?.[1];
  assert.equal(noteOf("/plain"), undefined);
  assert.equal(noteOf("/stream"), "$5.00 per request, as DEEP");
  assert.equal(noteOf("/unsold"), "not sold per request");
});
