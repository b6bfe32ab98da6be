/**
 * Plants markets in the simulated Polymarket. Sets: exclusive outcomes that cost less than 1 together. The service lists the
 * complete set as arbitrage, and reports why each other set is incomplete. Resolutions: a disputed market, one that trades while
 * its result is proposed, one that trades after its end date, and an annulled one, each from trading to its final result. The
 * operator has named the venues differently from Parallax.
 */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { DAY_MS } from "../../src/lib/durations.ts";
import { eventually, type ServiceProcess, startServiceProcess, temporaryFolder } from "../support/service-process.ts";
import { faultControl } from "../support/venues/fault-control.ts";

/** The operator's name of the simulated Polymarket. */
const VENUE = "venue_b";
/** The sandbox at real speed, so that no market changes by itself. */
const SANDBOX = {
  PARALLAX_SANDBOX_SPEED: "1",
  PARALLAX_SANDBOX_MARKETS: "300",
  PARALLAX_SANDBOX_SEED: "7",
  PARALLAX_SANDBOX_LIMITS: "off",
  PARALLAX_VENUES: `venue_a=kalshi,${VENUE}=polymarket,venue_c=limitless;venue_d=manifold`,
};
const STEP_MS_MAX = 150_000;

interface Expected {
  /** `left_out` of the children. */
  readonly leftOut: Readonly<Record<string, number>>;
  /** Why the set is incomplete; null if it is complete. */
  readonly because: string | null;
}

const EXPECTED: Readonly<Record<string, Expected>> = {
  none: { leftOut: {}, because: null },
  unreadable: { leftOut: { unreadable: 1 }, because: "children_left_out" },
  other: { leftOut: { placeholder: 1 }, because: "children_left_out" },
  closed: { leftOut: { closed: 1 }, because: "children_left_out" },
  placeholder: { leftOut: {}, because: "outcome_not_open" },
};

interface PlantedSet {
  readonly event_id: string;
  readonly complete: boolean;
  readonly outcomes: readonly { readonly market_id: string; readonly ask: number }[];
  readonly left_out: { readonly market_id: string } | null;
}

interface Opportunity {
  readonly strategy: string;
  readonly event_slug: string;
  readonly legs: readonly { readonly market_id: string; readonly side: string }[];
}

const slugOf = ({ event_id: id }: PlantedSet) => `${VENUE}:${id}`;
const expectedOf = (kind: string): Expected => EXPECTED[kind] ?? assert.fail(kind);

type Json = Awaited<ReturnType<ServiceProcess["get"]>>["json"];

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let service: ServiceProcess;
before(async () => {
  folder = await temporaryFolder();
  service = await startServiceProcess({ dataDir: folder.path, env: SANDBOX });
});
after(async () => {
  await service.end();
  await folder.release();
});

/** Makes one request to the venue fail, so that the service sweeps again within seconds instead of half a minute. */
async function requestSweep(): Promise<void> {
  const faults = faultControl({ urls: { control: { rest: service.sandboxUrl ?? assert.fail("no sandbox") } } });
  const readFailures = async () =>
    (await service.get("/v1/health")).json.checks.venues[VENUE].drops.failed_server_error ?? 0;
  const failuresBefore = await readFailures();
  await faults.setFaults("polymarket", { server_error: 1 });
  await eventually(async () => ((await readFailures()) > failuresBefore ? true : null), "a failed request");
  await faults.clearFaults();
}

