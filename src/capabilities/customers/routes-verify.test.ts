import assert from "node:assert/strict";
import { after, before, beforeEach } from "node:test";
import { customerHarness, signUpServices } from "../../../test/support/customers/customer-harness.ts";
import { eachDatabase } from "../../../test/support/databases.ts";
import type { Database } from "../../ports/database.ts";

let services: Awaited<ReturnType<typeof signUpServices>>;
before(async () => {
  services = await signUpServices();
});
/** How many letters came before this test. */
let seen = 0;
beforeEach(() => {
  seen = services.mailbox.mails.length;
});
after(() => services.close());

const VERIFY = "/v1/customers/verify";
const FORM = { "content-type": "application/x-www-form-urlencoded", accept: "text/html,*/*;q=0.8" };

async function benchWithLetters(database: Database) {
  const bench = await customerHarness(database, { signUp: services.withLetters });
  let from = 0;
  /** Signs up from an address of its own, waits for the letter and reads its link. */
  const tokenFor = async (email: string, name?: string): Promise<string> => {
    const before = services.mailbox.mails.length;
    from += 1;
    const answer = await bench.signUpAs(email, { from: `192.0.2.${from}`, ...(name === undefined ? {} : { name }) });
    assert.equal(answer.status, 200);
    const mail = (await services.mailbox.received(before + 1))[before];
    return /verify\?token=([a-z2-7]+)/.exec(mail?.text ?? "")?.[1] ?? "";
  };
  const verify = (token: string) => bench.call("POST", VERIFY, { body: { token } });
  return { ...bench, tokenFor, verify };
}

eachDatabase("200: with a mail server the answer holds no key, and the letter's link leads to it", async (database) => {
  const bench = await benchWithLetters(database);
  const answer = await bench.signUpAs("ada@example.org", { name: 'Ada <script>alert("1")</script> & Co' });
  assert.equal(answer.status, 200);
  assert.deepEqual(Object.keys(answer.json).sort(), ["customer_id", "message", "requires_verification"]);
  assert.equal(answer.json.requires_verification, true);
  const mail = (await services.mailbox.received(seen + 1))[seen];
  assert.deepEqual(mail?.recipients, ["ada@example.org"]);
  const link = /https:\/\/parallax\.example\/v1\/customers\/verify\?token=([a-z2-7]{26})/;
  const token = link.exec(mail?.text ?? "")?.[1] ?? "";
  assert.equal(link.exec(mail?.html ?? "")?.[1], token);
  for (const text of [mail?.text, mail?.html])
    assert.doesNotMatch(text ?? "Ada", /Ada|script|alert/, "nothing that the caller typed goes to a stranger");
  const verified = await bench.verify(token);
  assert.equal(verified.status, 200);
  assert.equal(verified.json.customer_id, answer.json.customer_id);
  assert.equal(verified.headers["cache-control"], "no-store");
  assert.equal(verified.headers["referrer-policy"], "no-referrer");
  const me = await bench.call("GET", "/v1/customers/me", { key: verified.json.api_key });
  assert.equal(me.json.email, "ada@example.org");
  await bench.close();
});

eachDatabase(
  "a program that looks into letters uses nothing up: ten GETs, then one press of the button",
  async (database) => {
    const bench = await benchWithLetters(database);
    const token = await bench.tokenFor("ada@example.org");
    for (let turn = 0; turn < 10; turn++) {
      const page = await bench.call("GET", `${VERIFY}?token=${token}`);
      assert.equal(page.status, 200);
      assert.match(page.text, new RegExp(`<input type="hidden" name="token" value="${token}">`));
      assert.doesNotMatch(page.text, /<script|https?:/);
      assert.equal(page.headers["cache-control"], "no-store");
      assert.equal(page.headers["referrer-policy"], "strict-origin");
      assert.match(
        String(page.headers["content-security-policy"]),
        /^default-src 'none'; style-src 'self'; form-action 'self'; /,
      );
      assert.match(String(page.headers["content-security-policy"]), /frame-ancestors 'none'/);
    }
    assert.deepEqual(await database.query("select * from customers"), []);
    const shown = await bench.call("POST", VERIFY, { body: `token=${token}`, headers: FORM });
    assert.equal(shown.status, 200);
    assert.match(String(shown.headers["content-type"]), /^text\/html/);
    assert.equal(shown.headers["cache-control"], "no-store");
    const key = /plx_free_[a-z2-7]{33}/.exec(shown.text)?.[0];
    assert.equal((await bench.call("GET", "/v1/customers/me", { key: key ?? "" })).status, 200);
    const again = await bench.call("POST", VERIFY, { body: `token=${token}`, headers: FORM });
    assert.equal(again.status, 404);
    assert.doesNotMatch(again.text, /plx_/);
    await bench.close();
  },
);

eachDatabase("404: of fifty presses at once one gets the key, and there is one account", async (database) => {
  const bench = await benchWithLetters(database);
  const token = await bench.tokenFor("ada@example.org");
  const answers = await Promise.all(Array.from({ length: 50 }, () => bench.verify(token)));
  assert.equal(answers.filter(({ status }) => status === 200).length, 1);
  assert.equal(answers.filter(({ status }) => status === 404).length, 49);
  const counts = await database.query(
    "select (select count(*) from customers) as c, (select count(*) from api_keys) as k",
  );
  assert.deepEqual(counts, [{ c: 1, k: 1 }]);
  await bench.close();
});

