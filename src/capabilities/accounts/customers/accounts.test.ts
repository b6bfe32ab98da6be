import assert from "node:assert/strict";
import { hasErrorCode } from "../../../../test/support/asserts/error-code.ts";
import { eachDatabase, onPostgres } from "../../../../test/support/databases.ts";
import { FakeClock } from "../../../../test/support/fake-clock.ts";
import { systemRandom } from "../../../adapters/system/system-random.ts";
import { CUSTOMER_DATA } from "../../../app/customer-data.ts";
import type { AppError } from "../../../domain/errors.ts";
import { PLAN_ALLOWANCES } from "../../../domain/plan.ts";
import type { Database } from "../../../ports/database.ts";
import { createKeyDirectory } from "../keys/index.ts";
import { createAccounts } from "./accounts.ts";
import { ACTIVE_KEYS_MAX, type Actor, LISTED_KEYS_MAX } from "./model.ts";

const OPERATOR: Actor = { kind: "operator", id: "ada" };

function setUp(database: Database) {
  const clock = new FakeClock();
  const directory = createKeyDirectory({ database, clock });
  const accounts = createAccounts({
    database,
    clock,
    random: systemRandom,
    onKeysChanged: () => directory.clear(),
    customerData: CUSTOMER_DATA,
  });
  const createAccount = async (email = "ada@example.org") => {
    const { customerId, key } = await accounts.create({ email, name: "Ada", plan: "free" }, OPERATOR);
    return { customerId, key };
  };
  return { clock, directory, accounts, createAccount };
}

/** Returns the results of the successful calls and the error codes of the failed calls. */
async function settleAll<Result>(calls: readonly Promise<Result>[]) {
  const settledCalls = await Promise.allSettled(calls);
  const codes = settledCalls.flatMap((call) => (call.status === "rejected" ? [(call.reason as AppError).code] : []));
  return { results: settledCalls.flatMap((call) => (call.status === "fulfilled" ? [call.value] : [])), codes };
}

eachDatabase(
  "fifty concurrent rotations of a key leave exactly one active key with its name, and that key works",
  async (database) => {
    const { accounts, createAccount, directory } = setUp(database);
    const { customerId, key } = await createAccount();
    const actor: Actor = { kind: "key", id: key.keyId };
    const { results, codes } = await settleAll(
      Array.from({ length: 50 }, () => accounts.rotateKey(customerId, key.keyId, actor)),
    );
    assert.equal(results.length, 1);
    assert.deepEqual([...new Set(codes)], ["unauthorized"], "the key used for the request is revoked");
    const activeKeys = (await accounts.account(customerId)).keys.filter(({ revokedAt }) => revokedAt === null);
    assert.deepEqual(
      activeKeys.map(({ keyId, name }) => ({ keyId, name })),
      [{ keyId: results[0]?.keyId, name: "default" }],
    );
    assert.equal(await directory.find(key.apiKey, null), null);
    assert.equal((await directory.find(results[0]?.apiKey ?? "", null))?.keyId, results[0]?.keyId);
  },
);

onPostgres(
  "of fifty concurrent rotations by an operator and by the key itself, exactly one succeeds",
  async (database) => {
    const { accounts, createAccount } = setUp(database);
    const { customerId, key } = await createAccount();
    const actors: Actor[] = [OPERATOR, { kind: "key", id: key.keyId }];
    const { results, codes } = await settleAll(
      Array.from({ length: 50 }, (_, index) =>
        accounts.rotateKey(customerId, key.keyId, actors[index % 2] ?? OPERATOR),
      ),
    );
    assert.equal(results.length, 1);
    assert.deepEqual([...new Set(codes)].sort(), ["key_not_found", "unauthorized"]);
  },
);

