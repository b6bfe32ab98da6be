import assert from "node:assert/strict";
import { test } from "node:test";
import { fakeVenuePorts } from "../../test/support/venues/adapter-harness.ts";
import { loadVenue, parseVenues, VENUE_SERVICES, type VenueKey } from "./registry.ts";

const { signal } = new AbortController();

async function create(
  id: string,
  adapter: string,
  urls: Readonly<Record<string, string>> = {},
  key: VenueKey | null = null,
) {
  const { ports, http, clock } = fakeVenuePorts(undefined, () => ({ status: 404, body: "{}" }));
  const socketIo = { connect: () => ({ emit() {}, close() {} }) };
  const createVenue = await loadVenue({ id, adapter });
  const venue = createVenue({ ...ports, socketIo }, urls, { key, member: null });
  return { venue, http, clock };
}

test("creates every adapter with its configured id", async () => {
  for (const adapter of Object.keys(VENUE_SERVICES)) {
    const { venue } = await create(`renamed_${adapter}`.slice(0, 20), adapter);
    assert.equal(venue.id, `renamed_${adapter}`.slice(0, 20));
    assert.ok(venue.profile.staleAfterMs > 0);
  }
});

test("rejects an adapter before the semicolon exactly if it uses play money", async () => {
  for (const adapter of Object.keys(VENUE_SERVICES)) {
    const isRefused = parseVenues(adapter).faults.some((fault) => fault.includes("play money"));
    assert.equal((await create("x", adapter)).venue.playMoney, isRefused, adapter);
  }
});

test("money comes from the adapter: a reference venue that trades money is not play money", () => {
  const { venues, faults } = parseVenues("kalshi;a=polymarket,b=manifold");
  assert.deepEqual(faults, []);
  assert.deepEqual(
    venues.map(({ id, referenceOnly, playMoney }) => [id, referenceOnly, playMoney]),
    [
      ["kalshi", false, false],
      ["a", true, false],
      ["b", true, true],
    ],
  );
});

test("uses the configured URLs, or the live https URLs if none are configured", async () => {
  for (const adapter of Object.keys(VENUE_SERVICES)) {
    const services = VENUE_SERVICES[adapter] ?? [];
    const configuredUrls = Object.fromEntries(
      services.map((name) => [name, `${name === "ws" ? "ws" : "http"}://127.0.0.1:9/${name}`]),
    );
    for (const [urls, prefix] of [
      [configuredUrls, "http://127.0.0.1:9/"],
      [{}, "https://"],
    ] as const) {
      const { venue, http, clock } = await create("x", adapter, urls);
      await clock.until(venue.findMarket("123", signal).catch(() => null));
      assert.ok(http.requests.length > 0, adapter);
      for (const { request } of http.requests) assert.ok(request.url.startsWith(prefix), request.url);
    }
  }
});

test("rejects an unknown adapter", async () => {
  await assert.rejects(create("x", "nowhere"), /no adapter nowhere/);
});
