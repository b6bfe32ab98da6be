import assert from "node:assert/strict";
import { after, before } from "node:test";
import { accountHarness, cookieIn, inputIn, keyIn, tokenIn } from "../../../test/support/customers/account-harness.ts";
import { PUBLIC_URL, signUpServices } from "../../../test/support/customers/customer-harness.ts";
import { eachDatabase } from "../../../test/support/databases.ts";

const DUMMY = { "cf-turnstile-response": "XXXX.DUMMY.TOKEN.XXXX" };

let services: Awaited<ReturnType<typeof signUpServices>>;
before(async () => {
  services = await signUpServices();
});
after(() => services.close());

eachDatabase("pressing sign-up twice makes one account, and both presses show its key", async (database) => {
  const bench = await accountHarness(database);
  const form = inputIn((await bench.visit("/account")).text, "form");
  const fields = { ...DUMMY, form, name: "Ada", email: "ada@example.org" };
  const answers = await Promise.all([1, 2].map(() => bench.submit("/account/sign-up", fields)));
  answers.push(await bench.submit("/account/sign-up", fields));
  const keys = answers.map(({ text }) => keyIn(text));
  assert.match(keys[0] ?? "", /^plx_free_/);
  assert.equal(new Set(keys).size, 1);
  assert.deepEqual(await database.query("select count(*) as count from customers"), [{ count: 1 }]);
  // Another form of the same address, and the same form corrected, are told of the account.
  const other = inputIn((await bench.visit("/account")).text, "form");
  assert.notEqual(other, form);
  for (const changed of [{ form: other }, { name: "Eve" }, { form: "" }]) {
    const answer = await bench.submit("/account/sign-up", { ...fields, ...changed });
    assert.equal(answer.status, 409);
    assert.equal(keyIn(answer.text), "");
  }
  await bench.clock.advance(60_000);
  assert.equal((await bench.submit("/account/sign-up", fields)).status, 409, "a minute later nobody is shown the key");
  await bench.close();
});

eachDatabase(
  "pressing sign-in twice asks for one link, and pressing a link's button twice begins one session",
  async (database) => {
    const bench = await accountHarness(database);
    await bench.open("ada@example.org");
    const home = inputIn((await bench.visit("/account")).text, "form");
    const asked = { form: home, email: "ada@example.org" };
    const links = await Promise.all([1, 2].map(() => bench.submit("/account/sign-in", asked)));
    const tokens = links.map(({ text }) => tokenIn(text));
    assert.equal(new Set(tokens).size, 1);
    const [token = ""] = tokens;
    const form = inputIn((await bench.visit(`/account/enter?token=${token}`)).text, "form");
    const entered = await Promise.all([1, 2].map(() => bench.submit("/account/enter", { token, form })));
    const cookie = cookieIn(entered[0] ?? assert.fail());
    // The browser may have taken the first press's cookie by the time of the next one.
    entered.push(await bench.submit("/account/enter", { token, form }, { cookie }));
    assert.deepEqual(
      entered.map((answer) => [answer.status, cookieIn(answer)]),
      Array(3).fill([303, cookie]),
    );
    assert.match((await bench.visit("/account", { cookie })).text, /Sign out/);
    assert.deepEqual(await database.query("select count(*) as count from sessions"), [{ count: 1 }]);
    for (const stranger of ["", "0".repeat(20)])
      assert.equal((await bench.submit("/account/enter", { token, form: stranger })).status, 404, "used is used");
    assert.equal((await bench.submit("/account/enter", { token, form: "x" })).status, 422);
    await bench.close();
  },
);

eachDatabase("pressing revoke or sign-out twice leads to the account's page both times", async (database) => {
  const bench = await accountHarness(database);
  const { keyId } = await bench.open("ada@example.org");
  const { cookie, fields } = await bench.signIn("ada@example.org");
  for (const path of [`/account/keys/${keyId}/revoke`, "/account/sign-out"]) {
    const answers = await Promise.all([1, 2].map(() => bench.submit(path, fields, { cookie })));
    answers.push(await bench.submit(path, fields, { cookie }));
    for (const { status, headers } of answers) assert.deepEqual([status, headers.location], [303, "/account"], path);
  }
  const ended = await database.query("select action from audit_log where action in ('key.revoked', 'session.ended')");
  assert.deepEqual(ended.map(({ action }) => action).sort(), ["key.revoked", "session.ended"], "each is done once");
  const elsewhere = await bench.signIn("ada@example.org");
  await bench.submit("/account/sign-out", { csrf: "x" });
  assert.match((await bench.visit("/account", { cookie: elsewhere.cookie })).text, /Sign out/);
  await bench.close();
});

eachDatabase("pressing the button of a verification letter's page twice shows the key both times", async (database) => {
  const seen = services.mailbox.mails.length;
  const bench = await accountHarness(database, { signUp: services.withLetters, publicUrl: PUBLIC_URL });
  await bench.signUpAs("ada@example.org");
  const mail = (await services.mailbox.received(seen + 1))[seen];
  const link = /\/v1\/customers\/verify\?token=([a-z2-7]{26})/.exec(mail?.text ?? "");
  const token = link?.[1] ?? "";
  const browser = { headers: { accept: "text/html" } };
  const form = inputIn((await bench.call("GET", link?.[0] ?? "", browser)).text, "form");
  const answers = await Promise.all([1, 2].map(() => bench.submit("/v1/customers/verify", { token, form }, browser)));
  const keys = answers.map(({ text }) => keyIn(text));
  assert.match(keys[0] ?? "", /^plx_free_/);
  assert.equal(new Set(keys).size, 1);
  const other = await bench.submit("/v1/customers/verify", { token, form: "0".repeat(20) }, browser);
  assert.equal(other.status, 404);
  assert.match(other.text, /This link does not work/);
  await bench.close();
});
