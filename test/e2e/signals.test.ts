import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { openEmbeddedDatabase } from "../../src/adapters/database/embedded-database.ts";
import { HOUR_MS } from "../../src/lib/durations.ts";
import { quietLog } from "../support/quiet-log.ts";
import {
  type ServiceProcess,
  type ServiceResponse,
  startServiceProcess,
  temporaryFolder,
} from "../support/service-process.ts";

const BANKROLL_USD = 1000;
const MARKETS = 24;
/** The engine finds most edges at low prices, so most of the tested markets have a low price. */
const LOW_PRICES = { from: 0.03, to: 0.08, markets: 18 };
const CALLS_AT_ONCE = 4;
/** Prices may move between two requests. An attempt during which a price moved is repeated. */
const ATTEMPTS = 5;
const EXPIRY_MS_MIN = 60_000;
/** The tests read many books, and would wait for the rate limits of the venues. */
const ENVIRONMENT = { PARALLAX_SANDBOX_LIMITS: "off" };

type Json = ServiceResponse["json"];

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let service: ServiceProcess;
let markets: Json[];
/** All signals with a trade that the service gave. */
const trades: Json[] = [];

async function post(path: string, body: object, key = service.keys.enterprise): Promise<ServiceResponse> {
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  const response = await fetch(`${service.url}${path}`, { method: "POST", headers, body: JSON.stringify(body) });
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, json: JSON.parse(text) };
}

const nameOf = ({ platform, market_id }: Json) => ({ platform, market_id });
const pathOf = ({ platform, market_id }: Json) => `/v1/markets/${platform}/${encodeURIComponent(market_id)}`;
const sideOf = ({ recommendation }: Json) => (recommendation === "BUY_YES" ? "yes" : "no");

/** Repeats a request while the simulated venue does not answer in time, which happens on a busy machine. */
async function postUntilAnswered(path: string, body: object): Promise<Json> {
  for (let attempt = 1; ; attempt++) {
    const { status, json, text } = await post(path, body);
    if (status === 200) return json;
    assert.ok(status === 502 && attempt < ATTEMPTS, `${status}: ${text}`);
  }
}

async function requestSignal(body: object, query = ""): Promise<Json> {
  const json = await postUntilAnswered(`/v1/signals?wait=true${query}`, body);
  if (json.recommendation !== "NO_TRADE") trades.push(json);
  return json;
}

/** Responses round prices to 1e-12 and USD to 1e-6. */
const PRICE_ROUNDING = 1e-9;
const USD_ROUNDING = 1e-6;

function assertClose(actual: number, expected: number, tolerance = PRICE_ROUNDING): void {
  assert.ok(Math.abs(actual - expected) <= tolerance, `${actual} differs from ${expected}`);
}

/** Markets that stay open during the test: the most traded ones with low prices, and the most traded others. */
async function chooseMarkets(): Promise<Json[]> {
  const lists = ["kalshi", "polymarket", "limitless"].map(
    async (venue) => (await service.get(`/v1/markets?source=${venue}&status=active&limit=100`)).json,
  );
  const all = (await Promise.all(lists))
    .flat()
    .filter(({ close_time: closeAt }) => Date.parse(closeAt) > Date.now() + HOUR_MS);
  const hasLowPrice = ({ yes_price: price }: Json) => price >= LOW_PRICES.from && price <= LOW_PRICES.to;
  const low = all.filter(hasLowPrice).slice(0, LOW_PRICES.markets);
  return [...low, ...all.filter((market) => !hasLowPrice(market)).slice(0, MARKETS - low.length)];
}

/** Asserts that the venue accepts a price of the market's YES side. */
function assertOnGrid(yesPrice: number, market: Json): void {
  const range = market.price_ranges.find(({ from, to }: Json) => yesPrice >= from - 1e-9 && yesPrice <= to + 1e-9);
  assert.ok(range !== undefined, `${yesPrice} is outside ${JSON.stringify(market.price_ranges)}`);
  const steps = yesPrice / range.step;
  assertClose(steps, Math.round(steps), 1e-6);
}

