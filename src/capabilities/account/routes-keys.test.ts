import assert from "node:assert/strict";
import { accountHarness, keyIn, OWN_PAGE } from "../../../test/support/customers/account-harness.ts";
import { eachDatabase } from "../../../test/support/databases.ts";

const MINUTE_MS = 60_000;

eachDatabase(
  "a customer makes, rotates and revokes keys, and each change is traced to the session",
  async (database) => {
    const bench = await accountHarness(database);
    const { customerId, keyId, apiKey } = await bench.open("ada@example.org");
    const { cookie, fields } = await bench.signIn("ada@example.org");
    const made = await bench.submit("/account/keys", { ...fields, name: " robot " }, { cookie });
    assert.equal(made.status, 200);
    assert.equal(made.headers["cache-control"], "no-store");
    assert.equal(made.headers["referrer-policy"], "strict-origin");
    const robot = keyIn(made.text);
    const rotated = await bench.submit(`/account/keys/${keyId}/rotate`, fields, { cookie });
    const next = keyIn(rotated.text);
    const me = async (key: string) => (await bench.call("GET", "/v1/customers/me", { key })).status;
    assert.deepEqual([await me(apiKey), await me(next), await me(robot)], [401, 200, 200]);
    const keys = await bench.call("GET", "/v1/customers/me/keys", { key: next });
    const robotId = keys.json.find(({ name }: { name: string }) => name === "robot").key_id;
    const revoked = await bench.submit(`/account/keys/${robotId}/revoke`, fields, { cookie });
    assert.equal(revoked.status, 303);
    assert.equal(await me(robot), 401);
    const page = await bench.visit("/account", { cookie });
    assert.match(page.text, /Ended keys \(2\)/);
    for (const key of [apiKey, next, robot]) assert.ok(!page.text.includes(key.slice(-20)));
    const log = await bench.app.customers.auditLog({ customerId, limit: 10 });
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
    await bench.close();
  },
);

eachDatabase("403: a form of another site changes nothing, whatever it carries", async (database) => {
  const bench = await accountHarness(database, { publicUrl: "https://parallax.example" });
  const { keyId, apiKey } = await bench.open("ada@example.org");
  const { cookie, fields } = await bench.signIn("ada@example.org");
  const before = await database.query("select * from api_keys");
  const foreign: readonly Readonly<Record<string, string>>[] = [
    { origin: "https://evil.example" },
    { origin: "https://evil.example", "sec-fetch-site": "cross-site" },
    { "sec-fetch-site": "cross-site" },
    { "sec-fetch-site": "same-site", origin: "https://other.parallax.example" },
    { "sec-fetch-site": "none" },
    { origin: "null" },
    {},
  ];
  const forms: readonly (readonly [string, Readonly<Record<string, string>>])[] = [
    [`/account/keys/${keyId}/rotate`, fields],
    [`/account/keys/${keyId}/revoke`, fields],
    ["/account/keys", { ...fields, name: "robot" }],
    ["/account/prove", { csrf: fields.csrf, api_key: apiKey }],
    ["/account/sign-out", { csrf: fields.csrf }],
    ["/account/sign-in", { email: "ada@example.org" }],
    ["/account/enter", { token: "a".repeat(26) }],
    ["/account/sign-up", { name: "", email: "eve@example.org", "cf-turnstile-response": "XXXX.DUMMY.TOKEN.XXXX" }],
  ];
  for (const headers of foreign)
    for (const [path, form] of forms) {
      const answer = await bench.submit(path, form, { cookie, headers });
      assert.equal(answer.status, 403, `${path} ${JSON.stringify(headers)}`);
      assert.match(String(answer.headers["content-type"]), /^text\/html/);
    }
  assert.deepEqual(await database.query("select * from api_keys"), before);
  assert.equal((await bench.call("GET", "/v1/customers/me", { key: apiKey })).status, 200);
  assert.match((await bench.visit("/account", { cookie })).text, /Sign out/);
  await bench.close();
});

