import assert from "node:assert/strict";
import { after, test } from "node:test";
import { embeddedDatabase } from "../../../../test/support/databases.ts";
import { openMarketApi } from "../../../../test/support/markets/market-api.ts";
import {
  SAMPLE_AT,
  type SampleParts,
  sampleEvent,
  sampleMarket,
} from "../../../../test/support/markets/market-samples.ts";
import { type MatchingHarness, openTestMatching } from "../../../../test/support/matching/matching-harness.ts";

const harnesses: MatchingHarness[] = [];
after(() => Promise.all(harnesses.map(({ matching }) => matching.stop())));

/** Opens the market routes over a board whose markets are matched if their titles are equal. */
async function openMatchedApi() {
  const database = await embeddedDatabase();
  const opened: MatchingHarness[] = [];
  const api = await openMarketApi({
    openMatches(board, clock) {
      const harness = openTestMatching({ board, clock, database });
      opened.push(harness);
      return harness.matching;
    },
  });
  harnesses.push(...opened);
  const put = (venue: string, marketId: string, title: string, listing: SampleParts["listing"] = {}) => {
    const url = `https://${venue}.example/${marketId}`;
    return api.board.apply(sampleMarket(marketId, { listing: { venue, title, url, ...listing } }), SAMPLE_AT).market;
  };
  const settle = async () => {
    for (const harness of opened) await harness.settle();
  };
  const alsoOn = async (id: string) => (await api.get(`/v1/markets/${id}`)).json().also_on;
  return { ...api, put, settle, alsoOn };
}

test("200: `also_on` has the URL of the same or the inverse market at each other venue, also at a reference venue", async () => {
  const { put, settle, alsoOn } = await openMatchedApi();
  put("alpha", "1", "Rain?");
  put("beta", "2", "Not Rain?");
  put("gamma", "3", "Rain?");
  put("alpha", "4", "Alone?");
  await settle();
  assert.deepEqual(await alsoOn("alpha/1"), { beta: "https://beta.example/2", gamma: "https://gamma.example/3" });
  assert.deepEqual(await alsoOn("beta/2"), { alpha: "https://alpha.example/1", gamma: "https://gamma.example/3" });
  assert.equal(await alsoOn("alpha/4"), undefined);
});

test("200: a match without a URL, and one with a confidence below 0.9, are left out", async () => {
  const { put, settle, alsoOn } = await openMatchedApi();
  put("alpha", "1", "Rain?");
  put("beta", "2", "Rain?", { url: null });
  put("alpha", "3", "Snow, maybe?");
  put("beta", "4", "Snow, maybe?");
  await settle();
  assert.equal(await alsoOn("alpha/1"), undefined);
  assert.deepEqual(await alsoOn("beta/2"), { alpha: "https://alpha.example/1" });
  assert.equal(await alsoOn("alpha/3"), undefined);
});

test("200: if a match is added, closed or gets a new URL, `also_on` and the entity tags of list and market change", async () => {
  const { put, get, board, settle, alsoOn } = await openMatchedApi();
  put("alpha", "1", "Rain?");
  await settle();
  const tagOf = async (url: string) => String((await get(url)).headers.etag);
  const urls = ["/v1/markets", "/v1/markets/alpha/1"];
  let tags = await Promise.all(urls.map(tagOf));
  const assertChanged = async (expected: unknown) => {
    await settle();
    assert.deepEqual(await alsoOn("alpha/1"), expected);
    const listed: { platform: string; also_on?: unknown }[] = (await get("/v1/markets")).json();
    assert.deepEqual(listed.find(({ platform }) => platform === "alpha")?.also_on, expected);
    const newTags = await Promise.all(urls.map(tagOf));
    for (const [index, tag] of newTags.entries()) assert.notEqual(tag, tags[index], urls[index]);
    tags = newTags;
  };
  put("beta", "2", "Rain?");
  await assertChanged({ beta: "https://beta.example/2" });
  put("beta", "2", "Rain?", { url: "https://beta.example/moved" });
  await assertChanged({ beta: "https://beta.example/moved" });
  put("beta", "2", "Rain?", { status: "closed" });
  await assertChanged(undefined);
  const reopened = put("beta", "2", "Rain?");
  await assertChanged({ beta: "https://beta.example/2" });
  board.remove(reopened);
  await assertChanged(undefined);
});

test("200: a market that reuses the board row of a removed market does not get that market's links", async () => {
  const { put, board, settle, alsoOn } = await openMatchedApi();
  const first = put("alpha", "1", "Rain?");
  put("beta", "2", "Rain?");
  await settle();
  board.remove(first);
  const second = put("alpha", "9", "Alone?");
  assert.equal(second.row, first.row);
  assert.equal(await alsoOn("alpha/9"), undefined);
});

test("200: `also_on` of an event lists the same event at other venues, with URL and market count", async () => {
  const { put, get, board, settle } = await openMatchedApi();
  for (const [venue, url] of [
    ["alpha", "https://alpha.example"],
    ["beta", "https://beta.example"],
    ["gamma", null],
  ] as const) {
    board.applyEvent(sampleEvent("Weather", { venue, url }));
    put(venue, "rain", "Rain?", { eventId: "Weather" });
  }
  put("beta", "snow", "Snow?", { eventId: "Weather" });
  put("alpha", "alone", "Alone?");
  await settle();
  const eventOf = async (slug: string) => (await get(`/v1/events/${slug}`)).json();
  assert.deepEqual((await eventOf("alpha:weather")).also_on, [
    { platform: "beta", event_id: "Weather", url: "https://beta.example", market_count: 2 },
    { platform: "gamma", event_id: "Weather", url: null, market_count: 1 },
  ]);
  const [market] = (await get("/v1/events/alpha:weather/markets")).json();
  assert.deepEqual(market.also_on, { beta: "https://beta.example/rain", gamma: "https://gamma.example/rain" });
});

test("a market of a reference venue is shown in `also_on` and nowhere else", async () => {
  const { put, get, board, settle, alsoOn } = await openMatchedApi();
  board.applyEvent(sampleEvent("E", { venue: "gamma", title: "Rain" }));
  put("alpha", "1", "Rain?");
  put("gamma", "3", "Rain?", { eventId: "E" });
  await settle();
  assert.deepEqual(await alsoOn("alpha/1"), { gamma: "https://gamma.example/3" });
  assert.equal((await get("/v1/markets/gamma/3")).statusCode, 422);
  assert.equal((await get("/v1/markets?source=gamma")).statusCode, 422);
  assert.equal((await get("/v1/events/gamma:e")).statusCode, 404);
  for (const url of ["/v1/markets?status=all", "/v1/markets?query=rain", "/v1/events", "/v1/events/search?q=rain"]) {
    const listed: { platform: string }[] = (await get(url)).json();
    assert.ok(
      listed.every(({ platform }) => platform === "alpha"),
      url,
    );
  }
});
