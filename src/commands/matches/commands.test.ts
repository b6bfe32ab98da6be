import assert from "node:assert/strict";
import { test } from "node:test";
import { eachDatabase } from "../../../test/support/databases.ts";
import { FakeClock } from "../../../test/support/fake-clock.ts";
import { SAMPLE_AT, sampleMarket } from "../../../test/support/markets/market-samples.ts";
import { createMatchDecisions } from "../../capabilities/markets/matching/index.ts";
import type { MarketPair } from "../../matching/index.ts";
import type { Database } from "../../ports/database.ts";
import { createMarketStore } from "../../storage/index.ts";
import { type MatchesContext, parseMatchesCommand } from "./commands.ts";

const OPERATOR = { kind: "operator", id: "ada" } as const;

async function runMatches(args: readonly string[], context: MatchesContext | null, input?: string) {
  const command = parseMatchesCommand(args);
  if (typeof command !== "function") return { ...command, json: null };
  if (context === null) throw new Error(`parsed: ${args.join(" ")}`);
  const result = await command(context, OPERATOR, input);
  // biome-ignore lint/suspicious/noExplicitAny: tests read and check untyped output
  const json: any = args.includes("--json") && result.code === 0 ? JSON.parse(result.out) : null;
  return { ...result, json };
}

function openDecisions(database: Database) {
  let changes = 0;
  const decisions = createMatchDecisions({
    database,
    clock: new FakeClock(SAMPLE_AT),
    venues: ["alpha", "beta", "gamma"],
    onChanged: () => {
      changes += 1;
    },
  });
  return { decisions, countChanges: () => changes };
}

const pair = (a: string, b: string, parts: Partial<MarketPair> = {}): MarketPair => ({
  a,
  b,
  relation: "identical",
  confidence: 0.95,
  source: "model",
  evidence: ["The titles are equal."],
  ...parts,
});

test("without a database, `--help` exits with 0 and invalid usage exits with 2 and a hint", async () => {
  const help = await runMatches(["--help"], null);
  assert.equal(help.code, 0);
  for (const name of ["list", "pin", "forbid", "clear"]) assert.match(help.out, new RegExp(`^  ${name} `, "m"));
  for (const [args, message] of [
    [[], /Missing command/],
    [["lift"], /no command "matches lift"/],
    [["pin", "alpha/1"], /needs two markets/],
    [["clear", "a", "b", "c"], /Too many arguments/],
    [["forbid", "alpha/1", "beta/2", "--inverse"], /has no option --inverse/],
    [["pin", "alpha/1", "beta/2", "--file", "pairs.csv"], /Too many arguments/],
    [["clear", "--file", "pairs.csv"], /has no option --file/],
    [["list", "--limit", "1001"], /from 1 to 1000/],
    [["list", "--unknown"], /--unknown/],
  ] as const) {
    const result = await runMatches(args, null);
    assert.equal(result.code, 2, args.join(" "));
    assert.match(result.err, message);
    assert.match(result.err, /Try "matches --help"/);
  }
});

eachDatabase("an operator pins, forbids, lists and clears pairs; each change is announced", async (database) => {
  const { decisions, countChanges } = openDecisions(database);
  const context = { decisions };
  const pinned = await runMatches(["pin", "beta/2", "alpha/1", "--inverse", "--note", "Same rules", "--json"], context);
  assert.deepEqual(pinned.json, {
    market_a: "alpha/1",
    market_b: "beta/2",
    decision: "inverse",
    note: "Same rules",
    decided_by: "ada",
    decided_at: new Date(SAMPLE_AT).toISOString(),
  });
  assert.equal((await runMatches(["forbid", "alpha/1", "gamma/3"], context)).code, 0);
  const { decisions: listed } = (await runMatches(["list", "--json"], context)).json;
  assert.deepEqual(
    listed.map((item: { market_b: string; decision: string; note: unknown }) => [
      item.market_b,
      item.decision,
      item.note,
    ]),
    [
      ["beta/2", "inverse", "Same rules"],
      ["gamma/3", "forbidden", null],
    ],
  );
  const filtered = (await runMatches(["list", "--market", "gamma/3", "--json"], context)).json;
  assert.equal(filtered.decisions.length, 1);
  assert.equal((await runMatches(["pin", "alpha/1", "beta/2", "--json"], context)).json.decision, "identical");
  assert.equal((await runMatches(["clear", "beta/2", "alpha/1", "--json"], context)).json.cleared, true);
  assert.match((await runMatches(["clear", "beta/2", "alpha/1"], context)).out, /There was no decision/);
  assert.equal(countChanges(), 4);
});

eachDatabase(
  "a malformed id, an unknown venue and two markets of one venue exit with 2 and store nothing",
  async (database) => {
    const { decisions, countChanges } = openDecisions(database);
    for (const [args, message] of [
      [["pin", "alpha", "beta/2"], /alpha: a market has the form venue\/market_id/],
      [["pin", "delta/1", "beta/2"], /the venue is not one of alpha, beta, gamma/],
      [["forbid", "alpha/1", "alpha/2"], /Both markets are of alpha/],
      [["clear", "alpha/1", "beta/a b"], /a market has the form/],
      [["list", "--market", "beta"], /a market has the form/],
    ] as const) {
      const result = await runMatches(args, { decisions });
      assert.deepEqual([result.code, result.out], [2, ""], args.join(" "));
      assert.match(result.err, message);
    }
    assert.deepEqual([await decisions.list(), countChanges()], [[], 0]);
  },
);

