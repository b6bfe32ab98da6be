import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { WebSocket } from "ws";
import { serveExchanges } from "../../serve.ts";
import { createWorld } from "../../world/index.ts";
import type { FeedEvent, ListedMarket } from "../../world/types.ts";
import { kalshiEventTicker, kalshiExchange, kalshiSeriesTicker, kalshiTicker } from "./index.ts";

const HOUR_MS = 3_600_000;
const GENESIS = Date.UTC(2026, 10, 21);
const START = GENESIS + HOUR_MS + 500;

const world = createWorld({ seed: 3, genesis: GENESIS, speed: 60, marketCount: 300 });
let at = START;
/** What the test says happens. */
let tell: (event: FeedEvent) => void = () => {};
let onUnsubscribed = () => {};
let listeners = 0;
const feed = {
  subscribe(_venue: string, listener: (event: FeedEvent) => void) {
    listeners += 1;
    tell = listener;
    return () => {
      listeners -= 1;
      onUnsubscribed();
    };
  },
  close() {},
};

let served: Awaited<ReturnType<typeof serveExchanges>>;
let limited: Awaited<ReturnType<typeof serveExchanges>>;

before(async () => {
  const context = { world, feed, now: () => at };
  served = await serveExchanges(kalshiExchange({ ...context, enforceLimits: false }), {
    host: "127.0.0.1",
    firstPort: 0,
  });
  limited = await serveExchanges(kalshiExchange({ ...context, enforceLimits: true }), {
    host: "127.0.0.1",
    firstPort: 0,
  });
});

after(async () => {
  await served.close();
  await limited.close();
});

interface Row {
  readonly ticker: string;
  readonly event_ticker: string;
  readonly series_ticker: string;
  readonly title: string;
  readonly status: string;
  readonly category: string;
  readonly markets: readonly Row[];
}

interface CandleReply {
  readonly price: Readonly<Record<string, string | null>>;
  readonly volume_fp: string;
}

/** What replies hold, all in one: a test that reads what is not there fails on `undefined`. */
interface Reply {
  readonly error: { readonly code: string };
  readonly cursor: string;
  readonly market: Row;
  readonly markets: readonly (Row & { readonly candlesticks: readonly CandleReply[] })[];
  readonly event: Row;
  readonly events: readonly Row[];
  readonly series: readonly Row[];
  readonly trades: readonly unknown[];
  readonly candlesticks: readonly CandleReply[];
  readonly market_tickers: readonly string[];
  readonly market_candlesticks: readonly (readonly CandleReply[])[];
  readonly market_settled_ts: string;
  readonly tags_by_categories: Readonly<Record<string, readonly string[]>>;
  readonly orderbook_fp: { readonly yes_dollars: readonly string[][]; readonly no_dollars: readonly string[][] };
}

interface Message {
  readonly type: string;
  readonly seq: number;
  readonly msg: {
    readonly code: number;
    readonly channel: string;
    readonly event_type?: string;
    readonly result: string;
    readonly side: "yes" | "no";
    readonly price_dollars: string;
    readonly delta_fp: string;
    readonly yes_dollars_fp?: readonly (readonly [string, string])[];
    readonly no_dollars_fp?: readonly (readonly [string, string])[];
  };
}

async function get(
  path: string,
  service = served,
  headers: Record<string, string> = {},
): Promise<{ status: number; headers: Headers; json: Reply }> {
  const response = await fetch(`${service.urls.kalshi?.rest}${path}`, { headers });
  return { status: response.status, headers: response.headers, json: (await response.json()) as Reply };
}

const markets = () => world.markets("kalshi", at);
const inPhase = (phase: string) => markets().filter((market) => world.lifecycle(market, at).phase === phase);

function first(found: readonly ListedMarket[]): ListedMarket {
  const [market] = found;
  assert.ok(market);
  return market;
}

test("all tickers are different and lead back to their market", async () => {
  const tickers = new Set(markets().map(kalshiTicker));
  assert.equal(tickers.size, markets().length);
  const market = first(inPhase("active"));
  const { json } = await get(`/markets/${kalshiTicker(market)}`);
  assert.equal(json.market.title, market.question);
});

