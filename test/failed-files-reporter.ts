import { isAbsolute } from "node:path";
import type { TestEvent } from "node:test/reporters";

/**
 * A reporter for `node --test` that writes the path of each file with a failed test, one per line, at the end. In a test
 * group the name of a suite is the path of its file.
 */
// biome-ignore lint/style/noDefaultExport: Node loads reporters by their default export
export default async function* reportFailedFiles(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const files = new Set<string>();
  for await (const { type, data } of events) {
    if (type !== "test:fail" || data.nesting > 0) continue;
    // The types of Node 24 do not have `entryFile` yet. A test that a helper defines has the helper as `file`.
    const { name, file, entryFile }: typeof data & { readonly entryFile?: string } = data;
    files.add(isAbsolute(name) ? name : (entryFile ?? file ?? name));
  }
  for (const file of files) yield `${file}\n`;
}
