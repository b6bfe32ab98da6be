import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:net";
import type { LightMyRequestResponse } from "fastify";
import { caller, openMeteredServer } from "../../../../test/support/customers/metered-server.ts";
import { eachDatabase } from "../../../../test/support/databases.ts";
import { KEY_ROUTE } from "../../../../test/support/test-app.ts";
import { toStoreError } from "../../../adapters/database/errors.ts";
import { createMemoryQuotaJournal } from "../../../adapters/metering/quota-journal-memory.ts";
import { AppError } from "../../../domain/errors.ts";
import { METERING } from "../../../domain/metering.ts";
import { PLAN_ALLOWANCES } from "../../../domain/plan.ts";
import { defineRoute } from "../../../http/route.ts";

const FREE = caller("free-a", "free");
const PRO = caller("pro-a", "pro");
/** Caller whose limits are small enough for a test to use up. */
const SMALL = caller("small-a", "pro", {
  quotas: { LISTING: 5, INSIGHT: 3, STRATEGY: 2, DEEP: 1 },
  rateLimits: { general: 100, strategy: 5 },
});
const NO_USAGE = { LISTING: 0, INSIGHT: 0, STRATEGY: 0, DEEP: 0 };

/** Returns the parameters of one member of a RateLimit or RateLimit-Policy header, or null if it is missing. */
function parseMember(header: unknown, name: string): Readonly<Record<string, number>> | null {
  const text = String(header)
    .split(", ")
    .find((part) => part.startsWith(`"${name}";`));
  if (text === undefined) return null;
  return Object.fromEntries(
    text
      .split(";")
      .slice(1)
      .map((pair) => [pair.split("=")[0], Number(pair.split("=")[1])]),
  );
}

eachDatabase("200: each call, including HEAD and 304, is counted once in the tier of its route", async (store) => {
  const { app, get, used } = await openMeteredServer(store, [PRO]);
  const first = await get("/listing", PRO);
  assert.equal(first.statusCode, 200);
  assert.equal((await app.inject({ method: "HEAD", url: "/listing", headers: bearer(PRO) })).statusCode, 200);
  assert.equal((await get("/listing", PRO, { "if-none-match": String(first.headers.etag) })).statusCode, 304);
  await get("/insight", PRO);
  await get("/signal", PRO);
  await get("/deep", PRO);
  await get("/uncounted", PRO);
  assert.deepEqual(await used(PRO), { LISTING: 3, INSIGHT: 1, STRATEGY: 1, DEEP: 1 });
});

eachDatabase(
  "202: a call released by its handler is not counted, and a second release has no effect",
  async (store) => {
    const { get, used } = await openMeteredServer(store, [SMALL]);
    for (let attempt = 0; attempt < 10; attempt++) {
      const reply = await get("/insight?status=202&given_back=true", SMALL);
      assert.equal(reply.statusCode, 202);
      assert.equal(parseMember(reply.headers.ratelimit, "insight")?.r, 3);
    }
    await get("/insight?status=202", SMALL);
    // The handler has released the call, and the status releases it a second time.
    assert.equal((await get("/insight?status=500&given_back=true", SMALL)).statusCode, 500);
    assert.deepEqual(await used(SMALL), { ...NO_USAGE, INSIGHT: 1 });
  },
);

eachDatabase(
  "401: no response is counted in a quota; after 60 per minute, unknown keys get 429 and valid keys work",
  async (store) => {
    const { clock, get, used, reached } = await openMeteredServer(store, [PRO]);
    const nobody = caller("nobody", "pro");
    for (let attempt = 0; attempt < 60; attempt++) {
      assert.equal((await get("/listing", attempt % 2 === 0 ? null : nobody)).statusCode, 401);
      await clock.advance(100);
    }
    const rejected = await get("/listing", nobody);
    assert.equal(rejected.statusCode, 429);
    assert.equal(rejected.json().code, "rate_limited");
    assert.equal(rejected.headers["retry-after"], "54");
    assert.equal((await get("/listing", null)).statusCode, 429);
    assert.equal((await get("/free", null)).statusCode, 200);
    assert.equal((await get("/listing", PRO)).statusCode, 200);
    await clock.advance(53_900);
    assert.equal((await get("/listing", nobody)).statusCode, 429);
    await clock.advance(100);
    assert.equal((await get("/listing", nobody)).statusCode, 401);
    assert.deepEqual(reached, ["/listing"]);
    assert.deepEqual(await used(PRO), { ...NO_USAGE, LISTING: 1 });
  },
);

