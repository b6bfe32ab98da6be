import assert from "node:assert/strict";
import { customerHarness, PUBLIC_URL, useSignUpServices } from "../../../../test/support/customers/customer-harness.ts";
import { eachDatabase } from "../../../../test/support/databases.ts";
import { quietLog } from "../../../../test/support/quiet-log.ts";
import { createInProcessBus } from "../../../adapters/bus/in-process-bus.ts";
import { systemRandom } from "../../../adapters/system/system-random.ts";
import type { Database } from "../../../ports/database.ts";
import { createSessions } from "../sessions/index.ts";
import { insertAudit } from "./queries.ts";

const OPERATOR = { kind: "operator", id: "test" } as const;
const EMAIL = "ada@example.org";

const services = await useSignUpServices();
const withEmail = {
  signUp: services.withEmail,
  account: { botCheck: null, emailDelivery: services.withEmail.emailDelivery },
  publicUrl: PUBLIC_URL,
};

async function createAda(database: Database, ports: Parameters<typeof customerHarness>[1] = {}) {
  const harness = await customerHarness(database, ports);
  const { customerId, key } = await harness.app.customers.create(
    { email: EMAIL, name: "Ada Lovelace", plan: "free" },
    OPERATOR,
  );
  return { harness, customerId, apiKey: key.apiKey };
}

/** The rows of all tables as text. */
async function dump(database: Database) {
  const tables = await database.query<{ name: string }>(
    "select quote_ident(tablename) as name from pg_tables where schemaname = current_schema() order by 1",
  );
  const contents = await Promise.all(
    tables.map(async ({ name }) => ({
      name,
      text: JSON.stringify(await database.query(`select to_jsonb(t) as row from ${name} t`)),
    })),
  );
  return {
    contains: (text: string) => contents.some((table) => table.text.includes(text)),
    tablesWith: (text: string) => contents.filter((table) => table.text.includes(text)).map(({ name }) => name),
  };
}

eachDatabase(
  "a deleted account leaves only the audit log, the calls of the month and rate limits",
  async (database) => {
    const { harness, customerId, apiKey } = await createAda(database, withEmail);
    const { customers } = harness.app;
    const sessions = createSessions({ database, clock: harness.clock, random: systemRandom, record: insertAudit });
    await sessions.beginAfterSignUp(customerId, null);
    await customers.createKey(customerId, "lovelace-laptop", OPERATOR);
    await customers.emailChanges.request(customerId, "new@example.org");
    await harness.call("GET", "/v1/markets", { key: apiKey });
    await harness.call("GET", "/v1/markets/venue_a/none", { key: apiKey });
    await harness.call("POST", "/account/sign-in", {
      body: String(new URLSearchParams({ email: EMAIL })),
      headers: { "content-type": "application/x-www-form-urlencoded", "sec-fetch-site": "same-origin" },
    });
    await harness.app.stop();
    const before = await dump(database);
    for (const text of [`signin-mail:${EMAIL}`, "Lovelace", "lovelace-laptop", "market_not_found"])
      assert.ok(before.contains(text), text);
    for (const table of ["api_keys", "email_changes", "recent_requests", "sessions", "sign_in_links", "usage_days"])
      assert.ok(before.tablesWith(customerId).includes(table), table);
    assert.deepEqual(await customers.delete(customerId, OPERATOR), { email: EMAIL });
    const after = await dump(database);
    for (const text of ["ada@", "ovelace", "market_not_found", "plx_free"]) assert.ok(!after.contains(text), text);
    assert.deepEqual(after.tablesWith(customerId), ["attempts", "audit_log", "quota_months"]);
    assert.deepEqual(after.tablesWith("new@example.org"), ["attempts"], "until the limit of e-mails expires");
    const [entry] = await customers.auditLog({ customerId, limit: 1 });
    assert.deepEqual([entry?.action, entry?.details], ["customer.deleted", { keys: 2, sessions: 1 }]);
  },
);

eachDatabase(
  "401: a deleted account's key is rejected on every node, at the latest after a second",
  async (database) => {
    const bus = createInProcessBus(quietLog);
    const { harness, customerId, apiKey } = await createAda(database, { bus });
    const other = await customerHarness(database, { bus });
    const isolated = await customerHarness(database);
    other.app.start();
    const nodes = [harness, other, isolated];
    const readStatuses = () =>
      Promise.all(nodes.map(async (node) => (await node.call("GET", "/v1/markets", { key: apiKey })).status));
    assert.deepEqual(await readStatuses(), [200, 200, 200]);
    await harness.app.customers.delete(customerId, OPERATOR);
    await other.clock.settle();
    assert.deepEqual(await readStatuses(), [401, 401, 200], "the isolated node misses the bus message");
    await isolated.clock.advance(1_000);
    assert.deepEqual(await readStatuses(), [401, 401, 401]);
    await other.app.stop();
  },
);

eachDatabase("a deletion can be repeated by id, and an unknown customer is not found", async (database) => {
  const { harness, customerId } = await createAda(database);
  const results = await Promise.all([1, 2].map(() => harness.app.customers.delete(customerId, OPERATOR)));
  assert.deepEqual(results.map(({ email }) => email).sort(), [EMAIL, null]);
  assert.deepEqual(await harness.app.customers.delete(customerId, OPERATOR), { email: null });
  const entries = await harness.app.customers.auditLog({ customerId, limit: 10 });
  assert.deepEqual(
    entries.map(({ action }) => action),
    ["customer.deleted", "customer.created"],
  );
  await assert.rejects(harness.app.customers.delete("cus-unknown", OPERATOR), { code: "customer_not_found" });
  await assert.rejects(harness.app.customers.enable(customerId, OPERATOR), { code: "customer_not_found" });
});

eachDatabase("after a deletion, the address can immediately request another verification e-mail", async (database) => {
  const harness = await customerHarness(database, withEmail);
  const signUp = async () => (await harness.signUpAs(EMAIL)).json.customer_id as string;
  const verify = async (count: number) => {
    const mail = (await services.receivedMails(count)).at(-1);
    const token = /verify\?token=([a-z2-7]{26})/.exec(mail?.text ?? "")?.[1] ?? "";
    return harness.app.customers.verify(token);
  };
  const customerId = await signUp();
  assert.equal((await verify(1))?.customerId, customerId);
  await harness.app.customers.delete(customerId, OPERATOR);
  await services.receivedMails(2);
  const nextCustomerId = await signUp();
  assert.notEqual(nextCustomerId, customerId);
  assert.equal((await verify(3))?.customerId, nextCustomerId);
});

eachDatabase("the owner receives one e-mail about the deletion", async (database) => {
  const { harness, customerId } = await createAda(database, withEmail);
  await harness.app.customers.delete(customerId, OPERATOR);
  await harness.app.customers.delete(customerId, OPERATOR);
  await harness.app.customers.stop();
  const [mail, ...others] = services.currentMails();
  assert.equal(others.length, 0);
  assert.deepEqual(mail?.recipients, [EMAIL]);
  assert.match(mail?.text ?? "", /was deleted on 2026-11-21 12:00 UTC, by an operator/);
});
