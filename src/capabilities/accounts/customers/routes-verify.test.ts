import assert from "node:assert/strict";
import { customerHarness, useSignUpServices } from "../../../../test/support/customers/customer-harness.ts";
import { eachDatabase } from "../../../../test/support/databases.ts";
import { HOUR_MS } from "../../../lib/durations.ts";
import type { Database } from "../../../ports/database.ts";

const services = await useSignUpServices();

const VERIFY_PATH = "/v1/customers/verify";
const FORM_HEADERS = {
  "content-type": "application/x-www-form-urlencoded",
  accept: "text/html,*/*;q=0.8",
  "sec-fetch-site": "same-origin",
};

async function openEmailHarness(database: Database) {
  const harness = await customerHarness(database, { signUp: services.withEmail });
  let signUpCount = 0;
  /** Signs up from a new network address, waits for the e-mail and returns the token of its link. */
  const requestToken = async (email: string, name?: string): Promise<string> => {
    signUpCount += 1;
    const response = await harness.signUpAs(email, { from: `192.0.2.${signUpCount}`, name });
    assert.equal(response.status, 200);
    const mail = (await services.receivedMails(signUpCount)).at(-1);
    return /verify\?token=([a-z2-7]+)/.exec(mail?.text ?? "")?.[1] ?? "";
  };
  const verify = (token: string) => harness.call("POST", VERIFY_PATH, { body: { token } });
  return { ...harness, tokenFor: requestToken, verify };
}

eachDatabase(
  "200: with a mail server the sign-up response contains no key, and the e-mailed link returns it",
  async (database) => {
    const harness = await openEmailHarness(database);
    const response = await harness.signUpAs("ada@example.org", { name: 'Ada <script>alert("1")</script> & Co' });
    assert.equal(response.status, 200);
    assert.deepEqual(Object.keys(response.json).sort(), ["customer_id", "message", "requires_verification"]);
    assert.equal(response.json.requires_verification, true);
    const [mail] = await services.receivedMails(1);
    assert.deepEqual(mail?.recipients, ["ada@example.org"]);
    const link = /https:\/\/parallax\.example\/v1\/customers\/verify\?token=([a-z2-7]{26})/;
    const token = link.exec(mail?.text ?? "")?.[1] ?? "";
    assert.equal(link.exec(mail?.html ?? "")?.[1], token);
    for (const text of [mail?.text, mail?.html])
      assert.doesNotMatch(text ?? "Ada", /Ada|script|alert/, "the e-mail contains no user input");
    const verifyResponse = await harness.verify(token);
    assert.equal(verifyResponse.status, 200);
    assert.equal(verifyResponse.json.customer_id, response.json.customer_id);
    assert.equal(verifyResponse.headers["cache-control"], "no-store");
    assert.equal(verifyResponse.headers["referrer-policy"], "no-referrer");
    const account = await harness.call("GET", "/v1/customers/me", { key: verifyResponse.json.api_key });
    assert.equal(account.json.email, "ada@example.org");
  },
);

eachDatabase("a GET request does not consume the verification token; submitting the form does", async (database) => {
  const harness = await openEmailHarness(database);
  const token = await harness.tokenFor("ada@example.org");
  for (let request = 0; request < 10; request++) {
    const page = await harness.call("GET", `${VERIFY_PATH}?token=${token}`);
    assert.equal(page.status, 200);
    assert.match(page.text, new RegExp(`<input type="hidden" name="token" value="${token}">`));
    assert.doesNotMatch(page.text, /<script|https?:/);
    assert.equal(page.headers["cache-control"], "no-store");
    assert.equal(page.headers["referrer-policy"], "strict-origin");
    assert.match(
      String(page.headers["content-security-policy"]),
      /^default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; /,
    );
    assert.match(String(page.headers["content-security-policy"]), /frame-ancestors 'none'/);
  }
  assert.deepEqual(await database.query("select * from customers"), []);
  const verifyResponse = await harness.call("POST", VERIFY_PATH, { body: `token=${token}`, headers: FORM_HEADERS });
  assert.equal(verifyResponse.status, 200);
  assert.match(String(verifyResponse.headers["content-type"]), /^text\/html/);
  assert.equal(verifyResponse.headers["cache-control"], "no-store");
  const key = /plx_free_[a-z2-7]{33}/.exec(verifyResponse.text)?.[0];
  assert.equal((await harness.call("GET", "/v1/customers/me", { key: key ?? "" })).status, 200);
  const repeatedResponse = await harness.call("POST", VERIFY_PATH, { body: `token=${token}`, headers: FORM_HEADERS });
  assert.equal(repeatedResponse.status, 404);
  assert.doesNotMatch(repeatedResponse.text, /plx_/);
});