test("pages of any size tell every market of the live tier once, the last with an empty cursor", async () => {
  const seen: string[] = [];
  let cursor = "";
  do {
    const { json } = await get(`/markets?limit=7&cursor=${cursor}`);
    assert.ok(json.markets.length <= 7);
    seen.push(...json.markets.map(({ ticker }) => ticker));
    cursor = json.cursor;
  } while (cursor !== "");
  const week = Math.floor((at - 7 * 24 * HOUR_MS) / HOUR_MS) * HOUR_MS;
  const expected = markets().filter(({ finalizeAt }) => finalizeAt >= week);
  assert.deepEqual(seen, expected.map(kalshiTicker));
});

test("400: the status filter speaks other words than the status field, and one timestamp family at a time", async () => {
  const { json, status } = await get("/markets?status=active");
  assert.equal(status, 400);
  assert.equal(json.error.code, "bad_request");
  for (const query of [
    "status=open&min_close_ts=1",
    "min_created_ts=1&min_close_ts=1",
    "status=open&mve_filter=exclude&min_updated_ts=1",
    "min_updated_ts=1",
    "limit=1001",
    "limit=x",
    "cursor=nonsense",
  ]) {
    assert.equal((await get(`/markets?${query}`)).status, 400, query);
  }
});

test("settled markets are found by their word and their time, and only combos are asked for in vain", async () => {
  const settled = inPhase("finalized").filter(({ finalizeAt }) => finalizeAt > at - 6 * 24 * HOUR_MS);
  const since = Math.floor((at - 6 * 24 * HOUR_MS) / 1_000);
  const { json } = await get(`/markets?status=settled&min_settled_ts=${since}&limit=1000`);
  assert.deepEqual(
    json.markets.map(({ ticker }) => ticker),
    settled.map(kalshiTicker),
  );
  assert.ok(settled.length > 0);
  assert.deepEqual((await get("/markets?mve_filter=only")).json, { markets: [], cursor: "" });
  assert.deepEqual((await get("/events/multivariate")).json, { events: [], cursor: "" });
});

test("404: a market settled before the cutoff is known to the historical tier only, with its trades and candles", async () => {
  const cutoff = Date.parse((await get("/historical/cutoff")).json.market_settled_ts);
  const market = first(
    inPhase("finalized").filter((one) => one.finalizeAt < cutoff && world.activity(one, at).volumeContracts > 0),
  );
  const ticker = kalshiTicker(market);
  const missing = await get(`/markets/${ticker}`);
  assert.equal(missing.status, 404);
  assert.deepEqual(missing.json, { error: { code: "not_found", message: "not found" } });
  assert.equal((await get(`/historical/markets/${ticker}`)).json.market.status, "finalized");
  assert.deepEqual((await get(`/markets/trades?ticker=${ticker}`)).json.trades, []);
  assert.ok((await get(`/historical/trades?ticker=${ticker}`)).json.trades.length > 0);
  const range = `start_ts=${Math.floor(market.openAt / 1_000)}&end_ts=${Math.floor(at / 1_000)}&period_interval=1440`;
  const path = `/series/${kalshiSeriesTicker(market.event)}/markets/${ticker}/candlesticks?${range}`;
  assert.equal((await get(path)).status, 404);
  const { json } = await get(`/historical/markets/${ticker}/candlesticks?${range}`);
  assert.ok(json.candlesticks.length > 0);
  assert.ok(json.candlesticks.every((candle) => "open" in candle.price && !("open_dollars" in candle.price)));
  const nested = await get(`/events/${kalshiEventTicker(market.event)}?with_nested_markets=true`);
  assert.ok(nested.json.event.markets.every((one) => one.ticker !== ticker));
});

