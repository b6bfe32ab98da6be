import assert from "node:assert/strict";
import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { buffer } from "node:stream/consumers";
import { before, test } from "node:test";
import { setImmediate as nextIteration } from "node:timers/promises";
import { sigmoid } from "../../src/lib/numbers.ts";
import { customerHarness } from "../support/customers/customer-harness.ts";
import { embeddedDatabase } from "../support/databases.ts";
import { FakeClock } from "../support/fake-clock.ts";
import { type SampleParts, sampleEvent, sampleMarket } from "../support/markets/market-samples.ts";
import { samplePoint } from "../support/storage-samples.ts";
import { ScriptedVenue } from "../support/venues/scripted-venue.ts";

const NOON = Date.UTC(2026, 10, 21, 12);
const [MINUTE_MS, HOUR_MS] = [60_000, 3_600_000];
const MIB = 1024 * 1024;
/** More than one piece and what Node buffers beside it. */
const UNSENT_BYTES_MAX = 256 * 1024;
/** Iterations of the event loop after which a client that reads nothing has received all that the kernel stores. */
const SETTLED_ITERATIONS = 100;
/** The largest number of markets that can be compared. */
const COMPARED_MAX = 500;
/** 66 characters: the length of the market ids of venues that settle on a blockchain. */
const idOf = (index: number) => `0x${String(index).padStart(64, "0")}`;
const VENUE = "venue_a";
const WHOLE_TEXT = "x".repeat(20_000);
const TITLE = "Will this question have a title of common length, with a date in it, by the end of December 2026?";

/** Prices whose log-odds follow one wave with a different noise for each market. */
const historyOf = (market: number, count: number, stepMs: number) =>
  Array.from({ length: count }, (_, index) => {
    const endAt = NOON - (count - 1 - index) * stepMs;
    const logOdds = Math.sin(index) + 0.3 * Math.sin(index * (2 + market / 100));
    return samplePoint(endAt - stepMs, endAt, sigmoid(logOdds), { bid: 0.4, ask: 0.42, volumeUsd: 100 });
  });

const clock = new FakeClock(NOON);
// The look-ups below must not wait for the clock: a quarter of a venue's requests may be look-ups.
const venue = new ScriptedVenue(VENUE, clock, { profile: { requestsPerSecond: 10_000 } });
const sockets: Socket[] = [];

/** Starts the service with the largest answers on loopback. Returns the key of a customer and the port. */
async function startService() {
  const database = await embeddedDatabase();
  const { app } = await customerHarness(database, {
    clock,
    venues: [{ id: VENUE, referenceOnly: false, playMoney: false, create: () => venue }],
  });
  const operator = { kind: "operator", id: "test" } as const;
  const { key } = await app.customers.create({ email: "a@example.org", name: null, plan: "pro" }, operator);
  const addMarket = async (marketId: string, history: ReturnType<typeof historyOf>, parts: SampleParts) => {
    const closeAt = NOON + 30 * 24 * HOUR_MS;
    const listing = { venue: VENUE, title: TITLE, category: "Politics", rules: WHOLE_TEXT, closeAt };
    const activity = { volume24hUsd: 12_345.678901, volumeTotalUsd: 1e6, liquidityUsd: 5_000, openInterestUsd: 9_999 };
    venue.setMarkets(sampleMarket(marketId, { ...parts, activity, listing: { ...listing, ...parts.listing } }));
    venue.history.set(marketId, history);
    assert.ok(await app.ingest.lookUp(VENUE, marketId));
  };
  const addEvent = (eventId: string, mutuallyExclusive = false) =>
    app.board.applyEvent(
      sampleEvent(eventId, { venue: VENUE, title: TITLE, description: WHOLE_TEXT, mutuallyExclusive }),
    );
  addEvent("large");
  for (let index = 0; index < COMPARED_MAX; index++)
    await addMarket(idOf(index), historyOf(index, 168, HOUR_MS), { listing: { eventId: "large" } });
  // The bids of each event add up to more than 1, which is an arbitrage.
  for (let event = 0; event < 200; event++) {
    addEvent(`event-${event}`, true);
    for (const outcome of ["a", "b", "c"])
      await addMarket(`market-${event}-${outcome}`, [], {
        listing: { eventId: `event-${event}`, takerFee: { kind: "none" } },
        quote: { bid: 0.38 },
      });
  }
  await addMarket("minutes", historyOf(0, 2_000, MINUTE_MS), {});
  const levels = (start: number, step: number) =>
    Array.from({ length: 200 }, (_, index) => ({ price: start + (step * (index + 1)) / 1_000, size: 1_234.5 }));
  const book = { bids: levels(0.4, -1), asks: levels(0.4, 1), lastPrice: 0.4, eventAt: NOON, receivedAt: NOON };
  venue.books.set("minutes", book);
  const trades = Array.from({ length: 600 }, (_, index) => ({
    tradeId: idOf(index),
    executedAt: NOON - index * 1_000,
    yesPrice: 0.4123,
    size: 1_234.5678,
    takerSide: "yes" as const,
  }));
  venue.trades.set("minutes", trades);
  app.http.server.on("connection", (socket: Socket) => sockets.push(socket));
  await app.http.listen({ host: "127.0.0.1", port: 0 });
  return { key: key.apiKey, port: (app.http.server.address() as AddressInfo).port };
}

