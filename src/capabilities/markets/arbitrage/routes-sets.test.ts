import assert from "node:assert/strict";
import { test } from "node:test";
import { openArbitrageApi } from "../../../../test/support/markets/arbitrage-api.ts";
import { describeErrors } from "../../../../test/support/markets/market-api.ts";
import { SAMPLE_AT, sampleChildren, sampleEvent } from "../../../../test/support/markets/market-samples.ts";
import type { EventListing, MarketListing, Quote } from "../../../domain/market.ts";

const NOW_TEXT = new Date(SAMPLE_AT).toISOString();
const close = (actual: number, expected: number, label = "") =>
  assert.ok(Math.abs(actual - expected) < 1e-9, `${label} ${actual}, not ${expected}`);

async function openEvents() {
  const api = await openArbitrageApi();
  const setEvent = (parts: Partial<EventListing> = {}) =>
    api.board.applyEvent(
      sampleEvent("e", {
        venue: "alpha",
        mutuallyExclusive: true,
        exhaustive: true,
        children: sampleChildren(3),
        title: "The event",
        ...parts,
      }),
    );
  const add = (marketId: string, quote: Partial<Quote>, listing: Partial<MarketListing> = {}) =>
    api.setMarket("alpha", marketId, { quote, listing: { eventId: "e", title: marketId, ...listing } });
  const list = async (kind: string, query = "") => {
    const response = await api.get(`/v1/arbitrage?kind=${kind}${query}`);
    assert.equal(response.statusCode, 200);
    return response.json().opportunities;
  };
  return { ...api, setEvent, add, list };
}
/** Three outcomes whose asks add up to 0.90, and whose bids add up to 0.84. */
function addCheapSet({ setEvent, add }: Awaited<ReturnType<typeof openEvents>>, parts: Partial<EventListing> = {}) {
  setEvent(parts);
  for (const id of ["a", "b", "c"]) add(id, { bid: 0.28, ask: 0.3, askSize: id === "b" ? 40 : 100 });
}

test("200: lists YES of every market of an exclusive and exhaustive set that costs less than 1", async () => {
  const api = await openEvents();
  addCheapSet(api);
  const [opportunity, ...others] = await api.list("exclusive_set");
  assert.deepEqual(others, []);
  const { legs, score, net_spread, spread, ...fields } = opportunity;
  assert.deepEqual(fields, {
    kind: "exclusive_set",
    strategy: "buy_all_yes",
    platform: "alpha",
    event_slug: "alpha:e",
    event: "The event",
    payout: 1,
    spread_pct: 10,
    scanned_at: NOW_TEXT,
  });
  close(spread, 0.1);
  close(net_spread, 0.1);
  assert.ok(score > 0);
  assert.deepEqual(
    legs.map((leg: { market_id: string; side: string; contracts: number; cost_usd: number }) => [
      leg.market_id,
      leg.side,
      leg.contracts,
      leg.cost_usd,
    ]),
    [
      ["a", "yes", 40, 12],
      ["b", "yes", 40, 12],
      ["c", "yes", 40, 12],
    ],
  );
  const [scored] = await api.list("exclusive_set", "&expand=scoring");
  close(scored.executable_size_usd, 36);
  close(scored.executable_profit_usd, 4);
});

test("200: a set has no YES opportunity if it is not exclusive or not exhaustive, or if any market cannot be bought", async () => {
  const cases: Readonly<Record<string, (api: Awaited<ReturnType<typeof openEvents>>) => void>> = {
    "not exhaustive": (api) => addCheapSet(api, { exhaustive: false }),
    "not exclusive": (api) => addCheapSet(api, { mutuallyExclusive: false }),
    "a closed market": (api) => api.add("d", { bid: null, ask: null }, { status: "closed" }),
    "a market that could not be read": (api) => addCheapSet(api, { children: sampleChildren(3, { unreadable: 1 }) }),
    "a placeholder": (api) => addCheapSet(api, { children: sampleChildren(3, { placeholder: 1 }) }),
    "a market that was closed before it was read": (api) =>
      addCheapSet(api, { children: sampleChildren(3, { closed: 1 }) }),
    "a market that was settled YES before it was read": (api) =>
      addCheapSet(api, { children: sampleChildren(3, { settled: 1, settled_no: 1 }) }),
    "a market that was read and is not on the board": (api) => addCheapSet(api, { children: sampleChildren(4) }),
    "a market that the venue lists no longer": (api) => api.add("d", { bid: 0.01, ask: 0.02 }),
    "a market settled YES": (api) =>
      api.add("d", { bid: null, ask: null }, { status: "finalized", outcome: { kind: "yes" } }),
    "a refunded market": (api) =>
      api.add("d", { bid: null, ask: null }, { status: "finalized", outcome: { kind: "void", value: null } }),
    "a market whose proposed result is NO": (api) =>
      api.add("d", { bid: null, ask: null }, { status: "determined", outcome: { kind: "no" } }),
    "a market that has not opened": (api) => api.add("d", { bid: null, ask: null }, { status: "pending" }),
    "a paused market": (api) => api.add("b", { bid: 0.28, ask: 0.3 }, { paused: true }),
    "a market without asks": (api) => api.add("b", { bid: 0.28, ask: null }),
    "a market with an unknown fee": (api) => api.add("b", { bid: 0.28, ask: 0.3 }, { takerFee: null }),
    "a removed market": (api) => {
      const market = api.board.find("alpha", "c");
      if (market !== null) api.board.remove(market);
      api.add("d", { bid: 0.1, ask: 0.1 + 1e-6 }, { status: "closed" });
    },
    "no complete sweep yet": (api) => {
      const { alpha } = api.health;
      if (alpha !== undefined) api.health.alpha = { ...alpha, sweep: { ...alpha.sweep, completed: 0 } };
    },
    "a venue that is down": (api) => Object.assign(api.health.alpha ?? {}, { status: "down" }),
  };
  for (const [reason, change] of Object.entries(cases)) {
    const api = await openEvents();
    addCheapSet(api);
    assert.equal((await api.list("exclusive_set")).length, 1);
    change(api);
    assert.deepEqual(await api.list("exclusive_set"), [], reason);
  }
});

