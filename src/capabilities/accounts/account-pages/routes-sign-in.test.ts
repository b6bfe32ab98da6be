import assert from "node:assert/strict";
import {
  accountHarness,
  cookieIn,
  inputIn,
  keyIn,
  tokenIn,
} from "../../../../test/support/customers/account-harness.ts";
import { PUBLIC_URL, useSignUpServices } from "../../../../test/support/customers/customer-harness.ts";
import { eachDatabase } from "../../../../test/support/databases.ts";
import { MINUTE_MS } from "../../../lib/durations.ts";
import type { Database } from "../../../ports/database.ts";

const services = await useSignUpServices();

/** Opens a live server that sends e-mail. */
const openEmailHarness = (database: Database) =>
  accountHarness(database, {
    signUp: services.withEmail,
    account: { botCheck: { token: "XXXX.DUMMY.TOKEN.XXXX" }, emailDelivery: services.withEmail.emailDelivery },
    publicUrl: PUBLIC_URL,
    data: "live",
  });

eachDatabase(
  "in a sandbox, a user signs up with the form, signs in with the displayed link and sees the account",
  async (database) => {
    const harness = await accountHarness(database);
    const homePage = await harness.visit("/account");
    assert.equal(homePage.status, 200);
    assert.match(homePage.text, /This sandbox has no mail server/);
    const token = /name="cf-turnstile-response" value="([^"]+)"/.exec(homePage.text)?.[1] ?? "";
    const fields = { name: "Ada", email: "Ada@example.org", "cf-turnstile-response": token };
    const signUpResponse = await harness.submit("/account/sign-up", fields);
    assert.equal(signUpResponse.status, 200);
    const apiKey = keyIn(signUpResponse.text);
    const { cookie } = await harness.signIn("ada@EXAMPLE.org");
    const page = await harness.visit("/account", { cookie });
    assert.match(page.text, /<h1>Ada<\/h1>/);
    assert.match(page.text, /0 of 100/);
    assert.match(page.text, /2026-12-01/);
    const keysPage = await harness.visit("/account/keys", { cookie });
    assert.ok(keysPage.text.includes(`<code class="id">${apiKey.slice(0, 13)}…</code>`));
    assert.ok(!page.text.includes(apiKey) && !keysPage.text.includes(apiKey));
    const unknownAccountResponse = await harness.submit("/account/sign-in", { email: "unknown@example.org" });
    assert.match(unknownAccountResponse.text, /This sandbox has no account with this address/);
  },
);

eachDatabase(
  "an e-mailed link works once and masks the address, and a link request does not reveal whether the account exists",
  async (database) => {
    const harness = await openEmailHarness(database);
    await harness.createAccount("ada@example.org");
    const { customerId } = await harness.createAccount("disabled@example.org");
    await harness.app.customers.disable(customerId, harness.operator);
    const responses = new Set<string>();
    for (const email of ["ada@example.org", "unknown@example.org", "disabled@example.org", "ada@example.org"]) {
      const response = await harness.submit("/account/sign-in", { email });
      assert.equal(response.status, 200);
      responses.add(response.text.replaceAll(email, "").replace(inputIn(response.text, "form"), ""));
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
      assert.match(page.text, /account of <strong>a…@example\.org<\/strong>/);
    }
    const enterResponse = await harness.submit("/account/enter", { token: tokenIn(link) });
    assert.equal(enterResponse.status, 303);
    assert.equal(enterResponse.headers.location, "/account");
    assert.match(
      String(enterResponse.headers["set-cookie"]),
      /^__Host-parallax=[a-z2-7]{26}; Path=\/; Max-Age=1209600; HttpOnly; SameSite=Lax; Secure$/,
    );
    const page = await harness.visit("/account", { cookie: cookieIn(enterResponse) });
    assert.match(page.text, /ada@example\.org/);
    await harness.app.customers.stop();
    assert.equal(services.currentMails().length, 1);
  },
);

