import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { chmod, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { promisify } from "node:util";
import {
  eventually,
  everyMarket,
  linesWithoutProgress,
  run,
  type ServiceProcess,
  startServiceProcess,
  temporaryFolder,
} from "../support/service-process.ts";

// The tests use one data directory in this order: a first start, a kill, a restart, a graceful shutdown and another start.

const PROJECT = new URL("../..", import.meta.url).pathname;
const REAL_MONEY_VENUES = ["kalshi", "polymarket", "limitless"];
const METRICS_TOKEN = "a-token-for-the-scraper";
const REPORTS = 60;
/** The service is killed while the other reports are on their way. */
const RESPONSES_BEFORE_KILL = 15;

let folder: { path: string; release(): Promise<void> };
let service: ServiceProcess;
const listDirectories = () => [folder.path, join(folder.path, "store")];

before(async () => {
  folder = await temporaryFolder();
  service = await startServiceProcess({ dataDir: folder.path, createsStore: true });
});
after(async () => {
  await service.end();
  await folder.release();
});

test("the first start prints its progress, the URLs and a request to try, and creates private directories", async () => {
  await eventually(() => (/^ {2}Ready: \d+ markets$/m.test(service.output()) ? true : null), "the last line");
  const plainLines = service
    .output()
    .split("\n")
    .filter((line) => line.startsWith("  "));
  const expectedLines = [
    /^ {2}Creating the store in \S+ \(first start only\) …$/,
    /^ {2}Starting the simulated venues …$/,
    /^ {2}Parallax {2}http:/,
    /^ {2}Docs {6}http:.*\/docs$/,
    /^ {2}Try: curl -H "Authorization: Bearer plx_ent_/,
    /^ {2}Reading the markets of the venues …$/,
    /^ {2}Ready: \d+ markets$/,
  ];
  const positions = expectedLines.map((pattern) => plainLines.findIndex((line) => pattern.test(line)));
  assert.ok(!positions.includes(-1), service.output());
  assert.deepEqual(
    positions,
    positions.toSorted((a, b) => a - b),
  );
  assert.equal(service.output().includes("\x1b"), false);
  for (const path of listDirectories()) assert.equal((await stat(path)).mode & 0o777, 0o700, path);
});

test("the first request of the README returns the fields of its example", async () => {
  const readme = await readFile(join(PROJECT, "README.md"), "utf8");
  const script = (/```sh\n(KEY=[\s\S]*?)```/.exec(readme)?.[1] ?? "")
    .replace("./.parallax", folder.path)
    .replace("http://127.0.0.1:8787", service.url);
  const { stdout } = await promisify(execFile)("sh", ["-c", script], { cwd: PROJECT });
  const [market] = JSON.parse(stdout);
  const [example] = JSON.parse(/```json\n([\s\S]*?)```/.exec(readme)?.[1] ?? "[]");
  const requiredFields = [
    "platform",
    "market_id",
    "title",
    "yes_price",
    "updated_at",
    "url",
    "category",
    "status",
    "last_price",
    "event_slug",
    "event_title",
  ];
  for (const field of requiredFields) {
    assert.equal(typeof market[field], typeof example[field], field);
  }
  assert.match(`${market.title} ${market.event_title}`, /fed/i);
});

test("the service lists at least 400 open markets of three venues, each with a price in [0, 1] and a recent timestamp", async () => {
  const markets = await everyMarket(service);
  assert.ok(markets.length >= 400, `${markets.length} markets`);
  for (const market of markets) {
    assert.ok(REAL_MONEY_VENUES.includes(market.platform));
    assert.ok(market.yes_price >= 0 && market.yes_price <= 1, `${market.market_id} at ${market.yes_price}`);
    if (market.bid !== undefined && market.ask !== undefined) assert.ok(market.bid < market.ask);
    assert.ok(
      Math.abs(Date.now() - Date.parse(market.updated_at)) < 120_000,
      `${market.market_id} of ${market.updated_at}`,
    );
  }
  assert.deepEqual(new Set(markets.map((market) => market.platform)), new Set(REAL_MONEY_VENUES));
  assert.equal(new Set(markets.map((market) => `${market.platform}/${market.market_id}`)).size, markets.length);
});

test("the history of 30 days has points at fixed intervals for every venue", async () => {
  for (const venue of REAL_MONEY_VENUES) {
    const [market] = await everyMarket(service, `&source=${venue}&sort=volume_24h`).then((markets) =>
      markets.filter((candidate) => candidate.resolution_date > new Date(Date.now() + 16 * 86_400_000).toISOString()),
    );
    const { status, json } = await service.get(
      `/v1/markets/${venue}/${encodeURIComponent(market.market_id)}/history?period=30d&max_points=60`,
    );
    assert.equal(status, 200);
    assert.ok(json.points.length >= 2, `${venue}: ${json.points.length} points`);
    for (const point of json.points) {
      assert.equal(Date.parse(point.timestamp) % (json.interval_seconds * 1000), 0);
      assert.ok(point.yes_price > 0 && point.yes_price < 1);
    }
  }
});

test("a price of every venue changes over time", async () => {
  const readPrices = async () =>
    new Map((await everyMarket(service)).map((market) => [`${market.platform}/${market.market_id}`, market.yes_price]));
  const pricesBefore = await readPrices();
  for (const venue of REAL_MONEY_VENUES) {
    await eventually(async () => {
      const currentPrices = await readPrices();
      return [...currentPrices].some(
        ([id, price]) => id.startsWith(venue) && pricesBefore.has(id) && pricesBefore.get(id) !== price,
      )
        ? true
        : null;
    }, `a price of ${venue} to change`);
  }
});

test("the service does not serve play-money venues in paths, filters, lists and events", async () => {
  assert.equal((await service.get("/v1/markets?source=manifold")).status, 422);
  assert.equal((await service.get("/v1/markets/manifold/anything")).status, 422);
  const events = (await service.get("/v1/events?limit=100")).json;
  assert.ok(events.length > 20);
  assert.ok(events.every((event: { platform: string }) => REAL_MONEY_VENUES.includes(event.platform)));
  const health = (await service.get("/v1/health", {})).json;
  assert.ok(health.checks.venues.manifold.markets > 0, "reference venues are not ingested");
});

test("only the owner of the file with the demo keys can read it, and no key is logged", async () => {
  const { mode } = await stat(join(folder.path, "demo-keys.json"));
  assert.equal(mode & 0o777, 0o600);
  const logLines = service
    .output()
    .split("\n")
    .filter((line) => line.startsWith("{"))
    .join("\n");
  assert.ok(logLines.length > 0);
  for (const key of Object.values(service.keys)) assert.ok(!logLines.includes(key));
});

test("a second process on the same data directory exits with a one-line error, and the first continues to serve", async () => {
  const secondProcess = run(process.execPath, ["bin/parallax.mjs", "serve"], {
    PARALLAX_PORT: "0",
    PARALLAX_DATA_DIR: folder.path,
  });
  assert.equal(await secondProcess.ended, 1);
  assert.match(secondProcess.output(), new RegExp(`in use by another process \\(pid ${service.pid}\\)`));
  assert.equal(linesWithoutProgress(secondProcess.output()).length, 1);
  assert.equal((await service.get("/v1/markets?limit=1")).status, 200);
});

test("the service returns an OpenAPI 3.1 document and a page that displays the document", async () => {
  const document = (await service.get("/openapi.json", {})).json;
  assert.equal(document.openapi, "3.1.0");
  assert.equal(document.info.version, "1.0.0");
  const page = await service.get("/docs/", {});
  assert.equal(page.status, 200);
  assert.match(page.headers.get("content-type") ?? "", /text\/html/);
});

test("after a kill a restart serves the stored markets and all acknowledged trade reports, and makes the directories private again", async () => {
  const marketsBefore = await everyMarket(service);
  const [market] = marketsBefore;
  const report = async (index: number) => {
    const { platform, market_id, yes_price: price } = market;
    const response = await fetch(`${service.url}/v1/trades/report`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${service.keys.pro}`,
        "content-type": "application/json",
        "idempotency-key": `key ${index}`,
      },
      body: JSON.stringify({ platform, market_id, side: "yes", price, size_usd: 10, client_ref: `order ${index}` }),
    });
    assert.equal(response.status, 200);
    return ((await response.json()) as { trade_count: number }).trade_count;
  };
  const acknowledged = new Set<number>();
  let killed: Promise<unknown> | null = null;
  const outcomes = await Promise.allSettled(
    Array.from({ length: REPORTS }, async (_, index) => {
      await report(index);
      acknowledged.add(index);
      if (acknowledged.size === RESPONSES_BEFORE_KILL) killed = service.end("SIGKILL");
    }),
  );
  await killed;
  assert.ok(
    outcomes.some(({ status }) => status === "rejected"),
    "the kill interrupted some reports",
  );
  for (const path of listDirectories()) await chmod(path, 0o755);
  const env = { PARALLAX_METRICS_PORT: "0", PARALLAX_METRICS_TOKEN: METRICS_TOKEN };
  service = await startServiceProcess({ dataDir: folder.path, env });

  for (const path of listDirectories()) assert.equal((await stat(path)).mode & 0o777, 0o700, path);
  assert.equal(service.output().match(/its permissions are now 0700/g)?.length, 2);
  assert.doesNotMatch(service.output(), /Creating the store/);
  const ids = new Set((await everyMarket(service)).map(({ platform, market_id: id }) => `${platform}/${id}`));
  const missingMarkets = marketsBefore.filter(({ platform, market_id: id }) => !ids.has(`${platform}/${id}`));
  // The simulated world continues while the service is down, so a few markets may have closed.
  assert.ok(
    missingMarkets.length < marketsBefore.length * 0.1,
    `${missingMarkets.length} of ${marketsBefore.length} are missing`,
  );
  // A report that was acknowledged is stored, so repeating it does not increase the count.
  const counts: number[] = [];
  for (const index of acknowledged) counts.push(await report(index));
  assert.ok((counts[0] ?? 0) >= acknowledged.size);
  assert.equal(new Set(counts).size, 1, `repeated reports were stored again: ${counts}`);
  for (let index = 0; index < REPORTS; index++) await report(index);
  assert.equal(await report(0), REPORTS);
});

test("the metrics port serves metrics of ingest and storage only to clients with the token", async () => {
  const url = /"url":"([^"]+\/metrics)"/.exec(service.output())?.[1] ?? "";
  const fetchMetrics = async () => {
    const response = await fetch(url, { headers: { authorization: `Bearer ${METRICS_TOKEN}` } });
    assert.equal(response.status, 200);
    return response.text();
  };
  const readMetric = (text: string, sample: string) =>
    Number(
      text
        .split("\n")
        .find((line) => line.startsWith(`${sample} `))
        ?.slice(sample.length),
    );
  const requestCount = 'parallax_http_request_duration_seconds_count{method="GET",route="/v1/markets",status="200"}';
  const requestsBefore = readMetric(await fetchMetrics(), requestCount) || 0;
  assert.equal((await service.get("/v1/markets?limit=1")).status, 200);
  const text = await eventually(async () => {
    const metrics = await fetchMetrics();
    return readMetric(metrics, "parallax_store_ticks_written_total") > 0 ? metrics : null;
  }, "ticks in the metrics");
  for (const step of ["imports", "store", "migrations", "venues", "app", "restore", "listen", "ready"])
    assert.ok(readMetric(text, `parallax_start_seconds{step="${step}"}`) > 0, step);
  for (const venue of REAL_MONEY_VENUES) {
    assert.ok(readMetric(text, `parallax_venue_markets{venue="${venue}"}`) > 0, venue);
    assert.ok(readMetric(text, `parallax_venue_lag_seconds{venue="${venue}"}`) < 60, venue);
    const [requests = 0, received = 0, decoded = 0] = ["requests", "received_bytes", "decoded_bytes"].map((name) =>
      readMetric(text, `parallax_venue_${name}_total{venue="${venue}"}`),
    );
    // The simulated venues compress their responses.
    assert.ok(requests > 0 && received > 0 && received < decoded, `${venue}: ${requests}, ${received}, ${decoded}`);
  }
  assert.equal(readMetric(text, requestCount), requestsBefore + 1);
  assert.equal((await fetch(url)).status, 401);
  assert.equal((await service.get("/metrics")).status, 404);
  assert.ok(!service.output().includes(METRICS_TOKEN));
});

test("the service shuts down gracefully on SIGTERM; without a token, the metrics port is open only on 127.0.0.1", async () => {
  assert.equal(await service.end("SIGTERM"), 0);
  assert.match(service.output(), /"message":"stopped"/);
  const env = { PARALLAX_HOST: "0.0.0.0", PARALLAX_SANDBOX_PUBLIC: "1", PARALLAX_METRICS_PORT: "0" };
  service = await startServiceProcess({ dataDir: folder.path, env, isReady: false });
  const port = /"url":"http:\/\/[^"]+:(\d+)\/metrics"/.exec(service.output())?.[1];
  assert.equal((await fetch(`http://127.0.0.1:${port}/metrics`)).status, 200);
  // On Linux, all addresses of 127.0.0.0/8 are this machine.
  await assert.rejects(fetch(`http://127.0.0.2:${port}/metrics`), ({ cause }) => cause.code === "ECONNREFUSED");
});

test("a store with simulated data cannot be opened in live mode", async () => {
  await service.end();
  const liveProcess = run(process.execPath, ["bin/parallax.mjs", "serve", "--live"], {
    PARALLAX_PORT: "0",
    PARALLAX_DATA_DIR: folder.path,
  });
  assert.equal(await liveProcess.ended, 1);
  assert.match(liveProcess.output(), /sandbox/);
  assert.equal(linesWithoutProgress(liveProcess.output()).length, 1);
});
