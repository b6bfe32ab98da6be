import assert from "node:assert/strict";
import { test } from "node:test";
import { FakeClock } from "../../../../test/support/fake-clock.ts";
import { DAY_MS } from "../../../lib/durations.ts";
import type { HttpOut, OutgoingRequest } from "../../../ports/http-out.ts";
import { createSearchEngines, type SearchEngineName } from "./index.ts";

const KEY = "search-canary";
const clock = new FakeClock(Date.UTC(2026, 10, 21, 12));

/** Searches with one engine, whose server answers with `body`. */
async function search(engine: SearchEngineName, body: string, publishedUntil = clock.now(), status = 200) {
  const requests: OutgoingRequest[] = [];
  const http: HttpOut = {
    async send(request) {
      requests.push(request);
      return { status, headers: {}, body, receivedAt: 0 };
    },
  };
  const [searching] = createSearchEngines([engine], { apiKey: KEY, http, clock });
  const request = {
    query: "harbour bill (vote) OR near20",
    publishedUntil,
    hitsMax: 5,
    signal: new AbortController().signal,
  };
  const hits = await searching?.search(request);
  return { hits, requests, url: new URL(requests[0]?.url ?? "http://none/") };
}

test("GDELT is asked for articles of the 90 days before the time, without operators of its query language", async () => {
  const articles = [
    { url: "https://a.example/1", title: "Vote", seendate: "20261120T081500Z" },
    { url: "https://b.example/2", seendate: "yesterday" },
    { title: "No address" },
    "not an article",
  ];
  const { hits, url } = await search("gdelt", JSON.stringify({ articles }));
  assert.deepEqual(hits, [
    { url: "https://a.example/1", title: "Vote", publishedAt: Date.UTC(2026, 10, 20, 8, 15) },
    { url: "https://b.example/2", title: "", publishedAt: null },
  ]);
  assert.equal(url.host, "api.gdeltproject.org");
  assert.deepEqual(
    [...url.searchParams].filter(([name]) => /query|datetime|maxrecords/.test(name)),
    [
      ["query", "harbour bill vote OR near20 sourcelang:english"],
      ["maxrecords", "5"],
      ["startdatetime", "20260823120000"],
      ["enddatetime", "20261121120000"],
    ],
  );
});

test("Wikipedia is asked about the present only, because its articles are as of today", async () => {
  const body = JSON.stringify({ query: { search: [{ title: "Harbour bill (2026)" }, { pageid: 1 }] } });
  const { hits, url } = await search("wikipedia", body);
  assert.deepEqual(hits, [
    { url: "https://en.wikipedia.org/wiki/Harbour_bill_(2026)", title: "Harbour bill (2026)", publishedAt: null },
  ]);
  assert.equal(url.host, "en.wikipedia.org");
  const past = await search("wikipedia", body, clock.now() - 2 * DAY_MS);
  assert.deepEqual([past.hits, past.requests], [[], []]);
});

test("Brave gets the key in its header and the period in the query", async () => {
  const results = [{ url: "https://a.example/1", title: "Vote", page_age: "2026-11-19T10:00:00" }, null];
  const { hits, requests, url } = await search("brave", JSON.stringify({ web: { results } }));
  assert.deepEqual(hits, [{ url: "https://a.example/1", title: "Vote", publishedAt: Date.UTC(2026, 10, 19, 10) }]);
  assert.equal(requests[0]?.headers?.["x-subscription-token"], KEY);
  assert.equal(url.searchParams.get("freshness"), "2025-11-21to2026-11-21");
  assert.ok(!url.href.includes(KEY));
  const options = { apiKey: null, http: { send: () => assert.fail() }, clock };
  assert.throws(() => createSearchEngines(["brave"], options), /requires a key/);
});

test("a search rejects for an error status or a body that is not JSON, and has no hits for JSON without results", async () => {
  for (const engine of ["gdelt", "wikipedia", "brave"] as const) {
    await assert.rejects(search(engine, "{}", clock.now(), 429), /status 429/);
    await assert.rejects(search(engine, "<html>", clock.now()), SyntaxError);
    for (const body of ["{}", "[]", "null", '{"articles":{},"query":[],"web":null}'])
      assert.deepEqual((await search(engine, body)).hits, []);
  }
});

test("GDELT gets at most one request in five seconds, and a search that would wait too long fails", async () => {
  const waiting = new FakeClock();
  const sentAt: number[] = [];
  const http: HttpOut = {
    async send() {
      sentAt.push(waiting.monotonic());
      return { status: 200, headers: {}, body: "{}", receivedAt: 0 };
    },
  };
  const [gdelt] = createSearchEngines(["gdelt"], { apiKey: null, http, clock: waiting });
  const request = { query: "harbour bill", publishedUntil: 0, hitsMax: 5, signal: new AbortController().signal };
  const searches = Array.from({ length: 9 }, () => gdelt?.search(request));
  const results = await waiting.until(Promise.allSettled(searches));
  assert.deepEqual(sentAt, [0, 5_100, 10_200, 15_300, 20_400, 25_500]);
  assert.equal(results.filter(({ status }) => status === "rejected").length, 3);
});
