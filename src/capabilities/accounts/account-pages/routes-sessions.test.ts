import assert from "node:assert/strict";
import { accountHarness, signedInHarness } from "../../../../test/support/customers/account-harness.ts";
import { eachDatabase, onPostgres } from "../../../../test/support/databases.ts";
import { HOUR_MS, MINUTE_MS } from "../../../lib/durations.ts";

eachDatabase(
  "a sign-in ends the previous session of the same browser, but no session of another browser",
  async (database) => {
    const harness = await accountHarness(database);
    await harness.createAccount("ada@example.org");
    const firstSession = await harness.signIn("ada@example.org");
    const otherBrowser = await harness.signIn("ada@example.org");
    const secondSession = await harness.signIn("ada@example.org", firstSession.cookie);
    assert.notEqual(secondSession.cookie, firstSession.cookie);
    assert.deepEqual(
      [
        await harness.isSignedIn(firstSession.cookie),
        await harness.isSignedIn(secondSession.cookie),
        await harness.isSignedIn(otherBrowser.cookie),
      ],
      [false, true, true],
    );
    // Session fixation: a cookie that an attacker sets before the sign-in does not become a session.
    const plantedCookie = `parallax=${"a".repeat(26)}`;
    const thirdSession = await harness.signIn("ada@example.org", plantedCookie);
    assert.notEqual(thirdSession.cookie, plantedCookie);
    assert.equal(await harness.isSignedIn(plantedCookie), false);
  },
);

eachDatabase("a sign-out ends the session on the server, so that a retained cookie is rejected", async (database) => {
  const { harness, cookie, fields } = await signedInHarness(database);
  const rejectedResponse = await harness.submit("/account/sign-out", { csrf: "" }, { cookie });
  assert.equal(rejectedResponse.status, 403);
  const response = await harness.submit("/account/sign-out", { csrf: fields.csrf }, { cookie });
  assert.equal(response.status, 303);
  assert.match(String(response.headers["set-cookie"]), /^parallax=; Path=\/; Max-Age=0/);
  assert.equal(response.headers["clear-site-data"], '"storage"', "the browser tab may contain an API key");
  assert.deepEqual(await database.query("select 1 from sessions"), []);
  assert.equal(await harness.isSignedIn(cookie), false);
});

eachDatabase(
  '"Sign out everywhere" ends all sessions and the sign-in link of this customer, and no other customer\'s',
  async (database) => {
    const harness = await accountHarness(database);
    await harness.createAccount("ada@example.org");
    await harness.createAccount("eve@example.org");
    const eveSession = await harness.signIn("eve@example.org");
    const browsers = [await harness.signIn("ada@example.org"), await harness.signIn("ada@example.org")];
    const [firstSession] = browsers;
    const token = await harness.requestLink("ada@example.org");
    const page = await harness.visit("/account/settings", { cookie: firstSession?.cookie ?? "" });
    assert.equal(page.text.match(/>Another browser</g)?.length, 1);
    assert.equal(page.text.match(/>This browser</g)?.length, 1);
    const signOutEverywhere = (fields: Readonly<Record<string, string>>) =>
      harness.submit("/account/sign-out-everywhere", fields, { cookie: firstSession?.cookie ?? "" });
    assert.equal((await signOutEverywhere({ csrf: eveSession.fields.csrf })).status, 403);
    for (let submission = 0; submission < 2; submission++) {
      const response = await signOutEverywhere(firstSession?.fields ?? {});
      assert.equal(response.status, 303);
      assert.match(String(response.headers["set-cookie"]), /Max-Age=0/);
    }
    for (const { cookie } of browsers) assert.equal(await harness.isSignedIn(cookie), false);
    assert.equal((await harness.submit("/account/enter", { token })).status, 404);
    assert.equal(await harness.isSignedIn(eveSession.cookie), true);
  },
);

eachDatabase(
  "the audit log contains every sign-in, reauthentication and sign-out, and failed reauthentications are limited",
  async (database) => {
    const harness = await accountHarness(database);
    const { customerId, apiKey } = await harness.createAccount("ada@example.org");
    const firstSession = await harness.signIn("ada@example.org");
    const { cookie, fields } = await harness.signIn("ada@example.org", firstSession.cookie);
    const prove = (key: string) => harness.submit("/account/prove", { csrf: fields.csrf, api_key: key }, { cookie });
    for (let attempt = 1; attempt <= 12; attempt++)
      assert.equal((await prove("plx_free_x")).status, attempt <= 10 ? 403 : 429, `attempt ${attempt}`);
    assert.equal((await prove(apiKey)).status, 303, "a valid key is accepted even after too many failures");
    await harness.submit("/account/sign-out", fields, { cookie });
    const lastSession = await harness.signIn("ada@example.org");
    await harness.submit("/account/sign-out-everywhere", lastSession.fields, { cookie: lastSession.cookie });
    const log = await harness.app.customers.auditLog({ customerId, limit: 100 });
    const entries = log.toReversed().map(({ action, details }) => `${action} ${JSON.stringify(details)}`);
    assert.deepEqual(entries.slice(1), [
      "session.started {}",
      'session.ended {"reason":"replaced"}',
      "session.started {}",
      ...Array(10).fill("session.proof_failed {}"),
      "session.proven {}",
      'session.ended {"reason":"signed_out"}',
      "session.started {}",
      'session.all_ended {"sessions":1}',
    ]);
    for (const { actor } of log.slice(0, -1)) assert.match(`${actor.kind} ${actor.id}`, /^session ses-[a-z2-7]{26}$/);
  },
);