function assertIdentities(signal: Json, market: Json): void {
  const { recommendation, order, target_price: target, size_pct: size } = signal;
  assert.deepEqual(nameOf(signal), nameOf(market));
  assertClose(signal.edge, signal.model_probability - signal.yes_price);
  assert.notEqual(signal.reason, "");
  if (target !== null) assertOnGrid(sideOf(signal) === "yes" ? target : 1 - target, market);
  const [generatedAt, expiresAt] = [Date.parse(signal.generated_at), Date.parse(signal.expires_at)];
  assert.ok(expiresAt >= generatedAt + EXPIRY_MS_MIN && expiresAt <= Date.parse(market.close_time));
  if (recommendation === "NO_TRADE") {
    assert.deepEqual([size, order, signal.executable_edge, signal.hedge], [0, null, null, null]);
    return;
  }
  assert.ok(size > 0 && size <= 0.1);
  const step = market.contract_step ?? 1;
  assertClose(order.contracts / step, Math.round(order.contracts / step), 1e-6);
  assert.ok(order.contracts >= (market.min_order_contracts ?? step));
  assertClose(order.cost_usd, order.contracts * order.average_price + order.fee_usd, 2 * USD_ROUNDING);
  assert.ok(order.cost_usd <= size * BANKROLL_USD + USD_ROUNDING, `${order.cost_usd} USD for a size of ${size}`);
  assert.ok(order.average_price <= target, `${order.average_price} is above ${target}`);
  const probability = sideOf(signal) === "yes" ? signal.model_probability : 1 - signal.model_probability;
  assertClose(signal.average_cost, order.cost_usd / order.contracts, USD_ROUNDING / order.contracts);
  assertClose(signal.executable_edge, probability - signal.average_cost);
  assert.ok(signal.executable_edge >= 0.01 - 1e-9);
}

/** Whether an open market sells the contracts of a signal at its target price or less. */
async function canBeFilled(signal: Json): Promise<boolean> {
  const [market, { json: book }] = await Promise.all([
    service.get(pathOf(signal)),
    service.get(`${pathOf(signal)}/orderbook`),
  ]);
  assert.equal(market.json.status, "active");
  const offers =
    sideOf(signal) === "yes" ? book.asks : book.bids.map(({ price, size }: Json) => ({ price: 1 - price, size }));
  const offered = offers
    .filter(({ price }: Json) => price <= signal.target_price + 1e-9)
    .reduce((sum: number, { size }: Json) => sum + size, 0);
  return offered >= signal.order.contracts;
}

before(async () => {
  folder = await temporaryFolder();
  service = await startServiceProcess({ dataDir: folder.path, env: ENVIRONMENT });
  markets = await chooseMarkets();
});

after(async () => {
  await service.end();
  await folder.release();
});

test("the signals of many markets satisfy their identities, and their orders can be filled", async () => {
  assert.equal(markets.length, MARKETS);
  const rest = [...markets];
  const signalRest = async (): Promise<void> => {
    for (let market = rest.shift(); market !== undefined; market = rest.shift())
      for (let attempt = 1; ; attempt++) {
        const signal = await requestSignal(nameOf(market));
        assertIdentities(signal, market);
        if (signal.recommendation === "NO_TRADE" || (await canBeFilled(signal))) break;
        assert.ok(attempt < ATTEMPTS, `the book cannot fill the order: ${JSON.stringify(signal)}`);
      }
  };
  await Promise.all(Array.from({ length: CALLS_AT_ONCE }, signalRest));
  assert.ok(trades.length > 0, "no market has a trade");
});

test("a signal contains its factors on request, and a request with a question selects the market of that title", async () => {
  const [market] = markets;
  const { causal, ...signal } = await requestSignal(nameOf(market), "&expand=causal");
  assertIdentities(signal, market);
  assertClose(causal.overall_probability, signal.model_probability);
  assertClose(causal.factors.at(-1).posterior, signal.model_probability);
  const { match, ...found } = await requestSignal({ market_query: market.title, platform: market.platform });
  assert.equal(found.title, market.title);
  assert.equal(match.similarity, 1);
  assert.ok(match.alternatives.length <= 3);
  assert.equal("causal" in found, false);
});

test("a portfolio lowers the size of a trade on a side that it holds, and raises it for the other side", async () => {
  const hold = ({ market, side, sizeUsd }: { market: Json; side: string; sizeUsd: number }) => ({
    ...nameOf(market),
    side,
    size_usd: sizeUsd,
    entry_price: 0.5,
  });
  const request = (market: Json, portfolio: readonly object[]): Promise<Json> =>
    postUntilAnswered("/v1/signals/portfolio?wait=true", { ...nameOf(market), portfolio });
  const edgeSigns = new Map(trades.map((trade) => [pathOf(trade), { trade, sign: Math.sign(trade.edge) }]));
  let checked = 0;
  for (const { trade, sign } of edgeSigns.values()) {
    const [held, other] = sideOf(trade) === "yes" ? ["yes", "no"] : ["no", "yes"];
    const empty = await request(trade, []);
    if (empty.base_size_pct === 0) continue;
    const same = await request(trade, [hold({ market: trade, side: held, sizeUsd: 30 })]);
    const full = await request(trade, [hold({ market: trade, side: held, sizeUsd: 0.1 * BANKROLL_USD })]);
    const opposite = await request(trade, [hold({ market: trade, side: other, sizeUsd: 30 })]);
    const all = [empty, same, full, opposite];
    // The price may have moved, so that there is no trade or a trade of the other side.
    if (all.some(({ base_size_pct: base, edge }) => base === 0 || Math.sign(edge) !== sign)) continue;
    for (const { adjusted_size_usd: usd, adjusted_size_pct: share } of all)
      assertClose(usd, share * BANKROLL_USD, USD_ROUNDING);
    assertClose(empty.adjusted_size_pct, empty.base_size_pct);
    assert.ok(same.adjusted_size_pct < same.base_size_pct);
    assert.deepEqual([full.adjusted_size_pct, full.recommendation], [0, "NO_TRADE"]);
    assert.ok(opposite.adjusted_size_pct >= opposite.base_size_pct);
    const { portfolio_impact: impact } = opposite;
    assert.equal(impact.correlated_with, `${trade.platform}/${trade.market_id}`);
    assertClose(impact.max_correlation, -1);
    checked += 1;
    if (checked === 2) break;
  }
  assert.ok(checked > 0, "no trade kept its side");
  const position = hold({ market: markets[0], side: "yes", sizeUsd: 1 });
  const tooMany = { ...nameOf(markets[0]), portfolio: Array.from({ length: 26 }, () => position) };
  const { status, json } = await post("/v1/signals/portfolio", tooMany);
  assert.deepEqual([status, json.detail[0].type, json.detail[0].loc], [422, "too_long", ["body", "portfolio"]]);
});