onPostgres("a key that is revoked or being revoked cannot create another key", async (database) => {
  const { accounts, createAccount } = setUp(database);
  for (let round = 0; round < 10; round++) {
    const { customerId, key } = await createAccount(`ada${round}@example.org`);
    const actor: Actor = { kind: "key", id: key.keyId };
    const revoke = () => accounts.revokeKey(customerId, key.keyId, OPERATOR);
    const create = () => accounts.createKey(customerId, "robot", actor);
    const isRevokedFirst = round % 2 === 0;
    const settledCalls = await Promise.allSettled(isRevokedFirst ? [revoke(), create()] : [create(), revoke()]);
    const creation = settledCalls[isRevokedFirst ? 1 : 0];
    const auditEntries = await accounts.auditLog({ customerId, limit: 10 });
    const [lastAction] = auditEntries.map(({ action }) => action);
    if (creation?.status === "rejected") assert.equal((creation.reason as AppError).code, "unauthorized");
    else assert.equal(lastAction, "key.revoked", "the key was created before the revocation");
  }
});

eachDatabase("409: concurrent calls cannot create more than ten active keys", async (database) => {
  const { accounts, createAccount } = setUp(database);
  const { customerId } = await createAccount();
  const { results, codes } = await settleAll(
    Array.from({ length: 20 }, (_, index) => accounts.createKey(customerId, `key ${index}`, OPERATOR)),
  );
  assert.equal(results.length, ACTIVE_KEYS_MAX - 1);
  assert.deepEqual([...new Set(codes)], ["key_limit_reached"]);
  await accounts.revokeKey(customerId, results[0]?.keyId ?? "", OPERATOR);
  assert.equal((await accounts.createKey(customerId, "again", OPERATOR)).name, "again");
});

eachDatabase("if a customer has more than 100 keys, the oldest revoked keys are deleted", async (database) => {
  const { accounts, createAccount, clock } = setUp(database);
  const { customerId, key } = await createAccount();
  const otherAccount = await createAccount("eve@example.org");
  let { keyId } = key;
  for (let rotation = 0; rotation < LISTED_KEYS_MAX + 20; rotation++) {
    await clock.advance(1);
    keyId = (await accounts.rotateKey(customerId, keyId, OPERATOR)).keyId;
  }
  const storedKeys = await database.query<{ key_id: string }>("select key_id from api_keys where customer_id = $1", [
    customerId,
  ]);
  const { keys } = await accounts.account(customerId);
  assert.equal(keys.length, LISTED_KEYS_MAX);
  assert.deepEqual(storedKeys.map((row) => row.key_id).sort(), keys.map((listed) => listed.keyId).sort());
  assert.equal(keys[0]?.keyId, keyId);
  assert.equal((await accounts.account(otherAccount.customerId)).keys.length, 1);
});

eachDatabase("409: the name of an active key cannot be used twice", async (database) => {
  const { accounts, createAccount } = setUp(database);
  const { customerId } = await createAccount();
  const { results, codes } = await settleAll(
    Array.from({ length: 5 }, () => accounts.createKey(customerId, "robot", OPERATOR)),
  );
  assert.equal(results.length, 1);
  assert.deepEqual([...new Set(codes)], ["key_name_taken"]);
  await accounts.revokeKey(customerId, results[0]?.keyId ?? "", OPERATOR);
  await accounts.createKey(customerId, "robot", OPERATOR);
  const otherAccount = await createAccount("eve@example.org");
  await accounts.createKey(otherAccount.customerId, "robot", OPERATOR);
});

eachDatabase("404: every operation on a non-existent customer fails", async (database) => {
  const { accounts } = setUp(database);
  const operations = [
    () => accounts.account("cus-none"),
    () => accounts.createKey("cus-none", "a", OPERATOR),
    () => accounts.setPlan("cus-none", "pro", OPERATOR),
    () => accounts.setQuota("cus-none", "DEEP", 1, OPERATOR),
    () => accounts.setRateLimits("cus-none", { general: 1 }, OPERATOR),
    () => accounts.disable("cus-none", OPERATOR),
    () => accounts.enable("cus-none", OPERATOR),
  ];
  for (const operation of operations) await assert.rejects(operation, hasErrorCode("customer_not_found"));
  assert.equal(await accounts.find("cus-none"), null);
  assert.equal(await accounts.find("unknown@example.org"), null);
  assert.equal(await accounts.find("no address@"), null);
});