let key: string;
let port: number;
before(async () => {
  ({ key, port } = await startService());
});

const compared = { market_ids: Array.from({ length: COMPARED_MAX }, (_, index) => idOf(index)), platform: VENUE };

/** The operations whose responses grow with their input, each with its largest input. */
const LARGEST: readonly (readonly [operation: string, method: "GET" | "POST", path: string, body?: object])[] = [
  ["list_markets", "GET", "/v1/markets?limit=100"],
  ["get_market", "GET", "/v1/markets/venue_a/minutes?expand=history,analysis,rules"],
  ["get_market_history", "GET", `/v1/markets/venue_a/minutes/history?${lastMinutes(2_000)}`],
  ["get_market_orderbook", "GET", "/v1/markets/venue_a/minutes/orderbook?depth=200"],
  ["list_market_trades", "GET", "/v1/markets/venue_a/minutes/trades?limit=500"],
  ["list_events", "GET", "/v1/events?limit=100"],
  ["get_event", "GET", "/v1/events/venue_a:large?expand=markets"],
  ["list_event_markets", "GET", "/v1/events/venue_a:large/markets"],
  ["list_trending_events", "GET", "/v1/events/trending?limit=50"],
  ["search_events", "GET", "/v1/events/search?q=question&limit=50"],
  ["list_categories", "GET", "/v1/categories"],
  ["screen_markets", "POST", "/v1/screen", { limit: 200 }],
  ["list_arbitrage", "GET", "/v1/arbitrage?kind=exclusive_set&limit=200&expand=scoring"],
  ["get_event_correlation", "GET", "/v1/events/venue_a:large/correlation"],
  ["correlate_markets", "POST", "/v1/correlation", compared],
  ["get_openapi", "GET", "/openapi.json"],
];

function lastMinutes(count: number): string {
  const [from, to] = [NOON - count * MINUTE_MS, NOON].map((at) => new Date(at).toISOString());
  return `from=${from}&to=${to}&interval=1m`;
}

async function call(method: string, path: string, json?: object) {
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  const sent = request({ port, host: "127.0.0.1", path, method, headers, agent: false });
  sent.end(json === undefined ? undefined : JSON.stringify(json));
  const [response] = (await once(sent, "response")) as [IncomingMessage];
  // The client reads nothing at first, so that all that the service writes in one piece waits.
  for (let count = 0; count < SETTLED_ITERATIONS; count++) await nextIteration();
  const unsent = sockets.at(-1)?.writableLength ?? 0;
  const body = await buffer(response);
  return { status: response.statusCode, headers: response.headers, body, unsent };
}

test("every operation at its largest input is written in pieces if its response is above 1 MiB", async (t) => {
  const large: string[] = [];
  for (const [operation, method, path, json] of LARGEST) {
    const { status, headers, body, unsent } = await call(method, path, json);
    assert.equal(status, 200, operation);
    t.diagnostic(`${operation}: ${body.length} bytes, ${unsent} of them unsent while the client did not read`);
    assert.ok(unsent <= UNSENT_BYTES_MAX, `${operation}: ${unsent} bytes waited for the client`);
    const isKnown = headers["content-length"] !== undefined;
    assert.equal(isKnown && headers.etag !== undefined, isKnown && method === "GET", operation);
    if (body.length > MIB) large.push(operation);
  }
  assert.ok(large.includes("correlate_markets") && large.includes("get_event_correlation"), large.join());
});

test("a correlation of 500 markets arrives completely at a client that reads 43 kB/s", async () => {
  const socket = connect({ port, host: "127.0.0.1" });
  socket.pause();
  await once(socket, "connect");
  const body = JSON.stringify(compared);
  const head = `POST /v1/correlation HTTP/1.1\r\nhost: x\r\nconnection: close\r\nauthorization: Bearer ${key}\r\n`;
  socket.write(`${head}content-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`);
  const chunks: Buffer[] = [];
  let isClosed = false;
  socket.once("close", () => {
    isClosed = true;
  });
  socket.on("error", () => {});
  let unsentMax = 0;
  await once(socket, "readable");
  while (!isClosed) {
    for (let size = 0; size < 64_000; ) {
      const chunk: Buffer | null = socket.read(Math.min(socket.readableLength, 64_000 - size)) ?? null;
      if (chunk === null) break;
      chunks.push(chunk);
      size += chunk.length;
    }
    await nextIteration();
    unsentMax = Math.max(unsentMax, sockets.at(-1)?.writableLength ?? 0);
    await clock.advance(1_500);
  }
  const text = Buffer.concat(chunks).toString();
  assert.match(text.slice(0, 20), /^HTTP\/1\.1 200 OK/);
  assert.ok(text.endsWith("\r\n0\r\n\r\n"), `cut after ${text.length} bytes`);
  assert.ok(text.length > 16 * MIB, String(text.length));
  assert.ok(unsentMax <= UNSENT_BYTES_MAX, `${unsentMax} bytes waited for the client`);
});
