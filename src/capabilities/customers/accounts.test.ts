import assert from "node:assert/strict";
import { eachDatabase, onPostgres } from "../../../test/support/databases.ts";
import { FakeClock } from "../../../test/support/fake-clock.ts";
import { systemRandom } from "../../adapters/system/system-random.ts";
import { AppError, type ErrorCode } from "../../domain/errors.ts";
import { PLAN_ALLOWANCES } from "../../domain/plan.ts";
import type { Database } from "../../ports/database.ts";
import { createKeyDirectory } from "../keys/index.ts";
import { createAccounts } from "./accounts.ts";
import { ACTIVE_KEYS_MAX, type Actor, KEYS_SHOWN_MAX } from "./model.ts";

const OPERATOR: Actor = { kind: "operator", id: "ada" };

function bench(database: Database) {
  const clock = new FakeClock();
  const directory = createKeyDirectory({ database, clock });
  const accounts = createAccounts({ database, clock, random: systemRandom, onKeysChanged: () => directory.forget() });
  const open = async (email = "ada@example.org") => {
    const { customerId, key } = await accounts.create({ email, name: "Ada", plan: "free" }, OPERATOR);
    return { customerId, key };
  };
  return { clock, directory, accounts, open };
}

const refusedWith = (code: ErrorCode) => (error: unknown) => error instanceof AppError && error.code === code;

/** The codes of those who were refused, and what the others got. */
async function together<Result>(attempts: readonly Promise<Result>[]) {
  const settled = await Promise.allSettled(attempts);
  const codes = settled.flatMap((one) => (one.status === "rejected" ? [(one.reason as AppError).code] : []));
  return { won: settled.flatMap((one) => (one.status === "fulfilled" ? [one.value] : [])), codes };
}

eachDatabase("a new account has one key, which opens what the plan allows at once", async (database) => {
  const { accounts, open, directory } = bench(database);
  const { customerId, key } = await open();
  assert.match(customerId, /^cus-[a-z2-7]{26}$/);
  assert.match(key.keyId, /^key-[a-z2-7]{26}$/);
  assert.equal((await directory.find(key.apiKey))?.customerId, customerId);
  const account = await accounts.account(customerId);
  const { apiKey: _, ...view } = key;
  assert.deepEqual(
    { email: account.email, name: account.name, plan: account.plan, status: account.status, keys: account.keys },
    { email: "ada@example.org", name: "Ada", plan: "free", status: "active", keys: [view] },
  );
});

eachDatabase("409: of a hundred accounts opened at once with one address, one is", async (database) => {
  const { open } = bench(database);
  const { won, codes } = await together(Array.from({ length: 100 }, () => open()));
  assert.equal(won.length, 1);
  assert.deepEqual([...new Set(codes)], ["email_taken"]);
  const [row] = await database.query<{ customers: number; keys: number; lines: number }>(
    `select (select count(*) from customers) as customers, (select count(*) from api_keys) as keys,
       (select count(*) from audit_log) as lines`,
  );
  assert.deepEqual(row, { customers: 1, keys: 1, lines: 1 });
});

eachDatabase(
  "fifty rotations at once leave exactly one living key of that name, and its answer works",
  async (database) => {
    const { accounts, open, directory } = bench(database);
    const { customerId, key } = await open();
    const actor: Actor = { kind: "key", id: key.keyId };
    const { won, codes } = await together(
      Array.from({ length: 50 }, () => accounts.rotateKey(customerId, key.keyId, actor)),
    );
    assert.equal(won.length, 1);
    assert.deepEqual([...new Set(codes)], ["unauthorized"], "the key that was shown is no key any more");
    const living = (await accounts.account(customerId)).keys.filter(({ revokedAt }) => revokedAt === null);
    assert.deepEqual(
      living.map(({ keyId, name }) => ({ keyId, name })),
      [{ keyId: won[0]?.keyId, name: "default" }],
    );
    assert.equal(await directory.find(key.apiKey), null);
    assert.equal((await directory.find(won[0]?.apiKey ?? ""))?.keyId, won[0]?.keyId);
  },
);

