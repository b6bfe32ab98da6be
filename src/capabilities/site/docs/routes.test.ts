import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { brotliDecompressSync } from "node:zlib";
import { openDocsApp } from "../../../../test/support/pages/docs-app.ts";
import type { App } from "../../../app/index.ts";
import { PLAN_ALLOWANCES, TIERS } from "../../../domain/plan.ts";
import { STATUSES } from "../../../http/problem.ts";
import { GUIDES } from "./guides.ts";

const HOST = "127.0.0.1:8787";
const DEMO_KEY = "plx_ent_demo";

let app: App;
before(async () => {
  app = await openDocsApp({ demoKey: DEMO_KEY });
});
after(() => app.http.close());

let requests = 0;

/** Sends each request from another loopback address, because requests without a key are limited by address. */
function get(url: string, headers: Readonly<Record<string, string>> = {}, remoteAddress?: string) {
  requests += 1;
  const address = remoteAddress ?? `127.0.${requests >> 8}.${requests & 255}`;
  return app.http.inject({ url, headers: { host: HOST, ...headers }, remoteAddress: address });
}

async function listPaths(): Promise<readonly string[]> {
  const { body } = await get("/llms.txt");
  return [...body.matchAll(/\(http:\/\/127\.0\.0\.1:8787(\/docs[^)]*)\.md\)/g)].map((match) => match[1] ?? "");
}

test("there is a page for each guide and each operation", async () => {
  const paths = await listPaths();
  const operations = app.http.routeTable.entries.map(({ operationId }) => operationId.replaceAll("_", "-"));
  assert.equal(paths.length, GUIDES.length + operations.length);
  for (const operation of operations) assert.ok(paths.includes(`/docs/api/${operation}`), operation);
});

