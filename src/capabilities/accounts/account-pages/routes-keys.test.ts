import assert from "node:assert/strict";
import {
  accountHarness,
  keyIn,
  SAME_SITE,
  signedInHarness,
} from "../../../../test/support/customers/account-harness.ts";
import { eachDatabase } from "../../../../test/support/databases.ts";
import { MINUTE_MS } from "../../../lib/durations.ts";

eachDatabase(
  "a signed-in customer creates, rotates and revokes keys, and the audit log identifies the session",
  async (database) => {
    const { harness, customerId, keyId, apiKey, cookie, fields } = await signedInHarness(database);
    const createResponse = await harness.submit("/account/keys", { ...fields, name: " robot " }, { cookie });
    assert.equal(createResponse.status, 200);
    assert.equal(createResponse.headers["cache-control"], "no-store");
    assert.equal(createResponse.headers["referrer-policy"], "strict-origin");
    const robotKey = keyIn(createResponse.text);
    const rotateResponse = await harness.submit(`/account/keys/${keyId}/rotate`, fields, { cookie });
    const nextKey = keyIn(rotateResponse.text);
    const readStatus = async (key: string) => (await harness.call("GET", "/v1/customers/me", { key })).status;
    assert.deepEqual(
      [await readStatus(apiKey), await readStatus(nextKey), await readStatus(robotKey)],
      [401, 200, 200],
    );
    const keys = await harness.call("GET", "/v1/customers/me/keys", { key: nextKey });
    const robotId = keys.json.find(({ name }: { name: string }) => name === "robot").key_id;
    const revokeResponse = await harness.submit(`/account/keys/${robotId}/revoke`, fields, { cookie });
    assert.equal(revokeResponse.status, 303);
    assert.equal(await readStatus(robotKey), 401);
    const readPage = await harness.visit("/account/keys", { cookie });
    assert.match(readPage.text, /Revoked keys \(2\)/);
    for (const key of [apiKey, nextKey, robotKey]) assert.ok(!readPage.text.includes(key.slice(-20)));
    const log = await harness.app.customers.auditLog({ customerId, limit: 10 });
    assert.deepEqual(
      log.map(({ action, actor }) => [action, actor.kind]),
      [
        ["key.revoked", "session"],
        ["key.rotated", "session"],
        ["key.created", "session"],
        ["session.started", "session"],
        ["customer.created", "operator"],
      ],
    );
    assert.match(log[0]?.actor.id ?? "", /^ses-/);
  },
);

eachDatabase(
  "403: a form submitted from another site is rejected, even with a valid session and CSRF token",
  async (database) => {
    const { harness, keyId, apiKey, cookie, fields } = await signedInHarness(database, {
      publicUrl: "https://parallax.example",
    });
    const keysBefore = await database.query("select * from api_keys");
    const crossSiteHeaders: readonly Readonly<Record<string, string>>[] = [
      { "sec-fetch-site": "same-site", origin: "https://other.parallax.example" },
      {},
    ];
    const forms: readonly (readonly [string, Readonly<Record<string, string>>])[] = [
      [`/account/keys/${keyId}/rotate`, fields],
      [`/account/keys/${keyId}/revoke`, fields],
      ["/account/keys", { ...fields, name: "robot" }],
      ["/account/prove", { csrf: fields.csrf, api_key: apiKey }],
      ["/account/sign-out", { csrf: fields.csrf }],
      ["/account/sign-out-everywhere", { csrf: fields.csrf }],
      ["/account/email", { ...fields, email: "eve@example.org" }],
      ["/account/email/cancel", { csrf: fields.csrf }],
      ["/account/email/confirm", { ...fields, token: "a".repeat(26) }],
      ["/account/delete", { ...fields, confirmation: "ada@example.org" }],
      ["/account/resend", { email: "ada@example.org" }],
      ["/account/sign-in", { email: "ada@example.org" }],
      ["/account/enter", { token: "a".repeat(26) }],
      ["/account/sign-up", { name: "", email: "eve@example.org", "cf-turnstile-response": "XXXX.DUMMY.TOKEN.XXXX" }],
    ];
    for (const headers of crossSiteHeaders)
      for (const [path, formFields] of forms) {
        const response = await harness.submit(path, formFields, { cookie, headers });
        assert.equal(response.status, 403, `${path} ${JSON.stringify(headers)}`);
        assert.match(String(response.headers["content-type"]), /^text\/html/);
      }
    assert.deepEqual(await database.query("select * from api_keys"), keysBefore);
    assert.equal((await harness.call("GET", "/v1/customers/me", { key: apiKey })).status, 200);
    assert.equal(await harness.isSignedIn(cookie), true);
  },
);

