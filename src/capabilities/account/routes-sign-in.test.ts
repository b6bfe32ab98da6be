import assert from "node:assert/strict";
import { accountHarness, cookieIn, keyIn, tokenIn } from "../../../test/support/customers/account-harness.ts";
import { PUBLIC_URL, useSignUpServices } from "../../../test/support/customers/customer-harness.ts";
import { eachDatabase } from "../../../test/support/databases.ts";
import type { Database } from "../../ports/database.ts";

const MINUTE_MS = 60_000;

const services = await useSignUpServices();

/** A live server with a mail server. */
const emailHarness = (database: Database) =>
  accountHarness(database, {
    signUp: services.withEmail,
    account: { botCheck: { token: "XXXX.DUMMY.TOKEN.XXXX" }, emailDelivery: services.withEmail.emailDelivery },
    publicUrl: PUBLIC_URL,
    data: "live",
  });

eachDatabase(
  "a user signs up by form, signs in with the link a sandbox displays, and sees the account",
  async (database) => {
    const harness = await accountHarness(database);
    const home = await harness.visit("/account");
    assert.equal(home.status, 200);
    assert.match(home.text, /This sandbox has no mail server/);
    const token = /name="cf-turnstile-response" value="([^"]+)"/.exec(home.text)?.[1] ?? "";
    const fields = { name: "Ada", email: "Ada@example.org", "cf-turnstile-response": token };
    const opened = await harness.submit("/account/sign-up", fields);
    assert.equal(opened.status, 200);
    const key = keyIn(opened.text);
    const { cookie } = await harness.signIn("ada@EXAMPLE.org");
    const page = await harness.visit("/account", { cookie });
    assert.match(page.text, /<h1>Ada<\/h1>/);
    assert.match(page.text, /0 of 100/);
    assert.match(page.text, /2026-12-01/);
    assert.ok(page.text.includes(`<code>${key.slice(0, 13)}…</code>`));
    assert.ok(!page.text.includes(key));
    assert.equal((await harness.submit("/account/sign-up", fields)).status, 409);
    assert.equal((await harness.submit("/account/sign-up", { ...fields, "cf-turnstile-response": "" })).status, 403);
    assert.equal((await harness.submit("/account/sign-up", { ...fields, email: "ada" })).status, 422);
    assert.equal((await harness.submit("/account/sign-up", { ...fields, name: "Ada\u202e" })).status, 422);
    const unknown = await harness.submit("/account/sign-in", { email: "unknown@example.org" });
    assert.match(unknown.text, /This sandbox has no account with this address/);
  },
);

eachDatabase(
  "an e-mailed link signs in once, and requesting one does not reveal whether the account exists",
  async (database) => {
    const harness = await emailHarness(database);
    await harness.createAccount("ada@example.org");
    const { customerId } = await harness.createAccount("disabled@example.org");
    await harness.app.customers.disable(customerId, harness.operator);
    const responses = new Set<string>();
    for (const email of ["ada@example.org", "unknown@example.org", "disabled@example.org", "ada@example.org"]) {
      const response = await harness.submit("/account/sign-in", { email });
      assert.equal(response.status, 200);
      responses.add(response.text);
    }
    assert.equal(responses.size, 1);
    const [mail] = await services.receivedMails(1);
    assert.deepEqual(mail?.recipients, ["ada@example.org"]);
    const link =
      /https:\/\/parallax\.example(\/account\/enter\?token=[a-z2-7]{26})\n/.exec(mail?.text ?? "")?.[1] ?? "";
    for (let request = 0; request < 10; request++) {
      const page = await harness.visit(link);
      assert.equal(page.status, 200);
      assert.equal(page.headers["referrer-policy"], "strict-origin");
      assert.equal(page.headers["cache-control"], "no-store");
      assert.equal(page.headers["set-cookie"], undefined);
    }
    const entered = await harness.submit("/account/enter", { token: tokenIn(link) });
    assert.equal(entered.status, 303);
    assert.equal(entered.headers.location, "/account");
    assert.match(
      String(entered.headers["set-cookie"]),
      /^__Host-parallax=[a-z2-7]{26}; Path=\/; Max-Age=1209600; HttpOnly; SameSite=Lax; Secure$/,
    );
    const page = await harness.visit("/account", { cookie: cookieIn(entered) });
    assert.match(page.text, /ada@example\.org/);
    await harness.app.customers.stop();
    assert.equal(services.currentMails().length, 1);
  },
);