eachDatabase(
  "404: of fifty concurrent verifications, exactly one succeeds, and one account exists",
  async (database) => {
    const harness = await openEmailHarness(database);
    const token = await harness.tokenFor("ada@example.org");
    const responses = await Promise.all(Array.from({ length: 50 }, () => harness.verify(token)));
    assert.equal(responses.filter(({ status }) => status === 200).length, 1);
    assert.equal(responses.filter(({ status }) => status === 404).length, 49);
    const counts = await database.query(
      "select (select count(*) from customers) as c, (select count(*) from api_keys) as k",
    );
    assert.deepEqual(counts, [{ c: 1, k: 1 }]);
  },
);

eachDatabase("404: the responses for unknown, altered, used and expired links are identical", async (database) => {
  const harness = await openEmailHarness(database);
  const usedToken = await harness.tokenFor("used@example.org");
  await harness.verify(usedToken);
  const expiredToken = await harness.tokenFor("expired@example.org");
  await harness.clock.advance(24 * HOUR_MS);
  const activeToken = await harness.tokenFor("active@example.org");
  const alteredToken = `${activeToken.slice(0, -1)}${activeToken.endsWith("a") ? "b" : "a"}`;
  const responses = [];
  for (const token of [usedToken, expiredToken, alteredToken, "", "x".repeat(200), "a".repeat(26)]) {
    const response = await harness.verify(token);
    responses.push({ status: response.status, text: response.text });
    const page = await harness.call("POST", VERIFY_PATH, { body: `token=${token}`, headers: FORM_HEADERS });
    assert.equal(page.status, 404);
    assert.match(page.text, /This link does not work/);
  }
  assert.equal(new Set(responses.map((response) => JSON.stringify(response))).size, 1);
  assert.deepEqual(JSON.parse(responses[0]?.text ?? ""), {
    detail: "This link is invalid: it has been used or replaced, or it has expired",
    code: "verification_not_found",
  });
  assert.equal((await harness.verify(activeToken)).status, 200);
});

eachDatabase("a second sign-up sends a second e-mail and invalidates the first link", async (database) => {
  const harness = await openEmailHarness(database);
  const firstToken = await harness.tokenFor("ada@example.org", "Ada");
  await harness.clock.advance(60_000);
  const secondToken = await harness.tokenFor("ADA@example.org", "Ada B.");
  assert.equal((await harness.verify(firstToken)).status, 404);
  assert.equal((await harness.verify(secondToken)).status, 200);
  assert.deepEqual(await database.query("select name from customers"), [{ name: "Ada B." }]);
  await harness.clock.advance(60_000);
  const repeatedSignUp = await harness.signUpAs("ada@example.org", { from: "192.0.2.200" });
  assert.equal(repeatedSignUp.status, 409, "the account exists now");
});

eachDatabase(
  "an e-mail address receives one e-mail per minute and three per day; all responses are identical, and the newest link works",
  async (database) => {
    const harness = await openEmailHarness(database);
    const texts = new Set<string>();
    const signUp = async (index: number) => {
      const response = await harness.signUpAs("victim@example.org", { from: `192.0.2.${index}` });
      assert.equal(response.status, 200);
      texts.add(response.text);
    };
    for (let index = 0; index < 60; index++) {
      await signUp(index);
      await harness.clock.advance(30_000);
    }
    // Sends the queued e-mails.
    await harness.app.customers.stop();
    const mails = await services.receivedMails(3);
    assert.equal(mails.length, 3);
    assert.equal(texts.size, 1);
    const token = /token=([a-z2-7]+)/.exec(mails.at(-1)?.text ?? "")?.[1] ?? "";
    assert.equal((await harness.verify(token)).status, 200);
  },
);