function openWalk() {
  const post = async (path: string, body: object) => {
    const headers = { authorization: `Bearer ${service.keys.enterprise}`, "content-type": "application/json" };
    const response = await fetch(`${service.url}${path}`, { method: "POST", headers, body: JSON.stringify(body) });
    return { status: response.status, json: (await response.json()) as Json };
  };
  const readMarket = async (id: string): Promise<Json> => (await service.get(`/v1/markets/${VENUE}/${id}`)).json;
  return {
    readMarket,
    async plant(id: string, step: string, outcome = "yes") {
      const response = await fetch(`${service.sandboxUrl}/plants/polymarket/resolution`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ market_id: id, step, outcome }),
      });
      assert.equal(response.status, 200, await response.text());
    },
    /** Waits until the market has a status, and checks that it has a result only if it is final. */
    async expectStatus(id: string, status: string, outcome: string | null = null) {
      const isReached = async () => ((await readMarket(id)).status === status ? true : null);
      await eventually(isReached, `${id} to be ${status}`, STEP_MS_MAX);
      const market = await readMarket(id);
      assert.equal(market.outcome ?? null, outcome);
      assert.equal((await service.get(`/v1/markets/${VENUE}/${id}/resolution`)).json.status, status);
      const page = await service.get(`/markets/${VENUE}/${id}`);
      assert.equal(/Settled: |Settled in part/.test(page.text), outcome !== null, `the page of ${id}`);
    },
    /** Checks that the market has quotes, and takes paper trades and signals. */
    async expectOpen(id: string) {
      const market = await readMarket(id);
      assert.equal(market.status, "active");
      assert.ok(market.bid !== undefined && market.ask !== undefined, "an open market has quotes");
      const trade = await post("/v1/trades/shadow", { platform: VENUE, market_id: id, side: "yes", size_usd: 5 });
      assert.equal(trade.status, 200, JSON.stringify(trade.json));
      const { status, json: signal } = await post("/v1/signals?wait=true", { platform: VENUE, market_id: id });
      assert.equal(status, 200, JSON.stringify(signal));
      assert.notEqual(signal.reason, "The market is not open for orders.");
      assert.ok(Date.parse(signal.expires_at) >= Date.parse(signal.generated_at) + 60_000);
    },
    /**
     * Checks the advice for a position of 10 USD of YES: without orders there is nothing to sell, and a settled position is
     * worth what it pays.
     */
    async expectAdvice(id: string, expected: { readonly canSell: boolean; readonly payout?: number }) {
      const position = { platform: VENUE, market_id: id, side: "yes", size_usd: 10, entry_price: 0.5 };
      const { status, json } = await post("/v1/signals/portfolio", { portfolio: [position] });
      assert.equal(status, 200, JSON.stringify(json));
      const [{ action, exit, unrealized_pnl_usd: pnl }] = json.positions;
      if (!expected.canSell) assert.equal(exit, null, `${action}: an exit without orders`);
      if (expected.payout !== undefined) assert.ok(Math.abs(pnl - (20 * expected.payout - 10)) < 1e-6, `${pnl} USD`);
    },
    async expectRefused(id: string) {
      const trade = await post("/v1/trades/shadow", { platform: VENUE, market_id: id, side: "yes", size_usd: 5 });
      assert.deepEqual([trade.status, trade.json.code], [409, "not_executable"]);
      const { status, json: signal } = await post("/v1/signals", { platform: VENUE, market_id: id });
      assert.ok(status === 422 || signal.recommendation === "NO_TRADE", JSON.stringify(signal));
    },
  };
}

/** Collects the `market_resolved` events of the stream. */
async function followResolutions({ url, keys }: ServiceProcess) {
  const stopped = new AbortController();
  const response = await fetch(`${url}/v1/stream?events=market_resolved`, {
    headers: { authorization: `Bearer ${keys.enterprise}` },
    signal: stopped.signal,
  });
  assert.equal(response.status, 200);
  let text = "";
  const read = async () => {
    for await (const chunk of response.body ?? []) text += Buffer.from(chunk).toString();
  };
  const ended = read().catch((error: unknown) => {
    if (!stopped.signal.aborted) throw error;
  });
  return {
    /** The results of a market in the order of their events. */
    resultsOf(marketId: string): string[] {
      const events = [...text.matchAll(/^data: (.*)$/gm)].map(([, json = ""]) => JSON.parse(json) as Json);
      return events.filter((event) => event.market_id === marketId).map(({ outcome }) => outcome);
    },
    async stop() {
      stopped.abort();
      await ended;
    },
  };
}

async function checkPlantedSets(): Promise<void> {
  const readOpportunities = async () => {
    const { status, json } = await service.get("/v1/arbitrage?kind=exclusive_set&min_spread=0&limit=200");
    assert.equal(status, 200, JSON.stringify(json));
    return json.opportunities as readonly Opportunity[];
  };
  const planted = new Map<string, PlantedSet>();
  for (const [kind, { because }] of Object.entries(EXPECTED)) {
    const response = await fetch(`${service.sandboxUrl}/plants/polymarket/set`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ left_out: kind === "none" ? null : kind }),
    });
    const set = (await response.json()) as PlantedSet;
    assert.equal(response.status, 200, JSON.stringify(set));
    assert.equal(set.complete, because === null);
    planted.set(kind, set);
  }
  await requestSweep();

  for (const [kind, set] of planted) {
    const { leftOut } = expectedOf(kind);
    const total = set.outcomes.length + (set.left_out === null ? 0 : 1);
    const leftOutCount = Object.values(leftOut).reduce((sum, count) => sum + count, 0);
    const expected = JSON.stringify({ total, read: total - leftOutCount, left_out: leftOut });
    const isRead = async () => {
      const { json } = await service.get(`/v1/events/${slugOf(set)}`);
      return JSON.stringify(json.children) === expected ? true : null;
    };
    await eventually(isRead, `${kind}: the children ${expected}`, STEP_MS_MAX);
  }

  // NO of all outcomes needs no complete set, so only YES of all outcomes is checked.
  const findSold = async () => {
    const opportunities = (await readOpportunities()).filter(({ strategy }) => strategy === "buy_all_yes");
    const sold = new Map(opportunities.map((opportunity) => [opportunity.event_slug, opportunity]));
    for (const [kind, set] of planted) assert.ok(set.complete || !sold.has(slugOf(set)), `${kind} is incomplete`);
    return sold;
  };
  const complete = planted.get("none") ?? assert.fail("a complete set");
  const sold = await eventually(
    async () => (await findSold()).get(slugOf(complete)) ?? null,
    "the complete set",
    STEP_MS_MAX,
  );
  assert.deepEqual(
    sold.legs.map(({ market_id: id, side }) => `${side} ${id}`).sort(),
    complete.outcomes.map(({ market_id: id }) => `yes ${id}`).sort(),
  );

  for (const [kind, set] of planted) {
    const { status, json } = await service.get(`/v1/events/${slugOf(set)}/probability-map`);
    assert.equal(status, 200, JSON.stringify(json));
    const { because } = expectedOf(kind);
    assert.deepEqual([kind, json.exhaustive, json.not_exhaustive_because], [kind, because === null, because]);
  }
}

