import assert from "node:assert/strict";
import { test } from "node:test";
import { eachDatabase } from "../../../test/support/databases.ts";
import { FakeClock } from "../../../test/support/fake-clock.ts";
import { systemRandom } from "../../adapters/system/system-random.ts";
import { CUSTOMER_DATA } from "../../app/customer-data.ts";
import { createAccounts } from "../../capabilities/accounts/customers/index.ts";
import { createMarketplace } from "../../capabilities/accounts/marketplace/index.ts";
import { createUsageReader } from "../../capabilities/accounts/metering/index.ts";
import type { Database } from "../../ports/database.ts";
import type { CommandResult } from "../operator/command.ts";
import { type CustomersContext, parseCustomersCommand } from "./commands.ts";

interface ParsedResult extends CommandResult {
  // biome-ignore lint/suspicious/noExplicitAny: tests read and check untyped output
  readonly json: any;
}

/** Parses and runs a command. `accounts` is null if the test expects parsing to fail or to print the help. */
async function runCommand(args: readonly string[], accounts: CustomersContext | null): Promise<ParsedResult> {
  const command = parseCustomersCommand(args);
  if (typeof command === "function" && accounts === null) throw new Error(`parsed: ${args.join(" ")}`);
  const result =
    typeof command !== "function"
      ? command
      : await command(accounts as CustomersContext, { kind: "operator", id: "ada" });
  let json: unknown = null;
  try {
    json = JSON.parse(result.out);
  } catch {
    json = null;
  }
  return { ...result, json };
}

const SECRET = "marketplace-secret-of-32-characters-1";

function setUp(database: Database) {
  const clock = new FakeClock();
  const accounts = createAccounts({
    database,
    clock,
    random: systemRandom,
    onKeysChanged() {},
    customerData: CUSTOMER_DATA,
  });
  const marketplace = createMarketplace({ secrets: [SECRET], database, clock });
  return {
    runCustomers: (...args: readonly string[]) => runCommand(args, { ...accounts, usage: createUsageReader(database) }),
    /** Identifies a marketplace user after the cached account settings have expired. */
    async identify(user: string, subscription: string) {
      await clock.advance(1_000);
      return marketplace.identify({ secret: SECRET, user, subscription });
    },
  };
}