eachDatabase(
  "if the mail server rejects a verification e-mail, the response is still 200, and the e-mail is retried",
  async (database) => {
    const harness = await openEmailHarness(database);
    services.mailbox.refuse(451, 1);
    const response = await harness.signUpAs("ada@example.org");
    assert.equal(response.status, 200);
    // The retry is scheduled only after the rejection has been received over the network.
    while (!harness.lines.some(({ message }) => /retrying later/.test(message))) await new Promise(setImmediate);
    await harness.clock.advance(1_000);
    assert.equal((await services.receivedMails(1)).length, 1);
  },
);

eachDatabase("503 mail_unavailable: if no e-mail can be queued, the sign-up is not stored", async (database) => {
  const harness = await openEmailHarness(database);
  await harness.app.customers.stop();
  const response = await harness.signUpAs("ada@example.org");
  assert.deepEqual([response.status, response.json.code], [503, "mail_unavailable"]);
  assert.match(String(response.headers["retry-after"]), /^\d+$/);
  assert.deepEqual(await database.query("select email from pending_signups"), []);
});

eachDatabase(
  "400, 404, 415 and 422: only the verification endpoint accepts forms, and each field must occur exactly once",
  async (database) => {
    const harness = await openEmailHarness(database);
    const form = { headers: FORM_HEADERS, body: "email=a%40b.org&turnstile_token=t" };
    assert.equal((await harness.call("POST", "/v1/customers/signup", form)).status, 415);
    assert.equal(
      (await harness.call("POST", VERIFY_PATH, { headers: FORM_HEADERS, body: "token=a&token=b" })).status,
      400,
    );
    assert.equal((await harness.call("POST", VERIFY_PATH, { headers: FORM_HEADERS, body: "other=a" })).status, 422);
    assert.equal((await harness.call("GET", VERIFY_PATH)).status, 404);
    assert.equal((await harness.call("GET", `${VERIFY_PATH}?token=%22%3E%3Cscript%3E`)).status, 404);
  },
);

eachDatabase(
  "404: a verification link is rejected if an account with the e-mail address was created after the sign-up",
  async (database) => {
    const harness = await openEmailHarness(database);
    const token = await harness.tokenFor("ada@example.org");
    await database.query(
      "insert into customers (customer_id, email, plan, status, created_at) values ('cus-a', 'ada@example.org', 'pro', 'active', now())",
    );
    assert.equal((await harness.verify(token)).status, 404);
    assert.deepEqual(await database.query("select customer_id from customers"), [{ customer_id: "cus-a" }]);
  },
);

eachDatabase("403: a verification form submitted from another site creates no account", async (database) => {
  const harness = await openEmailHarness(database);
  const token = await harness.tokenFor("ada@example.org");
  const { "sec-fetch-site": _site, ...crossSiteForm } = FORM_HEADERS;
  const headerSets: readonly Readonly<Record<string, string>>[] = [
    crossSiteForm,
    { ...crossSiteForm, origin: "https://evil.example" },
    { ...crossSiteForm, origin: "null" },
    { ...crossSiteForm, "sec-fetch-site": "cross-site" },
    {
      ...crossSiteForm,
      "content-type": "Application/X-WWW-Form-Urlencoded; charset=utf-8",
      "sec-fetch-site": "cross-site",
    },
    { ...crossSiteForm, "content-type": "text/plain", "sec-fetch-site": "cross-site" },
  ];
  for (const headers of headerSets) {
    const response = await harness.call("POST", VERIFY_PATH, { body: `token=${token}`, headers });
    assert.equal(response.status, 403, JSON.stringify(headers));
    assert.doesNotMatch(response.text, /plx_/);
  }
  assert.equal((await harness.verify(token)).status, 200, "the token is still valid, and JSON needs no Origin");
});