test("200: a set of an unknown number of markets has no YES opportunity", async () => {
  const api = await openEvents();
  addCheapSet(api, { children: null });
  assert.deepEqual(await api.list("exclusive_set"), []);
});

test("200: a set is complete if every other market of its event is settled NO, even if the board has no such market", async () => {
  const api = await openEvents();
  addCheapSet(api, { children: sampleChildren(3, { settled_no: 2 }) });
  assert.equal((await api.list("exclusive_set")).length, 1);
  api.add("d", { bid: null, ask: null }, { status: "finalized", outcome: { kind: "no" } });
  assert.equal((await api.list("exclusive_set")).length, 1);
  api.add("c", { bid: null, ask: null }, { status: "finalized", outcome: { kind: "no" } });
  const [opportunity, ...others] = await api.list("exclusive_set");
  assert.deepEqual(others, []);
  assert.deepEqual(
    opportunity.legs.map((leg: { market_id: string }) => leg.market_id),
    ["a", "b"],
  );
  close(opportunity.spread, 0.4);
});

test("200: NO of exclusive markets is listed if another market is settled YES, but not if that market is void or partial", async () => {
  const api = await openEvents();
  api.setEvent({ exhaustive: false });
  for (const id of ["a", "b"]) api.add(id, { bid: 0.55, ask: 0.57 });
  api.add("c", { bid: null, ask: null }, { status: "finalized", outcome: { kind: "yes" } });
  assert.deepEqual(
    (await api.list("exclusive_set")).map(({ strategy }: { strategy: string }) => strategy),
    ["buy_all_no"],
  );
  for (const outcome of [{ kind: "void", value: null } as const, { kind: "partial", value: 0.4 } as const]) {
    api.add("c", { bid: null, ask: null }, { status: "finalized", outcome });
    assert.deepEqual(await api.list("exclusive_set"), []);
  }
});

test("200: lists NO of exclusive markets, without those whose bid does not cover the fee", async () => {
  const api = await openEvents();
  const takerFee = { kind: "flat_value", rate: 0.02 } as const;
  api.setEvent({ exhaustive: false, children: sampleChildren(4, { closed: 1 }) });
  for (const [id, bid] of Object.entries({ a: 0.5, b: 0.4, c: 0.3, d: 0.01 }))
    api.add(id, { bid, ask: bid + 0.02 }, { takerFee });
  api.add("closed", { bid: null, ask: null }, { status: "closed" });
  const [opportunity, ...others] = await api.list("exclusive_set");
  assert.deepEqual(others, []);
  assert.deepEqual([opportunity.strategy, opportunity.payout], ["buy_all_no", 2]);
  assert.deepEqual(
    opportunity.legs.map((leg: { market_id: string; side: string }) => [leg.market_id, leg.side]),
    [
      ["a", "no"],
      ["b", "no"],
      ["c", "no"],
    ],
  );
  close(opportunity.spread, 0.2);
  close(opportunity.net_spread, 0.2 - 0.02 * (0.5 + 0.6 + 0.7));
});

test("200: while an event lists fewer markets than are open on the board, it has no opportunity", async () => {
  const { setEvent, add, list } = await openEvents();
  setEvent();
  for (const id of ["a", "b", "c"]) add(id, { bid: 0.55, ask: 0.6 });
  assert.equal((await list("exclusive_set"))[0].strategy, "buy_all_no");
  // A paused market is listed, although it cannot be traded.
  add("d", { bid: 0.1, ask: 0.2 }, { paused: true });
  assert.deepEqual(await list("exclusive_set"), []);
  setEvent({ children: sampleChildren(4) });
  assert.equal((await list("exclusive_set"))[0].strategy, "buy_all_no");
  add("d", { bid: null, ask: null }, { status: "finalized", outcome: { kind: "no" } });
  setEvent({ children: sampleChildren(2, { closed: 1 }) });
  assert.deepEqual(await list("exclusive_set"), []);
  add("c", { bid: 0.55, ask: 0.6 }, { status: "closed" });
  const [{ legs }] = await list("exclusive_set");
  assert.deepEqual(
    legs.map(({ market_id: id }: { market_id: string }) => id),
    ["a", "b"],
  );
});

