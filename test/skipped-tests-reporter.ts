import type { TestEvent } from "node:test/reporters";

/** The environment variable that enables a skipped test, by a pattern of the skip reason. */
const REMEDIES: readonly (readonly [RegExp, string])[] = [
  [/TEST_DATABASE_URL/, "TEST_DATABASE_URL=postgres://postgres@127.0.0.1:5432/test"],
  [/TEST_REDIS_URL/, "TEST_REDIS_URL=redis://127.0.0.1:6379"],
  [/chromium/i, "TEST_CHROMIUM=/usr/bin/chromium"],
];

/** Renders the number of skipped tests by reason, and the command that runs them; empty if none was skipped. */
function renderSkippedTests(reasons: readonly string[]): string {
  if (reasons.length === 0) return "";
  const counts = new Map<string, number>();
  for (const reason of reasons) counts.set(reason, (counts.get(reason) ?? 0) + 1);
  const lines = [...counts].sort(([, a], [, b]) => b - a).map(([reason, count]) => `  ${count} × ${reason}`);
  const variables = REMEDIES.filter(([pattern]) => reasons.some((reason) => pattern.test(reason)));
  const command = variables.map(([, variable]) => `${variable} `).join("");
  const advice = command === "" ? [] : ["To run them (with your servers):", `  ${command}npm test`];
  return ["", `Skipped tests: ${reasons.length}`, ...lines, ...advice, ""].join("\n");
}

/** A reporter for `node --test` that writes only this summary, at the end. */
// biome-ignore lint/style/noDefaultExport: Node loads reporters by their default export
export default async function* reportSkippedTests(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const reasons: string[] = [];
  for await (const { type, data } of events) {
    if (type !== "test:pass" || data.skip === undefined || data.skip === false) continue;
    reasons.push(typeof data.skip === "string" && data.skip !== "" ? data.skip : `no reason given (${data.name})`);
  }
  yield renderSkippedTests(reasons);
}
