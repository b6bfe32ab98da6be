import assert from "node:assert/strict";
import { once } from "node:events";
import { request } from "node:http";
import { test } from "node:test";
import { gunzipSync } from "node:zlib";
import { request as fetchEncoded } from "undici";
import { serveFaultyExchanges } from "../../test/support/venues/faulty-exchanges.ts";
import { SANDBOX_VENUES, type SandboxVenue } from "../world/types.ts";
import { distort } from "./distort.ts";
import { FAULT_DEFINITIONS, parseFaults } from "./switches.ts";

const NOW = Date.UTC(2026, 10, 20, 1);

const { faults, urls, requestedDelaysMs } = await serveFaultyExchanges({ now: NOW });

/** The URL of each venue's list of open markets. */
const LIST_URLS: Readonly<Record<SandboxVenue, () => string>> = {
  kalshi: () => `${urls.kalshi?.rest}/markets?status=open&limit=40`,
  polymarket: () => `${urls.polymarket?.gamma}/markets/keyset?closed=false&limit=40`,
  limitless: () => `${urls.limitless?.rest}/markets/active?limit=25`,
  manifold: () => `${urls.manifold?.rest}/search-markets?filter=open&limit=40&includeLiteAnswers=true`,
};
const setFaults = (venue: SandboxVenue, switches: unknown) => faults[venue].replace(parseFaults(switches));
const fetchList = async (venue: SandboxVenue) => {
  const reply = await fetch(LIST_URLS[venue]());
  return { status: reply.status, headers: reply.headers, text: await reply.text() };
};
// biome-ignore lint/suspicious/noExplicitAny: response shapes differ by venue, and the tests assert on their content
type Json = any;
/** The values of all fields with a matching name, at any depth. */
function collectValues(value: Json, name: RegExp): Json[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, field]) => [
    ...(name.test(key) ? [field] : []),
    ...collectValues(field, name),
  ]);
}

test("429 and 5xx faults reject requests of one venue and leave the other venues unaffected", async () => {
  const invalidRetryAfters = ["1000000000", "-5", "soon"];
  const cases: readonly [Record<string, unknown>, number, (retryAfter: string | null) => boolean][] = [
    [{ rate_limit: 1 }, 429, (retryAfter) => retryAfter === null],
    [{ rate_limit_seconds: { seconds: 7 } }, 429, (retryAfter) => retryAfter === "7"],
    [{ rate_limit_date: { seconds: 9 } }, 429, (retryAfter) => Date.parse(retryAfter ?? "") === NOW + 9_000],
    [{ rate_limit_absurd: 1 }, 429, (retryAfter) => invalidRetryAfters.includes(retryAfter ?? "")],
    [{ server_error: { kind: "503" } }, 503, (retryAfter) => retryAfter === null],
  ];
  for (const venue of SANDBOX_VENUES) {
    for (const [switches, status, isExpected] of cases) {
      setFaults(venue, switches);
      const reply = await fetchList(venue);
      assert.equal(reply.status, status);
      assert.ok(isExpected(reply.headers.get("retry-after")), JSON.stringify(switches));
    }
    for (const other of SANDBOX_VENUES) if (other !== venue) assert.equal((await fetchList(other)).status, 200);
    setFaults(venue, {});
    assert.equal((await fetchList(venue)).status, 200);
  }
});

test("`latency` delays a response by the configured time plus a random part of the jitter", async () => {
  setFaults("manifold", { latency: { ms: 800, jitter_ms: 400 } });
  requestedDelaysMs.length = 0;
  for (let count = 0; count < 8; count++) assert.equal((await fetchList("manifold")).status, 200);
  assert.equal(requestedDelaysMs.length, 8);
  assert.ok(
    requestedDelaysMs.every((ms) => ms >= 800 && ms <= 1_200) && new Set(requestedDelaysMs).size > 4,
    String(requestedDelaysMs),
  );
});

test("`cut_body` truncates the JSON; `cut_socket` closes the connection before Content-Length bytes are sent", async () => {
  for (const venue of SANDBOX_VENUES) {
    const complete = (await fetchList(venue)).text;
    setFaults(venue, { cut_body: 1 });
    const { status, text } = await fetchList(venue);
    assert.equal(status, 200);
    assert.ok(text.length < complete.length && complete.startsWith(text));
    assert.throws(() => JSON.parse(text));
    setFaults(venue, { cut_socket: 1 });
    await assert.rejects(fetchList(venue));
  }
});