async function checkResolutions(): Promise<void> {
  const { plant, expectStatus, expectOpen, expectRefused, expectAdvice, readMarket } = openWalk();
  const resolutions = await followResolutions(service);
  const isSuitable = ({ yes_price: price, bid, ask, close_time: closeAt }: Json) =>
    price > 0.15 &&
    price < 0.85 &&
    bid !== undefined &&
    ask !== undefined &&
    Date.parse(closeAt) > Date.now() + 3 * DAY_MS;
  const list = (await service.get(`/v1/markets?source=${VENUE}&status=active&limit=100`)).json.filter(isSuitable);
  const [disputed, proposed, overdue, annulled] = list.map((market: Json) => market.market_id);
  assert.ok(annulled !== undefined, "four suitable markets");

  await plant(disputed, "proposed", "yes");
  await plant(proposed, "proposed_trading");
  await plant(overdue, "past_end_date");
  await plant(annulled, "disputed_trading");
  await requestSweep();
  await expectStatus(disputed, "determined");
  const isPast = async () => (Date.parse((await readMarket(overdue)).close_time) < Date.now() ? true : null);
  await eventually(isPast, "the end date in the past", STEP_MS_MAX);
  await expectRefused(disputed);
  await expectAdvice(disputed, { canSell: false });
  for (const id of [proposed, overdue, annulled]) {
    await expectOpen(id);
    await expectAdvice(id, { canSell: true });
  }
  const resolution = (await service.get(`/v1/markets/${VENUE}/${overdue}/resolution`)).json;
  assert.deepEqual(
    [resolution.close_date, resolution.hours_to_expiration, resolution.time_urgency],
    [null, null, null],
  );

  await plant(disputed, "closed_disputed", "yes");
  await plant(proposed, "disputed");
  await plant(overdue, "proposed");
  await plant(annulled, "closed_disputed", "void");
  await requestSweep();
  for (const id of [proposed, overdue, annulled, disputed]) await expectStatus(id, "determined");
  for (const id of [proposed, overdue, annulled]) {
    await expectRefused(id);
    await expectAdvice(id, { canSell: false });
  }
  for (const id of [disputed, proposed, overdue, annulled]) assert.deepEqual(resolutions.resultsOf(id), []);
  const before = (await service.get("/v1/portfolio?mode=shadow")).json;
  assert.deepEqual([before.position_count, before.resolved_count ?? 0], [3, 0], JSON.stringify(before));

  await plant(disputed, "proposed_again", "no");
  await plant(disputed, "final", "no");
  await plant(proposed, "final", "yes");
  await plant(overdue, "final", "yes");
  await plant(annulled, "final", "void");
  await requestSweep();
  await expectStatus(disputed, "finalized", "no");
  await expectStatus(proposed, "finalized", "yes");
  await expectStatus(overdue, "finalized", "yes");
  await expectStatus(annulled, "finalized", "partial");
  const isSettled = async () =>
    (await service.get("/v1/portfolio?mode=shadow")).json.position_count === 0 ? true : null;
  await eventually(isSettled, "settled paper trades", STEP_MS_MAX);
  const payouts = [
    { id: disputed, outcome: "no", payout: 0 },
    { id: proposed, outcome: "yes", payout: 1 },
    { id: overdue, outcome: "yes", payout: 1 },
    { id: annulled, outcome: "partial", payout: 0.5 },
  ];
  for (const { id, outcome, payout } of payouts) {
    await expectAdvice(id, { canSell: false, payout });
    const hasEvent = () => (resolutions.resultsOf(id).length > 0 ? true : null);
    await eventually(hasEvent, `the event of ${id}`, STEP_MS_MAX);
    assert.deepEqual(resolutions.resultsOf(id), [outcome], "one event for each result");
  }
  await resolutions.stop();
}

// Each step needs several sweeps of the service, so the tests run at the same time.
describe("planted markets", { concurrency: true }, () => {
  test(
    "a complete set that costs less than 1 is listed as arbitrage, and each incomplete set has the reason why it is not",
    { timeout: 600_000 },
    () => checkPlantedSets(),
  );

  test("a disputed, a proposed, an overdue and an annulled market settle only when final", { timeout: 600_000 }, () =>
    checkResolutions(),
  );
});
