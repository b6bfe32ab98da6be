import assert from "node:assert/strict";
import { after, before, beforeEach } from "node:test";
import { accountHarness, cookieIn, keyIn, tokenIn } from "../../../test/support/customers/account-harness.ts";
import { PUBLIC_URL, signUpServices } from "../../../test/support/customers/customer-harness.ts";
import { eachDatabase, onPostgres } from "../../../test/support/databases.ts";
import type { Database } from "../../ports/database.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

let services: Awaited<ReturnType<typeof signUpServices>>;
before(async () => {
  services = await signUpServices();
});
after(() => services.close());
/** How many letters came before this test. */
let seen = 0;
beforeEach(() => {
  seen = services.mailbox.mails.length;
});

const withLetters = (database: Database) =>
  accountHarness(database, {
    signUp: services.withLetters,
    account: { botCheck: { token: "XXXX.DUMMY.TOKEN.XXXX" }, letters: services.withLetters.letters },
    publicUrl: PUBLIC_URL,
    data: "live",
  });

eachDatabase(
  "a stranger signs up by a form, signs in by the link of a sandbox, and sees the account",
  async (database) => {
    const bench = await accountHarness(database);
    const home = await bench.visit("/account");
    assert.equal(home.status, 200);
    assert.match(home.text, /sandbox without a mail server/);
    const token = /name="cf-turnstile-response" value="([^"]+)"/.exec(home.text)?.[1] ?? "";
    const fields = { name: "Ada", email: "Ada@example.org", "cf-turnstile-response": token };
    const opened = await bench.submit("/account/sign-up", fields);
    assert.equal(opened.status, 200);
    const key = keyIn(opened.text);
    const { cookie } = await bench.signIn("ada@EXAMPLE.org");
    const page = await bench.visit("/account", { cookie });
    assert.match(page.text, /<h1>Ada<\/h1>/);
    assert.match(page.text, /0 of 100/);
    assert.match(page.text, /2026-12-01/);
    assert.ok(page.text.includes(`<code>${key.slice(0, 13)}…</code>`));
    assert.ok(!page.text.includes(key));
    assert.equal((await bench.submit("/account/sign-up", fields)).status, 409);
    assert.equal((await bench.submit("/account/sign-up", { ...fields, "cf-turnstile-response": "" })).status, 403);
    assert.equal((await bench.submit("/account/sign-up", { ...fields, email: "ada" })).status, 422);
    assert.equal((await bench.submit("/account/sign-up", { ...fields, name: "Ada\u202e" })).status, 422);
    const nobody = await bench.submit("/account/sign-in", { email: "nobody@example.org" });
    assert.match(nobody.text, /No account of this sandbox/);
    await bench.close();
  },
);

eachDatabase("a letter's link signs in once, and the answer to asking for one tells nothing", async (database) => {
  const bench = await withLetters(database);
  await bench.open("ada@example.org");
  const { customerId } = await bench.open("gone@example.org");
  await bench.app.customers.disable(customerId, bench.operator);
  const answers = new Set<string>();
  for (const email of ["ada@example.org", "nobody@example.org", "gone@example.org", "ada@example.org"]) {
    const answer = await bench.submit("/account/sign-in", { email });
    assert.equal(answer.status, 200);
    answers.add(answer.text);
  }
  assert.equal(answers.size, 1);
  const mails = await services.mailbox.received(seen + 1);
  const mail = mails[seen];
  assert.deepEqual(mail?.recipients, ["ada@example.org"]);
  const link = /https:\/\/parallax\.example(\/account\/enter\?token=[a-z2-7]{26})\n/.exec(mail?.text ?? "")?.[1] ?? "";
  for (let turn = 0; turn < 10; turn++) {
    const page = await bench.visit(link);
    assert.equal(page.status, 200);
    assert.equal(page.headers["referrer-policy"], "strict-origin");
    assert.equal(page.headers["cache-control"], "no-store");
    assert.equal(page.headers["set-cookie"], undefined);
  }
  const entered = await bench.submit("/account/enter", { token: tokenIn(link) });
  assert.equal(entered.status, 303);
  assert.equal(entered.headers.location, "/account");
  assert.match(
    String(entered.headers["set-cookie"]),
    /^__Host-parallax=[a-z2-7]{26}; Path=\/; Max-Age=1209600; HttpOnly; SameSite=Lax; Secure$/,
  );
  const page = await bench.visit("/account", { cookie: cookieIn(entered) });
  assert.match(page.text, /ada@example\.org/);
  await bench.app.customers.stop();
  assert.equal(services.mailbox.mails.length, seen + 1, "one letter in all");
  await bench.close();
});

