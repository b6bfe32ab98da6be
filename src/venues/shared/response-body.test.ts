import assert from "node:assert/strict";
import { test } from "node:test";
import { fakeVenuePorts } from "../../../test/support/venues/adapter-harness.ts";
import type { ScriptedResponse } from "../../../test/support/venues/scripted-http.ts";
import { VenueError } from "../../domain/errors.ts";
import { BOOK_BODY_BYTES_MAX, VenueClient } from "./venue-client.ts";

const { signal } = new AbortController();

function setUp(respond: () => ScriptedResponse) {
  const { ports, clock, http } = fakeVenuePorts(undefined, respond);
  const client = new VenueClient({
    ...ports,
    baseUrl: "https://venue.example",
    limits: { perSecond: 1_000, burst: 1_000, concurrency: 100 },
  });
  return { clock, http, client, fetch: () => client.fetchJson("/a", { signal }) };
}

test("returns null for an accepted status whose body is not JSON", async () => {
  const { clock, client } = setUp(() => ({ status: 404, body: "not here" }));
  const response = await clock.until(client.fetchJson("/a", { signal, accept: [404] }));
  assert.deepEqual([response.status, response.json], [404, null]);
});

test("rejects a body that is nested more than 64 deep without parsing it, and without a retry", async () => {
  const nested = (depth: number) => "[".repeat(depth) + "]".repeat(depth);
  const deepest = setUp(() => ({ body: nested(64) }));
  assert.equal((await deepest.clock.until(deepest.fetch())).status, 200);
  for (const body of [nested(65), "[".repeat(65), "[".repeat(1_000_000)]) {
    const { clock, http, fetch } = setUp(() => ({ body }));
    await assert.rejects(clock.until(fetch()), /nested too deeply/);
    assert.equal(http.requests.length, 1);
  }
});

test("limits the body of an order book to 2 MiB, and the bodies of other responses to 16 MiB", async () => {
  const { clock, http, client, fetch } = setUp(() => ({ body: "[]" }));
  await clock.until(client.fetchJson("/book", { signal, maxBodyBytes: BOOK_BODY_BYTES_MAX }));
  await clock.until(fetch());
  const limits = http.requests.map(({ request }) => request.maxBodyBytes);
  assert.deepEqual(limits, [2 * 1024 * 1024, 16 * 1024 * 1024]);
});

test("parses a large body in slices, and refuses one with more than two million values without a retry", async () => {
  const rows = Array.from({ length: 50_000 }, (_, index) => ({ id: index }));
  const { clock, client } = setUp(() => ({ body: JSON.stringify({ rows }) }));
  let yields = 0;
  clock.yieldToEventLoop = async () => {
    yields += 1;
  };
  const { json } = await clock.until(client.fetchJson("/a", { signal }));
  assert.deepEqual(json, { rows });
  assert.ok(yields >= 5, `${yields} yields`);
  const refused = setUp(() => ({ body: `[${"0,".repeat(2_000_000)}0]` }));
  await assert.rejects(refused.clock.until(refused.fetch()), /too many values/);
  assert.equal(refused.http.requests.length, 1);
});

test("a large body that is not JSON is an error that is retried", async () => {
  const { clock, http, fetch } = setUp(() => ({ body: `[${"0,".repeat(200_000)}]` }));
  await assert.rejects(
    clock.until(fetch()),
    (error: unknown) => error instanceof VenueError && error.failure === "bad_body",
  );
  assert.equal(http.requests.length, 3);
});
