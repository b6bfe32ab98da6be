import assert from "node:assert/strict";
import { once } from "node:events";
import { request } from "node:http";
import { after, before, beforeEach, test } from "node:test";
import type { ExchangeContext } from "../protocol/exchange.ts";
import { kalshiExchange } from "../protocol/kalshi/index.ts";
import { limitlessExchange } from "../protocol/limitless/index.ts";
import { manifoldExchange } from "../protocol/manifold/index.ts";
import { polymarketExchange } from "../protocol/polymarket/index.ts";
import { type ServiceUrls, serveExchanges } from "../serve.ts";
import { createWorld } from "../world/index.ts";
import { uniform } from "../world/random.ts";
import { SANDBOX_VENUES, type SandboxVenue } from "../world/types.ts";
import { distort } from "./distort.ts";
import { FAULT_DEFINITIONS, parseFaults } from "./switches.ts";
import { createFaults } from "./venue-faults.ts";

const GENESIS = Date.UTC(2026, 10, 20);
const NOW = GENESIS + 3_600_000;

/** The four venues' real protocols over a world that stands still; waits are only written down. */
const faults = createFaults((...keys) => uniform(3, 1, ...keys));
const waits: number[] = [];
let urls: ServiceUrls;
let close: () => Promise<void>;

before(async () => {
  const world = createWorld({ seed: 4, genesis: GENESIS, speed: 60, marketCount: 60 });
  const feed = { subscribe: () => () => {}, close: () => {} };
  const context: ExchangeContext = { world, feed, faults, now: () => NOW, enforceLimits: false };
  const services = [kalshiExchange, polymarketExchange, limitlessExchange, manifoldExchange].flatMap((exchange) =>
    exchange(context),
  );
  const wait = async (ms: number) => void waits.push(ms);
  const byVenue = faults;
  ({ urls, close } = await serveExchanges(services, {
    host: "127.0.0.1",
    firstPort: 0,
    faults: { byVenue, now: () => NOW, wait },
  }));
});
after(() => close());
beforeEach(() => {
  for (const venue of SANDBOX_VENUES) faults[venue].replace({});
});

/** Where each venue lists open markets. */
const LISTING: Readonly<Record<SandboxVenue, () => string>> = {
  kalshi: () => `${urls.kalshi?.rest}/markets?status=open&limit=40`,
  polymarket: () => `${urls.polymarket?.gamma}/markets/keyset?closed=false&limit=40`,
  limitless: () => `${urls.limitless?.rest}/markets/active?limit=25`,
  manifold: () => `${urls.manifold?.rest}/search-markets?filter=open&limit=40&includeLiteAnswers=true`,
};
const turn = (venue: SandboxVenue, switches: unknown) => faults[venue].replace(parseFaults(switches));
const list = async (venue: SandboxVenue) => {
  const reply = await fetch(LISTING[venue]());
  return { status: reply.status, headers: reply.headers, text: await reply.text() };
};
// biome-ignore lint/suspicious/noExplicitAny: a test reads what came over the wire and asserts on it
type Json = any;
/** All values of the fields that are so called, wherever they are. */
function valuesOf(value: Json, name: RegExp): Json[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, field]) => [
    ...(name.test(key) ? [field] : []),
    ...valuesOf(field, name),
  ]);
}

test("refusals: each kind on every venue, while the others are untouched", async () => {
  const absurd = ["1000000000", "-5", "soon"];
  const cases: readonly [Record<string, unknown>, number, (retryAfter: string | null) => boolean][] = [
    [{ rate_limit: 1 }, 429, (after) => after === null],
    [{ rate_limit_seconds: { seconds: 7 } }, 429, (after) => after === "7"],
    [{ rate_limit_date: { seconds: 9 } }, 429, (after) => Date.parse(after ?? "") === NOW + 9_000],
    [{ rate_limit_absurd: 1 }, 429, (after) => absurd.includes(after ?? "")],
    [{ server_error: { kind: "503" } }, 503, (after) => after === null],
  ];
  for (const venue of SANDBOX_VENUES) {
    for (const [switches, status, isRight] of cases) {
      turn(venue, switches);
      const reply = await list(venue);
      assert.equal(reply.status, status);
      assert.ok(isRight(reply.headers.get("retry-after")), JSON.stringify(switches));
    }
    for (const other of SANDBOX_VENUES) if (other !== venue) assert.equal((await list(other)).status, 200);
    turn(venue, {});
    assert.equal((await list(venue)).status, 200);
  }
});

test("latency: an answer waits its time and some of the jitter", async () => {
  turn("manifold", { latency: { ms: 800, jitter_ms: 400 } });
  waits.length = 0;
  for (let count = 0; count < 8; count++) assert.equal((await list("manifold")).status, 200);
  assert.equal(waits.length, 8);
  assert.ok(waits.every((ms) => ms >= 800 && ms <= 1_200) && new Set(waits).size > 4, String(waits));
});