eachDatabase("a session ends after one day without use, or fourteen days after it started", async (database) => {
  const harness = await accountHarness(database);
  await harness.createAccount("ada@example.org");
  const idleSession = await harness.signIn("ada@example.org");
  await harness.clock.advance(24 * HOUR_MS - MINUTE_MS);
  assert.equal(await harness.isSignedIn(idleSession.cookie), true);
  await harness.clock.advance(24 * HOUR_MS);
  assert.equal(await harness.isSignedIn(idleSession.cookie), false);
  const usedSession = await harness.signIn("ada@example.org");
  for (let hours = 0; hours < 14 * 24 - 12; hours += 12) {
    await harness.clock.advance(12 * HOUR_MS);
    assert.equal(await harness.isSignedIn(usedSession.cookie), true, `after ${hours + 12} hours`);
  }
  await harness.clock.advance(12 * HOUR_MS);
  assert.equal(await harness.isSignedIn(usedSession.cookie), false);
  await harness.signIn("ada@example.org");
  assert.deepEqual(
    await database.query("select count(*) as count from sessions"),
    [{ count: 2 }],
    "the idle session is deleted",
  );
});

eachDatabase(
  "disabling a customer ends its sessions and sign-in links, and enabling the customer does not restore them",
  async (database) => {
    const harness = await accountHarness(database);
    const { customerId } = await harness.createAccount("ada@example.org");
    const browsers = [await harness.signIn("ada@example.org"), await harness.signIn("ada@example.org")];
    const token = await harness.requestLink("ada@example.org");
    await harness.app.customers.disable(customerId, harness.operator);
    const assertSignedOut = async () => {
      for (const { cookie, fields } of browsers) {
        assert.equal(await harness.isSignedIn(cookie), false);
        assert.equal((await harness.submit("/account/keys", { ...fields, name: "robot" }, { cookie })).status, 401);
      }
      assert.equal((await harness.submit("/account/enter", { token })).status, 404);
    };
    await assertSignedOut();
    await harness.app.customers.enable(customerId, harness.operator);
    await assertSignedOut();
  },
);

eachDatabase(
  "if the database sets a customer's status to `canceled`, its sessions and sign-in links are rejected",
  async (database) => {
    const { harness, cookie } = await signedInHarness(database);
    const token = await harness.requestLink("ada@example.org");
    await database.query("update customers set status = 'canceled'");
    assert.equal(await harness.isSignedIn(cookie), false);
    assert.equal((await harness.submit("/account/enter", { token })).status, 404);
  },
);

onPostgres("if a customer is disabled while a session starts, no session remains", async (database) => {
  const harness = await accountHarness(database);
  const { customerId } = await harness.createAccount("ada@example.org");
  const statuses: number[] = [];
  for (let round = 0; round < 30; round++) {
    const token = await harness.requestLink("ada@example.org");
    const [enterResponse] = await Promise.all([
      harness.submit("/account/enter", { token }),
      harness.app.customers.disable(customerId, harness.operator),
    ]);
    statuses.push(enterResponse.status);
    assert.deepEqual(await database.query("select 1 from sessions"), [], `round ${round}`);
    await harness.app.customers.enable(customerId, harness.operator);
  }
  assert.ok(statuses.every((status) => status === 303 || status === 404));
});

eachDatabase("if a customer with twenty sessions signs in, the least recently used session ends", async (database) => {
  const harness = await accountHarness(database);
  await harness.createAccount("ada@example.org");
  const firstSession = await harness.signIn("ada@example.org");
  for (let signIn = 0; signIn < 20; signIn++) {
    await harness.clock.advance(1_000);
    await harness.signIn("ada@example.org");
  }
  assert.deepEqual(await database.query("select count(*) as count from sessions"), [{ count: 20 }]);
  assert.equal(await harness.isSignedIn(firstSession.cookie), false);
});

eachDatabase("link and cookie tokens are stored only as hashes and are never logged", async (database) => {
  const { harness, cookie } = await signedInHarness(database);
  const token = await harness.requestLink("ada@example.org");
  const rows = JSON.stringify([
    await database.query("select *, encode(token_hash, 'escape') as text from sessions"),
    await database.query("select *, encode(token_hash, 'escape') as text from sign_in_links"),
    harness.lines,
  ]);
  for (const secret of [token, cookie.split("=")[1] ?? ""]) {
    assert.equal(secret.length, 26);
    assert.ok(!rows.includes(secret));
  }
});
