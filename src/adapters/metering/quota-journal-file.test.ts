import assert from "node:assert/strict";
import { test } from "node:test";
import { createTestFolder } from "../../../test/support/test-folder.ts";
import { systemClock } from "../system/system-clock.ts";
import { openQuotaJournal } from "./quota-journal-file.ts";

test("the journal is written before the next yielded task resumes", async (t) => {
  const journal = openQuotaJournal(await createTestFolder());
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
