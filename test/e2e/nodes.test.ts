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

const SERVER = process.env.TEST_DATABASE_URL;
const DATABASE = `parallax_nodes_${process.pid}`;
const skip = SERVER === undefined ? "TEST_DATABASE_URL is not set" : false;

interface VenueCheck {
  readonly role: "ingest" | "follower";
  readonly status: string;
}

const venuesOf = async (service: ServiceProcess): Promise<[string, VenueCheck][]> =>
  Object.entries((await service.get("/v1/health", {})).json.checks.venues);

/** Venues that this process ingests. */
const ingestedVenues = async (service: ServiceProcess): Promise<string[]> =>
  (await venuesOf(service)).filter(([, { role }]) => role === "ingest").map(([venue]) => venue);

const pricesOf = async (service: ServiceProcess): Promise<Map<string, string>> =>
  new Map(
    (await everyMarket(service)).map(({ platform, market_id, yes_price, bid, ask }) => [
      `${platform}/${market_id}`,
      [yes_price, bid, ask].join(),
    ]),
  );

describe("processes that share a PostgreSQL server", { skip }, () => {
  const url = new URL(SERVER ?? "postgres://nowhere/none");
  url.pathname = `/${DATABASE}`;
  const running: ServiceProcess[] = [];
  /** One exchange for all processes, as in production. */
  let exchange: ReturnType<typeof run>;
  let addresses: Record<string, string> = {};
  let folder: { path: string; release(): Promise<void> };
  const start = async (roles: string): Promise<ServiceProcess> => {
    const env = { DATABASE_URL: url.href, PARALLAX_ROLES: roles, ...addresses };
    // One data directory for all processes: they share the demo keys.
    const service = await startServiceProcess({ dataDir: folder.path, env });
    running.push(service);
    return service;
  };
  const queryServer = async <Row extends pg.QueryResultRow>(database: string, text: string): Promise<Row[]> => {
    const address = new URL(url);
    address.pathname = `/${database}`;
    const client = new pg.Client({ connectionString: address.href });
    await client.connect();
    try {
      return (await client.query<Row>(text)).rows;
    } finally {
      await client.end();
    }
  };

  before(async () => {
    folder = await temporaryFolder();
    exchange = run(process.execPath, ["bin/parallax.mjs", "sandbox", "--port", "0"], {
      PARALLAX_SANDBOX_MARKETS: "40",
      PARALLAX_SANDBOX_LIMITS: "off",
    });
    const urls: Record<string, Record<string, string>> = JSON.parse(await firstLineOf(exchange.child));
    addresses = Object.fromEntries(
      Object.entries(VENUE_SERVICES).flatMap(([venue, services]) =>
        services.map((service) => [`PARALLAX_${venue}_${service}_URL`.toUpperCase(), urls[venue]?.[service] ?? "none"]),
      ),
    );
    await queryServer(new URL(SERVER ?? "").pathname.slice(1), `create database ${DATABASE}`);
  });
  after(async () => {
    for (const service of running) await service.end("SIGKILL");
    await queryServer(new URL(SERVER ?? "").pathname.slice(1), `drop database ${DATABASE} with (force)`);
    exchange.child.kill("SIGTERM");
    await exchange.ended;
    await folder.release();
  });

  test("divide the venues, serve the same prices on every API process, and take over after a kill", async () => {
    const first = await start("api,ingest,worker");
    const [second, server] = await Promise.all([start("ingest"), start("api")]);
    const shares = await eventually(async () => {
      const [one, two] = [await ingestedVenues(first), await ingestedVenues(second)];
      return one.length === 2 && two.length === 2 ? { one, two } : null;
    }, "each process to ingest half of the venues");
    assert.deepEqual(new Set([...shares.one, ...shares.two]).size, 4);
    assert.deepEqual(await ingestedVenues(server), []);
    assert.equal((await second.get("/v1/markets")).status, 404, "a process without the api role serves no markets");

    await eventually(async () => {
      const [ingestPrices, apiPrices] = [await pricesOf(first), await pricesOf(server)];
      const isSame =
        ingestPrices.size >= 40 && [...ingestPrices].filter(([id, price]) => apiPrices.get(id) !== price).length <= 4;
      return isSame ? true : null;
    }, "the api process to serve all venues");

    const before = await pricesOf(server);
    await second.end("SIGKILL");
    await eventually(
      async () => ((await ingestedVenues(first)).length === 4 ? true : null),
      "the first process to take over all four venues",
    );
    const fences = await queryServer<{ fence: string }>(DATABASE, "select fence from leases where name like 'venue:%'");
    assert.ok(fences.some(({ fence }) => Number(fence) > 1));
    const hasMoved = (venue: string, now: Map<string, string>) =>
      [...now].some(([id, price]) => id.startsWith(`${venue}/`) && before.has(id) && before.get(id) !== price);
    for (const venue of shares.two.filter((name) => [...before.keys()].some((id) => id.startsWith(`${name}/`))))
      await eventually(
        async () => (hasMoved(venue, await pricesOf(server)) ? true : null),
        `a price of ${venue} to move`,
      );
    await eventually(
      async () => ((await venuesOf(server)).every(([, { status }]) => status === "ok") ? true : null),
      "the api process to report every venue as healthy",
    );

    assert.equal(await first.end("SIGTERM"), 0);
    const [leases] = await queryServer<{ live: string }>(
      DATABASE,
      "select count(*) as live from leases where name like 'venue:%' and expires_at > clock_timestamp()",
    );
    assert.equal(Number(leases?.live), 0, "a stopped process releases its leases");
  });
});
