import assert from "node:assert/strict";
import { after, before } from "node:test";
import fc from "fast-check";
import { customerHarness, signUpServices } from "../../../test/support/customers/customer-harness.ts";
import { eachDatabase } from "../../../test/support/databases.ts";

let services: Awaited<ReturnType<typeof signUpServices>>;
before(async () => {
  services = await signUpServices();
});
after(() => services.close());

const addressOf = (turn: number) => `198.51.${Math.floor(turn / 250)}.${turn % 250}`;

eachDatabase(
  "200: a sandbox takes the dummy token and gives the key at once, shown once, and the key works",
  async (database) => {
    const bench = await customerHarness(database);
    const answer = await bench.signUpAs(" Ada@Example.ORG ", { name: "Ada" });
    assert.equal(answer.status, 200);
    const { api_key: key, customer_id: customerId, ...rest } = answer.json;
    assert.deepEqual(rest, {
      message: "The account is open; keep the API key, it is shown once",
      requires_verification: false,
    });
    assert.match(key, /^plx_free_[a-z2-7]{33}$/);
    assert.equal(answer.headers["cache-control"], "no-store");
    const me = await bench.call("GET", "/v1/customers/me", { key });
    assert.equal(me.status, 200);
    assert.equal(me.json.customer_id, customerId);
    assert.equal(me.json.email, "ada@example.org");
    await bench.close();
  },
);

eachDatabase(
  "422: what is missing, malformed or no address is told in full, and the bot check's token is not repeated",
  async (database) => {
    const bench = await customerHarness(database);
    const post = (body: unknown) => bench.call("POST", "/v1/customers/signup", { body });
    const faults = async (body: unknown) => {
      const answer = await post(body);
      assert.equal(answer.status, 422, JSON.stringify(body));
      return answer.json.detail.map(({ type, loc }: { type: string; loc: string[] }) => `${loc.join(".")} ${type}`);
    };
    assert.deepEqual(await faults({}), ["body.email missing", "body.turnstile_token missing"]);
    assert.deepEqual(await faults({ email: 5, name: 5, turnstile_token: "x".repeat(2049) }), [
      "body.email string_type",
      "body.name string_type",
      "body.turnstile_token string_too_long",
    ]);
    for (const name of ["a\r\nBcc: eve@example.org", "a\u202eb", "a\u0007", "x".repeat(101)])
      assert.equal((await faults({ email: "a@b.org", turnstile_token: "t", name })).length, 1, JSON.stringify(name));
    for (const email of ["ada", "ada@localhost", "ada@127.0.0.1", "a@b.org\r\nBcc: e@b.org", "a@b.org,e@b.org"])
      assert.deepEqual(await faults({ email, turnstile_token: "t" }), ["body.email value_error"], email);
    const canary = "turnstile-canary-token";
    const answer = await post({ turnstile_token: canary, email: "ada" });
    assert.doesNotMatch(answer.text, /canary/);
    assert.doesNotMatch((await post({ turnstile_token: canary })).text, /canary/);
    await bench.close();
  },
);

eachDatabase("422: a disposable address is refused, also below its domain and in other spellings", async (database) => {
  const bench = await customerHarness(database);
  for (const email of ["a@tempmail.example", "a@sub.tempmail.example.", "a@TEMPMAIL.example", "a@ｔempmail.example"]) {
    const answer = await bench.signUpAs(email);
    assert.equal(answer.status, 422, email);
    assert.match(answer.json.detail[0].msg, /disposable/);
    assert.deepEqual(answer.json.detail[0].loc, ["body", "email"]);
  }
  assert.deepEqual(await database.query("select * from attempts"), [], "nobody was looked up or counted");
  await bench.close();
});