test("paper trades and reported trades are separate, and only their owner sees them", async () => {
  const [market] = markets;
  const price = market.yes_price;
  const order = { ...nameOf(market), side: "yes" };
  const paper = await post("/v1/trades/shadow", { ...order, size_usd: 20 }, service.keys.pro);
  assert.equal(paper.status, 200, paper.text);
  const report = await post("/v1/trades/report", { ...order, price, size_usd: 12 }, service.keys.pro);
  assert.deepEqual([report.status, report.json.status], [200, "accepted"]);
  const read = async (path: string, key: string) => (await service.get(path, { authorization: `Bearer ${key}` })).json;
  const { pro, enterprise } = service.keys;
  const [shadow, live] = [await read("/v1/portfolio?mode=shadow", pro), await read("/v1/portfolio?mode=live", pro)];
  assert.deepEqual(shadow.positions.map(nameOf), [nameOf(market)]);
  assert.deepEqual(live.positions.map(nameOf), [nameOf(market)]);
  assertClose(shadow.positions[0].cost_usd, paper.json.cost_usd, 0.005);
  assertClose(live.positions[0].contracts, 12 / price);
  const performance = await read("/v1/performance?mode=live", pro);
  assert.deepEqual([performance.mode, performance.total_trades, performance.open_trades], ["live", 1, 1]);
  assert.equal(performance.win_rate, null);
  for (const mode of ["shadow", "live"])
    assert.deepEqual((await read(`/v1/portfolio?mode=${mode}`, enterprise)).positions, []);
  assert.equal((await read("/v1/performance?mode=live", enterprise)).total_trades, 0);
});

test("the track record needs no plan, and the free plan has no signals", async () => {
  const calibration = await service.get("/v1/calibration", {});
  assert.equal(calibration.status, 200);
  assert.equal(calibration.json.mode, "shadow");
  const page = await service.get("/track-record", {});
  assert.equal(page.status, 200);
  assert.match(page.headers.get("content-type") ?? "", /^text\/html/);
  for (const path of ["/v1/signals", "/v1/signals/portfolio"]) {
    const { status, json } = await post(path, nameOf(markets[0]), service.keys.free);
    assert.deepEqual([status, json.code], [403, "plan_required"]);
  }
});

test("repeated requests enter a trade into the shadow book once, and the trade survives a kill", async () => {
  const named = new Map(trades.map((trade) => [pathOf(trade), nameOf(trade)]));
  for (const body of named.values()) for (let repeat = 0; repeat < 2; repeat++) await requestSignal(body);
  await service.end("SIGKILL");
  service = await startServiceProcess({ dataDir: folder.path, env: ENVIRONMENT });
  const { json: performance } = await service.get("/v1/performance");
  const entries = new Set(trades.map((trade) => `${trade.analysis_id} ${sideOf(trade)}`));
  assert.ok(performance.total_trades >= entries.size, `${performance.total_trades} of ${entries.size} trades`);
  assert.equal(performance.open_trades, performance.total_trades - performance.resolved_trades);
  await service.end();
  const database = await openEmbeddedDatabase({ dataDir: folder.path, log: quietLog });
  try {
    const stored = await database.query<{ entry: string; enteredAt: number }>(
      `select analysis_id || ' ' || side as entry, extract(epoch from entered_at)::float8 * 1000 as "enteredAt"
       from shadow_trades`,
    );
    for (const entry of entries) assert.equal(stored.filter((trade) => trade.entry === entry).length, 1, entry);
    // The service also enters trades of its own analyses, before and after the restart.
    const known = stored.filter(({ enteredAt }) => enteredAt <= Date.parse(performance.generated_at));
    assert.equal(performance.total_trades, known.length);
  } finally {
    await database.close();
  }
});
