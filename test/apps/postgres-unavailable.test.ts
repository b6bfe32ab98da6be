import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { migrateDatabase } from "../../src/adapters/database/migrations.ts";
import { openPostgresDatabase } from "../../src/adapters/database/postgres-database.ts";
import { systemClock } from "../../src/adapters/system/system-clock.ts";
import { systemRandom } from "../../src/adapters/system/system-random.ts";
import { buildApp } from "../../src/app/index.ts";
import { ensureDemoKeys } from "../../src/capabilities/accounts/keys/index.ts";
import type { Database } from "../../src/ports/database.ts";
import { createTickWriter } from "../../src/storage/index.ts";
import { plainAppPorts } from "../support/app-ports.ts";
import { isStoreUnavailable } from "../support/asserts/error-code.ts";
import { quietLog } from "../support/quiet-log.ts";
import { eventually, temporaryFolder } from "../support/service-process.ts";
import { startTcpProxy, type TcpProxy } from "../support/tcp-proxy.ts";
import { ScriptedVenue } from "../support/venues/scripted-venue.ts";

const DATABASE_URL = process.env.TEST_DATABASE_URL;
const skip = DATABASE_URL === undefined ? "TEST_DATABASE_URL is not set" : false;
const SCHEMA = `unavailable_${process.pid}_${Date.now().toString(36)}`;
/** Maximum time until a read or a connection attempt fails: its timeout and a margin for a busy machine. */
const FAILURE_MS_MAX = 8_000;

let proxy: TcpProxy;
let database: Database;
let app: Awaited<ReturnType<typeof buildApp>>;
let key = "";

before(async () => {
  if (DATABASE_URL === undefined) return;
  proxy = await startTcpProxy(DATABASE_URL);
  database = await openPostgresDatabase({ url: proxy.url, schema: SCHEMA, log: quietLog });
  await migrateDatabase(database);
  const folder = await temporaryFolder();
  key = (await ensureDemoKeys(database, folder.path, { random: systemRandom, clock: systemClock })).enterprise;
  await folder.release();
  app = await buildApp(
    plainAppPorts({
      database,
      log: quietLog,
      account: { botCheck: null, emailDelivery: null, displaysLinks: true },
      venues: [
        { id: "alpha", referenceOnly: false, playMoney: false, create: () => new ScriptedVenue("alpha", systemClock) },
      ],
    }),
  );
  await app.http.ready();
  app.http.lifecycle.markReady();
  app.start();
});

after(async () => {
  if (DATABASE_URL === undefined) return;
  await app.stop();
  await app.http.close();
  await database.query(`drop schema ${SCHEMA} cascade`);
  await database.close();
  await proxy.close();
});

const fetchStatus = async (url: string) =>
  (await app.http.inject({ url, headers: { authorization: `Bearer ${key}` } })).statusCode;
const waitForStatus = (url: string, status: number) =>
  eventually(async () => ((await fetchStatus(url)) === status ? true : null), `${url} to return ${status}`);

for (const outage of ["refuse", "blackhole"] as const) {
  test(`if PostgreSQL is unavailable (${outage}), readiness is 503 and no write succeeds; after recovery queued writes are stored once`, {
    skip,
  }, async () => {
    const writer = createTickWriter({ database, clock: systemClock, log: quietLog });
    const now = Date.now();
    const tick = { marketKey: outage === "refuse" ? 1 : 2, eventAt: now, receivedAt: now, volumeUsd: null };
    const prices = { bid: 0.4, ask: 0.42, lastPrice: null, yesPrice: 0.41 };
    await waitForStatus("/readyz", 200);
    assert.equal(await fetchStatus("/v1/markets"), 200);

    proxy[outage]();
    writer.write({ ...tick, ...prices });
    const flushError = writer.flush().then(
      () => null,
      (error: unknown) => error,
    );
    await waitForStatus("/readyz", 503);
    assert.equal(await fetchStatus("/livez"), 200);
    assert.equal(writer.counters.written, 0);
    assert.equal(writer.counters.queued, 1);
    await waitForStatus("/v1/markets", 503);

    proxy.restore();
    assert.ok(isStoreUnavailable(await flushError));
    await waitForStatus("/readyz", 200);
    await waitForStatus("/v1/markets", 200);
    await eventually(
      () =>
        writer.flush().then(
          () => true,
          () => null,
        ),
      "the tick to be stored",
    );
    assert.deepEqual(writer.counters, { written: 1, dropped: 0, queued: 0 });
    const rows = await database.query("select yes_price from ticks where market_key = $1", [tick.marketKey]);
    assert.deepEqual(rows, [{ yes_price: 410_000 }]);
    await writer.close();
  });
}

test("a read fails with `store_unavailable` within 8 seconds if an open connection does not respond", {
  skip,
}, async () => {
  await database.query("select 1");
  proxy.blackhole();
  const requestedAt = performance.now();
  await assert.rejects(database.query("select 1", [], "request"), isStoreUnavailable);
  assert.ok(performance.now() - requestedAt < FAILURE_MS_MAX, `failed after ${performance.now() - requestedAt} ms`);
  proxy.restore();
  await waitForStatus("/readyz", 200);
});

test("503: the account page responds within 8 seconds if the database does not respond", { skip }, async () => {
  const actor = { kind: "operator", id: "test" } as const;
  const { customerId } = await app.customers.create({ email: "ada@example.org", name: null, plan: "free" }, actor);
  const submit = (path: string, fields: Readonly<Record<string, string>>) =>
    app.http.inject({
      method: "POST",
      url: path,
      payload: String(new URLSearchParams(fields)),
      headers: { "content-type": "application/x-www-form-urlencoded", "sec-fetch-site": "same-origin" },
    });
  const signInPage = await submit("/account/sign-in", { email: "ada@example.org" });
  const token = /enter\?token=([a-z2-7]+)/.exec(signInPage.payload)?.[1] ?? "";
  const cookie = String((await submit("/account/enter", { token })).headers["set-cookie"]).split(";")[0] ?? "";
  const openAccountPage = () => app.http.inject({ url: "/account", headers: { cookie } });
  const visitAccountPage = async () => (await openAccountPage()).statusCode;
  assert.match((await openAccountPage()).payload, /ada@example\.org/);
  // Two parallel requests open two connections.
  assert.deepEqual(await Promise.all([visitAccountPage(), visitAccountPage()]), [200, 200]);
  proxy.blackhole();
  try {
    const requestedAt = performance.now();
    const [status] = await Promise.all([
      visitAccountPage(),
      assert.rejects(app.customers.account(customerId), isStoreUnavailable),
    ]);
    assert.equal(status, 503);
    assert.ok(performance.now() - requestedAt < FAILURE_MS_MAX, `failed after ${performance.now() - requestedAt} ms`);
  } finally {
    proxy.restore();
  }
  await waitForStatus("/readyz", 200);
});
