import assert from "node:assert/strict";
import { once } from "node:events";
import { after, before, test } from "node:test";
import { WebSocket } from "ws";
import {
  manifoldAnswerId,
  manifoldContractId,
  manifoldExchange,
  manifoldProbability,
} from "../../sandbox/protocol/manifold/index.ts";
import { serveExchanges } from "../../sandbox/serve.ts";
import { createWorld } from "../../sandbox/world/index.ts";
import type { ListedMarket } from "../../sandbox/world/types.ts";
import { ManualFeed } from "../support/venues/manual-feed.ts";

/** Tests that the sandbox conforms to Manifold's API documentation, with `fetch` and a WebSocket: there is no client library. */
const GENESIS = Date.UTC(2026, 10, 20);
let now = GENESIS + 5 * 3_600_000;
const world = createWorld({ seed: 4, genesis: GENESIS, speed: 20, marketCount: 900 });
const feed = new ManualFeed();
let served: Awaited<ReturnType<typeof serveExchanges>>;
let restUrl: string;

before(async () => {
  const services = manifoldExchange({ world, feed, now: () => now, enforceLimits: true });
  served = await serveExchanges(services, { host: "127.0.0.1", firstPort: 0 });
  restUrl = served.urls.manifold?.rest ?? "";
});
after(async () => {
  feed.close();
  await served.close();
});

/** Unvalidated JSON. */
type Json = ReturnType<typeof JSON.parse>;
const request = async (path: string, agent = "test/1.0"): Promise<{ status: number; json: Json }> => {
  const response = await fetch(`${restUrl}${path}`, { headers: { "user-agent": agent } });
  return { status: response.status, json: await response.json() };
};
const get = async (path: string): Promise<Json> => {
  const { status, json } = await request(path);
  assert.equal(status, 200, `${path}: ${JSON.stringify(json)}`);
  return json;
};
const listWorldMarkets = () => world.markets("manifold", now);
const findBinaryMarket = (): ListedMarket => {
  const found = listWorldMarkets().find(
    (market) => market.event.markets.length === 1 && world.lifecycle(market, now).phase === "active",
  );
  assert.ok(found !== undefined);
  return found;
};
const findMultipleChoiceMarket = (): ListedMarket => {
  const found = listWorldMarkets().find(
    ({ event, ...market }) =>
      event.mutuallyExclusive &&
      event.exhaustive &&
      event.markets.length > 2 &&
      event.markets.every(({ strike }) => strike === null) &&
      market.closeAt > now + 86_400_000,
  );
  assert.ok(found !== undefined);
  return found;
};

test("pagination with `before` lists all markets, and so does pagination with `beforeTime`", async () => {
  const listedIds: string[] = [];
  for (let before = ""; ; ) {
    const page = await get(`/markets?limit=7${before === "" ? "" : `&before=${before}`}`);
    listedIds.push(...page.map((market: Json) => market.id));
    if (page.length < 7) break;
    before = page.at(-1).id;
  }
  const worldIds = new Set(listWorldMarkets().map(({ event }) => manifoldContractId(event)));
  assert.deepEqual(new Set(listedIds), worldIds);
  assert.equal(listedIds.length, worldIds.size);
  const found: Json[] = [];
  for (let beforeTime = now + 1; ; ) {
    const page = await get(`/search-markets?filter=all&sort=newest&limit=20&beforeTime=${beforeTime}`);
    found.push(...page.filter((market: Json) => !found.some(({ id }) => id === market.id)));
    if (page.length < 20) break;
    beforeTime = page.at(-1).createdTime + 1;
  }
  assert.deepEqual(new Set(found.map(({ id }) => id)), worldIds);
});

