import assert from "node:assert/strict";
import { test } from "node:test";
import { eachDatabase } from "../../../test/support/databases.ts";
import { FakeClock } from "../../../test/support/fake-clock.ts";
import { systemRandom } from "../../adapters/system/system-random.ts";
import { type Accounts, createAccounts } from "../../capabilities/customers/index.ts";
import { createMarketplace } from "../../capabilities/marketplace/index.ts";
import { type CommandResult, parseCustomersCommand } from "./commands.ts";

interface Ended extends CommandResult {
  // biome-ignore lint/suspicious/noExplicitAny: a test reads what was printed and asserts on it
  readonly json: any;
}

/** Carries a command out as the program does; without accounts, one that must not come so far. */
async function run(words: readonly string[], accounts: Accounts | null): Promise<Ended> {
  const command = parseCustomersCommand(words);
  if (typeof command === "function" && accounts === null) throw new Error(`understood: ${words.join(" ")}`);
  const ended =
    typeof command !== "function" ? command : await command(accounts as Accounts, { kind: "operator", id: "ada" });
  let json: unknown = null;
  try {
    json = JSON.parse(ended.out);
  } catch {
    json = null;
  }
  return { ...ended, json };
}

test("the command explains itself, and what it does not understand ends with 2 and a way on, without a store", async () => {
  const help = await run(["--help"], null);
  assert.equal(help.code, 0);
  for (const verb of [
    "list",
    "show",
    "create",
    "set-plan",
    "set-quota",
    "set-rate-limit",
    "rotate",
    "disable",
    "audit",
  ])
    assert.match(help.out, new RegExp(`^  .*\\b${verb}\\b`, "m"));
  const wrong = [
    [[], /Say what to do/],
    [["lift"], /no command "customers lift"/],
    [["show"], /needs a customer/],
    [["show", "a", "b"], /Too many words/],
    [["show", "a", "--plan", "pro"], /takes no --plan/],
    [["set-plan", "a", "gold"], /gold is not one of free, pro, enterprise/],
    [["set-quota", "a", "deep", "many"], /whole number, or the word plan/],
    [["list", "--limit", "0"], /from 1 to 1000/],
    [["list", "--colour"], /--colour/],
  ] as const;
  const ended = await Promise.all(wrong.map(([words]) => run(words, null)));
  for (const [index, [words, told]] of wrong.entries()) {
    assert.equal(ended[index]?.code, 2, words.join(" "));
    assert.match(ended[index]?.err ?? "", told);
    assert.match(ended[index]?.err ?? "", /customers --help/);
  }
});

eachDatabase(
  "an operator leads an account through its life, and every change is in the audit log",
  async (database) => {
    const tools = { database, clock: new FakeClock(), random: systemRandom, onKeysChanged() {} };
    const accounts = createAccounts(tools);
    const customers = (...words: readonly string[]) => run(words, accounts);
    const made = await customers("create", "Ada@Example.org", "--name", "Ada", "--plan", "pro", "--json");
    assert.equal(made.code, 0, made.err);
    assert.match(made.json.api_key, /^plx_pro_[a-z2-7]{33}$/);
    const { customer_id: id, api_key: key } = made.json;
    assert.equal((await customers("create", "ada@example.org")).code, 1, "one account an address");
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
    assert.equal((await customers("rotate", id)).code, 2, "which of two keys is to be said");
    assert.equal((await customers("revoke", id, "robot", "--json")).json.keys.length, 3);
    assert.equal((await customers("disable", id, "--json")).json.status, "canceled");
    assert.equal((await customers("list", "--status", "canceled", "--json")).json[0].customer_id, id);
    assert.equal((await customers("enable", id, "--json")).json.status, "active");
    const audit = await customers("audit", id, "--json");
    const actions = audit.json.map(({ action }: { action: string }) => action);
    assert.deepEqual(actions.toReversed(), [
      ...[
        "customer.created",
        "customer.plan_set",
        "customer.quota_set",
        "customer.rate_limits_set",
        "customer.quota_set",
      ],
      ...["key.rotated", "key.created", "key.revoked", "customer.disabled", "customer.enabled"],
    ]);
    assert.ok(audit.json.every(({ actor }: { actor: { kind: string } }) => actor.kind === "operator"));
    for (const secret of [key, rotated.json.api_key, second.json.api_key]) assert.ok(!audit.out.includes(secret));
    for (const words of [
      ["show", "cus-none"],
      ["set-plan", "nobody@example.org", "pro"],
      ["revoke", id, "gone"],
    ]) {
      const ended = await customers(...words);
      assert.equal(ended.code, 1);
      assert.match(ended.err, /^There is no /);
    }
    for (const words of [["list"], ["show", id], ["audit"]]) {
      const ended = await customers(...words);
      assert.equal(ended.code, 0);
      assert.match(ended.out, new RegExp(id));
    }
  },
);

eachDatabase("a list that is not all says how to go on, and going on shows each once", async (database) => {
  const accounts = createAccounts({ database, clock: new FakeClock(), random: systemRandom, onKeysChanged() {} });
  for (const name of ["a", "b", "c"]) await run(["create", `${name}@example.org`], accounts);
  const pages = [
    ["list", "--after", "customer_id"],
    ["audit", "--before", "audit_id"],
  ] as const;
  for (const [verb, option, id] of pages) {
    const all = (await run([verb, "--json"], accounts)).json.map((row: Record<string, unknown>) => row[id]);
    const first = await run([verb, "--limit", "2", "--json"], accounts);
    assert.equal(first.err, `more: ${option} ${all[1]}\n`);
    const rest = await run([verb, "--limit", "2", option, String(all[1]), "--json"], accounts);
    assert.deepEqual([rest.err, [...first.json, ...rest.json].map((row) => row[id])], ["", all]);
    assert.deepEqual((await run([verb, "--limit", "3"], accounts)).err, "");
  }
  assert.equal((await run(["list", "--limit", "1000"], accounts)).code, 0);
});

eachDatabase("a marketplace's user gets numbers of its own by the name it has there", async (database) => {
  const clock = new FakeClock();
  const tools = { database, clock, random: systemRandom, onKeysChanged() {} };
  const accounts = createAccounts(tools);
  const customers = (...words: readonly string[]) => run(words, accounts);
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
    const lines = (await customers("audit", who, "--json")).json;
    assert.deepEqual(
      lines.map(({ action }: { action: string }) => action),
      ["customer.rate_limits_set", "customer.quota_set", "customer.created"],
    );
    assert.equal((await customers("set-plan", who, "pro")).code, 0);
    assert.equal((await identify(user))?.plan, "pro");
  }
  assert.equal((await identify("ada"))?.plan, "pro", "another spelling is another user");
  assert.equal((await customers("set-plan", "marketplace:", "enterprise")).code, 1);
  assert.equal((await database.query("select 1 from customers")).length, 3);
});

eachDatabase(
  "401: a marketplace's user that an operator disables is shut out, known before or not",
  async (database) => {
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
  },
);

eachDatabase("a name cannot steer the terminal that shows it", async (database) => {
  const accounts = createAccounts({ database, clock: new FakeClock(), random: systemRandom, onKeysChanged() {} });
  const { code } = await run(["create", "eve@example.org", "--name", "Eve\u001b[2J\u202e"], accounts);
  assert.equal(code, 2);
  await database.query(
    "insert into customers (customer_id, name, plan, status, created_at) values ('cus-x', E'Eve\\x1b[2J', 'free', 'active', now())",
  );
  assert.match((await run(["list"], accounts)).out, /Eve\?\[2J/);
});