eachDatabase("401: concurrent requests receive at most 60 401 responses", async (store) => {
  const slow = { authenticate: () => new Promise<null>((resolve) => setImmediate(() => resolve(null))) };
  const { get } = await openMeteredServer(store, [], { authentication: slow });
  const responses = await Promise.all(Array.from({ length: 200 }, () => get("/listing", PRO)));
  const statuses = responses.map(({ statusCode }) => statusCode);
  assert.equal(statuses.filter((status) => status === 401).length, 60);
  assert.equal(statuses.filter((status) => status === 429).length, 140);
});

eachDatabase(
  "403: a call with a plan that is too low returns an upgrade link, uses no quota and counts in the minute limit",
  async (store) => {
    const { get, used, reached } = await openMeteredServer(store, [FREE]);
    for (let attempt = 0; attempt < 30; attempt++) {
      const reply = await get(["/signal", "/strategy", "/deep"][attempt % 3] ?? "", FREE);
      assert.equal(reply.statusCode, 403);
      const detail = "This endpoint needs the pro plan. Upgrade: https://parallax.example/account";
      assert.deepEqual(reply.json(), { detail, code: "plan_required" });
    }
    assert.equal((await get("/signal", FREE)).statusCode, 429);
    assert.deepEqual(reached, []);
    assert.deepEqual(await used(FREE), NO_USAGE);
  },
);

eachDatabase(
  "429: the response for a used-up quota contains the tier, the usage, the reset date and an upgrade link",
  async (store) => {
    const { get, used, reached } = await openMeteredServer(store, [FREE]);
    const [month] = await store.query<{ resets_on: string; seconds_left: number }>(
      `select to_char(date_trunc('month', now() at time zone 'utc') + interval '1 month', 'YYYY-MM-DD') as resets_on,
       extract(epoch from date_trunc('month', now() at time zone 'utc') + interval '1 month' - now() at time zone 'utc')::float8 as seconds_left`,
    );
    assert.ok(month !== undefined);
    for (let call = 0; call < 10; call++) assert.equal((await get("/insight", FREE)).statusCode, 200);
    for (let attempt = 0; attempt < 3; attempt++) {
      const { statusCode, headers, body } = await get("/insight", FREE);
      assert.equal(statusCode, 429);
      const { detail, code, resets_on: resetsOn, retry_after_seconds: seconds } = JSON.parse(body);
      assert.equal(
        detail,
        `INSIGHT quota used: 10/10. Resets ${month.resets_on}. Upgrade: https://parallax.example/account`,
      );
      assert.deepEqual([code, resetsOn, headers["retry-after"]], ["quota_exceeded", month.resets_on, month.resets_on]);
      assert.ok(Math.abs(seconds - month.seconds_left) < 60);
      assert.deepEqual(parseMember(headers.ratelimit, "insight"), { r: 0, t: seconds });
    }
    assert.equal(reached.length, 10);
    assert.deepEqual(await used(FREE), { ...NO_USAGE, INSIGHT: 10 });
    assert.equal((await get("/listing", FREE)).statusCode, 200);
  },
);

eachDatabase("404, 409, 422, 500 and 503: the calls are not counted", async (store) => {
  const { get, used } = await openMeteredServer(store, [SMALL]);
  for (let attempt = 0; attempt < 4; attempt++) {
    for (const status of [404, 409, 500, 503]) {
      const reply = await get(`/insight?status=${status}`, SMALL);
      assert.equal(reply.statusCode, status);
      assert.equal(parseMember(reply.headers.ratelimit, "insight")?.r, 3);
    }
    assert.equal((await get("/insight?status=none", SMALL)).statusCode, 422);
  }
  assert.deepEqual(await used(SMALL), NO_USAGE);
});

