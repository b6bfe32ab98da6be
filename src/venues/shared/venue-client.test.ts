import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { fakeVenuePorts } from "../../../test/support/venues/adapter-harness.ts";
import type { ScriptedResponse } from "../../../test/support/venues/scripted-http.ts";
import { VenueError, type VenueFailure } from "../../domain/errors.ts";
import { runForCaller } from "../../lib/current-caller.ts";
import { parseRetryAfter, type RequestLimits, VenueClient } from "./venue-client.ts";

const baseUrl = "https://venue.example/";
const { signal } = new AbortController();

function setUp(
  respond: (url: URL, attempt: number) => ScriptedResponse | Error,
  limits: Partial<RequestLimits> = {},
  options: { readonly areLimitsLifted?: boolean } = {},
) {
  const { ports, clock, http, drops } = fakeVenuePorts(undefined, respond);
  const client = new VenueClient({
    ...ports,
    ...options,
    baseUrl,
    limits: { perSecond: 1_000, burst: 1_000, concurrency: 100, ...limits },
  });
  return { clock, http, client, drops, fetch: (path = "a") => client.fetchJson(`/${path}`, { signal }) };
}

const failureOf = (failure: VenueFailure) => (error: unknown) => {
  assert.ok(error instanceof VenueError, String(error));
  assert.equal(error.failure, failure);
  return true;
};

test("returns the parsed JSON and the times of request and response", async () => {
  const { clock, fetch } = setUp(() => ({ body: '{"a":1}', afterMs: 70 }));
  const startedAt = clock.now();
  const response = await clock.until(fetch());
  assert.deepEqual(response, { status: 200, json: { a: 1 }, requestedAt: startedAt, receivedAt: startedAt + 70 });
});

test("requests never exceed the rate and the burst in any time window, even with simultaneous callers", async () => {
  const limits = fc.record({ perSecond: fc.integer({ min: 1, max: 40 }), burst: fc.integer({ min: 1, max: 10 }) });
  const waves = fc.array(fc.tuple(fc.integer({ min: 0, max: 2_000 }), fc.integer({ min: 1, max: 12 })), {
    minLength: 1,
    maxLength: 6,
  });
  await fc.assert(
    fc.asyncProperty(limits, waves, async (options, waves) => {
      const { clock, http, fetch } = setUp(() => ({}), options);
      const calls: Promise<unknown>[] = [];
      for (const [pauseMs, callers] of waves) {
        for (let caller = 0; caller < callers; caller++) calls.push(fetch());
        await clock.advance(pauseMs);
      }
      await clock.until(Promise.all(calls));
      const requestTimes = http.requests.map(({ at }) => at);
      for (const [first, start] of requestTimes.entries()) {
        for (const [last, end] of requestTimes.entries()) {
          const requestsMax = options.burst + ((end - start) * options.perSecond) / 1000;
          if (last >= first) assert.ok(last - first + 1 <= requestsMax + 1e-6);
        }
      }
    }),
    { numRuns: 25 },
  );
});

test("retries a request that times out, with a longer timeout each time", async () => {
  const { clock, http, fetch } = setUp((_, attempt) => ({ afterMs: attempt < 2 ? Number.MAX_SAFE_INTEGER : 200 }));
  const startedAt = clock.monotonic();
  await clock.until(fetch());
  assert.deepEqual(
    http.requests.map(({ request }) => request.deadlineMs),
    [5_000, 10_000, 20_000],
  );
  assert.ok(clock.monotonic() - startedAt < 16_000);
});

test("slow responses extend the timeout up to the deadline, and fast responses shorten it", async () => {
  const { clock, http, fetch } = setUp((_, attempt) => ({ afterMs: attempt < 8 ? 3_000.2 : 200 }));
  for (let call = 0; call < 8; call++) await clock.until(fetch());
  assert.deepEqual(
    http.requests.slice(0, 3).map(({ request }) => request.deadlineMs),
    [5_000, 12_001, 12_001],
  );
  for (let call = 0; call < 100; call++) await clock.until(fetch());
  assert.equal(http.requests.at(-1)?.request.deadlineMs, 5_000);
});