test("200: lists a ladder if the narrow market's bid exceeds the wide market's ask, but not if their rules differ", async () => {
  const api = await openEvents();
  api.setEvent({ mutuallyExclusive: false, exhaustive: false });
  const rules = (percent: string) => ({ rules: `Resolves YES if CPI is above ${percent}% on May 5, 2027.` });
  api.add("Above 3.0%", { bid: 0.4, ask: 0.42 }, rules("3.0"));
  api.add("Above 3.2%", { bid: 0.46, ask: 0.48 }, rules("3.2"));
  const [opportunity, ...others] = await api.list("ladder");
  assert.deepEqual(others, []);
  assert.deepEqual(
    [opportunity.kind, opportunity.strategy, opportunity.payout],
    ["ladder", "buy_wide_yes_narrow_no", 1],
  );
  assert.deepEqual(
    opportunity.legs.map((leg: { market_id: string; side: string }) => [leg.market_id, leg.side]),
    [
      ["Above 3.0%", "yes"],
      ["Above 3.2%", "no"],
    ],
  );
  close(opportunity.spread, 0.04);
  assert.deepEqual(await api.list("exclusive_set"), []);
  assert.deepEqual(await api.list("ladder", "&min_spread=0.05"), []);
  assert.deepEqual(await api.list("ladder", "&platform=beta"), []);
  api.add("Above 3.2%", { bid: 0.46, ask: 0.48 }, { rules: "Resolves by another source, above 3.2%." });
  assert.deepEqual(await api.list("ladder"), [], "other rules");
  api.add("Above 3.2%", { bid: 0.46, ask: 0.48 }, { rules: null });
  assert.deepEqual(await api.list("ladder"), [], "rules of only one market are known");
  api.add("Above 3.2%", { bid: 0.46, ask: 0.48 }, { ...rules("3.2"), paused: true });
  assert.deepEqual(await api.list("ladder"), [], "paused");
  api.add("Above 3.2%", { bid: 0.41, ask: 0.48 }, rules("3.2"));
  assert.deepEqual(await api.list("ladder", "&min_spread=0"), [], "no violation");
});

test("200: stale quotes and markets of the reference venue are not a leg of a set", async () => {
  const api = await openEvents();
  addCheapSet(api);
  await api.clock.advance(10 * 60_000 + 1);
  assert.deepEqual(await api.list("exclusive_set"), []);
  for (const id of ["a", "b"]) api.add(id, { bid: 0.28, ask: 0.3 });
  assert.deepEqual(await api.list("exclusive_set"), [], "one quote is still stale");
  api.add("c", { bid: 0.28, ask: 0.3 });
  assert.equal((await api.list("exclusive_set")).length, 1);
  api.board.applyEvent(
    sampleEvent("play", { venue: "gamma", mutuallyExclusive: true, exhaustive: true, children: sampleChildren(2) }),
  );
  for (const id of ["x", "y"])
    api.setMarket("gamma", id, { listing: { eventId: "play" }, quote: { bid: 0.4, ask: 0.42 } });
  assert.equal((await api.list("exclusive_set")).length, 1);
});

test("200: a market that leaves its event, and an event that is reported after its markets, change the list", async () => {
  const api = await openEvents();
  for (const id of ["a", "b", "c"]) api.add(id, { bid: 0.4, ask: 0.42 });
  assert.deepEqual(await api.list("exclusive_set"), []);
  api.setEvent({ exhaustive: false });
  const marketsOf = async () =>
    (await api.list("exclusive_set")).map(({ legs }: { legs: { market_id: string }[] }) =>
      legs.map(({ market_id }) => market_id),
    );
  assert.deepEqual(await marketsOf(), [["a", "b", "c"]]);
  api.add("c", { bid: 0.4, ask: 0.42 }, { eventId: null });
  assert.deepEqual(await marketsOf(), []);
});

test("200: many changed events are computed in slices, and all are listed", async () => {
  const api = await openEvents();
  for (let index = 0; index < 250; index++) {
    api.board.applyEvent(
      sampleEvent(`e${index}`, {
        venue: "alpha",
        mutuallyExclusive: true,
        exhaustive: true,
        children: sampleChildren(2),
        title: `Event ${index}`,
      }),
    );
    for (const side of ["a", "b"]) api.add(`${side}${index}`, { bid: 0.4, ask: 0.45 }, { eventId: `e${index}` });
  }
  const all = await api.clock.until(
    api.service.listSets("exclusive_set", { minSpread: 0, minNetSpread: null, venue: null, limit: 1_000 }),
  );
  assert.equal(all.opportunities.length, 250);
});

test("422: rejects an unknown kind, and `kind` is not a parameter of the live scan", async () => {
  const { get } = await openEvents();
  assert.deepEqual(describeErrors(await get("/v1/arbitrage?kind=triangular")), ["literal_error at query.kind"]);
  assert.equal((await get("/v1/arbitrage/live?kind=ladder")).headers["x-ignored-parameters"], "kind");
});