eachDatabase(
  "403: a form is rejected if its CSRF token is missing, wrong or from another session",
  async (database) => {
    const harness = await accountHarness(database);
    const { keyId } = await harness.createAccount("ada@example.org");
    await harness.createAccount("eve@example.org");
    const ada = await harness.signIn("ada@example.org");
    const eve = await harness.signIn("eve@example.org");
    const keysBefore = await database.query("select * from api_keys");
    const submitRotation = (formFields: Readonly<Record<string, string>>) =>
      harness.submit(`/account/keys/${keyId}/rotate`, formFields, { cookie: ada.cookie });
    for (const csrf of ["", "x", eve.fields.csrf, ada.cookie.split("=")[1] ?? ""])
      assert.equal((await submitRotation({ ...ada.fields, csrf })).status, 403);
    assert.equal((await submitRotation({ form: "x" })).status, 422);
    assert.equal((await harness.submit(`/account/keys/${keyId}/rotate`, ada.fields)).status, 401, "without the cookie");
    assert.deepEqual(await database.query("select * from api_keys"), keysBefore);
  },
);

eachDatabase(
  "a rotate or create form submitted twice creates one key, and both responses show it",
  async (database) => {
    const { harness, keyId, cookie, fields } = await signedInHarness(database);
    const submitRepeatedly = async (path: string, formFields: Readonly<Record<string, string>>) => {
      const responses = await Promise.all([1, 2].map(() => harness.submit(path, formFields, { cookie })));
      responses.push(await harness.submit(path, formFields, { cookie }));
      assert.deepEqual(
        responses.map(({ status }) => status),
        [200, 200, 200],
      );
      const keys = new Set(responses.map(({ text }) => keyIn(text)));
      assert.equal(keys.size, 1);
    };
    const countKeys = async () => (await database.query("select key_id from api_keys")).length;
    await submitRepeatedly(`/account/keys/${keyId}/rotate`, fields);
    assert.equal(await countKeys(), 2);
    await submitRepeatedly("/account/keys", { ...fields, name: "robot" });
    assert.equal(await countKeys(), 3);
    const newFields = await harness.fieldsOf(cookie);
    assert.equal(
      (await harness.submit("/account/keys", { ...newFields, name: "robot" }, { cookie })).status,
      409,
      "a new form",
    );
    assert.equal((await harness.submit(`/account/keys/${keyId}/rotate`, newFields, { cookie })).status, 404);
    await harness.clock.advance(MINUTE_MS);
    assert.equal((await harness.submit(`/account/keys/${keyId}/rotate`, fields, { cookie })).status, 404, "too late");
    assert.equal(await countKeys(), 3);
  },
);

eachDatabase(
  "403: ten minutes after sign-in, key changes require a new sign-in link or an API key",
  async (database) => {
    const { harness, keyId, apiKey, cookie, fields } = await signedInHarness(database);
    const { apiKey: otherCustomersKey } = await harness.createAccount("eve@example.org");
    const keysBefore = await database.query("select * from api_keys order by key_id");
    const readPages = () =>
      Promise.all(
        ["/account/keys", `/account/keys/${keyId}/rotate`, `/account/keys/${keyId}/revoke`, "/account/delete"].map(
          async (path) => (await harness.visit(path, { cookie })).text,
        ),
      );
    for (const text of await readPages()) assert.doesNotMatch(text, /Confirm that it’s you/);
    await harness.clock.advance(10 * MINUTE_MS);
    for (const text of await readPages()) {
      assert.match(text, /Confirm that it’s you/);
      assert.doesNotMatch(text, /<button[^>]*>(?:Rotate key|Revoke key|Create API key|Delete account)</);
    }
    const keyChanges: readonly (readonly [string, Readonly<Record<string, string>>])[] = [
      [`/account/keys/${keyId}/rotate`, fields],
      [`/account/keys/${keyId}/revoke`, fields],
      ["/account/keys", { ...fields, name: "robot" }],
      ["/account/email", { ...fields, email: "new@example.org" }],
      ["/account/delete", { ...fields, confirmation: "ada@example.org" }],
    ];
    for (const [path, formFields] of keyChanges)
      assert.equal((await harness.submit(path, formFields, { cookie })).status, 403);
    for (const key of [otherCustomersKey, "", "plx_free_x", `${apiKey.slice(0, -1)}!`])
      assert.equal(
        (await harness.submit("/account/prove", { csrf: fields.csrf, api_key: key }, { cookie })).status,
        403,
      );
    for (const [path, formFields] of keyChanges)
      assert.equal((await harness.submit(path, formFields, { cookie })).status, 403);
    assert.deepEqual(await database.query("select * from api_keys order by key_id"), keysBefore);
    const proofResponse = await harness.submit(
      "/account/prove",
      { csrf: fields.csrf, api_key: ` ${apiKey} ` },
      { cookie },
    );
    assert.equal(proofResponse.status, 303);
    const rotateResponse = await harness.submit(`/account/keys/${keyId}/rotate`, fields, { cookie });
    assert.equal(rotateResponse.status, 200);
    await harness.clock.advance(10 * MINUTE_MS);
    assert.equal((await harness.submit("/account/keys", { ...fields, name: "robot" }, { cookie })).status, 403);
    const newSession = await harness.signIn("ada@example.org", cookie);
    const createResponse = await harness.submit(
      "/account/keys",
      { ...newSession.fields, name: "robot" },
      { cookie: newSession.cookie },
    );
    assert.equal(createResponse.status, 200);
  },
);

