import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { FakeClock } from "../../../test/support/fake-clock.ts";
import { type ScriptedAnswer, ScriptedHttp } from "../../../test/support/venues/scripted-http.ts";
import { VenueError, type VenueFailure } from "../../domain/errors.ts";
import type { OutgoingRequest } from "../../ports/http-out.ts";
import { limitsFor, parseRetryAfter, type RequestLimits, VenueClient } from "./venue-client.ts";

const URL_OF = (path: string) => `https://venue.example/${path}`;
const NEVER = new AbortController().signal;

function setUp(
  answer: (request: OutgoingRequest, turn: number) => ScriptedAnswer | Error,
  limits: Partial<RequestLimits> = {},
) {
  const drops: Record<string, number> = {};
  const clock = new FakeClock();
  const http = new ScriptedHttp(clock, answer);
  const random = { uniform: () => 0.5, bytes: (length: number) => new Uint8Array(length) };
  const client = new VenueClient({
    http,
    clock,
    random,
    limits: { perSecond: 1_000, burst: 1_000, concurrency: 100, ...limits },
    drop: (reason) => {
      drops[reason] = (drops[reason] ?? 0) + 1;
    },
  });
  return { clock, http, client, drops, fetch: (path = "a") => client.fetchJson(URL_OF(path), { signal: NEVER }) };
}

const failureOf = (failure: VenueFailure) => (error: unknown) => {
  assert.ok(error instanceof VenueError, String(error));
  assert.equal(error.failure, failure);
  return true;
};

test("an answer carries its JSON, when it was asked and when it arrived", async () => {
  const { clock, fetch } = setUp(() => ({ body: '{"a":1}', afterMs: 70 }));
  const startedAt = clock.now();
  const answer = await clock.until(fetch());
  assert.deepEqual(answer, { status: 200, json: { a: 1 }, requestedAt: startedAt, receivedAt: startedAt + 70 });
});

test("no window ever holds more requests than burst and rate allow, also when callers come all at once", async () => {
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
      const sent = http.requests.map(({ at }) => at);
      for (const [first, start] of sent.entries()) {
        for (const [last, end] of sent.entries()) {
          const allowed = options.burst + ((end - start) * options.perSecond) / 1000;
          if (last >= first) assert.ok(last - first + 1 <= allowed + 1e-6);
        }
      }
    }),
    { numRuns: 25 },
  );
});

test("a request that is never answered is repeated within seconds, and its repetition is waited for longer", async () => {
  const { clock, http, fetch } = setUp((_, turn) => ({ afterMs: turn < 2 ? Number.MAX_SAFE_INTEGER : 200 }));
  const startedAt = clock.monotonic();
  await clock.until(fetch());
  assert.deepEqual(
    http.requests.map(({ request }) => request.deadlineMs),
    [5_000, 10_000, 15_000],
  );
  assert.ok(clock.monotonic() - startedAt < 16_000);
});

test("a venue whose answers are slow is waited for, and no longer than the longest wait set", async () => {
  const { clock, http, fetch } = setUp((_, turn) => ({ afterMs: turn < 8 ? 3_000.2 : 200 }));
  for (let turn = 0; turn < 8; turn++) await clock.until(fetch());
  assert.deepEqual(
    http.requests.slice(0, 3).map(({ request }) => request.deadlineMs),
    [5_000, 12_001, 12_001],
  );
  for (let turn = 0; turn < 100; turn++) await clock.until(fetch());
  assert.equal(http.requests.at(-1)?.request.deadlineMs, 5_000);
});

test("no more requests are under way at once than the venue allows", async () => {
  const { clock, http, fetch } = setUp(() => ({ afterMs: 100 }), { concurrency: 3 });
  await clock.until(Promise.all(Array.from({ length: 12 }, () => fetch())));
  assert.equal(http.requests.length, 12);
  assert.equal(http.inFlightMax, 3);
});

test("Retry-After in seconds keeps every caller away until then", async () => {
  const { clock, http, fetch } = setUp((_, turn) =>
    turn === 0 ? { status: 429, headers: { "retry-after": "30" } } : {},
  );
  const first = fetch("first");
  await clock.advance(10);
  const second = fetch("second");
  await clock.advance(29_000);
  assert.equal(http.requests.length, 1);
  await clock.until(Promise.all([first, second]));
  for (const { at } of http.requests.slice(1)) assert.ok(at >= 30_000, `asked again after ${at} ms`);
});

test("Retry-After as a date keeps every caller away until then", async () => {
  const until = (clock: FakeClock) => new Date(clock.now() + 20_000).toUTCString();
  const { clock, http, fetch } = setUp((_, turn) =>
    turn === 0 ? { status: 429, headers: { "retry-after": until(clock) } } : {},
  );
  await clock.until(fetch());
  const second = http.requests[1];
  assert.ok(second !== undefined && second.at >= 19_000 && second.at <= 21_000, `asked again after ${second?.at} ms`);
});