eachDatabase("an operator stores 2,000 pairs of a file together, and they are announced once", async (database) => {
  const { decisions, countChanges } = openDecisions(database);
  await runMatches(["forbid", "alpha/0", "beta/0"], { decisions });
  const lines = Array.from(
    { length: 2_000 },
    (_, index) => `alpha/${index},beta/${index},${index % 4 ? "" : "inverse"}`,
  );
  const text = ["market_a,market_b,decision", ...lines].join("\n");
  const command = parseMatchesCommand(["pin", "--file", "pairs.csv"]);
  assert.equal(typeof command === "function" && command.inputFile, "pairs.csv");
  const result = await runMatches(
    ["pin", "--file", "pairs.csv", "--note", "Same rules", "--json"],
    { decisions },
    text,
  );
  assert.deepEqual(result.json, { stored: 2_000, identical: 1_500, inverse: 500, forbidden: 0 });
  assert.match(result.err, /^Warning: 3980 more markets are not in the store\.$/m);
  const stored = await decisions.list();
  assert.deepEqual([stored.length, countChanges()], [2_000, 2]);
  assert.deepEqual(stored[0], {
    a: "alpha/0",
    b: "beta/0",
    decision: "inverse",
    note: "Same rules",
    decidedBy: "ada",
    decidedAt: SAMPLE_AT,
  });
  const forbidden = await runMatches(
    ["forbid", "--file", "pairs.csv"],
    { decisions },
    "alpha/1,gamma/1\nalpha/2,beta/2\n",
  );
  assert.match(forbidden.out, /^Stored 2 decisions: 2 forbidden\.$/m);
});

eachDatabase("if one line of a file is invalid or the table is too small, no pair is stored", async (database) => {
  const { decisions, countChanges } = openDecisions(database);
  const invalid = await runMatches(["pin", "--file", "a"], { decisions }, "alpha/1,beta/2\nalpha/3,delta/4\n");
  assert.deepEqual([invalid.code, invalid.out], [2, ""]);
  assert.match(invalid.err, /^Line 2: delta\/4: the venue is not one of/m);
  assert.deepEqual([await decisions.list(), countChanges()], [[], 0]);
  const full = Array.from({ length: 10_000 }, (_, index) => `alpha/${index},beta/${index}`).join("\n");
  assert.equal((await runMatches(["pin", "--file", "a"], { decisions }, full)).code, 0);
  const overfull = await runMatches(["forbid", "--file", "a"], { decisions }, "alpha/1,beta/1\nalpha/1,gamma/1\n");
  assert.deepEqual([overfull.code, /At most 10000 decisions/.test(overfull.err)], [1, true]);
  assert.equal((await decisions.list()).filter(({ decision }) => decision === "forbidden").length, 0);
  assert.equal((await runMatches(["forbid", "--file", "a"], { decisions }, "alpha/1,beta/1\n")).code, 0);
});

eachDatabase("a market that is not stored is accepted with a warning", async (database) => {
  await createMarketStore(database).upsertMarkets([sampleMarket("1")]);
  const { decisions } = openDecisions(database);
  const result = await runMatches(["pin", "alpha/1", "beta/2"], { decisions });
  assert.equal(result.code, 0);
  assert.equal(result.err, "Warning: beta/2 is not in the store. Check the id, unless it is not listed now.\n");
});

eachDatabase("`list` shows the pairs of the running service with their evidence, up to the limit", async (database) => {
  const { decisions } = openDecisions(database);
  const pairs = [
    pair("alpha/1", "beta/2"),
    pair("alpha/1", "gamma/3", { relation: "inverse" }),
    pair("alpha/8", "beta/9"),
  ];
  const context = { decisions, pairs: () => pairs.values() };
  const text = (await runMatches(["list"], context)).out;
  assert.match(text, /alpha\/1 +gamma\/3 +inverse +0\.950 +model\n {4}The titles are equal\./);
  const listed = await runMatches(["list", "--market", "alpha/1", "--limit", "1", "--json"], context);
  assert.deepEqual(listed.json.pairs, [
    {
      market_a: "alpha/1",
      market_b: "beta/2",
      relation: "identical",
      confidence: 0.95,
      source: "model",
      evidence: ["The titles are equal."],
    },
  ]);
  assert.match(listed.err, /^1 more pairs/);
});

eachDatabase("without a running service, `list` says that it shows no pairs", async (database) => {
  const { decisions } = openDecisions(database);
  const result = await runMatches(["list", "--json"], { decisions });
  assert.deepEqual(result.json, { decisions: [], pairs: null });
  assert.match(result.err, /^Pairs are not shown/);
});

test("control characters of notes and evidence are replaced in the text", async () => {
  const decisions = {
    list: async () => [
      { a: "alpha/1", b: "beta/2", decision: "identical", note: "\u001b[2J", decidedBy: "ada", decidedAt: SAMPLE_AT },
    ],
  } as unknown as MatchesContext["decisions"];
  const pairs = () => [pair("alpha/1", "beta/2", { evidence: ["\u001b[31m"] })].values();
  const { out } = await runMatches(["list"], { decisions, pairs });
  assert.ok(!out.includes("\u001b"));
});
