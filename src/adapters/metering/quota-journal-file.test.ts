import assert from "node:assert/strict";
import { test } from "node:test";
import { temporaryFolder } from "../../../test/support/service-process.ts";
import { systemClock } from "../system/system-clock.ts";
import { openQuotaJournal } from "./quota-journal-file.ts";

test("the journal is written before the next yielded task resumes", async (t) => {
  const folder = await temporaryFolder();
  t.after(folder.release);
  const journal = openQuotaJournal(folder.path);
  t.after(() => journal.end());
  journal.clear("node");
  const slot = journal.open(7);
  assert.ok(slot !== null);
  const order: string[] = [];
  // Both tasks yield before the write. The second task resumes after the write.
  const tasks = ["first", "second"].map((name) => systemClock.yieldToEventLoop().then(() => order.push(name)));
  await tasks[0];
  journal.write(slot, { blockId: 7, spent: 1 });
  const written = journal.committed()?.then(() => order.push("written"));
  await Promise.all([...tasks, written]);
  assert.deepEqual(order, ["first", "written", "second"]);
});