eachDatabase("a mailbox gets one letter a minute and three a day, and the last link stays good", async (database) => {
  const bench = await withLetters(database);
  await bench.open("ada@example.org");
  for (let turn = 0; turn < 60; turn++) {
    assert.equal((await bench.submit("/account/sign-in", { email: "ada@example.org" })).status, 200);
    if (turn < 6) await services.mailbox.received(seen + Math.min(3, Math.floor(turn / 2) + 1));
    await bench.clock.advance(turn < 6 ? 30_000 : 10_000);
  }
  const mails = await services.mailbox.received(seen + 3);
  assert.equal(mails.length, seen + 3);
  assert.equal((await bench.submit("/account/enter", { token: tokenIn(mails.at(-2)?.text ?? "") })).status, 404);
  assert.equal((await bench.submit("/account/enter", { token: tokenIn(mails.at(-1)?.text ?? "") })).status, 303);
  await bench.close();
});

eachDatabase("whoever asks in a stranger's name all day keeps nobody out, and fills no mailbox", async (database) => {
  const bench = await withLetters(database);
  await bench.open("ada@example.org");
  let letters = 0;
  let lastAt = Number.NEGATIVE_INFINITY;
  const ask = async () => {
    await bench.submit("/account/sign-in", { email: "ada@example.org" });
    const taken = await database.query<{ taken_at: Date[] }>(
      "select taken_at from attempts where subject = 'signin-mail:ada@example.org'",
    );
    const at = Math.max(...(taken[0]?.taken_at ?? []).map((instant) => instant.getTime()));
    if (at === lastAt) return;
    lastAt = at;
    letters += 1;
    await services.mailbox.received(seen + letters);
  };
  for (let minutes = 0; minutes < 24 * 60; minutes += 10) {
    await ask();
    // Whenever the owner comes, the last letter's link lives.
    const token = tokenIn(services.mailbox.mails.at(-1)?.text ?? "");
    assert.equal((await bench.visit(`/account/enter?token=${token}`)).status, 200, `after ${minutes} minutes`);
    await bench.clock.advance(10 * MINUTE_MS);
  }
  assert.equal(services.mailbox.mails.length, seen + letters);
  assert.ok(letters > 3 && letters <= 3 + 48, `${letters} letters`);
  await bench.close();
});

eachDatabase(
  "whoever tries a sandbox out on the same machine gets links as often as he asks, and nobody else does",
  async (database) => {
    const bench = await accountHarness(database);
    await bench.open("ada@example.org");
    const statusesOf = async (from: string) => {
      const statuses = new Set<number>();
      for (let turn = 0; turn < 7; turn++)
        statuses.add((await bench.submit("/account/sign-in", { email: "ada@example.org" }, { from })).status);
      return [...statuses];
    };
    for (const from of ["127.0.0.1", "::1", "::ffff:127.0.0.1"]) assert.deepEqual(await statusesOf(from), [200], from);
    for (const from of ["192.168.0.7", "::2"]) assert.deepEqual(await statusesOf(from), [200, 429], from);
    await bench.close();
    const live = await withLetters(database);
    await database.query("delete from attempts");
    const refused = await live.submit("/account/sign-in", { email: "ada@example.org" }, { from: "127.0.0.1" });
    assert.equal(refused.status, 200);
    for (let turn = 0; turn < 4; turn++)
      await live.submit("/account/sign-in", { email: "ada@example.org" }, { from: "127.0.0.1" });
    const last = await live.submit("/account/sign-in", { email: "ada@example.org" }, { from: "127.0.0.1" });
    assert.equal(last.status, 429, "a live server behind a proxy of its own has no address to tell people by");
    assert.match(last.text, /Retry after 3600 seconds \(60 minutes\)/);
    await live.close();
  },
);

eachDatabase(
  "429: one network address asks for five links an hour, and nobody's mailbox is touched after",
  async (database) => {
    const bench = await withLetters(database);
    const statuses: number[] = [];
    for (let turn = 0; turn < 6; turn++) {
      const answer = await bench.submit("/account/sign-in", { email: `${turn}@example.org` }, { from: "203.0.113.7" });
      statuses.push(answer.status);
    }
    assert.deepEqual(statuses, [200, 200, 200, 200, 200, 429]);
    assert.deepEqual(await database.query("select 1 from attempts where subject = 'signin-mail:5@example.org'"), []);
    await bench.close();
  },
);

