import assert from "node:assert/strict";
import { test } from "node:test";
import { temporaryFolder } from "../../../test/support/service-process.ts";
import { systemClock } from "../system/system-clock.ts";
import { openQuotaJournal } from "./quota-journal-file.ts";

test("what was spent is in the file before anybody who waits has another turn", async (t) => {
  const folder = await temporaryFolder();
  t.after(folder.release);
  const journal = openQuotaJournal(folder.path);
  t.after(() => journal.end());
  journal.clear("node");
  const slot = journal.open(7);
  assert.ok(slot !== null);
  const order: string[] = [];
  // Asked for first, as ingest does all the time: an answer that waits for the journal passes it.
  const turns = ["first", "second"].map((name) => systemClock.yieldToEventLoop().then(() => order.push(name)));
  await turns[0];
  journal.write(slot, { blockId: 7, spent: 1 });
  const written = journal.committed()?.then(() => order.push("written"));
  await Promise.all([...turns, written]);
  assert.deepEqual(order, ["first", "written", "second"]);
});