eachDatabase(
  "operator changes apply to the next call of a key, and null restores the plan's limits",
  async (database) => {
    const { accounts, createAccount, directory } = setUp(database);
    const { customerId, key } = await createAccount();
    const readAllowance = async () => (await directory.find(key.apiKey, null))?.allowance;
    await accounts.setPlan(customerId, "pro", OPERATOR);
    assert.equal((await directory.find(key.apiKey, null))?.plan, "pro", "a key created on another plan still works");
    await accounts.setPlan(customerId, "enterprise", OPERATOR);
    await accounts.setQuota(customerId, "DEEP", 7, OPERATOR);
    await accounts.setQuota(customerId, "LISTING", 0, OPERATOR);
    await accounts.setRateLimits(customerId, { general: 600, strategy: 9 }, OPERATOR);
    assert.deepEqual(await readAllowance(), {
      quotas: { LISTING: 0, INSIGHT: 500, STRATEGY: 50, DEEP: 7 },
      rateLimits: { general: 600, strategy: 9 },
    });
    await accounts.setQuota(customerId, "LISTING", null, OPERATOR);
    await accounts.setRateLimits(customerId, { strategy: null }, OPERATOR);
    assert.deepEqual(await readAllowance(), {
      quotas: { LISTING: 10_000, INSIGHT: 500, STRATEGY: 50, DEEP: 7 },
      rateLimits: { general: 600, strategy: 5 },
    });
    await accounts.disable(customerId, OPERATOR);
    assert.equal(await directory.find(key.apiKey, null), null);
    await accounts.enable(customerId, OPERATOR);
    assert.equal((await directory.find(key.apiKey, null))?.customerId, customerId);
    assert.equal((await accounts.find("ADA@example.org"))?.customLimits.quotas.DEEP, 7);
  },
);

eachDatabase(
  "changing from enterprise to another plan removes custom limits, and other plans reject custom limits",
  async (database) => {
    const { accounts, createAccount, directory } = setUp(database);
    const { customerId, key } = await createAccount();
    const readAllowance = async () => (await directory.find(key.apiKey, null))?.allowance;
    for (const plan of ["free", "pro"] as const) {
      await accounts.setPlan(customerId, "enterprise", OPERATOR);
      assert.deepEqual(await readAllowance(), PLAN_ALLOWANCES.enterprise, "earlier custom limits are not restored");
      await accounts.setQuota(customerId, "DEEP", 1_000_000, OPERATOR);
      await accounts.setRateLimits(customerId, { general: 600 }, OPERATOR);
      await accounts.setPlan(customerId, plan, OPERATOR);
      const [entry] = await accounts.auditLog({ customerId, limit: 1 });
      assert.deepEqual(entry?.details, {
        before: { plan: "enterprise", quotas: { DEEP: 1_000_000 }, rate_limits: { general: 600 } },
        after: { plan, quotas: null, rate_limits: null },
      });
      assert.deepEqual(await readAllowance(), PLAN_ALLOWANCES[plan]);
      for (const limit of [1, null]) {
        await assert.rejects(accounts.setQuota(customerId, "DEEP", limit, OPERATOR), hasErrorCode("plan_required"));
        await assert.rejects(
          accounts.setRateLimits(customerId, { general: limit }, OPERATOR),
          hasErrorCode("plan_required"),
        );
      }
      await database.query(`update customers set quotas = '{"DEEP": 1}'`);
      directory.clear();
      assert.deepEqual(await readAllowance(), PLAN_ALLOWANCES[plan], "limits stored in the database are ignored");
    }
  },
);