onPostgres("fifty rotations at once by an operator and by the key itself leave one living key", async (database) => {
  const { accounts, open } = bench(database);
  const { customerId, key } = await open();
  const actors: Actor[] = [OPERATOR, { kind: "key", id: key.keyId }];
  const { won, codes } = await together(
    Array.from({ length: 50 }, (_, turn) => accounts.rotateKey(customerId, key.keyId, actors[turn % 2] ?? OPERATOR)),
  );
  assert.equal(won.length, 1);
  assert.deepEqual([...new Set(codes)].sort(), ["key_not_found", "unauthorized"]);
});

onPostgres("a key that is being ended makes no other: of both at once, the end counts", async (database) => {
  const { accounts, open } = bench(database);
  for (let round = 0; round < 10; round++) {
    const { customerId, key } = await open(`ada${round}@example.org`);
    const actor: Actor = { kind: "key", id: key.keyId };
    const end = () => accounts.revokeKey(customerId, key.keyId, OPERATOR);
    const make = () => accounts.createKey(customerId, "robot", actor);
    const isEndFirst = round % 2 === 0;
    const settled = await Promise.allSettled(isEndFirst ? [end(), make()] : [make(), end()]);
    const made = settled[isEndFirst ? 1 : 0];
    const log = await accounts.auditLog({ customerId, limit: 10 });
    const [last] = log.map(({ action }) => action);
    if (made?.status === "rejected") assert.equal((made.reason as AppError).code, "unauthorized");
    else assert.equal(last, "key.revoked", "made before the end, not after it");
  }
});

eachDatabase("409: ten keys live at once and no more, however many are asked for together", async (database) => {
  const { accounts, open } = bench(database);
  const { customerId } = await open();
  const { won, codes } = await together(
    Array.from({ length: 20 }, (_, turn) => accounts.createKey(customerId, `key ${turn}`, OPERATOR)),
  );
  assert.equal(won.length, ACTIVE_KEYS_MAX - 1);
  assert.deepEqual([...new Set(codes)], ["key_limit_reached"]);
  await accounts.revokeKey(customerId, won[0]?.keyId ?? "", OPERATOR);
  assert.equal((await accounts.createKey(customerId, "again", OPERATOR)).name, "again");
});

eachDatabase("of ended keys only those are kept that are shown", async (database) => {
  const { accounts, open, clock } = bench(database);
  const { customerId, key } = await open();
  const other = await open("eve@example.org");
  let { keyId } = key;
  for (let turn = 0; turn < KEYS_SHOWN_MAX + 20; turn++) {
    await clock.advance(1);
    keyId = (await accounts.rotateKey(customerId, keyId, OPERATOR)).keyId;
  }
  const stored = await database.query<{ key_id: string }>("select key_id from api_keys where customer_id = $1", [
    customerId,
  ]);
  const { keys } = await accounts.account(customerId);
  assert.equal(keys.length, KEYS_SHOWN_MAX);
  assert.deepEqual(stored.map((row) => row.key_id).sort(), keys.map((one) => one.keyId).sort());
  assert.equal(keys[0]?.keyId, keyId);
  assert.equal((await accounts.account(other.customerId)).keys.length, 1);
});

eachDatabase("409: a name is one living key's at a time", async (database) => {
  const { accounts, open } = bench(database);
  const { customerId } = await open();
  const { won, codes } = await together(
    Array.from({ length: 5 }, () => accounts.createKey(customerId, "robot", OPERATOR)),
  );
  assert.equal(won.length, 1);
  assert.deepEqual([...new Set(codes)], ["key_name_taken"]);
  await accounts.revokeKey(customerId, won[0]?.keyId ?? "", OPERATOR);
  await accounts.createKey(customerId, "robot", OPERATOR);
  const other = await open("eve@example.org");
  await accounts.createKey(other.customerId, "robot", OPERATOR);
});

eachDatabase("404: another customer's key looks like one that is not there, and stays", async (database) => {
  const { accounts, open, directory } = bench(database);
  const ada = await open();
  const eve = await open("eve@example.org");
  for (const keyId of [ada.key.keyId, "key-none"]) {
    await assert.rejects(accounts.revokeKey(eve.customerId, keyId, OPERATOR), refusedWith("key_not_found"));
    await assert.rejects(accounts.rotateKey(eve.customerId, keyId, OPERATOR), refusedWith("key_not_found"));
  }
  assert.equal((await directory.find(ada.key.apiKey))?.customerId, ada.customerId);
  assert.equal((await accounts.auditLog({ limit: 100 })).length, 2, "what was refused has changed nothing");
});