eachDatabase("404: unknown, altered, used and expired links are told apart by nobody", async (database) => {
  const bench = await benchWithLetters(database);
  const used = await bench.tokenFor("used@example.org");
  await bench.verify(used);
  const old = await bench.tokenFor("old@example.org");
  await bench.clock.advance(24 * 3_600_000);
  const living = await bench.tokenFor("living@example.org");
  const altered = `${living.slice(0, -1)}${living.endsWith("a") ? "b" : "a"}`;
  const answers = [];
  for (const token of [used, old, altered, "", "x".repeat(200), "a".repeat(26)]) {
    const answer = await bench.verify(token);
    answers.push({ status: answer.status, text: answer.text });
    const page = await bench.call("POST", VERIFY, { body: `token=${token}`, headers: FORM });
    assert.equal(page.status, 404);
    assert.match(page.text, /This link does not work/);
  }
  assert.equal(new Set(answers.map((answer) => JSON.stringify(answer))).size, 1);
  assert.deepEqual(JSON.parse(answers[0]?.text ?? ""), {
    detail: "This link does not work: it is used, replaced or too old",
    code: "verification_not_found",
  });
  assert.equal((await bench.verify(living)).status, 200);
  await bench.close();
});

eachDatabase(
  "signing up again sends another letter, whose link ends the former's; the account's id stays",
  async (database) => {
    const bench = await benchWithLetters(database);
    const first = await bench.tokenFor("ada@example.org", "Ada");
    await bench.clock.advance(60_000);
    const second = await bench.tokenFor("ADA@example.org", "Ada B.");
    assert.equal((await bench.verify(first)).status, 404);
    assert.equal((await bench.verify(second)).status, 200);
    assert.deepEqual(await database.query("select name from customers"), [{ name: "Ada B." }]);
    await bench.clock.advance(60_000);
    const after = await bench.signUpAs("ada@example.org", { from: "192.0.2.200" });
    assert.equal(after.status, 409, "now there is an account");
    await bench.close();
  },
);

eachDatabase(
  "a mailbox gets one letter a minute and three a day, the answer is the same, and the last link stays good",
  async (database) => {
    const bench = await benchWithLetters(database);
    const texts = new Set<string>();
    const ask = async (turn: number) => {
      const answer = await bench.signUpAs("victim@example.org", { from: `192.0.2.${turn}` });
      assert.equal(answer.status, 200);
      texts.add(answer.text);
    };
    for (let turn = 0; turn < 60; turn++) {
      await ask(turn);
      await bench.clock.advance(30_000);
    }
    // Whatever is still on its way goes out before this ends.
    await bench.app.customers.stop();
    const mails = await services.mailbox.received(seen + 3);
    assert.equal(mails.length - seen, 3);
    assert.equal(texts.size, 1);
    const token = /token=([a-z2-7]+)/.exec(mails.at(-1)?.text ?? "")?.[1] ?? "";
    assert.equal((await bench.verify(token)).status, 200);
    await bench.close();
  },
);

eachDatabase("a mail server that is away changes no answer: the letter is sent when it is back", async (database) => {
  const bench = await benchWithLetters(database);
  services.mailbox.refuse(451, 1);
  const answer = await bench.signUpAs("ada@example.org");
  assert.equal(answer.status, 200);
  // The refusal comes over a real line; only then is there a next attempt to wait for.
  while (!bench.lines.some(({ message }) => /tried again/.test(message))) await new Promise(setImmediate);
  await bench.clock.advance(1_000);
  assert.equal((await services.mailbox.received(seen + 1)).length, seen + 1);
  await bench.close();
});

eachDatabase("503 mail_unavailable: where no letter can be taken, nobody is remembered", async (database) => {
  const bench = await benchWithLetters(database);
  await bench.app.customers.stop();
  const answer = await bench.signUpAs("ada@example.org");
  assert.deepEqual([answer.status, answer.json.code], [503, "mail_unavailable"]);
  assert.match(String(answer.headers["retry-after"]), /^\d+$/);
  assert.deepEqual(await database.query("select email from pending_signups"), []);
  await bench.close();
});

eachDatabase("415 and 422: a form is read here only, and a field sent twice by nobody's rules", async (database) => {
  const bench = await benchWithLetters(database);
  const form = { headers: FORM, body: "email=a%40b.org&turnstile_token=t" };
  assert.equal((await bench.call("POST", "/v1/customers/signup", form)).status, 415);
  assert.equal((await bench.call("POST", VERIFY, { headers: FORM, body: "token=a&token=b" })).status, 400);
  assert.equal((await bench.call("POST", VERIFY, { headers: FORM, body: "other=a" })).status, 422);
  assert.equal((await bench.call("GET", VERIFY)).status, 404);
  assert.equal((await bench.call("GET", `${VERIFY}?token=%22%3E%3Cscript%3E`)).status, 404);
  await bench.close();
});

eachDatabase("an address that an operator gave an account meanwhile is verified by nobody else", async (database) => {
  const bench = await benchWithLetters(database);
  const token = await bench.tokenFor("ada@example.org");
  await database.query(
    "insert into customers (customer_id, email, plan, status, created_at) values ('cus-a', 'ada@example.org', 'pro', 'active', now())",
  );
  assert.equal((await bench.verify(token)).status, 404);
  assert.deepEqual(await database.query("select customer_id from customers"), [{ customer_id: "cus-a" }]);
  await bench.close();
});