test("without a database, `--help` exits with 0 and invalid usage exits with 2 and a hint", async () => {
  const help = await runCommand(["--help"], null);
  assert.equal(help.code, 0);
  const names = "list show create set-plan set-quota set-rate-limit rotate disable delete audit";
  for (const name of names.split(" ")) assert.match(help.out, new RegExp(`^  .*\\b${name}\\b`, "m"));
  const invalidCases = [
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
  const results = await Promise.all(invalidCases.map(([args]) => runCommand(args, null)));
  for (const [index, [args, message]] of invalidCases.entries()) {
    assert.equal(results[index]?.code, 2, args.join(" "));
    assert.match(results[index]?.err ?? "", message);
    assert.match(results[index]?.err ?? "", /customers --help/);
  }
});

eachDatabase(
  "an operator manages an account from creation to disabling, and every change is audited",
  async (database) => {
    const { runCustomers } = setUp(database);
    const createdAccount = await runCustomers("create", "Ada@Example.org", "--name", "Ada", "--plan", "pro", "--json");
    assert.equal(createdAccount.code, 0, createdAccount.err);
    assert.match(createdAccount.json.api_key, /^plx_pro_[a-z2-7]{33}$/);
    const { customer_id: customerId, api_key: apiKey } = createdAccount.json;
    assert.equal((await runCustomers("create", "ada@example.org")).code, 1, "one account per address");
    const shownAccount = await runCustomers("show", "ADA@example.org", "--json");
    assert.deepEqual(
      [shownAccount.json.customer_id, shownAccount.json.plan, shownAccount.json.keys.length],
      [customerId, "pro", 1],
    );
    assert.ok(!shownAccount.out.includes(apiKey.slice(-20)));
    assert.equal((await runCustomers("set-plan", customerId, "enterprise", "--json")).json.plan, "enterprise");
    assert.equal((await runCustomers("set-quota", customerId, "deep", "77", "--json")).json.quotas.deep, 77);
    assert.deepEqual((await runCustomers("set-rate-limit", customerId, "strategy", "9", "--json")).json.own, [
      "deep",
      "strategy",
    ]);
    assert.equal((await runCustomers("set-quota", customerId, "deep", "plan", "--json")).json.quotas.deep, 10);
    const rotatedKey = await runCustomers("rotate", customerId, "--json");
    assert.match(rotatedKey.json.api_key, /^plx_ent_/);
    const secondKey = await runCustomers("create-key", customerId, "robot", "--json");
    assert.equal((await runCustomers("rotate", customerId)).code, 2, "must specify one of two keys");
    assert.equal((await runCustomers("revoke", customerId, "robot", "--json")).json.keys.length, 3);
    assert.equal((await runCustomers("disable", customerId, "--json")).json.status, "canceled");
    assert.equal((await runCustomers("list", "--status", "canceled", "--json")).json[0].customer_id, customerId);
    assert.equal((await runCustomers("enable", customerId, "--json")).json.status, "active");
    const audit = await runCustomers("audit", customerId, "--json");
    const actions = audit.json.map(({ action }: { action: string }) => action);
    assert.deepEqual(actions.toReversed(), [
      ...["customer.created", "customer.plan_set", "customer.quota_set"],
      ...["customer.rate_limits_set", "customer.quota_set"],
      ...["key.rotated", "key.created", "key.revoked", "customer.disabled", "customer.enabled"],
    ]);
    assert.ok(audit.json.every(({ actor }: { actor: { kind: string } }) => actor.kind === "operator"));
    for (const secret of [apiKey, rotatedKey.json.api_key, secondKey.json.api_key])
      assert.ok(!audit.out.includes(secret));
    for (const args of [
      ["show", "cus-none"],
      ["set-plan", "unknown@example.org", "pro"],
      ["revoke", customerId, "unknown"],
    ]) {
      const result = await runCustomers(...args);
      assert.equal(result.code, 1);
      assert.match(result.err, /^There is no /);
    }
    for (const args of [["list"], ["show", customerId], ["audit"]]) {
      const result = await runCustomers(...args);
      assert.equal(result.code, 0);
      assert.match(result.out, new RegExp(customerId));
    }
  },
);

eachDatabase(
  "if more rows exist, a list prints the option for the next page, and paging returns every row once",
  async (database) => {
    const { runCustomers } = setUp(database);
    for (const name of ["a", "b", "c"]) await runCustomers("create", `${name}@example.org`);
    const pages = [
      ["list", "--after", "customer_id"],
      ["audit", "--before", "audit_id"],
    ] as const;
    for (const [name, option, customerId] of pages) {
      const all = (await runCustomers(name, "--json")).json.map((row: Record<string, unknown>) => row[customerId]);
      const first = await runCustomers(name, "--limit", "2", "--json");
      assert.equal(first.err, `more: ${option} ${all[1]}\n`);
      const secondKey = await runCustomers(name, "--limit", "2", option, String(all[1]), "--json");
      assert.deepEqual([secondKey.err, [...first.json, ...secondKey.json].map((row) => row[customerId])], ["", all]);
      assert.deepEqual((await runCustomers(name, "--limit", "3")).err, "");
    }
    assert.equal((await runCustomers("list", "--limit", "1000")).code, 0);
  },
);

eachDatabase("an operator sets custom limits for a marketplace user by its user name", async (database) => {
  const { runCustomers, identify } = setUp(database);
  for (const user of ["Ada", "o'neill@example.org", "\u202eada"]) {
    const customerName = `marketplace:${user}`;
    const unknownResult = await runCustomers("show", customerName);
    assert.deepEqual([unknownResult.code, unknownResult.err], [1, `There is no customer "${customerName}".\n`]);
    assert.equal((await identify(user, "CUSTOM"))?.plan, "pro");
    const setResult = await runCustomers("set-quota", customerName, "deep", "77", "--json");
    assert.equal(setResult.code, 0, setResult.err);
    assert.equal((await runCustomers("set-rate-limit", customerName, "general", "900")).code, 0);
    const caller = await identify(user, "CUSTOM");
    assert.deepEqual(
      [caller?.customerId, caller?.plan, caller?.allowance.quotas.DEEP, caller?.allowance.rateLimits.general],
      [setResult.json.customer_id, "enterprise", 77, 900],
    );
    const shownAccount = await runCustomers("show", customerName, "--json");
    assert.deepEqual(
      [shownAccount.json.email, shownAccount.json.plan, shownAccount.json.keys],
      [null, "enterprise", []],
    );
    const entries = (await runCustomers("audit", customerName, "--json")).json;
    assert.deepEqual(
      entries.map(({ action }: { action: string }) => action),
      ["customer.rate_limits_set", "customer.quota_set", "customer.created"],
    );
    assert.equal((await runCustomers("set-plan", customerName, "pro")).code, 0);
    assert.equal((await identify(user, "CUSTOM"))?.plan, "pro");
  }
  assert.equal((await identify("ada", "CUSTOM"))?.plan, "pro", "user names are case-sensitive");
  assert.equal((await runCustomers("set-plan", "marketplace:", "enterprise")).code, 1);
  assert.equal((await database.query("select 1 from customers")).length, 3);
});

eachDatabase(
  "401: a marketplace user whom an operator disables is rejected, even if no account existed",
  async (database) => {
    const { runCustomers, identify } = setUp(database);
    assert.equal((await identify("eve", "MEGA"))?.plan, "pro");
    assert.equal((await runCustomers("disable", "marketplace:eve", "--json")).json.status, "canceled");
    await assert.rejects(identify("eve", "MEGA"), { code: "unauthorized" });
    assert.equal((await runCustomers("enable", "marketplace:eve")).code, 0);
    assert.equal((await identify("eve", "MEGA"))?.plan, "pro");
  },
);

eachDatabase("a customer name cannot inject terminal escape sequences", async (database) => {
  const { runCustomers } = setUp(database);
  const { code } = await runCustomers("create", "eve@example.org", "--name", "Eve\u001b[2J\u202e");
  assert.equal(code, 2);
  await database.query(
    "insert into customers (customer_id, name, plan, status, created_at) values ('cus-x', E'Eve\\x1b[2J', 'free', 'active', now())",
  );
  assert.match((await runCustomers("list")).out, /Eve\?\[2J/);
});

eachDatabase(
  "`delete` erases an account by e-mail address or id, needs confirmation, and can be repeated by id",
  async (database) => {
    const { runCustomers } = setUp(database);
    const { customer_id: customerId } = (await runCustomers("create", "ada@example.org", "--json")).json;
    const confirmation = (...args: readonly string[]) => {
      const command = parseCustomersCommand(args);
      return typeof command === "function" ? command.confirmation : assert.fail(command.err);
    };
    assert.match(confirmation("delete", "ada@example.org") ?? "", /Delete the account ada@example\.org\?/);
    assert.equal(confirmation("delete", "ada@example.org", "--yes"), null);
    assert.equal(confirmation("disable", "ada@example.org"), null);
    const output = await runCustomers("delete", "Ada@Example.org", "--yes", "--json");
    assert.deepEqual([output.code, output.json], [0, { customer_id: customerId, deleted: true }]);
    assert.equal((await runCustomers("delete", customerId, "--yes")).code, 0);
    const unknown = await runCustomers("delete", "ada@example.org", "--yes");
    assert.deepEqual([unknown.code, unknown.err], [1, 'There is no customer "ada@example.org".\n']);
    assert.equal((await runCustomers("delete", "cus-unknown", "--yes")).code, 1);
    assert.equal((await runCustomers("delete", "marketplace:someone", "--yes")).code, 2);
    assert.equal((await runCustomers("enable", "ada@example.org", "--yes")).code, 2);
    assert.deepEqual((await runCustomers("list", "--json")).json, []);
  },
);

eachDatabase("`show` prints the calls, the quotas and the remaining calls of this month", async (database) => {
  const { runCustomers } = setUp(database);
  const { json: created } = await runCustomers("create", "usage@example.org", "--json");
  await database.query(
    "insert into quota_months (customer_id, month, tier, taken, last_grant) values ($1, date_trunc('month', now() at time zone 'utc')::date, 'LISTING', 7, 1)",
    [created.customer_id],
  );
  const { json } = await runCustomers("show", "usage@example.org", "--json");
  assert.deepEqual(json.usage, { listing: 7, insight: 0, strategy: 0, deep: 0 });
  assert.match(json.resets_on, /^\d{4}-\d{2}-01$/);
  const { out } = await runCustomers("show", "usage@example.org");
  assert.match(out, /^listing +7 +100 +93$/m);
  assert.match(out, /^Quotas reset on \d{4}-\d{2}-01 at 00:00 UTC\.$/m);
});