eachDatabase("404: nothing can be done with a customer who is not there", async (database) => {
  const { accounts } = bench(database);
  const attempts = [
    () => accounts.account("cus-none"),
    () => accounts.createKey("cus-none", "a", OPERATOR),
    () => accounts.setPlan("cus-none", "pro", OPERATOR),
    () => accounts.setQuota("cus-none", "DEEP", 1, OPERATOR),
    () => accounts.setRateLimits("cus-none", { general: 1 }, OPERATOR),
    () => accounts.disable("cus-none", OPERATOR),
    () => accounts.enable("cus-none", OPERATOR),
  ];
  for (const attempt of attempts) await assert.rejects(attempt, refusedWith("customer_not_found"));
  assert.equal(await accounts.find("cus-none"), null);
  assert.equal(await accounts.find("nobody@example.org"), null);
  assert.equal(await accounts.find("no address@"), null);
});

eachDatabase(
  "what an operator sets counts at the key's next call, and null goes back to the plan's",
  async (database) => {
    const { accounts, open, directory } = bench(database);
    const { customerId, key } = await open();
    const allowance = async () => (await directory.find(key.apiKey))?.allowance;
    await accounts.setPlan(customerId, "pro", OPERATOR);
    assert.equal((await directory.find(key.apiKey))?.plan, "pro", "a key made under another plan goes on");
    await accounts.setPlan(customerId, "enterprise", OPERATOR);
    await accounts.setQuota(customerId, "DEEP", 7, OPERATOR);
    await accounts.setQuota(customerId, "LISTING", 0, OPERATOR);
    await accounts.setRateLimits(customerId, { general: 600, strategy: 9 }, OPERATOR);
    assert.deepEqual(await allowance(), {
      quotas: { LISTING: 0, INSIGHT: 500, STRATEGY: 50, DEEP: 7 },
      rateLimits: { general: 600, strategy: 9 },
    });
    await accounts.setQuota(customerId, "LISTING", null, OPERATOR);
    await accounts.setRateLimits(customerId, { strategy: null }, OPERATOR);
    assert.deepEqual(await allowance(), {
      quotas: { LISTING: 10_000, INSIGHT: 500, STRATEGY: 50, DEEP: 7 },
      rateLimits: { general: 600, strategy: 5 },
    });
    await accounts.disable(customerId, OPERATOR);
    assert.equal(await directory.find(key.apiKey), null);
    await accounts.enable(customerId, OPERATOR);
    assert.equal((await directory.find(key.apiKey))?.customerId, customerId);
    assert.equal((await accounts.find("ADA@example.org"))?.customLimits.quotas.DEEP, 7);
  },
);

eachDatabase("own numbers hold on enterprise only: they end with it, and no other plan takes any", async (database) => {
  const { accounts, open, directory } = bench(database);
  const { customerId, key } = await open();
  const allowance = async () => (await directory.find(key.apiKey))?.allowance;
  for (const plan of ["free", "pro"] as const) {
    await accounts.setPlan(customerId, "enterprise", OPERATOR);
    assert.deepEqual(await allowance(), PLAN_ALLOWANCES.enterprise, "what it had before is not what it has again");
    await accounts.setQuota(customerId, "DEEP", 1_000_000, OPERATOR);
    await accounts.setRateLimits(customerId, { general: 600 }, OPERATOR);
    await accounts.setPlan(customerId, plan, OPERATOR);
    const [line] = await accounts.auditLog({ customerId, limit: 1 });
    assert.deepEqual(line?.details, {
      before: { plan: "enterprise", quotas: { DEEP: 1_000_000 }, rate_limits: { general: 600 } },
      after: { plan, quotas: null, rate_limits: null },
    });
    assert.deepEqual(await allowance(), PLAN_ALLOWANCES[plan]);
    for (const limit of [1, null]) {
      await assert.rejects(accounts.setQuota(customerId, "DEEP", limit, OPERATOR), refusedWith("plan_required"));
      await assert.rejects(
        accounts.setRateLimits(customerId, { general: limit }, OPERATOR),
        refusedWith("plan_required"),
      );
    }
    await database.query(`update customers set quotas = '{"DEEP": 1}'`);
    directory.forget();
    assert.deepEqual(await allowance(), PLAN_ALLOWANCES[plan], "nor do numbers that stand in the store count");
  }
});