eachDatabase("404: of fifty presses at once one begins a session", async (database) => {
  const bench = await accountHarness(database);
  await bench.open("ada@example.org");
  const token = tokenIn((await bench.submit("/account/sign-in", { email: "ada@example.org" })).text);
  const answers = await Promise.all(Array.from({ length: 50 }, () => bench.submit("/account/enter", { token })));
  assert.equal(answers.filter(({ status }) => status === 303).length, 1);
  assert.equal(answers.filter(({ status }) => status === 404).length, 49);
  assert.deepEqual(await database.query("select count(*) as count from sessions"), [{ count: 1 }]);
  await bench.close();
});

eachDatabase("404: unknown, altered, used, replaced and expired links are told apart by nobody", async (database) => {
  const bench = await accountHarness(database);
  for (const name of ["used", "old", "replaced", "living"]) await bench.open(`${name}@example.org`);
  const tokenFor = async (name: string) =>
    tokenIn((await bench.submit("/account/sign-in", { email: `${name}@example.org` })).text);
  const used = await tokenFor("used");
  assert.equal((await bench.submit("/account/enter", { token: used })).status, 303);
  const old = await tokenFor("old");
  await bench.clock.advance(30 * MINUTE_MS);
  const replaced = await tokenFor("replaced");
  await tokenFor("replaced");
  const living = await tokenFor("living");
  const altered = `${living.slice(0, -1)}${living.endsWith("a") ? "b" : "a"}`;
  const texts = new Set<string>();
  for (const token of [used, old, replaced, altered, "", "x".repeat(200), "a".repeat(26), '"><script>']) {
    const answer = await bench.submit("/account/enter", { token });
    assert.equal(answer.status, 404);
    assert.equal(answer.headers["set-cookie"], undefined);
    texts.add(answer.text);
  }
  assert.equal((await bench.visit("/account/enter?token=%22%3E%3Cscript%3E")).status, 404);
  assert.equal((await bench.visit("/account/enter")).status, 404);
  assert.equal(texts.size, 1);
  assert.equal((await bench.submit("/account/enter", { token: living })).status, 303);
  await bench.close();
});

eachDatabase(
  "the session of before a sign-in is over after it, and others of the customer are not",
  async (database) => {
    const bench = await accountHarness(database);
    await bench.open("ada@example.org");
    const isSignedIn = async (cookie: string) => /Sign out/.test((await bench.visit("/account", { cookie })).text);
    const first = await bench.signIn("ada@example.org");
    const elsewhere = await bench.signIn("ada@example.org");
    const second = await bench.signIn("ada@example.org", first.cookie);
    assert.notEqual(second.cookie, first.cookie);
    assert.deepEqual(
      [await isSignedIn(first.cookie), await isSignedIn(second.cookie), await isSignedIn(elsewhere.cookie)],
      [false, true, true],
    );
    // A cookie that somebody has planted before the sign-in becomes nobody's session.
    const planted = `parallax=${"a".repeat(26)}`;
    const third = await bench.signIn("ada@example.org", planted);
    assert.notEqual(third.cookie, planted);
    assert.equal(await isSignedIn(planted), false);
    await bench.close();
  },
);

eachDatabase("signing out ends the session on the server, whatever the browser keeps", async (database) => {
  const bench = await accountHarness(database);
  await bench.open("ada@example.org");
  const { cookie, fields } = await bench.signIn("ada@example.org");
  const refused = await bench.submit("/account/sign-out", { csrf: "" }, { cookie });
  assert.equal(refused.status, 403);
  const answer = await bench.submit("/account/sign-out", { csrf: fields.csrf }, { cookie });
  assert.equal(answer.status, 303);
  assert.match(String(answer.headers["set-cookie"]), /^parallax=; Path=\/; Max-Age=0/);
  assert.deepEqual(await database.query("select 1 from sessions"), []);
  assert.match((await bench.visit("/account", { cookie })).text, /Send me a link|Show me a link/);
  await bench.close();
});