eachDatabase(
  "429: Retry-After of a used-up quota is in seconds if the operator has set `quotaRetryAfter` to seconds",
  async (store) => {
    const { get } = await openMeteredServer(store, [FREE], { quotaRetryAfter: "seconds" });
    for (let call = 0; call < 10; call++) await get("/insight", FREE);
    const { statusCode, headers, body } = await get("/insight", FREE);
    const { retry_after_seconds: seconds, resets_on: resetsOn } = JSON.parse(body);
    assert.deepEqual([statusCode, headers["retry-after"]], [429, String(seconds)]);
    assert.ok(Number.isInteger(seconds) && seconds > 0);
    assert.match(resetsOn, /^\d{4}-\d{2}-01$/);
  },
);

eachDatabase("two limits in a RateLimit field never have the same name", async (store) => {
  const { get } = await openMeteredServer(store, [PRO]);
  for (const route of ["/listing", "/insight", "/strategy", "/signal", "/deep", "/uncounted"]) {
    const { headers } = await get(route, PRO);
    for (const field of ["ratelimit-policy", "ratelimit"]) {
      const names = String(headers[field])
        .split(", ")
        .map((item) => item.split(";")[0]);
      assert.equal(new Set(names).size, names.length, `${route} ${headers[field]}`);
    }
  }
});

eachDatabase("429: the 31st request of a minute is not counted, and Retry-After is exact", async (store) => {
  const { clock, get, used } = await openMeteredServer(store, [FREE, PRO]);
  for (let call = 0; call < 30; call++) {
    assert.equal((await get("/listing", FREE)).statusCode, 200);
    await clock.advance(350);
  }
  const rejected = await get("/listing", FREE);
  assert.equal(rejected.statusCode, 429);
  // The first request was 10.5 s ago: 49.5 s remain, rounded up.
  assert.equal(rejected.headers["retry-after"], "50");
  assert.deepEqual(rejected.json(), { detail: "Rate limit exceeded. Retry after 50 seconds.", code: "rate_limited" });
  assert.deepEqual(parseMember(rejected.headers.ratelimit, "general"), { r: 0, t: 50 });
  assert.equal((await get("/listing", PRO)).statusCode, 200);
  await clock.advance(49_499);
  assert.equal((await get("/listing", FREE)).statusCode, 429);
  await clock.advance(501);
  assert.equal((await get("/listing", FREE)).statusCode, 200);
  assert.deepEqual(await used(FREE), { ...NO_USAGE, LISTING: 31 });
});

eachDatabase("429: Retry-After includes up to 10% jitter and is never less than the wait", async (store) => {
  let draws = 0;
  const { get } = await openMeteredServer(store, [FREE], { uniform: () => (draws++ % 100) / 100 });
  for (let call = 0; call < 30; call++) await get("/listing", FREE);
  for (let attempt = 0; attempt < 61; attempt++) await get("/listing", null);
  for (const client of [FREE, null]) {
    const waits = new Map<number, number>();
    for (let attempt = 0; attempt < 100; attempt++) {
      const response = await get("/listing", client);
      const { headers } = response;
      const wait = Number(headers["retry-after"]);
      assert.equal(response.json().detail, `Rate limit exceeded. Retry after ${wait} seconds.`);
      if (client !== null) assert.equal(parseMember(headers.ratelimit, "general")?.t, wait);
      waits.set(wait, (waits.get(wait) ?? 0) + 1);
    }
    assert.deepEqual(
      [...waits.keys()].toSorted((a, b) => a - b),
      [60, 61, 62, 63, 64, 65, 66],
    );
    assert.ok(Math.max(...waits.values()) <= 20);
  }
});

eachDatabase("429: the strategy class has its own limit of 5 per minute besides the general limit", async (store) => {
  const { get } = await openMeteredServer(store, [PRO]);
  for (let call = 0; call < 5; call++) assert.equal((await get("/signal", PRO)).statusCode, 200);
  const rejected = await get("/signal", PRO);
  assert.equal(rejected.statusCode, 429);
  assert.deepEqual(parseMember(rejected.headers["ratelimit-policy"], "strategy-minute"), { q: 5, w: 60 });
  for (let call = 0; call < 120; call++) {
    assert.equal((await get(call % 2 === 0 ? "/listing" : "/uncounted", PRO)).statusCode, 200);
  }
  assert.equal((await get("/listing", PRO)).statusCode, 429);
});

