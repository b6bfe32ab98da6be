import assert from "node:assert/strict";
import { customerHarness, PUBLIC_URL, useSignUpServices } from "../../../../test/support/customers/customer-harness.ts";
import { eachDatabase } from "../../../../test/support/databases.ts";
import type { Database } from "../../../ports/database.ts";

const OPERATOR = { kind: "operator", id: "test" } as const;

const services = await useSignUpServices();

async function createAccount(database: Database) {
  const harness = await customerHarness(database, {
    account: { botCheck: null, emailDelivery: services.withEmail.emailDelivery },
    publicUrl: PUBLIC_URL,
  });
  const { customerId, key } = await harness.app.customers.create(
    { email: "ada@example.org", name: null, plan: "free" },
    OPERATOR,
  );
  return { harness, customerId, key };
}

eachDatabase(
  "the owner receives an e-mail without secrets for every key created, rotated or revoked",
  async (database) => {
    const { harness, key } = await createAccount(database);
    const createResponse = await harness.call("POST", "/v1/customers/me/keys", {
      key: key.apiKey,
      body: { name: "ro<b>ot" },
    });
    await services.receivedMails(1);
    const rotateResponse = await harness.call("POST", "/v1/customers/me/keys/rotate", { key: key.apiKey });
    await services.receivedMails(2);
    const nextKey: string = rotateResponse.json.api_key;
    await harness.call("DELETE", `/v1/customers/me/keys/${createResponse.json.key_id}`, { key: nextKey });
    const mails = await services.receivedMails(3);
    const changePatterns = [/"ro<b>ot" .* was created/, /"default" .* was replaced/, /"ro<b>ot" .* was revoked/];
    for (const [index, changePattern] of changePatterns.entries()) {
      const { recipients, text = "", html = "" } = mails[index] ?? assert.fail();
      assert.deepEqual(recipients, ["ada@example.org"]);
      assert.match(text, changePattern);
      assert.match(text, /2026-11-21 12:00 UTC/);
      assert.match(text, /an API request with a key/);
      assert.ok(text.includes(`${PUBLIC_URL}/account\n`));
      assert.doesNotMatch(html, /<b>/);
      for (const secret of [key.apiKey, nextKey, createResponse.json.api_key])
        assert.ok(!text.includes(secret.slice(-20)) && !html.includes(secret.slice(-20)));
    }
    await harness.app.customers.stop();
    assert.equal(services.currentMails().length, 3);
  },
);

eachDatabase("a customer receives at most twenty e-mails about key changes per day", async (database) => {
  const { harness, customerId, key } = await createAccount(database);
  let { keyId } = key;
  for (let rotation = 0; rotation < 25; rotation++)
    ({ keyId } = await harness.app.customers.rotateKey(customerId, keyId, OPERATOR));
  assert.equal((await database.query("select 1 from api_keys")).length, 26);
  await harness.app.customers.stop();
  assert.equal(services.currentMails().length, 20);
});

eachDatabase(
  "a mail server failure does not undo a key change, and a customer without an e-mail address receives no e-mail",
  async (database) => {
    const { harness, customerId, key } = await createAccount(database);
    services.mailbox.refuse(550, 1);
    await harness.app.customers.revokeKey(customerId, key.keyId, OPERATOR);
    await database.query("update customers set email = null");
    await harness.app.customers.createKey(customerId, "robot", OPERATOR);
    await harness.app.customers.stop();
    assert.equal(services.currentMails().length, 0);
    assert.equal((await harness.call("GET", "/v1/customers/me", { key: key.apiKey })).status, 401);
  },
);
