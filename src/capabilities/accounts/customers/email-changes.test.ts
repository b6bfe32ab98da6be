import assert from "node:assert/strict";
import { customerHarness, PUBLIC_URL, useSignUpServices } from "../../../../test/support/customers/customer-harness.ts";
import { eachDatabase } from "../../../../test/support/databases.ts";
import { systemRandom } from "../../../adapters/system/system-random.ts";
import { HOUR_MS } from "../../../lib/durations.ts";
import type { Database } from "../../../ports/database.ts";
import { createSessions } from "../sessions/index.ts";
import { insertAudit } from "./queries.ts";

const OPERATOR = { kind: "operator", id: "test" } as const;
const services = await useSignUpServices();

async function createAda(database: Database) {
  const harness = await customerHarness(database, {
    signUp: services.withEmail,
    account: { botCheck: null, emailDelivery: services.withEmail.emailDelivery },
    publicUrl: PUBLIC_URL,
  });
  const { customers } = harness.app;
  const sessions = createSessions({ database, clock: harness.clock, random: systemRandom, record: insertAudit });
  const create = async (email: string) =>
    (await customers.create({ email, name: null, plan: "free" }, OPERATOR)).customerId;
  const customerId = await create("ada@example.org");
  const startSession = async (id: string) => {
    const token = (await sessions.beginAfterSignUp(id, null))?.token ?? assert.fail();
    return { token, session: (await sessions.find(token)) ?? assert.fail() };
  };
  return { harness, customers, sessions, create, customerId, startSession, emailChanges: customers.emailChanges };
}

const tokenIn = (text = ""): string => /confirm\?token=([a-z2-7]{26})/.exec(text)?.[1] ?? "";

eachDatabase(
  "the link sent to the new address changes the e-mail once, ends other sessions and notifies the old address",
  async (database) => {
    const { harness, customers, sessions, customerId, startSession, emailChanges } = await createAda(database);
    const { token: ownToken, session } = await startSession(customerId);
    const { token: otherToken } = await startSession(customerId);
    const signInToken = (await sessions.issueLink(database, "ada@example.org")) ?? assert.fail();
    assert.deepEqual(await emailChanges.request(customerId, " Ada@New.example "), { displayedToken: null });
    assert.equal((await emailChanges.find(customerId))?.email, "ada@new.example");
    assert.equal((await customers.account(customerId)).email, "ada@example.org", "unchanged before the confirmation");
    const [mail] = await services.receivedMails(1);
    assert.deepEqual(mail?.recipients, ["ada@new.example"]);
    const token = tokenIn(mail?.text);
    assert.deepEqual(await emailChanges.confirm(session, token), { email: "ada@new.example" });
    assert.equal(await emailChanges.confirm(session, token), null, "replayed");
    assert.equal((await customers.account(customerId)).email, "ada@new.example");
    assert.equal(await emailChanges.find(customerId), null);
    assert.notEqual(await sessions.find(ownToken), null);
    assert.equal(await sessions.find(otherToken), null);
    assert.equal(await sessions.begin(signInToken, null), null, "a link sent to the old address no longer works");
    const [, notice] = await services.receivedMails(2);
    assert.deepEqual(notice?.recipients, ["ada@example.org"]);
    assert.match(notice?.text ?? "", /changed to a…@new\.example on 2026-11-21 12:00 UTC/);
    const [entry] = await customers.auditLog({ customerId, limit: 1 });
    assert.deepEqual([entry?.action, entry?.details], ["customer.email_set", { sessions: 1 }]);
    assert.ok(!JSON.stringify(await database.query("select * from audit_log")).includes("@"));
    await harness.app.customers.stop();
  },
);

eachDatabase(
  "a link does not work for another customer, after an hour, after a newer link, or after cancelling",
  async (database) => {
    const { harness, customers, create, customerId, startSession, emailChanges } = await createAda(database);
    const requestToken = async (count: number) => {
      await emailChanges.request(customerId, "ada@new.example");
      return tokenIn((await services.receivedMails(count)).at(-1)?.text);
    };
    const first = await requestToken(1);
    const eveId = await create("eve@example.org");
    const { session: eve } = await startSession(eveId);
    assert.equal(await emailChanges.confirm(eve, first), null, "another customer");
    await harness.clock.advance(60_000);
    const second = await requestToken(2);
    const { session } = await startSession(customerId);
    assert.equal(await emailChanges.confirm(session, first), null, "replaced");
    await harness.clock.advance(HOUR_MS);
    assert.equal(await emailChanges.find(customerId), null);
    const late = await startSession(customerId);
    assert.equal(await emailChanges.confirm(late.session, second), null, "expired");
    const third = await requestToken(3);
    await emailChanges.cancel(customerId);
    assert.equal(await emailChanges.confirm(late.session, third), null, "cancelled");
    assert.equal((await customers.account(customerId)).email, "ada@example.org");
  },
);