eachDatabase("out-of-range limits and invalid names are rejected before anything is written", async (database) => {
  const { accounts, createAccount } = setUp(database);
  const { customerId } = await createAccount();
  await accounts.setPlan(customerId, "enterprise", OPERATOR);
  for (const limit of [-1, 0.5, Number.NaN, 1e10])
    await assert.rejects(accounts.setQuota(customerId, "DEEP", limit, OPERATOR), RangeError);
  for (const name of ["", " a", "a ", "x".repeat(65)])
    await assert.rejects(accounts.createKey(customerId, name, OPERATOR), RangeError);
  assert.equal((await accounts.auditLog({ customerId, limit: 10 })).length, 2);
});

eachDatabase("the audit log records the actor and details of every change, without secrets", async (database) => {
  const { accounts, createAccount } = setUp(database);
  const { customerId, key } = await createAccount();
  const secondKey = await accounts.createKey(customerId, "robot", { kind: "key", id: key.keyId });
  const thirdKey = await accounts.rotateKey(customerId, secondKey.keyId, OPERATOR);
  await accounts.revokeKey(customerId, thirdKey.keyId, OPERATOR);
  await accounts.setPlan(customerId, "enterprise", OPERATOR);
  await accounts.setQuota(customerId, "DEEP", 7, OPERATOR);
  await accounts.setRateLimits(customerId, { general: 600 }, OPERATOR);
  await accounts.disable(customerId, OPERATOR);
  await accounts.enable(customerId, OPERATOR);
  const entries = (await accounts.auditLog({ customerId, limit: 100 })).toReversed();
  const loggedEntries = entries.map(({ action, actor, details }) => ({
    action,
    by: `${actor.kind}:${actor.id}`,
    details,
  }));
  const createChangeEntry = (action: string, before: object, after: object) => ({
    action,
    by: "operator:ada",
    details: { before, after },
  });
  assert.deepEqual(loggedEntries, [
    { action: "customer.created", by: "operator:ada", details: { plan: "free", key_id: key.keyId } },
    { action: "key.created", by: `key:${key.keyId}`, details: { key_id: secondKey.keyId, name: "robot" } },
    {
      action: "key.rotated",
      by: "operator:ada",
      details: { key_id: secondKey.keyId, next_key_id: thirdKey.keyId, name: "robot" },
    },
    { action: "key.revoked", by: "operator:ada", details: { key_id: thirdKey.keyId, name: "robot" } },
    createChangeEntry("customer.plan_set", { plan: "free" }, { plan: "enterprise" }),
    createChangeEntry("customer.quota_set", { quotas: null }, { quotas: { DEEP: 7 } }),
    createChangeEntry("customer.rate_limits_set", { rate_limits: null }, { rate_limits: { general: 600 } }),
    createChangeEntry("customer.disabled", { status: "active" }, { status: "canceled" }),
    createChangeEntry("customer.enabled", { status: "canceled" }, { status: "active" }),
  ]);
});

eachDatabase("the customer list supports paging and filters by plan and status", async (database) => {
  const { accounts, createAccount } = setUp(database);
  const customerIds: string[] = [];
  for (const name of ["a", "b", "c"]) customerIds.push((await createAccount(`${name}@example.org`)).customerId);
  customerIds.sort();
  await accounts.setPlan(customerIds[1] ?? "", "pro", OPERATOR);
  await accounts.disable(customerIds[2] ?? "", OPERATOR);
  const listIds = async (options: Parameters<typeof accounts.list>[0]) =>
    (await accounts.list(options)).map(({ customerId }) => customerId);
  assert.deepEqual(await listIds({ limit: 2 }), customerIds.slice(0, 2));
  assert.deepEqual(await listIds({ limit: 2, after: customerIds[1] ?? "" }), customerIds.slice(2));
  assert.deepEqual(await listIds({ limit: 9, plan: "pro" }), [customerIds[1]]);
  assert.deepEqual(await listIds({ limit: 9, status: "canceled" }), [customerIds[2]]);
});