eachDatabase(
  "signing out everywhere ends every session and the link in the mailbox, and nobody else's",
  async (database) => {
    const bench = await accountHarness(database);
    await bench.open("ada@example.org");
    await bench.open("eve@example.org");
    const eve = await bench.signIn("eve@example.org");
    const browsers = [await bench.signIn("ada@example.org"), await bench.signIn("ada@example.org")];
    const [first] = browsers;
    const token = tokenIn((await bench.submit("/account/sign-in", { email: "ada@example.org" })).text);
    const page = await bench.visit("/account", { cookie: first?.cookie ?? "" });
    assert.equal(page.text.match(/>Another one</g)?.length, 1);
    assert.equal(page.text.match(/>This one</g)?.length, 1);
    const everywhere = (fields: Readonly<Record<string, string>>) =>
      bench.submit("/account/sign-out-everywhere", fields, { cookie: first?.cookie ?? "" });
    assert.equal((await everywhere({ csrf: eve.fields.csrf })).status, 403);
    for (let press = 0; press < 2; press++) {
      const answer = await everywhere(first?.fields ?? {});
      assert.equal(answer.status, 303);
      assert.match(String(answer.headers["set-cookie"]), /Max-Age=0/);
    }
    const isSignedIn = async (cookie: string) => /Sign out/.test((await bench.visit("/account", { cookie })).text);
    for (const { cookie } of browsers) assert.equal(await isSignedIn(cookie), false);
    assert.equal((await bench.submit("/account/enter", { token })).status, 404);
    assert.equal(await isSignedIn(eve.cookie), true);
    await bench.close();
  },
);

