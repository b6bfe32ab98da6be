import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { test } from "node:test";
import { sampleMarket } from "../../test/support/markets/market-samples.ts";
import { fakeVenuePorts } from "../../test/support/venues/adapter-harness.ts";
import { VenueError } from "../domain/errors.ts";
import { HOUR_MS } from "../lib/durations.ts";
import { loadVenue, parseVenues, VENUE_SERVICES, type VenueKey } from "./registry.ts";

const { signal } = new AbortController();

async function create(
  id: string,
  adapter: string,
  urls: Readonly<Record<string, string>> = {},
  key: VenueKey | null = null,
  status = 404,
) {
  const { ports, http, clock, sockets } = fakeVenuePorts(undefined, () => ({ status, body: "{}" }));
  const socketIo = { connect: () => ({ emit() {}, close() {} }) };
  const createVenue = await loadVenue({ id, adapter });
  const venue = createVenue({ ...ports, socketIo }, urls, { key, member: null });
  return { venue, http, clock, sockets };
}

test("creates every adapter with its configured id", async () => {
  for (const adapter of Object.keys(VENUE_SERVICES)) {
    const { venue } = await create(`renamed_${adapter}`.slice(0, 20), adapter);
    assert.equal(venue.id, `renamed_${adapter}`.slice(0, 20));
    assert.ok(venue.profile.staleAfterMs > 0);
  }
});

test("rejects an adapter before the semicolon if and only if it uses play money", async () => {
  for (const adapter of Object.keys(VENUE_SERVICES)) {
    const isRefused = parseVenues(adapter).faults.some((fault) => fault.includes("play money"));
    assert.equal((await create("x", adapter)).venue.playMoney, isRefused, adapter);
  }
});

test("the adapter determines whether a venue uses play money, also for reference venues", () => {
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

/** Ids that have the form of each venue's ids. */
const BAD_IDS: Readonly<Record<string, string>> = {
  kalshi: "KXBAD-26DEC01-T1",
  polymarket: "987654321",
  limitless: "no-such-market",
  manifold: "nosuchmarket",
};

for (const adapter of Object.keys(VENUE_SERVICES))
  test(`${adapter}: ids that the venue rejects with 4xx do not end the requests to the venue`, async () => {
    const marketId = BAD_IDS[adapter] ?? "";
    const { listing } = sampleMarket(marketId, { listing: { venueKeys: { slug: marketId, kind: "clob" } } });
    for (const status of [400, 404, 422]) {
      const { venue, http, clock } = await create("venue", adapter, {}, null, status);
      const reads = [
        () => venue.findMarket(marketId, signal),
        () => venue.getBook(listing, signal),
        () => venue.listTrades(listing, 0, 10, signal),
        () => venue.getHistory(listing, { fromMs: 0, toMs: HOUR_MS, intervalMs: HOUR_MS }, signal),
      ];
      const readAll = async () => {
        for (const read of reads) {
          const failure = await clock.until(
            read().then(
              () => null,
              (error: unknown) => error,
            ),
          );
          if (failure !== null) assert.ok(failure instanceof VenueError, String(failure));
          if (failure !== null) assert.notEqual(failure.failure, "circuit_open", `${status}`);
        }
      };
      for (let round = 0; round < 10; round++) await readAll();
      const requestsBefore = http.requests.length;
      await readAll();
      assert.ok(http.requests.length > requestsBefore, "the venue is still asked");
    }
  });

test("the number of markets that a stream follows is bounded at every venue", async () => {
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const privateKeyPem = privateKey.export({ type: "pkcs8", format: "pem" }).toString();
  const bounds: Record<string, number> = {};
  for (const adapter of Object.keys(VENUE_SERVICES)) {
    const key = adapter === "kalshi" ? { keyId: "key-1", privateKeyPem } : null;
    bounds[adapter] = (await create("venue", adapter, {}, key)).venue.profile.streamMarketsMax;
  }
  assert.deepEqual(bounds, { kalshi: 1_000, polymarket: 1_500, limitless: 1_000, manifold: 50_000 });
});

test("kalshi: one subscription has at most 1,000 markets", async () => {
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const privateKeyPem = privateKey.export({ type: "pkcs8", format: "pem" }).toString();
  const { venue, sockets } = await create("venue", "kalshi", {}, { keyId: "key-1", privateKeyPem });
  const stream = venue.openStream({ onMessage() {}, onUp() {}, onDown() {} });
  stream?.follow(Array.from({ length: 3_000 }, (_, index) => sampleMarket(`KX-${index}`).listing));
  sockets.last.accept();
  const tickers = sockets.last.sent.flatMap((text) => {
    const { params } = JSON.parse(text) as { params: { market_tickers?: readonly string[] } };
    return params.market_tickers === undefined ? [] : [params.market_tickers.length];
  });
  assert.ok(tickers.length > 0 && tickers.every((count) => count === 1_000), String(tickers));
  stream?.close();
});