eachDatabase("503: no handler runs if the store cannot count the call", async (store) => {
  const fault = toStoreError(Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" }));
  const { get, reached } = await openMeteredServer({ ...store, query: () => Promise.reject(fault) }, [PRO]);
  assertUnavailable(await get("/listing", PRO));
  assert.deepEqual(reached, []);
});

eachDatabase("503: no handler runs and no call is counted if the journal cannot be written", async (store) => {
  const failCommit = () => Promise.reject(new AppError("store_unavailable", "Calls cannot be counted at the moment."));
  const failOpen = { open: () => assert.fail("EROFS: read-only file system, write") };
  for (const fault of [failOpen, { committed: failCommit }]) {
    const journal = { ...createMemoryQuotaJournal(), ...fault };
    const { get, used, reached } = await openMeteredServer(store, [PRO], { journal });
    for (let attempt = 0; attempt < 3; attempt++) assertUnavailable(await get("/listing", PRO));
    assert.deepEqual(reached, []);
    assert.deepEqual(await used(PRO), NO_USAGE);
  }
});

eachDatabase("the RateLimit headers equal the number of further requests that are allowed", async (store) => {
  const { clock, get } = await openMeteredServer(store, [SMALL]);
  const first = await get("/listing", SMALL);
  assert.equal(first.headers["ratelimit-policy"], '"general";q=100;w=60, "listing";q=5');
  const quota = parseMember(first.headers.ratelimit, "listing");
  let allowedCount = 0;
  while ((await get("/listing", SMALL)).statusCode === 200) allowedCount += 1;
  assert.equal(allowedCount, quota?.r);

  const minute = parseMember((await get("/uncounted", SMALL)).headers.ratelimit, "general");
  let allowedInMinute = 0;
  while ((await get("/uncounted", SMALL)).statusCode === 200) allowedInMinute += 1;
  assert.equal(allowedInMinute, minute?.r);
  await clock.advance((minute?.t ?? 0) * 1_000);
  assert.equal((await get("/uncounted", SMALL)).statusCode, 200);
});

eachDatabase("counts exactly the successful calls among 600 concurrent ones", async (store) => {
  const busy = caller("busy-a", "enterprise", {
    quotas: { ...PLAN_ALLOWANCES.pro.quotas, LISTING: 300 },
    rateLimits: { general: 10_000, strategy: 5 },
  });
  const { get, used } = await openMeteredServer(store, [busy]);
  const queries = ["", "", "?status=404", "?status=500", "?status=none"];
  const responses = await Promise.all(
    Array.from({ length: 600 }, (_, call) => get(`/listing${queries[call % queries.length]}`, busy)),
  );
  const succeeded = responses.filter(({ statusCode }) => statusCode === 200).length;
  assert.equal((await used(busy)).LISTING, succeeded);
  assert.ok(succeeded > 0 && succeeded <= 300);
});

eachDatabase("a call is counted if its client disconnects after the work started", async (store) => {
  const started = Promise.withResolvers<void>();
  const work = Promise.withResolvers<void>();
  const { app, used } = await openMeteredServer(store, [SMALL]);
  defineRoute(app, {
    ...KEY_ROUTE,
    url: "/long",
    metering: METERING.DEEP,
    operationId: "long",
    async handler() {
      started.resolve();
      await work.promise;
      return { ok: true };
    },
  });
  const address = new URL(await app.listen({ host: "127.0.0.1", port: 0 }));
  const socket = connect(Number(address.port), "127.0.0.1");
  await once(socket, "connect");
  socket.write(`GET /long HTTP/1.1\r\nhost: ${address.host}\r\nauthorization: Bearer ${SMALL.customerId}\r\n\r\n`);
  await started.promise;
  socket.destroy();
  await once(socket, "close");
  work.resolve();
  await app.close();
  assert.deepEqual(await used(SMALL), { ...NO_USAGE, DEEP: 1 });
});

function assertUnavailable({ statusCode, headers, body }: LightMyRequestResponse): void {
  assert.equal(statusCode, 503);
  assert.equal(JSON.parse(body).code, "store_unavailable");
  assert.match(String(headers["retry-after"]), /^[1-9]\d*$/);
}

function bearer({ customerId }: { readonly customerId: string }) {
  return { authorization: `Bearer ${customerId}` };
}
