import assert from "node:assert/strict";
import { test } from "node:test";
import { eachDatabase } from "../../../test/support/databases.ts";
import { FakeClock } from "../../../test/support/fake-clock.ts";
import { systemRandom } from "../../adapters/system/system-random.ts";
import { type Accounts, createAccounts } from "../../capabilities/customers/index.ts";
import { createMarketplace } from "../../capabilities/marketplace/index.ts";
import { type CommandResult, parseCustomersCommand } from "./commands.ts";

interface ParsedResult extends CommandResult {
  // biome-ignore lint/suspicious/noExplicitAny: tests read and check untyped output
  readonly json: any;
}

/** Runs a command like the program. `accounts` is null if parsing is expected to produce the result. */
async function run(args: readonly string[], accounts: Accounts | null): Promise<ParsedResult> {
  const command = parseCustomersCommand(args);
  if (typeof command === "function" && accounts === null) throw new Error(`parsed: ${args.join(" ")}`);
  const result =
    typeof command !== "function" ? command : await command(accounts as Accounts, { kind: "operator", id: "ada" });
  let json: unknown = null;
  try {
    json = JSON.parse(result.out);
  } catch {
    json = null;
  }
  return { ...result, json };
}

test("help exits with 0, and invalid usage exits with 2 and a hint, without a database", async () => {
  const help = await run(["--help"], null);
  assert.equal(help.code, 0);
  const names = "list show create set-plan set-quota set-rate-limit rotate disable audit";
  for (const name of names.split(" ")) assert.match(help.out, new RegExp(`^  .*\\b${name}\\b`, "m"));
  const invalid = [
    [[], /Missing command/],
    [["lift"], /no command "customers lift"/],
    [["show"], /needs a customer/],
    [["show", "a", "b"], /Too many arguments/],
    [["show", "a", "--plan", "pro"], /has no option --plan/],
    [["set-plan", "a", "gold"], /gold is not one of free, pro, enterprise/],
    [["set-quota", "a", "deep", "many"], /must be an integer or "plan"/],
    [["list", "--limit", "0"], /from 1 to 1000/],
    [["list", "--colour"], /--colour/],
  ] as const;
  const results = await Promise.all(invalid.map(([args]) => run(args, null)));
  for (const [index, [args, message]] of invalid.entries()) {
    assert.equal(results[index]?.code, 2, args.join(" "));
    assert.match(results[index]?.err ?? "", message);
    assert.match(results[index]?.err ?? "", /customers --help/);
  }
});

eachDatabase(
  "an operator manages an account from creation to disabling, and every change is audited",
  async (database) => {
    const dependencies = { database, clock: new FakeClock(), random: systemRandom, onKeysChanged() {} };
    const accounts = createAccounts(dependencies);
    const customers = (...args: readonly string[]) => run(args, accounts);
    const created = await customers("create", "Ada@Example.org", "--name", "Ada", "--plan", "pro", "--json");
    assert.equal(created.code, 0, created.err);
    assert.match(created.json.api_key, /^plx_pro_[a-z2-7]{33}$/);
    const { customer_id: id, api_key: key } = created.json;
    assert.equal((await customers("create", "ada@example.org")).code, 1, "one account per address");
    const shown = await customers("show", "ADA@example.org", "--json");
    assert.deepEqual([shown.json.customer_id, shown.json.plan, shown.json.keys.length], [id, "pro", 1]);
    assert.ok(!shown.out.includes(key.slice(-20)));
    assert.equal((await customers("set-plan", id, "enterprise", "--json")).json.plan, "enterprise");
    assert.equal((await customers("set-quota", id, "deep", "77", "--json")).json.quotas.deep, 77);
    assert.deepEqual((await customers("set-rate-limit", id, "strategy", "9", "--json")).json.own, ["deep", "strategy"]);
    assert.equal((await customers("set-quota", id, "deep", "plan", "--json")).json.quotas.deep, 10);
    const rotated = await customers("rotate", id, "--json");
    assert.match(rotated.json.api_key, /^plx_ent_/);
    const second = await customers("create-key", id, "robot", "--json");
    assert.equal((await customers("rotate", id)).code, 2, "must specify one of two keys");
    assert.equal((await customers("revoke", id, "robot", "--json")).json.keys.length, 3);
    assert.equal((await customers("disable", id, "--json")).json.status, "canceled");
    assert.equal((await customers("list", "--status", "canceled", "--json")).json[0].customer_id, id);
    assert.equal((await customers("enable", id, "--json")).json.status, "active");
    const audit = await customers("audit", id, "--json");
    const actions = audit.json.map(({ action }: { action: string }) => action);
    assert.deepEqual(actions.toReversed(), [
      ...["customer.created", "customer.plan_set", "customer.quota_set"],
      ...["customer.rate_limits_set", "customer.quota_set"],
      ...["key.rotated", "key.created", "key.revoked", "customer.disabled", "customer.enabled"],
    ]);
    assert.ok(audit.json.every(({ actor }: { actor: { kind: string } }) => actor.kind === "operator"));
    for (const secret of [key, rotated.json.api_key, second.json.api_key]) assert.ok(!audit.out.includes(secret));
    for (const args of [
      ["show", "cus-none"],
      ["set-plan", "unknown@example.org", "pro"],
      ["revoke", id, "unknown"],
    ]) {
      const result = await customers(...args);
      assert.equal(result.code, 1);
      assert.match(result.err, /^There is no /);
    }
    for (const args of [["list"], ["show", id], ["audit"]]) {
      const result = await customers(...args);
      assert.equal(result.code, 0);
      assert.match(result.out, new RegExp(id));
    }
  },
);