test("a binary market has the world's probability, which equals the probability computed from `pool` and `p`", async () => {
  const market = findBinaryMarket();
  const contract = await get(`/market/${manifoldContractId(market.event)}`);
  const expected = manifoldProbability(world, market, now);
  assert.equal(contract.probability, expected);
  const { p, pool } = contract;
  assert.ok(Math.abs((p * pool.NO) / ((1 - p) * pool.YES + p * pool.NO) - expected) < 1e-9);
  assert.equal(contract.outcomeType, "BINARY");
  assert.equal(contract.question, market.event.title);
  assert.equal(contract.textDescription, market.rules);
  assert.equal(contract.createdTime, market.openAt);
  assert.equal(contract.closeTime, market.closeAt);
  assert.equal(contract.volume, world.activity(market, now).volumeUsd);
  assert.deepEqual(await get(`/slug/${contract.slug}`), contract);
  const lite = await get(`/market/${contract.id}?lite=true`);
  assert.equal(lite.textDescription, undefined);
  assert.deepEqual(await get(`/market/${contract.id}/prob`), { prob: expected });
});

test("a multiple-choice market has a probability for each answer, but none for the market", async () => {
  const market = findMultipleChoiceMarket();
  const contract = await get(`/market/${manifoldContractId(market.event)}`);
  assert.equal(contract.probability, undefined);
  assert.equal(contract.shouldAnswersSumToOne, true);
  const storedAnswers = await get(`/market/${contract.id}/answers`);
  for (const [index, member] of market.event.markets.entries()) {
    const answer = contract.answers[index];
    assert.equal(answer.id, manifoldAnswerId(member));
    assert.equal(answer.text, member.label);
    assert.equal(answer.probability, manifoldProbability(world, member, now));
    const { pool, probability, ...fields } = answer;
    assert.ok(Math.abs(pool.NO / (pool.YES + pool.NO) - probability) < 1e-9);
    // The endpoint for answers returns them as stored, with other names for the pool and the probability.
    assert.deepEqual(storedAnswers[index], { ...fields, poolYes: pool.YES, poolNo: pool.NO, prob: probability });
  }
  const answerProbs = Object.fromEntries(contract.answers.map(({ id, probability }: Json) => [id, probability]));
  assert.deepEqual(await get(`/market/${contract.id}/prob`), { answerProbs });
  const probabilities = await get(
    `/market-probs?ids=${contract.id}&ids=${manifoldContractId(findBinaryMarket().event)}&ids=unknown`,
  );
  assert.deepEqual(probabilities[contract.id], { answerProbs });
  assert.equal(Object.keys(probabilities).length, 2);
  const search = await get(`/search-markets?contractType=DEPENDENT_MULTIPLE_CHOICE&limit=1000&includeLiteAnswers=true`);
  const found = search.find(({ id }: Json) => id === contract.id);
  assert.deepEqual(Object.keys(found.answers[0]).sort(), ["id", "probability", "text"]);
});

test("a search returns the markets that match its filter, sort order and topic", async () => {
  const search = (query: string) => get(`/search-markets?limit=1000&${query}`);
  for (const market of await search("filter=open")) assert.ok(!market.isResolved && market.closeTime > now);
  for (const market of await search("filter=closed")) assert.ok(!market.isResolved && market.closeTime <= now);
  const resolved = await search("filter=resolved");
  assert.ok(resolved.length > 0);
  for (const market of resolved) assert.ok(market.isResolved && market.closeTime <= market.resolutionTime);
  for (const market of await search("contractType=BINARY")) assert.equal(market.outcomeType, "BINARY");
  assert.deepEqual(await search("contractType=POLL"), []);
  const [longestWord] = findBinaryMarket()
    .event.title.split(" ")
    .toSorted((a, b) => b.length - a.length);
  const matches = await search(`term=${encodeURIComponent(longestWord ?? "")}`);
  assert.ok(matches.some(({ id }: Json) => id === manifoldContractId(findBinaryMarket().event)));
  const volumes = (await search("sort=24-hour-vol")).map((market: Json) => market.volume24Hours);
  assert.deepEqual(
    volumes,
    volumes.toSorted((a: number, b: number) => b - a),
  );
  const [topic] = await get("/groups");
  assert.deepEqual(await get(`/group/${topic.slug}`), topic);
  assert.ok((await search(`topicSlug=${topic.slug}`)).length > 0);
});