eachDatabase("every sign-in, proof and sign-out is traced, and what fails of proofs is bounded", async (database) => {
  const bench = await accountHarness(database);
  const { customerId, apiKey } = await bench.open("ada@example.org");
  const first = await bench.signIn("ada@example.org");
  const { cookie, fields } = await bench.signIn("ada@example.org", first.cookie);
  const prove = (key: string) => bench.submit("/account/prove", { csrf: fields.csrf, api_key: key }, { cookie });
  for (let turn = 0; turn < 12; turn++)
    assert.equal((await prove("plx_free_x")).status, turn < 10 ? 403 : 429, `attempt ${turn + 1}`);
  assert.equal((await prove(apiKey)).status, 303, "whoever has the key is not kept out");
  await bench.submit("/account/sign-out", fields, { cookie });
  const last = await bench.signIn("ada@example.org");
  await bench.submit("/account/sign-out-everywhere", last.fields, { cookie: last.cookie });
  const log = await bench.app.customers.auditLog({ customerId, limit: 100 });
  const told = log.toReversed().map(({ action, details }) => `${action} ${JSON.stringify(details)}`);
  assert.deepEqual(told.slice(1), [
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
  await bench.close();
});

eachDatabase("a link's page says whose account it opens, and not the whole address", async (database) => {
  const bench = await accountHarness(database);
  await bench.open("ada.lovelace@example.org");
  const { text } = await bench.submit("/account/sign-in", { email: "ada.lovelace@example.org" });
  const page = await bench.visit(`/account/enter?token=${tokenIn(text)}`);
  assert.match(page.text, /account of <strong>a…@example\.org<\/strong>/);
  assert.doesNotMatch(page.text, /lovelace/);
  assert.equal((await bench.visit(`/account/enter?token=${"a".repeat(26)}`)).status, 404);
  await bench.close();
});

eachDatabase("a session ends after a day without use, and after fourteen days whatever its use", async (database) => {
  const bench = await accountHarness(database);
  await bench.open("ada@example.org");
  const isSignedIn = async (cookie: string) => /Sign out/.test((await bench.visit("/account", { cookie })).text);
  const idle = await bench.signIn("ada@example.org");
  await bench.clock.advance(24 * HOUR_MS - MINUTE_MS);
  assert.equal(await isSignedIn(idle.cookie), true);
  await bench.clock.advance(24 * HOUR_MS);
  assert.equal(await isSignedIn(idle.cookie), false);
  const used = await bench.signIn("ada@example.org");
  for (let hours = 0; hours < 14 * 24 - 12; hours += 12) {
    await bench.clock.advance(12 * HOUR_MS);
    assert.equal(await isSignedIn(used.cookie), true, `after ${hours + 12} hours`);
  }
  await bench.clock.advance(12 * HOUR_MS);
  assert.equal(await isSignedIn(used.cookie), false);
  await bench.signIn("ada@example.org");
  assert.deepEqual(
    await database.query("select count(*) as count from sessions"),
    [{ count: 2 }],
    "the idle one is gone",
  );
  await bench.close();
});

eachDatabase("disabling a customer ends every session and link, and enabling brings none back", async (database) => {
  const bench = await accountHarness(database);
  const { customerId } = await bench.open("ada@example.org");
  const browsers = [await bench.signIn("ada@example.org"), await bench.signIn("ada@example.org")];
  const token = tokenIn((await bench.submit("/account/sign-in", { email: "ada@example.org" })).text);
  await bench.app.customers.disable(customerId, bench.operator);
  const check = async () => {
    for (const { cookie, fields } of browsers) {
      assert.doesNotMatch((await bench.visit("/account", { cookie })).text, /Sign out/);
      assert.equal((await bench.submit("/account/keys", { ...fields, name: "robot" }, { cookie })).status, 401);
    }
    assert.equal((await bench.submit("/account/enter", { token })).status, 404);
  };
  await check();
  await bench.app.customers.enable(customerId, bench.operator);
  await check();
  await bench.close();
});

eachDatabase(
  "a session and a link open nothing of a customer that is canceled, whoever canceled it",
  async (database) => {
    const bench = await accountHarness(database);
    await bench.open("ada@example.org");
    const { cookie } = await bench.signIn("ada@example.org");
    const token = tokenIn((await bench.submit("/account/sign-in", { email: "ada@example.org" })).text);
    await database.query("update customers set status = 'canceled'");
    assert.doesNotMatch((await bench.visit("/account", { cookie })).text, /Sign out/);
    assert.equal((await bench.submit("/account/enter", { token })).status, 404);
    await bench.close();
  },
);

onPostgres("no session outlives a disabling that happens while it begins", async (database) => {
  const bench = await accountHarness(database);
  const { customerId } = await bench.open("ada@example.org");
  const begun: number[] = [];
  for (let round = 0; round < 30; round++) {
    const token = tokenIn((await bench.submit("/account/sign-in", { email: "ada@example.org" })).text);
    const [entered] = await Promise.all([
      bench.submit("/account/enter", { token }),
      bench.app.customers.disable(customerId, bench.operator),
    ]);
    begun.push(entered.status);
    assert.deepEqual(await database.query("select 1 from sessions"), [], `round ${round}`);
    await bench.app.customers.enable(customerId, bench.operator);
  }
  assert.ok(begun.every((status) => status === 303 || status === 404));
  await bench.close();
});

eachDatabase("a customer has at most twenty sessions; the longest unused one ends", async (database) => {
  const bench = await accountHarness(database);
  await bench.open("ada@example.org");
  const first = await bench.signIn("ada@example.org");
  for (let turn = 0; turn < 20; turn++) {
    await bench.clock.advance(1_000);
    await bench.signIn("ada@example.org");
  }
  assert.deepEqual(await database.query("select count(*) as count from sessions"), [{ count: 20 }]);
  assert.doesNotMatch((await bench.visit("/account", { cookie: first.cookie })).text, /Sign out/);
  await bench.close();
});

eachDatabase("neither a link's nor a cookie's token is in the store", async (database) => {
  const bench = await accountHarness(database);
  await bench.open("ada@example.org");
  const { cookie } = await bench.signIn("ada@example.org");
  const token = tokenIn((await bench.submit("/account/sign-in", { email: "ada@example.org" })).text);
  const rows = JSON.stringify([
    await database.query("select *, encode(token_hash, 'escape') as text from sessions"),
    await database.query("select *, encode(token_hash, 'escape') as text from sign_in_links"),
    bench.lines,
  ]);
  for (const secret of [token, cookie.split("=")[1] ?? ""]) {
    assert.equal(secret.length, 26);
    assert.ok(!rows.includes(secret));
  }
  await bench.close();
});

eachDatabase("503: a live server without letters shows no link, and says what to do instead", async (database) => {
  const bench = await accountHarness(database, { data: "live", account: { botCheck: null, letters: null } });
  await bench.open("ada@example.org");
  const home = await bench.visit("/account");
  assert.match(home.text, /Signing in is not set up/);
  assert.match(home.text, /Sign-up on this page is not set up/);
  assert.doesNotMatch(home.text, /<form/);
  const answer = await bench.submit("/account/sign-in", { email: "ada@example.org" });
  assert.equal(answer.status, 503);
  assert.match(String(answer.headers["content-type"]), /^text\/html/);
  assert.doesNotMatch(answer.text, /enter/);
  assert.deepEqual(await database.query("select 1 from sign_in_links"), []);
  await bench.close();
});

eachDatabase("a mail server that is away changes no answer, and no letter goes to nobody", async (database) => {
  const bench = await withLetters(database);
  await bench.open("ada@example.org");
  services.mailbox.refuse(451, 1);
  assert.equal((await bench.submit("/account/sign-in", { email: "ada@example.org" })).status, 200);
  while (!bench.lines.some(({ message }) => /tried again/.test(message))) await new Promise(setImmediate);
  await bench.clock.advance(1_000);
  assert.equal((await services.mailbox.received(seen + 1)).length, seen + 1);
  await bench.close();
});