eachDatabase(
  "an address gets one link per minute and three per day, and the last link stays valid",
  async (database) => {
    const harness = await emailHarness(database);
    await harness.createAccount("ada@example.org");
    for (let request = 0; request < 60; request++) {
      assert.equal((await harness.submit("/account/sign-in", { email: "ada@example.org" })).status, 200);
      if (request < 6) await services.receivedMails(Math.min(3, Math.floor(request / 2) + 1));
      await harness.clock.advance(request < 6 ? 30_000 : 10_000);
    }
    const mails = await services.receivedMails(3);
    assert.equal(mails.length, 3);
    assert.equal((await harness.submit("/account/enter", { token: tokenIn(mails.at(-2)?.text ?? "") })).status, 404);
    assert.equal((await harness.submit("/account/enter", { token: tokenIn(mails.at(-1)?.text ?? "") })).status, 303);
  },
);

eachDatabase("requests by a third party neither lock the owner out nor flood the mailbox", async (database) => {
  const harness = await emailHarness(database);
  await harness.createAccount("ada@example.org");
  let mailCount = 0;
  let lastAt = Number.NEGATIVE_INFINITY;
  const requestMail = async () => {
    await harness.submit("/account/sign-in", { email: "ada@example.org" });
    const taken = await database.query<{ taken_at: Date[] }>(
      "select taken_at from attempts where subject = 'signin-mail:ada@example.org'",
    );
    const at = Math.max(...(taken[0]?.taken_at ?? []).map((date) => date.getTime()));
    if (at === lastAt) return;
    lastAt = at;
    mailCount += 1;
    await services.receivedMails(mailCount);
  };
  for (let minutes = 0; minutes < 24 * 60; minutes += 10) {
    await requestMail();
    // The owner can always sign in with the link of the last e-mail.
    const token = tokenIn(services.currentMails().at(-1)?.text ?? "");
    assert.equal((await harness.visit(`/account/enter?token=${token}`)).status, 200, `after ${minutes} minutes`);
    await harness.clock.advance(10 * MINUTE_MS);
  }
  assert.equal(services.currentMails().length, mailCount);
  assert.ok(mailCount > 3 && mailCount <= 3 + 48, `${mailCount} e-mails`);
});

eachDatabase(
  "a sandbox limits sign-in links per network address, except for loopback; a live server also limits loopback",
  async (database) => {
    const harness = await accountHarness(database);
    await harness.createAccount("ada@example.org");
    const statusesOf = async (from: string) => {
      const statuses = new Set<number>();
      for (let request = 0; request < 7; request++)
        statuses.add((await harness.submit("/account/sign-in", { email: "ada@example.org" }, { from })).status);
      return [...statuses];
    };
    for (const from of ["127.0.0.1", "::1", "::ffff:127.0.0.1"]) assert.deepEqual(await statusesOf(from), [200], from);
    for (const from of ["192.168.0.7", "::2"]) assert.deepEqual(await statusesOf(from), [200, 429], from);
    const live = await emailHarness(database);
    await database.query("delete from attempts");
    const requestLive = () => live.submit("/account/sign-in", { email: "ada@example.org" }, { from: "127.0.0.1" });
    for (let request = 0; request < 5; request++) assert.equal((await requestLive()).status, 200);
    const last = await requestLive();
    assert.equal(last.status, 429, "a live server behind a local proxy sees all callers as loopback");
    assert.match(last.text, /Retry after 3600 seconds \(60 minutes\)/);
  },
);

eachDatabase(
  "429: a network address may request five links per hour; further requests send no e-mail",
  async (database) => {
    const harness = await emailHarness(database);
    const statuses: number[] = [];
    for (let request = 0; request < 6; request++) {
      const response = await harness.submit(
        "/account/sign-in",
        { email: `${request}@example.org` },
        { from: "203.0.113.7" },
      );
      statuses.push(response.status);
    }
    assert.deepEqual(statuses, [200, 200, 200, 200, 200, 429]);
    assert.deepEqual(await database.query("select 1 from attempts where subject = 'signin-mail:5@example.org'"), []);
  },
);