test("`garbage` returns status 200 with HTML, binary data or JSON that contains NaN", async () => {
  for (const [kind, pattern] of [
    ["html", /^<!doctype html>/],
    ["binary", /\ufffd/],
    ["nan", /[:[]NaN/],
  ] as const) {
    setFaults("limitless", { garbage: { kind } });
    const { status, text } = await fetchList("limitless");
    assert.equal(status, 200);
    assert.match(text, pattern);
    assert.throws(() => JSON.parse(text));
  }
});

test("`garbage` of kind `gzip` returns status 200 with data that cannot be decompressed", async () => {
  setFaults("limitless", { garbage: { kind: "gzip" } });
  // `fetch` accepts incomplete gzip data.
  const { statusCode, headers, body } = await fetchEncoded(LIST_URLS.limitless());
  assert.deepEqual([statusCode, headers["content-encoding"]], [200, "gzip"]);
  const bytes = Buffer.from(await body.arrayBuffer());
  assert.throws(() => gunzipSync(bytes));
});

test("`half_page` returns half of the rows, repeated rows, or the cursor of the request", async () => {
  const rowsOf = (text: string): string[] => JSON.parse(text).markets.map(({ ticker }: { ticker: string }) => ticker);
  const complete = rowsOf((await fetchList("kalshi")).text);
  setFaults("kalshi", { half_page: { kind: "short" } });
  assert.deepEqual(rowsOf((await fetchList("kalshi")).text), complete.slice(0, Math.ceil(complete.length / 2)));
  setFaults("kalshi", { half_page: { kind: "repeat" } });
  const repeated = rowsOf((await fetchList("kalshi")).text);
  assert.deepEqual([repeated.length, new Set(repeated).size], [complete.length, Math.ceil(complete.length / 2)]);
  setFaults("kalshi", {});
  const getPage = async (cursor: string): Promise<Json> =>
    (await fetch(`${urls.kalshi?.rest}/markets?limit=3${cursor === "" ? "" : `&cursor=${cursor}`}`)).json();
  const { cursor } = await getPage("");
  setFaults("kalshi", { half_page: { kind: "loop" } });
  assert.equal((await getPage(cursor)).cursor, cursor);
});

test("`crossed_book`, `empty_book` and `price_out_of_range` change all prices of every venue's list", async () => {
  const tops: Readonly<Record<SandboxVenue, readonly [RegExp, RegExp]>> = {
    kalshi: [/^yes_bid_dollars$/, /^yes_ask_dollars$/],
    polymarket: [/^bestBid$/, /^bestAsk$/],
    limitless: [/^sell$/, /^buy$/],
    manifold: [/^$/, /^$/],
  };
  const top = (value: Json): number => Number(typeof value === "object" && value !== null ? value.market[0] : value);
  for (const venue of SANDBOX_VENUES) {
    const quotes = async () => {
      const json = JSON.parse((await fetchList(venue)).text);
      const [bids, asks] = [collectValues(json, tops[venue][0]), collectValues(json, tops[venue][1])];
      return bids.map((bid, index) => ({ bid, ask: asks[index] }));
    };
    if (venue !== "manifold") {
      assert.ok((await quotes()).every(({ bid, ask }) => top(bid) < top(ask)));
      setFaults(venue, { crossed_book: 1 });
      assert.ok((await quotes()).every(({ bid, ask }) => top(bid) > top(ask)));
      setFaults(venue, { empty_book: 1 });
      assert.ok((await quotes()).every(({ bid, ask }) => bid === null || (Number(bid) === 0 && Number(ask) === 1)));
    }
    for (const kind of ["percent", "above", "negative", "nan"]) {
      setFaults(venue, { price_out_of_range: { kind } });
      const json = JSON.parse((await fetchList(venue)).text);
      const prices = collectValues(json, /^(last_price_dollars|lastTradePrice|prices|probability)$/)
        .flat()
        .map(Number);
      assert.ok(prices.length >= 5, `${venue} ${prices.length}`);
      const isInvalid = (price: number) => (kind === "nan" ? Number.isNaN(price) : price > 1 || price < 0);
      // As a percentage, a price of 0.01 or less is still within [0, 1].
      assert.ok(
        kind === "percent" ? prices.filter(isInvalid).length > prices.length / 2 : prices.every(isInvalid),
        kind,
      );
    }
  }
});

test("`clock_skew` shifts all update times of a response by the same ten minutes and does not change close times", async () => {
  const readTimes = async () => {
    const json = JSON.parse((await fetchList("manifold")).text);
    return { updated: collectValues(json, /^lastUpdatedTime$/), close: collectValues(json, /^closeTime$/) };
  };
  const correct = await readTimes();
  setFaults("manifold", { clock_skew: { minutes: 10 } });
  for (let count = 0; count < 4; count++) {
    const skewed = await readTimes();
    const shifts = new Set(skewed.updated.map((time, index) => time - correct.updated[index]));
    assert.equal(shifts.size, 1);
    assert.equal(Math.abs([...shifts][0] ?? 0), 600_000);
    assert.deepEqual(skewed.close, correct.close);
  }
});

test("a frozen venue delays requests and WebSocket upgrades until the `frozen` switch is turned off", async () => {
  setFaults("kalshi", { frozen: 1 });
  const responses: string[] = [];
  const pendingRequest = fetchList("kalshi").then(({ status }) => responses.push(`rest ${status}`));
  const url = new URL((urls.kalshi?.ws ?? "").replace("ws:", "http:"));
  const upgrade = request(url, { headers: { connection: "upgrade", upgrade: "websocket" } }).end();
  const rejectedUpgrade = once(upgrade, "response").then(([response]) =>
    responses.push(`socket ${response.statusCode}`),
  );
  // Responses of another venue show that the frozen venue had time to respond.
  for (let count = 0; count < 5; count++) assert.equal((await fetchList("limitless")).status, 200);
  assert.deepEqual(responses, []);
  assert.equal(faults.kalshi.counts.frozen, 2);
  setFaults("kalshi", {});
  await Promise.all([pendingRequest, rejectedUpgrade]);
  assert.deepEqual(responses.sort(), ["rest 200", "socket 401"]);
});

test("counts a fault only if the response contains data that the fault changes", async () => {
  const switches = { crossed_book: 1, half_page: 1, price_out_of_range: 1 };
  for (const venue of SANDBOX_VENUES) {
    setFaults(venue, switches);
    faults[venue].resetCounts();
  }
  // The Kalshi list has books, prices and several rows; the Manifold list has prices and a single row.
  await fetchList("kalshi");
  assert.deepEqual(Object.keys(faults.kalshi.counts).sort(), Object.keys(switches).sort());
  const rows: Json = await (
    await fetch(`${urls.manifold?.rest}/search-markets?filter=open&limit=1&includeLiteAnswers=true`)
  ).json();
  assert.deepEqual([rows.length, Object.keys(faults.manifold.counts)], [1, ["price_out_of_range"]]);
  faults.kalshi.resetCounts();
  await fetch(`${urls.kalshi?.rest}/historical/cutoff`);
  assert.deepEqual(faults.kalshi.counts, {});
});

test("price faults do not change a market without prices, and no fault is counted", () => {
  setFaults("kalshi", { crossed_book: 1, price_out_of_range: { kind: "above" } });
  faults.kalshi.resetCounts();
  const unquoted = { yes_bid_dollars: null, yes_ask_dollars: "0.5000", bids: [], asks: [], price: "", prices: [] };
  assert.deepEqual(distort({ ...unquoted, yes_ask_dollars: null }, faults.kalshi), {
    ...unquoted,
    yes_ask_dollars: null,
  });
  assert.deepEqual(faults.kalshi.counts, {});
  distort(unquoted, faults.kalshi);
  assert.deepEqual(faults.kalshi.counts, { price_out_of_range: 1 });
  distort({ sell: { market: [0.4, 0.5] }, buy: { market: [0.5, 0.6] } }, faults.kalshi);
  distort({ bids: [["0.4", "1"]], asks: [["0.5", "1"]] }, faults.kalshi);
  const { crossed_book: crossed } = faults.kalshi.counts as Json;
  assert.equal(crossed, 2);
});

test("a response broken by `garbage` or `cut_body` counts one fault, even if other switches are on", async () => {
  for (const broken of ["garbage", "cut_body"]) {
    setFaults("kalshi", { [broken]: 1, crossed_book: 1, price_out_of_range: 1, half_page: 1, clock_skew: 1 });
    faults.kalshi.resetCounts();
    await fetchList("kalshi");
    assert.deepEqual(faults.kalshi.counts, { [broken]: 1 });
  }
});

test("if a client disconnects from a frozen venue, no other fault is applied to its request", async () => {
  setFaults("kalshi", { frozen: 1, server_error: 1 });
  faults.kalshi.resetCounts();
  const client = new AbortController();
  const pendingRequest = fetch(LIST_URLS.kalshi(), { signal: client.signal });
  for (let count = 0; count < 5; count++) assert.equal((await fetchList("limitless")).status, 200);
  client.abort();
  await assert.rejects(pendingRequest);
  for (let count = 0; count < 5; count++) assert.equal((await fetchList("limitless")).status, 200);
  setFaults("kalshi", { server_error: 1 });
  assert.deepEqual(faults.kalshi.counts, { frozen: 1 });
});

test("`garbage` of kind `nan` returns invalid JSON even if the response has no numbers, or digits only in strings", async () => {
  for (const venue of ["kalshi", "manifold"] as const) setFaults(venue, { garbage: { kind: "nan" } });
  for (const url of [`${urls.manifold?.rest}/search-markets?beforeTime=1`, `${urls.kalshi?.rest}/historical/cutoff`]) {
    const text = await (await fetch(url)).text();
    assert.throws(() => JSON.parse(text), text);
  }
});

test("every switch has a description", () => {
  for (const { about } of Object.values(FAULT_DEFINITIONS)) assert.ok(about.length > 10);
});