test("a cut body is a whole answer whose JSON ends in the middle; a cut socket ends before its own length", async () => {
  for (const venue of SANDBOX_VENUES) {
    const whole = (await list(venue)).text;
    turn(venue, { cut_body: 1 });
    const { status, text } = await list(venue);
    assert.equal(status, 200);
    assert.ok(text.length < whole.length && whole.startsWith(text));
    assert.throws(() => JSON.parse(text));
    turn(venue, { cut_socket: 1 });
    await assert.rejects(list(venue));
  }
});

test("garbage comes with status 200: a page, bytes, or JSON with NaN in it", async () => {
  for (const [kind, pattern] of [
    ["html", /^<!doctype html>/],
    ["binary", /\ufffd/],
    ["nan", /[:[]NaN/],
  ] as const) {
    turn("limitless", { garbage: { kind } });
    const { status, text } = await list("limitless");
    assert.equal(status, 200);
    assert.match(text, pattern);
    assert.throws(() => JSON.parse(text));
  }
});

test("half pages are short, or have their rows twice, or name the cursor that asked for them", async () => {
  const rowsOf = (text: string): string[] => JSON.parse(text).markets.map(({ ticker }: { ticker: string }) => ticker);
  const whole = rowsOf((await list("kalshi")).text);
  turn("kalshi", { half_page: { kind: "short" } });
  assert.deepEqual(rowsOf((await list("kalshi")).text), whole.slice(0, Math.ceil(whole.length / 2)));
  turn("kalshi", { half_page: { kind: "repeat" } });
  const repeated = rowsOf((await list("kalshi")).text);
  assert.deepEqual([repeated.length, new Set(repeated).size], [whole.length, Math.ceil(whole.length / 2)]);
  turn("kalshi", {});
  const ask = async (cursor: string): Promise<Json> =>
    (await fetch(`${urls.kalshi?.rest}/markets?limit=3${cursor === "" ? "" : `&cursor=${cursor}`}`)).json();
  const { cursor } = await ask("");
  turn("kalshi", { half_page: { kind: "loop" } });
  assert.equal((await ask(cursor)).cursor, cursor);
});

test("crossed, empty and impossible prices reach every price that each venue tells", async () => {
  const tops: Readonly<Record<SandboxVenue, readonly [RegExp, RegExp]>> = {
    kalshi: [/^yes_bid_dollars$/, /^yes_ask_dollars$/],
    polymarket: [/^bestBid$/, /^bestAsk$/],
    limitless: [/^sell$/, /^buy$/],
    manifold: [/^$/, /^$/],
  };
  const top = (value: Json): number => Number(typeof value === "object" && value !== null ? value.market[0] : value);
  for (const venue of SANDBOX_VENUES) {
    const quotes = async () => {
      const json = JSON.parse((await list(venue)).text);
      const [bids, asks] = [valuesOf(json, tops[venue][0]), valuesOf(json, tops[venue][1])];
      return bids.map((bid, index) => ({ bid, ask: asks[index] }));
    };
    if (venue !== "manifold") {
      assert.ok((await quotes()).every(({ bid, ask }) => top(bid) < top(ask)));
      turn(venue, { crossed_book: 1 });
      assert.ok((await quotes()).every(({ bid, ask }) => top(bid) > top(ask)));
      turn(venue, { empty_book: 1 });
      assert.ok((await quotes()).every(({ bid, ask }) => bid === null || (Number(bid) === 0 && Number(ask) === 1)));
    }
    for (const kind of ["percent", "above", "negative", "nan"]) {
      turn(venue, { price_out_of_range: { kind } });
      const json = JSON.parse((await list(venue)).text);
      const prices = valuesOf(json, /^(last_price_dollars|lastTradePrice|prices|probability)$/)
        .flat()
        .map(Number);
      assert.ok(prices.length >= 5, `${venue} ${prices.length}`);
      const isWrong = (price: number) => (kind === "nan" ? Number.isNaN(price) : price > 1 || price < 0);
      // A percent of a price below 0.016 is not out of range, only wrong.
      assert.ok(kind === "percent" ? prices.filter(isWrong).length > prices.length / 2 : prices.every(isWrong), kind);
    }
  }
});

test("a skewed clock moves every stamp of an answer by the same ten minutes, and no other time", async () => {
  const stamps = async () => {
    const json = JSON.parse((await list("kalshi")).text);
    return { told: valuesOf(json, /^updated_time$/), close: valuesOf(json, /^close_time$/) };
  };
  const right = await stamps();
  turn("kalshi", { clock_skew: { minutes: 10 } });
  for (let count = 0; count < 4; count++) {
    const skewed = await stamps();
    const by = new Set(skewed.told.map((time, index) => Date.parse(time) - Date.parse(right.told[index])));
    assert.equal(by.size, 1);
    assert.equal(Math.abs([...by][0] ?? 0), 600_000);
    assert.deepEqual(skewed.close, right.close);
  }
});

test("a frozen venue answers nobody, neither requests nor sockets, until it thaws; who has waited is answered then", async () => {
  turn("kalshi", { frozen: 1 });
  const answers: string[] = [];
  const waiting = list("kalshi").then(({ status }) => answers.push(`rest ${status}`));
  const url = new URL((urls.kalshi?.ws ?? "").replace("ws:", "http:"));
  const upgrade = request(url, { headers: { connection: "upgrade", upgrade: "websocket" } }).end();
  const refused = once(upgrade, "response").then(([response]) => answers.push(`socket ${response.statusCode}`));
  // An answer of another venue shows that time enough has passed for one.
  for (let count = 0; count < 5; count++) assert.equal((await list("limitless")).status, 200);
  assert.deepEqual(answers, []);
  assert.equal(faults.kalshi.happened.frozen, 2);
  turn("kalshi", {});
  await Promise.all([waiting, refused]);
  assert.deepEqual(answers.sort(), ["rest 200", "socket 401"]);
});

test("what happened is what was spoilt: nothing is counted where there was nothing to spoil", async () => {
  const switches = { crossed_book: 1, half_page: 1, price_out_of_range: 1 };
  for (const venue of SANDBOX_VENUES) {
    turn(venue, switches);
    faults[venue].forgetHappened();
  }
  // Books and pages here, and prices; there prices alone, in a page of one row.
  await list("kalshi");
  assert.deepEqual(Object.keys(faults.kalshi.happened).sort(), Object.keys(switches).sort());
  const [, ...more] = JSON.parse((await list("manifold")).text);
  assert.deepEqual([more, Object.keys(faults.manifold.happened)], [[], ["price_out_of_range"]]);
  faults.manifold.forgetHappened();
  await fetch(`${urls.manifold?.rest}/groups?limit=1`);
  assert.deepEqual(faults.manifold.happened, {});
});

test("a market without prices is neither crossed nor mispriced, and not counted as either", () => {
  turn("kalshi", { crossed_book: 1, price_out_of_range: { kind: "above" } });
  faults.kalshi.forgetHappened();
  const quiet = { yes_bid_dollars: null, yes_ask_dollars: "0.5000", bids: [], asks: [], price: "", prices: [] };
  assert.deepEqual(distort({ ...quiet, yes_ask_dollars: null }, faults.kalshi), { ...quiet, yes_ask_dollars: null });
  assert.deepEqual(faults.kalshi.happened, {});
  distort(quiet, faults.kalshi);
  assert.deepEqual(faults.kalshi.happened, { price_out_of_range: 1 });
  distort({ sell: { market: [0.4, 0.5] }, buy: { market: [0.5, 0.6] } }, faults.kalshi);
  distort({ bids: [["0.4", "1"]], asks: [["0.5", "1"]] }, faults.kalshi);
  const { crossed_book: crossed } = faults.kalshi.happened as Json;
  assert.equal(crossed, 2);
});

test("an answer that comes broken counts as broken alone, whatever else is on", async () => {
  for (const broken of ["garbage", "cut_body"]) {
    turn("kalshi", { [broken]: 1, crossed_book: 1, price_out_of_range: 1, half_page: 1, clock_skew: 1 });
    faults.kalshi.forgetHappened();
    await list("kalshi");
    assert.deepEqual(faults.kalshi.happened, { [broken]: 1 });
  }
});

test("for a client that gave up while the venue was frozen nothing else happens", async () => {
  turn("kalshi", { frozen: 1, server_error: 1 });
  faults.kalshi.forgetHappened();
  const leaving = new AbortController();
  const waiting = fetch(LISTING.kalshi(), { signal: leaving.signal });
  for (let count = 0; count < 5; count++) assert.equal((await list("limitless")).status, 200);
  leaving.abort();
  await assert.rejects(waiting);
  for (let count = 0; count < 5; count++) assert.equal((await list("limitless")).status, 200);
  turn("kalshi", { server_error: 1 });
  assert.deepEqual(faults.kalshi.happened, { frozen: 1 });
});

test("an answer without a number that is to hold NaN is made unreadable in another way", async () => {
  turn("manifold", { garbage: { kind: "nan" } });
  const reply = await fetch(`${urls.manifold?.rest}/search-markets?term=nothingiscalledthis`);
  const text = await reply.text();
  assert.throws(() => JSON.parse(text), text);
});

test("every switch says what it does", () => {
  for (const { about } of Object.values(FAULT_DEFINITIONS)) assert.ok(about.length > 10);
});