eachDatabase(
  "403: a form without its session's token changes nothing, nor does another session's",
  async (database) => {
    const bench = await accountHarness(database);
    const { keyId } = await bench.open("ada@example.org");
    await bench.open("eve@example.org");
    const ada = await bench.signIn("ada@example.org");
    const eve = await bench.signIn("eve@example.org");
    const before = await database.query("select * from api_keys");
    const rotate = (form: Readonly<Record<string, string>>) =>
      bench.submit(`/account/keys/${keyId}/rotate`, form, { cookie: ada.cookie });
    for (const csrf of ["", "x", eve.fields.csrf, ada.cookie.split("=")[1] ?? ""])
      assert.equal((await rotate({ ...ada.fields, csrf })).status, 403);
    assert.equal((await rotate({ form: "x" })).status, 422);
    assert.equal((await bench.submit(`/account/keys/${keyId}/rotate`, ada.fields)).status, 401, "without the cookie");
    assert.deepEqual(await database.query("select * from api_keys"), before);
    await bench.close();
  },
);

eachDatabase("pressing rotate twice makes one key and shows it both times; so does making a key", async (database) => {
  const bench = await accountHarness(database);
  const { keyId } = await bench.open("ada@example.org");
  const { cookie, fields } = await bench.signIn("ada@example.org");
  const twice = async (path: string, form: Readonly<Record<string, string>>) => {
    const answers = await Promise.all([1, 2].map(() => bench.submit(path, form, { cookie })));
    answers.push(await bench.submit(path, form, { cookie }));
    assert.deepEqual(
      answers.map(({ status }) => status),
      [200, 200, 200],
    );
    const keys = new Set(answers.map(({ text }) => keyIn(text)));
    assert.equal(keys.size, 1);
  };
  const count = async () => (await database.query("select key_id from api_keys")).length;
  await twice(`/account/keys/${keyId}/rotate`, fields);
  assert.equal(await count(), 2);
  await twice("/account/keys", { ...fields, name: "robot" });
  assert.equal(await count(), 3);
  const later = await bench.fieldsOf(cookie);
  assert.equal(
    (await bench.submit("/account/keys", { ...later, name: "robot" }, { cookie })).status,
    409,
    "a new form",
  );
  assert.equal((await bench.submit(`/account/keys/${keyId}/rotate`, later, { cookie })).status, 404);
  await bench.clock.advance(MINUTE_MS);
  assert.equal((await bench.submit(`/account/keys/${keyId}/rotate`, fields, { cookie })).status, 404, "too late");
  assert.equal(await count(), 3);
  await bench.close();
});

eachDatabase(
  "of many who rotate a key at once, from several sessions and by the key itself, one gets a new one",
  async (database) => {
    const bench = await accountHarness(database);
    const { keyId, apiKey } = await bench.open("ada@example.org");
    const browsers = [];
    for (let turn = 0; turn < 5; turn++) browsers.push(await bench.signIn("ada@example.org"));
    const answers = await Promise.all([
      ...browsers.map(({ cookie, fields }) => bench.submit(`/account/keys/${keyId}/rotate`, fields, { cookie })),
      bench.call("POST", "/v1/customers/me/keys/rotate", { key: apiKey }),
    ]);
    assert.equal(answers.filter(({ status }) => status === 200).length, 1);
    assert.equal((await database.query("select 1 from api_keys where revoked_at is null")).length, 1);
    await bench.close();
  },
);

eachDatabase(
  "403: ten minutes after signing in keys change only after another proof: a fresh link, or a key",
  async (database) => {
    const bench = await accountHarness(database);
    const { keyId, apiKey } = await bench.open("ada@example.org");
    const { apiKey: foreignKey } = await bench.open("eve@example.org");
    const { cookie, fields } = await bench.signIn("ada@example.org");
    const before = await database.query("select * from api_keys order by key_id");
    const page = async () => (await bench.visit("/account", { cookie })).text;
    assert.match(await page(), /Rotate now/);
    await bench.clock.advance(10 * MINUTE_MS);
    assert.doesNotMatch(await page(), /Rotate now/);
    assert.match(await page(), /fresh proof/);
    const changes: readonly (readonly [string, Readonly<Record<string, string>>])[] = [
      [`/account/keys/${keyId}/rotate`, fields],
      [`/account/keys/${keyId}/revoke`, fields],
      ["/account/keys", { ...fields, name: "robot" }],
    ];
    for (const [path, form] of changes) assert.equal((await bench.submit(path, form, { cookie })).status, 403);
    for (const key of [foreignKey, "", "plx_free_x", `${apiKey.slice(0, -1)}!`])
      assert.equal((await bench.submit("/account/prove", { csrf: fields.csrf, api_key: key }, { cookie })).status, 403);
    for (const [path, form] of changes) assert.equal((await bench.submit(path, form, { cookie })).status, 403);
    assert.deepEqual(await database.query("select * from api_keys order by key_id"), before);
    const proof = await bench.submit("/account/prove", { csrf: fields.csrf, api_key: ` ${apiKey} ` }, { cookie });
    assert.equal(proof.status, 303);
    const rotated = await bench.submit(`/account/keys/${keyId}/rotate`, fields, { cookie });
    assert.equal(rotated.status, 200);
    await bench.clock.advance(10 * MINUTE_MS);
    assert.equal((await bench.submit("/account/keys", { ...fields, name: "robot" }, { cookie })).status, 403);
    const fresh = await bench.signIn("ada@example.org", cookie);
    const made = await bench.submit("/account/keys", { ...fresh.fields, name: "robot" }, { cookie: fresh.cookie });
    assert.equal(made.status, 200);
    await bench.close();
  },
);

