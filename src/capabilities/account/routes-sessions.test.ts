import assert from "node:assert/strict";
import { accountHarness } from "../../../test/support/customers/account-harness.ts";
import { eachDatabase, onPostgres } from "../../../test/support/databases.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

eachDatabase(
  "signing in again ends the previous session of the same browser, but not sessions in other browsers",
  async (database) => {
    const harness = await accountHarness(database);
    await harness.createAccount("ada@example.org");
    const first = await harness.signIn("ada@example.org");
    const otherBrowser = await harness.signIn("ada@example.org");
    const second = await harness.signIn("ada@example.org", first.cookie);
    assert.notEqual(second.cookie, first.cookie);
    assert.deepEqual(
      [
        await harness.isSignedIn(first.cookie),
        await harness.isSignedIn(second.cookie),
        await harness.isSignedIn(otherBrowser.cookie),
      ],
      [false, true, true],
    );
    // Session fixation: a cookie planted before the sign-in does not become a session.
    const planted = `parallax=${"a".repeat(26)}`;
    const third = await harness.signIn("ada@example.org", planted);
    assert.notEqual(third.cookie, planted);
    assert.equal(await harness.isSignedIn(planted), false);
  },
);

eachDatabase("signing out ends the session on the server even if the browser keeps the cookie", async (database) => {
  const harness = await accountHarness(database);
  await harness.createAccount("ada@example.org");
  const { cookie, fields } = await harness.signIn("ada@example.org");
  const rejected = await harness.submit("/account/sign-out", { csrf: "" }, { cookie });
  assert.equal(rejected.status, 403);
  const response = await harness.submit("/account/sign-out", { csrf: fields.csrf }, { cookie });
  assert.equal(response.status, 303);
  assert.match(String(response.headers["set-cookie"]), /^parallax=; Path=\/; Max-Age=0/);
  assert.deepEqual(await database.query("select 1 from sessions"), []);
  assert.equal(await harness.isSignedIn(cookie), false);
});

eachDatabase(
  "signing out everywhere ends all sessions and the sign-in link of this customer only",
  async (database) => {
    const harness = await accountHarness(database);
    await harness.createAccount("ada@example.org");
    await harness.createAccount("eve@example.org");
    const eve = await harness.signIn("eve@example.org");
    const browsers = [await harness.signIn("ada@example.org"), await harness.signIn("ada@example.org")];
    const [first] = browsers;
    const token = await harness.requestLink("ada@example.org");
    const page = await harness.visit("/account", { cookie: first?.cookie ?? "" });
    assert.equal(page.text.match(/>Another browser</g)?.length, 1);
    assert.equal(page.text.match(/>This browser</g)?.length, 1);
    const signOutEverywhere = (fields: Readonly<Record<string, string>>) =>
      harness.submit("/account/sign-out-everywhere", fields, { cookie: first?.cookie ?? "" });
    assert.equal((await signOutEverywhere({ csrf: eve.fields.csrf })).status, 403);
    for (let submission = 0; submission < 2; submission++) {
      const response = await signOutEverywhere(first?.fields ?? {});
      assert.equal(response.status, 303);
      assert.match(String(response.headers["set-cookie"]), /Max-Age=0/);
    }
    for (const { cookie } of browsers) assert.equal(await harness.isSignedIn(cookie), false);
    assert.equal((await harness.submit("/account/enter", { token })).status, 404);
    assert.equal(await harness.isSignedIn(eve.cookie), true);
  },
);

eachDatabase("every sign-in, proof and sign-out is audited, and failed proofs are limited", async (database) => {
  const harness = await accountHarness(database);
  const { customerId, apiKey } = await harness.createAccount("ada@example.org");
  const first = await harness.signIn("ada@example.org");
  const { cookie, fields } = await harness.signIn("ada@example.org", first.cookie);
  const prove = (key: string) => harness.submit("/account/prove", { csrf: fields.csrf, api_key: key }, { cookie });
  for (let attempt = 1; attempt <= 12; attempt++)
    assert.equal((await prove("plx_free_x")).status, attempt <= 10 ? 403 : 429, `attempt ${attempt}`);
  assert.equal((await prove(apiKey)).status, 303, "a valid key is accepted even after too many failures");
  await harness.submit("/account/sign-out", fields, { cookie });
  const last = await harness.signIn("ada@example.org");
  await harness.submit("/account/sign-out-everywhere", last.fields, { cookie: last.cookie });
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
});

eachDatabase("a session ends after a day without use, and after fourteen days in any case", async (database) => {
  const harness = await accountHarness(database);
  await harness.createAccount("ada@example.org");
  const idle = await harness.signIn("ada@example.org");
  await harness.clock.advance(24 * HOUR_MS - MINUTE_MS);
  assert.equal(await harness.isSignedIn(idle.cookie), true);
  await harness.clock.advance(24 * HOUR_MS);
  assert.equal(await harness.isSignedIn(idle.cookie), false);
  const used = await harness.signIn("ada@example.org");
  for (let hours = 0; hours < 14 * 24 - 12; hours += 12) {
    await harness.clock.advance(12 * HOUR_MS);
    assert.equal(await harness.isSignedIn(used.cookie), true, `after ${hours + 12} hours`);
  }
  await harness.clock.advance(12 * HOUR_MS);
  assert.equal(await harness.isSignedIn(used.cookie), false);
  await harness.signIn("ada@example.org");
  assert.deepEqual(
    await database.query("select count(*) as count from sessions"),
    [{ count: 2 }],
    "the idle session is deleted",
  );
});

eachDatabase(
  "disabling a customer ends all sessions and links, and enabling does not restore them",
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
  "sessions and links of a customer whose status is set to canceled directly in the database are rejected",
  async (database) => {
    const harness = await accountHarness(database);
    await harness.createAccount("ada@example.org");
    const { cookie } = await harness.signIn("ada@example.org");
    const token = await harness.requestLink("ada@example.org");
    await database.query("update customers set status = 'canceled'");
    assert.equal(await harness.isSignedIn(cookie), false);
    assert.equal((await harness.submit("/account/enter", { token })).status, 404);
  },
);

onPostgres("a session that starts while its customer is disabled does not survive", async (database) => {
  const harness = await accountHarness(database);
  const { customerId } = await harness.createAccount("ada@example.org");
  const statuses: number[] = [];
  for (let round = 0; round < 30; round++) {
    const token = await harness.requestLink("ada@example.org");
    const [entered] = await Promise.all([
      harness.submit("/account/enter", { token }),
      harness.app.customers.disable(customerId, harness.operator),
    ]);
    statuses.push(entered.status);
    assert.deepEqual(await database.query("select 1 from sessions"), [], `round ${round}`);
    await harness.app.customers.enable(customerId, harness.operator);
  }
  assert.ok(statuses.every((status) => status === 303 || status === 404));
});

eachDatabase("a customer has at most twenty sessions; a new one ends the least recently used", async (database) => {
  const harness = await accountHarness(database);
  await harness.createAccount("ada@example.org");
  const first = await harness.signIn("ada@example.org");
  for (let signIn = 0; signIn < 20; signIn++) {
    await harness.clock.advance(1_000);
    await harness.signIn("ada@example.org");
  }
  assert.deepEqual(await database.query("select count(*) as count from sessions"), [{ count: 20 }]);
  assert.equal(await harness.isSignedIn(first.cookie), false);
});

eachDatabase("tokens of links and cookies are stored only as hashes and never logged", async (database) => {
  const harness = await accountHarness(database);
  await harness.createAccount("ada@example.org");
  const { cookie } = await harness.signIn("ada@example.org");
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