test("candlesticks come in three live forms that agree, and price parts are absent without trades", async () => {
  const market = first(inPhase("active").filter(({ event }) => event.markets.length > 1));
  const { event } = market;
  const query = `start_ts=${GENESIS / 1_000 - 6 * 3_600}&end_ts=${GENESIS / 1_000}&period_interval=60`;
  const series = kalshiSeriesTicker(event);
  const one = (await get(`/series/${series}/markets/${kalshiTicker(market)}/candlesticks?${query}`)).json;
  const many = (await get(`/markets/candlesticks?market_tickers=${kalshiTicker(market)}&${query}`)).json;
  const group = (await get(`/series/${series}/events/${kalshiEventTicker(event)}/candlesticks?${query}`)).json;
  assert.equal(one.candlesticks.length, 7);
  assert.deepEqual(many.markets[0]?.candlesticks, one.candlesticks);
  assert.deepEqual(group.market_candlesticks[group.market_tickers.indexOf(kalshiTicker(market))], one.candlesticks);
  for (const candle of one.candlesticks) {
    assert.equal("close_dollars" in candle.price, candle.volume_fp !== "0.00");
  }
  const carried = (
    await get(`/markets/candlesticks?market_tickers=${kalshiTicker(market)}&${query}&include_latest_before_start=true`)
  ).json;
  assert.deepEqual(Object.keys(carried.markets[0]?.candlesticks[0]?.price ?? {}), ["previous_dollars"]);
  assert.equal(
    (
      await get(
        `/markets/candlesticks?market_tickers=${kalshiTicker(market)}&start_ts=0&end_ts=1795230000&period_interval=1`,
      )
    ).status,
    400,
  );
});

test("both ladders of a book are bids, best last, and depth keeps the best", async () => {
  const market = first(inPhase("active").filter((one) => world.book(one, at).asks.length > 2));
  const { bids, asks } = world.book(market, at);
  const { json } = await get(`/markets/${kalshiTicker(market)}/orderbook?depth=2`);
  assert.equal(Number(json.orderbook_fp.yes_dollars.at(-1)?.[0]), bids[0]?.price);
  assert.equal(Number((1 - Number(json.orderbook_fp.no_dollars.at(-1)?.[0])).toFixed(6)), asks[0]?.price);
  assert.equal(json.orderbook_fp.no_dollars.length, 2);
});

test("429: over 20 requests at once there is an error without any hint of when to come back, for that program only", async () => {
  const agent = { "user-agent": "hasty/1" };
  for (let request = 0; request < 20; request++) {
    assert.equal((await get("/exchange/status", limited, agent)).status, 200);
  }
  const refused = await get("/exchange/status", limited, agent);
  assert.equal(refused.status, 429);
  assert.deepEqual(refused.json, { error: { code: "too_many_requests", message: "too many requests" } });
  assert.equal(refused.headers.get("retry-after"), null);
  assert.deepEqual(
    [...refused.headers.keys()].filter((name) => name.includes("rate")),
    [],
  );
  assert.equal((await get("/exchange/status", limited, { "user-agent": "patient/1" })).status, 200);
});

test("events, series and tags of the listing hang together", async () => {
  const { json } = await get("/events?status=open&limit=200&with_nested_markets=true");
  assert.ok(json.events.length > 0);
  const series = new Set((await get("/series")).json.series.map(({ ticker }) => ticker));
  for (const event of json.events) {
    assert.ok(series.has(event.series_ticker));
    assert.ok(event.markets.some(({ status }) => status === "active" || status === "inactive"));
  }
  const tags = (await get("/search/tags_by_categories")).json.tags_by_categories;
  const [category] = Object.keys(tags);
  const found = (await get(`/series?category=${encodeURIComponent(category ?? "")}`)).json.series;
  assert.ok(found.length > 0 && found.every((one) => one.category === category));
  const tickers = json.events.slice(0, 2).map(({ event_ticker }) => event_ticker);
  const named = (await get(`/events?tickers=${tickers.join(",")}`)).json.events;
  assert.deepEqual(
    named.map(({ event_ticker }) => event_ticker),
    tickers,
  );
  assert.equal((await get(`/events/${tickers[0]}/metadata`)).status, 200);
});

