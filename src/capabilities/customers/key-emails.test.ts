import assert from "node:assert/strict";
import { after, before, beforeEach } from "node:test";
import { customerHarness, PUBLIC_URL, signUpServices } from "../../../test/support/customers/customer-harness.ts";
import { eachDatabase } from "../../../test/support/databases.ts";
import type { Database } from "../../ports/database.ts";

const OPERATOR = { kind: "operator", id: "test" } as const;

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

async function openAccount(database: Database) {
  const account = { botCheck: null, letters: services.withLetters.letters };
  const bench = await customerHarness(database, { account, publicUrl: PUBLIC_URL });
  const { customerId, key } = await bench.app.customers.create(
    { email: "ada@example.org", name: null, plan: "free" },
    OPERATOR,
  );
  return { bench, customerId, key };
}

eachDatabase(
  "the owner is told by letter of every key made, rotated or revoked, and of no secret",
  async (database) => {
    const { bench, key } = await openAccount(database);
    const made = await bench.call("POST", "/v1/customers/me/keys", { key: key.apiKey, body: { name: "ro<b>ot" } });
    await services.mailbox.received(seen + 1);
    const rotated = await bench.call("POST", "/v1/customers/me/keys/rotate", { key: key.apiKey });
    await services.mailbox.received(seen + 2);
    const next: string = rotated.json.api_key;
    await bench.call("DELETE", `/v1/customers/me/keys/${made.json.key_id}`, { key: next });
    const mails = (await services.mailbox.received(seen + 3)).slice(seen);
    const whats = [/"ro<b>ot" .* was made/, /"default" .* was replaced by another/, /"ro<b>ot" .* was revoked/];
    for (const [index, what] of whats.entries()) {
      const { recipients, text = "", html = "" } = mails[index] ?? assert.fail();
      assert.deepEqual(recipients, ["ada@example.org"]);
      assert.match(text, what);
      assert.match(text, /2026-11-21 12:00 UTC/);
      assert.match(text, /a request that showed a key/);
      assert.ok(text.includes(`${PUBLIC_URL}/account\n`));
      assert.doesNotMatch(html, /<b>/);
      for (const secret of [key.apiKey, next, made.json.api_key])
        assert.ok(!text.includes(secret.slice(-20)) && !html.includes(secret.slice(-20)));
    }
    await bench.app.customers.stop();
    assert.equal(services.mailbox.mails.length, seen + 3);
    await bench.close();
  },
);

eachDatabase("a thief in a loop sends the owner twenty letters a day", async (database) => {
  const { bench, customerId, key } = await openAccount(database);
  let { keyId } = key;
  for (let turn = 0; turn < 25; turn++) ({ keyId } = await bench.app.customers.rotateKey(customerId, keyId, OPERATOR));
  assert.equal((await database.query("select 1 from api_keys")).length, 26);
  await bench.app.customers.stop();
  assert.equal(services.mailbox.mails.length, seen + 20);
  await bench.close();
});

eachDatabase(
  "a mail server that is away undoes no change, and a customer without an address gets no letter",
  async (database) => {
    const { bench, customerId, key } = await openAccount(database);
    services.mailbox.refuse(550, 1);
    await bench.app.customers.revokeKey(customerId, key.keyId, OPERATOR);
    await database.query("update customers set email = null");
    await bench.app.customers.createKey(customerId, "robot", OPERATOR);
    await bench.app.customers.stop();
    assert.equal(services.mailbox.mails.length, seen);
    assert.equal((await bench.call("GET", "/v1/customers/me", { key: key.apiKey })).status, 401);
    await bench.close();
  },
);