eachDatabase(
  "numbers out of bounds and names without sense are refused before anything is written",
  async (database) => {
    const { accounts, open } = bench(database);
    const { customerId } = await open();
    await accounts.setPlan(customerId, "enterprise", OPERATOR);
    for (const limit of [-1, 0.5, Number.NaN, 1e10])
      await assert.rejects(accounts.setQuota(customerId, "DEEP", limit, OPERATOR), RangeError);
    for (const name of ["", " a", "a ", "x".repeat(65)])
      await assert.rejects(accounts.createKey(customerId, name, OPERATOR), RangeError);
    assert.equal((await accounts.auditLog({ customerId, limit: 10 })).length, 2);
  },
);

eachDatabase("every change stands in the audit log, with who and what and without any key", async (database) => {
  const { accounts, open } = bench(database);
  const { customerId, key } = await open();
  const second = await accounts.createKey(customerId, "robot", { kind: "key", id: key.keyId });
  const third = await accounts.rotateKey(customerId, second.keyId, OPERATOR);
  await accounts.revokeKey(customerId, third.keyId, OPERATOR);
  await accounts.setPlan(customerId, "enterprise", OPERATOR);
  await accounts.setQuota(customerId, "DEEP", 7, OPERATOR);
  await accounts.setRateLimits(customerId, { general: 600 }, OPERATOR);
  await accounts.disable(customerId, OPERATOR);
  await accounts.enable(customerId, OPERATOR);
  const entries = (await accounts.auditLog({ customerId, limit: 100 })).toReversed();
  const lines = entries.map(({ action, actor, details }) => ({ action, by: `${actor.kind}:${actor.id}`, details }));
  assert.deepEqual(lines, [
    { action: "customer.created", by: "operator:ada", details: { plan: "free", key_id: key.keyId } },
    { action: "key.created", by: `key:${key.keyId}`, details: { key_id: second.keyId, name: "robot" } },
    {
      action: "key.rotated",
      by: "operator:ada",
      details: { key_id: second.keyId, next_key_id: third.keyId, name: "robot" },
    },
    { action: "key.revoked", by: "operator:ada", details: { key_id: third.keyId, name: "robot" } },
    {
      action: "customer.plan_set",
      by: "operator:ada",
      details: { before: { plan: "free" }, after: { plan: "enterprise" } },
    },
    {
      action: "customer.quota_set",
      by: "operator:ada",
      details: { before: { quotas: null }, after: { quotas: { DEEP: 7 } } },
    },
    {
      action: "customer.rate_limits_set",
      by: "operator:ada",
      details: { before: { rate_limits: null }, after: { rate_limits: { general: 600 } } },
    },
    {
      action: "customer.disabled",
      by: "operator:ada",
      details: { before: { status: "active" }, after: { status: "canceled" } },
    },
    {
      action: "customer.enabled",
      by: "operator:ada",
      details: { before: { status: "canceled" }, after: { status: "active" } },
    },
  ]);
});

eachDatabase("a list goes on where the last page ended, by plan and status", async (database) => {
  const { accounts, open } = bench(database);
  const made = [];
  for (const name of ["a", "b", "c"]) made.push((await open(`${name}@example.org`)).customerId);
  made.sort();
  await accounts.setPlan(made[1] ?? "", "pro", OPERATOR);
  await accounts.disable(made[2] ?? "", OPERATOR);
  const ids = async (options: Parameters<typeof accounts.list>[0]) =>
    (await accounts.list(options)).map(({ customerId }) => customerId);
  assert.deepEqual(await ids({ limit: 2 }), made.slice(0, 2));
  assert.deepEqual(await ids({ limit: 2, after: made[1] ?? "" }), made.slice(2));
  assert.deepEqual(await ids({ limit: 9, plan: "pro" }), [made[1]]);
  assert.deepEqual(await ids({ limit: 9, status: "canceled" }), [made[2]]);
});