test("a Retry-After of a week is cut to five minutes", async () => {
  const { clock, http, fetch } = setUp((_, turn) =>
    turn === 0 ? { status: 429, headers: { "retry-after": "604800" } } : {},
  );
  await clock.until(fetch());
  assert.equal(http.requests[1]?.at, 300_000);
});

test("a Retry-After of decades tells nothing: it is answered as one that states no time", async () => {
  const decades = [() => String(10 ** 9), (clock: FakeClock) => new Date(clock.now() + 1e12).toUTCString()];
  for (const value of decades) {
    const { clock, http, fetch } = setUp((_, turn) =>
      turn === 0 ? { status: 429, headers: { "retry-after": value(clock) } } : {},
    );
    await clock.until(fetch());
    assert.equal(http.requests[1]?.at, 1_000);
  }
});

test("a host that bans us is asked at most once in half a minute, later where it says so", async () => {
  const cases: readonly [Readonly<Record<string, string>>, number][] = [
    [{}, 30_000],
    [{ "retry-after": "5" }, 30_000],
    [{ "retry-after": "120" }, 120_000],
  ];
  for (const [headers, everyMs] of cases) {
    const { clock, http, fetch } = setUp(() => ({ status: 418, headers }));
    const all = Promise.allSettled([fetch(), fetch(), fetch()]);
    await clock.advance(5 * 60_000);
    await clock.until(all);
    // The three were under way together when the first was told; each of them tries three times.
    const later = http.requests.map(({ at }) => at).filter((at) => at > 0);
    assert.ok(later.length > 0 && later.every((at) => at >= everyMs), String(later));
  }
});

test("one forbidden thing is no ban, but five in a row are, and any other answer starts the count again", async () => {
  let status = 403;
  const { clock, http, fetch } = setUp(() => ({ status }));
  for (let call = 0; call < 4; call++) await assert.rejects(clock.until(fetch()), failureOf("client_error"));
  status = 200;
  await clock.until(fetch());
  status = 403;
  for (let call = 0; call < 4; call++) await assert.rejects(clock.until(fetch()), failureOf("client_error"));
  assert.equal(clock.monotonic(), 0);
  const banned = fetch();
  banned.catch(() => {});
  await clock.advance(29_999);
  assert.equal(http.requests.length, 10);
  await clock.advance(1);
  assert.equal(http.requests.length, 11);
  await assert.rejects(clock.until(banned));
});

