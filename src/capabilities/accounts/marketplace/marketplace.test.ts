import assert from "node:assert/strict";
import { test } from "node:test";
import { eachDatabase, embeddedDatabase } from "../../../../test/support/databases.ts";
import { FakeClock } from "../../../../test/support/fake-clock.ts";
import { AppError } from "../../../domain/errors.ts";
import { PLAN_ALLOWANCES } from "../../../domain/plan.ts";
import { createMarketplace, type MarketplaceHeaders } from "./marketplace.ts";

const SECRET = "marketplace-secret-of-32-characters-1";
const NEXT_SECRET = "marketplace-secret-of-32-characters-2";
const USER = "someone";

async function setUp(secrets: readonly string[] = [SECRET]) {
  const clock = new FakeClock();
  const marketplace = createMarketplace({ secrets, database: await embeddedDatabase(), clock });
  const identify = async (headers: Partial<MarketplaceHeaders>) =>
    marketplace.identify({ secret: SECRET, user: USER, subscription: "PRO", ...headers });
  return { identify, clock };
}

const isUnauthorized = (error: unknown) => error instanceof AppError && error.code === "unauthorized";

test("a request without marketplace headers is not identified", async () => {
  const { identify } = await setUp();
  assert.equal(await identify({ secret: undefined, user: undefined, subscription: undefined }), null);
});

test("401: marketplace headers with a wrong or missing secret are rejected", async () => {
  const { identify } = await setUp();
  for (const secret of [undefined, "", SECRET.slice(1), `${SECRET} `, SECRET.toUpperCase(), `${SECRET}, ${SECRET}`]) {
    await assert.rejects(identify({ secret }), isUnauthorized);
    await assert.rejects(identify({ secret, user: undefined }), isUnauthorized);
    if (secret !== undefined)
      await assert.rejects(identify({ secret, user: undefined, subscription: undefined }), isUnauthorized);
  }
});

test("401: without a configured secret all marketplace headers are rejected", async () => {
  const { identify } = await setUp([]);
  for (const secret of [undefined, "", SECRET]) await assert.rejects(identify({ secret }), isUnauthorized);
});

test("401: a valid secret without a user is rejected", async () => {
  const { identify } = await setUp();
  for (const user of [undefined, ""]) await assert.rejects(identify({ user }), isUnauthorized);
});

test("both secrets are valid during a rotation, and only the new secret after it", async () => {
  const rotationSetup = await setUp([SECRET, NEXT_SECRET]);
  const [oldSecretCaller, newSecretCaller] = [
    await rotationSetup.identify({}),
    await rotationSetup.identify({ secret: NEXT_SECRET }),
  ];
  assert.deepEqual(oldSecretCaller, newSecretCaller);
  const newSecretSetup = await setUp([NEXT_SECRET]);
  await assert.rejects(newSecretSetup.identify({}), isUnauthorized);
});

test("the plan follows the subscription, and an unknown subscription is free", async () => {
  const { identify } = await setUp();
  const pro = { PRO: "pro", ULTRA: "pro", MEGA: "pro", CUSTOM: "pro" };
  const free = { BASIC: "free", pro: "free", constructor: "free", "": "free" };
  for (const [subscription, plan] of Object.entries({ ...pro, ...free })) {
    const caller = await identify({ subscription });
    assert.deepEqual([caller?.plan, caller?.allowance], [plan, PLAN_ALLOWANCES[plan as "free"]], subscription);
  }
  assert.equal((await identify({ subscription: undefined }))?.plan, "free");
});

test("every user name maps to a separate customer with a safe id", async () => {
  const { identify } = await setUp();
  const names = [
    "a",
    "A",
    "a ",
    "cus-demofree",
    "' or 1=1 --",
    "../../..",
    "漢字",
    "x".repeat(10_000),
    "a, b",
    "__proto__",
  ];
  const ids = new Set<string>();
  for (const user of names) {
    const { customerId = "" } = (await identify({ user })) ?? {};
    assert.match(customerId, /^mkt-[0-9a-f]{40}$/);
    assert.equal((await identify({ user }))?.customerId, customerId);
    ids.add(customerId);
  }
  assert.equal(ids.size, names.length);
});

eachDatabase(
  "a CUSTOM subscription has the enterprise plan only if an operator has set custom limits",
  async (database) => {
    const clock = new FakeClock();
    const marketplace = createMarketplace({ secrets: [SECRET], database, clock });
    const identify = async () => marketplace.identify({ secret: SECRET, user: USER, subscription: "CUSTOM" });
    const first = await identify();
    assert.equal(first?.plan, "pro");
    await database.query(
      `insert into customers (customer_id, email, plan, status, created_at, quotas, rate_limits)
     values ($1, null, 'enterprise', 'active', now(), '{"DEEP": 77}', '{"general": 900}')`,
      [first?.customerId],
    );
    assert.equal((await identify())?.plan, "pro");
    await clock.advance(1_000);
    const { quotas, rateLimits } = PLAN_ALLOWANCES.enterprise;
    assert.deepEqual(await identify(), {
      customerId: first?.customerId,
      plan: "enterprise",
      allowance: { quotas: { ...quotas, DEEP: 77 }, rateLimits: { ...rateLimits, general: 900 } },
    });
  },
);

eachDatabase(
  "401: a disabled marketplace user is rejected within a second, with any subscription",
  async (database) => {
    const clock = new FakeClock();
    const marketplace = createMarketplace({ secrets: [SECRET], database, clock });
    const identify = async (subscription: string) => marketplace.identify({ secret: SECRET, user: USER, subscription });
    const first = await identify("PRO");
    await database.query(
      `insert into customers (customer_id, email, plan, status, created_at, quotas)
     values ($1, null, 'enterprise', 'canceled', now(), '{"DEEP": 77}')`,
      [first?.customerId],
    );
    assert.equal((await identify("PRO"))?.plan, "pro");
    await clock.advance(1_000);
    for (const subscription of ["BASIC", "PRO", "ULTRA", "MEGA", "CUSTOM", "", "other"])
      await assert.rejects(identify(subscription), isUnauthorized, subscription);
    assert.equal((await marketplace.identify({ secret: SECRET, user: "other", subscription: "PRO" }))?.plan, "pro");
  },
);
