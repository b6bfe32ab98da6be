import assert from "node:assert/strict";
import {
  accountHarness,
  cookieIn,
  inputIn,
  keyIn,
  signedInHarness,
} from "../../../../test/support/customers/account-harness.ts";
import { PUBLIC_URL, useSignUpServices } from "../../../../test/support/customers/customer-harness.ts";
import { eachDatabase } from "../../../../test/support/databases.ts";

const services = await useSignUpServices();

const withEmail = {
  signUp: services.withEmail,
  account: { botCheck: { token: "XXXX.DUMMY.TOKEN.XXXX" }, emailDelivery: services.withEmail.emailDelivery },
  publicUrl: PUBLIC_URL,
};

eachDatabase(
  "a user changes the e-mail with the displayed link, and a second submission changes nothing",
  async (database) => {
    const { harness, customerId, cookie, fields } = await signedInHarness(database);
    const response = await harness.submit("/account/email", { ...fields, email: "ada@new.example" }, { cookie });
    const link = /href="(\/account\/email\/confirm\?token=([a-z2-7]{26}))"/.exec(response.text);
    const settings = await harness.visit("/account/settings", { cookie });
    assert.match(settings.text, /Waiting for you to confirm <strong>ada@new\.example<\/strong>/);
    assert.match((await harness.visit(link?.[1] ?? "")).text, /Sign in first/, "without a session");
    const page = await harness.visit(link?.[1] ?? "", { cookie });
    assert.match(page.text, /<strong>a…@new\.example<\/strong>/);
    const confirmation = { csrf: inputIn(page.text, "csrf"), form: inputIn(page.text, "form"), token: link?.[2] ?? "" };
    for (let submission = 0; submission < 2; submission++) {
      const { status, headers } = await harness.submit("/account/email/confirm", confirmation, { cookie });
      assert.deepEqual([status, headers.location], [303, "/account/settings"]);
    }
    assert.equal((await harness.app.customers.account(customerId)).email, "ada@new.example");
    const replay = await harness.submit(
      "/account/email/confirm",
      { ...confirmation, form: "0".repeat(20) },
      { cookie },
    );
    assert.equal(replay.status, 404);
    assert.equal(await harness.isSignedIn(cookie), true);
  },
);

eachDatabase(
  "the response to an e-mail change does not reveal whether another account has the address",
  async (database) => {
    const { harness, cookie, fields } = await signedInHarness(database);
    await harness.createAccount("eve@example.org");
    const mailed = await accountHarness(database, withEmail);
    const responses = new Set<string>();
    for (const email of ["eve@example.org", "free@example.org"]) {
      const { status, text } = await mailed.submit(
        "/account/email",
        { ...fields, email },
        { cookie: asSecure(cookie) },
      );
      assert.equal(status, 200, text);
      const { text: settings } = await mailed.visit("/account/settings", { cookie: asSecure(cookie) });
      responses.add(withoutVariables(text, email) + withoutVariables(settings, email));
    }
    assert.equal(responses.size, 1);
    const [taken, free] = await services.receivedMails(2);
    assert.doesNotMatch(taken?.text ?? "", /token=/);
    assert.match(free?.text ?? "", /token=/);
  },
);

/** The cookie of a session that was started without TLS, as a site with TLS names it. */
const asSecure = (cookie: string): string => cookie.replace(/^parallax=/, "__Host-parallax=");

const withoutVariables = (text: string, email: string): string =>
  text.replaceAll(email, "").replaceAll(inputIn(text, "form"), "");

eachDatabase(
  "an e-mail change can be cancelled, and an invalid new address is reported at its input field",
  async (database) => {
    const { harness, cookie, fields } = await signedInHarness(database);
    for (const [email, message] of [
      ["x", /This is not a valid e-mail address\./],
      ["a@tempmail.example", /Disposable/],
      ["ADA@example.org", /This is already your e-mail address\./],
    ] as const) {
      const { status, text } = await harness.submit("/account/email", { ...fields, email }, { cookie });
      assert.equal(status, 422);
      assert.match(text, /id="new-email"[^>]* aria-invalid="true" aria-describedby="new-email-error" autofocus>/);
      assert.match(text, message);
    }
    await harness.submit("/account/email", { ...fields, email: "new@example.org" }, { cookie });
    await harness.submit("/account/email/cancel", { csrf: fields.csrf }, { cookie });
    assert.doesNotMatch((await harness.visit("/account/settings", { cookie })).text, /Waiting/);
  },
);