test("however long a host has failed, one request a second looks whether it is back", async () => {
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

test("every attempt that failed is counted by its failure, also when the next one succeeds", async () => {
  const { clock, drops, fetch } = setUp((_, turn) => [{ status: 503 }, { body: "<html>" }, { body: "[]" }][turn] ?? {});
  await clock.until(fetch());
  assert.deepEqual(drops, { attempt_server_error: 1, attempt_bad_body: 1 });
});

test("a 429 without Retry-After pauses a second", async () => {
  const { clock, http, fetch } = setUp((_, turn) => (turn === 0 ? { status: 429 } : {}));
  await clock.until(fetch());
  assert.equal(http.requests[1]?.at, 1_000);
});

test("Retry-After is read in both forms, capped, and refused when absurd", () => {
  const now = Date.UTC(2026, 10, 21);
  assert.equal(parseRetryAfter("7", now), 7_000);
  assert.equal(parseRetryAfter("0", now), 0);
  assert.equal(parseRetryAfter(new Date(now + 9_000).toUTCString(), now), 9_000);
  assert.equal(parseRetryAfter("99999999999999999999", now), 300_000);
  for (const absurd of [undefined, "", "soon", "-5", new Date(now - 60_000).toUTCString()]) {
    assert.equal(parseRetryAfter(absurd, now), null, String(absurd));
  }
});

test("what may pass is tried three times in all and then reported", async (t) => {
  const cases: readonly [string, ScriptedAnswer | Error, VenueFailure][] = [
    ["500", { status: 500 }, "server_error"],
    ["503", { status: 503 }, "server_error"],
    ["HTML with 200", { body: "<html>" }, "bad_body"],
    ["cut JSON", { body: '[{"a":1},{"a"' }, "bad_body"],
    ["network", new VenueError("network", "reset", { retryable: true }), "network"],
    ["timeout", new VenueError("timeout", "late", { retryable: true }), "timeout"],
  ];
  for (const [name, answer, failure] of cases) {
    await t.test(name, async () => {
      const { clock, http, fetch } = setUp(() => answer);
      await assert.rejects(clock.until(fetch()), failureOf(failure));
      assert.equal(http.requests.length, 3);
    });
  }
});

test("what will not pass is asked once", async () => {
  for (const status of [400, 401, 403, 404, 422, 301]) {
    const { clock, http, fetch } = setUp(() => ({ status }));
    await assert.rejects(clock.until(fetch()), failureOf("client_error"));
    assert.equal(http.requests.length, 1, String(status));
  }
});

test("a retry that succeeds is an answer like any other", async () => {
  const { clock, http, fetch } = setUp((_, turn) => (turn < 2 ? { status: 502 } : { body: "[]" }));
  assert.deepEqual((await clock.until(fetch())).json, []);
  assert.equal(http.requests.length, 3);
});

test("an accepted status is an answer even when its body is no JSON", async () => {
  const { clock, client } = setUp(() => ({ status: 404, body: "not here" }));
  const answer = await clock.until(client.fetchJson(URL_OF("a"), { signal: NEVER, accept: [404] }));
  assert.deepEqual([answer.status, answer.json], [404, null]);
});

test("a host that keeps failing is left alone, then asked by one probe, then asked again", async () => {
  let isHealthy = false;
  const { clock, http, fetch } = setUp(() => (isHealthy ? {} : { status: 500 }));
  await assert.rejects(clock.until(fetch()), failureOf("server_error"));
  await assert.rejects(clock.until(fetch()));
  const asked = http.requests.length;
  assert.equal(asked, 5);
  await assert.rejects(clock.until(fetch()), failureOf("circuit_open"));
  assert.equal(http.requests.length, asked);
  isHealthy = true;
  await clock.advance(2_000);
  await clock.until(fetch());
  await clock.until(fetch());
  assert.equal(http.requests.length, asked + 2);
});

test("answers that blame the caller do not open the circuit", async () => {
  const { clock, http, fetch } = setUp(() => ({ status: 404 }));
  for (let call = 0; call < 10; call++) await assert.rejects(clock.until(fetch()), failureOf("client_error"));
  assert.equal(http.requests.length, 10);
});

test("an aborted call ends at once, whether it waits for its turn or for an answer", async () => {
  const { clock, client, http } = setUp(() => ({ afterMs: 60_000 }), { burst: 1, perSecond: 0.001 });
  const abort = new AbortController();
  const waitingForAnswer = client.fetchJson(URL_OF("a"), { signal: abort.signal });
  const waitingForTurn = client.fetchJson(URL_OF("b"), { signal: abort.signal });
  const both = Promise.allSettled([waitingForAnswer, waitingForTurn]);
  await clock.advance(10);
  abort.abort();
  await clock.settle();
  assert.deepEqual(
    (await clock.until(both, 0)).map(({ status }) => status),
    ["rejected", "rejected"],
  );
  assert.equal(http.requests.length, 1);
  assert.equal(clock.pending, 0);
});

test("calls that were given up do not open the circuit", async () => {
  const { clock, client, fetch } = setUp((_, turn) => (turn < 10 ? { afterMs: 60_000 } : {}));
  for (let call = 0; call < 10; call++) {
    const abort = new AbortController();
    const given = client.fetchJson(URL_OF("a"), { signal: abort.signal });
    await clock.advance(1);
    abort.abort();
    await assert.rejects(given);
  }
  assert.equal((await clock.until(fetch())).status, 200);
});

test("a thousand callers may wait; the next one is refused at once", async () => {
  const { clock, client, fetch } = setUp(() => ({}), { burst: 1, perSecond: 0.001 });
  await clock.until(fetch());
  const abort = new AbortController();
  const waiting = Array.from({ length: 1_000 }, () => client.fetchJson(URL_OF("a"), { signal: abort.signal }));
  const settled = Promise.allSettled(waiting);
  await assert.rejects(fetch(), failureOf("rate_limited"));
  abort.abort();
  await settled;
});

test("a body makes it a JSON POST and headers are made afresh for each attempt", async () => {
  const clock = new FakeClock();
  const http = new ScriptedHttp(clock, (_, turn) => (turn === 0 ? { status: 500 } : {}));
  let signatures = 0;
  const client = new VenueClient({
    http,
    clock,
    random: { uniform: () => 0, bytes: (length) => new Uint8Array(length) },
    limits: { perSecond: 10, burst: 10, concurrency: 1 },
    headers: (method, url) => ({ signature: `${method} ${url.pathname} ${++signatures}` }),
  });
  await clock.until(client.fetchJson(URL_OF("books?x=1"), { signal: NEVER, body: ["a"] }));
  assert.deepEqual(
    http.requests.map(({ request }) => [request.method, request.body, request.headers?.signature]),
    [
      ["POST", '["a"]', "POST /books 1"],
      ["POST", '["a"]', "POST /books 2"],
    ],
  );
});

test("towards a venue that enforces no limits a hundred times the published rate is asked, and to no other more than that", async () => {
  const published: RequestLimits = { perSecond: 2, burst: 2, concurrency: 4 };
  const countIn = async (venue: { areLimitsLifted?: boolean }) => {
    const { clock, http, fetch } = setUp(() => ({}), limitsFor(venue, published));
    for (let call = 0; call < 100; call++) fetch().catch(() => {});
    await clock.advance(1_000);
    return http.requests.length;
  };
  assert.equal(await countIn({ areLimitsLifted: true }), 100);
  for (const venue of [{}, { areLimitsLifted: false }]) assert.ok((await countIn(venue)) <= 4);
});