test("reads a host whose responses all take 25 seconds, and does not open the circuit", async () => {
  const { clock, http, drops, fetch } = setUp(() => ({ afterMs: 25_000 }));
  await assert.rejects(clock.until(fetch()), failureOf("timeout"));
  for (let call = 0; call < 20; call++) assert.equal((await clock.until(fetch())).status, 200);
  assert.deepEqual(
    http.requests.slice(0, 6).map(({ request }) => request.deadlineMs),
    [5_000, 10_000, 20_000, 40_000, 60_000, 60_000],
  );
  assert.deepEqual(drops, { attempt_timeout: 3 });
});

test("simultaneous timeouts extend the timeout once, and a response ends the extension", async () => {
  const { clock, http, fetch } = setUp((_, attempt) => ({ afterMs: attempt < 8 ? 9_000 : 100 }));
  await clock.until(Promise.all(Array.from({ length: 8 }, () => fetch())));
  const timeouts = http.requests.map(({ request }) => request.deadlineMs);
  assert.deepEqual(timeouts, [...Array(8).fill(5_000), ...Array(8).fill(10_000)]);
  await clock.until(fetch());
  assert.equal(http.requests.at(-1)?.request.deadlineMs, 5_000);
});

test("opens the circuit of a host that does not respond within the maximum timeout", async () => {
  const { clock, http, fetch } = setUp(() => ({ afterMs: Number.MAX_SAFE_INTEGER }));
  for (let call = 0; call < 3; call++) await assert.rejects(clock.until(fetch()), failureOf("timeout"));
  const requestsBefore = http.requests.length;
  assert.equal(http.requests.at(-1)?.request.deadlineMs, 60_000);
  await assert.rejects(clock.until(fetch()), failureOf("circuit_open"));
  assert.equal(http.requests.length, requestsBefore);
});

test("never exceeds the maximum number of concurrent requests", async () => {
  const { clock, http, fetch } = setUp(() => ({ afterMs: 100 }), { concurrency: 3 });
  await clock.until(Promise.all(Array.from({ length: 12 }, () => fetch())));
  assert.equal(http.requests.length, 12);
  assert.equal(http.inFlightMax, 3);
});

test("a Retry-After in seconds delays all callers", async () => {
  const { clock, http, fetch } = setUp((_, attempt) =>
    attempt === 0 ? { status: 429, headers: { "retry-after": "30" } } : {},
  );
  const first = fetch("first");
  await clock.advance(10);
  const secondRequest = fetch("second");
  await clock.advance(29_000);
  assert.equal(http.requests.length, 1);
  await clock.until(Promise.all([first, secondRequest]));
  for (const { at } of http.requests.slice(1)) assert.ok(at >= 30_000, `next request after ${at} ms`);
});

test("a refused request is sent again after the delay of the header or body, or after one second", async () => {
  const cases: readonly [ScriptedResponse, number][] = [
    [{ status: 425, headers: { "retry-after": "2" } }, 2_000],
    [{ status: 425, body: '{"retry_after_seconds":2}' }, 2_000],
    [{ status: 503, body: '{"retry_after_seconds":2}' }, 2_000],
    [{ status: 429, body: '{"retry_after_seconds":30}' }, 30_000],
    [{ status: 429, body: '{"retry_after_seconds":"soon"}' }, 1_000],
    [{ status: 429, body: '{"retry_after_seconds":-5}' }, 1_000],
    [{ status: 429, body: "null" }, 1_000],
    [{ status: 429, body: "slow down" }, 1_000],
    [{ status: 429, headers: { "retry-after": String(10 ** 9) } }, 1_000],
    [{ status: 429 }, 1_000],
  ];
  for (const [response, waitMs] of cases) {
    const { clock, http, fetch } = setUp((_, attempt) => (attempt === 0 ? response : { body: "[]" }));
    assert.deepEqual((await clock.until(fetch())).json, []);
    const waitedMs = http.requests[1]?.at ?? 0;
    assert.ok(waitedMs >= waitMs && waitedMs < waitMs + 1_500, `${JSON.stringify(response)}: ${waitedMs} ms`);
  }
});