eachDatabase(
  "an incomplete list prints the option for the next page, and paging returns every row once",
  async (database) => {
    const accounts = createAccounts({ database, clock: new FakeClock(), random: systemRandom, onKeysChanged() {} });
    for (const name of ["a", "b", "c"]) await run(["create", `${name}@example.org`], accounts);
    const pages = [
      ["list", "--after", "customer_id"],
      ["audit", "--before", "audit_id"],
    ] as const;
    for (const [name, option, id] of pages) {
      const all = (await run([name, "--json"], accounts)).json.map((row: Record<string, unknown>) => row[id]);
      const first = await run([name, "--limit", "2", "--json"], accounts);
      assert.equal(first.err, `more: ${option} ${all[1]}\n`);
      const second = await run([name, "--limit", "2", option, String(all[1]), "--json"], accounts);
      assert.deepEqual([second.err, [...first.json, ...second.json].map((row) => row[id])], ["", all]);
      assert.deepEqual((await run([name, "--limit", "3"], accounts)).err, "");
    }
    assert.equal((await run(["list", "--limit", "1000"], accounts)).code, 0);
  },
);

eachDatabase("an operator sets custom limits for a marketplace user by its user name", async (database) => {
  const clock = new FakeClock();
  const dependencies = { database, clock, random: systemRandom, onKeysChanged() {} };
  const accounts = createAccounts(dependencies);
  const customers = (...args: readonly string[]) => run(args, accounts);
  const secret = "marketplace-secret-of-32-characters-1";
  const marketplace = createMarketplace({ secrets: [secret], database, clock });
  const identify = async (user: string) => {
    await clock.advance(1_000);
    return marketplace.identify({ secret, user, subscription: "CUSTOM" });
  };
  for (const user of ["Ada", "o'neill@example.org", "\u202eada"]) {
    const who = `marketplace:${user}`;
    const unknown = await customers("show", who);
    assert.deepEqual([unknown.code, unknown.err], [1, `There is no customer "${who}".\n`]);
    assert.equal((await identify(user))?.plan, "pro");
    const set = await customers("set-quota", who, "deep", "77", "--json");
    assert.equal(set.code, 0, set.err);
    assert.equal((await customers("set-rate-limit", who, "general", "900")).code, 0);
    const caller = await identify(user);
    assert.deepEqual(
      [caller?.customerId, caller?.plan, caller?.allowance.quotas.DEEP, caller?.allowance.rateLimits.general],
      [set.json.customer_id, "enterprise", 77, 900],
    );
    const shown = await customers("show", who, "--json");
    assert.deepEqual([shown.json.email, shown.json.plan, shown.json.keys], [null, "enterprise", []]);
    const entries = (await customers("audit", who, "--json")).json;
    assert.deepEqual(
      entries.map(({ action }: { action: string }) => action),
      ["customer.rate_limits_set", "customer.quota_set", "customer.created"],
    );
    assert.equal((await customers("set-plan", who, "pro")).code, 0);
    assert.equal((await identify(user))?.plan, "pro");
  }
  assert.equal((await identify("ada"))?.plan, "pro", "user names are case-sensitive");
  assert.equal((await customers("set-plan", "marketplace:", "enterprise")).code, 1);
  assert.equal((await database.query("select 1 from customers")).length, 3);
});

eachDatabase("401: a disabled marketplace user is rejected, even if it had no account before", async (database) => {
  const clock = new FakeClock();
  const accounts = createAccounts({ database, clock, random: systemRandom, onKeysChanged() {} });
  const secret = "marketplace-secret-of-32-characters-1";
  const marketplace = createMarketplace({ secrets: [secret], database, clock });
  const identify = async (user: string) => {
    await clock.advance(1_000);
    return marketplace.identify({ secret, user, subscription: "MEGA" });
  };
  assert.equal((await identify("eve"))?.plan, "pro");
  assert.equal((await run(["disable", "marketplace:eve", "--json"], accounts)).json.status, "canceled");
  await assert.rejects(identify("eve"), { code: "unauthorized" });
  assert.equal((await run(["enable", "marketplace:eve"], accounts)).code, 0);
  assert.equal((await identify("eve"))?.plan, "pro");
});

eachDatabase("names cannot inject terminal escape sequences", async (database) => {
  const accounts = createAccounts({ database, clock: new FakeClock(), random: systemRandom, onKeysChanged() {} });
  const { code } = await run(["create", "eve@example.org", "--name", "Eve\u001b[2J\u202e"], accounts);
  assert.equal(code, 2);
  await database.query(
    "insert into customers (customer_id, name, plan, status, created_at) values ('cus-x', E'Eve\\x1b[2J', 'free', 'active', now())",
  );
  assert.match((await run(["list"], accounts)).out, /Eve\?\[2J/);
});