eachDatabase(
  "404: another customer's keys, and keys that are not there, are the same to everybody",
  async (database) => {
    const bench = await accountHarness(database);
    const victim = await bench.open("victim@example.org");
    await bench.open("eve@example.org");
    const { cookie, fields } = await bench.signIn("eve@example.org");
    const before = await database.query("select * from api_keys order by key_id");
    for (const verb of ["rotate", "revoke"]) {
      const texts = new Set<string>();
      for (const id of [victim.keyId, `key-${"a".repeat(26)}`, "x", "%00", "..%2f", "x".repeat(1_000)]) {
        const answer = await bench.submit(`/account/keys/${id}/${verb}`, fields, { cookie });
        assert.equal(answer.status, 404, id);
        texts.add(answer.text);
      }
      assert.equal(texts.size, 1);
    }
    assert.deepEqual(await database.query("select * from api_keys order by key_id"), before);
    await bench.close();
  },
);

eachDatabase("409 and 422: at most ten keys, each with a name of its own that shows what it is", async (database) => {
  const bench = await accountHarness(database);
  await bench.open("ada@example.org");
  const { cookie, fields } = await bench.signIn("ada@example.org");
  const make = async (name: string) => (await bench.submit("/account/keys", { ...fields, name }, { cookie })).status;
  for (const name of ["", "   ", "a\u202eb", "a\nb", "x".repeat(65)]) assert.equal(await make(name), 422, name);
  assert.equal(await make("default"), 409);
  for (let turn = 0; turn < 9; turn++) assert.equal(await make(`robot ${turn}`), 200);
  assert.equal(await make("one too many"), 409);
  assert.match((await bench.visit("/account", { cookie })).text, /At most 10 keys/);
  await bench.close();
});

eachDatabase("415, 413 and 400: only small forms are read here, and none where JSON is", async (database) => {
  const bench = await accountHarness(database);
  const { keyId, apiKey } = await bench.open("ada@example.org");
  const { cookie, fields } = await bench.signIn("ada@example.org");
  const path = `/account/keys/${keyId}/rotate`;
  const headers = { cookie, ...OWN_PAGE };
  const form = "application/x-www-form-urlencoded";
  const send = async (type: string, body: string) =>
    (await bench.call("POST", path, { body, headers: { ...headers, "content-type": type } })).status;
  assert.equal(await send("application/json", JSON.stringify(fields)), 415);
  assert.equal(await send("text/plain", String(new URLSearchParams(fields))), 415);
  assert.equal(await send("multipart/form-data; boundary=x", "--x--"), 415);
  assert.equal(await send(form, `csrf=${fields.csrf}&form=${"x".repeat(16 * 1024)}`), 413);
  assert.equal(await send(form, `csrf=${fields.csrf}&csrf=x&form=x`), 400);
  for (const api of ["/v1/customers/signup", "/v1/customers/me/keys"]) {
    const answer = await bench.call("POST", api, {
      key: apiKey,
      body: "name=robot",
      headers: { "content-type": form },
    });
    assert.equal(answer.status, 415);
  }
  assert.equal((await database.query("select 1 from api_keys")).length, 1);
  await bench.close();
});

eachDatabase("a session's cookie opens nothing of the interface for programs", async (database) => {
  const bench = await accountHarness(database);
  await bench.open("ada@example.org");
  const { cookie } = await bench.signIn("ada@example.org");
  assert.equal((await bench.visit("/v1/customers/me", { cookie })).status, 401);
  assert.equal((await bench.submit("/v1/customers/me/keys/rotate", {}, { cookie })).status, 401);
  await bench.close();
});