test("bets equal the world's trades, newest first, and `filterRedemptions` removes redemptions", async () => {
  const market = findBusiestMarket();
  const contractId = manifoldContractId(market.event);
  const answer = market.event.markets.length > 1 ? `&answerId=${manifoldAnswerId(market)}` : "";
  const from = now - 3_600_000;
  const allBets = await get(`/bets?contractId=${contractId}${answer}&afterTime=${from - 1}&limit=1000`);
  const expected = world.trades(market, from, now + 1);
  assert.ok(expected.length > 5 && expected.length < 600);
  const bets = allBets.filter((bet: Json) => bet.isRedemption !== true && bet.amount !== 0);
  assert.ok(bets.length < allBets.length, "no redemption to filter out");
  assert.deepEqual(
    bets,
    await get(`/bets?contractId=${contractId}${answer}&afterTime=${from - 1}&filterRedemptions=true`),
  );
  assert.equal(bets.length, expected.length);
  for (const [index, trade] of expected.toReversed().entries()) {
    const bet = bets[index];
    const sidePrice = bet.amount / bet.shares;
    assert.equal(bet.createdTime, trade.at);
    assert.equal(Math.abs(bet.shares), trade.size);
    assert.ok(Math.abs((bet.outcome === "YES" ? sidePrice : 1 - sidePrice) - trade.yesPrice) < 1e-9);
    assert.equal((bet.outcome === "YES") === bet.amount > 0, trade.takerSide === "yes");
    assert.equal(bet.probAfter, manifoldProbability(world, market, trade.at));
  }
  const [earlierBet] = await get(`/bets?contractId=${contractId}${answer}&before=${bets[2].id}&limit=1`);
  assert.ok(earlierBet.createdTime < bets[2].createdTime);
  const ascendingBets = await get(`/bets?contractId=${contractId}${answer}&afterTime=${from - 1}&order=asc`);
  assert.deepEqual(ascendingBets, allBets.toReversed());
  assert.deepEqual(await get(`/bets?contractId=${contractId}&kinds=open-limit`), []);
});

/** Returns an answer, a time and the trade at that time on another answer that moved the first one. */
function findMovedAnswer() {
  const from = now - 12 * 3_600_000;
  for (const { event } of listWorldMarkets()) {
    if (!event.mutuallyExclusive || !event.exhaustive) continue;
    const trades = event.markets
      .flatMap((market) => world.trades(market, from, now).map((trade) => ({ market, trade })))
      .sort((a, b) => a.trade.at - b.trade.at);
    for (const [index, { market, trade }] of trades.entries()) {
      const previousAt = trades[index - 1]?.trade.at;
      if (previousAt === undefined || previousAt === trade.at || trades[index + 1]?.trade.at === trade.at) continue;
      const moved = event.markets.find(
        (other) => other !== market && priceOf(other, previousAt) !== priceOf(other, trade.at),
      );
      if (moved !== undefined) return { moved, market, trade, previousAt };
    }
  }
  throw new Error("no bet moved another answer");
}
const priceOf = (market: ListedMarket, at: number) => manifoldProbability(world, market, at);

test("a bet moves the other exclusive answers by rows with zero shares, which are returned only on request", async () => {
  const { moved, trade, previousAt } = findMovedAnswer();
  const query = `contractId=${manifoldContractId(moved.event)}&answerId=${manifoldAnswerId(moved)}&afterTime=${trade.at - 1}&beforeTime=${trade.at + 1}`;
  const [row, ...otherRows] = await get(`/bets?${query}&includeZeroShareRedemptions=true`);
  assert.deepEqual(otherRows, []);
  const { amount, shares, isRedemption, probBefore, probAfter, answerId } = row;
  assert.deepEqual(
    { amount, shares, isRedemption, probBefore, probAfter, answerId },
    {
      amount: 0,
      shares: 0,
      isRedemption: true,
      probBefore: priceOf(moved, previousAt),
      probAfter: priceOf(moved, trade.at),
      answerId: manifoldAnswerId(moved),
    },
  );
  assert.deepEqual(await get(`/bets?${query}`), []);
  assert.deepEqual(await get(`/bets?${query}&includeZeroShareRedemptions=true&filterRedemptions=true`), []);
  assert.deepEqual(await get(`/bet-points?${query}&includeZeroShareRedemptions=true`), [
    { createdTime: trade.at, probBefore, probAfter, answerId },
  ]);
  assert.deepEqual(await get(`/bet-points?${query}`), []);
});

