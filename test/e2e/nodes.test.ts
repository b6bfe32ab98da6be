import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import pg from "pg";
import { VENUE_SERVICES } from "../../src/venues/registry.ts";
import {
  eventually,
  everyMarket,
  firstLineOf,
  run,
  type ServiceProcess,
  startServiceProcess,
  temporaryFolder,
} from "../support/service-process.ts";

const SERVER_URL = process.env.TEST_DATABASE_URL;
const DATABASE_NAME = `parallax_nodes_${process.pid}`;
const skip = SERVER_URL === undefined ? "TEST_DATABASE_URL is not set" : false;

interface VenueCheck {
  readonly role: "ingest" | "follower";
  readonly status: string;
}

const readVenueChecks = async (service: ServiceProcess): Promise<[string, VenueCheck][]> =>
  Object.entries((await service.get("/v1/health", {})).json.checks.venues);

/** Lists the venues that a process ingests. */
const listIngestedVenues = async (service: ServiceProcess): Promise<string[]> =>
  (await readVenueChecks(service)).filter(([, { role }]) => role === "ingest").map(([venue]) => venue);

const readPrices = async (service: ServiceProcess): Promise<Map<string, string>> =>
  new Map(
    (await everyMarket(service)).map(({ platform, market_id, yes_price, bid, ask }) => [
      `${platform}/${market_id}`,
      [yes_price, bid, ask].join(),
    ]),
  );

describe("processes that share a PostgreSQL server", { skip }, () => {
  const url = new URL(SERVER_URL ?? "postgres://nowhere/none");
  url.pathname = `/${DATABASE_NAME}`;
  const runningServices: ServiceProcess[] = [];
  /** The simulated venues, shared by all processes. */
  let sandbox: ReturnType<typeof run>;
  let venueUrls: Record<string, string> = {};
  let folder: { path: string; release(): Promise<void> };
  const start = async (roles: string): Promise<ServiceProcess> => {
    const env = { DATABASE_URL: url.href, PARALLAX_ROLES: roles, ...venueUrls };
    // All processes use one data directory, so that they share the demo keys.
    const service = await startServiceProcess({ dataDir: folder.path, env });
    runningServices.push(service);
    return service;
  };
  const queryServer = async <Row extends pg.QueryResultRow>(database: string, text: string): Promise<Row[]> => {
    const databaseUrl = new URL(url);
    databaseUrl.pathname = `/${database}`;
    const client = new pg.Client({ connectionString: databaseUrl.href });
    await client.connect();
    try {
      return (await client.query<Row>(text)).rows;
    } finally {
      await client.end();
    }
  };

  before(async () => {
    folder = await temporaryFolder();
    sandbox = run(process.execPath, ["bin/parallax.mjs", "sandbox", "--port", "0"], {
      PARALLAX_SANDBOX_MARKETS: "40",
      PARALLAX_SANDBOX_LIMITS: "off",
    });
    const urls: Record<string, Record<string, string>> = JSON.parse(await firstLineOf(sandbox.child));
    venueUrls = Object.fromEntries(
      Object.entries(VENUE_SERVICES).flatMap(([venue, services]) =>
        services.map((service) => [`PARALLAX_${venue}_${service}_URL`.toUpperCase(), urls[venue]?.[service] ?? "none"]),
      ),
    );
    await queryServer(new URL(SERVER_URL ?? "").pathname.slice(1), `create database ${DATABASE_NAME}`);
  });
  after(async () => {
    for (const service of runningServices) await service.end("SIGKILL");
    await queryServer(new URL(SERVER_URL ?? "").pathname.slice(1), `drop database ${DATABASE_NAME} with (force)`);
    sandbox.child.kill("SIGTERM");
    await sandbox.ended;
    await folder.release();
  });

  test("processes divide the venues, serve the same prices, and take over the venues of a killed process", async () => {
    const firstNode = await start("api,ingest,worker");
    const [secondNode, apiNode] = await Promise.all([start("ingest"), start("api")]);
    const division = await eventually(async () => {
      const [firstVenues, secondVenues] = [await listIngestedVenues(firstNode), await listIngestedVenues(secondNode)];
      return firstVenues.length === 2 && secondVenues.length === 2 ? { firstVenues, secondVenues } : null;
    }, "each process to ingest half of the venues");
    assert.deepEqual(new Set([...division.firstVenues, ...division.secondVenues]).size, 4);
    assert.deepEqual(await listIngestedVenues(apiNode), []);
    assert.equal((await secondNode.get("/v1/markets")).status, 404, "a process without the api role serves no markets");

    await eventually(async () => {
      const [ingestPrices, apiPrices] = [await readPrices(firstNode), await readPrices(apiNode)];
      const areEqual =
        ingestPrices.size >= 40 && [...ingestPrices].filter(([id, price]) => apiPrices.get(id) !== price).length <= 4;
      return areEqual ? true : null;
    }, "the api process to serve all venues");

    const pricesBefore = await readPrices(apiNode);
    await secondNode.end("SIGKILL");
    await eventually(
      async () => ((await listIngestedVenues(firstNode)).length === 4 ? true : null),
      "the first process to take over all four venues",
    );
    const fences = await queryServer<{ fence: string }>(
      DATABASE_NAME,
      "select fence from leases where name like 'venue:%'",
    );
    assert.ok(fences.some(({ fence }) => Number(fence) > 1));
    const hasPriceChanged = (venue: string, now: Map<string, string>) =>
      [...now].some(
        ([id, price]) => id.startsWith(`${venue}/`) && pricesBefore.has(id) && pricesBefore.get(id) !== price,
      );
    for (const venue of division.secondVenues.filter((name) =>
      [...pricesBefore.keys()].some((id) => id.startsWith(`${name}/`)),
    ))
      await eventually(
        async () => (hasPriceChanged(venue, await readPrices(apiNode)) ? true : null),
        `a price of ${venue} to change`,
      );
    await eventually(
      async () => ((await readVenueChecks(apiNode)).every(([, { status }]) => status === "ok") ? true : null),
      "the api process to report every venue as healthy",
    );

    const otherFolder = await temporaryFolder();
    const refused = run(process.execPath, ["bin/parallax.mjs", "serve"], {
      DATABASE_URL: url.href,
      PARALLAX_PORT: "0",
      PARALLAX_DATA_DIR: otherFolder.path,
      ...venueUrls,
    });
    assert.equal(await refused.ended, 1, "a process with another secret key does not start");
    assert.match(refused.output(), /this process has the key [0-9a-f]{8}\. Set PARALLAX_SECRET_KEY/);
    await otherFolder.release();

    assert.equal(await firstNode.end("SIGTERM"), 0);
    const [leases] = await queryServer<{ live: string }>(
      DATABASE_NAME,
      "select count(*) as live from leases where name like 'venue:%' and expires_at > clock_timestamp()",
    );
    assert.equal(Number(leases?.live), 0, "a stopped process releases its leases");
  });
});
