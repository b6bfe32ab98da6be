import assert from "node:assert/strict";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { run, temporaryFolder } from "../../../test/support/service-process.ts";
import { makeStore } from "../../../test/support/store-template.ts";

const SCRIPT = fileURLToPath(new URL("../../../test/support/programs/measure-store-memory.ts", import.meta.url));
/** The process needs about 160 MiB, or 240 MiB with a new store. With an optimized expression interpreter it needs 700 MiB. */
const MEMORY_MIB_MAX = 400;

for (const [action, prepare] of [
  ["opens an existing", makeStore],
  ["creates a", async () => {}],
] as const) {
  test(`a process that ${action} store and evaluates many expressions needs less than 400 MiB`, async (t) => {
    const folder = await temporaryFolder();
    t.after(() => folder.release());
    await prepare(folder.path);
    const { ended, output } = run(process.execPath, [SCRIPT, folder.path]);
    assert.equal(await ended, 0, output());
    const memoryMib = Number(output());
    assert.ok(memoryMib > 50 && memoryMib < MEMORY_MIB_MAX, `${output()} MiB`);
  });
}