eachDatabase(
  "if an account with the new address is created before the confirmation, nothing changes",
  async (database) => {
    const { customers, create, customerId, startSession, emailChanges } = await createAda(database);
    await emailChanges.request(customerId, "new@example.org");
    const token = tokenIn((await services.receivedMails(1))[0]?.text);
    await create("new@example.org");
    const { session } = await startSession(customerId);
    assert.equal(await emailChanges.confirm(session, token), null);
    assert.equal((await customers.account(customerId)).email, "ada@example.org");
  },
);

eachDatabase("if two customers confirm one address concurrently, exactly one gets it", async (database) => {
  const { customers, create, customerId, startSession, emailChanges } = await createAda(database);
  const eveId = await create("eve@example.org");
  const links: { readonly id: string; readonly token: string }[] = [];
  for (const id of [customerId, eveId]) {
    await database.query("delete from attempts");
    await emailChanges.request(id, "shared@example.org");
    links.push({ id, token: tokenIn((await services.receivedMails(links.length + 1)).at(-1)?.text) });
  }
  const confirmations = [];
  for (const { id, token } of links) confirmations.push({ token, session: (await startSession(id)).session });
  const results = await Promise.all(confirmations.map(({ token, session }) => emailChanges.confirm(session, token)));
  assert.equal(results.filter((result) => result !== null).length, 1);
  const accounts = await Promise.all([customerId, eveId].map((id) => customers.account(id)));
  assert.equal(accounts.filter(({ email }) => email === "shared@example.org").length, 1);
});

eachDatabase("invalid, disposable and unchanged addresses are rejected, and requests are limited", async (database) => {
  const { customerId, emailChanges } = await createAda(database);
  for (const email of ["", "ada", "ada@tempmail.example", "ADA@example.org"])
    await assert.rejects(emailChanges.request(customerId, email), { name: "InvalidRequestError" }, email);
  for (let index = 0; index < 10; index++) await emailChanges.request(customerId, "ada@new.example");
  await assert.rejects(emailChanges.request(customerId, "ada@new.example"), { code: "rate_limited" });
  await services.receivedMails(1);
  // A late e-mail of an earlier test may be among them.
  const mails = services.currentMails().filter(({ recipients }) => recipients.includes("ada@new.example"));
  assert.equal(mails.length, 1, "one e-mail per minute and address");
});

eachDatabase(
  "a verification e-mail is sent again only for a pending sign-up, with a link that replaces the previous one",
  async (database) => {
    const { harness, customers } = await createAda(database);
    const verifyTokenIn = (text = "") => /verify\?token=([a-z2-7]{26})/.exec(text)?.[1] ?? "";
    await harness.signUpAs("new@example.org");
    const first = verifyTokenIn((await services.receivedMails(1))[0]?.text);
    await customers.resend("new@example.org", "198.18.0.1");
    await customers.resend("unknown@example.org", "198.18.0.2");
    await customers.resend("ada@example.org", "198.18.0.3");
    assert.equal(services.currentMails().length, 1, "not within a minute");
    await harness.clock.advance(60_000);
    await customers.resend("NEW@example.org", "198.18.0.1");
    const [, mail] = await services.receivedMails(2);
    assert.deepEqual(mail?.recipients, ["new@example.org"]);
    assert.equal(await customers.verify(first), null, "replaced");
    assert.notEqual(await customers.verify(verifyTokenIn(mail?.text)), null);
    await harness.clock.advance(60_000);
    await customers.resend("new@example.org", "198.18.0.1");
    await assert.rejects(customers.resend("not an address", "198.18.0.1"), { name: "InvalidRequestError" });
    for (let index = 0; index < 2; index++) await customers.resend("new@example.org", "198.18.0.1");
    await assert.rejects(customers.resend("new@example.org", "198.18.0.1"), { code: "rate_limited" });
    await customers.stop();
    assert.equal(services.currentMails().length, 2);
  },
);