test("after a ban, pauses at least 30 seconds, or longer if Retry-After is longer", async () => {
  const cases: readonly [Readonly<Record<string, string>>, number][] = [
    [{}, 30_000],
    [{ "retry-after": "5" }, 30_000],
    [{ "retry-after": "120" }, 120_000],
  ];
  for (const [headers, pauseMs] of cases) {
    const { clock, http, fetch } = setUp(() => ({ status: 418, headers, afterMs: 10 }));
    const settledCalls = Promise.allSettled([fetch(), fetch(), fetch()]);
    await clock.advance(5 * 60_000);
    await clock.until(settledCalls);
    // The first three requests, at 0 ms, are concurrent; only their retries wait.
    const retryTimes = http.requests.map(({ at }) => at).filter((at) => at > 0);
    assert.ok(retryTimes.length > 0 && retryTimes.every((at) => at >= pauseMs), String(retryTimes));
  }
});

test("treats five consecutive 403 responses as a ban, but not four", async () => {
  let status = 403;
  const { clock, http, fetch } = setUp(() => ({ status }));
  for (let call = 0; call < 4; call++) await assert.rejects(clock.until(fetch()), failureOf("client_error"));
  status = 200;
  await clock.until(fetch());
  status = 403;
  for (let call = 0; call < 4; call++) await assert.rejects(clock.until(fetch()), failureOf("client_error"));
  assert.equal(clock.monotonic(), 0);
  const bannedCall = fetch();
  bannedCall.catch(() => {});
  await clock.advance(29_999);
  assert.equal(http.requests.length, 10);
  await clock.advance(1);
  assert.equal(http.requests.length, 11);
  await assert.rejects(clock.until(bannedCall));
});

test("probes a failing host once a second until it recovers", async () => {
  let isHealthy = false;
  const { clock, http, fetch } = setUp(() => (isHealthy ? {} : { status: 500 }));
  for (let second = 0; second < 300; second++) {
    await assert.rejects(clock.until(fetch()));
    await clock.advance(1_000);
  }
  const probes = http.requests.map(({ at }) => at).filter((at) => at > 60_000);
  for (const [index, at] of probes.slice(1).entries()) assert.ok(at - (probes[index] ?? 0) >= 1_000);
  assert.ok(probes.length > 60);
  isHealthy = true;
  await clock.advance(1_000);
  assert.equal((await clock.until(fetch())).status, 200);
});

test("counts every failed attempt by kind of failure, even if its retry succeeds", async () => {
  const { clock, drops, fetch } = setUp(
    (_, attempt) => [{ status: 503 }, { body: "<html>" }, { body: "[]" }][attempt] ?? {},
  );
  await clock.until(fetch());
  assert.deepEqual(drops, { attempt_server_error: 1, attempt_bad_body: 1 });
});

test("parses Retry-After as seconds and as a date, limits it to five minutes and rejects invalid values", () => {
  const now = Date.UTC(2026, 10, 21);
  assert.equal(parseRetryAfter("7", now), 7_000);
  assert.equal(parseRetryAfter("0", now), 0);
  assert.equal(parseRetryAfter(new Date(now + 9_000).toUTCString(), now), 9_000);
  assert.equal(parseRetryAfter("604800", now), 300_000);
  for (const invalidRetryAfter of [
    undefined,
    "",
    "soon",
    "-5",
    "99999999999999999999",
    new Date(now - 60_000).toUTCString(),
    new Date(now + 1e12).toUTCString(),
  ]) {
    assert.equal(parseRetryAfter(invalidRetryAfter, now), null, String(invalidRetryAfter));
  }
});