eachDatabase("without a mail server and displayed links, the e-mail cannot be changed", async (database) => {
  const { harness, cookie, fields } = await signedInHarness(database);
  const other = await accountHarness(database, { account: { botCheck: null, emailDelivery: null } });
  const { text } = await other.visit("/account/settings", { cookie });
  assert.match(text, /You can’t change your e-mail because this server sends no e-mail/);
  const response = await other.submit("/account/email", { ...fields, email: "new@example.org" }, { cookie });
  assert.equal(response.status, 503);
  assert.deepEqual(await database.query("select 1 from email_changes"), []);
  await harness.app.stop();
});

eachDatabase(
  "a user deletes the account after typing its e-mail, and a second submission shows the same page",
  async (database) => {
    const { harness, customerId, apiKey, cookie } = await signedInHarness(database);
    const otherBrowser = await harness.signIn("ada@example.org");
    const page = await harness.visit("/account/delete", { cookie });
    assert.match(page.text, /To confirm, enter <strong>ada@example\.org<\/strong>/);
    const fields = {
      csrf: inputIn(page.text, "csrf"),
      form: inputIn(page.text, "form"),
      expected: inputIn(page.text, "expected"),
    };
    for (const confirmation of ["", "eve@example.org", "ada"]) {
      const response = await harness.submit("/account/delete", { ...fields, confirmation }, { cookie });
      assert.equal(response.status, 422);
      assert.match(response.text, /aria-describedby="confirmation-error"[\s\S]*Enter ada@example\.org to confirm\./);
    }
    const wrongToken = { ...fields, csrf: otherBrowser.fields.csrf, confirmation: "ada@example.org" };
    assert.equal((await harness.submit("/account/delete", wrongToken, { cookie })).status, 403);
    assert.equal((await harness.call("GET", "/v1/customers/me", { key: apiKey })).status, 200);
    const confirmed = { ...fields, confirmation: " Ada@Example.org " };
    for (let submission = 0; submission < 2; submission++) {
      const { status, text, headers } = await harness.submit("/account/delete", confirmed, { cookie });
      assert.equal(status, 200);
      assert.match(text, /Your account was deleted/);
      assert.match(String(headers["set-cookie"]), /Max-Age=0/);
      assert.equal(headers["clear-site-data"], '"storage"');
    }
    assert.equal((await harness.call("GET", "/v1/customers/me", { key: apiKey })).status, 401);
    for (const each of [cookie, otherBrowser.cookie]) assert.equal(await harness.isSignedIn(each), false);
    assert.deepEqual(await database.query("select 1 from customers"), []);
    const replay = await harness.submit("/account/delete", { ...confirmed, form: "0".repeat(20) }, { cookie });
    assert.equal(replay.status, 401);
    const [entry] = await harness.app.customers.auditLog({ customerId, limit: 1 });
    assert.deepEqual([entry?.action, entry?.actor.kind], ["customer.deleted", "session"]);
  },
);

eachDatabase(
  "a customer's pages show only its own usage and requests, and the key usage adds up to the month",
  async (database) => {
    const { harness, apiKey, cookie, fields } = await signedInHarness(database);
    const eve = await harness.createAccount("eve@example.org");
    const robotKey = keyIn((await harness.submit("/account/keys", { ...fields, name: "robot" }, { cookie })).text);
    for (const [key, calls] of [
      [apiKey, 3],
      [robotKey, 2],
      [eve.apiKey, 5],
    ] as const)
      for (let call = 0; call < calls; call++) await harness.call("GET", "/v1/markets?limit=1", { key });
    await harness.call("GET", "/v1/markets/venue_a/private-market?note=secret", { key: apiKey });
    const { text: usage } = await harness.visit("/account/usage", { cookie });
    assert.match(usage, /Counted calls<\/dt><dd>5</);
    assert.match(usage, /All requests<\/dt><dd>6</);
    assert.match(usage, /Errors<\/dt><dd>1</);
    assert.match(usage, /Nov 21, default: 3<\/title>[\s\S]*Nov 21, robot: 2<\/title>/);
    assert.match(usage, /<strong>default<\/strong><\/td>\s*<td[^>]*>3</);
    assert.match(usage, /<strong>robot<\/strong><\/td>\s*<td[^>]*>2</);
    assert.match(usage, /<strong>Total<\/strong><\/td>\s*<td[^>]*><strong>5</);
    assert.doesNotMatch(usage, /Not assigned to a key/);
    const { text: all } = await harness.visit("/account/requests", { cookie });
    assert.equal(all.match(/GET \/v1\/markets</g)?.length, 5);
    const { text: errors } = await harness.visit("/account/requests?only=errors", { cookie });
    assert.match(errors, /GET \/v1\/markets\/\{platform\}\/\{market_id\}<[\s\S]*404[\s\S]*market_not_found/);
    assert.doesNotMatch(errors, /GET \/v1\/markets</);
    assert.doesNotMatch(all + errors, /private-market|secret|203\.0\.113/);
  },
);

