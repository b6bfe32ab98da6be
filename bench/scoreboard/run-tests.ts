import { run } from "node:test";
import { fileURLToPath } from "node:url";
import type { Measurement } from "./row.ts";

const PROJECT = new URL("../..", import.meta.url);
/** Message of a failed property of fast-check whose assertion failed. */
const PROPERTY_ASSERTION = /^Property failed after[\s\S]*Got AssertionError/;
const TEST_MS_MAX = 300_000;

/** Results of the tests. */
export interface TestCounts {
  readonly passed: number;
  /** Names of the tests whose assertions failed. */
  readonly failed: readonly string[];
}

/**
 * Runs tests that state a guarantee, for rows that are measured by a test.
 *
 * @param files  paths from the root of the repository
 * @param names  patterns of the tests to run; all tests of the files if absent
 * @throws Error if no test ran, a test was skipped, or a test failed for another reason than an assertion
 */
export async function runTests(files: readonly string[], names?: readonly RegExp[]): Promise<TestCounts> {
  const events = run({
    files: files.map((file) => fileURLToPath(new URL(file, PROJECT))),
    concurrency: 1,
    timeout: TEST_MS_MAX,
    testNamePatterns: names === undefined ? [] : [...names],
  });
  let passed = 0;
  const failed: string[] = [];
  const otherErrors: string[] = [];
  const skipped: string[] = [];
  events.on("test:pass", ({ name, details, skip }) => {
    if (details.type === "suite" || isFile(name)) return;
    if (skip === undefined || skip === false) passed += 1;
    else skipped.push(name);
  });
  events.on("test:fail", ({ name, details }) => {
    // A file or parent test that failed only because of its subtests. Each of them is reported separately.
    if (readText(details.error, "failureType") === "subtestsFailed") return;
    if (isAssertion(details.error)) failed.push(name);
    else otherErrors.push(`${name}: ${String(details.error.cause ?? details.error)}`);
  });
  for await (const _ of events);
  if (otherErrors.length > 0) throw new Error(otherErrors.join("; "));
  if (skipped.length > 0) throw new Error(`skipped: ${skipped.join("; ")}`);
  if (passed + failed.length === 0) throw new Error(`no test of ${files.join(", ")} ran`);
  return { passed, failed };
}

const isFile = (name: string) => name.endsWith(".ts");
/** Whether an error is, or is caused by, a failed assertion. fast-check wraps the assertion of a property. */
function isAssertion(error: unknown): boolean {
  for (let cause: unknown = error; cause instanceof Error; cause = cause.cause)
    if (readText(cause, "code") === "ERR_ASSERTION" || PROPERTY_ASSERTION.test(cause.message)) return true;
  return false;
}

const readText = (value: unknown, name: string): unknown =>
  value instanceof Object ? Reflect.get(value, name) : undefined;

/** Measures a row with tests. It is met if every test passes. */
export async function measureTests(
  files: readonly string[],
  names: readonly RegExp[] | undefined,
  what: string,
): Promise<Measurement> {
  const { passed, failed } = await runTests(files, names);
  if (failed.length > 0) return { isMet: false, value: `failed: ${failed.join("; ")}` };
  return { isMet: true, value: `${what}; ${passed} tests passed` };
}