/** A signed socket, and a reader of its messages in order. */
async function openSocket() {
  const headers = {
    "kalshi-access-key": "any",
    "kalshi-access-timestamp": "1795229999123",
    "kalshi-access-signature": Buffer.alloc(256, 7).toString("base64"),
  };
  const socket = new WebSocket(`${served.urls.kalshi?.ws}`, { headers });
  const queue: Message[] = [];
  let wake = () => {};
  socket.on("message", (data) => {
    queue.push(JSON.parse(data.toString()));
    wake();
  });
  await new Promise((resolve, reject) => socket.once("open", resolve).once("error", reject));
  return {
    send: (message: object) => socket.send(JSON.stringify(message)),
    async next(): Promise<Message> {
      for (;;) {
        const message = queue.shift();
        if (message !== undefined) return message;
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    },
    close: () => new Promise((resolve) => socket.once("close", resolve).close()),
  };
}

test("401: an unsigned or badly signed handshake is refused even for public channels", async () => {
  for (const headers of [
    {},
    { "kalshi-access-key": "any", "kalshi-access-timestamp": "1", "kalshi-access-signature": "?" },
  ]) {
    const socket = new WebSocket(`${served.urls.kalshi?.ws}`, { headers });
    const error = await new Promise<Error>((resolve) => socket.once("error", resolve));
    assert.match(error.message, /401/);
  }
});

test("a book kept from the snapshot and numbered deltas is the world's book", async () => {
  const socket = await openSocket();
  const market = first(inPhase("active").filter((one) => Number.isFinite(world.nextChangeAt(one, at))));
  const ticker = kalshiTicker(market);
  socket.send({ id: 1, cmd: "subscribe", params: { channels: ["orderbook_delta"], market_tickers: [ticker] } });
  assert.equal((await socket.next()).type, "subscribed");
  const snapshot = await socket.next();
  assert.equal(snapshot.type, "orderbook_snapshot");
  const ladders: Record<string, Map<string, number>> = {
    yes: new Map(snapshot.msg.yes_dollars_fp?.map(([price, size]) => [price, Number(size)])),
    no: new Map(snapshot.msg.no_dollars_fp?.map(([price, size]) => [price, Number(size)])),
  };
  let { seq } = snapshot;
  for (let change = 0; change < 20; change++) {
    at = world.nextChangeAt(market, at);
    if (!Number.isFinite(at)) break;
    tell({ kind: "book", market, at });
  }
  const last = at;
  at = START;
  socket.send({ id: 2, cmd: "list_subscriptions" });
  for (let message = await socket.next(); message.type !== "ok"; message = await socket.next()) {
    assert.equal(message.seq, ++seq);
    const { side, price_dollars, delta_fp } = message.msg;
    const size = (ladders[side]?.get(price_dollars) ?? 0) + Number(delta_fp);
    if (size === 0) ladders[side]?.delete(price_dollars);
    else ladders[side]?.set(price_dollars, size);
  }
  const { bids, asks } = world.book(market, last);
  const levels = (side: Map<string, number> | undefined) =>
    new Map([...(side ?? [])].map(([price, size]) => [Number(price), size]));
  assert.deepEqual(levels(ladders.yes), new Map(bids.map(({ price, size }) => [price, size])));
  assert.deepEqual(
    levels(ladders.no),
    new Map(asks.map(({ price, size }) => [Math.round((1 - price) * 1e6) / 1e6, size])),
  );
  assert.ok(seq > snapshot.seq);
  await socket.close();
});

test("lifecycle: pausing and settling are told, opening and closing are not", async () => {
  const socket = await openSocket();
  socket.send({ id: 1, cmd: "subscribe", params: { channels: ["market_lifecycle_v2"] } });
  assert.equal((await socket.next()).msg.channel, "market_lifecycle_v2");
  const market = first(inPhase("finalized"));
  const happens = (from: string, to: string, when: number) =>
    tell({ kind: "lifecycle", market, from, to, at: when } as FeedEvent);
  happens("pending", "active", market.openAt);
  happens("active", "paused", market.openAt + 1);
  happens("paused", "active", market.openAt + 2);
  happens("determined", "disputed", market.determineAt + 1);
  happens("closed", "determined", market.determineAt);
  happens("disputed", "finalized", market.finalizeAt);
  tell({ kind: "listed", market: first(market.event.markets), at: market.openAt });
  const types: string[] = [];
  for (let message = 0; message < 6; message++) {
    const { type, msg, seq } = await socket.next();
    assert.equal(seq, message + 1);
    types.push(msg.event_type ?? type);
    if (msg.event_type === "determined") {
      const { outcome } = world.lifecycle(market, market.determineAt);
      assert.equal(msg.result, outcome?.kind === "yes" || outcome?.kind === "no" ? outcome.kind : "scalar");
    }
  }
  assert.deepEqual(types, ["deactivated", "activated", "determined", "settled", "event_lifecycle", "created"]);
  await socket.close();
});

test("refusals carry the venue's numbers", async () => {
  const socket = await openSocket();
  const codeOf = async (message: object) => {
    socket.send(message);
    return (await socket.next()).msg.code;
  };
  assert.equal(await codeOf({ id: 1, cmd: "dance" }), 5);
  assert.equal(await codeOf({ id: 2, cmd: "subscribe", params: {} }), 3);
  assert.equal(await codeOf({ id: 3, cmd: "subscribe", params: { channels: ["ticker_v2"] } }), 8);
  assert.equal(await codeOf({ id: 4, cmd: "subscribe", params: { channels: ["orderbook_delta"] } }), 14);
  assert.equal(await codeOf({ id: 5, cmd: "unsubscribe", params: { sids: [99] } }), 7);
  assert.equal(await codeOf([]), 1);
  await socket.close();
});

test("the world is listened to only while somebody is connected", async () => {
  const socket = await openSocket();
  assert.equal(listeners, 1);
  const unsubscribed = new Promise<void>((resolve) => {
    onUnsubscribed = resolve;
  });
  await socket.close();
  await unsubscribed;
  assert.equal(listeners, 0);
});

test("listings of what is not simulated are empty, not missing, with the keys that clients read", async () => {
  for (const [path, key] of [
    ["/milestones?limit=10", "milestones"],
    ["/structured_targets?page_size=10", "structured_targets"],
    ["/incentive_programs?status=active", "incentive_programs"],
    ["/live_data/batch?milestone_ids=x", "live_datas"],
    ["/exchange/announcements", "announcements"],
    ["/search/filters_by_sport", "sport_ordering"],
  ] as const) {
    const { status, json } = await get(path);
    assert.deepEqual([status, Object(json)[key]], [200, []], path);
  }
  for (const path of ["/milestones/x", "/structured_targets/x", "/live_data/milestone/x"]) {
    const { status, json } = await get(path);
    assert.deepEqual([status, json.error.code], [404, "not_found"], path);
  }
});

test("trading hours are around the clock on each day of the week", async () => {
  const { schedule } = Object((await get("/exchange/schedule")).json);
  assert.deepEqual(schedule.maintenance_windows, []);
  const [week] = schedule.standard_hours;
  for (const day of ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]) {
    assert.deepEqual(week[day], [{ open_time: "00:00", close_time: "00:00" }]);
  }
  assert.ok(Date.parse(week.start_time) <= at && at < Date.parse(week.end_time));
});

