import assert from "node:assert/strict";
import { test } from "node:test";
import { openArbitrageApi, sampleBook } from "../../../../test/support/markets/arbitrage-api.ts";
import { VenueError } from "../../../domain/errors.ts";

type Api = Awaited<ReturnType<typeof openArbitrageApi>>;

/** Adds pairs whose net spread falls from the first to the last. */
function setPairs({ setMarket, setPair, setBooks }: Api, count: number): void {
  for (let index = 0; index < count; index++) {
    const id = `m${String(index).padStart(3, "0")}`;
    const bid = Math.round((0.9 - 0.001 * index) * 1_000) / 1_000;
    setPair(id);
    setMarket("beta", id, { quote: { bid, ask: bid + 0.01 } });
    setBooks(id, undefined, sampleBook([[bid, 100]], [[bid + 0.01, 100]]));
  }
}
const requestsOf = ({ venues }: Api) => [...venues.alpha.callsOf("getBook"), ...venues.beta.callsOf("getBook")];

test("a scan ends after 9.5 seconds, reads the best candidates first, and flags the legs that it did not read", async () => {
  const api = await openArbitrageApi();
  setPairs(api, 30);
  api.venues.beta.responseMs = 2_500;
  const startedAt = api.clock.monotonic();
  const { opportunities, venues } = (await api.get("/v1/arbitrage/live")).json();
  assert.equal(api.clock.monotonic() - startedAt, 9_500);
  assert.equal(opportunities.length, 30);
  const unread = opportunities.filter((item: { beta: { refreshed: boolean } }) => !item.beta.refreshed);
  // Three at a time, 2.5 seconds each.
  assert.equal(unread.length, 30 - 9);
  for (const { alpha, beta } of unread) {
    assert.deepEqual([alpha.refreshed, beta.refresh_failure], [true, "deadline"]);
    assert.ok(Number(beta.market_id.slice(1)) >= 9, "the best ones are read first");
  }
  assert.deepEqual([venues.alpha.books_refreshed, venues.beta.books_refreshed, venues.beta.books_failed], [30, 9, 21]);
});

test("a scan reads at most three books of a venue at the same time", async () => {
  const api = await openArbitrageApi();
  setPairs(api, 20);
  api.venues.alpha.responseMs = 100;
  await api.get("/v1/arbitrage/live");
  const calls = api.venues.alpha.callsOf("getBook");
  assert.equal(calls.length, 20);
  for (const { at } of calls) assert.ok(calls.filter((call) => at <= call.at && call.at < at + 100).length <= 3);
});

test("books that were read in the last 2 seconds are not read again", async () => {
  const api = await openArbitrageApi();
  setPairs(api, 5);
  await api.get("/v1/arbitrage/live");
  assert.equal(requestsOf(api).length, 10);
  await api.clock.advance(1_999);
  const { opportunities } = (await api.get("/v1/arbitrage/live")).json();
  assert.equal(requestsOf(api).length, 10);
  assert.ok(opportunities.every((item: { alpha: { refreshed: boolean } }) => item.alpha.refreshed));
  await api.clock.advance(1);
  await api.get("/v1/arbitrage/live");
  assert.equal(requestsOf(api).length, 20);
});

test("concurrent callers share one scan, each with its own filter", async () => {
  const api = await openArbitrageApi();
  setPairs(api, 6);
  api.venues.alpha.responseMs = 1_500;
  const calls = ["", "?min_spread=0.492", "?platform=beta&limit=1"].map((query) =>
    api.send(`/v1/arbitrage/live${query}`),
  );
  const responses = await api.clock.until(Promise.all(calls));
  assert.deepEqual(
    responses.map((response) => response.json().count),
    [6, 4, 1],
  );
  assert.equal(requestsOf(api).length, 12);
});

test("callers whose filter the running scan does not cover share the next scan", async () => {
  const api = await openArbitrageApi();
  setPairs(api, 6);
  api.venues.alpha.responseMs = 3_000;
  const calls = ["?min_spread=0.492", "?min_spread=0.48", "?min_spread=0.02", "?min_spread=0.494"].map((query) =>
    api.send(`/v1/arbitrage/live${query}`),
  );
  const responses = await api.clock.until(Promise.all(calls));
  assert.deepEqual(
    responses.map((response) => response.json().count),
    [4, 6, 6, 2],
  );
  const calledAt = new Set(api.venues.alpha.callsOf("getBook").map(({ at }) => at));
  assert.ok(calledAt.size <= 4, "two scans with two rounds each");
});

test("a venue that does not answer is asked four times, and the books of the others are read", async () => {
  const api = await openArbitrageApi();
  setPairs(api, 30);
  api.venues.beta.failing.set("getBook", new VenueError("network", "no route", { retryable: true }));
  const { opportunities, venues } = (await api.get("/v1/arbitrage/live")).json();
  assert.equal(api.venues.beta.callsOf("getBook").length <= 8, true);
  assert.deepEqual([venues.alpha.books_refreshed, venues.beta.books_failed], [30, 30]);
  assert.ok(
    opportunities.every(
      (item: { beta: { refresh_failure: string } }) => item.beta.refresh_failure === "venue_unavailable",
    ),
  );
});

test("books that were not read because of a venue's request limit are flagged, and the other books are still requested", async () => {
  const api = await openArbitrageApi();
  setPairs(api, 20);
  api.venues.beta.failing.set("getBook", new VenueError("rate_limited", "used up", { retryable: true }));
  const { opportunities } = (await api.get("/v1/arbitrage/live")).json();
  assert.deepEqual(
    opportunities.map((item: { beta: { refresh_failure: string } }) => item.beta.refresh_failure),
    Array(20).fill("venue_busy"),
  );
  assert.equal(api.venues.beta.callsOf("getBook").length, 20);
});

test("a scan reads the books of at most 200 candidates; the others are flagged", async () => {
  const api = await openArbitrageApi();
  setPairs(api, 210);
  const { opportunities, venues } = (await api.get("/v1/arbitrage/live?limit=200&min_spread=0.2")).json();
  assert.deepEqual([opportunities.length, venues.alpha.books_refreshed], [200, 200]);
  const all = await api.clock.until(
    api.service.scan({ minSpread: 0.2, minNetSpread: null, venue: null, limit: 1_000 }),
  );
  const failures = all.opportunities.map(({ markets: [{ quotes }] }) => quotes.refreshFailure);
  assert.equal(failures.filter((failure) => failure === "candidate_limit").length, 10);
});

test("a scan with an internal error returns status 500, and the next scan succeeds", async () => {
  const api = await openArbitrageApi();
  setPairs(api, 2);
  api.venues.beta.failing.set("getBook", new TypeError("a bug"));
  assert.equal((await api.get("/v1/arbitrage/live")).statusCode, 500);
  api.venues.beta.failing.clear();
  await api.clock.advance(2_000);
  assert.equal((await api.get("/v1/arbitrage/live")).statusCode, 200);
});