test("bet points have only the time, the answer and the probabilities, and no order", async () => {
  const market = findBusiestMarket();
  const contractId = manifoldContractId(market.event);
  const range = `contractId=${contractId}&afterTime=${now - 3_600_000}&beforeTime=${now + 1}`;
  const points = await get(`/bet-points?${range}&limit=50000`);
  const bets = await get(`/bets?${range}&limit=1000`);
  const keyOf = ({ createdTime, answerId, probBefore, probAfter }: Json) =>
    JSON.stringify([createdTime, answerId, probBefore, probAfter]);
  assert.ok(points.length > 5);
  assert.deepEqual(points.map(keyOf).sort(), bets.map(keyOf).sort());
  const names = new Set(points.flatMap((point: Json) => Object.keys(point)));
  names.delete("answerId");
  assert.deepEqual(names, new Set(["createdTime", "probBefore", "probAfter"]));
  const times = points.map((point: Json) => point.createdTime);
  assert.notDeepEqual(times, times.toSorted());
  assert.notDeepEqual(times, times.toSorted().reverse());
  assert.equal((await get(`/bet-points?${range}&limit=3`)).length, 3);
});

test("numeric and date markets have one answer per bucket, each with a midpoint, and are searched by type", async () => {
  for (const type of ["MULTI_NUMERIC", "DATE"]) {
    const found = await get(`/search-markets?contractType=${type}&limit=1000&includeLiteAnswers=true`);
    assert.ok(found.length > 0, type);
    for (const { id, outcomeType, mechanism, probability, answers } of found) {
      assert.deepEqual([outcomeType, mechanism, probability], [type, "cpmm-multi-1", undefined]);
      const full = await get(`/market/${id}`);
      assert.deepEqual(
        full.answers.map(({ id, text, probability }: Json) => ({ id, text, probability })),
        answers,
      );
      assert.equal(typeof full.shouldAnswersSumToOne, "boolean");
      const midpoints = full.answers.map(({ midpoint }: Json) => midpoint);
      assert.deepEqual(
        midpoints,
        midpoints.toSorted((a: number, b: number) => a - b),
      );
      assert.equal(midpoints.length, new Set(midpoints).size);
    }
  }
  const choices = await get("/search-markets?contractType=MULTIPLE_CHOICE&limit=1000");
  assert.ok(choices.length > 0 && choices.every(({ outcomeType }: Json) => outcomeType === "MULTIPLE_CHOICE"));
});

test("a resolved market with exclusive answers has its result in `resolution` and `/prob`, not in `resolutions`", async () => {
  const resolved = await get("/search-markets?filter=resolved&limit=1000");
  let winners = 0;
  for (const { id, outcomeType, resolution } of resolved) {
    if (outcomeType === "BINARY") continue;
    const contract = await get(`/market/${id}`);
    assert.equal(contract.resolutions, undefined);
    for (const answer of contract.answers) {
      assert.equal("resolution" in answer, !contract.shouldAnswersSumToOne);
      assert.equal(typeof answer.resolutionProbability, "number");
      assert.equal(answer.resolutionTime <= now, true);
    }
    if (!contract.shouldAnswersSumToOne || resolution === "CANCEL") continue;
    winners += 1;
    const { answerProbs } = await get(`/market/${id}/prob`);
    assert.deepEqual(
      answerProbs,
      Object.fromEntries(contract.answers.map((answer: Json) => [answer.id, answer.id === resolution ? 1 : 0])),
    );
    for (const { probability } of contract.answers) assert.ok(probability > 0 && probability < 1);
  }
  assert.ok(winners > 0);
});

function findBusiestMarket(): ListedMarket {
  const counts = listWorldMarkets().map((market) => ({
    market,
    count: world.trades(market, now - 3_600_000, now + 1).length,
  }));
  const busiest = counts.toSorted((a, b) => b.count - a.count)[0]?.market;
  assert.ok(busiest !== undefined);
  return busiest;
}

