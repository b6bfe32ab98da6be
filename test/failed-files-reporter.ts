import type { TestEvent } from "node:test/reporters";

/** A reporter for `node --test` that writes the path of each file with a failed test, one per line, at the end. */
// biome-ignore lint/style/noDefaultExport: Node loads reporters by their default export
export default async function* reportFailedFiles(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const files = new Set<string>();
  for await (const { type, data } of events) {
    if (type === "test:fail") files.add(data.file ?? data.name);
  }
  for (const file of files) yield `${file}\n`;
}
