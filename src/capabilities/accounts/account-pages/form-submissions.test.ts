import assert from "node:assert/strict";
import {
  accountHarness,
  cookieIn,
  inputIn,
  keyIn,
  signedInHarness,
  TEST_TOKEN,
  tokenIn,
} from "../../../../test/support/customers/account-harness.ts";
import { PUBLIC_URL, useSignUpServices } from "../../../../test/support/customers/customer-harness.ts";
import { eachDatabase } from "../../../../test/support/databases.ts";
import type { Database } from "../../../ports/database.ts";

const services = await useSignUpServices();

eachDatabase(
  "a sign-up form submitted twice creates one account, and both responses show its key",
  async (database) => {
    const harness = await accountHarness(database);
    const form = inputIn((await harness.visit("/account")).text, "form");
    const fields = { ...TEST_TOKEN, form, name: "Ada", email: "ada@example.org" };
    const responses = await Promise.all([1, 2].map(() => harness.submit("/account/sign-up", fields)));
    responses.push(await harness.submit("/account/sign-up", fields));
    const keys = responses.map(({ text }) => keyIn(text));
    assert.match(keys[0] ?? "", /^plx_free_/);
    assert.equal(new Set(keys).size, 1);
    assert.deepEqual(await database.query("select count(*) as count from customers"), [{ count: 1 }]);
    // A form with a new id, changed values or no id is processed again.
    const otherForm = inputIn((await harness.visit("/account")).text, "form");
    assert.notEqual(otherForm, form);
    for (const changedFields of [{ form: otherForm }, { name: "Eve" }, { form: "" }]) {
      const response = await harness.submit("/account/sign-up", { ...fields, ...changedFields });
      assert.equal(response.status, 409);
      assert.equal(keyIn(response.text), "");
    }
    await harness.clock.advance(60_000);
    assert.equal(
      (await harness.submit("/account/sign-up", fields)).status,
      409,
      "the key is not shown again after a minute",
    );
  },
);

eachDatabase(
  "a sign-in form submitted twice creates one link, and the link's form submitted twice starts one session",
  async (database) => {
    const harness = await accountHarness(database);
    await harness.createAccount("ada@example.org");
    const homeForm = inputIn((await harness.visit("/account")).text, "form");
    const fields = { form: homeForm, email: "ada@example.org" };
    const links = await Promise.all([1, 2].map(() => harness.submit("/account/sign-in", fields)));
    const tokens = links.map(({ text }) => tokenIn(text));
    assert.equal(new Set(tokens).size, 1);
    const [token = ""] = tokens;
    const form = inputIn((await harness.visit(`/account/enter?token=${token}`)).text, "form");
    const enterResponses = await Promise.all([1, 2].map(() => harness.submit("/account/enter", { token, form })));
    const cookie = cookieIn(enterResponses[0] ?? assert.fail());
    // A browser that has received the first response sends its cookie.
    enterResponses.push(await harness.submit("/account/enter", { token, form }, { cookie }));
    assert.deepEqual(
      enterResponses.map((response) => [response.status, cookieIn(response)]),
      Array(3).fill([303, cookie]),
    );
    assert.equal(await harness.isSignedIn(cookie), true);
    assert.deepEqual(await database.query("select count(*) as count from sessions"), [{ count: 1 }]);
    for (const otherForm of ["", "0".repeat(20)])
      assert.equal((await harness.submit("/account/enter", { token, form: otherForm })).status, 404);
    assert.equal((await harness.submit("/account/enter", { token, form: "x" })).status, 422);
  },
);

eachDatabase("a revoke or sign-out form submitted twice redirects to the account page both times", async (database) => {
  const { harness, keyId, cookie, fields } = await signedInHarness(database);
  for (const [path, next] of [
    [`/account/keys/${keyId}/revoke`, "/account/keys"],
    ["/account/sign-out", "/account"],
  ] as const) {
    const responses = await Promise.all([1, 2].map(() => harness.submit(path, fields, { cookie })));
    responses.push(await harness.submit(path, fields, { cookie }));
    for (const { status, headers } of responses) assert.deepEqual([status, headers.location], [303, next], path);
  }
  const entries = await database.query("select action from audit_log where action in ('key.revoked', 'session.ended')");
  assert.deepEqual(entries.map(({ action }) => action).sort(), ["key.revoked", "session.ended"]);
  const otherBrowser = await harness.signIn("ada@example.org");
  await harness.submit("/account/sign-out", { csrf: "x" });
  assert.equal(await harness.isSignedIn(otherBrowser.cookie), true);
});

eachDatabase("a sign-out whose session ends after it was read redirects to the account page", async (database) => {
  let endsSession = false;
  const interrupted: Database = {
    async query(text, ...parameters) {
      const rows = await database.query(text, ...parameters);
      if (endsSession && /\bsessions\b/.test(text)) {
        endsSession = false;
        await database.query("delete from sessions");
      }
      return rows as never;
    },
    transaction: (...parameters) => database.transaction(...parameters),
    close: () => database.close(),
  };
  const { harness, cookie, fields } = await signedInHarness(interrupted);
  endsSession = true;
  const { status, headers } = await harness.submit("/account/sign-out", fields, { cookie });
  assert.deepEqual([endsSession, status, headers.location], [false, 303, "/account"]);
});

eachDatabase("if the verification form is submitted twice, both responses show the key", async (database) => {
  const harness = await accountHarness(database, { signUp: services.withEmail, publicUrl: PUBLIC_URL });
  await harness.signUpAs("ada@example.org");
  const [verificationMail] = await services.receivedMails(1);
  const link = /\/v1\/customers\/verify\?token=([a-z2-7]{26})/.exec(verificationMail?.text ?? "");
  const token = link?.[1] ?? "";
  const browserOptions = { headers: { accept: "text/html", "sec-fetch-site": "same-origin" } };
  const form = inputIn((await harness.call("GET", link?.[0] ?? "", browserOptions)).text, "form");
  const responses = await Promise.all(
    [1, 2].map(() => harness.submit("/v1/customers/verify", { token, form }, browserOptions)),
  );
  const keys = responses.map(({ text }) => keyIn(text));
  assert.match(keys[0] ?? "", /^plx_free_/);
  assert.equal(new Set(keys).size, 1);
  const otherForm = await harness.submit("/v1/customers/verify", { token, form: "0".repeat(20) }, browserOptions);
  assert.equal(otherForm.status, 404);
  assert.match(otherForm.text, /This link does not work/);
});