eachDatabase(
  "403 bot_check_failed: comes before any look-up, whether the address is known or not",
  async (database) => {
    const { turnstile, withTurnstile } = services;
    let reads = 0;
    const counted = {
      ...database,
      query: (...args: Parameters<typeof database.query>) => {
        reads += 1;
        return database.query(...args);
      },
      transaction: (...args: Parameters<typeof database.transaction>) => {
        reads += 1;
        return database.transaction(...args);
      },
    } as typeof database;
    const bench = await customerHarness(counted, { signUp: withTurnstile });
    assert.equal((await bench.signUpAs("ada@example.org", { token: turnstile.issue() })).status, 200);
    reads = 0;
    const refused = [
      turnstile.issue({ hostname: "evil.example" }),
      turnstile.issue({ action: "login" }),
      "made up",
      "XXXX.DUMMY.TOKEN.XXXX",
    ];
    for (const token of refused) {
      for (const email of ["ada@example.org", "new@example.org"]) {
        const answer = await bench.signUpAs(email, { token });
        assert.equal(answer.status, 403);
        assert.equal(answer.json.code, "bot_check_failed");
      }
    }
    assert.equal(reads, 0);
    await bench.close();
  },
);

eachDatabase(
  "503 bot_check_unavailable: nobody is let in while the checker is in trouble, and it costs no attempt",
  async (database) => {
    const { turnstile, withTurnstile } = services;
    const bench = await customerHarness(database, { signUp: withTurnstile });
    for (let turn = 0; turn < 6; turn++) {
      turnstile.trouble("500", 2);
      const answer = await bench.signUpAs("ada@example.org", { token: turnstile.issue() });
      assert.equal(answer.status, 503);
      assert.equal(answer.json.code, "bot_check_unavailable");
      assert.ok(Number(answer.headers["retry-after"]) > 0);
    }
    assert.equal((await bench.signUpAs("ada@example.org", { token: turnstile.issue() })).status, 200);
    await bench.close();
  },
);

eachDatabase(
  "503 signup_not_configured: a server without a bot check lets nobody in, whatever is sent",
  async (database) => {
    const bench = await customerHarness(database, { signUp: null });
    for (const email of ["ada@example.org", "a@tempmail.example"]) {
      const answer = await bench.signUpAs(email);
      assert.equal(answer.status, 503);
      assert.equal(answer.json.code, "signup_not_configured");
    }
    await bench.close();
  },
);

eachDatabase(
  "409 email_taken: of a hundred sign-ups at once with one address in many spellings, one gets a key",
  async (database) => {
    const bench = await customerHarness(database);
    const spellings = ["ada@example.org", "ADA@EXAMPLE.ORG", "ada@example.org.", "ａda@example.org"];
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, turn) => bench.signUpAs(spellings[turn % 4] ?? "", { from: addressOf(turn) })),
    );
    const statuses = answers.map(({ status }) => status);
    assert.equal(statuses.filter((status) => status === 200).length, 1);
    assert.equal(statuses.filter((status) => status === 409).length, 99);
    const conflict = answers.find(({ status }) => status === 409);
    assert.deepEqual(conflict?.json, { detail: "An account with this e-mail address exists", code: "email_taken" });
    await bench.close();
  },
);

eachDatabase(
  "429: five an hour from one address, however it is dressed up, and Retry-After is true",
  async (database) => {
    const bench = await customerHarness(database);
    const dressed = (turn: number) => ({
      "x-forwarded-for": addressOf(turn),
      forwarded: `for=${addressOf(turn)}`,
      "x-real-ip": addressOf(turn),
      "cf-connecting-ip": addressOf(turn),
    });
    const statuses: number[] = [];
    for (let turn = 0; turn < 20; turn++)
      statuses.push((await bench.signUpAs(`a${turn}@example.org`, { headers: dressed(turn) })).status);
    assert.deepEqual(statuses, [200, 200, 200, 200, 200, ...Array.from({ length: 15 }, () => 429)]);
    const answer = await bench.signUpAs("late@example.org");
    assert.equal(answer.json.code, "rate_limited");
    const seconds = Number(answer.headers["retry-after"]);
    assert.equal(
      answer.json.detail,
      `Too many sign-ups from this address. Retry after ${seconds} seconds (${Math.ceil(seconds / 60)} minutes).`,
    );
    await bench.clock.advance((seconds - 1) * 1000);
    assert.equal((await bench.signUpAs("late@example.org")).status, 429);
    await bench.clock.advance(1_000);
    assert.equal((await bench.signUpAs("late@example.org")).status, 200);
    await bench.close();
  },
);