eachDatabase("calls that are missing from usage by day are shown as not assigned to a key", async (database) => {
  const { harness, apiKey, cookie } = await signedInHarness(database);
  for (let call = 0; call < 3; call++) await harness.call("GET", "/v1/markets?limit=1", { key: apiKey });
  await harness.visit("/account/usage", { cookie });
  await database.query("update usage_days set listing = 5");
  const newer = await harness.visit("/account/usage", { cookie });
  assert.doesNotMatch(newer.text, /Not assigned to a key|>-\d/, "usage by day is newer than the month's usage");
  await database.query("delete from usage_days");
  const { text } = await harness.visit("/account/usage", { cookie });
  assert.match(text, /Not assigned to a key<\/td>\s*<td[^>]*>3</);
  assert.match(text, /<strong>Total<\/strong><\/td>\s*<td[^>]*><strong>3</);
});

eachDatabase(
  "reauthentication returns to the page that required it, and to no path outside the account pages",
  async (database) => {
    const { harness, keyId, apiKey, cookie } = await signedInHarness(database);
    await harness.clock.advance(10 * 60_000);
    const path = `/account/keys/${keyId}/revoke`;
    const page = await harness.visit(path, { cookie });
    const csrf = inputIn(page.text, "csrf");
    const wrong = await harness.submit("/account/prove", { csrf, api_key: "x", next: path }, { cookie });
    assert.equal(wrong.status, 403);
    assert.match(wrong.text, /id="api-key"[^>]* aria-describedby="api-key-error"/);
    assert.equal(inputIn(wrong.text, "next"), path);
    for (const next of ["https://evil.example", "//evil.example", "/account/../x", "/docs", "/account/x?y"])
      assert.equal(
        (await harness.submit("/account/prove", { csrf, api_key: apiKey, next }, { cookie })).status,
        422,
        next,
      );
    const { headers } = await harness.submit("/account/prove", { csrf, api_key: apiKey, next: path }, { cookie });
    assert.equal(headers.location, path);
    assert.match((await harness.visit(path, { cookie })).text, /<button class="danger" type="submit">Revoke key</);
  },
);

eachDatabase("after the verification a browser is signed in, and other clients get no session", async (database) => {
  const harness = await accountHarness(database, withEmail);
  const receiveToken = async (email: string) => {
    const sentBefore = services.currentMails().length;
    await harness.signUpAs(email, { from: `198.51.100.${sentBefore}` });
    const mail = (await services.receivedMails(sentBefore + 1)).at(-1);
    return /verify\?token=([a-z2-7]{26})/.exec(mail?.text ?? "")?.[1] ?? "";
  };
  const verify = async (email: string, headers: Readonly<Record<string, string>>) => {
    const token = await receiveToken(email);
    return harness.submit("/v1/customers/verify", { token }, { headers: { accept: "text/html", ...headers } });
  };
  const response = await verify("ada@example.org", { "sec-fetch-site": "same-origin" });
  assert.match(response.text, /curl &quot;https:\/\/parallax\.example\/v1\/markets/);
  assert.notEqual(keyIn(response.text), "");
  assert.equal(await harness.isSignedIn(cookieIn(response)), true);
  const crossSite = await verify("eve@example.org", { "sec-fetch-site": "cross-site" });
  assert.equal(crossSite.status, 403);
  assert.equal(crossSite.headers["set-cookie"], undefined);
  const json = await verify("bob@example.org", { "sec-fetch-site": "same-origin", accept: "application/json" });
  assert.equal(json.headers["set-cookie"], undefined);
  const script = await harness.call("POST", "/v1/customers/verify", {
    body: { token: await receiveToken("carl@example.org") },
    headers: { accept: "text/html" },
  });
  assert.notEqual(keyIn(script.text), "");
  assert.equal(script.headers["set-cookie"], undefined);
});

eachDatabase("the page after sign-up resends the verification e-mail", async (database) => {
  const harness = await accountHarness(database, withEmail);
  const fields = { name: "", email: "ada@example.org", "cf-turnstile-response": "XXXX.DUMMY.TOKEN.XXXX" };
  const { text } = await harness.submit("/account/sign-up", fields);
  assert.match(text, /action="\/account\/resend"/);
  await services.receivedMails(1);
  await harness.clock.advance(60_000);
  const resend = { form: inputIn(text, "form"), email: inputIn(text, "email") };
  for (let submission = 0; submission < 2; submission++)
    assert.equal((await harness.submit("/account/resend", resend)).status, 200);
  const [, mail] = await services.receivedMails(2);
  assert.deepEqual(mail?.recipients, ["ada@example.org"]);
});