eachDatabase("a third party's link requests neither lock the owner out nor flood the mailbox", async (database) => {
  const harness = await openEmailHarness(database);
  await harness.createAccount("ada@example.org");
  let mailCount = 0;
  let previousAttemptAt = Number.NEGATIVE_INFINITY;
  const requestMail = async () => {
    await harness.submit("/account/sign-in", { email: "ada@example.org" });
    const attemptRows = await database.query<{ taken_at: Date[] }>(
      "select taken_at from attempts where subject = 'signin-mail:ada@example.org'",
    );
    const lastAttemptAt = Math.max(...(attemptRows[0]?.taken_at ?? []).map((date) => date.getTime()));
    if (lastAttemptAt === previousAttemptAt) return;
    previousAttemptAt = lastAttemptAt;
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
  "sign-in links are limited per IP address; only a sandbox exempts loopback addresses",
  async (database) => {
    const harness = await accountHarness(database);
    await harness.createAccount("ada@example.org");
    const readStatuses = async (from: string) => {
      const statuses = new Set<number>();
      for (let request = 0; request < 7; request++)
        statuses.add((await harness.submit("/account/sign-in", { email: "ada@example.org" }, { from })).status);
      return [...statuses];
    };
    for (const from of ["127.0.0.1", "::1", "::ffff:127.0.0.1"])
      assert.deepEqual(await readStatuses(from), [200], from);
    for (const from of ["192.168.0.7", "::2"]) assert.deepEqual(await readStatuses(from), [200, 429], from);
    const liveHarness = await openEmailHarness(database);
    await database.query("delete from attempts");
    const requestLiveLink = (email: string) => liveHarness.submit("/account/sign-in", { email }, { from: "127.0.0.1" });
    for (let request = 0; request < 5; request++) assert.equal((await requestLiveLink("ada@example.org")).status, 200);
    const lastResponse = await requestLiveLink("eve@example.org");
    assert.equal(lastResponse.status, 429, "a live server behind a local proxy sees all callers as loopback");
    assert.match(lastResponse.text, /Retry after 3600 seconds \(60 minutes\)/);
    const attempts = await database.query("select 1 from attempts where subject = 'signin-mail:eve@example.org'");
    assert.deepEqual(attempts, [], "a rejected request sends no e-mail");
  },
);

eachDatabase(
  "404: if one link is submitted fifty times concurrently, exactly one submission starts a session",
  async (database) => {
    const harness = await accountHarness(database);
    await harness.createAccount("ada@example.org");
    const token = await harness.requestLink("ada@example.org");
    const responses = await Promise.all(Array.from({ length: 50 }, () => harness.submit("/account/enter", { token })));
    assert.equal(responses.filter(({ status }) => status === 303).length, 1);
    assert.equal(responses.filter(({ status }) => status === 404).length, 49);
    assert.deepEqual(await database.query("select count(*) as count from sessions"), [{ count: 1 }]);
  },
);

eachDatabase(
  "404: the responses for unknown, altered, used, replaced and expired links are identical",
  async (database) => {
    const harness = await accountHarness(database);
    for (const name of ["used", "expired", "replaced", "active"]) await harness.createAccount(`${name}@example.org`);
    const tokenFor = (name: string) => harness.requestLink(`${name}@example.org`);
    const usedToken = await tokenFor("used");
    assert.equal((await harness.submit("/account/enter", { token: usedToken })).status, 303);
    const expiredToken = await tokenFor("expired");
    await harness.clock.advance(30 * MINUTE_MS);
    const replacedToken = await tokenFor("replaced");
    await tokenFor("replaced");
    const activeToken = await tokenFor("active");
    const alteredToken = `${activeToken.slice(0, -1)}${activeToken.endsWith("a") ? "b" : "a"}`;
    const texts = new Set<string>();
    for (const token of [
      usedToken,
      expiredToken,
      replacedToken,
      alteredToken,
      "",
      "x".repeat(200),
      "a".repeat(26),
      '"><script>',
    ]) {
      const response = await harness.submit("/account/enter", { token });
      assert.equal(response.status, 404);
      assert.equal(response.headers["set-cookie"], undefined);
      texts.add(response.text);
    }
    assert.equal((await harness.visit("/account/enter?token=%22%3E%3Cscript%3E")).status, 404);
    assert.equal((await harness.visit("/account/enter")).status, 404);
    assert.equal(texts.size, 1);
    assert.equal((await harness.submit("/account/enter", { token: activeToken })).status, 303);
  },
);

for (const data of ["live", "sandbox"] as const)
  eachDatabase(
    `503: without a mail server and displayed links, a ${data} server displays an error and no sign-in link`,
    async (database) => {
      const harness = await accountHarness(database, { data, account: { botCheck: null, emailDelivery: null } });
      await harness.createAccount("ada@example.org");
      const homePage = await harness.visit("/account");
      assert.match(homePage.text, /Sign-in isn’t available/);
      assert.match(homePage.text, /Sign-up isn’t available/);
      assert.doesNotMatch(homePage.text, /<form/);
      const response = await harness.submit("/account/sign-in", { email: "ada@example.org" });
      assert.equal(response.status, 503);
      assert.match(String(response.headers["content-type"]), /^text\/html/);
      assert.doesNotMatch(response.text, /enter/);
      assert.deepEqual(await database.query("select 1 from sign_in_links"), []);
    },
  );

eachDatabase("403: a page that displays sign-in links opens only under a loopback host", async (database) => {
  const harness = await accountHarness(database);
  await harness.createAccount("ada@example.org");
  for (const host of [
    "evil.example",
    "evil.example:8787",
    "127.0.0.1.evil.example",
    "192.0.2.7:8787",
    "0.0.0.0:8787",
  ]) {
    const origin = `http://${host}`;
    const headerSets: readonly Readonly<Record<string, string>>[] = [
      { host },
      { host, origin },
      { host, "sec-fetch-site": "same-origin", origin: `https://${host}` },
    ];
    for (const headers of headerSets) {
      const responses = [
        await harness.visit("/account", { headers }),
        await harness.visit("/account/enter?token=x", { headers }),
        await harness.submit("/account/sign-in", { email: "ada@example.org" }, { headers }),
      ];
      for (const { status, text } of responses) {
        assert.equal(status, 403, host);
        assert.doesNotMatch(text, /enter\?token|<form/);
      }
    }
  }
  assert.deepEqual(await database.query("select 1 from sign_in_links"), []);
  for (const host of ["localhost:8787", "127.0.0.1:8787", "[::1]:8787"]) {
    const headers = { host, origin: `http://${host}` };
    const { text } = await harness.submit("/account/sign-in", { email: "ada@example.org" }, { headers });
    assert.notEqual(tokenIn(text), "", host);
  }
});