test("throws after three attempts if each attempt fails transiently", async (t) => {
  const cases: readonly [string, ScriptedResponse | Error, VenueFailure][] = [
    ["500", { status: 500 }, "server_error"],
    ["503", { status: 503 }, "server_error"],
    ["HTML with 200", { body: "<html>" }, "bad_body"],
    ["truncated JSON", { body: '[{"a":1},{"a"' }, "bad_body"],
    ["network", new VenueError("network", "reset", { retryable: true }), "network"],
    ["timeout", new VenueError("timeout", "late", { retryable: true }), "timeout"],
  ];
  for (const [name, response, failure] of cases) {
    await t.test(name, async () => {
      const { clock, http, fetch } = setUp(() => response);
      await assert.rejects(clock.until(fetch()), failureOf(failure));
      assert.equal(http.requests.length, 3);
    });
  }
});

test("does not retry client errors", async () => {
  for (const status of [400, 401, 403, 404, 422, 301]) {
    const { clock, http, fetch } = setUp(() => ({ status }));
    await assert.rejects(clock.until(fetch()), failureOf("client_error"));
    assert.equal(http.requests.length, 1, String(status));
  }
});

test("pauses requests to a failing host, sends one probe and resumes if the probe succeeds", async () => {
  let isHealthy = false;
  const { clock, http, fetch } = setUp(() => (isHealthy ? {} : { status: 500 }));
  await assert.rejects(clock.until(fetch()), failureOf("server_error"));
  await assert.rejects(clock.until(fetch()));
  const sentBefore = http.requests.length;
  assert.equal(sentBefore, 5);
  await assert.rejects(clock.until(fetch()), failureOf("circuit_open"));
  assert.equal(http.requests.length, sentBefore);
  isHealthy = true;
  await clock.advance(2_000);
  await clock.until(fetch());
  await clock.until(fetch());
  assert.equal(http.requests.length, sentBefore + 2);
});

test("does not open the circuit after client errors", async () => {
  const { clock, http, fetch } = setUp(() => ({ status: 404 }));
  for (let call = 0; call < 10; call++) await assert.rejects(clock.until(fetch()), failureOf("client_error"));
  assert.equal(http.requests.length, 10);
});

test("rejects an aborted call immediately, whether it waits for the rate limit or for a response", async () => {
  const { clock, client, http } = setUp(() => ({ afterMs: 60_000 }), { burst: 1, perSecond: 0.001 });
  const abort = new AbortController();
  const waitingForResponse = client.fetchJson("/a", { signal: abort.signal });
  const waitingForLimit = client.fetchJson("/b", { signal: abort.signal });
  const settledCalls = Promise.allSettled([waitingForResponse, waitingForLimit]);
  await clock.advance(10);
  abort.abort();
  await clock.settle();
  assert.deepEqual(
    (await clock.until(settledCalls, 0)).map(({ status }) => status),
    ["rejected", "rejected"],
  );
  assert.equal(http.requests.length, 1);
  assert.equal(clock.pending, 0);
});

test("does not open the circuit after aborted calls", async () => {
  const { clock, client, fetch } = setUp((_, attempt) => (attempt < 10 ? { afterMs: 60_000 } : {}));
  for (let call = 0; call < 10; call++) {
    const abort = new AbortController();
    const abortedCall = client.fetchJson("/a", { signal: abort.signal });
    await clock.advance(1);
    abort.abort();
    await assert.rejects(abortedCall);
  }
  assert.equal((await clock.until(fetch())).status, 200);
});

test("rejects a call immediately if 1,000 calls of its kind wait, and still queues a call of the other kind", async () => {
  const { clock, client, fetch } = setUp(() => ({}), { burst: 1, perSecond: 0.001 });
  await clock.until(fetch());
  const abort = new AbortController();
  const call = () => client.fetchJson("/a", { signal: abort.signal });
  const waitingCalls = Array.from({ length: 1_001 }, call);
  waitingCalls.push(runForCaller("ann", call));
  const settledCalls = Promise.allSettled(waitingCalls);
  await assert.rejects(fetch(), failureOf("rate_limited"));
  abort.abort();
  const outcomes = await settledCalls;
  assert.ok(outcomes.every((outcome) => outcome.status === "rejected" && outcome.reason.failure === "rate_limited"));
});