test("every page is HTML with one heading and Markdown with the same title, without unfilled placeholders", async () => {
  for (const path of await listPaths()) {
    const [page, markdown] = await Promise.all([get(path), get(`${path}.md`)]);
    assert.deepEqual([page.statusCode, markdown.statusCode], [200, 200], path);
    assert.equal(page.headers["content-type"], "text/html; charset=utf-8");
    assert.equal(markdown.headers["content-type"], "text/markdown; charset=utf-8");
    const headings = [...page.body.matchAll(/<h1>(.*?)<\/h1>/g)].map((match) => match[1]);
    assert.equal(headings.length, 1, path);
    assert.equal(markdown.body.split("\n", 1)[0], `# ${headings[0]}`);
    assert.match(page.body, /<meta name="description" content="[^"]{10,}">/);
    for (const { body } of [page, markdown]) assert.doesNotMatch(body, /\{\{|\[object /, path);
  }
});

test("every link to a page, and to a heading on it, has a target", async () => {
  const responses = new Map<string, Awaited<ReturnType<typeof get>>>();
  const read = async (path: string) => {
    const response = responses.get(path) ?? (await get(path));
    responses.set(path, response);
    return response;
  };
  for (const path of await listPaths()) {
    const { body: page } = await read(path);
    for (const [, link = ""] of page.matchAll(/href="((?:\/docs|\/llms|\/openapi|#)[^"]*)"/g)) {
      const [target = "", anchor] = link.split("#");
      const { statusCode, body } = await read(target === "" ? path : target);
      assert.equal(statusCode, 200, `${path} links to ${link}`);
      if (anchor !== undefined) assert.ok(body.includes(`id="${anchor}"`), `${path} links to ${link}`);
    }
  }
});

test("the pages show the limits, prices and error codes that the code enforces", async () => {
  const plans = (await get("/docs/plans-and-quotas.md")).body;
  for (const tier of TIERS) {
    const quotas = (["free", "pro"] as const).map((plan) => PLAN_ALLOWANCES[plan].quotas[tier]);
    const cells = quotas.map((quota) => (quota === 0 ? "not included" : quota.toLocaleString("en-US")));
    const row = `| ${[`${tier} calls per month`, ...cells, "by agreement"].join(" | ")} |`;
    assert.ok(plans.includes(row), row);
  }
  const errors = (await get("/docs/errors")).body;
  for (const [code, status] of Object.entries(STATUSES))
    assert.match(errors, new RegExp(`<code id="${code}">${code}</code></td>\\s*<td[^>]*>${status}</td>`));
});

test("an operation page shows access, price, limits, parameters with bounds, and each documented error", async () => {
  const { body } = await get("/docs/api/list-markets.md");
  assert.match(body, /\| API key \| free and above \| LISTING \| \$0\.01 \| 30 \(free\), 120 \(pro\) \|/);
  assert.match(body, /- `limit` \*integer, 1 to 100, default 30, optional\*/);
  assert.match(body, /One of `active`, `closed`, `determined`, `finalized`, `all`\./);
  const { responses } = JSON.parse((await get("/openapi.json")).body).paths["/v1/markets"].get;
  for (const [status, response] of Object.entries<{ "x-codes"?: string[] }>(responses))
    for (const code of response["x-codes"] ?? []) assert.ok(body.includes(`- \`${status} ${code}\` `), code);
  assert.match(body, /- `422 invalid_request` /);
  assert.match((await get("/docs/api/get-me.md")).body, /\| API key \| .* \| 60 \|/);
  assert.match((await get("/docs/api/get-health.md")).body, /\| no key \| .* \| per network address \|/);
  assert.match((await get("/docs/api/get-livez.md")).body, /\| no key \| .* \| not limited \|/);
  const page = (await get("/docs/api/get-market-history")).body;
  assert.match(page, /<summary>Fields<\/summary><ul class="fields"><li>(?:<p>)?<code>timestamp<\/code>/);
});

test("pages are revalidated with their entity tag and compressed once", async () => {
  const page = await get("/docs/api/list-markets");
  const etag = String(page.headers.etag);
  assert.equal((await get("/docs/api/list-markets", { "if-none-match": etag })).statusCode, 304);
  assert.equal(page.headers["cache-control"], "no-cache");
  const compressed = await get("/docs/api/list-markets", { "accept-encoding": "br" });
  assert.equal(compressed.headers["content-encoding"], "br");
  assert.equal(brotliDecompressSync(compressed.rawPayload).toString(), page.body);
  assert.equal((await get("/docs/")).body, (await get("/docs")).body);
});

test("the styles that block the first paint are compressed", async () => {
  const { body } = await get("/docs");
  const urls = [...body.matchAll(/rel="stylesheet" href="([^"]+)"/g)].map(([, url = ""]) => url);
  assert.equal(urls.length, 2);
  for (const url of urls) {
    const { headers, rawPayload } = await get(url, { "accept-encoding": "br" });
    assert.equal(headers["content-encoding"], "br", url);
    assert.ok(rawPayload.length < 3_500, `${url}: ${rawPayload.length} bytes`);
  }
});

test("pages load scripts and styles of this site only, and nothing inline", async () => {
  for (const path of ["/docs", "/docs/api/list-markets", "/docs/search?q=key"]) {
    const { headers, body } = await get(path);
    const policy = String(headers["content-security-policy"]);
    assert.match(policy, /default-src 'none'.*script-src 'self'.*connect-src 'self'/);
    assert.doesNotMatch(policy, /unsafe|https?:|\*/);
    assert.doesNotMatch(body, /<script(?![^>]* src="\/assets\/)|<style|style="| on\w+="/);
  }
});

test("samples use the public URL, else a loopback Host header, else a placeholder", async () => {
  const readSample = async (url: string, host: string) => (await get(url, { host })).body;
  assert.match(await readSample("/docs/first-call.md", "localhost:9"), /curl "http:\/\/localhost:9\/v1/);
  assert.match(await readSample("/docs/first-call.md", "[::1]:9"), /\[::1\]:9\/v1/);
  for (const host of ["evil.example", "localhost.evil.example", "127.0.0.1.evil.example:80"]) {
    const text = await readSample("/docs/first-call.md", host);
    assert.match(text, /curl "https:\/\/YOUR_HOST\/v1/);
    assert.doesNotMatch(text, /evil/);
  }
  const publicApp = await openDocsApp({ publicUrl: "https://api.example.org", demoKey: DEMO_KEY });
  const { body } = await publicApp.http.inject({ url: "/docs/first-call.md", headers: { host: HOST } });
  await publicApp.http.close();
  assert.match(body, /curl "https:\/\/api\.example\.org\/v1/);
  assert.match(body, /Bearer YOUR_API_KEY/);
});

test("only users of this machine see the demo key", async () => {
  const shows = async (host: string, address: string) =>
    (await get("/docs/first-call.md", { host }, address)).body.includes(DEMO_KEY);
  assert.equal(await shows(HOST, "127.0.0.1"), true);
  assert.equal(await shows(HOST, "203.0.113.9"), false);
  assert.equal(await shows("sandbox.example", "127.0.0.1"), false);
});

test("an unknown page is 404, as a page for browsers and as JSON for others", async () => {
  for (const path of ["/docs/unknown", "/docs/api/unknown", "/docs/api/unknown.md", "/docs/..%2f..%2fpackage.json"]) {
    assert.deepEqual((await get(path)).json().code, "not_found", path);
    const page = await get(path, { accept: "text/html" });
    assert.equal(page.statusCode, 404);
    assert.match(page.body, /There is no page at this address/);
  }
});

test("examples and guides name the configured venues", async () => {
  const renamed = await openDocsApp({ venueIds: ["venue_a", "venue_b", "venue_c", "venue_d"] });
  const read = async (url: string) => (await renamed.http.inject({ url, headers: { host: HOST } })).body;
  for (const path of await listPaths()) {
    // Example texts contain URLs and ids of the real venues.
    const text = (await read(`${path}.md`)).replaceAll(/https:\/\/[^"\s]*/g, "");
    assert.doesNotMatch(text, /"(?:kalshi|polymarket|limitless|manifold)[":]/, path);
  }
  assert.match(await read("/docs/api/get-market.md"), /"platform": "venue_[a-d]"/);
  await renamed.http.close();
});

test("search results do not contain the Host header of any visitor", async () => {
  for (const host of ["localhost:1", "localhost:2"]) {
    const { body } = await get("/docs/search?q=base+url", { host });
    assert.match(body, /https:\/\/YOUR_HOST/);
    assert.doesNotMatch(body, /localhost/);
  }
});

test("the search finds operations, parameters, fields and error codes, and escapes the words", async () => {
  const search = async (words: string) => (await get(`/docs/search?q=${encodeURIComponent(words)}`)).body;
  const readFirst = (page: string) => /<ol class="results">\s*<li><a href="([^"]+)"/.exec(page)?.[1];
  assert.equal(readFirst(await search("list markets")), "/docs/api/list-markets");
  assert.equal(readFirst(await search("rotate")), "/docs/api/rotate-key");
  assert.equal(readFirst(await search("quota_exceeded")), "/docs/errors#quota_exceeded");
  assert.match(await search("max_points"), /href="\/docs\/api\/get-market-history/);
  assert.match(await search("fear_greed"), /href="\/docs\/api\/get-sentiment/);
  assert.match(await search("xyzzy"), /No page/);
  const hostile = await search('<script>alert(1)</script>" onfocus="x');
  assert.doesNotMatch(hostile, /<script>alert|" onfocus="/);
  assert.equal((await get(`/docs/search?q=${"a".repeat(201)}`)).statusCode, 422);
  assert.equal((await get("/docs/search")).statusCode, 200);
});