eachDatabase("404: of fifty concurrent sign-ins with one link exactly one starts a session", async (database) => {
  const harness = await accountHarness(database);
  await harness.createAccount("ada@example.org");
  const token = await harness.requestLink("ada@example.org");
  const responses = await Promise.all(Array.from({ length: 50 }, () => harness.submit("/account/enter", { token })));
  assert.equal(responses.filter(({ status }) => status === 303).length, 1);
  assert.equal(responses.filter(({ status }) => status === 404).length, 49);
  assert.deepEqual(await database.query("select count(*) as count from sessions"), [{ count: 1 }]);
});

eachDatabase("404: unknown, altered, used, replaced and expired links get identical responses", async (database) => {
  const harness = await accountHarness(database);
  for (const name of ["used", "expired", "replaced", "active"]) await harness.createAccount(`${name}@example.org`);
  const tokenFor = (name: string) => harness.requestLink(`${name}@example.org`);
  const used = await tokenFor("used");
  assert.equal((await harness.submit("/account/enter", { token: used })).status, 303);
  const expired = await tokenFor("expired");
  await harness.clock.advance(30 * MINUTE_MS);
  const replaced = await tokenFor("replaced");
  await tokenFor("replaced");
  const active = await tokenFor("active");
  const altered = `${active.slice(0, -1)}${active.endsWith("a") ? "b" : "a"}`;
  const texts = new Set<string>();
  for (const token of [used, expired, replaced, altered, "", "x".repeat(200), "a".repeat(26), '"><script>']) {
    const response = await harness.submit("/account/enter", { token });
    assert.equal(response.status, 404);
    assert.equal(response.headers["set-cookie"], undefined);
    texts.add(response.text);
  }
  assert.equal((await harness.visit("/account/enter?token=%22%3E%3Cscript%3E")).status, 404);
  assert.equal((await harness.visit("/account/enter")).status, 404);
  assert.equal(texts.size, 1);
  assert.equal((await harness.submit("/account/enter", { token: active })).status, 303);
});

eachDatabase("the link's page shows the account's address only in part", async (database) => {
  const harness = await accountHarness(database);
  await harness.createAccount("ada.lovelace@example.org");
  const token = await harness.requestLink("ada.lovelace@example.org");
  const page = await harness.visit(`/account/enter?token=${token}`);
  assert.match(page.text, /account of <strong>a…@example\.org<\/strong>/);
  assert.doesNotMatch(page.text, /lovelace/);
  assert.equal((await harness.visit(`/account/enter?token=${"a".repeat(26)}`)).status, 404);
});

eachDatabase("503: a live server without a mail server displays no link and says so", async (database) => {
  const harness = await accountHarness(database, { data: "live", account: { botCheck: null, emailDelivery: null } });
  await harness.createAccount("ada@example.org");
  const home = await harness.visit("/account");
  assert.match(home.text, /Sign-in isn’t available/);
  assert.match(home.text, /Sign-up isn’t available/);
  assert.doesNotMatch(home.text, /<form/);
  const response = await harness.submit("/account/sign-in", { email: "ada@example.org" });
  assert.equal(response.status, 503);
  assert.match(String(response.headers["content-type"]), /^text\/html/);
  assert.doesNotMatch(response.text, /enter/);
  assert.deepEqual(await database.query("select 1 from sign_in_links"), []);
});

eachDatabase("sign-in responses do not depend on the mail server, and the e-mail is retried", async (database) => {
  const harness = await emailHarness(database);
  await harness.createAccount("ada@example.org");
  services.mailbox.refuse(451, 1);
  assert.equal((await harness.submit("/account/sign-in", { email: "ada@example.org" })).status, 200);
  while (!harness.lines.some(({ message }) => /retrying later/.test(message))) await new Promise(setImmediate);
  await harness.clock.advance(1_000);
  assert.equal((await services.receivedMails(1)).length, 1);
});
