import assert from "node:assert/strict";
import { stat } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import {
  eventually,
  everyMarket,
  linesWithoutProgress,
  run,
  type ServiceProcess,
  startServiceProcess,
  temporaryFolder,
} from "../support/service-process.ts";

const REAL_MONEY_VENUES = ["kalshi", "polymarket", "limitless"];

describe("the service started by npm start", () => {
  let folder: { path: string; release(): Promise<void> };
  let service: ServiceProcess;

  before(async () => {
    folder = await temporaryFolder();
    service = await startServiceProcess({ dataDir: folder.path, createsStore: true });
  });
  after(async () => {
    await service.end();
    await folder.release();
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
      new Map(
        (await everyMarket(service)).map((market) => [`${market.platform}/${market.market_id}`, market.yes_price]),
      );
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

  test("a restarted service serves the stored markets after a kill", async () => {
    const marketsBefore = await everyMarket(service);
    await service.end("SIGKILL");
    service = await startServiceProcess({ dataDir: folder.path });
    const marketsAfter = await everyMarket(service);
    const ids = new Set(marketsAfter.map((market) => `${market.platform}/${market.market_id}`));
    const missingMarkets = marketsBefore.filter((market) => !ids.has(`${market.platform}/${market.market_id}`));
    // The simulated world continues while the service is down, so a few markets may have closed.
    assert.ok(
      missingMarkets.length < marketsBefore.length * 0.1,
      `${missingMarkets.length} of ${marketsBefore.length} are missing`,
    );
  });

  test("the service shuts down gracefully on SIGTERM", async () => {
    assert.equal(await service.end("SIGTERM"), 0);
    assert.match(service.output(), /"message":"stopped"/);
    service = await startServiceProcess({ dataDir: folder.path });
  });
});

test("a store with simulated data cannot be opened in live mode", async () => {
  const folder = await temporaryFolder();
  const service = await startServiceProcess({
    dataDir: folder.path,
    isReady: false,
    env: { PARALLAX_SANDBOX_MARKETS: "20" },
  });
  await service.end();
  const liveProcess = run(process.execPath, ["bin/parallax.mjs", "serve", "--live"], {
    PARALLAX_PORT: "0",
    PARALLAX_DATA_DIR: folder.path,
  });
  assert.equal(await liveProcess.ended, 1);
  assert.match(liveProcess.output(), /sandbox/);
  assert.equal(linesWithoutProgress(liveProcess.output()).length, 1);
  await folder.release();
});

test("the metrics port serves metrics of ingest and storage only to clients with the token", async () => {
  const folder = await temporaryFolder();
  const token = "a-token-for-the-scraper";
  const service = await startServiceProcess({
    dataDir: folder.path,
    env: { PARALLAX_SANDBOX_MARKETS: "20", PARALLAX_METRICS_PORT: "0", PARALLAX_METRICS_TOKEN: token },
  });
  const url = /"url":"([^"]+\/metrics)"/.exec(service.output())?.[1] ?? "";
  const fetchMetrics = async () => {
    const response = await fetch(url, { headers: { authorization: `Bearer ${token}` } });
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
  assert.equal((await service.get("/v1/markets?limit=1")).status, 200);
  const text = await eventually(async () => {
    const metrics = await fetchMetrics();
    return readMetric(metrics, "parallax_store_ticks_written_total") > 0 ? metrics : null;
  }, "ticks in the metrics");
  for (const venue of REAL_MONEY_VENUES) {
    assert.ok(readMetric(text, `parallax_venue_markets{venue="${venue}"}`) > 0, venue);
    assert.ok(readMetric(text, `parallax_venue_lag_seconds{venue="${venue}"}`) < 60, venue);
    const [requests = 0, received = 0, decoded = 0] = ["requests", "received_bytes", "decoded_bytes"].map((name) =>
      readMetric(text, `parallax_venue_${name}_total{venue="${venue}"}`),
    );
    // The simulated venues compress their responses.
    assert.ok(requests > 0 && received > 0 && received < decoded, `${venue}: ${requests}, ${received}, ${decoded}`);
  }
  const requestCount = 'parallax_http_request_duration_seconds_count{method="GET",route="/v1/markets",status="200"}';
  assert.equal(readMetric(text, requestCount), 1);
  assert.equal((await fetch(url)).status, 401);
  assert.equal((await service.get("/metrics")).status, 404);
  assert.ok(!service.output().includes(token));
  await service.end();
  await folder.release();
});

test("`serve` reports all invalid settings in one run", async () => {
  const { ended, output } = run(process.execPath, ["bin/parallax.mjs", "serve"], {
    PARALLAX_PORT: "no",
    PARALLAX_MODE: "demo",
    PARALLAX_COLOUR: "blue",
  });
  assert.equal(await ended, 1);
  for (const name of ["PARALLAX_PORT", "PARALLAX_MODE", "PARALLAX_COLOUR"]) assert.match(output(), new RegExp(name));
});

test("`--help` lists settings of every kind", async () => {
  const { ended, output } = run("npm", ["start", "--", "--help"]);
  assert.equal(await ended, 0);
  for (const name of ["PARALLAX_MODE", "PARALLAX_VENUES", "DATABASE_URL", "PARALLAX_SANDBOX_SEED"])
    assert.match(output(), new RegExp(name));
});