test("a call that is aborted during the venue's pause fails with `rate_limited` and the remaining pause", async () => {
  const { clock, client, http } = setUp(() => ({ status: 429, headers: { "retry-after": "60" } }));
  const start = () => {
    const abort = new AbortController();
    return { abort, outcome: client.fetchJson("/a", { signal: abort.signal }).catch((error: unknown) => error) };
  };
  const refused = start();
  await clock.advance(1_000);
  refused.abort.abort();
  const waiting = start();
  await clock.advance(9_000);
  waiting.abort.abort();
  for (const [call, retryAfterMs] of [
    [refused, 60_000],
    [waiting, 50_000],
  ] as const) {
    const error = await call.outcome;
    assert.ok(failureOf("rate_limited")(error));
    assert.equal((error as VenueError).retryAfterMs, retryAfterMs);
  }
  assert.equal(http.requests.length, 1);
});

test("requests of clients and of the service take turns at the limits, each kind in the order of its calls", async () => {
  const { clock, http, fetch } = setUp(() => ({}), { burst: 1, perSecond: 1 });
  const calls = Array.from({ length: 4 }, (_, index) => fetch(`s${index}`));
  calls.push(...runForCaller("ann", () => Array.from({ length: 3 }, (_, index) => fetch(`c${index}`))));
  await clock.until(Promise.all(calls));
  const order = http.requests.map(({ request }) => new URL(request.url).pathname);
  assert.deepEqual(order, ["/s0", "/s1", "/c0", "/s2", "/c1", "/s3", "/c2"]);
});

test("a request that waits for the end of another is sent at that end, without polling", async () => {
  const { clock, http, fetch } = setUp(() => ({ afterMs: 7 }), { concurrency: 1 });
  const calls = Promise.all([fetch("a"), fetch("b"), fetch("c")]);
  await clock.settle();
  const timersOfOneRequest = clock.pending;
  assert.equal(http.requests.length, 1);
  await clock.until(calls);
  assert.deepEqual(
    http.requests.map(({ at }) => at),
    [0, 7, 14],
  );
  assert.equal(timersOfOneRequest, 1);
});

test("sends the query, and new headers for each attempt", async () => {
  const { ports, clock, http } = fakeVenuePorts(undefined, (_, attempt) => (attempt === 0 ? { status: 500 } : {}));
  let signatures = 0;
  const client = new VenueClient({
    ...ports,
    baseUrl,
    limits: { perSecond: 10, burst: 10, concurrency: 1 },
    headers: (url) => ({ signature: `${url.pathname} ${++signatures}` }),
  });
  await clock.until(client.fetchJson("/books", { query: { x: [1, "b c"].map(String), y: null }, signal }));
  assert.deepEqual(
    http.requests.map(({ request }) => [request.url, request.method, request.headers?.signature]),
    [
      [`${baseUrl}books?x=1&x=b+c`, "GET", "/books 1"],
      [`${baseUrl}books?x=1&x=b+c`, "GET", "/books 2"],
    ],
  );
});

test("multiplies the published rate by 100 only if the venue's limits are lifted", async () => {
  const publishedLimits: RequestLimits = { perSecond: 2, burst: 2, concurrency: 4 };
  const countRequests = async (venue: { areLimitsLifted?: boolean }) => {
    const { clock, http, fetch } = setUp(() => ({}), publishedLimits, venue);
    for (let call = 0; call < 100; call++) fetch().catch(() => {});
    await clock.advance(1_000);
    return http.requests.length;
  };
  assert.equal(await countRequests({ areLimitsLifted: true }), 100);
  for (const venue of [{}, { areLimitsLifted: false }]) assert.ok((await countRequests(venue)) <= 4);
});