eachDatabase(
  "429: an IPv6 caller is its /64, and behind a trusted proxy a caller is the last address that the proxy saw",
  async (database) => {
    const bench = await customerHarness(database, { trustProxy: ["10.0.0.0/8"] });
    const six: number[] = [];
    for (let turn = 0; turn < 6; turn++)
      six.push((await bench.signUpAs(`six${turn}@example.org`, { from: `2001:db8:0:7:${turn}::1` })).status);
    assert.deepEqual(six, [200, 200, 200, 200, 200, 429]);
    assert.equal((await bench.signUpAs("six9@example.org", { from: "2001:db8:0:8::1" })).status, 200);
    const behind: number[] = [];
    for (let turn = 0; turn < 6; turn++) {
      const headers = { "x-forwarded-for": `${addressOf(turn)}, 203.0.113.77` };
      behind.push((await bench.signUpAs(`proxy${turn}@example.org`, { from: "10.1.2.3", headers })).status);
    }
    assert.deepEqual(behind, [200, 200, 200, 200, 200, 429]);
    await bench.close();
  },
);

eachDatabase(
  "429: a caller who keeps failing the bot check is turned away before the checker is asked again",
  async (database) => {
    const { turnstile, withTurnstile } = services;
    const bench = await customerHarness(database, { signUp: withTurnstile });
    const asked = turnstile.requests.length;
    // The checker is shared with the other tests, and remembers what it was shown.
    const name = `made up after ${asked}`;
    const statuses: number[] = [];
    for (let turn = 0; turn < 35; turn++)
      statuses.push((await bench.signUpAs("ada@example.org", { token: `${name} ${turn}` })).status);
    assert.equal(statuses.filter((status) => status === 403).length, 30);
    assert.equal(statuses.filter((status) => status === 429).length, 5);
    assert.equal(turnstile.requests.length - asked, 30);
    await bench.close();
  },
);

eachDatabase("no field that a stranger makes up reaches the account: no plan, no quota, no id", async (database) => {
  const bench = await customerHarness(database);
  const names = fc.constantFrom(
    "plan",
    "customer_id",
    "quotas",
    "quota",
    "status",
    "rate_limits",
    "__proto__x",
    "email_verified",
  );
  // A body with such a name is refused as a whole, wherever in it the name is (src/http/json-text.test.ts).
  const values = fc.jsonValue().filter((value) => !JSON.stringify(value).includes('"__proto__"'));
  let turn = 0;
  await fc.assert(
    fc.asyncProperty(fc.dictionary(names, values), async (extra) => {
      turn += 1;
      const body = { ...extra, email: `p${turn}@example.org`, turnstile_token: "XXXX.DUMMY.TOKEN.XXXX" };
      const answer = await bench.call("POST", "/v1/customers/signup", { body, from: addressOf(turn) });
      assert.equal(answer.status, 200);
      const me = await bench.call("GET", "/v1/customers/me", { key: answer.json.api_key });
      const { customer_id: customerId, email: _, key_prefix: __, resets_on: ___, ...rest } = me.json;
      assert.match(customerId, /^cus-[a-z2-7]{26}$/);
      assert.deepEqual(rest, {
        plan: "free",
        status: "active",
        usage: { listing: 0, insight: 0, strategy: 0, deep: 0 },
        quotas: { listing: 100, insight: 10, strategy: 0, deep: 0 },
      });
    }),
    { numRuns: 30 },
  );
  await bench.close();
});
