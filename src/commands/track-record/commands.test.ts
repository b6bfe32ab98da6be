import assert from "node:assert/strict";
import { test } from "node:test";
import { eachDatabase } from "../../../test/support/databases.ts";
import { openShadowBook, sampleEntry } from "../../../test/support/trading/shadow-book-harness.ts";
import { parseTrackRecordCommand, type TrackRecordContext } from "./commands.ts";

const OPERATOR = { kind: "operator", id: "ada" } as const;

async function runTrackRecord(args: readonly string[], context: TrackRecordContext | null = null) {
  const command = parseTrackRecordCommand(args);
  if (typeof command !== "function") return command;
  if (context === null) throw new Error(`parsed: ${args.join(" ")}`);
  return command(context, OPERATOR);
}

test("without a database, `--help` exits with 0 and invalid usage with 2", async () => {
  const help = await runTrackRecord(["--help"]);
  assert.deepEqual([help.code, /^ {2}verify /m.test(help.out)], [0, true]);
  for (const args of [[], ["check"], ["verify", "now"], ["verify", "--all"]])
    assert.equal((await runTrackRecord(args)).code, 2, args.join(" "));
});

eachDatabase("`verify` exits with 0 if the stored book is right and with 1 if it was changed", async (database) => {
  const { book, open, price, goTo } = openShadowBook(database);
  await open();
  await book.enter(sampleEntry());
  await price(0, 0.45);
  await goTo(1);
  await book.run();
  const right = await runTrackRecord(["verify", "--json"], book);
  assert.equal(right.code, 0);
  const { trades, days, open_days, mismatch_count, mismatches } = JSON.parse(right.out);
  assert.deepEqual(
    { trades, days, open_days, mismatch_count, mismatches },
    { trades: 1, days: 1, open_days: [{ date: "2026-11-22", pnl_usd: 0 }], mismatch_count: 0, mismatches: [] },
  );
  assert.match(
    (await runTrackRecord(["verify"], book)).out,
    /^The stored book equals the recomputed one: 1 trades, 1 closed days, open day 2026-11-22 with 0\.00 USD,/,
  );

  await database.query("update shadow_days set pnl_usd = pnl_usd + 0.01");
  const wrong = await runTrackRecord(["verify"], book);
  assert.equal(wrong.code, 1);
  assert.match(wrong.out, /^1 differences .*\n {2}2026-11-21: stored .*, recomputed /);
});