eachDatabase(
  "404: the responses for another customer's key and for a non-existent key are identical",
  async (database) => {
    const harness = await accountHarness(database);
    const victim = await harness.createAccount("victim@example.org");
    await harness.createAccount("eve@example.org");
    const { cookie, fields } = await harness.signIn("eve@example.org");
    const keysBefore = await database.query("select * from api_keys order by key_id");
    for (const action of ["rotate", "revoke"]) {
      const texts = new Set<string>();
      for (const id of [victim.keyId, `key-${"a".repeat(26)}`, "x", "..%2f", "x".repeat(1_000)]) {
        const response = await harness.submit(`/account/keys/${id}/${action}`, fields, { cookie });
        assert.equal(response.status, 404, id);
        texts.add(response.text);
      }
      assert.equal(texts.size, 1);
    }
    assert.deepEqual(await database.query("select * from api_keys order by key_id"), keysBefore);
  },
);

eachDatabase("409 and 422: a customer has at most ten active keys, with unique plain-text names", async (database) => {
  const { harness, cookie, fields } = await signedInHarness(database);
  const createKey = async (name: string) =>
    (await harness.submit("/account/keys", { ...fields, name }, { cookie })).status;
  for (const name of ["", "   ", "a\u202eb", "a\nb", "x".repeat(65)]) assert.equal(await createKey(name), 422, name);
  assert.equal(await createKey("default"), 409);
  for (let key = 0; key < 9; key++) assert.equal(await createKey(`robot ${key}`), 200);
  assert.equal(await createKey("one too many"), 409);
  assert.match((await harness.visit("/account/keys", { cookie })).text, /up to 10 active keys/);
});

eachDatabase(
  "415, 413 and 400: account pages accept only valid forms below 16 KiB, and the JSON API accepts no forms",
  async (database) => {
    const { harness, keyId, apiKey, cookie, fields } = await signedInHarness(database);
    const path = `/account/keys/${keyId}/rotate`;
    const headers = { cookie, ...SAME_SITE };
    const formType = "application/x-www-form-urlencoded";
    const sendBody = async (type: string, body: string) =>
      (await harness.call("POST", path, { body, headers: { ...headers, "content-type": type } })).status;
    assert.equal(await sendBody("application/json", JSON.stringify(fields)), 415);
    assert.equal(await sendBody("text/plain", String(new URLSearchParams(fields))), 415);
    assert.equal(await sendBody("multipart/form-data; boundary=x", "--x--"), 415);
    assert.equal(await sendBody(formType, `csrf=${fields.csrf}&form=${"x".repeat(16 * 1024)}`), 413);
    assert.equal(await sendBody(formType, `csrf=${fields.csrf}&csrf=x&form=x`), 400);
    for (const api of ["/v1/customers/signup", "/v1/customers/me/keys"]) {
      const response = await harness.call("POST", api, {
        key: apiKey,
        body: "name=robot",
        headers: { "content-type": formType },
      });
      assert.equal(response.status, 415);
    }
    assert.equal((await database.query("select 1 from api_keys")).length, 1);
  },
);

eachDatabase("401: the session cookie does not authenticate API requests", async (database) => {
  const { harness, cookie } = await signedInHarness(database);
  assert.equal((await harness.visit("/v1/customers/me", { cookie })).status, 401);
  assert.equal((await harness.submit("/v1/customers/me/keys/rotate", {}, { cookie })).status, 401);
});