test("forecasts of an event are asked for under its own series only, and none are computed", async () => {
  const { event } = first(inPhase("active"));
  const path = (series: string) =>
    `/series/${series}/events/${kalshiEventTicker(event)}/forecast_percentile_history?percentiles=5000&period_interval=60`;
  assert.deepEqual(Object((await get(path(kalshiSeriesTicker(event)))).json), { forecast_history: [] });
  assert.equal((await get(path("KXOTHER"))).status, 404);
});

test("401: what belongs to an account", async () => {
  for (const path of ["/portfolio/balance", "/portfolio/orders?limit=1", "/account/limits", "/api_keys"]) {
    const { status, json } = await get(path);
    assert.deepEqual([status, json.error.code], [401, "authentication_error"], path);
  }
});

test("HEAD is answered as GET is, without a body, and a slash at the end of the path does not matter", async () => {
  const base = served.urls.kalshi?.rest;
  const head = await fetch(`${base}/exchange/status`, { method: "HEAD" });
  const whole = await fetch(`${base}/exchange/status`);
  assert.equal(head.status, 200);
  assert.equal(head.headers.get("content-length"), String((await whole.text()).length));
  assert.equal(await head.text(), "");
  assert.deepEqual((await get("/series/")).json, (await get("/series")).json);
});