test("invalid requests return Manifold's status and a message", async () => {
  const cases: readonly (readonly [string, number])[] = [
    ["/markets?colour=red", 400],
    ["/markets?limit=1001", 400],
    ["/markets?before=unknown", 404],
    ["/search-markets?limit=1001", 400],
    ["/search-markets?limit=0", 400],
    ["/search-markets?filter=maybe", 400],
    ["/search-markets?offset=5000", 400],
    ["/market/unknown", 404],
    ["/market/unknown/answers", 404],
    ["/slug/unknown", 404],
    ["/bets?before=unknown", 404],
    ["/bets?limit=1001", 400],
    ["/bet-points?contractId=x", 400],
    ["/market-probs", 400],
    ["/group/unknown", 404],
    ["/nothing", 404],
  ];
  for (const [path, status] of cases) {
    const response = await request(path);
    assert.equal(response.status, status, path);
    assert.equal(typeof response.json.message, "string", path);
  }
});

test("429: the 501st request of a client within a minute is rejected, and a different client is served", async () => {
  for (let count = 0; count < 500; count++)
    assert.equal((await request("/groups?beforeTime=1", "limited/1.0")).status, 200);
  assert.equal((await request("/groups?beforeTime=1", "limited/1.0")).status, 429);
  assert.equal((await request("/groups?beforeTime=1", "other/1.0")).status, 200);
  now += 60_000;
  assert.equal((await request("/groups?beforeTime=1", "limited/1.0")).status, 200);
});

test("the socket acknowledges commands, rejects invalid commands and broadcasts bets", async () => {
  const socket = new WebSocket(served.urls.manifold?.ws ?? "");
  const messages: Json[] = [];
  let wake = () => {};
  socket.on("message", (data) => {
    messages.push(JSON.parse(data.toString()));
    wake();
  });
  const waitForMessage = async (matches: (message: Json) => boolean): Promise<Json> => {
    for (;;) {
      const found = messages.find(matches);
      if (found !== undefined) return found;
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  };
  await once(socket, "open");
  const market = findBusiestMarket();
  const contractId = manifoldContractId(market.event);
  const topic = `contract/${contractId}/new-bet`;
  socket.send(JSON.stringify({ type: "subscribe", txid: 7, topics: ["global/new-bet", topic] }));
  assert.deepEqual(await waitForMessage(({ txid }) => txid === 7), { type: "ack", txid: 7, success: true });
  socket.send("not JSON");
  assert.equal((await waitForMessage(({ type, txid }) => type === "ack" && txid === undefined)).success, false);
  socket.send(JSON.stringify({ type: "ping", txid: 8 }));
  assert.equal((await waitForMessage(({ txid }) => txid === 8)).success, true);
  const trade = world.trades(market, now + 1, now + 600_000)[0];
  assert.ok(trade !== undefined);
  now = trade.at;
  feed.publish({ kind: "trade", market, trade, at: trade.at });
  const { data } = await waitForMessage((message) => message.topic === topic);
  assert.equal(data.bets[0].createdTime, trade.at);
  assert.equal(data.bets[0].contractId, contractId);
  assert.equal(Math.abs(data.bets[0].shares), trade.size);
  await waitForMessage((message) => message.topic === "global/new-bet");
  const linked = findMovedAnswer();
  feed.publish({ kind: "trade", market: linked.market, trade: linked.trade, at: linked.trade.at });
  const contractOfLinked = manifoldContractId(linked.market.event);
  const { bets } = (
    await waitForMessage(
      (message) =>
        message.topic === "global/new-bet" &&
        message.data.bets[0].contractId === contractOfLinked &&
        message.data.bets[0].createdTime === linked.trade.at,
    )
  ).data;
  const movedRow = bets.find((bet: Json) => bet.answerId === manifoldAnswerId(linked.moved));
  assert.deepEqual([movedRow.amount, movedRow.shares, movedRow.isRedemption], [0, 0, true]);
  assert.deepEqual(
    [movedRow.probBefore, movedRow.probAfter],
    [priceOf(linked.moved, linked.previousAt), priceOf(linked.moved, linked.trade.at)],
  );
  socket.send(JSON.stringify({ type: "unsubscribe", txid: 9, topics: ["global/new-bet", topic] }));
  assert.equal((await waitForMessage(({ txid }) => txid === 9)).success, true);
  socket.terminate();
});
